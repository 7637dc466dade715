package simpoint

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"presage/perf/bbv"
)

// represent returns an interval for each cluster, in the order of clusters.
func represent(r *Result, weight []float64, opt *Options) []Point {
	best := make([]Point, r.K)
	square := make([]float64, r.K)
	var total float64
	for c := range best {
		best[c] = Point{Interval: -1, Cluster: c}
	}
	for i, c := range r.Labels {
		if p := &best[c]; p.Interval < 0 || r.Distances[i] < p.Distance {
			p.Interval, p.Distance = i, r.Distances[i]
		}
		best[c].Weight += weight[i]
		square[c] += weight[i] * r.Distances[i] * r.Distances[i]
		total += weight[i]
	}
	if opt.Early > 0 {
		limit, found := make([]float64, r.K), make([]bool, r.K)
		for c := range best {
			limit[c] = best[c].Distance + opt.Early*math.Sqrt(square[c]/best[c].Weight)
		}
		for i, c := range r.Labels {
			if !found[c] && r.Distances[i] <= limit[c] {
				found[c], best[c].Interval, best[c].Distance = true, i, r.Distances[i]
			}
		}
	}
	return cover(best, total, opt.Coverage)
}

// cover keeps the heaviest clusters that cover a share of the total weight, the
// first of equals, and scales their weights to sum to 1.
func cover(all []Point, total, share float64) []Point {
	byWeight := slices.Clone(all)
	slices.SortStableFunc(byWeight, func(a, b Point) int { return cmp.Compare(b.Weight, a.Weight) })
	n, sum := 0, 0.0
	for n < len(byWeight) && (n == 0 || share == 1 || sum < share*total) {
		sum += byWeight[n].Weight
		n++
	}
	kept := byWeight[:n]
	slices.SortFunc(kept, func(a, b Point) int { return a.Cluster - b.Cluster })
	for i := range kept {
		kept[i].Weight /= sum
	}
	return kept
}

// mismatch compares the mix of code of weighted points with that of the run.
func mismatch(v *bbv.Vectors, points []Point) float64 {
	diff := make(map[uint32]float64)
	var all float64
	for _, n := range v.Instructions {
		all += float64(n)
	}
	for j, n := range v.Instructions {
		diff[v.Blocks[j]] += float64(n) / all
	}
	for _, p := range points {
		blocks, counts := v.Interval(p.Interval)
		var sum float64
		for _, n := range counts {
			sum += float64(n)
		}
		for j, b := range blocks {
			diff[b] -= p.Weight * float64(counts[j]) / sum
		}
	}
	var half float64
	for _, b := range slices.Sorted(maps.Keys(diff)) {
		half += math.Abs(diff[b]) / 2
	}
	return half
}
