package misses

import (
	"math"
	"testing"

	"presage/perf/fit"
	"presage/perf/scaling"
	"presage/perf/subject"
)

// TestLinearMemory: memory grows like the size or like its square, beside libraries of
// which all runs touch more than of their own data.
func TestLinearMemory(t *testing.T) {
	const block = 64
	for _, c := range []struct {
		name  string
		bytes func(n float64) float64
		want  bool
	}{
		{"vector", func(n float64) float64 { return 8 * n }, true},
		{"vector and a library", func(n float64) float64 { return 8*n + 2e5 }, true},
		{"heap of pointers", func(n float64) float64 { return n * math.Log2(n) }, true},
		{"matrix", func(n float64) float64 { return 8 * n * n }, false},
		{"matrix and a library", func(n float64) float64 { return 8*n*n + 2e5 }, false},
	} {
		m := &Model{byBlock: map[uint64]*scaling.Model{block: nil}}
		var sizes []fit.Point
		blocks := make([][]float64, 1)
		for _, n := range []float64{48, 60, 72, 90, 108, 128} {
			m.Points, sizes = append(m.Points, subject.Point{"n": n}), append(sizes, fit.Point{"n": n})
			blocks[0] = append(blocks[0], math.Ceil(c.bytes(n)/block))
		}
		var err error
		if m.footprint, err = scaling.FitFootprint(sizes, []uint64{block}, blocks); err != nil {
			t.Fatal(err)
		}
		if got := m.linearMemory("n"); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}
