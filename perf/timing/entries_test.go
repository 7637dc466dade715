package timing

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/anatomy"
	"presage/perf/internal/oracle"
	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/pipeline"
	"presage/perf/store"
	"presage/perf/subject"
)

// entriesSource has loops whose recurrences start anew at each entry, where successive
// entries overlap, and one whose recurrence goes on.
const entriesSource = `
static double a[40][40], x[40], y[40];
__attribute__((noinline)) void rows(void) { for (int i = 0; i < 40; i++) { double s = 0; for (int j = 0; j < 40; j++) s += a[i][j] * x[j]; y[i] = s; } }
__attribute__((noinline)) void triangle(void) { for (int i = 0; i < 40; i++) { double s = x[i]; for (int j = 0; j < i; j++) s -= a[i][j] * y[j]; y[i] = s; } }
__attribute__((noinline)) void seidel(void) { for (int i = 1; i < 39; i++) for (int j = 1; j < 39; j++) a[i][j] = 0.25 * (a[i-1][j] + a[i+1][j] + a[i][j-1] + a[i][j+1]); }
__attribute__((noinline)) double total(void) { double s = 0; for (int i = 0; i < 40; i++) { for (int j = 0; j < 40; j++) s += a[i][j]; y[i] = 1; } return s; }
__attribute__((used)) int run(void)
{
	for (int t = 0; t < 30; t++) { rows(); triangle(); seidel(); x[1] += total(); }
	return x[1] != x[1];
}
void _start(void)
{
	register long status __asm__("a0") = run();
	register long exit __asm__("a7") = 93;
	__asm__ volatile("ecall" : : "r"(status), "r"(exit));
}
`

// TestEntriesOverlap holds the schedules of loops that recurrences limit against the
// simulated core with perfect branch prediction. Without the overlap of entries,
// schedules of the first three are 1.7 to 2.6 times too long.
func TestEntriesOverlap(t *testing.T) {
	const tolerance = 0.25 // of the mean number of iterations, and of what else the simulation sees
	gcc := oracle.Need(t, "riscv64-linux-gnu-gcc")
	source := filepath.Join(t.TempDir(), "entries.c")
	if err := os.WriteFile(source, []byte(entriesSource), 0o600); err != nil {
		t.Fatal(err)
	}
	prog := perftest.Link(t, gcc, []string{"-O2", "-static", "-nostdlib", "-ffreestanding", "-Wl,--no-relax", source}, "entries")
	run := subject.RunOptions{CompiledIn: true, Store: store.Open(t.TempDir())}
	counts, err := anatomy.Count(t.Context(), prog, subject.Point{}, run)
	if err != nil {
		t.Fatal(err)
	}
	m := profiletest.Machine(t, "zen4")
	scheduled, err := Schedule(t.Context(), counts, m, PredictOptions{By: subject.ByRoutine})
	if err != nil {
		t.Fatal(err)
	}
	simulated, err := Simulate(t.Context(), prog, m, []subject.Point{{}}, SimulateOptions{
		RunOptions: run, By: subject.ByRoutine,
		Pipeline: func(c *pipeline.Config) { c.Branch.Predictor = pipeline.Perfect },
	})
	if err != nil {
		t.Fatal(err)
	}
	cycles := make(map[string]float64)
	for _, r := range simulated {
		cycles[r.Scope] = r.Cycles
	}
	seen := 0
	for _, r := range scheduled {
		if !strings.Contains("rows triangle seidel total", r.Scope) {
			continue
		}
		seen++
		if off := r.Schedule/cycles[r.Scope] - 1; math.Abs(off) > tolerance {
			t.Errorf("%s: scheduled %g cycles, simulated %g: off by %.3f", r.Scope, r.Schedule, cycles[r.Scope], off)
		}
	}
	if seen != 4 {
		t.Errorf("%d routines were scheduled, want 4", seen)
	}
}
