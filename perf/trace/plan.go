package trace

import (
	"cmp"
	"fmt"
)

// PC is the virtual address of an instruction in the traced program.
type PC uint64

// RefID identifies a static memory reference: the index of a Ref in Plan.Refs.
type RefID uint32

// GroupID identifies a set of references whose accesses go into one histogram.
// GroupIDs are dense from 0. See Ref.Group.
type GroupID uint32

// BlockID identifies a static basic block: the index of a Block in Plan.Blocks.
type BlockID uint32

// Kind is the effect of a reference on memory.
type Kind uint8

// The kinds of references. An atomic read-modify-write is one access.
const (
	Load Kind = iota
	Store
	ReadModifyWrite
)

func (k Kind) String() string {
	switch k {
	case Load:
		return "load"
	case Store:
		return "store"
	case ReadModifyWrite:
		return "read-modify-write"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Writes reports whether the reference modifies memory.
func (k Kind) Writes() bool { return k != Load }

// Ref is a static memory reference: one memory operand of an instruction.
type Ref struct {
	PC PC

	// Operand numbers the references of one instruction from 0, in the order in
	// which it performs them. An operand whose size is not a power of two up to
	// 128 is split into several references: 10 bytes into 8 and 2, 512 bytes
	// into four of 128. The accesses of a string instruction or a gather are
	// executions of one reference.
	Operand uint8

	Size  uint8 // bytes accessed: a power of two from 1 to 128
	Kind  Kind
	Float bool    // the datum goes to or comes from a floating-point register
	Group GroupID // the histogram for its accesses
}

// FirstPiece returns the size of the first of the references into which an operand of
// size bytes is split, such as the 8 of 10 bytes. A plan without the others leaves
// them out, and engines report them as Outcome.Unplanned.
func FirstPiece(size uint8) uint8 {
	p := uint8(1)
	for p <= size/2 {
		p *= 2
	}
	return p
}

// Compare orders references by PC, then Operand.
func (r Ref) Compare(o Ref) int {
	return cmp.Or(cmp.Compare(r.PC, o.PC), cmp.Compare(r.Operand, o.Operand))
}

// Block is a static basic block.
type Block struct {
	PC           PC     // of its first instruction
	Instructions uint32 // per execution of the block
	Refs         uint32 // planned references per execution of the block

	// Varies means that the number of accesses differs between executions, as
	// with string instructions and masked gathers; Refs is then the minimum. See
	// Batch.Counts.
	Varies bool
}

// Plan specifies what an engine records. The zero Plan records nothing.
type Plan struct {
	// Refs are the references to record, by ascending PC and Operand without
	// repeats, at most MaxRefs. A reference that is not listed is not recorded.
	Refs []Ref

	// Blocks are the basic blocks whose executions are recorded, by ascending
	// PC without repeats; none to record none.
	Blocks []Block

	// Flow lists the transfers of control to count; nil to count none.
	Flow *FlowPlan

	// Memory asks for changes of what memory is for; nil: none are reported.
	Memory *MemoryPlan
}

// Groups returns the number of groups: one more than the largest Group.
func (p *Plan) Groups() int {
	n := 0
	for i := range p.Refs {
		n = max(n, int(p.Refs[i].Group)+1)
	}
	return n
}

// Check returns an error if p has too many references, entries out of order or
// a size that is not a power of two.
func (p *Plan) Check() error {
	if len(p.Refs) > MaxRefs {
		return fmt.Errorf("trace: plan has %d references, at most %d can be recorded", len(p.Refs), MaxRefs)
	}
	for i, r := range p.Refs {
		if i > 0 && r.Compare(p.Refs[i-1]) <= 0 {
			return fmt.Errorf("trace: plan reference %d, operand %d at pc %#x, does not follow operand %d at pc %#x",
				i, r.Operand, uint64(r.PC), p.Refs[i-1].Operand, uint64(p.Refs[i-1].PC))
		}
		if r.Size == 0 || r.Size&(r.Size-1) != 0 {
			return fmt.Errorf("trace: plan reference %d at pc %#x has size %d, not a power of two", i, uint64(r.PC), r.Size)
		}
	}
	for i, b := range p.Blocks {
		if i > 0 && b.PC <= p.Blocks[i-1].PC {
			return fmt.Errorf("trace: plan block %d at pc %#x does not follow pc %#x", i, uint64(b.PC), uint64(p.Blocks[i-1].PC))
		}
	}
	if p.Memory != nil {
		if err := p.Memory.check(); err != nil {
			return err
		}
	}
	if p.Flow != nil {
		return p.Flow.check()
	}
	return nil
}
