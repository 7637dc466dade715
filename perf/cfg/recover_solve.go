package cfg

import (
	"fmt"

	"presage/perf/trace"
)

// solver finds the flow along the arcs of a routine. Arithmetic is modulo 2^64,
// so that sums are exact in any order; whether the results are valid counts is
// checked at the end.
type solver struct {
	*flowSystem
	counts *RoutineCounts

	excess  []uint64      // by vertex: known inflow minus known outflow
	arrived map[int]event // by block: at its beginning
	ways    []uint8       // by block
}

// The known ways in which control from outside reaches a block's beginning.
const (
	byEntry uint8 = 1 << iota
	byReturn
	byTable
)

func newSolver(s *flowSystem, c *RoutineCounts) *solver {
	n := len(s.r.Blocks)
	*c = RoutineCounts{
		Blocks: make([]uint64, n), Edges: make([]uint64, len(s.r.Edges)), Entries: make([]uint64, len(s.r.Entries)),
		Came: make([]int64, n), Left: make([]uint64, n), Stopped: make([]uint64, n),
	}
	v := &solver{flowSystem: s, counts: c, excess: make([]uint64, 1+2*n), arrived: make(map[int]event), ways: make([]uint8, n)}
	for i := range s.arcs {
		switch a := &s.arcs[i]; a.kind {
		case entryArc:
			v.ways[(a.to-1)/2] |= byEntry
		case returnArc:
			v.ways[(a.to-1)/2] |= byReturn
		case tableArc:
			v.ways[(a.to-1)/2] |= byTable
		}
	}
	return v
}

// known consumes the events in the routine, which come first, and returns the
// rest.
func (s *solver) known(events []event) []event {
	for len(events) > 0 && uint64(events[0].PC)-s.r.Addr < s.r.Size {
		if b, i := s.r.BlockAt(uint64(events[0].PC)); b >= 0 {
			if i == 0 {
				s.atHead(b, events[0])
			} else {
				s.inside(b, i, &events[0])
			}
		}
		events = events[1:]
	}
	return events
}

// atHead handles an event at a block's beginning. Flow from outside belongs to
// its arc, if there is one.
func (s *solver) atHead(b int, e event) {
	s.arrived[b] = e
	came := e.Entered - e.Left
	switch way := s.ways[b]; {
	case way&byReturn != 0:
		came += e.escaped
	case way&byEntry != 0: // where nothing escapes to
	case way&byTable != 0:
		came += e.jumped + e.escaped
	default:
		came += e.foreign()
	}
	s.counts.Came[b] = int64(came)
	s.excess[into(b)] += came
	s.broke(b, 0, e.Broke)
}

// inside handles an event in the middle of a block.
func (s *solver) inside(b, i int, e *event) {
	came := e.Entered + e.foreign() - e.Left
	s.excess[outOf(b)] += came
	s.step(b, i, came)
	s.broke(b, i, e.Broke)
}

// broke handles executions of an instruction after which control did not go on.
func (s *solver) broke(b, i int, count uint64) {
	s.excess[outOf(b)] -= count
	if i+1 < len(s.r.Blocks[b].Insts) {
		s.step(b, i+1, -count)
	} else {
		s.counts.Stopped[b] += count
	}
}

func (s *solver) step(b, i int, delta uint64) {
	steps := s.counts.Steps
	if n := len(steps); n > 0 && steps[n-1].Block == b && steps[n-1].Inst == i {
		steps[n-1].Delta += int64(delta)
	} else if delta != 0 {
		s.counts.Steps = append(steps, Step{Block: b, Inst: i, Delta: int64(delta)})
	}
}

// jumped consumes the transfers by FlowPlan.Jumps in the routine, which come
// first, and returns the rest. A transfer along no edge is an event at its
// target.
func (s *solver) jumped(jumps []trace.JumpCount) []trace.JumpCount {
	for len(jumps) > 0 && uint64(jumps[0].Edge.From)-s.r.Addr < s.r.Size {
		j := jumps[0]
		jumps = jumps[1:]
		b, _ := s.r.BlockAt(uint64(j.Edge.From))
		if b < 0 {
			continue
		}
		s.excess[outOf(b)] -= j.Count
		if e := s.r.edgeTo(b, uint64(j.Edge.To)); e >= 0 {
			s.excess[into(s.r.Edges[e].To)] += j.Count
			s.counts.Edges[e] += j.Count
		} else {
			s.counts.Left[b] += j.Count
		}
	}
	return jumps
}

// counted sets the flow along the arcs with counters.
func (s *solver) counted(f *trace.Flow) {
	for i := range s.arcs {
		a := &s.arcs[i]
		if a.counter == inTree {
			continue
		}
		var n uint64
		switch a.kind {
		case blockArc:
			n = f.Places[a.counter]
		case tableArc:
			n = s.arrived[int(a.to-1)/2].arrived
		case returnArc:
			e := s.arrived[int(a.to-1)/2]
			n = e.arrived + e.jumped
		default:
			n = f.Edges[a.counter]
		}
		s.set(a, n)
		s.excess[a.to] += n
		s.excess[a.from] -= n
	}
}

// solve finds the flow along the arcs of the spanning forest: once all other flow
// at a vertex is known, so is the flow along its last arc. The equations left
// over at the roots serve as a check.
func (s *solver) solve() error {
	for _, t := range s.order {
		a := &s.arcs[t.arc]
		n := s.excess[t.vertex]
		if a.to == t.vertex {
			n = -n
		}
		if int64(n) < 0 {
			return s.contradiction(t.vertex)
		}
		s.set(a, n)
		s.excess[a.to] += n
		s.excess[a.from] -= n
	}
	for _, v := range s.roots {
		if s.excess[v] != 0 {
			return s.contradiction(v)
		}
	}
	return s.executed()
}

func (s *solver) contradiction(vertex int32) error {
	return fmt.Errorf("cfg: %w through %s, first seen at pc %#x: were the counters placed in this program, and was the whole run counted?",
		ErrFlow, s.r.Name, s.r.Blocks[(vertex-1)/2].PC())
}

// executed checks that no instruction of a partially executed block has a
// negative count.
func (s *solver) executed() error {
	n := int64(0)
	for i, t := range s.counts.Steps {
		if i == 0 || t.Block != s.counts.Steps[i-1].Block {
			n = int64(s.counts.Blocks[t.Block])
		}
		if n += t.Delta; n < 0 {
			return fmt.Errorf("cfg: %w through %s: pc %#x was executed %d times", ErrFlow, s.r.Name, s.r.Blocks[t.Block].Insts[t.Inst].PC, n)
		}
	}
	return nil
}

// set records the flow along an arc.
func (s *solver) set(a *arc, n uint64) {
	switch a.kind {
	case blockArc:
		s.counts.Blocks[a.index] = n
	case edgeArc, tableArc, returnArc:
		s.counts.Edges[a.index] += n
	case entryArc:
		s.counts.Entries[a.index] = n
	default:
		s.counts.Left[a.index] += n
	}
}
