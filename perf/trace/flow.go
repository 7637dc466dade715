package trace

import (
	"cmp"
	"fmt"
	"slices"
)

// FlowPlan asks for transfers of control to be counted. What it does not ask
// for costs nothing; an edge costs one increment each time it is taken.
//
// Counting is by thread of control, and whole: what a FlowPlan cannot name,
// because control came or went in a way that no instruction shows, an engine
// reports in Flow.Breaks. So flow is conserved: of every basic block,
//
//	executions = edges in + arrivals + entered(first) - left(first)
//	edges out  = executions + Σ entered(later) - Σ left(later) - Σ broke(all)
//
// where first is the block's first instruction, later its others, all both,
// and a transfer by indirect jump is an edge out of the block it leaves and an
// arrival in the block it reaches (derived here). An engine that counts in
// windows of a run has every thread enter at the beginning of one and leave at
// its end, so that flow is conserved in each.
type FlowPlan struct {
	// Edges are counted one by one, ascending by From and then To without
	// repeats. An edge leads from an instruction that is no indirect jump to
	// its constant target or to the one after it in memory.
	Edges []Edge

	// Places are instructions whose executions are counted, ascending without
	// repeats. An execution counts once it begins, like a block's, even if
	// the instruction then faults.
	Places []PC

	// Quiet are the places, ascending without repeats, where arrivals by
	// indirect jump are not counted. Everywhere else they are.
	Quiet []PC

	// Jumps are indirect jumps, ascending without repeats, each of whose
	// transfers is counted by where it leads: slower than a counter. They are
	// not among the arrivals.
	Jumps []PC
}

// Edge is a transfer of control from an instruction to one that comes next in
// time.
type Edge struct{ From, To PC }

// Compare orders edges by From, then To.
func (e Edge) Compare(o Edge) int {
	return cmp.Or(cmp.Compare(e.From, o.From), cmp.Compare(e.To, o.To))
}

// Flow is what an engine counted for a FlowPlan.
type Flow struct {
	Edges    []uint64    // how often each of FlowPlan.Edges was taken
	Places   []uint64    // how often each of FlowPlan.Places was executed
	Arrivals []Arrival   // by ascending PC
	Jumps    []JumpCount // by ascending edge
	Breaks   []Break     // by ascending PC
}

// Arrival counts the transfers by indirect jump to PC.
type Arrival struct {
	PC    PC
	Count uint64
}

// JumpCount counts the transfers by the indirect jump Edge.From to Edge.To.
type JumpCount struct {
	Edge  Edge
	Count uint64
}

// Break counts what happened at an instruction to the flow of control that is
// no transfer between instructions.
type Break struct {
	PC PC

	// Entered counts threads that came to PC from nowhere: a program's or a
	// thread's start, a signal's handler, the return from one.
	Entered uint64

	// Left counts threads that were about to execute PC and did not: at the
	// end of the run, at a signal.
	Left uint64

	// Broke counts executions of PC that control did not go on from: those
	// that faulted, and the system calls exit and sigreturn.
	Broke uint64
}

func (p *FlowPlan) check() error {
	for i, e := range p.Edges {
		if i > 0 && p.Edges[i-1].Compare(e) >= 0 {
			return fmt.Errorf("trace: plan edge %d from pc %#x to %#x does not follow the one before", i, uint64(e.From), uint64(e.To))
		}
	}
	for _, l := range []struct {
		what string
		pcs  []PC
	}{{"place", p.Places}, {"quiet place", p.Quiet}, {"indirect jump", p.Jumps}} {
		for i, pc := range l.pcs {
			if i > 0 && l.pcs[i-1] >= pc {
				return fmt.Errorf("trace: plan %s %d at pc %#x does not follow pc %#x", l.what, i, uint64(pc), uint64(l.pcs[i-1]))
			}
		}
	}
	return nil
}

// Break returns what happened at pc; the zero Break, with PC, if nothing did.
func (f *Flow) Break(pc PC) Break {
	i, ok := slices.BinarySearchFunc(f.Breaks, pc, func(b Break, pc PC) int { return cmp.Compare(b.PC, pc) })
	if !ok {
		return Break{PC: pc}
	}
	return f.Breaks[i]
}

// Arrived returns how often an indirect jump led to pc, as far as counted.
func (f *Flow) Arrived(pc PC) uint64 {
	i, ok := slices.BinarySearchFunc(f.Arrivals, pc, func(a Arrival, pc PC) int { return cmp.Compare(a.PC, pc) })
	if !ok {
		return 0
	}
	return f.Arrivals[i].Count
}
