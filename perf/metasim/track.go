package metasim

import (
	"cmp"
	"maps"
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

// startLength is how much of a run's beginning WarmHistory simulates, in instructions: a
// program looks at much then that it was loaded with, and never again.
const startLength = 1_000_000

// segmentsOf returns the stretches of a sample, each preceded by its warm-up. A gap
// between stretches no longer than the warm-up is simulated whole as warm-up, and
// the caches keep their contents.
func segmentsOf(sample *Sample, opt *SimulateOptions) []segment {
	var list []segment
	var last uint64
	for i, s := range sample.Stretches {
		from := s.From - min(opt.WarmLength, s.From-last)
		if i == 0 && opt.Warmup == WarmHistory {
			if from <= startLength {
				from = 0
			} else {
				list = append(list, segment{Window: trace.Window{To: startLength}, stretch: -1, fresh: true, like: -1})
			}
		}
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
	pieces   []piece  // segments that count, by time
	pages    *pages
	once     []uint64 // by level: see Simulation.Once
}

// piece is what a segment counted that is a stretch, or like one.
type piece struct {
	segment int
	blocks  []Counts
	// With history:
	fills  []cache.Fill
	firsts []cache.First
}

var _ trace.RunCollector = (*tracker)(nil)

func newTracker(code *Code, config cache.Config, segments []segment, history bool) (*tracker, error) {
	plan := code.accesses()
	t := &tracker{
		plan: plan, config: config, segments: segments, history: history, current: -1,
		block: code.block, group: make([]uint32, len(plan.Refs)), accesses: make([]uint64, len(code.block)),
		base: make([][]uint64, len(config.Levels)+len(config.TLBs)), pages: newPages(&config),
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
	if t.current == 0 && t.history {
		t.pages.begin(t.sim)
	}
	if t.current < 0 || !t.segments[t.current].counts() {
		return
	}
	p := piece{segment: t.current, blocks: t.blocks()}
	t.sim.EndLog()
	if t.history {
		p.fills, p.firsts = t.sim.Fills(), t.sim.Firsts()
	}
	t.pieces = append(t.pieces, p)
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
		t.resolve(out)
	}
	return t.join(out.Windows), nil
}

// join returns the stretches, each with what is like it.
func (t *tracker) join(windows []trace.Window) []StretchResult {
	var done []StretchResult
	for _, p := range t.pieces {
		if s := &t.segments[p.segment]; s.stretch >= 0 && p.segment < len(windows) {
			w := windows[p.segment]
			done = append(done, StretchResult{Stretch: Stretch{s.Window, s.weight}, Instructions: w.To - w.From, Blocks: p.blocks})
		}
	}
	all := make([]map[int]*Counts, len(done)) // by block
	for _, p := range t.pieces {
		like := t.segments[p.segment].like
		if like < 0 || like >= len(done) {
			continue // a stretch, or like one before which the run ended
		}
		if all[like] == nil {
			all[like] = make(map[int]*Counts)
		}
		w := windows[p.segment]
		done[like].LikeInstructions += w.To - w.From
		t.pool(all[like], p.blocks)
	}
	for i, blocks := range all {
		for _, b := range slices.Sorted(maps.Keys(blocks)) {
			done[i].Like = append(done[i].Like, *blocks[b])
		}
	}
	return done
}

// pool adds counts to sums by block, without misses at the first level.
func (t *tracker) pool(sums map[int]*Counts, blocks []Counts) {
	levels := len(t.base)
	for _, c := range blocks {
		sum := sums[c.Block]
		if sum == nil {
			sum = &Counts{Block: c.Block, Misses: make([]uint64, levels)}
			sums[c.Block] = sum
		}
		sum.Accesses += c.Accesses
		for l := 1; l < levels; l++ {
			sum.Misses[l] += c.Misses[l]
		}
	}
}
