package scaling

import "slices"

// constantBins finds the leading bins of a group with the same distance at all
// sizes where the group has reuses (2005 section 4.1): reuse within the
// innermost loop, determined by its code. It returns their distances,
// ascending, and the rank up to which they reach at each size. Bins with a
// share of the reuses below significant at every size do not end the sequence;
// their accesses count towards the constant bin before them, or the first.
//
// Alignment makes neighbouring distances exchange accesses from size to size,
// and only one of them may occur at all sizes. Then neither count is a function
// of the size, only their sum is, so the sequence ends before the first bin
// whose counts are not smooth.
func (f *fitter) constantBins(hists []ranked) (distances []float64, upTo []float64) {
	distances = commonDistances(hists)
	for len(distances) > 0 {
		upTo = ranksUpTo(hists, distances[len(distances)-1])
		rough := slices.IndexFunc(constantCounts(hists, distances, upTo), func(counts []float64) bool {
			return f.roughness(counts) > smoothConstant
		})
		if rough < 0 {
			return distances, upTo
		}
		distances = distances[:rough]
	}
	return nil, make([]float64, len(hists))
}

// commonDistances returns the distances below constantLimit with which the
// significant bins of all sizes begin.
func commonDistances(hists []ranked) []float64 {
	var limit float64 = constantLimit
	var common []float64
	first := true
	for i := range hists {
		h := &hists[i]
		if h.total() < presence {
			continue
		}
		var here []float64
		for b, d := range h.dist {
			if d >= limit {
				break
			}
			if h.rank[b+1]-h.rank[b] >= significant*h.total() {
				here = append(here, d)
			}
		}
		if first {
			common, first = here, false
			continue
		}
		// Keep the longest common prefix and the place where it broke.
		n := 0
		for n < len(common) && n < len(here) && common[n] == here[n] {
			n++
		}
		for _, rest := range [][]float64{common[n:], here[n:]} {
			if len(rest) > 0 {
				limit = min(limit, rest[0])
			}
		}
		common = common[:n]
	}
	return common
}

// ranksUpTo returns the number of accesses at each size with a distance of at
// most end.
func ranksUpTo(hists []ranked, end float64) []float64 {
	upTo := make([]float64, len(hists))
	for i := range hists {
		if h := &hists[i]; h.total() >= presence {
			upTo[i] = h.below(span{0, h.total()}, end+0.5)
		}
	}
	return upTo
}

// constantCounts returns the number of accesses of each constant bin at each
// size.
func constantCounts(hists []ranked, distances, upTo []float64) [][]float64 {
	out := make([][]float64, len(distances))
	for k := range distances {
		out[k] = make([]float64, len(hists))
		for i := range hists {
			if upTo[i] == 0 {
				continue
			}
			all := span{0, upTo[i]}
			from, to := 0.0, upTo[i]
			if k > 0 {
				from = hists[i].below(all, distances[k])
			}
			if k+1 < len(distances) {
				to = hists[i].below(all, distances[k+1])
			}
			out[k][i] = to - from
		}
	}
	return out
}
