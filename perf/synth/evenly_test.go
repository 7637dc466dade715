package synth

import (
	"math"
	"math/rand/v2"
	"testing"

	"presage/perf/pipeline"
)

// TestWaits: each miss takes the difference of the levels' latencies, less what passed
// before the access.
func TestWaits(t *testing.T) {
	memory := pipeline.Memory{Latency: 100, Levels: []pipeline.Level{{Latency: 4}, {Latency: 14}}}
	for _, c := range []struct {
		access Access
		want   float64
	}{
		{Access{}, 0},
		{Access{Missed: []float64{0.5, 0.2}}, 0.5*10 + 0.2*86},
		{Access{Missed: []float64{0.5, 0.2}, Ahead: []int32{0, 90}}, 0.3*10 + 0.2*6},
		{Access{Missed: []float64{0.5}, Walks: []Walk{{0.1, 20}}}, 0.5*10 + 2},
	} {
		if got := c.access.waits(&memory); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v waits %g cycles, want %g", c.access, got, c.want)
		}
	}
}

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
