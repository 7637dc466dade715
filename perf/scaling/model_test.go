package scaling

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"presage/perf/fit"
	"presage/perf/reuse"
)

var sweepSizes = []int{8, 14, 20, 26, 32, 40}

// atom is a cluster of accesses with known distance and frequency.
type atom struct{ distance, count func(n float64) float64 }

// synthetic makes histograms of the atoms at each size.
func synthetic(ns []int, cold func(n float64) float64, atoms ...atom) Group {
	var g Group
	for _, n := range ns {
		h := reuse.Histogram{Cold: uint64(cold(float64(n)))}
		sorted := slices.Clone(atoms)
		slices.SortFunc(sorted, func(a, b atom) int { return cmp.Compare(a.distance(float64(n)), b.distance(float64(n))) })
		for _, a := range sorted {
			h.Bins = addTo(h.Bins, uint64(a.distance(float64(n))), uint64(a.count(float64(n))))
		}
		g.Hists = append(g.Hists, h)
	}
	return g
}

func poly(c ...float64) func(n float64) float64 {
	return func(n float64) float64 {
		s := 0.0
		for i := len(c) - 1; i >= 0; i-- {
			s = s*n + c[i]
		}
		return s
	}
}

func fitOne(t *testing.T, ns []int, opt Options, groups ...Group) *Model {
	t.Helper()
	m, err := Fit(context.Background(), sizesOf(ns...), groups, opt)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestRecoversSurfaceAndVolume demands recovery of an innermost reuse, a
// surface and a volume whose shares change with the size, and of cold accesses.
// Distances above 512 are known to 1/256.
func TestRecoversSurfaceAndVolume(t *testing.T) {
	g := synthetic(sweepSizes, poly(0, 0, 3),
		atom{poly(3), poly(0, 0, 0, 14)},
		atom{poly(4, 11), poly(0, 0, 2)},
		atom{poly(100, 0, 40), poly(0, 0, -1, 2)})
	m := fitOne(t, sweepSizes, Options{}, g)
	for _, n := range []float64{60, 100, 200} {
		h := m.Groups[0].Histogram(fit.Point{"n": n})
		if len(h.Bins) != 3 {
			t.Fatalf("%d bins: %+v", len(h.Bins), h)
		}
		if !m.Groups[0].Bins[0].Constant || m.Groups[0].Bins[1].Constant {
			t.Error("the innermost reuse alone is constant")
		}
		want := []WeightedBin{{3, 14 * n * n * n}, {4 + 11*n, 2 * n * n}, {100 + 40*n*n, 2*n*n*n - n*n}}
		for i, b := range h.Bins {
			if math.Abs(b.Distance/want[i].Distance-1) > 0.01 || math.Abs(b.Count/want[i].Count-1) > 1e-6 {
				t.Errorf("n=%g bin %d: %+v, want %+v", n, i, b, want[i])
			}
		}
		if math.Abs(h.Cold/(3*n*n)-1) > 1e-9 {
			t.Errorf("n=%g: cold %g", n, h.Cold)
		}
	}
	if len(m.Groups[0].Warnings) != 0 {
		t.Errorf("warnings %v", m.Groups[0].Warnings)
	}
}

// TestMedianRatioRecoversProportionalParts demands that the papers' splitting
// ratio works for parts that grow in proportion.
func TestMedianRatioRecoversProportionalParts(t *testing.T) {
	g := synthetic(sweepSizes, poly(0),
		atom{poly(0, 30), poly(0, 0, 30)},
		atom{poly(0, 0, 50), poly(0, 0, 14)})
	m := fitOne(t, sweepSizes, Options{MedianRatio: true}, g)
	h := m.Groups[0].Histogram(fit.Point{"n": 80})
	if len(h.Bins) != 2 || math.Abs(h.Bins[0].Count/192000-1) > 1e-6 || math.Abs(h.Bins[1].Distance/320000-1) > 0.01 {
		t.Errorf("histogram %+v", h)
	}
}

// TestMassIsConserved demands, for real kernels, that at the training sizes
// bins sum to the reuses, and cold accesses and reuses to the accesses; and
// that at any size the bins sum to the total.
func TestMassIsConserved(t *testing.T) {
	for _, k := range kernels {
		groups := k.groupsAt(sweepSizes...)
		m := fitOne(t, sweepSizes, Options{}, groups...)
		for gi := range m.Groups {
			g := &m.Groups[gi]
			for i, n := range sweepSizes {
				h := g.Histogram(fit.Point{"n": float64(n)})
				want := float64(groups[gi].Hists[i].Accesses())
				// Frequencies are fitted. What a basis of monomials cannot
				// follow is a trip count of ceil(n/4): up to 2/14 off.
				tolerance := 0.03
				if k.name == "blocked matmul" {
					tolerance = 2.0 / 14
				}
				if math.Abs(h.Accesses()-want) > tolerance*want+2 {
					t.Errorf("%s, group %s, n=%d: %g accesses, want %g", k.name, g.Name, n, h.Accesses(), want)
				}
			}
			for _, n := range []float64{5, 50, 100, 320} {
				p := fit.Point{"n": n}
				h := g.Histogram(p)
				sum := 0.0
				for _, b := range h.Bins {
					if b.Count < 0 || b.Distance < 0 {
						t.Fatalf("%s, group %s, n=%g: negative bin %+v", k.name, g.Name, n, b)
					}
					sum += b.Count
				}
				if total := max(0, g.Accesses.Eval(p)-h.Cold); math.Abs(sum-total) > 1e-9*total {
					t.Errorf("%s, group %s, n=%g: bins sum to %g, total %g", k.name, g.Name, n, sum, total)
				}
			}
		}
	}
}

// TestSporadicGroupsStayBounded demands that groups seen at only one or two
// sizes are held constant, with a warning, and not extrapolated.
func TestSporadicGroupsStayBounded(t *testing.T) {
	g := synthetic(sweepSizes, poly(0), atom{poly(900), func(n float64) float64 {
		if n == 26 || n == 40 {
			return 600 * n
		}
		return 0
	}})
	empty := Group{Name: "empty", Hists: make([]reuse.Histogram, len(sweepSizes))}
	m := fitOne(t, sweepSizes, Options{}, g, empty)
	h := m.Groups[0].Histogram(fit.Point{"n": 320})
	if want := 600.0 * 66 / 6; math.Abs(h.Accesses()-want) > 1e-6*want {
		t.Errorf("sporadic group has %g accesses at 320, want the mean %g", h.Accesses(), want)
	}
	if len(h.Bins) != 1 || math.Abs(h.Bins[0].Distance/900-1) > 0.01 {
		t.Errorf("bins %+v", h.Bins)
	}
	if !slices.ContainsFunc(m.Warnings, func(w fit.Warning) bool { return w.Doubt == HeldConstant }) {
		t.Errorf("model warnings %v", m.Warnings)
	}
	if e := m.Groups[1].Histogram(fit.Point{"n": 100}); e.Accesses() != 0 {
		t.Errorf("empty group: %+v", e)
	}
}

// TestArbitraryHistograms fits random histograms, unlike any program: nothing
// may become negative, infinite or implausibly large, and the result must not
// depend on the number of workers.
func TestArbitraryHistograms(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var groups []Group
	for i := range 60 {
		g := Group{Name: fmt.Sprint(i)}
		for range sweepSizes {
			var h reuse.Histogram
			if r.IntN(4) > 0 {
				h.Cold = r.Uint64N(1000)
			}
			d := uint64(0)
			for range r.IntN(12) {
				d += 1 + uint64(math.Exp(r.Float64()*8))
				lo, hi := binOf(d)
				if n := len(h.Bins); n > 0 && lo < h.Bins[n-1].Hi {
					continue
				}
				h.Bins = append(h.Bins, reuse.Bin{Lo: lo, Hi: hi, Count: 1 + uint64(math.Exp(r.Float64()*15))})
			}
			g.Hists = append(g.Hists, h)
		}
		groups = append(groups, g)
	}
	one := fitOne(t, sweepSizes, Options{Workers: 1}, groups...)
	four := fitOne(t, sweepSizes, Options{Workers: 4}, groups...)
	a, b := encoded(t, one), encoded(t, four)
	if !bytes.Equal(a, b) {
		t.Error("the model depends on the number of workers")
	}
	for i := range one.Groups {
		most := 0.0
		for _, h := range groups[i].Hists {
			most = max(most, float64(h.Accesses()))
		}
		for _, n := range []float64{8, 40, 80, 320} {
			h := one.Groups[i].Histogram(fit.Point{"n": n})
			bound := 10 * most * math.Pow(max(1, n/40), 3) // cubic growth from the largest
			if x := h.Accesses(); !(x >= 0) || x > bound+10 {
				t.Errorf("group %d at %g: %g accesses, at most %g at the sizes", i, n, x, most)
			}
		}
	}
}

func encoded(t *testing.T, m *Model) []byte {
	t.Helper()
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestModelStoresAndRestores(t *testing.T) {
	m := fitOne(t, sweepSizes, Options{}, kernels[1].groupsAt(sweepSizes...)...)
	var buf bytes.Buffer
	if err := gob.NewEncoder(&buf).Encode(m); err != nil {
		t.Fatal(err)
	}
	var g Model
	if err := gob.NewDecoder(&buf).Decode(&g); err != nil {
		t.Fatal(err)
	}
	p := fit.Point{"n": 77}
	for i := range m.Groups {
		want := m.Groups[i].Histogram(p)
		if got := g.Groups[i].Histogram(p); !reflect.DeepEqual(got, want) || len(want.Bins) == 0 {
			t.Errorf("group %d: %+v, want %+v", i, got, want)
		}
	}
	if !bytes.Equal(encoded(t, &g), encoded(t, m)) {
		t.Error("stored and restored model differ")
	}
}

func TestTwoParameterModel(t *testing.T) {
	var sizes []fit.Point
	var g Group
	for _, n := range []float64{8, 16, 24, 32} {
		for _, m := range []float64{2, 4, 8} {
			sizes = append(sizes, fit.Point{"n": n, "m": m})
			lo, hi := binOf(uint64(600 + 3*n*m))
			g.Hists = append(g.Hists, reuse.Histogram{Cold: uint64(n * m), Bins: []reuse.Bin{
				{Lo: 2, Hi: 3, Count: uint64(7 * n * n * m)}, {Lo: lo, Hi: hi, Count: uint64(n * m * m)},
			}})
		}
	}
	m, err := Fit(context.Background(), sizes, []Group{g}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := m.Groups[0].Histogram(fit.Point{"n": 64, "m": 16})
	if len(h.Bins) != 2 || math.Abs(h.Bins[1].Count/(64*256)-1) > 1e-3 || math.Abs(h.Bins[1].Distance/(600+3*1024)-1) > 0.02 || math.Abs(h.Cold-1024) > 1 {
		t.Errorf("histogram %+v", h)
	}
}

func TestFitRefuses(t *testing.T) {
	three := synthetic([]int{1, 2, 3}, poly(1))
	for _, c := range []struct {
		sizes  []fit.Point
		groups []Group
		want   string
	}{
		{sizesOf(1, 2), nil, "2 sizes, at least 3"},
		{sizesOf(1, 2, 2), nil, "sizes 1 and 2 are the same"},
		{[]fit.Point{{"n": 1}, {"m": 2}, {"n": 3}}, nil, "size 1 has parameters [m]"},
		{sizesOf(0, 1, 2), nil, "parameter n of size 0 is 0"},
		{[]fit.Point{{}, {}, {}}, nil, "sizes"},
		{sizesOf(1, 2, 3, 4), []Group{three}, "3 histograms for 4 sizes"},
	} {
		_, err := Fit(context.Background(), c.sizes, c.groups, Options{})
		if !errors.Is(err, ErrData) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.sizes, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Fit(ctx, sizesOf(1, 2, 3), []Group{three}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	m := fitOne(t, []int{1, 2, 3}, Options{}, three)
	if m.Warnings[0].Doubt != FewSizes {
		t.Errorf("three sizes: %v", m.Warnings)
	}
	if err := m.Check(fit.Point{"m": 1}); !errors.Is(err, ErrData) {
		t.Errorf("size without n: %v", err)
	}
	if w := m.Doubts(fit.Point{"n": 25}); len(w) != 1 || w[0].Doubt != fit.Extrapolated {
		t.Errorf("25 from at most 3: %v", w)
	}
}

// times returns g with k times as many accesses at each distance, and the
// distances moved up by k.
func (g Group) times(k uint64) Group {
	out := Group{Name: g.Name}
	for _, h := range g.Hists {
		more := reuse.Histogram{Cold: k * h.Cold}
		for _, b := range h.Bins {
			more.Bins = append(more.Bins, reuse.Bin{Lo: b.Lo + k, Hi: b.Hi + k, Count: k * b.Count})
		}
		out.Hists = append(out.Hists, more)
	}
	return out
}

// BenchmarkModel fits a program of 400 groups with hundreds of bins each, and
// one of thousands of tiny groups.
func BenchmarkModel(b *testing.B) {
	ns := []int{8, 11, 14, 17, 20, 23}
	var large []Group
	sweep := kernels[4].groupsAt(ns...)
	for copies := uint64(1); len(large) < 400; copies++ { // no two groups alike
		for _, g := range sweep {
			large = append(large, g.times(copies))
		}
	}
	var tiny []Group
	for i := range 5000 {
		tiny = append(tiny, synthetic(ns, poly(2), atom{poly(float64(i % 300)), poly(3, float64(i%7))}))
	}
	for _, c := range []struct {
		name   string
		groups []Group
	}{{"groups=400", large}, {"groups=5000/tiny", tiny}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Fit(context.Background(), sizesOf(ns...), c.groups, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
