package access

import (
	"sync"

	"presage/perf/cfg"
	"presage/perf/isa"
	"presage/perf/trace"
)

// Stride is by how much the address of a reference changes from one iteration
// of a loop to the next.
type Stride struct {
	Loop    int // index in cfg.Routine.Loops
	Formula Formula

	// Irregular says that the change is not known to be the same in all
	// iterations. Formula is 0 then.
	Irregular bool

	// Indirect says that the address depends on what another reference loads,
	// whose own address changes in the loop. Formula is the rest.
	Indirect bool
}

// Regular reports whether neither flag is set.
func (s Stride) Regular() bool { return !s.Irregular && !s.Indirect }

// StackUse is the purpose of a reference to the frame of the routine or its
// caller, at a constant offset from the stack pointer whose address is not used
// as a value.
type StackUse uint8

// The uses of the stack. All but NotStack are traffic of the calling
// convention and of register allocation, not of the program's data.
const (
	NotStack StackUse = iota // or an array or object on the stack
	SavedReg                 // saves or restores a register that the caller expects unchanged
	Spill                    // a register's content, or a variable or outgoing argument, in the routine's frame
	StackArg                 // an argument in the caller's frame
)

var stackUseNames = [...]string{"", "saved register", "spill", "stack argument"}

func (u StackUse) String() string { return stackUseNames[u] }

// Analysis is the result of the static analysis of a program's references.
type Analysis struct {
	Program *cfg.Program
	References

	cells *cells
}

// cells is the initial state of the analysis of each routine, kept for later
// queries. The analysis adds the stores that it finds.
type cells struct {
	sync.Mutex
	convention convention
	slots      []*slots // by routine; nil until they are needed
	statics    *statics
	analysed   []bool // by routine: the stores that its analysis finds are in slots
}

// routine analyses a routine again, for a query about it.
func (a *Analysis) routine(routine int) *routineAnalysis {
	a.cells.Lock()
	defer a.cells.Unlock()
	if a.cells.slots == nil {
		a.cells.find(a)
	}
	c, r := a.cells, a.Program.Routines[routine]
	if !c.analysed[routine] {
		analyseRoutine(c.convention, r, c.slots[routine], c.statics)
		c.analysed[routine] = true
	}
	return analyseRoutine(c.convention, r, c.slots[routine], c.statics)
}

// find finds the state before any routine is analysed.
func (c *cells) find(a *Analysis) {
	c.convention = conventionOf(a.Program)
	if !c.convention.golang {
		c.convention.global = a.global
	}
	c.slots, c.statics = findCells(c.convention, a.Program)
	c.analysed = make([]bool, len(a.Program.Routines))
}

// Analyze finds the memory references of a program, and formulas for the
// references in its control-flow graphs.
func Analyze(p *cfg.Program) *Analysis {
	out := &Analysis{Program: p, References: *Find(p.File)}
	at := out.byPC()
	c := new(cells)
	out.cells = c
	c.find(out)
	for n, r := range p.Routines {
		if !hasReferences(r) {
			continue
		}
		a := analyseRoutine(c.convention, r, c.slots[n], c.statics)
		c.analysed[n] = true
		for b := range r.Blocks {
			for i := range r.Blocks[b].Insts {
				in := &r.Blocks[b].Insts[i]
				if ref, ok := at[trace.PC(in.PC)]; ok {
					for k := range in.Mems() {
						a.describe(&out.All[ref+k], n, b, i)
					}
				}
			}
		}
	}
	return out
}

// byPC returns the index of the first reference of each instruction.
func (r *References) byPC() map[trace.PC]int {
	at := make(map[trace.PC]int, len(r.All))
	for i := range r.All {
		if r.All[i].Operand == 0 {
			at[r.All[i].PC] = i
		}
	}
	return at
}

// PlanOptions say which references a plan records.
type PlanOptions struct {
	// Stack also records stack traffic (Reference.Stack). Otherwise it is left
	// out, as in section 2 of the 2005 paper.
	Stack bool
}

// records reports whether a plan records a reference.
func (o PlanOptions) records(r *Reference) bool { return o.Stack || r.Stack == NotStack }

// findCells finds the cells that the routines access, and the static variables
// that calls of the routines change.
func findCells(c convention, p *cfg.Program) ([]*slots, *statics) {
	all, stored := make([]*slots, len(p.Routines)), make([][]location, len(p.Routines))
	for n, r := range p.Routines {
		all[n] = findSlots(c, r)
		stored[n] = all[n].all
	}
	return all, findStatics(p, stored)
}

func hasReferences(r *cfg.Routine) bool {
	for b := range r.Blocks {
		for i := range r.Blocks[b].Insts {
			if r.Blocks[b].Insts[i].Accesses() {
				return true
			}
		}
	}
	return false
}

// describe adds to a reference what is known about its address.
func (a *routineAnalysis) describe(ref *Reference, routine, b, i int) {
	ref.InGraph, ref.RoutineIndex, ref.Block, ref.Loop = true, routine, b, a.r.Blocks[b].Loop
	v := a.settled(a.address(b, i, ref.Operand))
	ref.First = a.formula(a.first(v))
	ref.Strides = a.strides(v, b)
	ref.Stack = a.stackUse(b, i, ref.Operand)
	ref.Base = a.base(v)
}

// base returns a number that is equal for addresses that differ by a constant.
func (a *routineAnalysis) base(v linear) int {
	k := string(linear{terms: a.unified(v).terms}.key(nil))
	n, ok := a.bases[k]
	if !ok {
		n = len(a.bases)
		a.bases[k] = n
	}
	return n
}

// stackUse classifies a reference to the stack.
func (a *routineAnalysis) stackUse(b, i, k int) StackUse {
	at := a.slots.operand(b, i, k)
	switch {
	case at.size == 0 || at.reg != a.target.StackPointer || a.slots.isTaken(at):
		return NotStack
	case at.offset >= 0:
		return StackArg
	}
	in := &a.r.Blocks[b].Insts[i]
	switch m := &in.Mems()[k]; {
	case in.Class == isa.Atomic || m.Kind == isa.MemReadModifyWrite:
	case m.Kind == isa.MemStore:
		for _, r := range in.Uses() {
			if !m.Reads(r) && a.holdsSaved(r, b, i) {
				return SavedReg
			}
		}
	case !m.Float:
		for _, r := range in.Defs() {
			if a.saved(r) && a.restores(r, b, i) {
				return SavedReg
			}
		}
	}
	return Spill
}

// restores reports whether an instruction restores the value that register r had
// at the routine's entry.
func (a *routineAnalysis) restores(r isa.Reg, b, i int) bool {
	s, ok := a.result(b, i, r).only()
	return ok && a.symbols[s].kind == atEntry && a.symbols[s].place == register(r)
}

// holdsSaved reports whether, before an instruction, register r still holds the
// caller's value.
func (a *routineAnalysis) holdsSaved(r isa.Reg, b, i int) bool {
	if !a.saved(r) {
		return false
	}
	return a.before(b, i, register(r)).equal(a.entry(register(r)))
}
