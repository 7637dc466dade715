package perf

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/frame"
	"presage/perf/host/measure"
	"presage/perf/internal/perftest"
	"presage/perf/timing"
)

type errRow struct {
	N    float64 `frame:"n"`
	Pred float64 `frame:"pred_misses"`
	Full float64 `frame:"pred_misses_fully_assoc"`
}

type refRow struct {
	N    float64 `frame:"n"`
	Sim  float64 `frame:"sim_misses"`
	Full float64 `frame:"sim_misses_fully_assoc"`
}

func TestCompare(t *testing.T) {
	pred := frame.Of([]errRow{{10, 110, 90}, {20, 0, 5}, {30, 1, 1}, {40, 7, 7}})
	sim := frame.Of([]refRow{{20, 0, math.NaN()}, {10, 100, 100}, {30, 0, 2}})
	both, err := Compare(pred, sim)
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	for name, want := range map[string][]float64{
		"rel_err":             {0.1, 0, math.Inf(1)},
		"rel_err_fully_assoc": {-0.1, math.Inf(1), math.Inf(1)},
		"rel_err_model":       {-0.1, nan, -0.5},
	} {
		for i, got := range perftest.Column(t, both, name) {
			if math.Abs(got-want[i]) > 1e-12 || math.IsNaN(got) != math.IsNaN(want[i]) {
				t.Errorf("%s of row %d is %g, want %g", name, i, got, want[i])
			}
		}
	}
	if _, err := Compare(pred, pred); err == nil {
		t.Error("no simulation: no error")
	}
}

func TestOverlayKeepsTheCurve(t *testing.T) {
	pred := frame.Of([]errRow{{10, 110, 90}, {20, 1, 5}})
	both, err := Overlay(pred, frame.Of([]refRow{{20, 7, 7}}))
	if err != nil {
		t.Fatal(err)
	}
	sim := perftest.Column(t, both, "sim_misses")
	if len(sim) != 2 || !math.IsNaN(sim[0]) || sim[1] != 7 {
		t.Errorf("got %v", sim)
	}
}

func TestPerUnit(t *testing.T) {
	df, err := PerUnit(frame.Of([]errRow{{10, 6000, 3000}, {20, 48000, 0}}), "cell", "n^3 * 6")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{1, 1}, perftest.Column(t, df, "pred_misses_per_cell")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]float64{0.5, 0}, perftest.Column(t, df, "pred_misses_fully_assoc_per_cell")); diff != "" {
		t.Error(diff)
	}
	named, err := PerUnit(frame.Of([]errRow{{10, 6000, 3000}}), "cell", "n^3", "pred_misses_fully_assoc")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{3}, perftest.Column(t, named, "pred_misses_fully_assoc_per_cell")); diff != "" {
		t.Error(diff)
	}
	if slices.Contains(named.Names(), "pred_misses_per_cell") {
		t.Errorf("a column that was not named was divided, too: %q", named.Names())
	}
	if _, err := PerUnit(frame.Of([]errRow{{10, 1, 1}}), "cell", "n^3", "cycles"); err == nil || !strings.Contains(err.Error(), `no column "cycles"`) {
		t.Errorf("a column that is not there: %v", err)
	}
	for units, want := range map[string]string{"n^": "units", "k": `no column "k"`, "n - 10": "are 0 at n=10"} {
		if _, err := PerUnit(frame.Of([]errRow{{10, 1, 1}}), "cell", units); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", units, err, want)
		}
	}
}

func TestAccuracy(t *testing.T) {
	df := frame.Of([]struct {
		Level string  `frame:"level"`
		Err   float64 `frame:"rel_err"`
		Full  float64 `frame:"rel_err_fully_assoc"`
		Model float64 `frame:"rel_err_model"`
	}{
		{"L1", 0.125, 0, math.NaN()},
		{"L1", -0.375, 0, math.NaN()},
		{"L1", 7, 0, math.NaN()},
		{"L1", -0.25, 0, math.NaN()},
		{"L2", -0.5, 0, math.NaN()},
	})
	got, err := Accuracy(df, "level")
	if err != nil {
		t.Fatal(err)
	}
	want := "of,error,rows,median_abs,mean_abs_to_1,p90_abs,worst_abs\n" +
		"L1,rel_err,4,0.3125,0.4375,7,7\n" +
		"L2,rel_err,1,0.5,0.5,0.5,0.5\n" +
		"L1,rel_err_fully_assoc,4,0,0,0,0\n" +
		"L2,rel_err_fully_assoc,1,0,0,0,0\n"
	var text strings.Builder
	if err := frame.WriteCSV(&text, got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Error(diff)
	}
	if _, err := Accuracy(df, "size"); err == nil {
		t.Error("a column that is not there, and no error")
	}
}

func TestCompareTimeErrors(t *testing.T) {
	df := frame.Of([]struct {
		N    float64 `frame:"n"`
		Pred float64 `frame:"pred_cycles"`
	}{{1, 2}})
	if _, err := CompareTime(df, df); err == nil || !strings.Contains(err.Error(), "neither sim_cycles nor meas_time_sec") {
		t.Errorf("no reference: %v", err)
	}
}

// TestCompareTimeOfMeasure: Measure's own table is a reference.
func TestCompareTimeOfMeasure(t *testing.T) {
	pred := frame.Of([]timing.Row{{Program: "p", Point: Point{"n": 1}, Seconds: 3}, {Program: "p", Point: Point{"n": 2}, Seconds: 3}})
	meas := frame.Of([]measure.Row{{Program: "p", Point: Point{"n": 1}, Seconds: 2}})
	both, err := CompareTime(pred, meas)
	if err != nil {
		t.Fatal(err)
	}
	if e := perftest.One(t, perftest.Column(t, both, "rel_err_time")); e != 0.5 {
		t.Errorf("predicted 3 s, measured 2 s: relative error %g", e)
	}
}
