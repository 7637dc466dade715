package order

import (
	"math"
	"testing"
)

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		sorted []float64
		want   float64
	}{{[]float64{3}, 3}, {[]float64{1, 2}, 1.5}, {[]float64{1, 2, 7}, 2}, {[]float64{1, 2, 4, 9}, 3}} {
		if got := Median(c.sorted); got != c.want {
			t.Errorf("Median(%v) = %g, want %g", c.sorted, got, c.want)
		}
	}
}

// TestQuantileIsTheDefaultOfR checks R's quantile(c(1, 2, 4, 8, 16), c(0, .1,
// .25, .5, .9, 1)).
func TestQuantileIsTheDefaultOfR(t *testing.T) {
	sorted := []float64{1, 2, 4, 8, 16}
	for _, c := range []struct{ q, want float64 }{{0, 1}, {0.1, 1.4}, {0.25, 2}, {0.5, 4}, {0.9, 12.8}, {1, 16}} {
		if got := Quantile(sorted, c.q); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("Quantile(%v, %g) = %g, want %g", sorted, c.q, got, c.want)
		}
	}
	if got := Quantile([]float64{5}, 0.3); got != 5 {
		t.Errorf("of one value: %g", got)
	}
}
