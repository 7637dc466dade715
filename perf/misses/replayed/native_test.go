//go:build linux && amd64

package replayed

import (
	"errors"
	"fmt"
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
	rows := judgeNative(t, []string{"-O2", "-DCHOLESKY", "-DHEAP", "../../replay/testdata/kernels.c"}, 128, 20, 25, 30, 35, 41, 46)
	if r := rows["L1 kernel"]; !strings.HasPrefix(r.method, Method) || math.Abs(r.pred-r.is) > 0.001*r.is {
		t.Errorf("%q predicts %g, simulated %g", r.method, r.pred, r.is)
	} else if r.is < 1.5*r.full {
		t.Errorf("%g misses, %g if fully associative: the test wants conflicts", r.is, r.full)
	}
}

// judgeNative profiles a program at sizes, and predicts and simulates another.
func judgeNative(t *testing.T, args []string, at float64, sizes ...float64) map[string]judged {
	t.Helper()
	st := store.Open(t.TempDir())
	m := find(t, "origin2000")
	prog := perftest.Link(t, oracle.Need(t, "gcc"), append([]string{"-g"}, args...), "program")
	opt := subject.RunOptions{Store: st, Args: "{n}"}
	runs, err := locality.Profile(t.Context(), prog, subject.Sweep("n", sizes...), locality.ProfileOptions{RunOptions: opt, BlockBytes: m.BlockBytes()})
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
	points := []subject.Point{{"n": at}}
	simulated, err := misses.Simulate(t.Context(), prog, m, points, misses.SimulateOptions{RunOptions: opt, By: subject.ByRoutine})
	if err != nil {
		t.Fatal(err)
	}
	return judge(t, model, p, m, points[0], Options{}, simulated)
}

// TestStringInstructions: rep movs copies as many elements as it is told to, and vector
// loops leave a rest of each row: which way is past it, the start of the run at the size
// shows.
func TestStringInstructions(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	rows := judgeNative(t, []string{"-O3", "-mavx2", "testdata/copies.c"}, 200, 24, 40, 57, 72, 91, 104)
	for _, routine := range []string{"copy", "sweep"} {
		if r := rows["L1 "+routine]; !strings.Contains(r.method, Method) || math.Abs(r.pred-r.is) > 0.001*r.is {
			t.Errorf("%s: %q predicts %g, %g if fully associative, simulated %g", routine, r.method, r.pred, r.full, r.is)
		}
	}
}

// TestConflictsOfNativeExecutables: the same where each size has a dynamic executable of its
// own. Routines of the dynamic linker and the C library that some runs execute and others
// do not are no obstacle.
func TestConflictsOfNativeExecutables(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	gcc := oracle.Need(t, "gcc")
	build := func(n int) *subject.Program { // vector instructions are worth it at some sizes only
		return perftest.Link(t, gcc, []string{"-O2", "-fno-tree-vectorize", "-g", fmt.Sprintf("-DN=%d", n), "testdata/fixed.c"}, "program")
	}
	_, err := build(20).At(t.Context(), nil, subject.RunOptions{Store: store.Open(t.TempDir())})
	if errors.Is(err, native.ErrPtrace) {
		t.Skip(err)
	}
	s := learnBuilt(t, build, 20, 23, 26, 31, 36, 40, 45)
	target := s.at(128)
	if len(target.Program.File.Modules) > 0 || target.Program.File.Interpreter == "" {
		t.Fatal("the test wants an executable without the libraries that it loads")
	}
	rows := judge(t, s.model, s.program, s.m, target.Point, Options{Executables: []subject.BinaryPoint{target}}, s.simulate(t, target))
	for _, routine := range []string{"relax", "columns"} {
		if r := rows["L1 "+routine]; !strings.Contains(r.method, Method) || math.Abs(r.pred-r.is) > 0.001*r.is {
			t.Errorf("%s: %q predicts %g, %g if fully associative, simulated %g", routine, r.method, r.pred, r.full, r.is)
		}
	}
	if r := rows["L1 columns"]; math.Abs(r.full-r.is) < 0.01*r.is {
		t.Errorf("columns: %g misses, %g if fully associative: the test wants conflicts", r.is, r.full)
	}
}
