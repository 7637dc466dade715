package scaling

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"presage/perf/fit"
)

func sizesAt(values ...float64) []fit.Point {
	var sizes []fit.Point
	for _, v := range values {
		sizes = append(sizes, fit.Point{"n": v})
	}
	return sizes
}

// TestFitCountsRecovers gives counts of known polynomials and looks at twice
// and four times the largest size.
func TestFitCountsRecovers(t *testing.T) {
	sizes := sizesAt(8, 10, 12, 16, 20, 24)
	laws := map[string]func(n float64) float64{
		"once":      func(float64) float64 { return 1 },
		"rows":      func(n float64) float64 { return n + 1 },
		"plane":     func(n float64) float64 { return 3*n*n + 2*n },
		"volume":    func(n float64) float64 { return 6 * n * n * n },
		"triangle":  func(n float64) float64 { return n * (n + 1) / 2 },
		"never":     func(float64) float64 { return 0 },
		"only once": func(n float64) float64 { return map[bool]float64{true: 5}[n == 12] },
	}
	var series []Series
	for name, law := range laws {
		s := Series{Name: name}
		for _, p := range sizes {
			s.Counts = append(s.Counts, law(p["n"]))
		}
		series = append(series, s)
	}
	m, err := FitCounts(t.Context(), sizes, series, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range m.Names {
		if name == "only once" {
			if w := m.Funcs[i].Warnings; len(w) != 1 || w[0].Doubt != HeldConstant {
				t.Errorf("%s: warnings %v", name, w)
			}
			continue
		}
		for _, n := range []float64{16, 48, 96} {
			got, want := m.Funcs[i].Eval(fit.Point{"n": n}), laws[name](n)
			if math.Abs(got-want) > 1e-6*math.Max(1, want) {
				t.Errorf("%s at %g: %g, want %g (%s)", name, n, got, want, m.Funcs[i].String())
			}
		}
	}
}

func TestFitCountsRefuses(t *testing.T) {
	sizes := sizesAt(8, 10, 12)
	for want, counts := range map[string][]float64{
		"has 2 counts for 3": {1, 2},
		"is -1":              {1, 2, -1},
		"is NaN":             {1, math.NaN(), 2},
		"is +Inf":            {1, math.Inf(1), 2},
	} {
		_, err := FitCounts(t.Context(), sizes, []Series{{"x", counts}}, Options{})
		if !errors.Is(err, ErrData) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", counts, err, want)
		}
	}
	if _, err := FitCounts(t.Context(), sizes[:2], nil, Options{}); !errors.Is(err, ErrData) {
		t.Errorf("two sizes: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := FitCounts(ctx, sizes, []Series{{"x", []float64{1, 2, 3}}}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
