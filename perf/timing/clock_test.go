package timing

import (
	"math"
	"testing"

	"presage/perf/anatomy"
	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/machine"
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
