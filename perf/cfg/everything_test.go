package cfg

import "presage/perf/trace"

// countEverything counts all that can be counted: what is recovered from it is
// the same.
func countEverything(p *Program) *Counters { return newCounters(p, true) }

// unforeseen returns where a run came to code of routines that the graph does
// not have, ascending.
func (c *Counters) unforeseen(f *trace.Flow) []trace.PC {
	list, _ := c.beyond(c.events(f))
	return list
}
