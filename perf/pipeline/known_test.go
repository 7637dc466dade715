package pipeline_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"presage/perf/isa"
	"presage/perf/pipeline"
)

// ideal returns a core without limits except those that a test sets.
func ideal() pipeline.Config {
	return pipeline.Config{Window: 512, Units: portUnits, Timings: timings(ports, latencies)}
}

// near fails unless got is within the share tolerance of want.
func near(tb testing.TB, what string, got, want, tolerance float64) {
	tb.Helper()
	if math.Abs(got-want) > tolerance*want {
		tb.Errorf("%s: %.4f, want %.4f ± %g%%", what, got, want, 100*tolerance)
	}
}

// from counts what comes after n instructions, and simulates those too.
func from(n uint64) pipeline.Options {
	return pipeline.Options{Windows: []pipeline.Window{{From: n, To: 1 << 40}}, Warmup: n}
}

// edge is the share by which the beginning and the end of a run of thousands
// of instructions may move its mean.
const edge = 0.01

// computing are the classes that only compute, with whether in floating point.
var computing = map[isa.Class]bool{
	isa.ALU: false, isa.Shift: false, isa.Compare: false, isa.Multiply: false, isa.Divide: false,
	isa.FPAdd: true, isa.FPMultiply: true, isa.FPDivide: true, isa.FPSqrt: true, isa.FPFused: true, isa.FPConvert: true, isa.FPMove: true,
}

// TestChainTakesLatency demands that a chain of dependent instructions takes the sum
// of their latencies, in order and out of order.
func TestChainTakesLatency(t *testing.T) {
	for class, float := range computing {
		r := isa.Reg(5)
		if float {
			r += isa.F0
		}
		s := place(t, nil, []isa.Inst{in(class, r, r), in(class, r, r), in(class, r, r), in(class, r, r)})
		for range 1000 {
			s.run(0)
		}
		for _, inOrder := range []bool{false, true} {
			c := ideal()
			c.InOrder = inOrder
			near(t, class.String(), s.simulate(t, c).CPI(), float64(latencies(class)), edge)
		}
	}
}

// TestIndependentTakeUnits demands that independent instructions each take the time
// for which they occupy a unit, whatever their latency.
func TestIndependentTakeUnits(t *testing.T) {
	units := map[string]int{}
	for _, u := range portUnits {
		units[u.Name] = u.Count
	}
	for class, float := range computing {
		var insts []isa.Inst
		for i := range 16 {
			r := isa.Reg(8 + i)
			if float {
				r += isa.F0
			}
			insts = append(insts, in(class, r))
		}
		s := place(t, nil, insts)
		for range 500 {
			s.run(0)
		}
		count := 0
		for _, name := range ports(class) {
			count += units[name]
		}
		for _, cycles := range []int{1, 2, 7} {
			for _, inOrder := range []bool{false, true} {
				c := ideal()
				c.InOrder = inOrder
				c.Timings[class] = pipeline.Timing{Latency: latencies(class), Uses: []pipeline.Use{{AnyOf: ports(class), Cycles: cycles}}}
				near(t, fmt.Sprintf("%v, %d cycles", class, cycles), s.simulate(t, c).CPI(), float64(cycles)/float64(count), edge)
			}
		}
	}
}

// TestWidths demands that each width by itself limits instructions per cycle.
func TestWidths(t *testing.T) {
	s := place(t, nil, []isa.Inst{in(isa.Nop, none), in(isa.Nop, none), in(isa.Nop, none), in(isa.Nop, none)})
	for range 1000 {
		s.run(0)
	}
	for name, set := range map[string]func(*pipeline.Config, int){
		"fetch":    func(c *pipeline.Config, n int) { c.FetchWidth = n },
		"dispatch": func(c *pipeline.Config, n int) { c.DispatchWidth = n },
		"issue":    func(c *pipeline.Config, n int) { c.IssueWidth = n },
		"retire":   func(c *pipeline.Config, n int) { c.RetireWidth = n },
	} {
		for _, n := range []int{1, 2, 3, 8} {
			c := ideal()
			set(&c, n)
			near(t, name, s.simulate(t, c).CPI(), 1/float64(n), edge)
		}
	}
}

// TestBuffers demands Little's law for window, queues and registers: a resource that
// holds n instructions for a latency lets n pass per latency. Each entry is reused
// in the following cycle.
func TestBuffers(t *testing.T) {
	const latency = 40
	long := func(c *pipeline.Config) { c.Timings[isa.Multiply] = pipeline.Timing{Latency: latency} }
	for _, n := range []int{1, 3, 10} {
		for _, k := range []struct {
			name string
			inst isa.Inst
			set  func(*pipeline.Config)
			want float64
		}{
			{"window", in(isa.Multiply, 5), func(c *pipeline.Config) { c.Window = n }, (latency + 1) / float64(n)},
			{"registers", in(isa.Multiply, 5), func(c *pipeline.Config) { c.IntRegisters = 32 + n }, (latency + 1) / float64(n)},
			{"float registers", in(isa.FPMultiply, isa.F0), func(c *pipeline.Config) {
				c.FloatRegisters = 32 + n
				c.Timings[isa.FPMultiply] = pipeline.Timing{Latency: latency}
			}, (latency + 1) / float64(n)},
			{"load queue", in(isa.Load, 5), func(c *pipeline.Config) {
				c.LoadQueue = n
				c.Timings[isa.Load] = pipeline.Timing{Latency: latency}
			}, (latency + 1) / float64(n)},
			// A chain leaves its queue one by one, so a queue does not limit it.
			{"queue of a chain", in(isa.Multiply, 5, 5), func(c *pipeline.Config) {
				c.Queues = []pipeline.Queue{{Name: "q", Entries: n, Classes: []isa.Class{isa.Multiply}}}
			}, latency},
		} {
			c := ideal()
			long(&c)
			k.set(&c)
			s := place(t, nil, []isa.Inst{k.inst})
			for range 4000 {
				s.run(0, 0x100)
			}
			near(t, fmt.Sprintf("%s of %d", k.name, n), s.simulate(t, c).CPI(), k.want, edge)
		}
	}
}

// TestQueueFills demands that an issue queue full of waiting instructions keeps
// independent ones out: a chain of k multiplications waits in a queue of n, so beside
// each multiplication only those proceed early that fit before the queue is full.
func TestQueueFills(t *testing.T) {
	const latency, perChain = 20, 4
	insts := []isa.Inst{in(isa.Multiply, 5, 5)}
	for range perChain - 1 {
		insts = append(insts, in(isa.Multiply, 6, 5)) // waits for the chain as well
	}
	for range 12 {
		insts = append(insts, in(isa.FPDivide, isa.F0))
	}
	s := place(t, nil, insts)
	for range 500 {
		s.run(0)
	}
	cycles := func(entries int) float64 {
		c := ideal()
		c.Timings[isa.Multiply] = pipeline.Timing{Latency: latency}
		c.Timings[isa.FPDivide] = pipeline.Timing{Latency: latency, Uses: []pipeline.Use{{AnyOf: []string{"fp"}, Cycles: 2}}}
		c.Queues = []pipeline.Queue{{Name: "q", Entries: entries, Classes: []isa.Class{isa.Multiply, isa.FPDivide}}}
		return float64(s.simulate(t, c).Cycles) / 500
	}
	// With one entry everything waits in turn: the chain's latency, then the
	// twelve divisions one after the other, each leaving the queue as it begins,
	// two units of two cycles giving one a cycle.
	near(t, "wide queue", cycles(200), latency, 0.02)
	if narrow := cycles(1); narrow < latency+11 || narrow > latency+20 {
		t.Errorf("queue of one: %.1f cycles, want about %d", narrow, latency+13)
	}
}

func testMemory() pipeline.Memory {
	return pipeline.Memory{
		Levels: []pipeline.Level{
			{Name: "L1", Blocks: 64, BlockBytes: 64, Ways: 4, Latency: 4},
			{Name: "L2", Blocks: 512, BlockBytes: 64, Ways: 8, Latency: 13},
			{Name: "L3", Blocks: 4096, BlockBytes: 128, Ways: 16, Latency: 40},
		},
		Latency: 180,
	}
}

// TestPointerChaseTakesLevelLatency demands that each load of a pointer chase takes
// the latency of the smallest level that holds the working set, or else memory's.
func TestPointerChaseTakesLevelLatency(t *testing.T) {
	s0 := func(blocks int, step uint64) *script {
		s := place(t, nil, []isa.Inst{in(isa.Load, 5, 5)})
		rng := rand.New(rand.NewPCG(7, 7))
		order := rng.Perm(blocks)
		for range 40_000/blocks + 2 {
			for _, b := range order {
				s.run(0, uint64(b)*step)
			}
		}
		return s
	}
	for _, c := range []struct {
		blocks int
		step   uint64
		want   float64
	}{
		{64, 64, 4}, {512, 64, 13}, {4096, 128, 40}, {16384, 128, 180},
	} {
		s := s0(c.blocks, c.step)
		for _, inOrder := range []bool{false, true} {
			config := ideal()
			config.Memory, config.InOrder = testMemory(), inOrder
			// Only laps after the first are counted: that one finds nothing.
			r := s.simulateIn(t, config, from(uint64(c.blocks)))
			near(t, fmt.Sprintf("%d blocks", c.blocks), r.CPI(), c.want, edge)
			if got := r.Stack.Levels; c.want == 180 && float64(got[3]) < 0.9*float64(r.Cycles) {
				t.Errorf("of %d cycles, %v waited for the levels", r.Cycles, got)
			}
		}
	}
}

// stream makes n iterations of a loop that loads the next 8 bytes, with some
// independent instructions beside the load.
func stream(tb testing.TB, n, others, step int) *script {
	insts := []isa.Inst{in(isa.Load, 5)}
	for range others {
		insts = append(insts, in(isa.Nop, none))
	}
	s := place(tb, nil, insts)
	for i := range n {
		s.run(0, uint64(0x10000+i*step))
	}
	return s
}

// TestStreamTakesBandwidth demands that memory serves a block of a long stream every
// Interval cycles, and that writing back another of the same length adds its time.
func TestStreamTakesBandwidth(t *testing.T) {
	c := ideal()
	c.Memory = testMemory()
	for i := range c.Memory.Levels {
		c.Memory.Levels[i].BlockBytes = 64
	}
	for _, interval := range []int{12, 30} {
		c.Memory.Interval = interval
		loads := stream(t, 80_000, 0, 8).simulate(t, c)
		near(t, "loads", float64(loads.Cycles)/10_000, float64(interval), edge)

		store := place(t, nil, []isa.Inst{in(isa.Store, none, 6, 5)})
		for i := range 160_000 {
			store.run(0, uint64(0x10000+8*i))
		}
		c.Memory.WriteInterval = 5
		w := store.simulateIn(t, c, from(80_000))
		near(t, "stores", float64(w.Cycles)/10_000, float64(interval+5), edge)
		// Eight cycles in which a store retires, one in which one is executed;
		// else the store queue waits for memory.
		near(t, "waiting for memory", float64(w.Stack.Levels[3])/10_000, float64(interval+5-8-1), edge)
		c.Memory.WriteInterval = 0
	}
}

// TestMemoryParallelism demands that the number of misses in flight is limited by the
// MSHRs or the window, whichever is less.
func TestMemoryParallelism(t *testing.T) {
	for _, k := range []struct{ mshrs, window, others int }{
		{1, 512, 3}, {4, 512, 3}, {10, 512, 3}, {16, 32, 3}, {16, 64, 15}, {0, 128, 7},
	} {
		c := ideal()
		c.Memory = testMemory()
		for i := range c.Memory.Levels {
			c.Memory.Levels[i].BlockBytes = 64
		}
		c.Memory.Levels[0].MSHRs = k.mshrs
		c.Window = k.window
		s := stream(t, 5000, k.others, 64)
		r := s.simulate(t, c)
		perMiss := float64(r.Cycles) / 5000
		// Either limit by itself gives so many cycles a miss; an MSHR is held
		// while the miss takes longer than a hit.
		byMSHR, byWindow := 0.0, 181/(float64(k.window)/float64(k.others+1))
		if k.mshrs > 0 {
			byMSHR = (180 - 4) / float64(k.mshrs)
		}
		near(t, fmt.Sprintf("%+v", k), perMiss, max(byMSHR, byWindow), 0.02)
	}
}

// TestRandomBranchesCostPenalty demands that every other random branch costs the
// misprediction penalty, in addition to its own latency.
func TestRandomBranchesCostPenalty(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	s := place(t, map[int]int{0: 2}, []isa.Inst{in(isa.Branch, none)}, []isa.Inst{in(isa.Nop, none)}, []isa.Inst{in(isa.Jump, none)})
	s.code[2][0].Target, s.code[2][0].HasTarget = s.code[0][0].PC, true
	s.code[1][0].Class, s.code[1][0].Target, s.code[1][0].HasTarget = isa.Jump, s.code[0][0].PC, true
	const n = 20_000
	for range n {
		s.run(0)
		s.run(1 + rng.IntN(2))
	}
	for _, predictor := range []pipeline.Predictor{pipeline.Static, pipeline.Bimodal, pipeline.Gshare, pipeline.TAGE} {
		for _, penalty := range []int{0, 5, 17} {
			c := ideal()
			c.Units, c.Timings = nil, timings(func(isa.Class) []string { return nil }, latencies)
			c.Branch = pipeline.Branch{Predictor: predictor, Entries: 1024, HistoryBits: pipeline.MinTAGEHistory, Penalty: penalty}
			r := s.simulate(t, c)
			if share := float64(r.Mispredicts) / n; share < 0.47 || share > 0.53 {
				t.Errorf("%v: %.3f of the branches mispredicted, want half", predictor, share)
			}
			// Nothing else takes a cycle on this core.
			near(t, predictor.String(), float64(r.Cycles), float64(r.Mispredicts)*float64(1+penalty), edge)
			if r.Branches != n || r.Stack.Branch+r.Stack.Base+r.Stack.Latency != r.Cycles {
				t.Errorf("%d branches, stack %+v", r.Branches, r.Stack)
			}
			if r.BlockMispredicts[0] != r.Mispredicts {
				t.Errorf("%d mispredictions, of which %v end blocks", r.Mispredicts, r.BlockMispredicts)
			}
			c.Branch.Predictor = pipeline.Perfect
			if r := s.simulate(t, c); r.Mispredicts != 0 || r.Stack.Branch != 0 {
				t.Errorf("perfect prediction: %d mispredictions, %d cycles for them", r.Mispredicts, r.Stack.Branch)
			}
		}
	}
}

// TestPredictorsLearn demands that every predictor learns a loop's closing branch,
// history an alternating one, and the return-address stack returns.
func TestPredictorsLearn(t *testing.T) {
	loop := place(t, map[int]int{0: 0}, []isa.Inst{in(isa.Branch, none)}, []isa.Inst{in(isa.Nop, none)})
	alternate := place(t, map[int]int{0: 2, 1: 0, 2: 0}, []isa.Inst{in(isa.Branch, none)}, []isa.Inst{in(isa.Jump, none)}, []isa.Inst{in(isa.Jump, none)})
	// Two callers of one routine: its return leads to each in turn.
	calls := place(t, map[int]int{0: 3, 1: 3, 2: 0}, []isa.Inst{in(isa.Call, 1)}, []isa.Inst{in(isa.Call, 1)}, []isa.Inst{in(isa.Jump, none)}, []isa.Inst{in(isa.Return, none, 1)})
	for i := range 1000 {
		loop.run(0)
		alternate.run(0)
		alternate.run(1 + i%2)
		for _, b := range []int{0, 3, 1, 3, 2} {
			calls.run(b)
		}
	}
	wrong := func(s *script, b pipeline.Branch) uint64 {
		c := ideal()
		c.Branch = b
		return s.simulate(t, c).Mispredicts
	}
	for _, k := range []struct {
		name   string
		s      *script
		branch pipeline.Branch
		lo, hi uint64
	}{
		{"loop, static", loop, pipeline.Branch{Predictor: pipeline.Static}, 0, 0},
		{"loop, bimodal", loop, pipeline.Branch{Predictor: pipeline.Bimodal, Entries: 16}, 0, 0},
		{"alternating, static", alternate, pipeline.Branch{Predictor: pipeline.Static}, 499, 500},
		{"alternating, bimodal", alternate, pipeline.Branch{Predictor: pipeline.Bimodal, Entries: 16}, 490, 1000},
		{"alternating, gshare", alternate, pipeline.Branch{Predictor: pipeline.Gshare, Entries: 64, HistoryBits: 4}, 0, 10},
		{"loop, tage", loop, pipeline.Branch{Predictor: pipeline.TAGE, Entries: 16}, 0, 10},
		{"alternating, tage", alternate, pipeline.Branch{Predictor: pipeline.TAGE, Entries: 64}, 0, 10},
		{"calls, stack", calls, pipeline.Branch{Predictor: pipeline.Static, ReturnStack: 4}, 0, 0},
		{"calls, always right", calls, pipeline.Branch{Predictor: pipeline.Static}, 0, 0},
	} {
		if got := wrong(k.s, k.branch); got < k.lo || got > k.hi {
			t.Errorf("%s: %d mispredictions, want %d to %d", k.name, got, k.lo, k.hi)
		}
	}
}

// TestReturnStackOverflows demands that a stack of n return addresses predicts the
// innermost n returns of a deep recursion, and none of the others.
func TestReturnStackOverflows(t *testing.T) {
	const depth = 10
	s := place(t, nil, []isa.Inst{in(isa.Call, 1, 6)}, []isa.Inst{in(isa.Return, none, 1)})
	for range depth {
		s.run(0)
	}
	for range depth + 1 {
		s.run(1)
	}
	for _, n := range []int{1, 4, depth} {
		c := ideal()
		c.Branch = pipeline.Branch{Predictor: pipeline.Static, ReturnStack: n}
		if got := s.simulate(t, c).Mispredicts; got != uint64(depth-n) {
			t.Errorf("stack of %d: %d mispredictions, want %d", n, got, depth-n)
		}
	}
}

// TestStoreForwarding demands that a load gets its value from a store in the queue at
// the forwarding latency; after a store to only part of it, once that is in the cache.
func TestStoreForwarding(t *testing.T) {
	c := ideal()
	c.Memory.ForwardLatency = 6
	chain := place(t, nil, []isa.Inst{in(isa.Store, none, 6, 5), in(isa.Load, 5, 6)})
	partial := place(t, nil, []isa.Inst{in(isa.Store, none, 6, 5), in(isa.Load, 5, 6)})
	apart := place(t, nil, []isa.Inst{in(isa.Store, none, 6, 5), in(isa.Load, 5, 6)})
	for range 2000 {
		chain.run(0, 0x100, 0x100)
		partial.run(0, 0x100, 0x104)
		apart.run(0, 0x100, 0x108)
	}
	// From store to load to store: the store's latency and the load's.
	r := chain.simulate(t, c)
	near(t, "forwarded", float64(r.Cycles)/2000, float64(6+latencies(isa.Store)), edge)
	if r.Forwarded != 2000 {
		t.Errorf("%d loads forwarded of 2000", r.Forwarded)
	}
	// The store retires when it completes, is written in the next cycle, and
	// then the load takes a hit's latency.
	r = partial.simulate(t, c)
	near(t, "in part", float64(r.Cycles)/2000, float64(latencies(isa.Store)+1+latencies(isa.Load)), edge)
	if r.Forwarded != 0 {
		t.Errorf("%d loads forwarded of none", r.Forwarded)
	}
	r = apart.simulate(t, c)
	near(t, "apart", float64(r.Cycles)/2000, 1, edge) // one store unit
}

// TestConservativeLoads demands that a load that may not pass stores with unknown
// addresses waits for the addresses.
func TestConservativeLoads(t *testing.T) {
	s := place(t, nil, []isa.Inst{in(isa.Divide, 6, 7), in(isa.Store, none, 6, 5), in(isa.Load, 7, 8)})
	for range 1000 {
		s.run(0, 0x100, 0x200)
	}
	c := ideal()
	near(t, "any order", float64(s.simulate(t, c).Cycles)/1000, 1, 0.03) // the one unit that divides
	c.Memory.Conservative = true
	near(t, "in order", float64(s.simulate(t, c).Cycles)/1000, float64(latencies(isa.Divide)+latencies(isa.Load)), edge)
}

// TestTLBPenalty demands that TLB misses cost their penalty, in a pointer chase
// through more pages than a TLB has entries.
func TestTLBPenalty(t *testing.T) {
	s := place(t, nil, []isa.Inst{in(isa.Load, 5, 5)})
	const pages = 96
	for i := range 50 * pages {
		s.run(0, uint64(i%pages)*4096+uint64(i%pages)*64)
	}
	c := ideal()
	c.Memory.Levels = []pipeline.Level{{Name: "L1", Blocks: 1024, BlockBytes: 64, Latency: 4}}
	c.Memory.Latency = 5
	after := from(2 * pages)
	for _, k := range []struct {
		tlbs []pipeline.TLB
		want float64
	}{
		{[]pipeline.TLB{{Name: "T", Entries: 128, EntryBytes: 4096, MissPenalty: 30}}, 4},
		{[]pipeline.TLB{{Name: "T", Entries: 64, EntryBytes: 4096, MissPenalty: 30}}, 34},
		{[]pipeline.TLB{{Name: "T", Entries: 64, EntryBytes: 4096, MissPenalty: 7}, {Name: "S", Entries: 128, EntryBytes: 4096, MissPenalty: 30}}, 11},
		{[]pipeline.TLB{{Name: "T", Entries: 16, EntryBytes: 4096, MissPenalty: 7}, {Name: "S", Entries: 64, EntryBytes: 4096, MissPenalty: 30}}, 41},
		{[]pipeline.TLB{{Name: "T", Entries: 64, EntryBytes: 65536, MissPenalty: 30}}, 4},
		{[]pipeline.TLB{{Name: "T", Entries: 64, EntryBytes: 4096, MissPenalty: 30, Trap: true}}, 34},
	} {
		c.Memory.TLBs = k.tlbs
		r := s.simulateIn(t, c, after)
		near(t, fmt.Sprintf("%+v", k.tlbs), r.CPI(), k.want, edge)
		// In the first cycle of the penalty the load before retires.
		near(t, "TLB's part", float64(r.Stack.TLB)/float64(r.Instructions), max(0, k.want-4-1), 0.02)
	}
	// Independent loads overlap their misses, unless software handles them.
	wide := place(t, nil, []isa.Inst{in(isa.Load, 5)})
	wide.batch = s.batch
	c.Memory.TLBs = []pipeline.TLB{{Name: "T", Entries: 64, EntryBytes: 4096, MissPenalty: 30}}
	near(t, "overlapped", wide.simulateIn(t, c, after).CPI(), 0.5, edge)
	c.Memory.TLBs[0].Trap = true
	near(t, "trapped", wide.simulateIn(t, c, after).CPI(), 30, 0.05)
}

// TestInstructionCache demands that code larger than the instruction cache waits for
// each of its blocks.
func TestInstructionCache(t *testing.T) {
	var insts []isa.Inst
	for range 1024 {
		insts = append(insts, in(isa.Nop, none))
	}
	insts[1023] = in(isa.Jump, none)
	s := place(t, map[int]int{0: 0}, insts)
	for range 40 {
		s.run(0)
	}
	c := ideal()
	c.FetchWidth = 4
	c.Memory = testMemory()
	after := from(2048)
	c.ICache = pipeline.ICache{Blocks: 128, BlockBytes: 64, Ways: 8, Next: 1}
	r := s.simulateIn(t, c, after)
	near(t, "fits", r.CPI(), 0.25, edge)
	if r.FetchMisses != 0 {
		t.Errorf("%d fetch misses in a cache that holds the code", r.FetchMisses)
	}
	c.ICache.Blocks = 32
	r = s.simulateIn(t, c, after)
	// 16 instructions a block: the second level's latency, then four cycles.
	near(t, "misses", float64(r.Cycles)/float64(r.FetchMisses), 13+4, edge)
	if r.FetchMisses != 38*64 {
		t.Errorf("%d fetch misses, want %d", r.FetchMisses, 38*64)
	}
	// Of the 13 cycles, in the first one the instructions before retire.
	near(t, "ICache's part", float64(r.Stack.ICache)/float64(r.Cycles), 12.0/17, 0.02)
	c.ICache.NextLine = true
	if ahead := s.simulateIn(t, c, after); ahead.Cycles >= r.Cycles || ahead.FetchMisses != r.FetchMisses/2 {
		t.Errorf("fetching the next line: %d cycles, %d misses; without %d, %d", ahead.Cycles, ahead.FetchMisses, r.Cycles, r.FetchMisses)
	}
}

// TestSerializing demands that a serializing instruction runs alone.
func TestSerializing(t *testing.T) {
	s := place(t, nil, []isa.Inst{in(isa.Divide, 5), in(isa.CSR, 6), in(isa.Divide, 7)})
	for range 1000 {
		s.run(0)
	}
	c := ideal()
	c.Timings[isa.CSR] = pipeline.Timing{Latency: 9, Serializes: true}
	// Division, then the instruction, then the next division, each from the
	// cycle after the one before retired; two divisions share a cycle's edge.
	near(t, "cycles", float64(s.simulate(t, c).Cycles)/1000, 18+1+9+1+1, 0.02)
}

// TestPrefetch demands that the prefetcher, following a stream in either direction,
// hides latency up to its degree, and that it ignores random accesses when stream
// detection is on.
func TestPrefetch(t *testing.T) {
	run := func(direction int, p pipeline.Prefetch) *pipeline.Result {
		s := place(t, nil, []isa.Inst{in(isa.Load, 5, 5)}) // one after the other
		for i := range 8000 {
			s.run(0, uint64(0x1000000+direction*64*i))
		}
		c := ideal()
		c.Memory = testMemory()
		for i := range c.Memory.Levels {
			c.Memory.Levels[i].BlockBytes = 64
		}
		c.Memory.Prefetch = p
		return s.simulate(t, c)
	}
	for _, direction := range []int{1, -1} {
		near(t, "none", run(direction, pipeline.Prefetch{}).CPI(), 180, edge)
		// A block is asked for while the one so many before it is used, which
		// in turn takes the time that prefetching leaves: c such that
		// degree*c + c covers the latency, that is 180/(degree+1), or a hit.
		for _, degree := range []int{1, 3, 8} {
			r := run(direction, pipeline.Prefetch{Degree: degree, Streams: 4})
			near(t, fmt.Sprintf("degree %d", degree), r.CPI(), 180/float64(degree+1), 0.05)
		}
		near(t, "into the second level", run(direction, pipeline.Prefetch{Degree: 32, Level: 1, Streams: 4}).CPI(), 13, 0.02)
	}
	if r := run(1, pipeline.Prefetch{Degree: 64}); r.CPI() > 4.5 {
		t.Errorf("next 64 lines: %.1f cycles a load, want a hit's 4", r.CPI())
	}
	if r := run(2, pipeline.Prefetch{Degree: 4, Streams: 4}); r.Levels[0].Prefetches != 0 {
		t.Errorf("%d blocks prefetched of a sequence that leaves out every other", r.Levels[0].Prefetches)
	}
}

// TestTakenBranches demands that a taken branch ends the cycle's fetch, and may cost
// more cycles.
func TestTakenBranches(t *testing.T) {
	s := place(t, map[int]int{0: 0}, []isa.Inst{in(isa.Nop, none), in(isa.Jump, none)})
	for range 3000 {
		s.run(0)
	}
	for _, k := range []struct {
		perCycle, bubble int
		want             float64
	}{{1, 0, 1}, {2, 0, 0.5}, {1, 2, 3}, {3, 0, 1.0 / 3}} {
		c := ideal()
		c.Units, c.Timings = nil, timings(func(isa.Class) []string { return nil }, latencies)
		c.TakenPerCycle, c.Branch.TakenBubble = k.perCycle, k.bubble
		near(t, fmt.Sprintf("%+v", k), float64(s.simulate(t, c).Cycles)/3000, k.want, edge)
	}
}

// TestYoungerLoadAsksFirst demands that a load later in the program but earlier in
// time requests the block itself: its dependents need not wait for the older load,
// which is still waiting for its address.
func TestYoungerLoadAsksFirst(t *testing.T) {
	c := ideal()
	c.Memory = testMemory()
	var insts []isa.Inst
	for range 10 {
		insts = append(insts, in(isa.Divide, 5, 5))
	}
	insts = append(insts, in(isa.Load, 6, 5), in(isa.Load, 7, 8))
	for range 20 {
		insts = append(insts, in(isa.FPSqrt, isa.F0+1, isa.F0+1, 7))
	}
	s := place(t, nil, insts)
	s.run(0, 0x100, 0x108)
	want := float64(c.Memory.Latency + 20*latencies(isa.FPSqrt))
	near(t, "cycles", float64(s.simulate(t, c).Cycles), want, edge)
	// Were the block there only when the first load had waited for its address:
	late := want + float64(10*latencies(isa.Divide))
	if got := float64(s.simulate(t, c).Cycles); got > (want+late)/2 {
		t.Errorf("%.0f cycles, want %.0f and not %.0f", got, want, late)
	}
}
