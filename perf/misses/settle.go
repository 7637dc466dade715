package misses

import (
	"math"
	"sort"

	"presage/perf/internal/num"
)

// settle makes the reuses of all groups add up, distance by distance, to those that the
// model has of the whole program, if it has any; and those of each group, by reuses within
// a block, to its accesses. Where the groups have no reuses at a distance, nobody knows whose
// they are, and there are none.
func (h *histograms) settle(accesses []float64) {
	want := h.model.Between(h.at)
	if len(want) == 0 {
		return
	}
	had := make([]float64, len(want))
	h.eachBin(func(_ Group, tail int, count *float64) {
		if tail >= 0 {
			had[tail] += *count
		}
	})
	within, left := make([]float64, len(accesses)), append([]float64(nil), accesses...)
	h.eachBin(func(g Group, tail int, count *float64) {
		if tail < 0 {
			within[g] += *count
		} else {
			*count *= num.Ratio(want[tail], had[tail])
		}
		left[g] -= *count
	})
	for g := range h.groups {
		left[h.group(g)] -= h.groups[g].Cold
	}
	h.eachBin(func(g Group, tail int, count *float64) {
		if tail < 0 {
			*count *= math.Max(0, num.Ratio(within[g]+left[g], within[g]))
		}
	})
}

// eachBin calls f with each bin: its group, the last tail of the model that it belongs to,
// -1 for none, and its accesses.
func (h *histograms) eachBin(f func(g Group, tail int, count *float64)) {
	for g := range h.groups {
		for i := range h.groups[g].Bins {
			bin := &h.groups[g].Bins[i]
			f(h.group(g), h.tail(bin.Distance), &bin.Count)
		}
	}
}

// tail returns the index of the last tail of the model that a distance belongs to; -1 if
// it is in none.
func (h *histograms) tail(distance float64) int {
	all := h.model.Tails
	return sort.Search(len(all), func(i int) bool { return all[i].From > distance }) - 1
}

// from returns the share of the reuses between a tail and the next that are at a distance
// or a larger one: they are spread evenly.
func (h *histograms) from(tail int, distance float64) float64 {
	all := h.model.Tails
	low := all[tail].From
	if tail+1 == len(all) {
		return beyond(low+leastOff, distance, leastOff)
	}
	high := all[tail+1].From
	return math.Min(1, math.Max(0, (high-distance+leastOff)/(high-low)))
}
