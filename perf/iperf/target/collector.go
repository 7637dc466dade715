package target

import (
	"fmt"

	"presage/perf/trace"
)

// Collector times the blocks and references of its plan and nothing else, so a
// plan of one routine's blocks times that routine.
//
// A block's instructions are spread evenly around its accesses. All threads
// share one processor, in the order of the batches.
type Collector struct {
	p       *Processor
	writes  []bool    // by reference
	refs    []int     // by block
	between []float64 // instructions around each access, by block
	failed  error
}

// NewCollector returns a collector for a plan, which must record the blocks to
// time, with all their references.
func NewCollector(plan *trace.Plan, c Config) (*Collector, error) {
	if err := plan.Check(); err != nil {
		return nil, err
	}
	if len(plan.Blocks) == 0 {
		return nil, fmt.Errorf("target: the plan records no blocks: instructions could not be counted")
	}
	p, err := New(c)
	if err != nil {
		return nil, err
	}
	out := &Collector{p: p}
	for _, r := range plan.Refs {
		out.writes = append(out.writes, r.Kind.Writes())
	}
	refs := 0
	for _, b := range plan.Blocks {
		out.between = append(out.between, float64(b.Instructions)/float64(b.Refs+1))
		out.refs = append(out.refs, int(b.Refs))
		refs += int(b.Refs)
	}
	if refs != len(plan.Refs) {
		return nil, fmt.Errorf("target: the plan's blocks hold %d references, but it records %d", refs, len(plan.Refs))
	}
	return out, nil
}

// Observe implements trace.Collector.
func (c *Collector) Observe(b *trace.Batch) {
	next := 0
	for _, id := range b.Blocks {
		between := c.between[id]
		c.p.Execute(between)
		for range c.refs[id] {
			if next == len(b.Accesses) {
				break // a fault ended the block
			}
			c.access(b.Accesses[next])
			next++
			c.p.Execute(between)
		}
	}
	if next != len(b.Accesses) && c.failed == nil {
		c.failed = fmt.Errorf("target: a batch has %d accesses, its blocks %d", len(b.Accesses), next)
	}
}

func (c *Collector) access(a trace.Access) {
	if c.writes[a.Ref()] {
		c.p.Store(a.Addr())
	} else {
		c.p.Load(a.Addr())
	}
}

// Result returns the time of everything observed.
func (c *Collector) Result() (Result, error) {
	return Result{Seconds: c.p.Seconds(), Counts: c.p.Counts()}, c.failed
}

var _ trace.Collector = (*Collector)(nil)
