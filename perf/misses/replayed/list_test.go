package replayed

import (
	"math"
	"strings"
	"testing"

	"presage/perf/misses"
	"presage/perf/store"
	"presage/perf/subject"
)

// TestListsJoinNoArrays: a pointer that goes from array to array, as along a list, does
// not make one allocation of them, of which they would be parts at distances that follow
// from the size.
func TestListsJoinNoArrays(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; TestConflictsOfOneExecutable runs the same goroutines")
	}
	t.Parallel()
	st, m := store.Open(t.TempDir()), find(t, "origin2000")
	prog := build(t, "", "testdata/list.c")
	opt := subject.RunOptions{Store: st, Args: "{n}"}
	model, p := learnOne(t, prog, m, opt, 96, 104, 113, 122, 140, 152)
	point := subject.Point{"n": 256}
	simulated, err := misses.Simulate(t.Context(), prog, m, []subject.Point{point}, misses.SimulateOptions{RunOptions: opt, By: subject.ByRoutine})
	if err != nil {
		t.Fatal(err)
	}
	r := judge(t, model, p, m, point, Options{}, simulated)["L1 kernel"]
	if !strings.Contains(r.method, Method) || math.Abs(r.pred-r.is) > 0.001*r.is {
		t.Errorf("%q predicts %g, %g if fully associative, simulated %g", r.method, r.pred, r.full, r.is)
	}
	if math.Abs(r.full-r.is) < 0.01*r.is {
		t.Errorf("%g misses, %g if fully associative: the test wants conflicts", r.is, r.full)
	}
}
