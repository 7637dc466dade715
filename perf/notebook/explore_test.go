package notebook

import (
	"testing"

	"presage/perf"
	"presage/perf/explore"
	"presage/perf/internal/profiletest"
	"presage/perf/store"
)

// Explore is called as its documentation has it, and outside of a notebook returns the
// first state.
func TestExplore(t *testing.T) {
	st := store.Open(t.TempDir())
	runs := profiletest.Profile(t, st, []float64{4, 6, 8}, 32)
	model := Must(perf.FitScaling(t.Context(), runs, perf.FitOptions{Store: st, Basis: "1, n, n^3"}))
	chosen := Explore(model, explore.Options{})
	if chosen.Basis != "1, n, n^3" || chosen.At != 16 {
		t.Errorf("%+v", chosen)
	}
}
