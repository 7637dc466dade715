package simpoint

import (
	"context"
	"fmt"
	"math"

	"presage/perf/bbv"
)

// AdjustedRandIndex measures how far two labellings of the same items agree on
// which belong together: 1 if they fully agree, 0 on average if they are
// independent. It is 1 if both put everything together, or everything apart. It
// panics if their lengths differ.
//
// With n(a,b) items labelled a and b, and C(x) = x(x-1)/2 pairs of x items, it
// is (S - E)/(M - E), where S = Σ C(n(a,b)), E = Σ C(n(a)) Σ C(n(b)) / C(n) and
// M = (Σ C(n(a)) + Σ C(n(b)))/2 (Hubert and Arabie's adjustment).
func AdjustedRandIndex(a, b []int) float64 {
	if len(a) != len(b) {
		panic(fmt.Sprintf("simpoint: labellings of %d and of %d things", len(a), len(b)))
	}
	both, inA, inB := make(map[[2]int]float64), make(map[int]float64), make(map[int]float64)
	for i := range a {
		both[[2]int{a[i], b[i]}]++
		inA[a[i]]++
		inB[b[i]]++
	}
	// Sums of integers, so their order does not matter.
	s, sa, sb := pairs(both), pairs(inA), pairs(inB)
	n := float64(len(a))
	expected := sa * sb / math.Max(n*(n-1)/2, 1)
	most := (sa + sb) / 2
	if most == expected {
		return 1
	}
	return (s - expected) / (most - expected)
}

func pairs[K comparable](counts map[K]float64) (sum float64) {
	for _, n := range counts {
		sum += n * (n - 1) / 2
	}
	return sum
}

// StabilityReport shows how much a choice of points depends on the seed.
type StabilityReport struct {
	Runs []*Result // with the seed of the options first, then with others that follow from it

	// Agreement is the mean adjusted Rand index over all pairs of runs,
	// LeastAgreement the least.
	Agreement, LeastAgreement float64

	// KMin and KMax are the fewest and the most clusters chosen.
	KMin, KMax int
	// MismatchMin and MismatchMax are the least and the largest Result.Mismatch.
	MismatchMin, MismatchMax float64
}

// Stability picks points in several runs, each with another projection and
// other starts, and compares them. runs must be at least 2.
func Stability(ctx context.Context, v *bbv.Vectors, opt Options, runs int) (*StabilityReport, error) {
	if runs < 2 {
		return nil, fmt.Errorf("simpoint: stability over %d runs: want 2 at least", runs)
	}
	s := &StabilityReport{LeastAgreement: 1, MismatchMin: 1}
	seed := opt.Seed
	for i := range runs {
		if i > 0 {
			opt.Seed = derive(purposeStability, seed, uint64(i))
		}
		r, err := Pick(ctx, v, opt)
		if err != nil {
			return nil, err
		}
		for _, before := range s.Runs {
			agreement := AdjustedRandIndex(before.Labels, r.Labels)
			s.Agreement += agreement / float64(runs*(runs-1)/2)
			s.LeastAgreement = min(s.LeastAgreement, agreement)
		}
		s.Runs = append(s.Runs, r)
		if i == 0 || r.K < s.KMin {
			s.KMin = r.K
		}
		s.KMax = max(s.KMax, r.K)
		s.MismatchMin, s.MismatchMax = min(s.MismatchMin, r.Mismatch), max(s.MismatchMax, r.Mismatch)
	}
	return s, nil
}
