package replayed

import (
	"math"
	"testing"

	"presage/perf/misses"
	"presage/perf/store"
	"presage/perf/subject"
)

// TestScratch predicts a program that gives memory back and asks for more, in a cache in which
// it matters where that lies: at the sizes of the runs it is in the heap, and at that of the
// prediction in mappings, until one is given back.
func TestScratch(t *testing.T) {
	st := store.Open(t.TempDir())
	m := find(t, "origin2000")
	prog := build(t, "", "testdata/scratch.c")
	opt := subject.RunOptions{Store: st, Args: "{n}"}
	model, p := learnOne(t, prog, m, opt, 40, 48, 60, 72, 80, 96, 112)
	for _, n := range []float64{160, 192} {
		point := subject.Point{"n": n}
		simulated, err := misses.Simulate(t.Context(), prog, m, []subject.Point{point}, misses.SimulateOptions{RunOptions: opt, By: subject.ByRoutine})
		if err != nil {
			t.Fatal(err)
		}
		rows := judge(t, model, p, m, point, Options{}, simulated)
		for _, at := range []string{"L1 smooth", "L1 columns", "L2 smooth", "L2 columns"} {
			r, ok := rows[at]
			if !ok || r.is == 0 || math.Abs(r.pred-r.is) > 0.001*r.is {
				t.Errorf("n=%g, %s: %q predicts %g misses, simulated %g, fully associative %g", n, at, r.method, r.pred, r.is, r.full)
			}
		}
	}
}

// TestGrowing learns a program that asks for memory the more often the larger the size is: what
// it asks for at a new size is not known, and its addresses stay real.
func TestGrowing(t *testing.T) {
	st := store.Open(t.TempDir())
	m := find(t, "origin2000")
	prog := build(t, "", "testdata/grows.c")
	_, p := learnOne(t, prog, m, subject.RunOptions{Store: st, Args: "{n}"}, 24, 30, 37, 44, 50, 60)
	if !p.hints.Recycles || !p.hints.Unmodelled {
		t.Errorf("memory is given out again: %v; not as a model has it: %v", p.hints.Recycles, p.hints.Unmodelled)
	}
	for i, run := range p.runs {
		if run.Heap != nil {
			t.Errorf("n=%d: %d calls of allocators are kept", p.sweep.sizes[i], len(run.Heap.Calls))
		}
	}
}
