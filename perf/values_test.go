package perf

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/frame"
)

func TestArguments(t *testing.T) {
	p := Point{"n": 20, "tol": 0.001}
	for template, want := range map[string][]string{
		"":                                   {"-n", "20", "-tol", "0.001"},
		"-n {n} --tol={tol}":                 {"-n", "20", "--tol=0.001"},
		`-n {n}x{n} -t {tol} "two words" ''`: {"-n", "20x20", "-t", "0.001", "two words", ""},
	} {
		got, err := p.Arguments(template)
		if err != nil {
			t.Errorf("%q: %v", template, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", template, diff)
		}
	}
	for _, template := range []string{"-n {n}", "-n {n} -t {tol} {k}", "'{n} {tol}"} {
		if args, err := p.Arguments(template); err == nil {
			t.Errorf("%q: no error, but %q", template, args)
		}
	}
	if got, err := (Point{"n": 1e6}).Arguments("{n}"); err != nil || got[0] != "1000000" {
		t.Errorf("a million is %q, %v", got, err)
	}
}

func TestRange(t *testing.T) {
	if got := Range(20, 50, 6); !slices.Equal(got, []float64{20, 26, 32, 38, 44, 50}) {
		t.Errorf("20:50:6 is %v", got)
	}
	if got := Range(0, 1, 0.1); len(got) != 11 {
		t.Errorf("0:1:0.1 has %d values", len(got))
	}
	if got := Range(0, 0.3, 0.1); !slices.Equal(got, []float64{0, 0.1, 0.2, 0.3}) {
		t.Errorf("0:0.3:0.1 is %v", got)
	}
	if got := Range(5, 5, 1); !slices.Equal(got, []float64{5}) {
		t.Errorf("5:5:1 is %v", got)
	}
	if got := Range(10, 4, -3); !slices.Equal(got, []float64{10, 7, 4}) {
		t.Errorf("10:4:-3 is %v", got)
	}
	for _, r := range [][3]float64{{1, 2, 0}, {1, 2, -1}, {1, math.NaN(), 1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v: no panic", r)
				}
			}()
			Range(r[0], r[1], r[2])
		}()
	}
}

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
		for i, got := range column(t, both, name) {
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
	sim := column(t, both, "sim_misses")
	if len(sim) != 2 || !math.IsNaN(sim[0]) || sim[1] != 7 {
		t.Errorf("got %v", sim)
	}
}

func TestPerUnit(t *testing.T) {
	df, err := PerUnit(frame.Of([]errRow{{10, 6000, 3000}, {20, 48000, 0}}), "cell", "n^3 * 6")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{1, 1}, column(t, df, "pred_misses_per_cell")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]float64{0.5, 0}, column(t, df, "pred_misses_fully_assoc_per_cell")); diff != "" {
		t.Error(diff)
	}
	for units, want := range map[string]string{"n^": "units", "k": `no column "k"`, "n - 10": "are 0 at n=10"} {
		if _, err := PerUnit(frame.Of([]errRow{{10, 1, 1}}), "cell", units); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", units, err, want)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{-3, 1, math.NaN()}, 2},
		{[]float64{-3, 1, 2}, 2},
		{[]float64{math.Inf(1), 1, 2}, 2},
		{nil, math.NaN()},
	} {
		var rows []errRow
		for _, v := range c.values {
			rows = append(rows, errRow{Pred: v})
		}
		got, err := Median(frame.Of(rows), "pred_misses")
		if err != nil || got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%v: %g, %v; want %g", c.values, got, err, c.want)
		}
	}
}

func TestPointString(t *testing.T) {
	if got := (Point{"n": 20, "k": 1.5}).String(); got != "k=1.5 n=20" {
		t.Errorf("got %q", got)
	}
}
