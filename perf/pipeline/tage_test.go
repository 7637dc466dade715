package pipeline

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// directionsAtRandom returns as many directions, of which a share is taken.
func directionsAtRandom(rng *rand.Rand, n int, share float64) []bool {
	out := make([]bool, n)
	for i := range out {
		out[i] = rng.Float64() < share
	}
	return out
}

// wrongShare returns the share of the executions of a branch that are mispredicted in the
// second half of as many rounds of a pattern, beside a branch that always goes one way.
func wrongShare(p *tage, pattern []bool, rounds int) float64 {
	wrong, all := 0, 0
	for r := range rounds {
		for _, taken := range pattern {
			right := p.direction(0x1000, taken)
			p.direction(0x1010, true)
			if r < rounds/2 {
				continue
			}
			if all++; !right {
				wrong++
			}
		}
	}
	return float64(wrong) / float64(all)
}

// TestTAGEReach: a pattern of TAGEReach directions for each entry of a table is learned,
// and one twice as long is not, by the criterion of a calibration: less than a quarter of
// the mispredictions that guessing at random has.
func TestTAGEReach(t *testing.T) {
	const learned = 0.25 * 0.5
	for _, entries := range []int{256, 1024, 4096} {
		rng := rand.New(rand.NewPCG(1, uint64(entries)))
		n := TAGEReach * entries
		if got := wrongShare(newTAGE(entries, 0), directionsAtRandom(rng, n, 0.5), 40); got > learned {
			t.Errorf("%d entries: of a pattern of %d, %.3f are wrong", entries, n, got)
		}
		if got := wrongShare(newTAGE(entries, 0), directionsAtRandom(rng, 2*n, 0.5), 40); got < learned {
			t.Errorf("%d entries: of a pattern of %d, %.3f are wrong", entries, 2*n, got)
		}
	}
}

// TestTAGELearns holds the predictor against what is known of its kind: loops are learned
// as far as the longest history goes, what has no pattern costs no more than the rarer
// direction does, and an outcome that another branch decided is known from it.
func TestTAGELearns(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	loop := func(n int) []bool { return append(slices.Repeat([]bool{true}, n-1), false) }
	// A loop of n iterations is 2n branches here.
	if got := wrongShare(newTAGE(1024, 200), loop(90), 400); got != 0 {
		t.Errorf("a loop of 90: %.4f are wrong", got)
	}
	if got, want := wrongShare(newTAGE(1024, 200), loop(150), 400), 1.0/150; got < 0.9*want || got > 1.5*want {
		t.Errorf("a loop of 150: %.4f are wrong, want about %.4f", got, want)
	}
	if got := wrongShare(newTAGE(1024, 0), directionsAtRandom(rng, 1<<20, 0.1), 2); got < 0.1 || got > 0.14 {
		t.Errorf("a tenth at random: %.3f are wrong", got)
	}
	p, wrong := newTAGE(1024, 0), 0
	for i, taken := range directionsAtRandom(rng, 1<<16, 0.5) {
		p.direction(0x2000, taken)
		if right := p.direction(0x2020, !taken); !right && i >= 1<<15 {
			wrong++
		}
	}
	if wrong > 1<<15/50 {
		t.Errorf("the opposite of another branch: %d of %d are wrong", wrong, 1<<15)
	}
}

// TestTAGEHistory: the hashes of histories are those of their latest directions alone.
func TestTAGEHistory(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	long, short := newTAGE(64, 100), newTAGE(64, 100)
	latest := directionsAtRandom(rng, 100, 0.5)
	for _, taken := range directionsAtRandom(rng, 5000, 0.5) {
		long.push(taken)
	}
	for _, taken := range latest {
		long.push(taken)
		short.push(taken)
	}
	for i := range long.tables {
		if a, b := &long.tables[i], &short.tables[i]; a.hash != b.hash || a.length < shortestHistory || i > 0 && a.length <= long.tables[i-1].length {
			t.Errorf("table %d of %d directions: hash %x, of the latest alone %x", i, a.length, a.hash, b.hash)
		}
	}
}

// TestTAGETrustsNewEntries: entries that were never right are believed where outcomes come
// again, and not where they are random.
func TestTAGETrustsNewEntries(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	again, random := newTAGE(1024, 0), newTAGE(1024, 0)
	wrongShare(again, directionsAtRandom(rng, 4000, 0.5), 6)
	wrongShare(random, directionsAtRandom(rng, 1<<17, 0.1), 2)
	if again.newly >= 0 || random.newly < 0 {
		t.Errorf("%d where outcomes come again, want it below 0; %d where they are random, want it at least 0", again.newly, random.newly)
	}
}
