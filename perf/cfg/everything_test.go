package cfg

import "presage/perf/trace"

// countEverything places every possible counter; the recovered counts must be the
// same.
func countEverything(p *Program) *Counters { return newCounters(p, true) }

// unforeseen returns, in ascending order, the places in routines where a run
// reached code that the graph does not have.
func (c *Counters) unforeseen(f *trace.Flow) []trace.PC {
	list, _ := c.beyond(c.events(f))
	return list
}
