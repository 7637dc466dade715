package host

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// known is a machine whose curve of latency is known: what each level holds and
// what its hits take, the last being memory.
type known struct {
	capacity []float64 // bytes, ascending
	latency  []float64 // ns, one more
}

// at is the latency of a random cyclic chase through a working set, with caches
// that replace at random: the hit ratio of a cache of C lines among W is the
// solution of the fixed point below; of one with LRU replacement it is 1 up to C
// and 0 beyond.
func (k known) at(bytes float64, lru bool) float64 {
	total, reach := 0.0, 1.0 // share of loads that get to a level
	for i, c := range k.capacity {
		hit := 1.0
		if bytes > c {
			hit = 0
			if !lru {
				hit = randomHits(c / bytes)
			}
		}
		total += reach * hit * k.latency[i]
		reach *= 1 - hit
	}
	return total + reach*k.latency[len(k.latency)-1]
}

// randomHits returns the hit ratio h of a cycle through n lines in a cache of
// r n lines with random replacement: between two uses of a line (1-h) n lines
// are replaced, each time it with probability 1/(r n), so h = exp(-(1-h)/r).
// The solution below 1 is found by iteration from 0.
func randomHits(r float64) float64 {
	h := 0.0
	for range 1000 {
		h = math.Exp(-(1 - h) / r)
	}
	return h
}

var machines = []known{
	{[]float64{48 << 10, 1 << 20, 32 << 20}, []float64{1, 3.5, 12, 110}},
	{[]float64{32 << 10, 256 << 10, 8 << 20}, []float64{1.2, 3.6, 13, 80}},
	{[]float64{128 << 10, 12 << 20}, []float64{0.95, 5.2, 100}}, // two levels
	{[]float64{32 << 10, 512 << 10, 4 << 20}, []float64{1.3, 6, 20, 140}},
	{[]float64{16 << 10}, []float64{2, 40}},
}

// TestStepsOfKnownMachines demands capacities to within the distance of two
// points of the curve, and latencies to within a tenth, with either replacement
// policy and with noise that only adds, including an outlier of up to 8 times
// at every tenth point.
func TestStepsOfKnownMachines(t *testing.T) {
	const perOctave = 4
	for i, k := range machines {
		for _, lru := range []bool{true, false} {
			for seed := range uint64(20) {
				rng := rand.New(rand.NewPCG(seed, 7))
				var x, y []float64
				for _, bytes := range sizes(firstBytes, 256<<20, 64, perOctave) {
					noise := 1.0
					if seed > 0 {
						noise += 0.03 * rng.Float64()
						if rng.IntN(10) == 0 {
							noise *= 1 + 7*rng.Float64()
						}
					}
					x, y = append(x, float64(bytes)), append(y, noise*k.at(float64(bytes), lru))
				}
				found := steps(x, y)
				if len(found) != len(k.capacity) {
					t.Errorf("machine %d, LRU %v, seed %d: %d steps, want %d: %+v", i, lru, seed, len(found), len(k.capacity), found)
					continue
				}
				// Random replacement goes on hitting beyond the capacity, and an
				// outlier at the edge moves it by a point.
				slack := math.Exp2(2.01 / perOctave)
				for j, s := range found {
					if c := k.capacity[j]; s.lo*slack < c || s.hi > c*slack {
						t.Errorf("machine %d, LRU %v, seed %d: a step between %g and %g KiB, want %g", i, lru, seed, s.lo/1024, s.hi/1024, c/1024)
					}
					if r := s.before / k.latency[j]; r < 0.9 || r > 1.12 {
						t.Errorf("machine %d, LRU %v, seed %d: latency %g, want %g", i, lru, seed, s.before, k.latency[j])
					}
				}
			}
		}
	}
}

// TestFlatCurveHasNoStep demands no step in a curve that does not rise, however
// noisy.
func TestFlatCurveHasNoStep(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	var x, y []float64
	for _, bytes := range sizes(firstBytes, 64<<20, 64, 4) {
		x, y = append(x, float64(bytes)), append(y, 5*(1+rng.Float64()*rng.Float64()))
	}
	y[len(y)-1] = 5
	if s := steps(x, y); len(s) != 0 {
		t.Errorf("steps %+v in a flat curve", s)
	}
}

// TestOpenStep demands an open step where a curve rises to its end.
func TestOpenStep(t *testing.T) {
	var x, y []float64
	for n := 8.0; n <= 16384; n *= 1.2 {
		v := 4.0
		if n > 96 {
			v = 11
		}
		if n > 4096 {
			v = 11 * math.Pow(n/4096, 2)
		}
		x, y = append(x, n), append(y, v)
	}
	s := steps(x, y)
	if len(s) != 2 || s[0].open || !s[1].open {
		t.Fatalf("steps %+v, want a closed and an open one", s)
	}
	if s[0].lo > 96 || s[0].hi <= 96 || math.Abs(s[0].after-11) > 0.1 {
		t.Errorf("first step %+v, want it at 96 pages, to 11", s[0])
	}
	// The value has doubled at 4096 sqrt 2.
	if edge := 4096 * math.Sqrt2; s[1].lo > edge || s[1].hi < edge || s[1].after < 22 {
		t.Errorf("second step %+v, want it to double at %g pages", s[1], edge)
	}
}

// TestEnvelope compares with the definition: the greatest function below the
// data that never falls.
func TestEnvelope(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		y := make([]float64, 1+rng.IntN(20))
		for i := range y {
			y[i] = float64(rng.IntN(10))
		}
		for i, v := range envelope(y) {
			if want := slices.Min(y[i:]); v != want {
				t.Fatalf("envelope of %v at %d is %g, want %g", y, i, v, want)
			}
		}
	}
}

func TestRoundest(t *testing.T) {
	for _, c := range []struct{ lo, hi, want uint64 }{
		{91, 108, 96}, {46336, 55104, 48 << 10}, {1024, 1218, 1024}, {64, 65, 64}, {1447, 2049, 2048}, {5, 6, 5},
	} {
		if got := roundest(c.lo, c.hi); got != c.want {
			t.Errorf("roundest(%d, %d) = %d, want %d", c.lo, c.hi, got, c.want)
		}
	}
}

func TestSizes(t *testing.T) {
	got := sizes(64, 1024, 64, 2)
	if want := []uint64{64, 128, 256, 320, 512, 704, 1024}; !slices.Equal(got, want) {
		t.Errorf("sizes %v, want %v", got, want)
	}
}
