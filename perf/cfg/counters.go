package cfg

import (
	"slices"

	"presage/perf/trace"
)

// Counters is a choice of what to count in a run of a program so that how
// often every block and edge was executed can be recovered from it: as little
// as possible, by PlaceCounters.
//
// After Marin and Mellor-Crummey 2004, section 2.2.1: counters stand on the
// edges that are not in a maximum-weight spanning tree of the control-flow
// graph, which uncountable edges begin. What is conserved here is the flow of
// control between these vertices of a routine (derived here):
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
// A call is not an edge to where it returns to: it may return never, as exit
// does and what panics, or twice, as setjmp does, or in another thread. Both
// ends of the paper's virtual edge from exit to entry are EXT: that they are
// one vertex says that what comes also goes. Flow that comes or goes in the
// middle of a block, by faults and signals, is known (trace.Flow).
//
// The arrivals at a table's targets are taken for its jump's where nothing else
// that is known leads there indirectly. Other indirect jumps, those with
// unknown targets among them, are FlowPlan.Jumps, whose flow is known.
type Counters struct {
	// Plan is what to count. It is not to be modified.
	Plan *trace.FlowPlan

	program  *Program
	routines []flowSystem // of the program's
	escapes  []escape     // by ascending edge
	watched  int          // return sites and tables' targets where arrivals are counted
}

// escape is a direct transfer to a place that is no entry, though it is not in
// the routine: the graph lacks what is there, or does not know that control
// comes there. It is always counted, so that nothing happens unseen.
type escape struct {
	edge    trace.Edge
	counter int32
}

// PlaceCounters places the fewest counters, where they are expected to count
// the least. From the same program it makes the same choice.
func PlaceCounters(p *Program) *Counters { return newCounters(p, false) }

// newCounters places counters: the fewest, or, to compare with, all that there
// can be.
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

// index puts the plan in order and tells the arcs where their counters are.
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
