package reuse

import (
	"fmt"
	"math"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"

	"presage/perf/trace"
)

// sureDistance is the log of the probability with which a sampled distance may
// fall on the wrong side of an Estimate's capacities: 2^-15, whose expected
// share of misses is small beside any interval.
const sureDistance = -15 * math.Ln2

// Estimate is a number of misses with its error.
type Estimate struct {
	Misses uint64 // as the histograms' Misses

	// Least and Most bound the number of misses: with certainty, up to a bin's
	// count (see MissBounds), for exact results; with at least the requested
	// confidence for sampled ones.
	Least, Most uint64

	// StdErr is the standard error of Misses from the choice of the blocks
	// whose accesses are counted; 0 for exact results. The error from the
	// choice of the blocks that make up distances is only in Least and Most.
	StdErr float64

	// Few means that some part of the sample has no misses, so that the few
	// blocks with misses say little about the others: Most is all accesses.
	Few bool
}

// Estimate returns the number of accesses of the groups (none: of all groups)
// that miss in an initially empty fully associative LRU cache of capacity
// blocks. For a sampled Result the interval has the given confidence (above 0,
// below 1).
//
// With rate R, let x_p be the sampled misses in part p of P = 16. Their sum
// over R estimates the misses. Blocks are sampled independently, and with the
// same probability in each part, so (derived here)
//
//	StdErr² = (1-R)/R² · P/(P-1) · Σ_p (x_p - mean x)²
//
// is unbiased, however the misses are spread over the blocks. The interval is
// Student's, with P-1 degrees of freedom. Whether an access misses is itself
// uncertain: a sampled distance has the binomial distribution of the distance
// and R. Most counts sampled distances that a distance of capacity could
// produce, Least those that one of capacity-1 could not, up to a probability of
// 2^-15 by Chernoff's bound. So the interval is wide, for good reason, where
// many distances are near capacity and capacity·R is small: by a factor of 1 ±
// 4.6/√(capacity·R) in capacity.
//
// Confidence holds for each interval, over choices of the seed. It is slightly
// lower where a few blocks have most of the misses.
func (r *Result) Estimate(capacity uint64, confidence float64, groups ...trace.GroupID) (Estimate, error) {
	if !(confidence > 0 && confidence < 1) {
		return Estimate{}, fmt.Errorf("reuse: confidence is %g, want one above 0 and below 1", confidence)
	}
	if len(groups) == 0 {
		for g := range r.Groups {
			groups = append(groups, trace.GroupID(g))
		}
	}
	var e Estimate
	seen := make(map[trace.GroupID]bool)
	for _, g := range groups {
		if int(g) >= len(r.Groups) || seen[g] {
			return Estimate{}, fmt.Errorf("reuse: group %d is not one of the %d, or twice in the list", g, len(r.Groups))
		}
		seen[g] = true
		least, most := r.Groups[g].MissBounds(capacity)
		e.Least, e.Most = e.Least+least, e.Most+most
		e.Misses += r.Groups[g].Misses(capacity)
	}
	if r.Sample == nil {
		return e, nil
	}
	return r.Sample.estimate(e.Misses, capacity, confidence, groups), nil
}

func (s *Sample) estimate(misses, capacity uint64, confidence float64, groups []trace.GroupID) Estimate {
	k := float64(s.OneIn)
	low, high := sampledRange(capacity, 1/k)
	var all uint64
	var at, under, over [sampleParts]float64
	for _, g := range groups {
		all += s.Accesses[g]
		for p := range s.Parts[g] {
			h := &s.Parts[g][p]
			least, _ := h.MissBounds(high)
			_, most := h.MissBounds(low)
			under[p] += float64(least)
			over[p] += float64(most)
			at[p] += float64(h.Misses(uint64(math.Round(float64(capacity) / k))))
		}
	}
	t := distuv.StudentsT{Sigma: 1, Nu: sampleParts - 1}.Quantile((1 + confidence) / 2)
	e := Estimate{Misses: misses}
	_, e.StdErr, _ = s.total(&at)
	sum, err, _ := s.total(&under)
	// A number of misses lies between 0 and the number of accesses.
	e.Least = uint64(math.Max(0, math.Floor(sum-t*err)))
	sum, err, e.Few = s.total(&over)
	e.Most = all
	if most := math.Ceil(sum + t*err); !e.Few && most < float64(all) {
		e.Most = uint64(most)
	}
	return e
}

// total returns the number of accesses that the sampled counts x estimate, its
// standard error, and whether some part has none.
func (s *Sample) total(x *[sampleParts]float64) (sum, stdErr float64, few bool) {
	for _, v := range x {
		sum += v
		few = few || v == 0
	}
	mean, squares := sum/sampleParts, 0.0
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	k := float64(s.OneIn)
	return sum * k, k * math.Sqrt((1-1/k)*sampleParts/(sampleParts-1)*squares), few
}

// sampledRange returns the sampled distances low, below which no distance of at
// least capacity is found at a sampling rate of rate, and high, from which on
// no distance below capacity is; each up to a probability of exp(sureDistance).
func sampledRange(capacity uint64, rate float64) (low, high uint64) {
	if capacity == 0 {
		return 0, 0 // every distance misses
	}
	n := int(min(capacity, 1<<32))
	// X ~ Bin(n, rate): P(X < j) and P(X >= j) are at most
	// exp(-n KL(x/n, rate)), x = j-1 below the mean and j above.
	sure := func(n, x int) bool { return -float64(n)*divergence(float64(x)/float64(n), rate) <= sureDistance }
	mean := int(float64(n) * rate)
	low = uint64(sort.Search(mean+1, func(x int) bool { return !sure(n, x) }))
	if n <= 1 {
		return low, 1 // a distance below capacity is 0
	}
	n--
	mean = int(math.Ceil(float64(n) * rate))
	return low, uint64(mean + sort.Search(n-mean+1, func(i int) bool { return sure(n, mean+i) }))
}

// divergence returns the Kullback-Leibler divergence of Bernoulli
// distributions.
func divergence(p, q float64) float64 {
	term := func(a, b float64) float64 {
		if a == 0 {
			return 0
		}
		return a * math.Log(a/b)
	}
	return term(p, q) + term(1-p, 1-q)
}
