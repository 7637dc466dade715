package replayed

import (
	"math"
	"slices"
	"strings"
	"testing"

	"presage/perf/locality"
	"presage/perf/misses"
	"presage/perf/store"
	"presage/perf/subject"
)

// TestRoots predicts a sort by merging, whose distances grow with powers of the size
// between 0 and 1, with and without roots among the functions.
func TestRoots(t *testing.T) {
	st := store.Open(t.TempDir())
	m := find(t, "origin2000")
	prog := build(t, "", "testdata/merge.c")
	opt := subject.RunOptions{Store: st, Args: "{n}"}
	runs, err := locality.Profile(t.Context(), prog, subject.Sweep("n", 4000, 5600, 7500, 10000, 13000, 16000), locality.ProfileOptions{RunOptions: opt, BlockBytes: m.BlockBytes()})
	if err != nil {
		t.Fatal(err)
	}
	model, err := misses.Fit(t.Context(), runs, misses.FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	by := func(model *misses.Model) misses.Corrector { // its recursion is not followed
		c, err := Correctors(st, Options{})(t.Context(), model, m)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	point := subject.Point{"n": 64000}
	simulated, err := misses.Simulate(t.Context(), prog, m, []subject.Point{point}, misses.SimulateOptions{RunOptions: opt})
	if err != nil {
		t.Fatal(err)
	}
	off := func(by misses.Corrector) (float64, string) {
		rows, err := misses.Predict(t.Context(), model, m, []subject.Point{point}, misses.PredictOptions{Corrector: by})
		if err != nil {
			t.Fatal(err)
		}
		r := rows[slices.IndexFunc(rows, func(r misses.Row) bool { return r.Level == "L1" })]
		s := simulated[slices.IndexFunc(simulated, func(s misses.SimulatedRow) bool { return s.Level == "L1" })]
		return math.Abs(r.Misses/s.Misses - 1), r.Warning
	}
	with, warning := off(by(model))
	without, _ := off(misses.NoCorrection{})
	t.Logf("L1: %.3f off with roots, %.3f without", with, without)
	if with > 0.1 || without < 0.15 || !strings.Contains(warning, "n^0.5") {
		t.Errorf("%.3f off with roots, %.3f without; %s", with, without, warning)
	}
	s, err := by(model).(misses.Substituter).Substitutes(t.Context(), subject.Point{"n": 8000})
	if s != nil || err != nil {
		t.Errorf("within the sizes of the runs: %v, %v", s, err)
	}
	asked, err := misses.Fit(t.Context(), model.Runs(), misses.FitOptions{Store: st, Basis: "1, n, n^2"})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := by(asked).(misses.Substituter).Substitutes(t.Context(), point); err != nil || len(s.OtherRuns) > 0 || s.Refit != nil {
		t.Errorf("a basis was asked for, and there is a model with another: %v, %v", s, err)
	}
}
