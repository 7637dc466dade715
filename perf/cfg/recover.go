package cfg

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"presage/perf/trace"
)

// Errors of Counters.Recover, for errors.Is.
var (
	// ErrUnforeseen says that the program executed code that its graph lacks.
	// Complete the program with the run's flow, place counters again, and run
	// again.
	ErrUnforeseen = errors.New("code executed that the control-flow graph does not have")

	// ErrFlow says that the counts contradict the graph: the flow into a block
	// differs from the flow out of it.
	ErrFlow = errors.New("flow of control is not conserved")

	// ErrUncharted is a warning that the program executed code in no routine. If
	// that code jumps directly into the middle of a routine, the routine's counts
	// are wrong, unless the contradiction is detected.
	ErrUncharted = errors.New("code executed that is in no routine")
)

// Counts is how often everything in a program was executed.
type Counts struct {
	Routines []RoutineCounts // of Program.Routines
	Warnings []error         // of kind ErrUncharted
}

// RoutineCounts is how often everything in a routine was executed. For every
// block b,
//
//	Blocks[b] = Σ Edges that arrive + Entries, if it is one + Came[b]
//	Blocks[b] + Σ Steps[…].Delta in b = Σ Edges that leave, but calls' + Left[b] + Stopped[b]
type RoutineCounts struct {
	// Blocks are how often each block was begun, even if not completed: the
	// executions of its first instruction, even if it faulted.
	Blocks []uint64

	// Edges are how often each edge was taken. The edge of a call was taken as
	// often as an indirect jump led to its return site: once for each return
	// there, including the second one of setjmp, whoever made the call; never
	// for calls that did not return. A branch to the next instruction has two
	// parallel edges, of which the first counts both.
	Edges []uint64

	// Entries are how often calls, including recursive ones, and jumps from
	// outside the routine led to each of Routine.Entries.
	Entries []uint64

	// Came is how often control arrived at each block's beginning other than by
	// an edge or entry, minus how often it was taken away there: the start of a
	// thread or signal handler, the resumption of an interrupted thread, a caught
	// exception. Usually zero.
	Came []int64

	// Left are how often control went from the end of each block to outside
	// the routine: calls, returns, jumps.
	Left []uint64

	// Stopped are how often control ended with each block: its last instruction
	// faulted, or was a system call like exit.
	Stopped []uint64

	// Steps list the partial executions of blocks, by ascending Block, Inst.
	Steps []Step
}

// Step says that the instructions of Block from Inst on were executed Delta times
// more than those before, because control entered or left in the middle of the
// block, at a fault or a signal.
type Step struct {
	Block, Inst int // Inst from 1
	Delta       int64
}

// Insts returns, in dst if it is large enough, how often each instruction of
// block b of the routine r was executed.
func (c *RoutineCounts) Insts(dst []uint64, r *Routine, b int) []uint64 {
	dst = dst[:0]
	i, _ := slices.BinarySearchFunc(c.Steps, b, func(s Step, b int) int { return cmp.Compare(s.Block, b) })
	n := c.Blocks[b]
	for k := range r.Blocks[b].Insts {
		for ; i < len(c.Steps) && c.Steps[i].Block == b && c.Steps[i].Inst == k; i++ {
			n += uint64(c.Steps[i].Delta)
		}
		dst = append(dst, n)
	}
	return dst
}

// beyond returns the places of events that the graph lacks: in routines, and
// elsewhere in the program's code. It ignores code outside the program, such as
// the trampoline that returns from signal handlers.
func (c *Counters) beyond(events []event) (unforeseen, uncharted []trace.PC) {
	for _, e := range events {
		pc := uint64(e.PC)
		if e.Break == (trace.Break{PC: e.PC}) && e.foreign() == 0 {
			continue
		}
		if r := c.program.RoutineAt(pc); r != nil {
			if b, _ := r.BlockAt(pc); b < 0 {
				unforeseen = append(unforeseen, e.PC)
			}
		} else if s := c.program.File.SegmentAt(pc); s != nil && s.Execute {
			uncharted = append(uncharted, e.PC)
		}
	}
	return unforeseen, uncharted
}

// event is the flow of control at a place that no edge of the graph accounts for.
type event struct {
	trace.Break
	arrived uint64 // by indirect jump
	jumped  uint64 // by one of FlowPlan.Jumps, along no edge
	escaped uint64 // by direct transfer: see escape
}

// foreign returns how often control arrived, not counting signals and threads.
func (e *event) foreign() uint64 { return e.arrived + e.jumped + e.escaped }

// events lists the events of a run, by ascending place.
func (c *Counters) events(f *trace.Flow) []event {
	var list []event
	for _, b := range f.Breaks {
		list = append(list, event{Break: b})
	}
	for _, a := range f.Arrivals {
		list = append(list, event{Break: trace.Break{PC: a.PC}, arrived: a.Count})
	}
	for _, j := range f.Jumps {
		if !c.foreseen(j.Edge) {
			list = append(list, event{Break: trace.Break{PC: j.Edge.To}, jumped: j.Count})
		}
	}
	for _, e := range c.escapes {
		if n := f.Edges[e.counter]; n > 0 {
			list = append(list, event{Break: trace.Break{PC: e.edge.To}, escaped: n})
		}
	}
	slices.SortFunc(list, func(a, b event) int { return cmp.Compare(a.PC, b.PC) })
	merged := list[:0]
	for _, e := range list {
		if n := len(merged); n > 0 && merged[n-1].PC == e.PC {
			m := &merged[n-1]
			m.Entered, m.Left, m.Broke = m.Entered+e.Entered, m.Left+e.Left, m.Broke+e.Broke
			m.arrived, m.jumped, m.escaped = m.arrived+e.arrived, m.jumped+e.jumped, m.escaped+e.escaped
			continue
		}
		merged = append(merged, e)
	}
	return merged
}

// foreseen reports whether a transfer by one of FlowPlan.Jumps is an edge.
func (c *Counters) foreseen(t trace.Edge) bool {
	r := c.program.RoutineAt(uint64(t.From))
	if r == nil {
		return false
	}
	b, _ := r.BlockAt(uint64(t.From))
	return b >= 0 && r.edgeTo(b, uint64(t.To)) >= 0
}

// edgeTo returns the first edge from block b to the one at pc, or -1.
func (r *Routine) edgeTo(b int, pc uint64) int {
	for _, e := range r.Blocks[b].Succs {
		if r.Blocks[r.Edges[e].To].PC() == pc {
			return e
		}
	}
	return -1
}

// Recover returns how often everything was executed, from the counts of a run,
// complete or ended by a limit, in time linear in the size of the program. It
// fails if the counts contradict the graph.
func (c *Counters) Recover(f *trace.Flow) (*Counts, error) {
	if len(f.Edges) != len(c.Plan.Edges) || len(f.Places) != len(c.Plan.Places) {
		return nil, fmt.Errorf("cfg: %d edges and %d places were counted, %d and %d planned: was the flow counted for this plan?",
			len(f.Edges), len(f.Places), len(c.Plan.Edges), len(c.Plan.Places))
	}
	events := c.events(f)
	unforeseen, uncharted := c.beyond(events)
	if n := len(unforeseen); n > 0 {
		pc := uint64(unforeseen[0])
		return nil, fmt.Errorf("cfg: %w, at %d places, the first at pc %#x in %s: analyse the program with these known", ErrUnforeseen, n, pc, c.program.RoutineAt(pc).Name)
	}
	counts := &Counts{Routines: make([]RoutineCounts, len(c.routines))}
	if n := len(uncharted); n > 0 {
		counts.Warnings = append(counts.Warnings, fmt.Errorf("cfg: %w, at %d places, the first at pc %#x", ErrUncharted, n, uint64(uncharted[0])))
	}
	jumps := f.Jumps // by ascending place of the jump
	for i := range c.routines {
		r := c.program.Routines[i]
		s := newSolver(&c.routines[i], &counts.Routines[i])
		events = s.known(behind(events, r.Addr, func(e event) trace.PC { return e.PC }))
		jumps = s.jumped(behind(jumps, r.Addr, func(j trace.JumpCount) trace.PC { return j.Edge.From }))
		s.counted(f)
		if err := s.solve(); err != nil {
			return nil, err
		}
	}
	return counts, nil
}

// behind drops the elements of list before an address.
func behind[T any](list []T, addr uint64, pc func(T) trace.PC) []T {
	for len(list) > 0 && uint64(pc(list[0])) < addr {
		list = list[1:]
	}
	return list
}
