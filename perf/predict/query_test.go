package predict

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"presage/perf/scaling"
)

// randomHistogram has few bins at distances that are often equal or zero, in no
// order, and counts that are often zero.
func randomHistogram(r *rand.Rand) scaling.Histogram {
	h := scaling.Histogram{Cold: float64(r.IntN(20))}
	for range r.IntN(8) {
		h.Bins = append(h.Bins, scaling.WeightedBin{Distance: float64(r.IntN(120)) / 2, Count: float64(r.IntN(30))})
	}
	return h
}

// misses counts by the definition: distance 0, 1, …, one bin at a time.
func misses(h *scaling.Histogram, c Cache) float64 {
	n := h.Cold
	for _, b := range h.Bins {
		if c.Sets == 1 && b.Distance < float64(c.Ways) {
			continue
		}
		n += b.Count * c.MissProbability(b.Distance)
	}
	return n
}

// TestSmallestByBruteForce compares Smallest with a search of all capacities
// from one block up.
func TestSmallestByBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	unreachable := 0
	for range 3000 {
		h := randomHistogram(r)
		most := r.Float64() * h.Accesses()
		if r.IntN(4) == 0 {
			most = math.Floor(most) // exactly what some cache has
		}
		want := uint64(0)
		for blocks := uint64(1); blocks <= 64 && want == 0; blocks++ {
			if misses(&h, FullyAssociative(blocks)) <= most {
				want = blocks
			}
		}
		got, err := Smallest(&h, 0, most, MethodBinomial)
		switch {
		case want == 0:
			unreachable++
			if !errors.Is(err, ErrUnreachable) {
				t.Fatalf("%+v, %g misses: %v, %v", h, most, got, err)
			}
			continue
		case err != nil || got != FullyAssociative(want):
			t.Fatalf("%+v, %g misses: %v, %v, want %d blocks", h, most, got, err, want)
		}
		ways := uint64(1 + r.IntN(4))
		got, err = Smallest(&h, ways, most, MethodBinomial)
		if err != nil {
			// Set-associative caches come near to no conflicts, never there.
			if far := (Cache{1 << 40, ways}); !errors.Is(err, ErrUnreachable) || misses(&h, far) <= most {
				t.Fatalf("%+v, %d ways, %g misses: %v", h, ways, most, err)
			}
			continue
		}
		if misses(&h, got) > most+1e-9 {
			t.Fatalf("%+v, %d ways: %v has more than %g misses", h, ways, got, most)
		}
		if half := (Cache{got.Sets / 2, ways}); half.Sets > 0 && misses(&h, half) <= most {
			t.Fatalf("%+v, %d ways: half of %v has no more than %g misses", h, ways, got, most)
		}
	}
	if unreachable < 100 || unreachable > 2500 {
		t.Errorf("%d of 3000 unreachable", unreachable)
	}
}

// TestMissesFallWithSize demands that misses never increase with the size: of a
// fully associative cache by any number of blocks, of a set-associative one by
// sets or by ways.
func TestMissesFallWithSize(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 2))
	for range 300 {
		h := randomHistogram(r)
		last := math.Inf(1)
		for blocks := uint64(1); blocks < 70; blocks++ {
			m := OfHistogram(&h, FullyAssociative(blocks)).Total()
			if m > last || m < h.Cold {
				t.Fatalf("%+v: %g misses in %d blocks, %g in one less", h, m, blocks, last)
			}
			last = m
		}
		for sets := uint64(1); sets < 64; sets *= 2 {
			for ways := uint64(1); ways < 16; ways *= 2 {
				here := OfHistogram(&h, Cache{sets, ways}).Total()
				more, wider := OfHistogram(&h, Cache{sets * 2, ways}).Total(), OfHistogram(&h, Cache{sets, ways * 2}).Total()
				if sets == 1 {
					more = 0 // see Smallest: a single set is another formula
				}
				if more > here+1e-9 || wider > here+1e-9 {
					t.Fatalf("%+v, %d sets of %d: %g misses, twice the sets %g, twice the ways %g", h, sets, ways, here, more, wider)
				}
			}
		}
	}
}

// TestWithinByBruteForce compares Within with its definition, which examines
// every prefix.
func TestWithinByBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	for range 2000 {
		ratios := make([]float64, r.IntN(9))
		for i := range ratios {
			ratios[i] = float64(r.IntN(4)) / 4
			if r.IntN(12) == 0 {
				ratios[i] = math.NaN()
			}
		}
		limit := float64(r.IntN(5)) / 4
		want := Reach{-1, -1}
		for end := range ratios {
			holds := true
			for _, v := range ratios[:end+1] {
				holds = holds && v <= limit
			}
			if holds {
				want.UpTo = end
			}
			if ratios[end] <= limit {
				want.Anywhere = end
			}
		}
		if got := Within(ratios, limit); got != want {
			t.Fatalf("%v within %g: %+v, want %+v", ratios, limit, got, want)
		}
	}
}
