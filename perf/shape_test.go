package perf

import (
	"math"
	"strings"
	"testing"

	"presage/perf/frame"
	"presage/perf/store"
)

// TestShapesAndResiduals fits the same profiles under each restriction: the
// fewer there are, the nearer the functions come to their data.
func TestShapesAndResiduals(t *testing.T) {
	st := store.Open(t.TempDir())
	runs := profile(t, st, []float64{6, 8, 9, 10, 12}, 32)
	loose := make(map[string]float64)
	for _, shape := range []string{"", "monotone", "convex", "concave", "free"} {
		model, err := FitScaling(t.Context(), runs, FitOptions{Store: st, Shape: shape})
		if err != nil {
			t.Fatal(err)
		}
		df, err := model.Residuals(HistogramOptions{Routine: "main.solveLine"})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range column(t, df, "residual") {
			loose[shape] += math.Abs(r)
		}
		// Value and residual add up to the data, which are whole accesses.
		accesses, err := frame.Where(df, "quantity", "accesses")
		if err != nil {
			t.Fatal(err)
		}
		cold, err := frame.Where(accesses, "bin", "-1")
		if err != nil {
			t.Fatal(err)
		}
		residual := column(t, cold, "residual")
		for i, v := range column(t, cold, "value") {
			if data := v + residual[i]; math.Abs(data-math.Round(data)) > 1e-6 {
				t.Errorf("%q: %g cold accesses", shape, data)
			}
		}
	}
	// A concave function cannot follow a volume.
	if loose["concave"] <= 2*loose[""] {
		t.Errorf("sums of residuals %v", loose)
	}
	if _, err := FitScaling(t.Context(), runs, FitOptions{Store: st, Shape: "round"}); err == nil || !strings.Contains(err.Error(), "one curvature") {
		t.Errorf("an unknown shape: %v", err)
	}
	model, err := FitScaling(t.Context(), runs, FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	for _, opt := range []HistogramOptions{{BlockBytes: 48}, {Routine: "main.nothing"}} {
		if _, err := model.Residuals(opt); err == nil {
			t.Errorf("%+v: no error", opt)
		}
	}
}

// TestHistogramsOfModel: at the training points the model has as many accesses
// as were collected, nearly, and farther out it goes on.
func TestHistogramsOfModel(t *testing.T) {
	st := store.Open(t.TempDir())
	runs := profile(t, st, []float64{6, 8, 10, 12}, 32)
	model, err := FitScaling(t.Context(), runs, FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	df, err := model.Histograms(runs, HistogramOptions{Routine: "main.solveLine"}, Point{"n": 20})
	if err != nil {
		t.Fatal(err)
	}
	sums := make(map[string]float64)
	n, accesses := text(t, df, "n"), column(t, df, "accesses")
	for i, source := range text(t, df, "source") {
		sums[source+" "+n[i]] += accesses[i]
	}
	if len(sums) != 9 {
		t.Fatalf("sums %v", sums)
	}
	for _, size := range []string{"6", "8", "10", "12"} {
		collected, predicted := sums["collected "+size], sums["predicted "+size]
		if collected == 0 || math.Abs(predicted/collected-1) > 0.05 {
			t.Errorf("n = %s: %g collected, %g predicted", size, collected, predicted)
		}
	}
	if sums["predicted 20"] < 3*sums["collected 12"] {
		t.Errorf("n = 20: %g predicted", sums["predicted 20"])
	}
	for _, opt := range []HistogramOptions{{BlockBytes: 48}, {Routine: "main.nothing"}} {
		if _, err := model.Histograms(runs, opt); err == nil {
			t.Errorf("%+v: no error", opt)
		}
	}
	if _, err := model.Histograms(runs, HistogramOptions{}, Point{"k": 2}); err == nil {
		t.Error("another parameter: no error")
	}
}
