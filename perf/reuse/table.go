package reuse

import "fmt"

// The table is a radix tree of three levels, so that memory follows the blocks
// touched and no hash is computed: a leaf spans 512 blocks in 2 KiB, a middle
// node 2048 leaves, and the root, one word for each MiB of blocks, is at most 4
// MiB (at one-byte blocks), and 64 KiB at 64-byte blocks.
const (
	leafBits = 9
	midBits  = 11
	rootBits = leafBits + midBits
	leafSize = 1 << leafBits
	midSize  = 1 << midBits

	// maxLeaves keeps entries within 32 bits.
	maxLeaves = 1 << (32 - leafBits)

	// ghostBlock is the number of the first block of leaf 0, beyond any that an
	// address can have.
	ghostBlock = 1 << 41
)

// entry is the index of a block in table.last.
type entry uint32

// table maps a block number to the slot of its last access.
type table struct {
	root []uint32 // block >> rootBits → middle node; 0: none
	mids []uint32 // middle node, 11 bits of block → leaf; 0: none
	last []uint32 // entry → slot; 0: never accessed
	base []uint64 // leaf → its first block

	// Leaves in a row, whose blocks follow one another as they do: mostly those of an array.
	rowOf []uint32 // leaf → its row
	rows  []leafRow
}

// leafRow is the entries of some leaves in a row.
type leafRow struct{ first, last entry }

// newTable returns an empty table for block numbers below 2^bits, and the few
// above that an access at the end of the address space reaches.
func newTable(bits uint) table {
	n := 1
	if bits > rootBits {
		n = 1 << (bits - rootBits)
	}
	return table{
		root: make([]uint32, n+1),
		mids: make([]uint32, midSize), // node 0: the empty one
		last: make([]uint32, leafSize),
		base: []uint64{ghostBlock},

		rowOf: []uint32{0},
		rows:  []leafRow{{0, leafSize - 1}},
	}
}

// find returns the entry of block, or false where it has no leaf yet.
func (t *table) find(block uint64) (entry, bool) {
	mid := t.root[block>>rootBits]
	leaf := t.mids[mid<<midBits|uint32(block>>leafBits)&(midSize-1)]
	return entry(leaf<<leafBits | uint32(block)&(leafSize-1)), leaf != 0
}

// add makes the leaf that holds block and returns the block's entry.
func (t *table) add(block uint64) entry {
	if len(t.base) == maxLeaves {
		panic(fmt.Sprintf("reuse: the blocks touched fill more than %d table leaves; use a larger BlockBytes", maxLeaves))
	}
	mid := &t.root[block>>rootBits]
	if *mid == 0 {
		*mid = uint32(len(t.mids) >> midBits)
		t.mids = append(t.mids, make([]uint32, midSize)...)
	}
	leaf := uint32(len(t.base))
	t.mids[*mid<<midBits|uint32(block>>leafBits)&(midSize-1)] = leaf
	t.base = append(t.base, block&^(leafSize-1))
	t.extend(leaf)
	if len(t.last) == cap(t.last) { // append would come to five times the memory, in all
		t.last = append(make([]uint32, 0, 2*cap(t.last)), t.last...)
	}
	t.last = t.last[:len(t.last)+leafSize]
	return entry(leaf<<leafBits | uint32(block)&(leafSize-1))
}

// extend adds a new leaf to the row of the one before it, or to one of its own.
func (t *table) extend(leaf uint32) {
	first := entry(leaf << leafBits)
	if t.base[leaf] != t.base[leaf-1]+leafSize {
		t.rows = append(t.rows, leafRow{first: first})
	}
	row := uint32(len(t.rows) - 1)
	t.rows[row].last = first + leafSize - 1
	t.rowOf = append(t.rowOf, row)
}

// row returns the row of leaves that e is in.
func (t *table) row(e entry) leafRow { return t.rows[t.rowOf[e>>leafBits]] }

// block is the inverse of find.
func (t *table) block(e entry) uint64 {
	return t.base[e>>leafBits] + uint64(e&(leafSize-1))
}

// bytes returns the memory of the table.
func (t *table) bytes() uint64 {
	return 4*uint64(cap(t.root)+cap(t.mids)+cap(t.last)+cap(t.rowOf)) + 8*uint64(cap(t.base)+cap(t.rows))
}
