package scaling

import (
	"math"
	"testing"

	"presage/perf/fit"
	"presage/perf/reuse"
)

// fewGroup is a group with so many accesses at each size, all at one distance.
func fewGroup(counts []float64, distances []uint64) Group {
	g := Group{Name: "few"}
	for i, d := range distances {
		g.Hists = append(g.Hists, reuse.Histogram{Bins: []reuse.Bin{{Lo: d, Hi: d + 1, Count: uint64(math.Round(counts[i]))}}})
	}
	return g
}

// TestFewBlocks: distances and counts that are off by where data begin in a block are
// not taken for growth, and growth that there is, is.
func TestFewBlocks(t *testing.T) {
	sizes := []fit.Point{{"n": 28}, {"n": 34}, {"n": 40}, {"n": 48}, {"n": 56}, {"n": 64}}
	same := []float64{800, 800, 800, 800, 800, 800}
	of := func(power float64) (out []float64) {
		for _, s := range sizes {
			out = append(out, 10*math.Pow(s["n"], power))
		}
		return out
	}
	cubic, jagged := of(3), of(2)
	for i := range jagged {
		jagged[i] *= 1 + 0.08*float64(1-2*(i%2)) // ends of rows
	}
	for _, c := range []struct {
		name         string
		counts       []float64
		distances    []uint64
		atLeast, far float64 // distance at 256
		fewest, most float64 // accesses at 256
	}{
		{"one run has all arrays begin together", same, []uint64{12, 12, 12, 12, 12, 21}, 12, 70, 799.9, 800.1},
		{"constant but for one", same, []uint64{5, 6, 5, 6, 6, 5}, 5, 7, 799.9, 800.1},
		{"rows", same, []uint64{14, 17, 20, 24, 28, 32}, 120, 136, 799.9, 800.1},
		{"planes", same, []uint64{98, 145, 200, 288, 392, 512}, 7800, 8600, 799.9, 800.1},
		{"cubic accesses", cubic, []uint64{5, 6, 5, 6, 6, 5}, 5, 7, 9.9 * math.Pow(256, 3), 10.1 * math.Pow(256, 3)},
		{"quadratic, off by ends of rows", jagged, []uint64{5, 6, 5, 6, 6, 5}, 5, 7, 8.5 * math.Pow(256, 2), 11.5 * math.Pow(256, 2)},
	} {
		m, err := Fit(t.Context(), sizes, []Group{fewGroup(c.counts, c.distances)}, Options{FewBlocks: true, Tolerance: 10})
		if err != nil {
			t.Fatal(err)
		}
		h := m.Groups[0].Histogram(fit.Point{"n": 256})
		if n := h.Accesses(); n < c.fewest || n > c.most {
			t.Errorf("%s: %g accesses at 256, want %g to %g", c.name, n, c.fewest, c.most)
		}
		far := 0.0
		for _, b := range h.Bins {
			far += b.Distance * b.Count / h.Accesses()
		}
		if far < c.atLeast || far > c.far {
			t.Errorf("%s: a distance of %g at 256, want %g to %g", c.name, far, c.atLeast, c.far)
		}
	}
}
