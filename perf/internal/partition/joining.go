// Package partition sums the reuse histograms of the parts into which the accesses of
// several runs are divided, and joins parts that miss too little to be modelled by
// themselves.
package partition

import (
	"maps"
	"slices"

	"presage/perf/reuse"
)

// Near is the distance, in blocks, below which reuses miss in no cache that machines have.
const Near = 8

// MayMiss counts the accesses that are cold or not near.
func MayMiss(h *reuse.Histogram) float64 {
	n := h.Cold
	for _, b := range h.Bins {
		if b.Lo >= Near {
			n += b.Count
		}
	}
	return float64(n)
}

// Run is a run's accesses, divided: the histogram of each part, by its key. The histograms
// themselves are never modified.
type Run[K comparable] struct {
	Parts   map[K]*reuse.Histogram
	MayMiss float64 // accesses of the whole run, at least those of Parts
}

// NewRun returns a run without accesses.
func NewRun[K comparable]() Run[K] {
	return Run[K]{Parts: make(map[K]*reuse.Histogram)}
}

// Add adds a histogram to that of a part. It does not change r.MayMiss.
func (r *Run[K]) Add(k K, h *reuse.Histogram) {
	if old := r.Parts[k]; old != nil {
		sum := old.Plus(h)
		h = &sum
	}
	r.Parts[k] = h
}

// Joining says which parts are joined.
type Joining[K comparable] struct {
	Negligible float64          // share of a run's accesses that may miss: parts below it in every run are joined
	Rest       func(K) K        // the key of what such a part is joined to
	Compare    func(a, b K) int // orders keys
}

// Of joins the parts of runs. It returns the keys of those that there are then, in order,
// and by key the histogram of each run: empty where the run has no such part.
func (j *Joining[K]) Of(runs []Run[K]) ([]K, [][]reuse.Histogram) {
	most := largestShares(runs)
	joined := make([]Run[K], len(runs))
	seen := make(map[K]bool)
	for i := range runs {
		joined[i] = NewRun[K]()
		for k, h := range runs[i].Parts { // in any order: sums are of whole numbers
			to := k
			if most[k] < j.Negligible {
				to = j.Rest(k)
			}
			joined[i].Add(to, h)
			seen[to] = true
		}
	}
	keys := slices.SortedFunc(maps.Keys(seen), j.Compare)
	return keys, byKey(keys, joined)
}

// largestShares returns, by key, the largest share that a part has of any run's accesses
// that may miss.
func largestShares[K comparable](runs []Run[K]) map[K]float64 {
	most := make(map[K]float64)
	for i := range runs {
		for k, h := range runs[i].Parts {
			most[k] = max(most[k], MayMiss(h)/max(1, runs[i].MayMiss))
		}
	}
	return most
}

func byKey[K comparable](keys []K, runs []Run[K]) [][]reuse.Histogram {
	hists := make([][]reuse.Histogram, len(keys))
	for n, k := range keys {
		hists[n] = make([]reuse.Histogram, len(runs))
		for i := range runs {
			if h := runs[i].Parts[k]; h != nil {
				hists[n][i] = *h
			}
		}
	}
	return hists
}
