package scaling

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"presage/perf/fit"
)

// part is a set of accesses of one group: a range of ranks at each size.
type part []span

func (p part) counts() []float64 {
	out := make([]float64, len(p))
	for i, s := range p {
		out[i] = s.count()
	}
	return out
}

// presence is the number of accesses below which a part counts as absent at a
// size: a fraction of an access is rounding.
const presence = 0.5

// splitter cuts the reuses of one group into parts.
type splitter struct {
	*fitter
	hists []ranked
	parts []part // finished, ascending
	twice *fit.Values
}

// split cuts p into parts of nearly uniform distance and appends them to
// s.parts: the recursion of 2005 section 4.1.
func (s *splitter) split(p part, depth int) {
	if depth < maxDepth && s.matters(p) && s.wide(p) {
		if low, high, ok := s.cut(p); ok && !s.alike(low, high) {
			s.split(low, depth+1)
			s.split(high, depth+1)
			return
		}
	}
	s.parts = append(s.parts, p)
}

// matters reports whether p is worth splitting.
func (s *splitter) matters(p part) bool {
	for i, sp := range p {
		if sp.count() >= minSplit && sp.count() >= s.negligible*s.atStake[i] {
			return true
		}
	}
	return false
}

// wide reports whether the distances of p spread beyond the tolerance, and by
// at least two blocks, at some size.
func (s *splitter) wide(p part) bool {
	for i, sp := range p {
		if sp.count() < presence {
			continue
		}
		if lo, hi := s.hists[i].ends(sp); hi-lo > s.tolerance*hi && hi-lo >= 1 {
			return true
		}
	}
	return false
}

// cut divides p in two. If the number of accesses below some natural boundary is a
// smooth function of the size, so is that above it, and each size is cut at its
// boundary. Otherwise all sizes are cut in the median ratio at their midpoints. It
// fails if a side would be empty.
func (s *splitter) cut(p part) (low, high part, ok bool) {
	midpoint := s.ranks(p, s.midpoint)
	if !s.medianRatio {
		if low, high, ok := s.alignedCut(p); ok {
			return low, high, true
		}
		if low, high, ok := s.smoothCut(p, midpoint); ok {
			return low, high, true
		}
	}
	low, high = divide(p, atMedianRatio(p, midpoint))
	return low, high, seen(low) && seen(high)
}

// smoothCut divides p at the boundary for which the numbers of accesses on both sides
// are the smoothest functions of the size: the midpoint of the distance range, its
// geometric midpoint, or the widest gap. It fails if they are smooth for none.
func (s *splitter) smoothCut(p part, midpoint []float64) (low, high part, ok bool) {
	least := math.Inf(1)
	for i, ranks := range [][]float64{midpoint, s.ranks(p, s.geometric), s.ranks(p, s.gap)} {
		l, h := divide(p, ranks)
		if !seen(l) || !seen(h) {
			continue
		}
		bonus := 1.0
		if i == 0 {
			bonus = preferMidpoint
		}
		e := s.roughness(l.counts()) / bonus
		if e > smooth || e >= least {
			continue // whatever the other side is like
		}
		if e = math.Max(e, s.roughness(h.counts())/bonus); e <= smooth && e < least {
			low, high, least, ok = l, h, e, true
		}
	}
	return low, high, ok
}

// atMedianRatio returns the ranks that divide p at every size in the same ratio: the
// median of those in which the midpoints do.
func atMedianRatio(p part, midpoint []float64) []float64 {
	var ratios []float64
	for i, sp := range p {
		if sp.count() >= presence {
			ratios = append(ratios, (midpoint[i]-sp.a)/sp.count())
		}
	}
	r := 0.0
	if len(ratios) > 0 {
		slices.Sort(ratios)
		r = stat.Quantile(0.5, stat.Empirical, ratios, nil) // the lower of the middle two
	}
	ranks := make([]float64, len(p))
	for i, sp := range p {
		ranks[i] = sp.a + r*sp.count()
	}
	return ranks
}

// preferMidpoint is the factor by which another boundary must be smoother than
// the midpoint to be preferred: the midpoint narrows the range most.
const preferMidpoint = 2

func (s *splitter) ranks(p part, boundary func(*ranked, span) float64) []float64 {
	out := make([]float64, len(p))
	for i, sp := range p {
		out[i] = sp.a
		if sp.count() >= presence {
			out[i] = boundary(&s.hists[i], sp)
		}
	}
	return out
}

func (s *splitter) midpoint(r *ranked, sp span) float64 {
	lo, hi := r.ends(sp)
	return r.below(sp, (lo+hi)/2)
}

func (s *splitter) geometric(r *ranked, sp span) float64 {
	lo, hi := r.ends(sp)
	return r.below(sp, math.Sqrt(math.Max(lo, 0.5)*hi))
}

func (s *splitter) gap(r *ranked, sp span) float64 { return r.widestGap(sp) }

func divide(p part, ranks []float64) (low, high part) {
	low, high = make(part, len(p)), make(part, len(p))
	for i, sp := range p {
		low[i], high[i] = span{sp.a, ranks[i]}, span{ranks[i], sp.b}
	}
	return low, high
}

// seen reports whether p has accesses at any size.
func seen(p part) bool {
	return slices.ContainsFunc(p, func(s span) bool { return s.count() >= presence })
}

// alike reports whether two neighbouring parts have close average distances at
// all sizes where both were seen, and by their models still do at twice the
// largest size.
func (s *splitter) alike(low, high part) bool {
	both := 0
	for i := range low {
		if low[i].count() < presence || high[i].count() < presence {
			continue
		}
		both++
		if l, h := s.hists[i].mean(low[i]), s.hists[i].mean(high[i]); h-l > s.tolerance*h && h-l >= 1 {
			return false
		}
	}
	if both == 0 {
		return false
	}
	l, errL := s.distance(s.hists, low, ofDraft)
	h, errH := s.distance(s.hists, high, ofDraft)
	if errL != nil || errH != nil {
		return true
	}
	dl, dh := s.twice.Of(&l), s.twice.Of(&h)
	return math.Abs(dh-dl) <= 2*s.tolerance*math.Max(dl, dh)+1
}

// coalesce merges runs of neighbours that are alike but were separated in
// different branches of the recursion.
func (s *splitter) coalesce() {
	var out []part
	for _, p := range s.parts {
		if len(out) > 0 && s.alike(out[len(out)-1], p) {
			last := out[len(out)-1]
			joined := make(part, len(p))
			for i := range p {
				joined[i] = span{last[i].a, p[i].b}
			}
			if !s.tooWide(joined) {
				out[len(out)-1] = joined
				continue
			}
		}
		out = append(out, p)
	}
	s.parts = out
}

// tooWide reports whether the distances of p spread further than those of two
// halves within the tolerance can.
func (s *splitter) tooWide(p part) bool {
	for i, sp := range p {
		if sp.count() < presence {
			continue
		}
		if lo, hi := s.hists[i].ends(sp); hi-lo > 2*s.tolerance*hi+1 {
			return true
		}
	}
	return false
}
