package access

import (
	"cmp"
	"slices"

	"presage/perf/trace"
)

// StrideObserver observes in a run the strides that have no formula, those that are
// Irregular or Indirect. It follows loops as a Checker does: a step is the difference
// between the first address in an iteration of a loop and the first one in the iteration
// before, or in the last one that had any, of the same execution of the loop, with all
// loops in between in their first iteration. Of an instruction that accesses several
// elements, such as a gather, the first counts. Traffic of the stack is not observed.
//
// The run must use the observer's own Plan, and the observer must see every batch.
type StrideObserver struct{ follower *Checker }

// ObservedStride is the most frequent step of a reference in a loop. The zero
// ObservedStride is that of a stride that has a formula, or that no run showed.
type ObservedStride struct {
	Stride int64 // bytes; negative: towards lower addresses

	// Share is how many of the Steps were Stride, 0 to 1. It is never too high, and too
	// low by 1/16 at most. No other step was taken more often by more than a 16th of
	// Steps.
	Share float64
	Steps uint64 // over all executions of the loop

	// Exact says that Share is not too low, and that no step is more frequent: always so
	// of up to 16 different steps, and mostly where Share is high.
	Exact bool
}

// ObservedReference is what a run showed of a reference.
type ObservedReference struct {
	Index    int              // in Analysis.All
	Accesses uint64           // more than executions of an instruction that accesses several elements
	Strides  []ObservedStride // like Reference.Strides
}

// NewStrideObserver returns a StrideObserver for the program of an analysis.
func NewStrideObserver(a *Analysis) *StrideObserver {
	return &StrideObserver{newFollower(a, func(r *Reference) bool { return r.Stack == NotStack && !r.Regular() })}
}

// Plan returns what the run must record: all blocks of the control-flow graphs, and the
// references in them of which a stride has no formula.
func (o *StrideObserver) Plan() *trace.Plan { return o.follower.Plan() }

// Observe implements trace.Collector.
func (o *StrideObserver) Observe(b *trace.Batch) { o.follower.Observe(b) }

var _ trace.Collector = (*StrideObserver)(nil)

// Result returns the executed references so far of which a stride has no formula, in the
// order of Analysis.All.
func (o *StrideObserver) Result() []ObservedReference {
	var list []ObservedReference
	for i := range o.follower.refs {
		c := &o.follower.refs[i]
		if c.executions == 0 {
			continue
		}
		ref := ObservedReference{Index: c.index, Accesses: c.executions, Strides: make([]ObservedStride, len(c.levels))}
		for k := range c.levels {
			if s := c.levels[k].steps; s != nil {
				ref.Strides[k] = s.most()
			}
		}
		list = append(list, ref)
	}
	slices.SortFunc(list, func(a, b ObservedReference) int { return cmp.Compare(a.Index, b.Index) })
	return list
}
