package misses

import "presage/perf/subject"

// PrefetchedRun is what prefetchers did for some accesses at a level in a run, or do for
// each of their misses.
type PrefetchedRun struct {
	At                         subject.Point
	Without                    float64 // misses without prefetchers
	Left, Late, Covered, Waits float64 // as of PrefetchedRow; Waits in cycles
}

// PrefetchedAt returns what prefetchers do for each miss of some accesses at a point, and
// whether these missed in any of the runs: modelled over the size as PredictPrefetching
// does for groups of references.
func PrefetchedAt(runs []PrefetchedRun, point subject.Point) (perMiss PrefetchedRun, missed bool) {
	trained := make([]trainedPrefetch, len(runs))
	for i, r := range runs {
		trained[i] = trainedPrefetch{r.At, r.Without, prefetchOutcomes{left: r.Left, late: r.Late, covered: r.Covered, wait: r.Waits}}
	}
	o, missed := prefetchRatio(trained, point)
	return PrefetchedRun{At: point, Without: 1, Left: o.left, Late: o.late, Covered: o.covered, Waits: o.wait}, missed
}
