package replay

import (
	"math"
	"math/rand"
	"testing"
)

// TestDrawsKeepFrequencies tests that ways are drawn as often as in a run, and follow
// themselves as often.
func TestDrawsKeepFrequencies(t *testing.T) {
	const (
		n   = 1 << 18
		off = 0.01 // a hundredth is five standard errors of the slowest chain and more
	)
	for _, c := range []struct{ chances, stays []float64 }{
		{[]float64{0.95, 0.05}, []float64{1 - 0.05/10/0.95, 0.9}}, // runs of ten
		{[]float64{0.5, 0.5}, []float64{0.5, 0.5}},                // by chance
		{[]float64{0.5, 0.5}, []float64{0, 0}},                    // in turns
		{[]float64{1, 0}, []float64{1, 0}},                        // one alone
		{[]float64{0.4, 0.3, 0.3}, []float64{0.7, 0.6, 0.6}},
		{[]float64{0.25, 0.75}, nil},
	} {
		d := newDraws(c.chances, c.stays)
		rng := rand.New(rand.NewSource(1))
		count, again := make([]float64, len(c.chances)), make([]float64, len(c.chances))
		last := -1
		for range n {
			k := d.way(rng)
			count[k]++
			if k == last {
				again[k]++
			}
			last = k
		}
		for k := range count {
			if math.Abs(count[k]/n-c.chances[k]) > off {
				t.Errorf("%v: way %d was drawn in %.4f of the cases", c, k, count[k]/n)
			}
			if len(c.stays) > 0 && count[k] > 0 && math.Abs(again[k]/count[k]-c.stays[k]) > off {
				t.Errorf("%v: way %d followed itself in %.4f of the cases", c, k, again[k]/count[k])
			}
		}
	}
}
