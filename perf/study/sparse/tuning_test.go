package sparse

import (
	"context"
	"slices"
	"strings"
	"testing"

	"presage/perf/progress"
	"presage/perf/spmv"
	"presage/perf/store"
)

// TestTune goes the whole way with a small matrix: samples, models, tuning, and the
// store.
func TestTune(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the packages below have tests of their own goroutines")
	}
	m := randomMatrix(t, 9)
	steps := 0
	opt := Options{Train: 250, Validate: 40, Store: store.Open(t.TempDir()), Progress: func(progress.Report) { steps++ }}
	found, err := Tune(context.Background(), m, opt)
	if err != nil {
		t.Fatal(err)
	}
	if steps == 0 {
		t.Error("no progress is reported")
	}
	if a := found.Accuracy; len(a) != 1 || !(a[0].MflopsMedian > 0 && a[0].MflopsMedian < 0.1) || a[0].Rows != opt.Validate {
		t.Errorf("errors %+v", a)
	}
	row := func(objective, strategy, search string) (of Tuned) {
		rows := 0
		for _, r := range found.Rows {
			if r.Objective == objective && r.Strategy == strategy && r.Search == search {
				of = r
				rows++
			}
		}
		if rows != 1 {
			t.Fatalf("%d rows of %s %s %s", rows, objective, strategy, search)
		}
		return of
	}
	// What was simulated can only have been bettered by what was found.
	fast := func(strategy, search string) float64 {
		return row("performance", strategy, search).Mflops
	}
	base := fast("baseline", "none")
	if app := fast("application", "simulated"); app < base || fast("application", "exhaustive") > app+1e-9 {
		t.Errorf("1×1 %g, best of all %g, the search found %g", base, app, fast("application", "exhaustive"))
	}
	if both := fast("coordinated", "exhaustive"); both < base {
		t.Errorf("coordinated tuning lost: %g of %g", both, base)
	}
	if row("energy", "application", "simulated").EnergyFlop > row("energy", "baseline", "none").EnergyFlop {
		t.Error("the least energy of all block sizes is more than that of 1×1")
	}
	// Again, from the store, to the last bit.
	opt.Objectives = []spmv.Objective{spmv.Fastest}
	again, err := Tune(context.Background(), m, opt)
	if err != nil {
		t.Fatal(err)
	}
	performance := slices.DeleteFunc(slices.Clone(found.Rows), func(r Tuned) bool { return r.Objective != "performance" })
	if len(performance) == 0 || !slices.Equal(again.Rows, performance) {
		t.Error("from the store come other rows")
	}
	if _, err := Tune(context.Background(), &spmv.Matrix{Name: "empty", Start: []int{0}}, opt); err == nil || !strings.Contains(err.Error(), "no entries") {
		t.Errorf("a matrix without entries: error %v", err)
	}
}
