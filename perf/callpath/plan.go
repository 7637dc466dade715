package callpath

import (
	"strings"

	"presage/perf/cfg"
	"presage/perf/isa"
	"presage/perf/locality"
	"presage/perf/objfile"
	"presage/perf/subject"
	"presage/perf/trace"
)

// ending is how control leaves a block.
type ending uint8

const (
	runsOn  ending = iota // to a block of the same routine
	calls                 // a routine
	returns               // to a caller
	jumps                 // to a target that is constant
	departs               // to a target that is not
)

// place is what the walker knows of a block.
type place struct {
	pc      trace.PC // of the first instruction
	last    trace.PC // of the last
	next    trace.PC // after it
	target  trace.PC // of a call or jump; 0: not constant
	routine int32    // index in code.routines
	ends    ending
	entry   bool // a routine's first, or the target of calls
	header  bool // of stubs whose target is not known yet: it leads to what looks that up

	from, to int32 // memo: the child of a node that this block called last
}

// code is what a walker knows of a program.
type code struct {
	plan     *trace.Plan
	places   []place // by trace.BlockID
	at       []locality.BlockPlace
	routines int      // their number, and one for code that no graph holds
	stub     []bool   // routines that are left out of paths
	start    trace.PC // of the program
}

// newCode returns that of a program, with the plan of all's references and the blocks
// that it takes.
func newCode(prog *subject.Program, all *trace.Plan) (*code, error) {
	graph := prog.Structure().Graph
	entries := entriesOf(graph)
	// An engine may take a block that is not in the plan for a part of the one before it,
	// so that all are.
	blocked, err := locality.WithBlocks(prog, all, func(int, int) bool { return true })
	if err != nil {
		return nil, err
	}
	plan, at := blocked.Plan, blocked.At
	c := &code{plan: plan, at: at, places: make([]place, len(at)), routines: len(graph.Routines) + 1, start: trace.PC(prog.File.Entry)}
	for i := range at {
		c.places[i] = placeOf(graph, plan.Blocks[i].PC, at[i], entries)
	}
	c.stub = make([]bool, c.routines)
	for i, r := range graph.Routines {
		c.stub[i] = isStub(prog, r)
	}
	for i := range c.places {
		p := &c.places[i]
		s := stubsAt(prog, uint64(p.pc))
		p.header = s != nil && p.ends == departs && (at[i].Block < 0 || uint64(p.pc) == s.Addr)
	}
	c.stub[c.routines-1] = true // for all code that no graph holds
	return c, nil
}

// entriesOf returns where routines begin, and what is called or jumped to from others.
func entriesOf(graph *cfg.Program) map[uint64]bool {
	entries := make(map[uint64]bool)
	for _, r := range graph.Routines {
		if len(r.Entries) > 0 {
			entries[r.Blocks[r.Entries[0]].PC()] = true
		}
		for b := range r.Blocks {
			if last := r.Blocks[b].Last(); last.HasTarget && last.Class == isa.Call {
				entries[last.Target] = true
			}
		}
	}
	return entries
}

// placeOf returns the place of a block of a plan.
func placeOf(graph *cfg.Program, pc trace.PC, at locality.BlockPlace, entries map[uint64]bool) place {
	p := place{pc: pc, last: pc, routine: int32(at.Routine), ends: departs, from: none}
	if at.Block < 0 {
		return p
	}
	r := graph.Routines[at.Routine]
	last := r.Blocks[at.Block].Last()
	p.last, p.next, p.entry = trace.PC(last.PC), trace.PC(last.Next()), entries[uint64(pc)]
	if last.HasTarget {
		p.target = trace.PC(last.Target)
	}
	switch last.Class {
	case isa.Call:
		p.ends = calls
	case isa.Return:
		p.ends = returns
	case isa.IndirectJump:
		p.ends = departs
	case isa.Jump, isa.Branch:
		p.ends = runsOn
		if to := graph.RoutineAt(last.Target); last.HasTarget && to != r {
			p.ends = jumps
		}
	default:
		p.ends = runsOn
	}
	return p
}

// isStub reports whether a routine is a stub of the procedure linkage table.
func isStub(prog *subject.Program, r *cfg.Routine) bool {
	if strings.HasSuffix(r.Name, "@plt") {
		return true
	}
	return stubsAt(prog, r.Addr) != nil
}

// stubsAt returns the section of a procedure linkage table that holds an address; nil: none
// does.
func stubsAt(prog *subject.Program, pc uint64) *objfile.Section {
	for i := range prog.File.Sections {
		s := &prog.File.Sections[i]
		name := s.Name[strings.LastIndexByte(s.Name, '!')+1:]
		if pc >= s.Addr && pc-s.Addr < s.Size && (strings.HasPrefix(name, ".plt") || strings.HasPrefix(name, ".iplt")) {
			return s
		}
	}
	return nil
}
