package sharing

import (
	"math"
	"sort"

	"presage/perf/reuse"
)

var nan = math.NaN()

// fillTimes returns, for each capacity from 0 to most blocks, how many accesses a thread
// takes on average to fill it: the sum of 1/mr(k) over the capacities k below, where mr is
// the share of its accesses that miss in an LRU cache of k blocks (Xiang, Ding, Luo and
// Bao, HOTL, ASPLOS 2013: the miss ratio is the slope of the footprint). They end where
// nothing misses.
func fillTimes(h *reuse.Histogram, most uint64) []float64 {
	all := float64(h.Accesses())
	times := []float64{0}
	for k := range most {
		misses := float64(h.Misses(k))
		if misses == 0 {
			break
		}
		times = append(times, times[k]+all/misses)
	}
	return times
}

// filled returns how many blocks a thread fills in a time, on average.
func filled(times []float64, t float64) float64 {
	i := sort.SearchFloat64s(times, t)
	switch {
	case i == len(times):
		return float64(len(times) - 1)
	case i == 0:
		return 0
	}
	return float64(i-1) + (t-times[i-1])/(times[i]-times[i-1])
}

// composed predicts the misses of each thread in an LRU cache of so many blocks that all
// share, from the reuse distances of each by itself, at equal pace and with no data in
// common: a reuse misses if what all fill in its time is more than the cache holds.
func composed(threads []*reuse.Histogram, blocks uint64) []float64 {
	times := make([][]float64, len(threads))
	for i, h := range threads {
		times[i] = fillTimes(h, blocks)
	}
	misses := make([]float64, len(threads))
	for i, h := range threads {
		// The least distance that misses, as what is filled grows with it.
		d := sort.Search(len(times[i]), func(d int) bool {
			sum := 0.0
			for j := range times {
				sum += filled(times[j], times[i][d])
			}
			return math.Round(sum) >= float64(blocks)
		})
		if d == len(times[i]) { // all that it ever fills fits
			misses[i] = float64(h.Cold)
			continue
		}
		misses[i] = float64(h.Misses(uint64(d)))
	}
	return misses
}
