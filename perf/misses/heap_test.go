package misses

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/locality"
	"presage/perf/store"
	"presage/perf/subject"
)

const allocates = `#include <stdlib.h>
volatile double sum;
int main(int argc, char **argv) {
  int n = atoi(argv[1]);
  for (int k = 0; k < 3; k++) {
    double *a = malloc(n * sizeof *a);
    for (int i = 0; i < n; i++) a[i] = i;
    for (int i = 0; i < n; i++) sum += a[i];
    free(a);
  }
}
`

// TestTurnsToMappings: a block of 128 KiB is mapped at some of the sizes.
func TestTurnsToMappings(t *testing.T) {
	source := filepath.Join(t.TempDir(), "allocates.c")
	if err := os.WriteFile(source, []byte(allocates), 0o666); err != nil {
		t.Fatal(err)
	}
	prog := perftest.Link(t, oracle.Need(t, "riscv64-linux-gnu-gcc"), []string{"-O2", "-static", source}, "allocates")
	st := store.Open(t.TempDir())
	for _, c := range []struct {
		sizes []float64
		want  string
	}{
		{[]float64{4000, 8000, 12000}, ""},
		{[]float64{8000, 12000, 20000}, "0 times at n=8000 and 1 times at n=20000"},
	} {
		runs, err := locality.Profile(t.Context(), prog, subject.Sweep("n", c.sizes...), locality.ProfileOptions{
			RunOptions: subject.RunOptions{Args: "{n}", Store: st}, BlockBytes: []uint64{64, 4096},
		})
		if err != nil {
			t.Fatal(err)
		}
		m, err := Fit(t.Context(), runs, FitOptions{Store: st})
		if err != nil {
			t.Fatal(err)
		}
		for n, maps := range map[float64]bool{c.sizes[0]: false, c.sizes[len(c.sizes)-1]: false, 15000: false, 30000: c.want == ""} {
			rows, err := Predict(t.Context(), m, profiletest.Machine(t, "zen4"), subject.Sweep("n", n), PredictOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(rows[0].Warning, "may come in"); got != maps {
				t.Errorf("%v: at n=%v, %q", c.sizes, n, rows[0].Warning)
			}
		}
		if text := turnsToMappings(runs); (text == "") != (c.want == "") || !strings.Contains(text, c.want) {
			t.Errorf("%v: %q, want %q", c.sizes, text, c.want)
		}
		dir := t.TempDir()
		if err := runs.Save(dir); err != nil {
			t.Fatal(err)
		}
		again, err := locality.LoadRuns(dir)
		if err != nil || turnsToMappings(again) != turnsToMappings(runs) {
			t.Errorf("%v: saved and loaded, %q (%v)", c.sizes, turnsToMappings(again), err)
		}
	}
}
