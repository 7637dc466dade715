package metasim

import (
	"math"

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
	quick   bool // a warm-up of the levels below the first: see cache.Simulator.Warm
}

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
			list = append(list, segment{Window: trace.Window{From: from, To: to}, stretch: -1, fresh: fresh, quick: true})
			from, fresh = to, false
		}
		if from < s.From {
			list = append(list, segment{Window: trace.Window{From: from, To: s.From}, stretch: -1, fresh: fresh})
			fresh = false
		}
		list = append(list, segment{Window: s.Window, weight: s.Weight, stretch: i, fresh: fresh})
		last = s.To
	}
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
	base    *cache.Result // counts at the beginning of the stretch; nil: none yet
	err     error

	block    []int    // of groups
	group    []uint32 // of references
	accesses []uint64 // by group, in the stretch
	done     []StretchResult
	fills    [][]cache.Fill // of each of them, with history
	once     []uint64       // by level: see Simulation.Once
}

var _ trace.RunCollector = (*tracker)(nil)

func newTracker(code *Code, config cache.Config, segments []segment, history bool) (*tracker, error) {
	plan := code.accesses()
	t := &tracker{
		plan: plan, config: config, segments: segments, history: history, current: -1,
		block: code.block, group: make([]uint32, len(plan.Refs)), accesses: make([]uint64, len(code.block)),
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
		return
	}
	t.sim.Observe(b)
	if t.current >= 0 && t.segments[t.current].stretch >= 0 {
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
	if t.err == nil && s.stretch >= 0 {
		t.base = t.sim.Result()
		clear(t.accesses)
		if t.history {
			t.sim.LogFills()
		}
	}
}

// leave ends a stretch.
func (t *tracker) leave() {
	if t.current < 0 || t.segments[t.current].stretch < 0 {
		return
	}
	s := &t.segments[t.current]
	t.sim.EndLog()
	if t.history {
		t.fills = append(t.fills, t.sim.Fills())
	}
	out := StretchResult{Stretch: Stretch{s.Window, s.weight}}
	now := t.sim.Result()
	levels := append(now.Levels, now.TLBs...)
	before := append(t.base.Levels, t.base.TLBs...)
	for g, n := range t.accesses {
		if n == 0 {
			continue
		}
		c := Counts{Block: t.block[g], Accesses: n, Misses: make([]uint64, len(levels))}
		for l := range levels {
			c.Misses[l] = levels[l].Groups[g].Misses - before[l].Groups[g].Misses
		}
		out.Blocks = append(out.Blocks, c)
	}
	t.done = append(t.done, out)
}

// resolve takes back the misses of each stretch that WarmHistory does not take for
// misses, and returns those of each level that the run has once.
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
	type cell struct{ block, level int }
	for i := range t.done {
		hits := make(map[cell]float64)
		for _, f := range t.fills[i] {
			hits[cell{t.block[f.Group], f.Level}] += held[f.Level][f.Set]
		}
		left := make([]float64, len(held)) // by level: of hits, what rounding left to the blocks that follow
		for _, c := range t.done[i].Blocks {
			for l := range c.Misses {
				want := left[l] + hits[cell{c.Block, l}]
				taken := min(math.Floor(want), float64(c.Misses[l]))
				left[l] = want - taken
				c.Misses[l] -= uint64(taken)
			}
		}
	}
	return once
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
	reached := 0
	for i, w := range out.Windows {
		if t.segments[i].stretch >= 0 {
			t.done[reached].Instructions = w.To - w.From
			reached++
		}
	}
	return t.done[:reached], nil
}
