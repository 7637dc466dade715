package target_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"presage/machines"
	"presage/perf/cache"
	"presage/perf/fit"
	"presage/perf/iperf"
	"presage/perf/iperf/target"
	"presage/perf/trace"
)

func system(t testing.TB, name string) *iperf.System {
	t.Helper()
	s, err := iperf.FindSystem(name, machines.Files)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func kernel(t testing.TB, name string) *iperf.Kernel {
	t.Helper()
	k, err := iperf.FindKernel(name)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func processor(t testing.TB, c target.Config) *target.Processor {
	t.Helper()
	p, err := target.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// simple is a machine on which times can be counted by hand: 1 Hz, so that
// cycles are seconds; L1 of 2 blocks of 16 bytes, hits in 1 cycle, L2 of 64
// blocks of 32 bytes, 10 cycles; memory 50 cycles, a TLB miss 100.
func simple() *iperf.System {
	return &iperf.System{
		Name: "simple", Frequency: 1, MemoryLatency: 50,
		Levels: []iperf.Level{
			{Name: "L1", Sets: 2, BlockBytes: 16, Ways: 1, LatencyCycles: 1},
			{Name: "L2", Sets: 64, BlockBytes: 32, Ways: 1, LatencyCycles: 10},
		},
		TLB: iperf.TLB{Entries: 2, PageBytes: 4096, MissSeconds: 100},
	}
}

// Times worked out by hand. An instruction takes 1 cycle; a load's own cycle is
// among the instructions.
func TestKnownTimes(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*target.Config)
		run    func(*target.Processor)
		want   float64
	}{
		{"instructions", nil, func(p *target.Processor) { p.Execute(7) }, 7},
		{"TLB miss and memory", nil, func(p *target.Processor) { p.Load(0) }, 100 + 49},
		{"L1 hit", nil, func(p *target.Processor) { p.Load(0); p.Load(8); p.Execute(1) }, 149 + 1},
		{"L2 hit: the other half of its block", nil, func(p *target.Processor) { p.Load(0); p.Load(16) }, 149 + 9},
		{"sub-blocks of L2 are fetched one by one", func(c *target.Config) { c.System.Levels[1].SubBlockBytes = 16 }, func(p *target.Processor) { p.Load(0); p.Load(16) }, 149 + 49},
		{"conflict in L1", nil, func(p *target.Processor) { p.Load(0); p.Load(32); p.Load(0) }, 149 + 49 + 9},
		{"two ways have none", func(c *target.Config) { c.System.Levels[0].Ways = 2 }, func(p *target.Processor) { p.Load(0); p.Load(32); p.Load(0) }, 149 + 49},
		{"three pages in a TLB of two", nil, func(p *target.Processor) {
			for _, page := range []uint64{0, 1, 2, 0} {
				p.Load(page*4096 + page*32)
			}
		}, 4*100 + 3*49 + 9},
		{"non-blocking: work goes on until the use", func(c *target.Config) { c.System.Levels[0].NonBlocking, c.UseCycles = true, 20 }, func(p *target.Processor) {
			p.Load(0)
			p.Execute(30)
		}, 100 + 49 + 10},
		{"non-blocking: used late enough", func(c *target.Config) { c.System.Levels[0].NonBlocking, c.UseCycles = true, 60 }, func(p *target.Processor) {
			p.Load(0)
			p.Execute(70)
		}, 100 + 70},
		{"hit under miss", func(c *target.Config) { c.System.Levels[0].NonBlocking, c.UseCycles = true, 60 }, func(p *target.Processor) {
			p.Load(16) // 149
			p.Execute(60)
			p.Load(32) // L2 misses: 49 more, used in 60
			p.Execute(1)
			p.Load(16) // hits
			p.Execute(58)
		}, 100 + 60 + 1 + 58},
		{"one request at a time", func(c *target.Config) { c.System.Levels[0].NonBlocking, c.UseCycles = true, 1000 }, func(p *target.Processor) {
			p.Load(0)
			p.Execute(9)
			p.Load(48) // waits for the first, then 49 of its own
		}, 100 + 49 + 49},
		{"a block on its way", func(c *target.Config) { c.System.Levels[0].NonBlocking, c.UseCycles = true, 1000 }, func(p *target.Processor) {
			p.Load(0)
			p.Execute(9)
			p.Load(8)
			p.Execute(5)
		}, 100 + 49 + 5},
		{"stores wait in the buffer", nil, func(p *target.Processor) { p.Store(0); p.Execute(3) }, 100 + 40}, // allocates; the end waits for it
		{"a full buffer", func(c *target.Config) { c.StoreBuffer = 1 }, func(p *target.Processor) { p.Store(0); p.Store(64); p.Execute(1) }, 100 + 40 + 40},
		{"a full buffer delays what comes after", func(c *target.Config) { c.StoreBuffer = 1 }, func(p *target.Processor) { p.Store(0); p.Store(64); p.Execute(90) }, 100 + 40 + 90},
		{"a buffer with room does not", nil, func(p *target.Processor) { p.Store(0); p.Store(64); p.Execute(90) }, 100 + 90},
		{"write through", func(c *target.Config) { c.System.Levels[0].WriteThrough = true }, func(p *target.Processor) { p.Load(0); p.Store(0) }, 149 + 1},
		{"write back", nil, func(p *target.Processor) { p.Load(0); p.Store(0) }, 149},
		{"a store allocates", nil, func(p *target.Processor) { p.Store(0); p.Load(0); p.Execute(90) }, 100 + 90},
		{"a store does not allocate", func(c *target.Config) { c.System.Levels[0].NoWriteAllocate = true }, func(p *target.Processor) { p.Store(0); p.Load(0); p.Execute(90) }, 100 + 9 + 90},
		{"nor does it a sub-block", func(c *target.Config) {
			c.System.Levels[0] = iperf.Level{Name: "L1", Sets: 2, BlockBytes: 32, SubBlockBytes: 16, Ways: 1, LatencyCycles: 1, NoWriteAllocate: true}
		}, func(p *target.Processor) { p.Load(0); p.Store(16); p.Load(16); p.Execute(90) }, 149 + 9 + 90},
		{"each sub-block of four", func(c *target.Config) { c.System.Levels[1].BlockBytes, c.System.Levels[1].SubBlockBytes = 64, 16 }, func(p *target.Processor) { p.Load(0); p.Load(16); p.Load(48); p.Load(32) }, 149 + 3*49},
		{"pages far apart", nil, func(p *target.Processor) {
			const far = 1 << 39
			for _, page := range []uint64{0, far + 1, far + 2, far + 1, far + 3, far + 2} { // the fourth hits
				p.Load(page * 4096) // blocks of one L1 set and of one L2 set: all miss
			}
		}, 5*100 + 6*49},
		{"two cycles an instruction", func(c *target.Config) { c.CyclesPerInstruction = 2 }, func(p *target.Processor) { p.Execute(7) }, 14},
	} {
		config := target.Config{System: simple()}
		if c.change != nil {
			c.change(&config)
		}
		p := processor(t, config)
		c.run(p)
		if got := p.Seconds(); got != c.want {
			t.Errorf("%s: %g cycles, want %g", c.name, got, c.want)
		}
	}
}

// Misses, without sub-blocks and by the program's addresses, are those of the
// exact simulator of perf/cache.
func TestMissesAreThoseOfTheCacheSimulator(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		s := &iperf.System{
			Name: "random", Frequency: 1, MemoryLatency: 90, TLB: iperf.TLB{Entries: 1 << r.IntN(5), PageBytes: 4096, MissSeconds: 1},
			Placement: iperf.Coloured,
		}
		var config cache.Config
		for i, name := range []string{"L1", "L2"} {
			l := iperf.Level{Name: name, Sets: 1 << (2*i + r.IntN(5)), Ways: 1 << r.IntN(3), BlockBytes: 16 << (i + r.IntN(2)), LatencyCycles: float64(1 + i), Physical: i > 0}
			s.Levels = append(s.Levels, l)
			config.Levels = append(config.Levels, cache.Level{Name: name, Blocks: l.Sets * l.Ways, BlockBytes: l.BlockBytes, Ways: int(l.Ways)})
		}
		config.TLBs = []cache.TLB{{Name: "TLB", Entries: s.TLB.Entries, EntryBytes: 4096}}
		plan := &trace.Plan{Refs: []trace.Ref{{PC: 4, Size: 8}}, Blocks: []trace.Block{{PC: 4, Instructions: 1, Refs: 1}}}
		exact, err := cache.New(plan, config)
		if err != nil {
			t.Fatal(err)
		}
		timed, err := target.NewCollector(plan, target.Config{System: s})
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			b := new(trace.Batch)
			stride, at := uint64(8*r.IntN(400)), uint64(8*r.IntN(4000))
			for range 500 {
				if r.IntN(4) == 0 {
					at = uint64(8 * r.IntN(4000))
				}
				at = (at + stride) % (1 << 17)
				b.Accesses = append(b.Accesses, trace.Tag(0, 8)+trace.Access(at))
				b.Blocks = append(b.Blocks, 0)
			}
			exact.Observe(b)
			timed.Observe(b)
		}
		got, err := timed.Result()
		if err != nil {
			t.Fatal(err)
		}
		want := exact.Result()
		if got.Counts.Misses[0] != want.Levels[0].Total.Misses || got.Counts.Misses[1] != want.Levels[1].Total.Misses || got.Counts.TLBMisses != want.TLBs[0].Total.Misses {
			t.Errorf("%+v: misses %v, TLB %d; the simulator has %d, %d, %d", s.Levels, got.Counts.Misses, got.Counts.TLBMisses,
				want.Levels[0].Total.Misses, want.Levels[1].Total.Misses, want.TLBs[0].Total.Misses)
		}
		// Blocking caches are waited for in full, so time is a matter of counting.
		c := got.Counts
		cycles := float64(c.Loads) + float64(c.Misses[0]-c.Misses[1])*1 + float64(c.Misses[1])*89 + float64(c.TLBMisses)
		if math.Abs(got.Seconds-cycles) > 1e-6*cycles {
			t.Errorf("%g cycles for %+v, want %g", got.Seconds, c, cycles)
		}
	}
}

// What Figure 6 counts as misses of a blocking cache is what the simulation
// counts, where the formula has no partial reuse to estimate and pages are
// coloured.
func TestFigure6CountsWhatIsSimulated(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	s := system(t, "ultrasparc-1")
	s.Placement = iperf.Coloured
	k := kernel(t, "increment-ij")
	for _, n := range []float64{64, 512, 520, 600, 768} {
		l, err := iperf.Preselect(iperf.ReportDatabase(), k, s, []fit.Point{{"n": n}})
		if err != nil {
			t.Fatal(err)
		}
		res, err := target.Run(t.Context(), target.Config{System: s}, k, target.Code{}, fit.Point{"n": n})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range l.Curves {
			want := map[string]float64{"L2b": float64(res.Counts.Misses[1]), "TLB": float64(res.Counts.TLBMisses)}[c.Model.Name]
			// The rounding is of rows that begin in the middle of a block or page.
			if got := c.Terms[0][0]; want > 0 && math.Abs(got/want-1) > 0.03 {
				t.Errorf("n = %g: %s is %g, simulated %g", n, c.Model.Name, got, want)
			}
		}
	}
}

// Pages anywhere make conflicts where the page factor says, as many as it says,
// on average over placements.
func TestPageConflictsAreAsManyAsExpected(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	k := kernel(t, "increment-ij")
	s := system(t, "ultrasparc-2")
	for _, n := range []float64{512, 640, 768} {
		at := fit.Point{"n": n}
		l, err := iperf.Preselect(iperf.DefaultDatabase(), k, s, []fit.Point{at})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(l.Curves, func(c iperf.Curve) bool { return c.Model.Name == "pages" })
		want := l.Curves[i].Terms[0][0] + n*n/8 // the cold misses
		const placements = 5
		got := 0.0
		for seed := range uint64(placements) {
			r, err := target.Run(t.Context(), target.Config{System: s, Seed: seed}, k, target.Code{}, at)
			if err != nil {
				t.Fatal(err)
			}
			got += float64(r.Counts.Misses[1]) / placements
		}
		// The formula counts a sweep's lines; what lies in L1 from the row before
		// or in the rest of the array is not in it.
		if math.Abs(got/want-1) > 0.1 {
			t.Errorf("n = %g: %g misses in L2, expected %g", n, got, want)
		}
		s.Placement = iperf.Coloured
		r, err := target.Run(t.Context(), target.Config{System: s}, k, target.Code{}, at)
		if err != nil {
			t.Fatal(err)
		}
		s.Placement = iperf.Anywhere
		if c := float64(r.Counts.Misses[1]); math.Abs(c/(n*n/8)-1) > 0.01 {
			t.Errorf("n = %g: %g misses with coloured pages, want the %g cold ones", n, c, n*n/8)
		}
	}
}

// Run counts instructions by loop, and keeps arrays apart.
func TestRun(t *testing.T) {
	c := target.Config{System: simple()}
	at := fit.Point{"n": 3}
	k := kernel(t, "increment-ij")
	var seconds []float64
	for _, code := range []target.Code{{}, {OuterInstructions: 10}, {Instructions: 6}} {
		r, err := target.Run(t.Context(), c, k, code, at)
		if err != nil {
			t.Fatal(err)
		}
		if r.Counts.Loads != 9 || r.Counts.Stores != 9 || r.Counts.TLBMisses != 1 {
			t.Errorf("3 x 3 elements: %+v", r.Counts)
		}
		seconds = append(seconds, r.Seconds)
	}
	if seconds[1]-seconds[0] != 3*10 || math.Abs(seconds[2]-seconds[0]-9*6) > 1e-9 {
		t.Errorf("%g s, with 10 instructions a row %g, with 6 an element %g", seconds[0], seconds[1], seconds[2])
	}
	r, err := target.Run(t.Context(), target.Config{System: system(t, "ultrasparc-2")}, kernel(t, "copy"), target.Code{}, fit.Point{"n": 4096})
	if err != nil {
		t.Fatal(err)
	}
	if want := uint64(2 * 4096 / 8); r.Counts.Misses[1] < want || r.Counts.Misses[1] > want*11/10 {
		t.Errorf("copying 4096 elements missed %d blocks of 8 in L2, want %d and a few conflicts", r.Counts.Misses[1], want)
	}
}

func TestRefusals(t *testing.T) {
	for want, change := range map[string]func(*target.Config){
		"no system":       func(c *target.Config) { c.System = nil },
		"no caches":       func(c *target.Config) { c.System.Levels = nil },
		"must be known":   func(c *target.Config) { c.System.Frequency = 0 },
		"TLB miss":        func(c *target.Config) { c.System.TLB.MissSeconds = 0 },
		"latency of L2":   func(c *target.Config) { c.System.Levels[1].LatencyCycles = 0 },
		"only the first":  func(c *target.Config) { c.System.Levels[1].NonBlocking = true },
		"below 0":         func(c *target.Config) { c.UseCycles = -1 },
		"at most 64":      func(c *target.Config) { c.System.Levels[1].BlockBytes, c.System.Levels[1].SubBlockBytes = 1024, 8 },
		"sub-blocks of 3": func(c *target.Config) { c.System.Levels[1].SubBlockBytes = 3 },
	} {
		c := target.Config{System: simple()}
		change(&c)
		if _, err := target.New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
	if _, err := target.NewCollector(&trace.Plan{}, target.Config{System: simple()}); err == nil {
		t.Error("a plan without blocks was taken")
	}
	if _, err := target.Times(t.Context(), target.Config{System: simple()}, kernel(t, "copy"), target.Code{}, []fit.Point{{"n": 1}}, nil); err == nil {
		t.Error("no seeds were taken")
	}
}
