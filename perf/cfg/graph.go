package cfg

import (
	"presage/perf/isa"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// Program is an executable as the control-flow graphs of its routines.
type Program struct {
	decoder isa.Decoder
	shown   []*trace.Flow // what runs revealed about it

	File     *objfile.File
	Routines []*Routine // by ascending address

	// Warnings say what is doubtful: code that could not be decoded, indirect
	// jumps whose targets are not known, irreducible loops.
	Warnings []error
}

// Routine is the control-flow graph of a routine.
type Routine struct {
	Name string
	Addr uint64 // of the first byte
	Size uint64 // bytes

	Blocks []Block // by ascending address
	Edges  []Edge  // by ascending From, then To, then Kind

	// Entries are the blocks that control enters from outside: the routine's
	// first, those that other routines call or jump to, and those that an
	// indirect jump was observed to reach unexpectedly. The first one is the
	// main entry.
	Entries []int
	rejoins []int // of them, those that only parts of the routine that lie elsewhere lead to

	Loops []Loop // outer before inner; disjoint ones by ascending header

	// Gaps are the bytes of the routine that exploration did not reach: data,
	// padding, or code that is reached in unknown ways.
	Gaps []Range

	// Open lists the blocks that end in an indirect jump with unknown targets.
	Open []int
}

// Range is a half-open range of addresses.
type Range struct{ From, To uint64 }

// Block is a basic block: instructions that are executed one after the other.
type Block struct {
	Insts []isa.Inst // not empty; consecutive in memory

	Succs []int // indices of Routine.Edges that leave, ascending
	Preds []int // indices of Routine.Edges that arrive, ascending

	// Exit says how control may leave the routine at the end of the block.
	Exit Exit

	// Dominator is the block that immediately dominates this one, -1 for an
	// entry that nothing dominates.
	Dominator int

	// Loop is the innermost loop that the block belongs to, -1 for none.
	Loop int

	Part Part // other than Whole only in what Program.Elements returns
}

// PC returns the address of the first instruction.
func (b *Block) PC() uint64 { return b.Insts[0].PC }

// End returns the address after the last instruction.
func (b *Block) End() uint64 { return b.Last().Next() }

// Last returns the last instruction.
func (b *Block) Last() *isa.Inst { return &b.Insts[len(b.Insts)-1] }

// Exit says how control leaves a routine at the end of a block.
type Exit uint8

// The exits.
const (
	Stays    Exit = iota // it does not: every successor is an edge
	Returns              // to the caller
	TailJump             // a jump or branch to another routine
	NoReturn             // a call or system call that does not return
	Unknown              // an indirect jump whose targets are not all known
	Traps                // a breakpoint, an access through a nil pointer, or an invalid instruction
)

var exitNames = [...]string{"stays", "returns", "tail jump", "no return", "unknown", "traps"}

func (e Exit) String() string { return exitNames[e] }

// Edge is a transfer of control between blocks of a routine.
type Edge struct {
	From, To int // blocks
	Kind     EdgeKind
}

// EdgeKind says how control is transferred.
type EdgeKind uint8

// The kinds of edges.
const (
	Falls      EdgeKind = iota // to the next instruction
	Taken                      // by a conditional branch
	Jumps                      // by a jump to a constant target
	Table                      // by an indirect jump
	CallReturn                 // from a call that returns to its return site
	Observed                   // by an indirect jump, as seen in a run but not in the code
	Restarts                   // by a jump that restarts the routine once Go's runtime has grown the stack; no loop
)

var edgeNames = [...]string{"falls", "taken", "jumps", "table", "call returns", "observed", "restarts"}

func (k EdgeKind) String() string { return edgeNames[k] }

// Loop is a natural loop, or an irreducible region: a strongly connected region
// with several entries.
type Loop struct {
	Header int   // block; of an irreducible region its entry with the lowest address
	Blocks []int // of the loop and the loops inside it, ascending
	Parent int   // index of the enclosing loop, -1 for none
	Depth  int   // 1 for an outermost loop

	Back []int // edges from the body to the header
	Exit []int // edges from the body to blocks outside

	// Irreducible says that the region can be entered at other blocks than
	// Header, which then does not dominate it.
	Irreducible bool
}

// RoutineAt returns the routine that holds pc, or nil.
func (p *Program) RoutineAt(pc uint64) *Routine {
	lo, hi := 0, len(p.Routines)
	for lo < hi {
		mid := (lo + hi) / 2
		if r := p.Routines[mid]; pc >= r.Addr+r.Size {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(p.Routines) && pc >= p.Routines[lo].Addr {
		return p.Routines[lo]
	}
	return nil
}

// BlockAt returns the index of the block that holds the instruction at pc, and of
// the instruction in the block; -1, -1 if there is none.
func (r *Routine) BlockAt(pc uint64) (block, inst int) {
	lo, hi := 0, len(r.Blocks)
	for lo < hi {
		mid := (lo + hi) / 2
		if pc >= r.Blocks[mid].End() {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(r.Blocks) {
		for i := range r.Blocks[lo].Insts {
			if r.Blocks[lo].Insts[i].PC == pc {
				return lo, i
			}
		}
	}
	return -1, -1
}

// Contains reports whether block b belongs to loop l of r, or to one inside it.
func (r *Routine) Contains(l, b int) bool {
	for in := r.Blocks[b].Loop; in >= 0; in = r.Loops[in].Parent {
		if in == l {
			return true
		}
	}
	return false
}
