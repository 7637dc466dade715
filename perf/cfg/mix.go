package cfg

import (
	"fmt"

	"presage/perf/isa"
)

// Kind is a kind of instruction.
type Kind struct {
	Class isa.Class
	Size  uint8 // of the first memory operand, bytes; 0 for none
}

// String names the kind: "fp load 8".
func (k Kind) String() string {
	if k.Size == 0 {
		return k.Class.String()
	}
	return fmt.Sprintf("%v %d", k.Class, k.Size)
}

// Tally counts instructions: in the code, and executed.
type Tally struct{ Static, Executed uint64 }

func (t Tally) plus(o Tally) Tally { return Tally{t.Static + o.Static, t.Executed + o.Executed} }

// Mix counts instructions by kind.
type Mix map[Kind]Tally

// Total returns the number of instructions.
func (m Mix) Total() Tally {
	var sum Tally
	for _, n := range m {
		sum = sum.plus(n)
	}
	return sum
}

// ClassGroup is a coarse kind of work.
type ClassGroup uint8

// The groups of classes.
const (
	IntegerGroup ClassGroup = iota // arithmetic, including multiply and divide, shifts, comparisons
	FloatGroup                     // floating-point, including conversions and moves
	LoadGroup                      // to integer and floating-point registers
	StoreGroup                     // from them
	BranchGroup                    // all transfers of control, including calls and returns
	OtherGroup                     // no effect, atomic, system, fence, vector, illegal

	ClassGroups = int(OtherGroup) + 1 // how many there are
)

var groupNames = [...]string{"integer", "fp", "load", "store", "branch", "other"}

func (g ClassGroup) String() string {
	if int(g) < len(groupNames) {
		return groupNames[g]
	}
	return fmt.Sprintf("ClassGroup(%d)", uint8(g))
}

// GroupOf returns the group that a class belongs to.
func GroupOf(c isa.Class) ClassGroup {
	switch c {
	case isa.ALU, isa.Shift, isa.Compare, isa.Multiply, isa.Divide:
		return IntegerGroup
	case isa.FPAdd, isa.FPMultiply, isa.FPDivide, isa.FPSqrt, isa.FPFused, isa.FPConvert, isa.FPMove:
		return FloatGroup
	case isa.Load, isa.FPLoad:
		return LoadGroup
	case isa.Store, isa.FPStore:
		return StoreGroup
	case isa.Branch, isa.Jump, isa.IndirectJump, isa.Call, isa.Return:
		return BranchGroup
	}
	return OtherGroup
}

// InclusiveMixes is Mixes, except that the instructions of a scope also count in
// the scopes around it.
func (t *ScopeTree) InclusiveMixes(counts *Counts) []Mix {
	mixes := t.Mixes(counts)
	for i := len(mixes) - 1; i > 0; i-- { // children come after their parents
		for k, n := range mixes[i] {
			around := mixes[t.Scopes[i].Parent]
			around[k] = around[k].plus(n)
		}
	}
	return mixes
}

// Mixes returns the mix of each scope without the scopes inside it, by index in
// ScopeTree.Scopes. Executed instructions come from counts, exact even where a
// fault or a signal cuts a block short; nil counts none. Instructions in gaps do
// not count.
func (t *ScopeTree) Mixes(counts *Counts) []Mix {
	mixes := make([]Mix, len(t.Scopes))
	for i := range mixes {
		mixes[i] = make(Mix)
	}
	var executed []uint64
	for i, r := range t.Program.Routines {
		for b := range r.Blocks {
			mix := mixes[t.Of(i, b)]
			if counts != nil {
				executed = counts.Routines[i].Insts(executed, r, b)
			}
			for k := range r.Blocks[b].Insts {
				in := &r.Blocks[b].Insts[k]
				n := Tally{Static: 1}
				if counts != nil {
					n.Executed = executed[k]
				}
				kind := Kind{Class: in.Class}
				if in.Accesses() {
					kind.Size = in.Mems()[0].Size
				}
				mix[kind] = mix[kind].plus(n)
			}
		}
	}
	return mixes
}
