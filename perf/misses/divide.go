package misses

import (
	"math"

	"presage/perf/internal/num"
	"presage/perf/predict"
	"presage/perf/scaling"
)

// Part is what a part of a scope's accesses, modelled by itself, has of its misses.
type Part struct {
	Of               int // the index of its histogram
	Accesses, Misses float64
	Own              float64 // the misses that its model says, undivided
}

// Divide divides the accesses and misses of a row among parts of its scope's accesses,
// given their histograms and the row's cache: cold misses among the first accesses, the
// others among the reuses that miss. So the parts add up to the row, whatever corrected
// it. Where the row has misses of reuses and no part does, accesses share them by their
// distances; parts of which no model predicts an access share alike. Without parts there is
// nothing to divide: it returns none.
func (r *Row) Divide(hists []scaling.Histogram, cache predict.Cache) []Part {
	own := make([]predict.Misses, len(hists))
	weights := make([]float64, len(hists)) // for misses that no part has by itself
	var cold, reuse, far, accesses float64
	for i := range hists {
		own[i] = predict.OfHistogram(&hists[i], cache)
		for _, b := range hists[i].Bins {
			weights[i] += b.Count * b.Distance
		}
		cold += own[i].Cold
		reuse += own[i].Reuse
		far += weights[i]
		accesses += own[i].Accesses
	}
	var parts []Part
	for i := range hists {
		share := 1 / float64(len(hists))
		if accesses > 0 {
			share = own[i].Accesses / accesses
		}
		p := Part{Of: i, Accesses: share * r.Accesses, Own: own[i].Total()}
		switch again := r.Misses - r.Cold; {
		case reuse > 0:
			p.Misses = own[i].Reuse / reuse * again
		case far > 0:
			p.Misses = weights[i] / far * again
		default:
			p.Misses = share * again
		}
		if cold > 0 {
			p.Misses += own[i].Cold / cold * r.Cold
		} else {
			p.Misses += share * r.Cold
		}
		parts = append(parts, p)
	}
	return parts
}

// RangeOf returns the interval of a part's misses, given that of its own model: it holds
// what the functions of that may be, and is at least as wide as the row's.
func (r *Row) RangeOf(p Part, own predict.Interval) (low, high float64) {
	low = math.Min(p.Misses*num.Ratio(r.Low, r.Misses), num.Ratio(p.Misses, p.Own)*own.Low)
	high = math.Max(p.Misses*num.Ratio(r.High, r.Misses), num.Ratio(p.Misses, p.Own)*own.High)
	return math.Max(0, math.Min(low, p.Misses)), math.Min(math.Max(high, p.Misses), math.Max(p.Accesses, p.Misses))
}
