package simpoint

import (
	"context"
	"fmt"
	"math"

	"presage/perf/bbv"
)

// AdjustedRandIndex tells how far two labellings of the same things agree on
// which belong together: 1 if they agree in all, 0 on average if they have
// nothing to do with each other. Of two labellings that both put everything
// together, or everything apart, it is 1. It panics if they differ in length.
//
// With n(a,b) things labelled a and b, and C(x) = x(x-1)/2 pairs of x things,
// it is (S - E)/(M - E), where S = Σ C(n(a,b)), E = Σ C(n(a)) Σ C(n(b)) / C(n)
// and M = (Σ C(n(a)) + Σ C(n(b)))/2 (Hubert and Arabie's adjustment).
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
	// Sums of whole numbers: the order does not matter.
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

// StabilityReport tells how much a choice of points depends on the seed.
type StabilityReport struct {
	Runs []*Result // with the seed of the options first, then with others that follow from it

	// Agreement is the adjusted Rand index of the clusters of each two runs:
	// the mean of all, and the least.
	Agreement, LeastAgreement float64

	// KMin and KMax are the fewest and the most clusters chosen.
	KMin, KMax int
	// MismatchMin and MismatchMax are the least and the largest Result.Mismatch.
	MismatchMin, MismatchMax float64
}

// Stability picks points several times, each time with another projection and
// other starts, and compares. runs is at least 2.
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
