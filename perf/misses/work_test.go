package misses

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"presage/perf/locality"
	"presage/perf/store"
	"presage/perf/subject"
)

// TestRunsThatDoNotDependOnTheSize: a size that does not reach the program is an
// error that says what to do.
func TestRunsThatDoNotDependOnTheSize(t *testing.T) {
	laws := []law{{count: 1, countPower: 2, distance: 1, distancePower: 1}}
	runs := madeUp(t, mesh(t), laws, []float64{20, 30, 40, 50, 60}, 0, rand.New(rand.NewPCG(1, 1)))
	if _, err := Fit(t.Context(), runs, FitOptions{Store: store.Open(t.TempDir())}); err != nil {
		t.Fatal(err)
	}
	for i := range runs.Runs {
		runs.Runs[i].Reuse, runs.Runs[i].Accesses = runs.Runs[0].Reuse, runs.Runs[0].Accesses
	}
	_, err := Fit(t.Context(), runs, FitOptions{Store: store.Open(t.TempDir())})
	if !errors.Is(err, locality.ErrConstant) || !strings.Contains(err.Error(), "n=60") {
		t.Errorf("runs that are the same: %v", err)
	}
}

// TestConflictsAreSaid: steps that come to few sets, and few ways, make a row warn;
// a fully associative cache and one of many ways do not.
func TestConflictsAreSaid(t *testing.T) {
	laws := []law{{count: 5, countPower: 3, distance: 2, distancePower: 1, offset: 30}}
	runs := madeUp(t, mesh(t), laws, []float64{20, 24, 30, 36, 45, 60}, 0, rand.New(rand.NewPCG(3, 3)))
	model, err := Fit(t.Context(), runs, FitOptions{Store: store.Open(t.TempDir())})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		n    float64
		ways uint64
		want string
	}{
		{128, 8, "steps of 1024 bytes"}, // 8 of 128 sets
		{121, 8, ""},
		{121, 2, "2 ways"},
		{128, 0, ""},
	} {
		rows, err := OfCaches(t.Context(), model, Query{Points: []subject.Point{{"n": c.n}}, Caches: []CacheSize{{Capacity: 64 << 10, BlockBytes: 64, Ways: c.ways}}})
		if err != nil {
			t.Fatal(err)
		}
		warning := rows[0].Warning
		if said := strings.Contains(warning, "conflicts possible"); said != (c.want != "") || !strings.Contains(warning, c.want) {
			t.Errorf("n = %g in %d ways: %q, want %q", c.n, c.ways, warning, c.want)
		}
	}
}
