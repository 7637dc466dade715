package trace

import (
	"cmp"
	"fmt"
	"slices"
)

// FlowPlan lists the transfers of control to count. An edge costs one increment
// each time it is taken; transfers that are not counted cost nothing.
//
// Counts are complete: an engine reports control that arrives or leaves other
// than by an instruction (a thread's start, a signal) in Flow.Breaks. Flow is
// therefore conserved in every basic block:
//
//	executions = edges in + arrivals + entered(first) - left(first)
//	edges out  = executions + Σ entered(later) - Σ left(later) - Σ broke(all)
//
// where first is the block's first instruction, later its others, all both,
// and a transfer by indirect jump is an edge out of the block it leaves and an
// arrival in the block it reaches (derived here). When an engine counts in
// windows, every thread enters at the beginning of a window and leaves at its end,
// so that flow is conserved in each window.
type FlowPlan struct {
	// Edges are counted individually; they ascend by From and then To, without
	// repeats. An edge leads from an instruction other than an indirect jump to
	// its constant target or to the next instruction in memory.
	Edges []Edge

	// Places are instructions whose executions are counted, ascending without
	// repeats. An execution, like a block's, is counted when it begins, even if
	// the instruction then faults.
	Places []PC

	// Quiet are the instructions, ascending without repeats, at which arrivals by
	// indirect jump are not counted. They are counted everywhere else.
	Quiet []PC

	// Jumps are indirect jumps, ascending without repeats, whose transfers are
	// counted by destination, which is slower than a counter. Their transfers
	// are not counted as arrivals.
	Jumps []PC
}

// Edge is a transfer of control from an instruction to the next one executed.
type Edge struct{ From, To PC }

// Compare orders edges by From, then To.
func (e Edge) Compare(o Edge) int {
	return cmp.Or(cmp.Compare(e.From, o.From), cmp.Compare(e.To, o.To))
}

// Flow holds an engine's counts for a FlowPlan.
type Flow struct {
	Edges    []uint64    // how often each of FlowPlan.Edges was taken
	Places   []uint64    // how often each of FlowPlan.Places was executed
	Arrivals []Arrival   // by ascending PC
	Jumps    []JumpCount // by ascending edge
	Breaks   []Break     // by ascending PC
}

// Arrival is the number of transfers by indirect jump to PC.
type Arrival struct {
	PC    PC
	Count uint64
}

// JumpCount is the number of transfers by the indirect jump Edge.From to Edge.To.
type JumpCount struct {
	Edge  Edge
	Count uint64
}

// Break counts the changes in the flow of control at an instruction other than
// transfers between instructions.
type Break struct {
	PC PC

	// Entered counts threads whose control arrived at PC other than by an
	// instruction: at the start of the program or a thread, at the entry of a
	// signal handler, on return from one.
	Entered uint64

	// Left counts threads that were about to execute PC but did not: at the end
	// of the run, or because of a signal.
	Left uint64

	// Broke counts executions of PC without a successor: faults and the
	// system calls exit and sigreturn.
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

// Break returns the Break at pc, with zero counts if there is none.
func (f *Flow) Break(pc PC) Break {
	i, ok := slices.BinarySearchFunc(f.Breaks, pc, func(b Break, pc PC) int { return cmp.Compare(b.PC, pc) })
	if !ok {
		return Break{PC: pc}
	}
	return f.Breaks[i]
}

// Arrived returns the number of counted indirect jumps to pc.
func (f *Flow) Arrived(pc PC) uint64 {
	i, ok := slices.BinarySearchFunc(f.Arrivals, pc, func(a Arrival, pc PC) int { return cmp.Compare(a.PC, pc) })
	if !ok {
		return 0
	}
	return f.Arrivals[i].Count
}
