//go:build linux && amd64

package walltime

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/engine/native"
	"presage/perf/internal/oracle"
	"presage/perf/store"
	"presage/perf/subject"
)

// TestRun studies one small static program, and records what is found. How right the
// times are is no matter of tests.
func TestRun(t *testing.T) {
	oracle.Need(t, "gcc")
	dir := t.TempDir()
	const source = `#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
	long n = atol(argv[1]);
	double *a = calloc(n, sizeof *a), sum = 0;
	for (int k = 0; k < 10; k++)
		for (long i = 0; i < n; i++)
			sum += a[i] * k;
	printf("%g\n", sum);
}`
	if err := os.WriteFile(filepath.Join(dir, "sum.c"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	o := Options{
		Dir: dir, Machine: machineAtHand(t), Repeats: 2, RunOptions: subject.RunOptions{Store: store.Open(t.TempDir())},
		Programs: []Program{{"sum", "sum.c", []string{"-O1", "-static"}, []float64{1000, 2000, 3000, 4000}, []float64{40000, 80000}}},
	}
	f, err := o.Run(t.Context())
	if errors.Is(err, native.ErrPtrace) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Rows) != 2 || f.System.Start <= 0 || f.System.Fault < 0 {
		t.Fatalf("%+v", f)
	}
	for i, r := range f.Rows {
		n := o.Programs[0].Judge[i]
		least := 10 * n * 2 / float64(o.Machine.Frequency) // a chain of additions, of two cycles each
		if r.N != n || r.Largest != 4000 || r.Language != "c" || r.Measured <= 0 || r.Predicted < least+f.System.Start ||
			r.Faults < n*8/4096 || r.Faults > n*8/4096+200 {
			t.Errorf("%+v", r)
		}
	}
	prefix := filepath.Join(t.TempDir(), "wall")
	if err := f.Record(prefix, "presage walltime"); err != nil {
		t.Fatal(err)
	}
	back, err := Load(prefix)
	if err != nil || len(back.Rows) != 2 || back.Rows[1].Program != "sum" || back.System.PageBytes != f.System.PageBytes {
		t.Errorf("%+v, %v", back, err)
	}
	o.Measured = back
	anew, err := o.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range anew.Rows {
		if b := f.Rows[i]; r.Measured != b.Measured || r.Median != b.Median || math.Abs(r.Predicted/b.Predicted-1) > 1e-9 || math.Abs(r.Error-b.Error) > 1e-9 {
			t.Errorf("%+v, want %+v", r, b)
		}
	}
	if err := anew.Record(prefix, "presage walltime --measured"); err != nil {
		t.Fatal(err)
	}
	if back, err = Load(prefix); err != nil || strings.Count(back.origin, again) != 1 || !strings.Contains(back.origin, "measured on") {
		t.Errorf("%q, %v", back.origin, err)
	}
	o.Measured.Rows = o.Measured.Rows[:1]
	if _, err := o.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "80000") {
		t.Errorf("a size that was not measured: %v", err)
	}
}
