package callpath_test

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"presage/perf/callpath"
	"presage/perf/internal/oracle"
	"presage/perf/internal/perftest"
	"presage/perf/locality"
	"presage/perf/misses"
	"presage/perf/store"
	"presage/perf/subject"
)

// TestBinaries: programs that have their size compiled in are modelled together, with the
// traffic of the stack left out, and paths have the names that they have in common.
func TestBinaries(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	binary := func(n int) *subject.Program {
		return perftest.Link(t, oracle.Need(t, "riscv64-linux-gnu-gcc"), []string{
			"-g", "-O2", "-static", "-nostdlib", "-ffreestanding", "-fno-tree-loop-distribute-patterns", fmt.Sprintf("-DN=%d", n), filepath.Join("testdata", "bare.c"),
		}, fmt.Sprintf("bare.%d", n))
	}
	m, run := small(), subject.RunOptions{Store: store.Open(t.TempDir())}
	var points []subject.BinaryPoint
	for _, n := range []int{200, 260, 330, 410, 500} {
		points = append(points, subject.BinaryPoint{Point: subject.Point{"n": float64(n)}, Program: binary(n)})
	}
	runs, err := locality.ProfileBinaries(t.Context(), points, locality.ProfileOptions{RunOptions: run, BlockBytes: m.BlockBytes(), DataOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	model, err := misses.Fit(t.Context(), runs, misses.FitOptions{Store: run.Store})
	if err != nil {
		t.Fatal(err)
	}
	const n = 1000
	rows, err := callpath.Predict(t.Context(), model, m, []subject.Point{{"n": n}}, callpath.PredictOptions{By: subject.ByRoutine, Store: run.Store})
	if err != nil {
		t.Fatal(err)
	}
	const lines = 2 * 32 * 8 / 64 // of what is copied and where to
	found := 0
	for _, r := range rows {
		for caller, want := range map[string]float64{"stream": lines * n, "window": lines} {
			if r.Level != "L1" || r.Path.Path != rows[0].Scope+" > _start > "+caller+" > copy" {
				continue
			}
			found++
			if r.Accesses != 64*n || math.Abs(r.Misses-want) > 0.01*want+1 {
				t.Errorf("%s: %g accesses and %g misses, want %d and %g", caller, r.Accesses, r.Misses, 64*n, want)
			}
		}
	}
	if found != 2 {
		t.Errorf("%d paths to copy among %d rows", found, len(rows))
	}
	at := subject.RunOptions{Store: run.Store, Binaries: points[:2]}
	simulated, err := callpath.Simulate(t.Context(), nil, m, []subject.Point{points[0].Point, points[1].Point}, callpath.SimulateOptions{RunOptions: at, By: subject.ByRoutine})
	if err != nil {
		t.Fatal(err)
	}
	if len(simulated) != 2*3*6 || simulated[0].Program != rows[0].Program {
		t.Errorf("%d rows of %s, want those of the two programs at three levels", len(simulated), simulated[0].Program)
	}
}
