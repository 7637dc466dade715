package scaling

import (
	"math"
	"testing"

	"presage/perf/fit"
	"presage/perf/reuse"
)

// TestSameDistances: of a program whose distances are the same at all sizes, two routines
// take turns at what there is one of, which neither grows like any function; and passes
// over the data are as many as the data halve.
func TestSameDistances(t *testing.T) {
	sizes := []fit.Point{{"n": 4000}, {"n": 5600}, {"n": 7500}, {"n": 10000}, {"n": 13000}, {"n": 16000}}
	near := func(n float64) float64 { return 4 * n * math.Log2(n) } // within a block
	random := func(n float64) float64 { return 900 + n/8 }
	passes := func(n float64) float64 { return 500 * math.Log2(n) }
	var even, odd Group
	for i, s := range sizes {
		n := s["n"]
		h := func(share float64) reuse.Histogram {
			bin := func(lo, hi uint64, count float64) reuse.Bin {
				return reuse.Bin{Lo: lo, Hi: hi, Count: uint64(math.Round(share * count))}
			}
			return reuse.Histogram{Cold: uint64(100 * share), Bins: []reuse.Bin{bin(0, 1, near(n)), bin(20, 21, random(n)), bin(60+uint64(i%2), 61+uint64(i%2), passes(n))}}
		}
		mostly := []float64{0.02, 0.98, 0.1, 0.9, 0.97, 0.03}[i]
		even.Hists, odd.Hists = append(even.Hists, h(mostly)), append(odd.Hists, h(1-mostly))
	}
	m, err := Fit(t.Context(), sizes, []Group{even, odd}, Options{FewBlocks: true, SameDistances: true})
	if err != nil {
		t.Fatal(err)
	}
	at := fit.Point{"n": 64000}
	between := m.Between(at)
	from := func(distance float64) float64 {
		sum := 0.0
		for i := range m.Tails {
			if m.Tails[i].From >= distance-1 {
				sum += between[i]
			}
		}
		return sum
	}
	for _, c := range []struct{ distance, want float64 }{
		{20, random(64000) + passes(64000)},
		{40, passes(64000)},
		{70, 0},
	} {
		if got := from(c.distance); math.Abs(got-c.want) > 0.02*c.want {
			t.Errorf("from %g blocks: %.0f reuses, want %.0f", c.distance, got, c.want)
		}
	}
	for i, n := range between {
		if n < 0 {
			t.Errorf("%g reuses from %g blocks", n, m.Tails[i].From)
		}
	}
	for _, g := range m.Groups {
		if len(g.Bins) == 0 || g.Bins[0].Distance.Eval(at) > 0.5 {
			t.Errorf("first bin of %q: %+v", g.Name, g.Bins)
		}
	}
}

// TestTailsInOrder: where a far tail grows beyond a nearer one, both are their mean.
func TestTailsInOrder(t *testing.T) {
	m := Model{}
	for i, count := range []float64{9, 4, 6, 5, 7, 1} {
		m.Tails = append(m.Tails, Tail{float64(i), fit.Constant(count)})
	}
	want := []float64{9 - 5.5, 0, 0, 0, 5.5 - 1, 1}
	for i, got := range m.Between(fit.Point{"n": 1}) {
		if math.Abs(got-want[i]) > 1e-12 {
			t.Errorf("from %d: %g, want %g", i, got, want[i])
		}
	}
	if (&Model{}).Between(fit.Point{"n": 1}) == nil {
		return
	}
	t.Error("reuses of no tails")
}
