package predict

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mathext"
)

// ErrCache is wrapped by errors about impossible caches.
var ErrCache = errors.New("bad cache")

// Cache is the geometry of a cache in blocks, whose size is that of the
// histograms.
type Cache struct {
	Sets uint64 // 1 for a fully associative cache
	Ways uint64 // blocks in a set
}

// FullyAssociative returns a fully associative cache of the given capacity; for
// a TLB, its number of entries.
func FullyAssociative(blocks uint64) Cache { return Cache{Sets: 1, Ways: blocks} }

// SetAssociative returns a cache of the given capacity and associativity. It
// fails if the ways do not divide the blocks.
func SetAssociative(blocks, ways uint64) (Cache, error) {
	if ways == 0 || blocks == 0 || blocks%ways != 0 {
		return Cache{}, fmt.Errorf("predict: %w: %d blocks in sets of %d", ErrCache, blocks, ways)
	}
	return Cache{Sets: blocks / ways, Ways: ways}, nil
}

// Blocks returns the capacity.
func (c Cache) Blocks() uint64 { return c.Sets * c.Ways }

// Check returns an error if c has no sets or no ways.
func (c Cache) Check() error {
	if c.Sets == 0 || c.Ways == 0 {
		return fmt.Errorf("predict: %w: %d sets of %d ways", ErrCache, c.Sets, c.Ways)
	}
	return nil
}

// MissProbability returns the probability that an access with the given reuse
// distance, in blocks, misses in c: Pmiss(s, k, n) of the 2005 paper, section
// 5.2, which is the upper tail of a binomial distribution,
//
//	1 − Σ_{i=0}^{min(k−1,n)} Pmapping(s, n, i) = I_{1/s}(k, n−k+1)   for n >= k,
//
// with Pmapping(s, n, i) = C(n, i) (1/s)^i ((s−1)/s)^(n−i) the probability that
// i of n blocks fall into a given set, and I the regularised incomplete beta
// function. The latter is as fast for a distance of 10^9 as for 10, does not
// suffer the cancellation of 1 − Σ where misses are rare, and is continuous in
// n, which for a bin is an average. Below n = k−1 it is zero. For one set it is
// the step at n = k: a bin is all hits or all misses.
func (c Cache) MissProbability(distance float64) float64 {
	k := float64(c.Ways)
	if c.Sets == 1 {
		if distance >= k {
			return 1
		}
		return 0
	}
	if distance <= k-1 {
		return 0
	}
	return mathext.RegIncBeta(k, distance-k+1, 1/float64(c.Sets))
}
