package cfg

import (
	"slices"

	"presage/perf/isa"
	"presage/perf/trace"
)

// flowSystem is the flow of control through a routine: see Counters. Vertex 0
// is EXT, 1+2b is in(b), 2+2b is out(b).
type flowSystem struct {
	r     *Routine
	arcs  []arc
	jumps []int // blocks whose indirect jumps are in FlowPlan.Jumps, ascending

	// order lists the arcs of the spanning forest in the order of peeling: those
	// at leaves first, then those at the leaves of what remains, and so on.
	order []treeArc

	// roots are the vertices that remain at the end, except EXT: the equation of
	// each follows from those of the vertices connected to it.
	roots []int32
}

const external = 0

func into(b int) int32  { return int32(1 + 2*b) }
func outOf(b int) int32 { return int32(2 + 2*b) }

// arc is an edge of the flow system.
type arc struct {
	from, to int32 // vertices
	index    int32 // see arcKind
	counter  int32 // index in Flow.Edges or Flow.Places; or inTree
	kind     arcKind
	escapes  bool // see escape
}

const inTree = -1

// arcKind says what an arc stands for, and what its index refers to.
type arcKind uint8

const (
	blockArc  arcKind = iota // a block
	edgeArc                  // the first of one or two parallel edges
	tableArc                 // an edge
	returnArc                // an edge: a call's
	targetArc                // a block: its last instruction's target is elsewhere
	nextArc                  // a block: what follows its last instruction is elsewhere
	goneArc                  // a block: control leaves it in no countable way
	entryArc                 // an entry, as index of Routine.Entries
)

func (a *arc) byArrival() bool { return a.kind == tableArc || a.kind == returnArc }

// countable reports whether a counter can count an arc.
func (a *arc) countable() bool { return a.kind != goneArc && a.kind != entryArc }

// head returns the place of the block that an arc leads to or through.
func (s *flowSystem) head(a *arc) trace.PC {
	return trace.PC(s.r.Blocks[(a.to-1)/2].PC())
}

// transfer returns the transfer that an arc stands for.
func (s *flowSystem) transfer(a *arc) trace.Edge {
	last := s.r.Blocks[(a.from-1)/2].Last()
	e := trace.Edge{From: trace.PC(last.PC)}
	switch a.kind {
	case targetArc:
		e.To = trace.PC(last.Target)
	case nextArc:
		e.To = trace.PC(last.Next())
	default:
		e.To = s.head(a)
	}
	return e
}

// returnsTo reports whether block b is the return site of a call.
func (s *flowSystem) returnsTo(b int) bool {
	return slices.ContainsFunc(s.r.Blocks[b].Preds, func(e int) bool { return s.r.Edges[e].Kind == CallReturn })
}

// systemBuilder finds the arcs of a routine.
type systemBuilder struct {
	*flowSystem
	w          *Weights
	weights    []float64       // by arc
	entries    map[uint64]bool // of all routines, by address
	everything bool
}

func (s *systemBuilder) add(kind arcKind, index int, from, to int32, weight float64) {
	s.arcs = append(s.arcs, arc{from: from, to: to, index: int32(index), counter: inTree, kind: kind})
	s.weights = append(s.weights, weight)
}

func (s *systemBuilder) build() {
	for i, b := range s.r.Entries {
		s.add(entryArc, i, external, into(b), 0)
	}
	for b := range s.r.Blocks {
		s.add(blockArc, b, into(b), outOf(b), s.w.Blocks[b])
		s.leave(b)
	}
}

// leave adds the arcs that leave block b.
func (s *systemBuilder) leave(b int) {
	block := &s.r.Blocks[b]
	last := block.Last()
	if block.Exit == Traps {
		s.goesOn(b, last)
		return
	}
	switch last.Class {
	case isa.IndirectJump:
		s.indirect(b)
		return
	case isa.Return:
		s.add(goneArc, b, outOf(b), external, 0)
	case isa.Call:
		s.call(b)
	case isa.Branch:
		if !s.leads(b, Taken) {
			s.elsewhere(targetArc, b, last.Target)
		}
		if !s.leads(b, Falls) && last.Target != last.Next() {
			s.elsewhere(nextArc, b, last.Next())
		}
	case isa.Jump:
		if len(block.Succs) == 0 {
			s.elsewhere(targetArc, b, last.Target)
		}
	default:
		if len(block.Succs) == 0 {
			s.elsewhere(nextArc, b, last.Next())
		}
	}
	s.follow(b)
}

// goesOn adds the arcs of an instruction that was expected to trap, for the case that
// it does not.
func (s *systemBuilder) goesOn(b int, last *isa.Inst) {
	switch last.Class {
	case isa.Breakpoint:
	case isa.IndirectJump:
		s.jumps = append(s.jumps, b)
	case isa.Call:
		s.add(goneArc, b, outOf(b), external, 0)
	default:
		s.elsewhere(nextArc, b, last.Next())
	}
}

// follow adds the arcs of the edges of block b, and of its call's return site.
func (s *systemBuilder) follow(b int) {
	before := -1
	for _, e := range s.r.Blocks[b].Succs {
		switch to := s.r.Edges[e].To; {
		case s.r.Edges[e].Kind == CallReturn:
			s.add(returnArc, e, external, into(to), s.w.Edges[e])
		case to == before:
			s.weights[len(s.weights)-1] += s.w.Edges[e]
		default:
			s.add(edgeArc, e, outOf(b), into(to), s.w.Edges[e])
			before = to
		}
	}
}

func (s *systemBuilder) leads(b int, kind EdgeKind) bool {
	return slices.ContainsFunc(s.r.Blocks[b].Succs, func(e int) bool { return s.r.Edges[e].Kind == kind })
}

// elsewhere adds a direct transfer from block b out of the routine.
func (s *systemBuilder) elsewhere(kind arcKind, b int, to uint64) {
	s.add(kind, b, outOf(b), external, s.w.Leaves[b])
	s.arcs[len(s.arcs)-1].escapes = !s.entries[to]
}

// call adds the transfer to the callee of block b. A call that reads no register
// is direct; indirect calls are counted at their targets.
func (s *systemBuilder) call(b int) {
	last := s.r.Blocks[b].Last()
	if last.HasTarget && len(last.Uses()) == 0 && !s.entries[last.Target] {
		s.elsewhere(targetArc, b, last.Target)
		return
	}
	s.add(goneArc, b, outOf(b), external, 0)
}

// indirect adds the arcs of the indirect jump at the end of block b, none if it
// is one of FlowPlan.Jumps.
func (s *systemBuilder) indirect(b int) {
	block := &s.r.Blocks[b]
	switch {
	case !s.everything && block.Last().HasTarget && len(block.Succs) == 0:
		s.add(goneArc, b, outOf(b), external, 0)
	case s.everything || block.Exit != Stays || !s.alone(b):
		s.jumps = append(s.jumps, b)
	default:
		for _, e := range block.Succs {
			s.add(tableArc, e, outOf(b), into(s.r.Edges[e].To), s.w.Edges[e])
		}
	}
}

// alone reports whether no other indirect transfer leads to the targets of the
// indirect jump at the end of block b.
func (s *systemBuilder) alone(b int) bool {
	for _, e := range s.r.Blocks[b].Succs {
		to := s.r.Edges[e].To
		if slices.Contains(s.r.Entries, to) {
			return false
		}
		for _, p := range s.r.Blocks[to].Preds {
			from := s.r.Edges[p].From
			if s.r.Edges[p].Kind == CallReturn || p != e && s.r.Blocks[from].Last().Class == isa.IndirectJump {
				return false
			}
		}
	}
	return true
}
