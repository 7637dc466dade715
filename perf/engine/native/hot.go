//go:build linux && amd64

package native

import (
	"math"
	"slices"
	"unsafe"

	"presage/perf/trace"
)

// hotBlock is what the reader needs of a record of a block that has been executed, with
// the parts that it joins. Those of all blocks lie side by side, as most of a record is read
// for them.
type hotBlock struct {
	few    [fewRefs]hotRef  // the first references
	more   *hotRef          // the others, side by side
	ids    [maxParts]int32  // planned blocks that begin in it
	counts [maxParts]uint32 // their references
	opens  uint32           // bytes of ids in use
	all    uint32           // references; notPlain: the record is for records to read

	instructions uint32
	mark         uint32 // bytes of accesses before the last of ids
	begun        uint32 // instructions before it

	// Where it goes on with the planned block before it, that ends at its pc in the same
	// block of the plan, from; first is the number of references up to ids.
	continues uint32
	first     uint32
	from      int32
	within    int32 // the block of the plan in which it ends
	pc, end   uint64

	block *block // the last part
}

const (
	// fewRefs is the number of references that a record is read for at once, whether it
	// has as many or fewer: how many a block has cannot be foreseen by the processor.
	fewRefs = 4

	// notPlain is more references than a batch has room for.
	notPlain = math.MaxUint32
)

// hotRef is a reference that is a single access: word slot, plus delta.
type hotRef struct {
	tag   trace.Access
	delta uint64
	slot  uint32
}

// known reports whether the reader knows a block, as it has been executed.
func (r *reader) known(id uint32) bool { return int(id) < len(r.hot) && r.hot[id].block != nil }

// keep makes a block known, and the parts that it joins.
func (r *reader) keep(b *block) {
	for _, p := range b.parts {
		r.keep(p)
	}
	for len(r.hot) <= int(b.id) {
		r.hot = append(r.hot, hotBlock{all: notPlain})
	}
	r.hot[b.id] = newHotBlock(b)
}

// newHotBlock returns what the reader needs of a block.
func newHotBlock(b *block) hotBlock {
	parts := b.parts
	if !b.joins() {
		parts = []*block{b}
	}
	last := parts[len(parts)-1]
	h := hotBlock{pc: b.pc, end: last.end, from: parts[0].inBlock, within: last.inBlock, block: last}
	var refs []hotRef
	for n, p := range parts {
		if p.memory != noMemory || p.loop || !p.simple && len(p.refs) > 0 || p.planBlock < 0 && (n > 0 || !p.flows) {
			h.all = notPlain
			return h
		}
		if p.planBlock < 0 {
			h.continues, h.first = 1, uint32(len(p.refs))
		} else {
			h.mark, h.begun = uint32(8*len(refs)), h.instructions
			h.ids[h.opens/4], h.counts[h.opens/4] = p.planBlock, uint32(len(p.refs))
			h.opens += 4
		}
		h.instructions += p.instructions
		for i := range p.refs {
			x := &p.refs[i]
			refs = append(refs, hotRef{x.tag, uint64(x.delta), uint32(x.slot)})
		}
	}
	h.all = uint32(len(refs))
	if n := copy(h.few[:], refs); n < len(refs) {
		h.more = &refs[n]
	}
	return h
}

// plainly reports whether records may be read by plain.
func (r *reader) plainly() bool {
	return r.batch != nil && r.flow == nil && len(r.plan.Blocks) > 0
}

// expansion is what runExpansion reads and writes. Where it stops, record, access, block
// and count are those that come next.
type expansion struct {
	record, end   uintptr // addresses, as those of ends are no pointers
	hot           *hotBlock
	known         int // blocks in hot
	chunks        *chunkTable
	access, limit uintptr // there is room for fewRefs behind limit
	block, most   uintptr // there is room for a record's blocks before most
	counts        uintptr // from a block to its number of accesses
	count         uint64  // instructions executed

	// Of the last record and planned block; nil: none, to which records might belong.
	before *hotBlock
	mark   uintptr
	begun  uint64
}

// runExpansion reads records up to the end, or to one that is not plain, or for which there
// is no room. Compiled Go takes three times as long: it keeps too little in registers.
//
//go:noescape
func runExpansion(e *expansion)

// plain reads records from word i on as long as they are plain and fit into the batch, and
// returns the word at which the first begins that is not. It does what block does, for
// nearly all of a run.
func (r *reader) plain(w []uint64, i int) int {
	b := r.batch
	limit := r.capacity
	if r.inRuns > 0 {
		limit = min(limit, trace.MaxExpansion-r.inRuns)
	}
	limit = min(limit, cap(b.Accesses)-fewRefs)
	if r.partial || cap(b.Blocks) < maxParts || limit < len(b.Accesses) || len(r.hot) == 0 {
		return i
	}
	counts := r.roomForCounts()
	if r.varies && r.open {
		counts[len(b.Blocks)-1] = uint32(len(b.Accesses) - r.mark)
	}
	e := expansion{
		record: address(w, i), end: address(w, len(w)), hot: &r.hot[0], known: len(r.hot), chunks: r.chunks,
		access: address(b.Accesses, len(b.Accesses)), limit: address(b.Accesses, limit),
		block: address(b.Blocks, len(b.Blocks)), most: address(b.Blocks, min(r.capacity, cap(b.Blocks))-(maxParts-1)),
		counts: address(counts, 0) - address(b.Blocks, 0), count: r.count,
		mark: address(b.Accesses, r.mark), begun: r.begun,
	}
	if r.open && r.before != nil {
		e.before = &r.hot[r.before.id]
	}
	runExpansion(&e)
	if e.record == address(w, i) {
		return i
	}
	r.open, r.mark, r.begun, r.count, r.before = true, elementAt(b.Accesses, e.mark), e.begun, e.count, e.before.block
	b.Accesses, b.Blocks = b.Accesses[:elementAt(b.Accesses, e.access)], b.Blocks[:elementAt(b.Blocks, e.block)]
	if r.varies {
		b.Counts = counts[:len(b.Blocks)]
	}
	return elementAt(w, e.record)
}

// roomForCounts returns room for as many counts as the batch may have blocks. Where no
// block varies, nobody reads them.
func (r *reader) roomForCounts() []uint32 {
	list := &r.unused
	if r.varies {
		list = &r.batch.Counts
	}
	*list = slices.Grow(*list, cap(r.batch.Blocks)-len(*list))
	return (*list)[:cap(r.batch.Blocks)]
}

// address returns the address of element i of the memory of a list, or that behind it.
func address[T any](list []T, i int) uintptr {
	return uintptr(unsafe.Pointer(unsafe.SliceData(list))) + uintptr(i)*unsafe.Sizeof(*unsafe.SliceData(list))
}

// elementAt is the inverse of address.
func elementAt[T any](list []T, address uintptr) int {
	return int((address - uintptr(unsafe.Pointer(unsafe.SliceData(list)))) / unsafe.Sizeof(*unsafe.SliceData(list)))
}

// blockSize is what the position in a buffer needs of a block.
type blockSize struct {
	span    uint32
	counted uint32 // instructions of a record; 0 if the record says how many
}

// blockSizes returns the sizes of all blocks.
func (m *machine) blockSizes() []blockSize {
	for _, b := range m.blocks[len(m.sizes):] {
		s := blockSize{span: b.span}
		if !b.loop && b.memory == noMemory {
			s.counted = b.instructions
		}
		m.sizes = append(m.sizes, s)
	}
	return m.sizes
}
