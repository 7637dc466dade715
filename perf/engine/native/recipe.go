//go:build linux && amd64

package native

import "presage/perf/trace"

// wordInstructions is the number of instructions that a word of a record stands for at
// most. Short blocks record two words for three to seven. Each line of a buffer comes
// from the cache of the processor that has read it, which costs as much as a dozen
// instructions, so records are dense.
const wordInstructions = 4

// idBits is the number of bits of a block's id. A span has the eight above them, of 32.
const idBits = 24

// idOf returns the id of the block whose record begins with a word.
func idOf(word uint64) uint32 { return uint32(word) & (1<<idBits - 1) }

// recipe says how to read what a block records:
//
//	word 0       the block's id, and above idBits the span, unless it is a loop or tells
//	             of memory; as a number of 32 bits with a sign
//	words 1…     addresses and what else its references need
//	span words   in all; the next block's record follows
//
// The span is the number of words, but no less than a word for wordInstructions
// instructions: so a position in a buffer bounds how many have been executed, and the
// program stops in time; how many they are is in the records. While there are no events to
// stop for (see join.go), the span is the number of words.
type recipe struct {
	word         uint32 // word 0
	instructions uint32
	span         uint32
	words        uint32

	refs      []planned
	unplanned []unplanned // references that the plan does not list

	planBlock int32 // the plan's block that begins here; -1: none
	inBlock   int32 // the plan's block that contains it; -1: none

	simple bool // every reference is a single access, and its own record
	loop   bool // all iterations are in one record: see loopBody

	last             action
	target           uint64   // of the last instruction, if it is constant
	planPC, targetPC trace.PC // of the block, and of target
	final            uint64   // its address
}

// planned is a reference of the plan with the way to find its addresses: word slot,
// plus delta, plus stride for each iteration of a loop.
type planned struct {
	tag    trace.Access
	slot   int32 // -1: none
	delta  int64
	stride int64
	more   int32  // the word with the mask, the later address, or the bit number
	vector int32  // the first word of the indices
	index  uint16 // of the instruction in the block
	form   form
	lanes  uint8
	size   uint8
	scale  uint8
	wide   bool // indices, and the elements whose signs are a mask, have 64 bits
	fs     bool
}

// numbering follows which registers differ by constants: each holds the value of
// a version, plus an offset.
type numbering struct {
	version [16]int
	offset  [16]int64
	next    int
}

func newNumbering() numbering {
	var n numbering
	for r := range n.version {
		n.version[r] = r
	}
	n.next = len(n.version)
	return n
}

func (n *numbering) fresh(r int8) {
	n.version[r], n.offset[r] = n.next, 0
	n.next++
}

// step follows an instruction.
func (n *numbering) step(i *inst) {
	c := &i.step
	left := i.writes
	if c.stack != 0 {
		n.offset[rsp] += c.stack
		left &^= 1 << rsp
	}
	if c.known {
		n.version[c.dst], n.offset[c.dst] = n.version[c.src], n.offset[c.src]+c.n
		left &^= 1 << c.dst
	}
	for r := int8(0); left != 0; r++ {
		if left&1 != 0 {
			n.fresh(r)
		}
		left >>= 1
	}
}

// family identifies addresses that differ by constants.
type family struct {
	base, index int // versions; -1: none
	scale       uint8
	fs          bool
}

// family returns the family of an address and its offset in it.
func (n *numbering) family(o *operand) (family, int64) {
	f, d := family{base: -1, index: -1, fs: o.fs}, o.disp
	if o.base >= 0 {
		f.base = n.version[o.base]
		d += n.offset[o.base]
	}
	if o.index >= 0 {
		f.index, f.scale = n.version[o.index], o.scale
		d += n.offset[o.index] << o.scale
	}
	return f, d
}

// seen is an address that is recorded: its word, and its offset in the family.
type seen struct {
	slot   int32
	offset int64
}
