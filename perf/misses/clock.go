package misses

import (
	"context"

	"presage/perf/cache"
	"presage/perf/machine"
	"presage/perf/subject"
)

// Timing says how time is told where prefetchers are simulated, so that late prefetches
// are told from those in time. The zero value counts accesses, one in a cycle.
type Timing struct {
	// AccessesPerCycle turns latencies into the program's accesses; 0: 1.
	AccessesPerCycle float64
	// Clock, if not nil, returns the cycles at which a run makes its accesses, by its
	// program's plan, and AccessesPerCycle is not regarded. See timing.Clock.
	Clock func(ctx context.Context, prog *subject.Program, in subject.Inputs) (*cache.Clock, error)
}

// Config returns a machine's hierarchy with its prefetchers for a run, and what was
// assumed. It returns machine.ErrNoPrefetchers if the description has none.
func (t *Timing) Config(ctx context.Context, m *machine.Machine, prog *subject.Program, in subject.Inputs) (*machine.PrefetchConfig, error) {
	if t.Clock == nil {
		return m.Prefetching(t.AccessesPerCycle)
	}
	c, err := m.Prefetching(1)
	if err != nil {
		return nil, err
	}
	c.Prefetching.Clock, err = t.Clock(ctx, prog, in)
	return c, err
}

// Cycles returns the cycles of a wait that a simulation counted.
func (t *Timing) Cycles(wait float64) float64 {
	if t.Clock == nil && t.AccessesPerCycle > 0 {
		return wait / t.AccessesPerCycle
	}
	return wait
}
