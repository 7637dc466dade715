package predict

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"presage/perf/reuse"
	"presage/perf/scaling"
)

// ErrUnreachable is wrapped by the error for a hit ratio that no cache reaches,
// because cold accesses always miss.
var ErrUnreachable = errors.New("no cache reaches the hit ratio")

// FromMeasured returns a measured histogram with each bin's distances at their
// mean, for the queries that take a predicted one.
func FromMeasured(h *reuse.Histogram) scaling.Histogram {
	out := scaling.Histogram{Cold: float64(h.Cold)}
	for _, b := range h.Bins {
		out.Bins = append(out.Bins, scaling.WeightedBin{Distance: b.Mid(), Count: float64(b.Count)})
	}
	return out
}

// SmallestFullyAssociative returns the smallest fully associative cache whose
// hit ratio is at least ratio, from 0 to 1. It has at least one block.
func SmallestFullyAssociative(h *scaling.Histogram, ratio float64) (Cache, error) {
	if err := reachable(h, ratio); err != nil {
		return Cache{}, err
	}
	bins := slices.Clone(h.Bins)
	slices.SortStableFunc(bins, func(a, b scaling.WeightedBin) int { return cmp.Compare(a.Distance, b.Distance) })
	need := ratio * h.Accesses() * (1 - rounding)
	hits, blocks := 0.0, uint64(1)
	for _, b := range bins {
		if hits >= need {
			break
		}
		hits += b.Count
		blocks = max(blocks, uint64(math.Floor(b.Distance))+1) // hits where distance < blocks
	}
	return FullyAssociative(blocks), nil
}

// SmallestSetAssociative returns the cache of the given associativity with the
// fewest sets, a power of two, whose hit ratio is at least ratio.
func SmallestSetAssociative(h *scaling.Histogram, ways uint64, ratio float64) (Cache, error) {
	if ways == 0 {
		return Cache{}, fmt.Errorf("predict: %w: no ways", ErrCache)
	}
	if err := reachable(h, ratio); err != nil {
		return Cache{}, err
	}
	for log := range maxLogSets {
		c := Cache{Sets: 1 << log, Ways: ways}
		if OfHistogram(h, c).HitRatio() >= ratio-rounding {
			return c, nil
		}
	}
	return Cache{}, fmt.Errorf("predict: %w: %g takes more than 2^%d sets of %d", ErrUnreachable, ratio, maxLogSets-1, ways)
}

const (
	maxLogSets = 41 // sets of at most 2^40: more blocks than a trace can address
	rounding   = 1e-12
)

func reachable(h *scaling.Histogram, ratio float64) error {
	if !(ratio >= 0 && ratio <= 1) {
		return fmt.Errorf("predict: hit ratio %g is not between 0 and 1", ratio)
	}
	if most := (Misses{Accesses: h.Accesses(), Cold: h.Cold}).HitRatio(); ratio > most+rounding {
		return fmt.Errorf("predict: %w %g: cold accesses leave at most %.6g", ErrUnreachable, ratio, most)
	}
	return nil
}
