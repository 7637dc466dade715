package replayed

import (
	"slices"
	"strings"
	"testing"

	"presage/perf/misses"
	"presage/perf/store"
	"presage/perf/subject"
)

func TestBetween(t *testing.T) {
	for _, c := range []struct{ sizes, want []int64 }{
		{[]int64{1200, 1500, 1900, 4000}, []int64{1300, 1700, 2800}},
		{[]int64{4, 9, 10, 25}, []int64{6, 16}},    // nothing is between 9 and 10
		{[]int64{16, 20, 32, 64}, []int64{24, 44}}, // 17.9 of 4: 16 or 20
		{[]int64{1024, 1536, 2048, 3072}, nil},
		{[]int64{7}, nil},
	} {
		if got := between(c.sizes); !slices.Equal(got, c.want) {
			t.Errorf("between %v: %v, want %v", c.sizes, got, c.want)
		}
	}
}

// TestRunsBetween: where the largest run is not foretold well, models are of runs between
// those of the profiles, too, and rows say so.
func TestRunsBetween(t *testing.T) {
	if testing.Short() {
		t.Skip("learns loops at a dozen sizes")
	}
	st := store.Open(t.TempDir())
	m := find(t, "origin2000")
	prog := build(t, "", "testdata/select.c")
	model, p := learnOne(t, prog, m, subject.RunOptions{Store: st, Args: "{n} 1"}, 1800, 2400, 3000, 3800, 4800, 6000)
	const said = "with those at n = 2000, 2600, 3400, 4200, 5400, of which models are, too"
	for _, only := range []bool{false, true} {
		rows, err := misses.Predict(t.Context(), model, m, subject.Sweep("n", 12000), misses.PredictOptions{Coverage: -1, Corrector: NewCorrector(p, model, m, Options{TrainedSizesOnly: only})})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if r.Accesses != rows[0].Accesses || strings.Contains(r.Warning, said) == only {
				t.Errorf("trained sizes only %v: %s has %g accesses, %s %g: %s", only, r.Level, r.Accesses, rows[0].Level, rows[0].Accesses, r.Warning)
			}
		}
	}
}
