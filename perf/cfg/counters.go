package cfg

import (
	"slices"

	"presage/perf/trace"
)

// Counters is a placement of counters from which the execution count of every
// block and edge in a run can be recovered. PlaceCounters makes a minimal one.
//
// After Marin and Mellor-Crummey 2004, section 2.2.1: the counters are on the
// edges outside a maximum-weight spanning tree of the control-flow graph; the
// tree is built starting from the uncountable edges. Flow of control is conserved
// at these vertices of a routine (derived here):
//
//	EXT     everything outside the routine
//	in(b)   where control comes to block b
//	out(b)  where control leaves block b
//
// along these arcs:
//
//	in(b)  → out(b)  block b is executed              counted as a Place
//	out(a) → in(b)   branch, jump, restart, or none   counted as an Edge
//	out(a) → in(b)   indirect jump by a table         counted by arrivals at b
//	out(a) → EXT     branch or jump to elsewhere      counted as an Edge
//	out(a) → EXT     call, return                     uncountable
//	EXT    → in(b)   entry: calls of it, jumps to it  uncountable
//	EXT    → in(b)   a call returns to b              counted by arrivals at b
//
// A call is not an edge to its return site: it may never return, like exit or a
// call that panics, or return twice, like setjmp, or in another thread. The
// paper's virtual edge from exit to entry is replaced by merging both ends into
// the one vertex EXT: all flow that enters also leaves. Flow that starts or ends
// in the middle of a block, through faults and signals, is known (trace.Flow).
//
// Arrivals at the targets of a jump table are attributed to its jump if no other
// indirect transfer is known to lead there. All other indirect jumps, including
// those with unknown targets, are in FlowPlan.Jumps, which record their flow.
type Counters struct {
	// Plan is what to count. It must not be modified.
	Plan *trace.FlowPlan

	program  *Program
	routines []flowSystem // of the program's
	escapes  []escape     // by ascending edge
	watched  int          // return sites and tables' targets where arrivals are counted
}

// escape is a direct transfer out of the routine to a place that is not an entry:
// the graph lacks the code there, or does not know that control reaches it. It
// is always counted, so that no such transfer goes unnoticed.
type escape struct {
	edge    trace.Edge
	counter int32
}

// PlaceCounters places the fewest possible counters, where they are expected to
// be incremented least. It is deterministic.
func PlaceCounters(p *Program) *Counters { return newCounters(p, false) }

// newCounters places counters: a minimal set or, for comparison, every possible
// one.
func newCounters(p *Program, everything bool) *Counters {
	c := &Counters{Plan: new(trace.FlowPlan), program: p, routines: make([]flowSystem, len(p.Routines))}
	entries := make(map[uint64]bool)
	for _, r := range p.Routines {
		for _, b := range r.Entries {
			entries[r.Blocks[b].PC()] = true
		}
	}
	for i, r := range p.Routines {
		s := &c.routines[i]
		s.r = r
		b := systemBuilder{flowSystem: s, w: r.Weigh(), entries: entries, everything: everything}
		b.build()
		s.span(b.weights, everything)
		c.plan(s, everything)
	}
	c.index()
	return c
}

// plan adds what a routine needs counted.
func (c *Counters) plan(s *flowSystem, everything bool) {
	p := c.Plan
	for k := range s.arcs {
		a := &s.arcs[k]
		counted := a.counter != inTree
		switch {
		case a.kind == blockArc && counted:
			p.Places = append(p.Places, s.head(a))
		case a.kind == entryArc && !everything && !s.returnsTo(s.r.Entries[a.index]), a.byArrival() && !counted:
			p.Quiet = append(p.Quiet, s.head(a))
		case a.byArrival():
			c.watched++
		case counted:
			p.Edges = append(p.Edges, s.transfer(a))
		}
		if a.escapes {
			c.escapes = append(c.escapes, escape{edge: s.transfer(a)})
		}
	}
	for _, b := range s.jumps {
		p.Jumps = append(p.Jumps, trace.PC(s.r.Blocks[b].Last().PC))
	}
}

// index sorts the plan and gives each arc the index of its counter.
func (c *Counters) index() {
	p := c.Plan
	slices.SortFunc(p.Edges, trace.Edge.Compare)
	for _, list := range [][]trace.PC{p.Places, p.Quiet, p.Jumps} {
		slices.Sort(list)
	}
	edge := func(e trace.Edge) int32 {
		i, _ := slices.BinarySearchFunc(p.Edges, e, trace.Edge.Compare)
		return int32(i)
	}
	for i := range c.routines {
		s := &c.routines[i]
		for k := range s.arcs {
			switch a := &s.arcs[k]; {
			case a.counter == inTree || a.byArrival():
			case a.kind == blockArc:
				at, _ := slices.BinarySearch(p.Places, s.head(a))
				a.counter = int32(at)
			default:
				a.counter = edge(s.transfer(a))
			}
		}
	}
	for i := range c.escapes {
		c.escapes[i].counter = edge(c.escapes[i].edge)
	}
}
