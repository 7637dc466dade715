//go:build linux && amd64

package replayed

import (
	"errors"
	"math"
	"strings"
	"testing"

	"presage/perf/engine/native"
	"presage/perf/internal/oracle"
	"presage/perf/internal/perftest"
	"presage/perf/locality"
	"presage/perf/misses"
	"presage/perf/store"
	"presage/perf/subject"
)

// TestConflictsOfNativePrograms: the misses of a dynamic executable of this computer, with
// arrays that malloc places below the others at small sizes and maps at the size that is
// predicted, are those of a simulation.
func TestConflictsOfNativePrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	st := store.Open(t.TempDir())
	m := find(t, "origin2000")
	args := []string{"-O2", "-g", "-DCHOLESKY", "-DHEAP", "../../replay/testdata/kernels.c"}
	prog := perftest.Link(t, oracle.Need(t, "gcc"), args, "program")
	opt := subject.RunOptions{Store: st, Args: "{n}"}
	runs, err := locality.Profile(t.Context(), prog, subject.Sweep("n", 20, 25, 30, 35, 41, 46), locality.ProfileOptions{RunOptions: opt, BlockBytes: m.BlockBytes()})
	if errors.Is(err, native.ErrPtrace) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	model, err := misses.Fit(t.Context(), runs, misses.FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Learn(t.Context(), runs, st)
	if err != nil {
		t.Fatal(err)
	}
	point := subject.Point{"n": 128}
	simulated, err := misses.Simulate(t.Context(), prog, m, []subject.Point{point}, misses.SimulateOptions{RunOptions: opt, By: subject.ByRoutine})
	if err != nil {
		t.Fatal(err)
	}
	rows := judge(t, model, p, m, point, Options{}, simulated)
	if r := rows["L1 kernel"]; !strings.HasPrefix(r.method, Method) || math.Abs(r.pred-r.is) > 0.001*r.is {
		t.Errorf("%q predicts %g, simulated %g", r.method, r.pred, r.is)
	} else if r.is < 1.5*r.full {
		t.Errorf("%g misses, %g if fully associative: the test wants conflicts", r.is, r.full)
	}
}
