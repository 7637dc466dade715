package pipeline_test

import (
	"math/rand/v2"
	"testing"

	"presage/perf/isa"
	"presage/perf/isa/rv64"
	"presage/perf/pipeline"
	"presage/perf/trace"
)

// recent is a fully associative cache with LRU replacement.
type recent struct {
	size   int
	blocks []uint64
}

// miss accesses a block, and reports whether it was missing.
func (r *recent) miss(block uint64) bool {
	for i, b := range r.blocks {
		if b == block {
			r.blocks = append(append(r.blocks[:i:i], r.blocks[i+1:]...), block)
			return false
		}
	}
	r.blocks = append(r.blocks, block)
	if len(r.blocks) > r.size {
		r.blocks = r.blocks[1:]
	}
	return true
}

// wandering returns a run of a loop with a branch, loads and stores at random places,
// and what becomes of each access in a cache of 8 blocks and a TLB of 4 pages, of each
// transfer under static prediction.
func wandering(tb testing.TB, random *rand.Rand) (*script, *pipeline.Given) {
	const r1, r2, r3 = isa.Reg(5), isa.Reg(6), isa.Reg(7)
	s := place(tb, map[int]int{0: 2, 2: 0},
		[]isa.Inst{in(isa.Load, r1), in(isa.ALU, r2, r1), in(isa.Store, none, r3, r2), in(isa.Branch, none, r2)},
		[]isa.Inst{in(isa.Load, r2, r1), in(isa.Multiply, r1, r2)},
		[]isa.Inst{in(isa.Load, r3), in(isa.ALU, r3, r3), in(isa.Branch, none, r1)},
	)
	g := &pipeline.Given{Streams: 64}
	cached, paged := recent{size: 8}, recent{size: 4}
	enter := func(block, accesses int, wrong bool) {
		var addrs []uint64
		for range accesses {
			addr := uint64(random.IntN(40))*64 + uint64(random.IntN(8))*8
			addrs = append(addrs, addr)
			o := pipeline.Outcome{Stream: 1 + int32(addr/64)}
			if cached.miss(addr / 64) {
				o.Level = 1
			}
			if paged.miss(addr / 512) {
				o.Walk = 7
			}
			g.Outcomes = append(g.Outcomes, o)
		}
		s.run(block, addrs...)
		g.Wrong = append(g.Wrong, wrong)
	}
	for range 3000 {
		enter(0, 2, false) // back from block 2, as predicted
		skip := random.IntN(2) == 0
		if !skip {
			enter(1, 1, false)
		}
		enter(2, 1, skip) // forward, which is predicted not to be taken
	}
	return s, g
}

// TestGivenOutcomes demands that a run whose outcomes are given takes exactly as long
// as one that finds them in its caches, TLB and predictor: in order, where no access
// asks for a block before an older one does.
func TestGivenOutcomes(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 5 {
		s, g := wandering(t, random)
		c := ideal()
		c.InOrder, c.Window, c.IssueWidth, c.FetchWidth, c.FetchBuffer = true, 16, 2, 2, 8
		c.Branch = pipeline.Branch{Predictor: pipeline.Static, Penalty: 5}
		c.Memory = pipeline.Memory{
			Levels: []pipeline.Level{{Name: "L1", Blocks: 8, BlockBytes: 64, Latency: 3, MSHRs: 2}}, Latency: 40, Interval: 11,
			TLBs: []pipeline.TLB{{Name: "TLB", Entries: 4, EntryBytes: 512, MissPenalty: 7}},
		}
		want := s.simulate(t, c)
		sim, err := pipeline.New(rv64.Target(), s.plan, s.code, c, pipeline.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := sim.ObserveGiven(&s.batch, g); err != nil {
			t.Fatal(err)
		}
		got := sim.Result()
		if got.Cycles != want.Cycles || got.Mispredicts != want.Mispredicts || got.Levels[0].Misses != want.Levels[0].Misses {
			t.Errorf("given: %d cycles, %d mispredictions, %d misses; simulated: %d, %d, %d",
				got.Cycles, got.Mispredicts, got.Levels[0].Misses, want.Cycles, want.Mispredicts, want.Levels[0].Misses)
		}
		if want.Mispredicts == 0 || want.Levels[0].Misses == 0 || want.Levels[0].Delayed == 0 || want.TLBs[0].Misses == 0 {
			t.Errorf("nothing to compare: %+v", want.Counts)
		}
	}
}

// TestGivenAhead: a block that was requested before the access is waited for that much
// less, and not at all if it was requested early enough.
func TestGivenAhead(t *testing.T) {
	const r = isa.Reg(5)
	s := place(t, nil, []isa.Inst{in(isa.Load, r, r)}) // each waits for the one before
	for i := range 100 {
		s.run(0, uint64(i)*64)
	}
	c := ideal()
	c.Memory = pipeline.Memory{Levels: []pipeline.Level{{Name: "L1", Blocks: 8, BlockBytes: 64, Latency: 3}}, Latency: 43}
	cycles := func(ahead int32) float64 {
		g := &pipeline.Given{Outcomes: make([]pipeline.Outcome, len(s.batch.Accesses))}
		for i := range g.Outcomes {
			g.Outcomes[i] = pipeline.Outcome{Level: 1, Ahead: ahead}
		}
		sim, err := pipeline.New(rv64.Target(), s.plan, s.code, c, pipeline.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := sim.ObserveGiven(&s.batch, g); err != nil {
			t.Fatal(err)
		}
		return float64(sim.Result().Cycles) / 100
	}
	hit := float64(latencies(isa.Load))
	near(t, "requested with the access", cycles(0), hit+40, edge)
	near(t, "requested before", cycles(25), hit+15, edge)
	near(t, "requested long before", cycles(100), hit, edge)
}

// given returns the cycles that each of a hundred independent loads takes.
func given(t *testing.T, c pipeline.Config, o pipeline.Outcome) float64 {
	t.Helper()
	s := place(t, nil, []isa.Inst{in(isa.Load, 5)})
	g := &pipeline.Given{Streams: 1}
	for i := range 100 {
		s.run(0, uint64(i)*64)
		g.Outcomes = append(g.Outcomes, o)
	}
	sim, err := pipeline.New(rv64.Target(), s.plan, s.code, c, pipeline.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := sim.ObserveGiven(&s.batch, g); err != nil {
		t.Fatal(err)
	}
	return float64(sim.Result().Cycles) / 100
}

// TestGivenStreams: what is requested ahead is limited by the interval of the level that
// has it, and not by the misses that the core has under way; the interval of a stream is
// that of what belongs to one.
func TestGivenStreams(t *testing.T) {
	c := ideal()
	c.Memory = pipeline.Memory{Levels: []pipeline.Level{
		{Name: "L1", Blocks: 8, BlockBytes: 64, Latency: 3, MSHRs: 2}, {Name: "L2", Blocks: 64, BlockBytes: 64, Latency: 43, MSHRs: 2, StreamInterval: 9},
	}, Latency: 103, Interval: 13}
	near(t, "memory, two at a time", given(t, c, pipeline.Outcome{Level: 2}), 50, edge)
	near(t, "memory, requested before", given(t, c, pipeline.Outcome{Level: 2, Ahead: 90}), 13, edge)
	near(t, "L2, two at a time", given(t, c, pipeline.Outcome{Level: 1}), 20, edge)
	near(t, "L2, a stream", given(t, c, pipeline.Outcome{Level: 1, Ahead: 30, Stream: 1}), 9, edge)
	near(t, "L2, none", given(t, c, pipeline.Outcome{Level: 1, Ahead: 30}), 5, edge) // 10 cycles, two at a time
}

// TestGivenEnters: what hits in the block that its stream is missing waits for it, and what
// enters another block does not.
func TestGivenEnters(t *testing.T) {
	c := ideal()
	c.Memory = pipeline.Memory{Levels: []pipeline.Level{{Name: "L1", Blocks: 8, BlockBytes: 64, Latency: 3}}, Latency: 43}
	s := place(t, nil, []isa.Inst{in(isa.Load, 5), in(isa.Load, 6)})
	delayed := func(second pipeline.Outcome) uint64 {
		g := &pipeline.Given{Streams: 1}
		s.batch.Blocks, s.batch.Accesses = nil, nil
		for i := range 100 {
			s.run(0, uint64(i)*64, uint64(i)*64+8)
			g.Outcomes = append(g.Outcomes, pipeline.Outcome{Level: 1, Stream: 1, Enters: true}, second)
		}
		sim, err := pipeline.New(rv64.Target(), s.plan, s.code, c, pipeline.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := sim.ObserveGiven(&s.batch, g); err != nil {
			t.Fatal(err)
		}
		return sim.Result().Levels[0].Delayed
	}
	if got := delayed(pipeline.Outcome{Stream: 1}); got != 100 {
		t.Errorf("%d of 100 accesses wait for the block that another brings in", got)
	}
	if got := delayed(pipeline.Outcome{Stream: 1, Enters: true}); got != 0 {
		t.Errorf("%d accesses wait for a block that they are not to", got)
	}
}

// TestGivenErrors: outcomes that are not those of the batch, or impossible, are refused.
func TestGivenErrors(t *testing.T) {
	s := place(t, nil, []isa.Inst{in(isa.Load, 5)})
	s.run(0, 64)
	sim, err := pipeline.New(rv64.Target(), s.plan, s.code, ideal(), pipeline.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, g := range map[string]pipeline.Given{
		"too few outcomes":    {},
		"too few transfers":   {Outcomes: make([]pipeline.Outcome, 1), Wrong: make([]bool, 2)},
		"no such level":       {Outcomes: []pipeline.Outcome{{Level: 1}}},
		"no such stream":      {Outcomes: []pipeline.Outcome{{Stream: 1}}},
		"a negative walk":     {Outcomes: []pipeline.Outcome{{Walk: -1}}},
		"a negative distance": {Outcomes: []pipeline.Outcome{{Ahead: -1}}},
	} {
		if err := sim.ObserveGiven(&s.batch, &g); err == nil {
			t.Errorf("%s, and no error", name)
		}
	}
	if err := sim.ObserveGiven(&trace.Batch{}, &pipeline.Given{}); err != nil {
		t.Error(err)
	}
}
