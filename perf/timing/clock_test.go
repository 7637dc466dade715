package timing

import (
	"errors"
	"math"
	"testing"

	"presage/perf/anatomy"
	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/pipeline"
	"presage/perf/store"
	"presage/perf/subject"
)

// TestClock: the accesses of a run take as long together as its schedule, and as many are
// under way as the window has instructions for; one in a core in order.
func TestClock(t *testing.T) {
	run := subject.RunOptions{Args: perftest.OneIteration, Store: store.Open(t.TempDir())}
	prog := perftest.Program(t)
	in, err := prog.Inputs(subject.Point{"n": 8}, run)
	if err != nil {
		t.Fatal(err)
	}
	counts, err := anatomy.Count(t.Context(), prog, subject.Point{"n": 8}, run)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := prog.Plan()
	if err != nil {
		t.Fatal(err)
	}
	executed := make(map[uint64]float64)
	instructions, accesses := 0.0, 0.0
	for i, r := range counts.Structure().Graph.Routines {
		for b := range r.Blocks {
			for k, n := range counts.Recovered.Routines[i].Insts(nil, r, b) {
				executed[r.Blocks[b].Insts[k].PC] = float64(n)
				instructions += float64(n)
			}
		}
	}
	for i := range plan.Refs {
		accesses += executed[uint64(plan.Refs[i].PC)]
	}
	for name, inOrder := range map[string]bool{"zen4": false, "itanium2": true} {
		m := profiletest.Machine(t, name)
		c, err := Clock(m, run.Store).Clock(t.Context(), prog, in)
		if err != nil {
			t.Fatal(err)
		}
		got := 0.0
		for i := range plan.Refs {
			got += c.PerAccess[i] * executed[uint64(plan.Refs[i].PC)]
		}
		rows, err := Schedule(t.Context(), counts, m, PredictOptions{By: subject.ByProgram})
		if err != nil {
			t.Fatal(err)
		}
		if want := rows[0].Cycles; math.Abs(got-want) > 0.01*want {
			t.Errorf("%s: accesses take %g cycles, the schedule %g", name, got, want)
		}
		want := int(math.Round(float64(m.Core.Window) * accesses / instructions))
		if inOrder {
			want = 1
		}
		if math.Abs(float64(c.Window-want)) > 1 {
			t.Errorf("%s: %d accesses under way, want %d", name, c.Window, want)
		}
	}
	if Clock(&machine.Machine{Name: "bare"}, nil).Clock != nil {
		t.Error("a core that is not described has a clock")
	}
}

// clockTolerance is for the share of prefetched blocks that are late, and for the cycles
// that these are waited for: the clock knows neither which loads depend on each other nor
// how many misses can be under way.
const clockTolerance = 0.25

// TestClockAgainstCore holds what a clock says of late prefetches against the simulated
// core, whose misses are the same, as it has no prefetch to give up.
func TestClockAgainstCore(t *testing.T) {
	run := subject.RunOptions{Args: perftest.OneIteration, Store: store.Open(t.TempDir())}
	prog, m := perftest.Program(t), profiletest.Machine(t, "zen4")
	m.Caches = m.Caches[:2] // the core has no exclusive level
	m.Caches[0].Blocks, m.Caches[1].Blocks = 64, 512
	size := 12.0
	if testing.Short() {
		size = 9
	}
	at := subject.Sweep("n", size)
	caches, err := misses.SimulatePrefetching(t.Context(), prog, m, at, misses.PrefetchOptions{
		SimulateOptions: misses.SimulateOptions{RunOptions: run}, Timing: Clock(m, run.Store),
	})
	if err != nil {
		t.Fatal(err)
	}
	core, err := Simulate(t.Context(), prog, m, at, SimulateOptions{RunOptions: run, Prefetching: true, Pipeline: func(c *pipeline.Config) {
		for i := range c.Memory.Levels {
			c.Memory.Levels[i].MSHRs = 0
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	got, want := 0.0, 0.0
	for _, r := range caches {
		of := func(what string) float64 { return core[0].Prefetched["sim_"+r.Level+"_"+what] }
		if r.Left != of("demand_misses") || r.Covered+r.Late != of("covered_misses")+of("late_misses") {
			t.Errorf("%+v, the core has %v", r, core[0].Prefetched)
		}
		used := r.Covered + r.Late
		t.Logf("%s: of %g blocks %g late by %g cycles, by the core %g by %g", r.Level, used, r.Late, r.Wait, of("late_misses"), of("late_cycles"))
		if math.Abs(r.Late-of("late_misses")) > clockTolerance*used {
			t.Errorf("%s: of %g blocks %g are late, %g on the core", r.Level, used, r.Late, of("late_misses"))
		}
		got, want = got+r.Wait, want+of("late_cycles")
	}
	if math.Abs(got-want) > clockTolerance*want || want == 0 {
		t.Errorf("%g cycles until late blocks arrive, %g on the core", got, want)
	}
	if _, err := Simulate(t.Context(), prog, profiletest.Machine(t, "origin2000"), at, SimulateOptions{RunOptions: run, Prefetching: true}); !errors.Is(err, machine.ErrNoPrefetchers) {
		t.Errorf("no prefetchers: %v", err)
	}
}
