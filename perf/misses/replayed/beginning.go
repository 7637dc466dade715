package replayed

import (
	"math"

	"presage/perf/cache"
	"presage/perf/misses"
	"presage/perf/predict"
	"presage/perf/trace"
)

// MethodStart: models of reuse distances are corrected by the misses that the real run had in
// its start, which are those of the size itself, conflicts included.
const MethodStart = "start of the run"

const (
	// fewBegun is the share of a group's accesses that the start has to have for its conflicts
	// to be those of the rest, and fewContinued for its misses to be.
	fewBegun, fewContinued = 0.1, 0.2
	// fewShown is the number of misses, of the start or that models would expect of as many
	// accesses, from which on it says something.
	fewShown = 100
	// maxRise is by what factor the share that misses may rise in the second half of the start
	// for it not to rise any further, and implausible by what factor models may say that the
	// rest exceeds it.
	maxRise, implausible = 1.1, 1.5
	// noConflicts is how many times as many misses as in fully associative caches a start may
	// have for its conflicts to be left to what the runs had of them.
	noConflicts = 1.5
)

// beginning is what the start of the real run had, by trace.GroupID.
type beginning struct {
	Half, Accesses []uint64 // in its first half, and in all
	Levels         map[string]begun
}

// begun are misses of a level and those that are first uses, in the first half and in all, and
// what they would be if the caches were fully associative.
type begun struct{ Half, Misses, HalfCold, Cold, HalfFull, Full []uint64 }

// beginner is a trace.Collector that keeps what a simulator has counted while it is on.
type beginner struct {
	sim, full *cache.Simulator
	on        bool
	accesses  uint64
	step      uint64
	marks     []mark
}

// mark is what was counted up to a number of accesses.
type mark struct {
	at        uint64
	sim, full *cache.Result
}

// maxMarks is the number of marks that are kept: so that one is near the middle.
const maxMarks = 32

func newBeginner(plan *trace.Plan, config cache.Config, sim *cache.Simulator) (*beginner, error) {
	full, err := cache.New(plan, config.FullyAssociative())
	return &beginner{sim: sim, full: full, on: true, step: trace.BatchAccesses}, err
}

// Observe implements trace.Collector: the simulator has taken the batch before.
func (b *beginner) Observe(batch *trace.Batch) {
	if !b.on {
		return
	}
	b.full.Observe(batch)
	b.accesses += uint64(len(batch.Accesses))
	if n := len(b.marks); n > 0 && b.accesses < b.marks[n-1].at+b.step {
		return
	}
	b.marks = append(b.marks, mark{b.accesses, b.sim.Result(), b.full.Result()})
	if len(b.marks) == maxMarks {
		for i := range maxMarks / 2 {
			b.marks[i] = b.marks[2*i+1]
		}
		b.marks, b.step = b.marks[:maxMarks/2], 2*b.step
	}
}

// end returns what was counted, nil if there are too few accesses for two halves.
func (b *beginner) end() *beginning {
	b.on = false
	half := -1
	for i := range b.marks {
		if half < 0 || apart(b.marks[i].at, b.accesses/2) < apart(b.marks[half].at, b.accesses/2) {
			half = i
		}
	}
	if half < 0 || b.marks[half].at >= b.accesses {
		return nil
	}
	first, all := b.marks[half], mark{b.accesses, b.sim.Result(), b.full.Result()}
	b.marks, b.full = nil, nil
	out := &beginning{Half: accessesOf(first.sim), Accesses: accessesOf(all.sim), Levels: make(map[string]begun)}
	for name, i := range levelsOf(all.sim) {
		h, hf, a, af := i(first.sim), i(first.full), i(all.sim), i(all.full)
		out.Levels[name] = begun{missesOf(h), missesOf(a), coldOf(h), coldOf(a), missesOf(hf), missesOf(af)}
	}
	return out
}

func apart(a, b uint64) uint64 { return max(a, b) - min(a, b) }

// accessesOf returns those of the first level, which sees all unless some pass it.
func accessesOf(r *cache.Result) []uint64 {
	first := r.TLBs
	if len(r.Levels) > 0 {
		first = r.Levels
	}
	var out []uint64
	for i := range first[0].Groups {
		out = append(out, first[0].Groups[i].Accesses)
	}
	return out
}

// levelsOf returns what finds each level and TLB in a result, by name.
func levelsOf(r *cache.Result) map[string]func(*cache.Result) *cache.LevelResult {
	out := make(map[string]func(*cache.Result) *cache.LevelResult)
	for i := range r.Levels {
		out[r.Levels[i].Name] = func(r *cache.Result) *cache.LevelResult { return &r.Levels[i] }
	}
	for i := range r.TLBs {
		out[r.TLBs[i].Name] = func(r *cache.Result) *cache.LevelResult { return &r.TLBs[i] }
	}
	return out
}

func missesOf(l *cache.LevelResult) (out []uint64) {
	for i := range l.Groups {
		out = append(out, l.Groups[i].Misses)
	}
	return out
}

func coldOf(l *cache.LevelResult) (out []uint64) {
	for i := range l.Groups {
		out = append(out, l.Groups[i].Cold)
	}
	return out
}

// shown is what the start had of a group of the model at a level: accesses and those that miss
// though they are no first uses, in the first half of it, in all, and if the caches were fully
// associative.
type shown struct {
	half, accesses     float64
	missedHalf, missed float64
	fullHalf, full     float64
	coldHalf, cold     float64 // first uses
	model              predict.Misses
	group              int
}

// of returns what the start had of groups of the plan.
func (b *beginning) of(level string, groups []trace.GroupID) (s shown) {
	l := b.Levels[level]
	n := min(len(b.Half), len(b.Accesses), len(l.Half), len(l.Misses), len(l.HalfCold), len(l.Cold), len(l.HalfFull), len(l.Full))
	for _, g := range groups {
		if int(g) >= n {
			continue
		}
		s.half, s.accesses = s.half+float64(b.Half[g]), s.accesses+float64(b.Accesses[g])
		cold, coldHalf := float64(l.Cold[g]), float64(l.HalfCold[g])
		s.missed, s.missedHalf = s.missed+float64(l.Misses[g])-cold, s.missedHalf+float64(l.Half[g])-coldHalf
		s.full, s.fullHalf = s.full+math.Max(0, float64(l.Full[g])-cold), s.fullHalf+math.Max(0, float64(l.HalfFull[g])-coldHalf)
		s.cold, s.coldHalf = s.cold+cold, s.coldHalf+coldHalf
	}
	return s
}

// tells reports whether the start has enough of a group to tell of the rest: a share of its
// accesses, in both halves.
func (s *shown) tells() bool {
	return s.model.Accesses > 0 && s.accesses >= fewBegun*s.model.Accesses && 4*s.half >= s.accesses && 4*s.half <= 3*s.accesses
}

// rest returns how many accesses are not in the start.
func (s *shown) rest() float64 { return math.Max(0, s.model.Accesses-s.accesses) }

// later and earlier are the shares of accesses that miss in the second half, and in the first.
func (s *shown) later() float64   { return (s.missed - s.missedHalf) / math.Max(1, s.accesses-s.half) }
func (s *shown) earlier() float64 { return s.missedHalf / math.Max(1, s.half) }

// rises reports whether the share grows from one half to the other: by more than that of first
// uses, which may be reuses the next time.
func (s *shown) rises() bool {
	return s.later() > maxRise*(s.missedHalf+s.coldHalf)/math.Max(1, s.half)
}

// continued corrects the groups that nothing else does by what the start of the run had of
// them: with sets, if it had many conflicts, by these; without, if models say far more of the
// rest than it shows, or less of all than it had, the rest goes on as it did. Both are decided
// for all groups together, as one may have the misses that the models give another.
func (c *Corrector) continued(r *replayedPoint, of misses.Uncorrected, out []misses.GroupCorrection) {
	if r.Begun == nil || c.opt.WithoutStart || len(of.Groups) != len(out) || c.passesFirst() {
		return
	}
	var list []shown
	for i, groups := range c.groups {
		if out[i].Method != "" {
			continue
		}
		s := r.Begun.of(of.Level.Name, groups)
		if s.model, s.group = misses.WithFirstUses(of.Groups[i], out[i].FirstUses), i; s.tells() {
			list = append(list, s)
		}
	}
	decide := goOn
	if of.Level.Sets > 1 {
		decide = conflict
	}
	for i, reuse := range decide(list) {
		m := list[i].model
		m.Reuse = min(reuse, max(0, m.Accesses-m.Cold))
		out[list[i].group] = misses.GroupCorrection{Method: MethodStart, Misses: m, Modelled: true, Off: math.Abs(1 - list[i].model.Total()/math.Max(1, m.Total()))}
	}
}

// passesFirst reports whether some accesses pass the first level, which then does not tell how
// many there are.
func (c *Corrector) passesFirst() bool {
	return len(c.config.Levels) > 0 && c.config.Levels[0].BypassFloat || len(c.config.TLBs) > 0 && c.config.TLBs[0].BypassFloat
}

// conflict adds the conflicts of the second half of the start, if there are many: of what would
// hit in a fully associative cache, as large a share misses. It returns the reuses that miss, by
// index of list.
func conflict(list []shown) map[int]float64 {
	var had, full float64
	for i := range list {
		had, full = had+list[i].missed-list[i].missedHalf, full+list[i].full-list[i].fullHalf
	}
	if had < full+fewShown || had < noConflicts*full {
		return nil
	}
	better := make(map[int]float64)
	for i := range list {
		s := &list[i]
		had, full := s.missed-s.missedHalf, s.full-s.fullHalf
		better[i] = s.model.Reuse
		if hits := s.accesses - s.half - full - (s.cold - s.coldHalf); had > full && hits > 0 {
			better[i] += min(1, (had-full)/hits) * max(0, s.model.Accesses-s.model.Total())
		} else if full > 0 {
			better[i] *= had / full
		}
	}
	return better
}

// goOn has the rest of the run go on as the start did, where that contradicts what is expected.
// It returns the reuses that miss, by index of list, of groups of which the start has enough.
func goOn(list []shown) map[int]float64 {
	var expected, most, had float64
	steady := func(s *shown) bool { return s.accesses >= fewContinued*s.model.Accesses && !s.rises() }
	for i := range list {
		if s := &list[i]; steady(s) {
			expected += s.model.Reuse
			most += s.missed + implausible*s.rest()*max(s.earlier(), s.later())
			had += s.missed
		}
	}
	if max(expected, had) < fewShown || expected <= most && expected >= had {
		return nil
	}
	better := make(map[int]float64)
	for i := range list {
		if s := &list[i]; steady(s) {
			better[i] = s.missed + s.rest()*s.later()
		}
	}
	return better
}
