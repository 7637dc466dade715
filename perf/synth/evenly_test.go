package synth

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestEvenly: each place is drawn in proportion to its weight, and one that has a part of
// all weights that is due a draw is drawn whatever the seed.
func TestEvenly(t *testing.T) {
	var l lottery
	for b, weight := range []float64{50, 1.6, 0.4, 48} {
		l.add(place{0, b}, weight)
	}
	const draws, seeds = 64, 2000
	var counts [4]float64
	for seed := range uint64(seeds) {
		seen := false
		for _, p := range l.evenly(draws, rand.New(rand.NewPCG(seed, 0))) {
			counts[p.block]++
			seen = seen || p.block == 1
		}
		if !seen {
			t.Fatalf("seed %d: 1.6%% of the weights have none of %d draws", seed, draws)
		}
	}
	for b, want := range []float64{0.5, 0.016, 0.004, 0.48} {
		if got := counts[b] / draws / seeds; math.Abs(got/want-1) > 0.15 {
			t.Errorf("place %d: %g of the draws, want %g", b, got, want)
		}
	}
	if got := (&lottery{}).evenly(draws, rand.New(rand.NewPCG(1, 0))); got != nil {
		t.Errorf("%v of no places", got)
	}
}
