package predict

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"presage/perf/scaling"
)

// ErrUnreachable is wrapped by the error for a number of misses below that of
// the cold accesses, which miss in any cache.
var ErrUnreachable = errors.New("no cache reaches the hit ratio")

// Smallest returns the smallest cache of the given associativity with at most
// the given number of misses, up to rounding: the fewest sets, a power of two,
// or, for 0 ways, the fewest blocks of a fully associative cache. Every smaller
// one has more misses. No larger one has more, except where an average distance
// lies between Ways−1 and Ways: a single set is certain to hold it, one of
// several is not. The error wraps ErrUnreachable if there is none.
func Smallest(h *scaling.Histogram, ways uint64, misses float64, by Method) (Cache, error) {
	most := misses + rounding*h.Accesses()
	if h.Cold > most {
		return Cache{}, fmt.Errorf("predict: %w: %.6g cold misses exceed the %.6g allowed", ErrUnreachable, h.Cold, misses)
	}
	if ways == 0 {
		return FullyAssociative(fewestBlocks(h, most)), nil
	}
	for log := range maxLogSets {
		c := Cache{Sets: 1 << log, Ways: ways}
		if OfHistogram(h, by.Of(c)).Total() <= most {
			return c, nil
		}
	}
	return Cache{}, fmt.Errorf("predict: %w: more than 2^%d sets of %d would be needed", ErrUnreachable, maxLogSets-1, ways)
}

// fewestBlocks returns the capacity of the smallest fully associative cache
// with at most the given misses: bins miss from the farthest on until one more
// would be too many, and the cache holds that one.
func fewestBlocks(h *scaling.Histogram, most float64) uint64 {
	bins := slices.Clone(h.Bins)
	slices.SortStableFunc(bins, func(a, b scaling.WeightedBin) int { return cmp.Compare(b.Distance, a.Distance) })
	misses := h.Cold
	for _, b := range bins {
		if misses += b.Count; misses > most {
			return uint64(math.Floor(b.Distance)) + 1 // hits where distance < blocks
		}
	}
	return 1
}

// Reach is how far a quantity stays within a limit over ascending values of a
// parameter.
type Reach struct {
	// UpTo is the index of the last value up to which the limit holds at every
	// value; -1 if it does not hold at the first.
	UpTo int
	// Anywhere is the index of the last value at which the limit holds, even if
	// it does not at an earlier one; -1 if there is none.
	Anywhere int
}

// Within returns how far ratios stay at or below limit. Ratios need not be
// monotone: a larger problem may fit a cache better. NaN is within no limit.
func Within(ratios []float64, limit float64) Reach {
	r := Reach{UpTo: -1, Anywhere: -1}
	for i, v := range ratios {
		if !(v <= limit+rounding) {
			continue
		}
		if r.UpTo == i-1 {
			r.UpTo = i
		}
		r.Anywhere = i
	}
	return r
}

const (
	maxLogSets = 41 // sets of at most 2^40: more blocks than a trace can address
	rounding   = 1e-12
)
