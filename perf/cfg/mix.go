package cfg

import (
	"fmt"

	"presage/perf/isa"
)

// Mix counts instructions by class: in the code, or executed.
type Mix [isa.Vector + 1]uint64 // Vector is the last class

// Add adds o, n times.
func (m *Mix) Add(o *Mix, n uint64) {
	for c := range m {
		m[c] += o[c] * n
	}
}

// Total returns the number of instructions.
func (m *Mix) Total() uint64 {
	sum := uint64(0)
	for _, n := range m {
		sum += n
	}
	return sum
}

// Groups adds the classes up to groups.
func (m *Mix) Groups() [ClassGroups]uint64 {
	var sums [ClassGroups]uint64
	for c, n := range m {
		sums[GroupOf(isa.Class(c))] += n
	}
	return sums
}

// ClassGroup is a coarse kind of work.
type ClassGroup uint8

// The groups of classes.
const (
	IntegerGroup ClassGroup = iota // arithmetic, shifts, comparisons, multiply and divide
	FloatGroup                     // floating-point, conversions and moves among them
	LoadGroup                      // to integer and floating-point registers
	StoreGroup                     // from them
	BranchGroup                    // all transfers of control, calls and returns among them
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

// Mix returns the mix of a block's instructions.
func (b *Block) Mix() Mix {
	var m Mix
	for i := range b.Insts {
		m[b.Insts[i].Class]++
	}
	return m
}

// ScopeMixes are the mixes of all scopes of a tree, by index in
// ScopeTree.Scopes.
type ScopeMixes struct {
	Own       []Mix // without the scopes inside
	Inclusive []Mix // with them: of the program, everything
}

// Mixes adds up the mixes of the blocks in each scope. counts holds how often
// each block of each routine was executed; nil to count every instruction once,
// as it stands in the code. Instructions in gaps do not count. It panics if
// counts has another shape than the program.
//
// A block counts as executed to its end: of one that a fault cut short, the
// instructions that came after it count, too.
func (t *ScopeTree) Mixes(counts [][]uint64) *ScopeMixes {
	p := t.Program
	if counts != nil && len(counts) != len(p.Routines) {
		panic(fmt.Sprintf("cfg: counts of %d routines for a program of %d", len(counts), len(p.Routines)))
	}
	m := &ScopeMixes{Own: make([]Mix, len(t.Scopes))}
	for i, r := range p.Routines {
		if counts != nil && len(counts[i]) != len(r.Blocks) {
			panic(fmt.Sprintf("cfg: counts of %d blocks for the %d of %s", len(counts[i]), len(r.Blocks), r.Name))
		}
		for b := range r.Blocks {
			n := uint64(1)
			if counts != nil {
				n = counts[i][b]
			}
			if n > 0 {
				own := &m.Own[t.Of(i, b)]
				for k := range r.Blocks[b].Insts {
					own[r.Blocks[b].Insts[k].Class] += n
				}
			}
		}
	}
	m.Inclusive = append([]Mix(nil), m.Own...)
	for s := len(t.Scopes) - 1; s > 0; s-- { // children come after their parents
		m.Inclusive[t.Scopes[s].Parent].Add(&m.Inclusive[s], 1)
	}
	return m
}
