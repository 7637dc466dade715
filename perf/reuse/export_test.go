package reuse

import "presage/perf/trace"

// NewCut is New with workers that begin a new chunk after some bytes of batches.
func NewCut(plan *trace.Plan, opt Options, bytes int) (*Collector, error) {
	return newCollector(plan, opt, tuning{window: 1000, cut: bytes})
}
