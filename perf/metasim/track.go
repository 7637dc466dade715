package metasim

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"presage/perf/cache"
	"presage/perf/engine"
	"presage/perf/trace"
)

// segment is a simulated window of a run.
type segment struct {
	trace.Window
	weight  float64
	stretch int  // index in Sample.Stretches; -1: a warm-up
	fresh   bool // caches are empty when it begins
	quick   bool // a warm-up of all levels but the first: see cache.Simulator.Warm
	like    int  // of a quick one that counts, the index of the stretch that it is like; -1: none
}

// counts reports whether what the segment accesses is counted.
func (s *segment) counts() bool { return s.stretch >= 0 || s.like >= 0 }

// segmentsOf returns the stretches of a sample, each preceded by its warm-up. A gap
// between stretches no longer than the warm-up is simulated whole as warm-up, and
// the caches keep their contents.
func segmentsOf(sample *Sample, opt *SimulateOptions) []segment {
	var list []segment
	var last uint64
	for i, s := range sample.Stretches {
		from := s.From - min(opt.WarmLength, s.From-last)
		fresh := i == 0 || !opt.keeps() && from > last
		if opt.Warmup == WarmHistory && s.From-from > DefaultWarmLength {
			to := s.From - DefaultWarmLength
			list = append(list, sample.quickly(trace.Window{From: from, To: to}, fresh)...)
			from, fresh = to, false
		}
		if from < s.From {
			list = append(list, segment{Window: trace.Window{From: from, To: s.From}, stretch: -1, fresh: fresh, like: -1})
			fresh = false
		}
		list = append(list, segment{Window: s.Window, weight: s.Weight, stretch: i, fresh: fresh, like: -1})
		last = s.To
	}
	return list
}

// quickly returns the segments of the part of a history that is simulated in a hurry,
// divided where strata begin and end.
func (s *Sample) quickly(w trace.Window, fresh bool) (list []segment) {
	add := func(to uint64, like int) {
		if w.From < to {
			list = append(list, segment{Window: trace.Window{From: w.From, To: to}, stretch: -1, fresh: fresh && len(list) == 0, quick: true, like: like})
			w.From = to
		}
	}
	first, _ := slices.BinarySearchFunc(s.Strata, w.From, func(p Stratum, at uint64) int { return cmp.Compare(p.From, at) })
	for _, p := range s.Strata[first:] {
		if p.To > w.To {
			break
		}
		add(p.From, -1)
		add(p.To, p.Like)
	}
	add(w.To, -1)
	return list
}

// tracker is a trace.Collector that simulates a hierarchy on segments and keeps
// the counts of each stretch.
type tracker struct {
	plan     *trace.Plan
	config   cache.Config
	segments []segment
	history  bool // misses that fill free places are none: see WarmHistory

	current int // segment of the current batches; -1 before the first
	sim     *cache.Simulator
	base    [][]uint64 // misses at the beginning of the segment, by level and group
	now     []uint64   // the same at its end, of one level
	err     error

	block    []int    // of groups
	group    []uint32 // of references
	accesses []uint64 // by group, in the segment
	done     []StretchResult
	fills    [][]cache.Fill // of each of them, with history
	strata   []stratum
	once     []uint64 // by level: see Simulation.Once
}

// stratum is what a part of a history counted.
type stratum struct {
	like   int // index in Sample.Stretches
	window int // of the run
	blocks []Counts
	fills  []cache.Fill
}

var _ trace.RunCollector = (*tracker)(nil)

func newTracker(code *Code, config cache.Config, segments []segment, history bool) (*tracker, error) {
	plan := code.accesses()
	t := &tracker{
		plan: plan, config: config, segments: segments, history: history, current: -1,
		block: code.block, group: make([]uint32, len(plan.Refs)), accesses: make([]uint64, len(code.block)),
		base: make([][]uint64, len(config.Levels)+len(config.TLBs)),
	}
	for i := range plan.Refs {
		t.group[i] = uint32(plan.Refs[i].Group)
	}
	// Report an invalid configuration before the run.
	var err error
	t.sim, err = cache.New(plan, config)
	return t, err
}

// Observe implements trace.Collector.
func (t *tracker) Observe(b *trace.Batch) {
	for t.err == nil && t.current+1 < len(t.segments) && b.Start >= t.segments[t.current+1].From {
		t.leave()
		t.current++
		t.enter()
	}
	if t.err != nil {
		return
	}
	if t.current >= 0 && t.segments[t.current].quick {
		t.sim.Warm(b)
	} else {
		t.sim.Observe(b)
	}
	if t.current >= 0 && t.segments[t.current].counts() {
		t.count(b)
	}
}

// count counts accesses by group.
func (t *tracker) count(b *trace.Batch) {
	group, accesses := t.group, t.accesses
	for _, a := range b.Accesses {
		accesses[group[a.Ref()]]++
	}
	if len(b.Runs) == 0 {
		return
	}
	for p := range b.Pieces() {
		for _, s := range p.Loop.Strides {
			accesses[group[s.First.Ref()]] += uint64(p.Loop.Count)
		}
	}
}

// TakesRuns implements trace.RunCollector: where the simulator takes them.
func (t *tracker) TakesRuns() bool { return t.sim.TakesRuns() }

func (t *tracker) enter() {
	s := &t.segments[t.current]
	switch {
	case s.fresh && t.history:
		t.sim.Flush() // and remember which blocks were accessed
	case s.fresh:
		t.sim, t.err = cache.New(t.plan, t.config)
	}
	if t.err == nil && s.counts() {
		for l := range t.base {
			t.base[l] = t.sim.Misses(t.base[l], l)
		}
		clear(t.accesses)
		if t.history {
			t.sim.LogFills()
		}
	}
}

// leave ends a segment.
func (t *tracker) leave() {
	if t.current < 0 || !t.segments[t.current].counts() {
		return
	}
	s := &t.segments[t.current]
	t.sim.EndLog()
	var fills []cache.Fill
	if t.history {
		fills = t.sim.Fills()
	}
	if s.like >= 0 {
		t.strata = append(t.strata, stratum{s.like, t.current, t.blocks(), fills})
		return
	}
	t.done = append(t.done, StretchResult{Stretch: Stretch{s.Window, s.weight}, Blocks: t.blocks()})
	t.fills = append(t.fills, fills)
}

// blocks returns what the segment that ends counted.
func (t *tracker) blocks() (list []Counts) {
	var groups []int
	for g, n := range t.accesses {
		if n > 0 {
			groups = append(groups, g)
			list = append(list, Counts{Block: t.block[g], Accesses: n, Misses: make([]uint64, len(t.base))})
		}
	}
	for l := range t.base {
		t.now = t.sim.Misses(t.now, l)
		for i, g := range groups {
			list[i].Misses[l] = t.now[g] - t.base[l][g]
		}
	}
	return list
}

// resolve takes back the misses of each stretch, and of what is like it, that
// WarmHistory does not take for misses, and returns those of each level that the run has
// once.
func (t *tracker) resolve() (once []uint64) {
	held := make([][]float64, len(t.config.Levels)+len(t.config.TLBs)) // by level and set: the share that is held
	once = make([]uint64, len(held))
	for l := range held {
		ways := t.sim.Ways(l)
		for _, distinct := range t.sim.Distinct(l) {
			held[l] = append(held[l], min(1, float64(ways)/float64(max(1, distinct))))
			if uint64(distinct) <= ways {
				once[l] += uint64(distinct)
			}
		}
	}
	left := make([]float64, len(held))
	for i := range t.done {
		clear(left)
		t.takeBack(t.done[i].Blocks, t.fills[i], held, left)
	}
	clear(left)
	for i := range t.strata {
		t.takeBack(t.strata[i].blocks, t.strata[i].fills, held, left)
	}
	return once
}

// takeBack takes back misses of blocks: of each fill the share that its set holds. left
// is by level what rounding leaves to the blocks that follow.
func (t *tracker) takeBack(blocks []Counts, fills []cache.Fill, held [][]float64, left []float64) {
	type cell struct{ block, level int }
	hits := make(map[cell]float64)
	for _, f := range fills {
		hits[cell{t.block[f.Group], f.Level}] += held[f.Level][f.Set]
	}
	for _, c := range blocks {
		for l := range c.Misses {
			want := left[l] + hits[cell{c.Block, l}]
			taken := min(math.Floor(want), float64(c.Misses[l]))
			left[l] = want - taken
			c.Misses[l] -= uint64(taken)
		}
	}
}

// join adds the strata to the stretches that they are like.
func (t *tracker) join(windows []trace.Window) {
	levels := len(t.base)
	all := make([]map[int]*Counts, len(t.done)) // by block
	for _, s := range t.strata {
		if s.like >= len(t.done) {
			continue // the run ended before that stretch
		}
		if all[s.like] == nil {
			all[s.like] = make(map[int]*Counts)
		}
		w := windows[s.window]
		t.done[s.like].LikeInstructions += w.To - w.From
		for _, c := range s.blocks {
			sum := all[s.like][c.Block]
			if sum == nil {
				sum = &Counts{Block: c.Block, Misses: make([]uint64, levels)}
				all[s.like][c.Block] = sum
			}
			sum.Accesses += c.Accesses
			for l := 1; l < levels; l++ {
				sum.Misses[l] += c.Misses[l]
			}
		}
	}
	for i, blocks := range all {
		for _, b := range slices.Sorted(maps.Keys(blocks)) {
			t.done[i].Like = append(t.done[i].Like, *blocks[b])
		}
	}
}

// finish returns the counts of the stretches that the run reached.
func (t *tracker) finish(out *engine.Outcome) ([]StretchResult, error) {
	for t.err == nil && t.current+1 < len(out.Windows) {
		t.leave() // the next segment was reached, although nothing was recorded in it
		t.current++
		t.enter()
	}
	if t.err != nil {
		return nil, t.err
	}
	t.leave()
	if t.history {
		t.once = t.resolve()
	}
	t.join(out.Windows)
	reached := 0
	for i, w := range out.Windows {
		if t.segments[i].stretch >= 0 {
			t.done[reached].Instructions = w.To - w.From
			reached++
		}
	}
	return t.done[:reached], nil
}
