package pipeline_test

import (
	"reflect"
	"strings"
	"testing"

	"presage/perf/isa"
	"presage/perf/isa/rv64"
	"presage/perf/pipeline"
	"presage/perf/trace"
)

// TestPiecesAddUp demands that the pieces of a run add up to it.
func TestPiecesAddUp(t *testing.T) {
	s := mixed(t, 4)
	whole := s.simulate(t, modest())
	r := s.simulateIn(t, modest(), pipeline.Options{Interval: 1000})
	if !reflect.DeepEqual(r.Counts, whole.Counts) {
		t.Errorf("counts with pieces %+v, without %+v", r.Counts, whole.Counts)
	}
	if n := len(r.Pieces); n < 18 || n > 20 {
		t.Fatalf("%d pieces of 1000 in a run of %d instructions", n, r.Instructions)
	}
	var instructions, cycles, mispredicts, misses uint64
	for i, p := range r.Pieces {
		if p.From != instructions {
			t.Errorf("piece %d begins at %d, the one before ended at %d", i, p.From, instructions)
		}
		if i < len(r.Pieces)-1 && (p.Instructions < 1000 || p.Instructions > 1010) {
			t.Errorf("piece %d has %d instructions", i, p.Instructions)
		}
		if p.Stack.Total() != p.Cycles {
			t.Errorf("piece %d: stack of %d cycles, not %d", i, p.Stack.Total(), p.Cycles)
		}
		instructions += p.Instructions
		cycles += p.Cycles
		mispredicts += p.Mispredicts
		misses += p.Levels[0].Misses
	}
	if instructions != whole.Instructions || cycles != whole.Cycles || mispredicts != whole.Mispredicts || misses != whole.Levels[0].Misses {
		t.Errorf("pieces add up to %d instructions, %d cycles, %d mispredictions, %d misses, not %+v", instructions, cycles, mispredicts, misses, whole.Counts)
	}
}

// windowed runs a mixed program in one window.
func windowed(t *testing.T, o pipeline.Options) *pipeline.Result {
	t.Helper()
	o.Windows = []pipeline.Window{{From: 10_000, To: 15_000}}
	r := mixed(t, 5).simulateIn(t, modest(), o)
	if len(r.Windows) != 1 || r.Instructions < 4990 || r.Instructions > 5010 || r.Windows[0].Instructions != r.Instructions {
		t.Fatalf("%d instructions in %d windows, want 5000 in one", r.Instructions, len(r.Windows))
	}
	return r
}

// TestWarmup demands that the simulation before a window affects the window but is not
// counted: with all of it, the window is as in the whole run; with warm caches and
// predictors, nearly so; cold, it is slower.
func TestWarmup(t *testing.T) {
	var want pipeline.Counts
	whole := mixed(t, 5).simulateIn(t, modest(), pipeline.Options{Interval: 5000})
	want = whole.Pieces[2].Counts
	full := windowed(t, pipeline.Options{Warmup: 1 << 30})
	warm := windowed(t, pipeline.Options{WarmCaches: true})
	some := windowed(t, pipeline.Options{Warmup: 3000})
	cold := windowed(t, pipeline.Options{})
	near(t, "all before simulated", full.CPI(), want.CPI(), 0.002)
	near(t, "contents warm", warm.CPI(), want.CPI(), 0.005)
	if !(cold.Levels[1].Misses > some.Levels[1].Misses && some.Levels[1].Misses >= full.Levels[1].Misses) {
		t.Errorf("misses: cold %d, some warm-up %d, all %d", cold.Levels[1].Misses, some.Levels[1].Misses, full.Levels[1].Misses)
	}
	if diff := int64(warm.Levels[0].Misses) - int64(full.Levels[0].Misses); diff < -20 || diff > 20 {
		t.Errorf("%d misses with warm contents, %d simulated", warm.Levels[0].Misses, full.Levels[0].Misses)
	}
	if cold.Cycles <= full.Cycles {
		t.Errorf("cold %d cycles, warm %d", cold.Cycles, full.Cycles)
	}
}

// TestWindows simulates several windows, one of them after the run's end.
func TestWindows(t *testing.T) {
	s := mixed(t, 6)
	r := s.simulateIn(t, modest(), pipeline.Options{
		Windows:  []pipeline.Window{{From: 0, To: 2000}, {From: 2000, To: 4000}, {From: 9000, To: 12_000}, {From: 1 << 40, To: 1 << 41}},
		Interval: 1500,
	})
	if len(r.Windows) != 3 {
		t.Fatalf("%d windows, want 3", len(r.Windows))
	}
	whole := s.simulateIn(t, modest(), pipeline.Options{Interval: 2000})
	for i := range 2 {
		near(t, "window", float64(r.Windows[i].Cycles), float64(whole.Pieces[i].Cycles), 0.01)
	}
	if len(r.Pieces) != 6 {
		t.Errorf("%d pieces, want two of each window", len(r.Pieces))
	}
	if n := r.Windows[0].Instructions + r.Windows[1].Instructions + r.Windows[2].Instructions; n != r.Instructions {
		t.Errorf("%d instructions in windows, %d in all", n, r.Instructions)
	}
}

// TestThreads demands that threads share the core, but neither registers nor paths.
func TestThreads(t *testing.T) {
	s := place(t, map[int]int{0: 0}, []isa.Inst{in(isa.Divide, 5, 5), in(isa.Branch, none, 5)}, []isa.Inst{in(isa.Nop, none)})
	c := ideal()
	c.Branch = pipeline.Branch{Predictor: pipeline.Static, Penalty: 10}
	sim, err := pipeline.New(rv64.Target(), s.plan, s.code, c, pipeline.Options{})
	if err != nil {
		t.Fatal(err)
	}
	one := make([]trace.BlockID, 100)
	for i := range 40 {
		sim.Observe(&trace.Batch{Blocks: one, Thread: int32(i % 2), Start: uint64(200 * i)})
	}
	r := sim.Result()
	if r.Mispredicts != 0 {
		t.Errorf("%d mispredictions at changes of thread", r.Mispredicts)
	}
	// A turn is a chain of 100 divisions. It begins while the last divisions of
	// the other thread's turn that the window holds are under way, half of it.
	if got := float64(r.Cycles) / (40 * 100 * 18); got < 0.4 || got > 0.6 {
		t.Errorf("%.2f of the cycles that one chain would take", got)
	}
}

// TestOddBatches simulates a block whose accesses continue in the next batch, one that
// a fault ends, and accesses from code outside the blocks.
func TestOddBatches(t *testing.T) {
	s := place(t, nil, []isa.Inst{in(isa.Load, 5), in(isa.Load, 6), in(isa.Load, 7)}, []isa.Inst{in(isa.Load, 8)})
	s.run(0, 0x100, 0x200, 0x300)
	s.run(1, 0x400)
	a := s.batch.Accesses
	for _, k := range []struct {
		name         string
		batches      []trace.Batch
		instructions uint64
		warning      string
	}{
		{"whole", []trace.Batch{{Blocks: []trace.BlockID{0, 1}, Accesses: a}}, 4, ""},
		{"cut and gone on with", []trace.Batch{{Blocks: []trace.BlockID{0}, Accesses: a[:1]}, {Blocks: []trace.BlockID{1}, Accesses: a[1:]}}, 4, ""},
		{"cut twice", []trace.Batch{{Blocks: []trace.BlockID{0}, Accesses: a[:1]}, {Accesses: a[1:2]}, {Blocks: []trace.BlockID{1}, Accesses: a[2:]}}, 4, ""},
		{"fault", []trace.Batch{{Blocks: []trace.BlockID{0}, Accesses: a[:1]}, {Blocks: []trace.BlockID{1}, Accesses: a[3:]}}, 2, ""},
		{"stray", []trace.Batch{{Blocks: []trace.BlockID{1}, Accesses: a[1:]}}, 1, "2 recorded accesses"},
		{"stray at the end", []trace.Batch{{Blocks: []trace.BlockID{0}, Accesses: a}}, 3, "1 recorded accesses"},
		{"missing", []trace.Batch{{Blocks: []trace.BlockID{1, 0}, Accesses: a[:3]}}, 4, "1 executed memory references"},
	} {
		sim, err := pipeline.New(rv64.Target(), s.plan, s.code, ideal(), pipeline.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range k.batches {
			sim.Observe(&k.batches[i])
		}
		r := sim.Result()
		text := ""
		for _, w := range r.Warnings {
			text += w.Error()
		}
		if r.Instructions != k.instructions || (text == "") != (k.warning == "") || !strings.Contains(text, k.warning) {
			t.Errorf("%s: %d instructions, want %d; warnings %q, want %q", k.name, r.Instructions, k.instructions, text, k.warning)
		}
	}
}

// TestUntimedClass demands a warning about executed classes without a timing.
func TestUntimedClass(t *testing.T) {
	s := place(t, nil, []isa.Inst{in(isa.Vector, none), in(isa.ALU, 5)}, []isa.Inst{in(isa.CSR, none)})
	s.run(0)
	c := ideal()
	delete(c.Timings, isa.Vector)
	delete(c.Timings, isa.CSR)
	sim, err := pipeline.New(rv64.Target(), s.plan, s.code, c, pipeline.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sim.Observe(&s.batch)
	if w := sim.Result().Warnings; len(w) != 1 || !strings.Contains(w[0].Error(), "1 executed instructions of the class vector") {
		t.Errorf("warnings %v", w)
	}
}

// TestRefusals demands errors that name what cannot be simulated.
func TestRefusals(t *testing.T) {
	s := place(t, nil, []isa.Inst{in(isa.Load, 5)})
	for _, k := range []struct {
		want string
		set  func(c *pipeline.Config)
	}{
		{"Window is 0", func(c *pipeline.Config) { c.Window = 0 }},
		{"FetchWidth is -1", func(c *pipeline.Config) { c.FetchWidth = -1 }},
		{"OrderedCompletion without InOrder", func(c *pipeline.Config) { c.OrderedCompletion = true }},
		{"IntRegisters is 32", func(c *pipeline.Config) { c.IntRegisters = 32 }},
		{"two units", func(c *pipeline.Config) {
			c.Units = append(portUnits[:len(portUnits):len(portUnits)], pipeline.Unit{Name: "alu", Count: 1})
		}},
		{"0 units", func(c *pipeline.Config) { c.Units = []pipeline.Unit{{Name: "x"}} }},
		{"come to 110", func(c *pipeline.Config) { c.IssueWidth = 100 }},
		{`uses "none"`, func(c *pipeline.Config) {
			c.Timings[isa.ALU] = pipeline.Timing{Uses: []pipeline.Use{{AnyOf: []string{"none"}, Cycles: 1}}}
		}},
		{"names no unit", func(c *pipeline.Config) { c.Timings[isa.ALU] = pipeline.Timing{Uses: []pipeline.Use{{Cycles: 1}}} }},
		{"for 0 cycles", func(c *pipeline.Config) {
			c.Timings[isa.ALU] = pipeline.Timing{Uses: []pipeline.Use{{AnyOf: []string{"alu"}}}}
		}},
		{"latency -3", func(c *pipeline.Config) { c.Timings[isa.ALU] = pipeline.Timing{Latency: -3} }},
		{"uses 3 kinds", func(c *pipeline.Config) { c.Timings[isa.ALU] = pipeline.Timing{Uses: make([]pipeline.Use, 3)} }},
		{"has 0 entries", func(c *pipeline.Config) { c.Queues = []pipeline.Queue{{Name: "q"}} }},
		{"in the queues", func(c *pipeline.Config) {
			c.Queues = []pipeline.Queue{{"q", 1, []isa.Class{isa.ALU}}, {"r", 1, []isa.Class{isa.ALU}}}
		}},
		{"0 entries; a bimodal", func(c *pipeline.Config) { c.Branch.Predictor = pipeline.Bimodal }},
		{"predictor is number 9", func(c *pipeline.Config) { c.Branch.Predictor = 9 }},
		{"history bits", func(c *pipeline.Config) { c.Branch.HistoryBits = 33 }},
		{"history bits", func(c *pipeline.Config) {
			c.Branch = pipeline.Branch{Predictor: pipeline.TAGE, Entries: 64, HistoryBits: pipeline.MinTAGEHistory - 1}
		}},
		{"history bits", func(c *pipeline.Config) {
			c.Branch = pipeline.Branch{Predictor: pipeline.TAGE, Entries: 64, HistoryBits: pipeline.MaxTAGEHistory + 1}
		}},
		{"a tage predictor needs", func(c *pipeline.Config) {
			c.Branch = pipeline.Branch{Predictor: pipeline.TAGE, Entries: 2 * pipeline.MaxTAGEEntries}
		}},
		{"Penalty is -1", func(c *pipeline.Config) { c.Branch.Penalty = -1 }},
		{"blocks of 48 bytes", func(c *pipeline.Config) { c.Memory.Levels = testMemory().Levels; c.Memory.Levels[0].BlockBytes = 48 }},
		{"smaller than those", func(c *pipeline.Config) { c.Memory.Levels = testMemory().Levels; c.Memory.Levels[1].BlockBytes = 32 }},
		{"sets of 3 ways", func(c *pipeline.Config) { c.Memory.Levels = testMemory().Levels; c.Memory.Levels[1].Ways = 3 }},
		{`more than the 4 of "L1"`, func(c *pipeline.Config) { c.Memory.Levels = testMemory().Levels; c.Memory.Levels[1].Latency = 4 }},
		{"memory has the latency 0", func(c *pipeline.Config) { c.Memory.Levels = testMemory().Levels }},
		{"cannot bypass", func(c *pipeline.Config) { c.Memory = testMemory(); c.Memory.Levels[2].BypassFloat = true }},
		{"fills level 1", func(c *pipeline.Config) { c.Memory.Prefetch = pipeline.Prefetch{Degree: 1, Level: 1} }},
		{"TLB T has 0 blocks", func(c *pipeline.Config) { c.Memory.TLBs = []pipeline.TLB{{Name: "T", EntryBytes: 4096}} }},
		{"Next is 1", func(c *pipeline.Config) { c.ICache = pipeline.ICache{Blocks: 8, BlockBytes: 64, Next: 1} }},
	} {
		c := ideal()
		k.set(&c)
		if _, err := pipeline.New(rv64.Target(), s.plan, s.code, c, pipeline.Options{}); err == nil || !strings.Contains(err.Error(), k.want) {
			t.Errorf("error %v, want one with %q", err, k.want)
		}
	}
	for want, f := range map[string]func() error{
		"no plan": func() error {
			_, err := pipeline.New(rv64.Target(), nil, s.code, ideal(), pipeline.Options{})
			return err
		},
		"1 blocks and there are instructions of 0": func() error {
			_, err := pipeline.New(rv64.Target(), s.plan, nil, ideal(), pipeline.Options{})
			return err
		},
		"does not record the memory reference at pc 0x1000": func() error {
			_, err := pipeline.New(rv64.Target(), &trace.Plan{Blocks: s.plan.Blocks}, s.code, ideal(), pipeline.Options{})
			return err
		},
		"begins at pc 0x2000 in the plan": func() error {
			_, err := pipeline.New(rv64.Target(), &trace.Plan{Blocks: []trace.Block{{PC: 0x2000}}}, s.code, ideal(), pipeline.Options{})
			return err
		},
		"window 0, [5, 5), is empty": func() error {
			_, err := pipeline.New(rv64.Target(), s.plan, s.code, ideal(), pipeline.Options{Windows: []pipeline.Window{{From: 5, To: 5}}})
			return err
		},
		"block 0 is empty": func() error { _, err := pipeline.Plan([][]isa.Inst{nil}); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
