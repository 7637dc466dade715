// Package works lists the kinds of jobs that a worker can do, from the packages that
// define them.
package works

import (
	"slices"

	"presage/perf/anatomy"
	"presage/perf/campaign"
	"presage/perf/locality"
	"presage/perf/misses"
	"presage/perf/phase"
	"presage/perf/study/inferred"
	"presage/perf/study/sparse"
	"presage/perf/timing"
)

// All returns all kinds of jobs.
func All() []campaign.Work {
	return slices.Concat(locality.Work(), anatomy.Work(), misses.Work(), timing.Work(), phase.Work(), inferred.Work(), sparse.Work())
}
