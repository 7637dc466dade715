// Package trace is the contract between engines, which run a program, and
// collectors, which measure it: a Plan says what an engine shall record, a
// Batch holds what it recorded, in order, and a Sink takes full batches and
// gives back empty ones.
//
// An engine compiles the plan into its decoded code, so that a reference which
// is not planned costs nothing. A collector sees whole batches, never single
// events.
//
//	         Plan
//	           │
//	program ─ engine ── full ──▶ Sink ─ Collector, Collector, …
//	                 ◀─ empty ──
//
// Not modelled: memory that the operating system touches on the program's
// behalf (the buffers of read and write), and instruction fetches.
package trace

import "fmt"

// PC is the virtual address of an instruction in the traced program.
type PC uint64

// RefID names a static memory reference: the index of a Ref in Plan.Refs.
type RefID uint32

// GroupID names a set of references whose accesses go into one histogram,
// dense from 0. See Ref.Group.
type GroupID uint32

// BlockID names a static basic block: the index of a Block in Plan.Blocks.
type BlockID uint32

// Kind says what a reference does to memory.
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

// Ref is a static memory reference: one instruction that accesses memory.
type Ref struct {
	PC    PC
	Size  uint8 // bytes accessed: a power of two from 1 to 128
	Kind  Kind
	Float bool    // the datum goes to or comes from a floating-point register
	Group GroupID // the histogram that its accesses go into
}

// Block is a static basic block.
type Block struct {
	PC           PC     // of its first instruction
	Instructions uint32 // executed each time the block is
	Refs         uint32 // planned references executed each time the block is
}

// Plan says what an engine shall record. The zero Plan records nothing.
type Plan struct {
	// Refs are the references to record, by ascending PC without repeats, at
	// most MaxRefs. A reference that is not listed is not recorded.
	Refs []Ref

	// Blocks are the basic blocks whose executions are recorded, by ascending
	// PC without repeats; none to record none.
	Blocks []Block

	// Flow says which transfers of control to count; nil to count none.
	Flow *FlowPlan
}

// Groups returns the number of groups: one more than the largest Group.
func (p *Plan) Groups() int {
	n := 0
	for i := range p.Refs {
		n = max(n, int(p.Refs[i].Group)+1)
	}
	return n
}

// Check reports what makes p unfit for an engine: too many references, a wrong
// order, a size that is no power of two.
func (p *Plan) Check() error {
	if len(p.Refs) > MaxRefs {
		return fmt.Errorf("trace: plan has %d references, at most %d can be recorded", len(p.Refs), MaxRefs)
	}
	for i, r := range p.Refs {
		if i > 0 && r.PC <= p.Refs[i-1].PC {
			return fmt.Errorf("trace: plan reference %d at pc %#x does not follow pc %#x", i, uint64(r.PC), uint64(p.Refs[i-1].PC))
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
	if p.Flow != nil {
		return p.Flow.check()
	}
	return nil
}

// Access is one executed memory reference, packed so that a record is a single
// 8-byte store:
//
//	63      43 42  40 39                                  0
//	┌─────────┬──────┬─────────────────────────────────────┐
//	│   ref   │ log₂ │               address               │
//	│ 21 bits │ size │               40 bits               │
//	└─────────┴──────┴─────────────────────────────────────┘
type Access uint64

const (
	addrBits = 40
	sizeBits = 3
	refShift = addrBits + sizeBits

	// MaxRefs is the largest number of references in a plan.
	MaxRefs = 1 << (64 - refShift)

	// AddrLimit bounds the addresses that an Access can hold: 1 TiB.
	AddrLimit = 1 << addrBits
)

// Tag returns the part of an Access that is the same for every execution of a
// reference, for an engine to add the address to. size is a power of two.
func Tag(ref RefID, size uint8) Access {
	log := uint64(0)
	for s := size; s > 1; s >>= 1 {
		log++
	}
	return Access(uint64(ref)<<refShift | log<<addrBits)
}

// Ref returns the reference that was executed.
func (a Access) Ref() RefID { return RefID(a >> refShift) }

// Addr returns the address of the first byte accessed.
func (a Access) Addr() uint64 { return uint64(a) & (AddrLimit - 1) }

// Size returns the number of bytes accessed.
func (a Access) Size() uint64 { return 1 << (a >> addrBits & (1<<sizeBits - 1)) }

// Last returns the address of the last byte accessed. An access touches each
// memory block from that of Addr to that of Last: two when it straddles.
func (a Access) Last() uint64 { return a.Addr() + a.Size() - 1 }

// Batch is a run of events of one thread, in program order. A block's events
// never span two batches; if a fault ends a block early, the block stands in
// Blocks with fewer accesses than its Refs, as the last of its batch.
type Batch struct {
	Accesses []Access
	Blocks   []BlockID // executed blocks, where the plan asked for them

	Start  uint64 // instructions that the program had executed before the batch
	Thread int32  // 0 for the first thread, then in order of creation
}

// Reset empties b and keeps its memory.
func (b *Batch) Reset() {
	b.Accesses, b.Blocks = b.Accesses[:0], b.Blocks[:0]
	b.Start, b.Thread = 0, 0
}

// A Sink takes full batches from an engine. Exchange hands over full, which
// the caller must not touch again, and returns an empty batch to fill. An
// engine calls Exchange from one goroutine at a time; its first call, for the
// batch to begin with, hands over nil.
type Sink interface {
	Exchange(full *Batch) (empty *Batch)
}

// A Collector measures one thing about a run. Observe sees the batches of a
// run one at a time, in order; it must neither modify nor keep them.
//
// Collectors also have a Merge, which joins the results of independent runs
// (never the parts of one run that was cut in time: the reuses across the cut
// would be lost), and a Result, each with types of their own.
type Collector interface {
	Observe(b *Batch)
}
