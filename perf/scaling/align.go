package scaling

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// A histogram of a loop nest has few clusters of distances with gaps between
// them: reuse within the innermost loop, across the next loop, across the one
// after. A gap is a valid cut at any size. The question is which gaps of
// different sizes correspond, since their number may differ.

const (
	// gapRatio is the ratio between neighbouring distances that makes a gap.
	gapRatio = 1.25
	// gapBlocks is the least width of a gap, in blocks.
	gapBlocks = 3
	// maxGaps is the number of gaps of the largest size that are tried.
	maxGaps = 8
	// aligned is the largest score of an acceptable cut along gaps: the sum of
	// the relative leave-one-out errors of the smaller side's count and
	// distance.
	aligned = 0.5
	// mismatch is the log of the ratio between the smaller side's shares at two
	// sizes from which their gaps do not correspond.
	mismatch = math.Ln2
	// gapBias is added to scores before they are divided by the width of the
	// gap, so that the widest of good cuts wins.
	gapBias = 0.02
)

// gap is a boundary between two clusters of distances.
type gap struct {
	rank  float64
	ratio float64
}

// gaps returns the gaps within s by ascending rank.
func (r *ranked) gaps(s span) []gap {
	var out []gap
	first, last := r.bin(s.a, false), r.bin(s.b, true)
	for i := first; i < last; i++ {
		lo, hi := r.dist[i], r.dist[i+1]
		if hi-lo >= gapBlocks && hi >= gapRatio*lo {
			out = append(out, gap{r.rank[i+1], hi / math.Max(lo, 1)})
		}
	}
	return out
}

// alignedCut looks for a cut of p along gaps that correspond at all sizes. For
// each of the widest gaps of the largest size, the corresponding gap of the
// next smaller size is the one that changes the smaller side's share least, and
// so on down the sizes. The best cut makes the smaller side's count and
// distance the smoothest functions of the size, with a bias towards wide gaps.
func (s *splitter) alignedCut(p part) (low, high part, ok bool) {
	order := s.bySize(p)
	top := order[0]
	all := make([][]gap, len(p))
	for i, sp := range p {
		if sp.count() >= presence {
			all[i] = s.hists[i].gaps(sp)
		}
	}
	widest := slices.Clone(all[top])
	sort.SliceStable(widest, func(a, b int) bool { return widest[a].ratio > widest[b].ratio })
	best := math.Inf(1)
	for _, g := range widest[:min(maxGaps, len(widest))] {
		l, h := divide(p, s.match(p, all, order, g))
		if !seen(l) || !seen(h) {
			continue
		}
		// A score beyond limit would not be taken.
		width := math.Log(g.ratio)
		limit := math.Min(aligned, best*width-gapBias)
		score := s.score(l, h, top, limit)
		if ranking := (score + gapBias) / width; score <= aligned && ranking < best {
			low, high, best, ok = l, h, ranking, true
		}
	}
	return low, high, ok
}

// bySize returns the indices of the sizes by descending number of accesses in
// p.
func (s *splitter) bySize(p part) []int {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[b].count(), p[a].count()) })
	return order
}

// match returns the ranks of the gaps that correspond to g of the largest size.
// A size without one is cut in the ratio of the size before.
func (s *splitter) match(p part, all [][]gap, order []int, g gap) []float64 {
	ranks := make([]float64, len(p))
	share := (g.rank - p[order[0]].a) / p[order[0]].count() // of the low side
	fromLow := share <= 0.5
	for n, i := range order {
		sp := p[i]
		if sp.count() < presence {
			ranks[i] = sp.a
			continue
		}
		if n == 0 {
			ranks[i] = g.rank
			continue
		}
		ranks[i] = sp.a + share*sp.count()
		least := mismatch
		for _, c := range all[i] {
			here := (c.rank - sp.a) / sp.count()
			d := math.Abs(math.Log((1 - here) / (1 - share)))
			if fromLow {
				d = math.Abs(math.Log(here / share))
			}
			if d < least {
				ranks[i], least = c.rank, d
			}
		}
		share = (ranks[i] - sp.a) / sp.count()
	}
	return ranks
}

// score returns the sum of the leave-one-out errors of the count and of the
// distance of the side that is smaller at the largest size, or infinity if that of the
// count alone is beyond limit.
func (s *splitter) score(low, high part, top int, limit float64) float64 {
	small := low
	if high[top].count() < low[top].count() {
		small = high
	}
	rough := s.roughness(small.counts())
	if rough > limit {
		return math.Inf(1)
	}
	d, err := s.distance(s.hists, small, ofDraft)
	if err != nil || len(d.Residuals) < minSizes {
		return math.Inf(1)
	}
	return rough + d.LOO
}
