package synth

import (
	"math"
	"testing"
)

// TestStreamsEnterBlocks draws misses of two walks that start at the same place in a block.
// They miss at the same accesses, of which each enters a block, one block after the other, and
// as many as their shares say.
func TestStreamsEnterBlocks(t *testing.T) {
	const n = 80 * blocksInRun * 16
	for _, c := range []struct {
		missed, steps []float64
		apart         bool // more misses than blocks: some are between
	}{
		{[]float64{0.125, 0.125, 0.0625}, []float64{0.125, 0.125, 0.0625}, false},
		{[]float64{0.125, 0.125, 0.03}, []float64{0.125, 0.125, 0.125}, false},
		{[]float64{1, 0.0625, 0.02}, []float64{0.125, 0.0625, 0.0625}, false},
		{[]float64{0.1, 0.05, 0.001}, []float64{0.125, 0.0625, 0.0625}, false},
		{[]float64{0.15, 0.14, 0.1}, []float64{0.125, 0.125, 0.125}, true},
		{[]float64{0.9, 0.5, 0.1}, []float64{0.125, 0.125, 0.125}, true},
	} {
		a := &Access{Missed: c.missed, Steps: c.steps, Starts: make([]float64, 3)}
		for k, step := range c.steps { // 16 bytes from where blocks of 64 and 128 bytes begin
			a.Starts[k] = 2 * step
		}
		x, y := &spread{missed: []float64{0.1, 0.5, 0.9}}, &spread{missed: []float64{0.8, 0.2, 0.3}}
		var counts [3]int
		differ, follows, all := 0, 0, 0
		last := -1
		for i := range n {
			p, q := x.misses(a), y.misses(a)
			for k := range int(p) {
				counts[k]++
			}
			if p != q {
				differ++
			}
			if p == 3 {
				if all++; last >= 0 && float64(i-last) <= 1/c.steps[2]+1 {
					follows++
				}
				last = i
			}
		}
		for k, share := range c.missed {
			if got := float64(counts[k]) / n; math.Abs(got-share) > 0.02*share+1e-4 {
				t.Errorf("%v, level %d: a share of %.4f misses", c, k, got)
			}
		}
		if !c.apart && differ > n/400 {
			t.Errorf("%v: %d of %d accesses differ", c, differ, n)
		}
		if !c.apart && c.missed[2] > 0.01 && float64(follows) < 0.7*float64(all) {
			t.Errorf("%v: only %d of %d misses follow another at once", c, follows, all)
		}
	}
}
