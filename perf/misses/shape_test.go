package misses

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"presage/perf/frame"
	"presage/perf/internal/perftest"
	"presage/perf/locality"
	"presage/perf/store"
	"presage/perf/subject"
)

// TestShapesAndResiduals fits the same profiles under each restriction: the
// fewer there are, the nearer the functions come to their data.
func TestShapesAndResiduals(t *testing.T) {
	st := store.Open(t.TempDir())
	runs, blocks := profileSizes(t, st, perftest.Compile(t, "gcc", "-O0", "sized", "sized.c"), 12, 16, 21, 26, 31), []uint64{32}
	loose := make(map[string]float64)
	for _, shape := range []string{"", "monotone", "convex", "concave", "free"} {
		model, err := Fit(t.Context(), runs, FitOptions{Store: st, Shape: shape, BlockBytes: blocks})
		if err != nil {
			t.Fatal(err)
		}
		if shape == "concave" { // as no program with loops in loops is
			if !strings.Contains(strings.Join(model.Warnings, "\n"), "the model has") {
				t.Errorf("%s: no warning of lost accesses in %q", shape, model.Warnings)
			}
			continue
		}
		df, err := model.Residuals(locality.HistogramOptions{Routine: "decompose"})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range perftest.Column(t, df, "residual") {
			loose[shape] += math.Abs(r)
		}
		// Value and residual add up to the data, and these to all accesses.
		accesses, err := frame.Where(frame.Of(df), "quantity", "accesses")
		if err != nil {
			t.Fatal(err)
		}
		data := make(map[string]float64)
		residual, n := perftest.Column(t, accesses, "residual"), perftest.Text(t, accesses, "n")
		for i, v := range perftest.Column(t, accesses, "value") {
			data[n[i]] += v + residual[i]
		}
		groups, err := runs.GroupsOf(locality.HistogramOptions{Routine: "decompose"})
		if err != nil {
			t.Fatal(err)
		}
		for i, run := range runs.Runs {
			want := 0.0
			for _, g := range groups[i] {
				want += float64(run.Reuse[0].Groups[g].Accesses())
			}
			// Functions held constant for want of data have no residuals.
			size := strconv.FormatFloat(run.Point["n"], 'f', -1, 64)
			if got := data[size]; math.Abs(got/want-1) > 0.01 {
				t.Errorf("%q, n = %s: value and residual add up to %g accesses, not %g", shape, size, got, want)
			}
		}
	}
	if loose["free"] > loose[""] {
		t.Errorf("sums of residuals %v", loose)
	}
	if _, err := Fit(t.Context(), runs, FitOptions{Store: st, Shape: "round", BlockBytes: blocks}); err == nil || !strings.Contains(err.Error(), "one curvature") {
		t.Errorf("an unknown shape: %v", err)
	}
	model, err := Fit(t.Context(), runs, FitOptions{Store: st, BlockBytes: blocks})
	if err != nil {
		t.Fatal(err)
	}
	for _, opt := range []locality.HistogramOptions{{BlockBytes: 48}, {Routine: "main.nothing"}} {
		if _, err := model.Residuals(opt); err == nil {
			t.Errorf("%+v: no error", opt)
		}
	}
}

// TestHistogramsOfModel: at the training points the model has as many accesses
// as were collected, nearly, and farther out it goes on.
func TestHistogramsOfModel(t *testing.T) {
	model := askable(t)
	runs := model.Runs()
	df, err := model.Histograms(runs, locality.HistogramOptions{Routine: "solveLine"}, subject.Point{"n": 20})
	if err != nil {
		t.Fatal(err)
	}
	sums, distances := make(map[string]float64), make(map[string]float64)
	n, accesses, lo := perftest.Text(t, df, "n"), perftest.Column(t, df, "accesses"), perftest.Column(t, df, "lo_blocks")
	for i, source := range perftest.Text(t, df, "source") {
		sums[source+" "+n[i]] += accesses[i]
		distances[source+" "+n[i]] += accesses[i] * lo[i]
	}
	if len(sums) != 11 {
		t.Fatalf("sums %v", sums)
	}
	for _, size := range []string{"8", "10", "12", "14", "16"} {
		collected, predicted := sums["collected "+size], sums["predicted "+size]
		if collected == 0 || math.Abs(predicted/collected-1) > 0.05 {
			t.Errorf("n = %s: %g collected, %g predicted", size, collected, predicted)
		}
	}
	// The largest size weighs most in the fit.
	is, should := distances["predicted 16"]/sums["predicted 16"], distances["collected 16"]/sums["collected 16"]
	if math.Abs(is/should-1) > 0.2 {
		t.Errorf("n = 16: a mean distance of %g collected, %g predicted", should, is)
	}
	if sums["predicted 20"] < 3*sums["collected 12"] {
		t.Errorf("n = 20: %g predicted", sums["predicted 20"])
	}
	for _, opt := range []locality.HistogramOptions{{BlockBytes: 48}, {Routine: "main.nothing"}} {
		if _, err := model.Histograms(runs, opt); err == nil {
			t.Errorf("%+v: no error", opt)
		}
	}
	if _, err := model.Histograms(runs, locality.HistogramOptions{}, subject.Point{"k": 2}); err == nil {
		t.Error("another parameter: no error")
	}
}
