package scaling

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"presage/perf/fit"
	"presage/perf/reuse"
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

// TestCountsByChance: counts that may be chance have the function that Fit gives accesses,
// also where no sum of powers meets them: of std::sort and searches, the largest group grows
// as n log n, and a line is likelier to continue it than the parabola is that the counts
// without noise get, 2.6 times too many at 16 times the largest size.
func TestCountsByChance(t *testing.T) {
	sizes := sizesOf(5000, 9000, 16000, 28000, 50000)
	counts := []float64{160478, 312482, 582228, 1094114, 2066031}
	fitted := func(opt Options) fit.Func {
		m, err := FitCounts(t.Context(), sizes, []Series{{"partition", counts}}, opt)
		if err != nil {
			t.Fatal(err)
		}
		return m.Funcs[0]
	}
	got, exact := fitted(Options{Chance: true}), fitted(Options{})
	g := Group{Name: "partition", Accesses: counts, Hists: make([]reuse.Histogram, len(sizes))}
	m, err := Fit(t.Context(), sizes, []Group{g}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := m.Groups[0].Accesses; got.String() != want.String() {
		t.Errorf("accesses of a run: %s, of a group: %s", &got, &want)
	}
	beyond := fit.Point{"n": 800000}
	if want := 2.585 * 800000 * math.Log2(800000); got.Eval(beyond) < 0.7*want || got.Eval(beyond) > 1.1*want || exact.Eval(beyond) < 1.5*want {
		t.Errorf("%s: %g, without noise %s: %g, want %g", &got, got.Eval(beyond), &exact, exact.Eval(beyond), want)
	}
}

// TestSizesAgainstNoise: what counts in proportion to the size, with noise of a tenth, come
// to at four times the largest size is foretold much better by sizes between those of a
// sweep, too, in the bad cases above all: of six, functions follow the noise.
func TestSizesAgainstNoise(t *testing.T) {
	sizes := []float64{1200, 1500, 1900, 2400, 3000, 4000}
	denser := slices.Clone(sizes)
	for i := range len(sizes) - 1 {
		denser = append(denser, math.Round(math.Sqrt(sizes[i]*sizes[i+1])))
	}
	slices.Sort(denser)
	off := func(sizes []float64) []float64 {
		random := rand.New(rand.NewPCG(1, 2))
		var series []Series
		for range 200 {
			var s Series
			for _, n := range sizes {
				s.Counts = append(s.Counts, math.Round(300*n*math.Exp(0.1*random.NormFloat64())))
			}
			series = append(series, s)
		}
		m, err := FitCounts(t.Context(), sizesAt(sizes...), series, Options{Chance: true})
		if err != nil {
			t.Fatal(err)
		}
		var all []float64
		for i := range m.Funcs {
			all = append(all, math.Abs(math.Log(math.Max(m.Funcs[i].Eval(fit.Point{"n": 16000}), 1)/(300*16000))))
		}
		slices.Sort(all)
		return all
	}
	few, more := off(sizes), off(denser)
	p90 := len(few) * 9 / 10
	t.Logf("off by a factor of %.2f in the median and %.2f in the tenth worst case, of %d sizes; %.2f and %.2f, of %d", math.Exp(few[p90/9*5]), math.Exp(few[p90]), len(sizes), math.Exp(more[p90/9*5]), math.Exp(more[p90]), len(denser))
	if more[p90] > few[p90]/2 {
		t.Errorf("off by e^%.2f of %d sizes, e^%.2f of %d", few[p90], len(sizes), more[p90], len(denser))
	}
}
