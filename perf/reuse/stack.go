package reuse

import (
	"slices"

	"presage/perf/trace"
	"presage/perf/trace/affine"
)

const (
	// maxAccessBytes is the size of the largest trace.Access.
	maxAccessBytes = 128

	// sizes is the number of sizes that accesses can have: powers of two.
	sizes = 8

	// adaptPeriod is the number of block accesses between choices of the
	// front's width.
	adaptPeriod = 1 << 15
)

// stack is the LRU stack of a run, or of a chunk of one, with the histograms
// of the distances found on it.
type stack struct {
	layout
	table  table
	line   timeline
	front  front
	counts counts
	blocks uint64 // distinct blocks touched

	// In a chunk of a run, first touches are kept, in order, until the blocks
	// touched earlier in the run are known.
	chunk  bool
	firsts touches

	records []record
	entries []entry // of the records
	touched uint32  // keeps the loads that bring table entries near alive

	ends   [sizes]uint64 // log2 of a size → offset in a block from which on it ends in another, << 24
	stayed []uint64      // reference → accesses to the block accessed last, apart from counts

	accesses uint64 // block accesses before the current tally, or outside it
	tally    tally

	desk    desk
	streams []affine.Stream // of the loop at hand
	spills  bool            // some of streams do
	places  [loopRefs]uint8 // of their blocks on the desk
	shapes  affine.Shapes
	shape   *affine.Shape // of the loop at hand; nil: not known, or none
	phase   int           // of its first iteration
	again   again
	walks   [loopRefs]walk
	fresh   []freshBlock
	left    []entry
	taker   taker
	pieces  []trace.Piece  // of the batch at hand
	buffer  []trace.Access // of a loop that is expanded

	stretches stretch
}

// touch is a chunk's first access to a block, by a reference of a group.
type touch struct {
	entry entry
	group uint32
}

// touches is a list of first touches, in pages: it grows without a copy.
type touches struct {
	pages [][]touch // of pageTouches each
	n     int       // touches in all
}

// pageTouches is a multiple of sieve.
const pageTouches = 1 << 12

func (t *touches) add(x touch) {
	at := t.n / pageTouches
	if at == len(t.pages) {
		t.pages = append(t.pages, make([]touch, pageTouches))
	}
	t.pages[at][t.n%pageTouches] = x
	t.n++
}

// from returns the touches from i on, a multiple of sieve: at most sieve of them.
func (t *touches) from(i int) []touch {
	page := t.pages[i/pageTouches]
	return page[i%pageTouches:][:min(sieve, t.n-i)]
}

func (t *touches) bytes() uint64 { return 8 * pageTouches * uint64(len(t.pages)) }

func newStack(l layout, window int) *stack {
	k := &stack{
		layout: l,
		table:  newTable(l.blockBits()),
		line:   newTimeline(window, leafSize-1),
		counts: newCounts(l.groups),

		stayed:  lengthen([]uint64(nil), len(l.groupOf)),
		streams: lengthen([]affine.Stream(nil), loopRefs)[:0],
	}
	most := frontMax + sieve*int(maxAccessBytes>>l.shift+2)
	k.records, k.entries = make([]record, most), make([]entry, most)
	k.shapes.Forget, k.shapes.Freely = k.tell, true
	for log := range k.ends {
		k.ends[log] = endOf(log, l.shift)
	}
	k.forgetLeaves()
	k.desk.clear()
	k.haunt()
	k.taker.on(&k.line)
	return k
}

// endOf returns an element of stack.ends; 0 where no access of the size fits into a block.
func endOf(log int, shift uint) uint64 {
	size, block := uint64(1)<<log, uint64(1)<<shift
	if size > block {
		return 0
	}
	return (block - size + 1) << 24
}

// forgetLeaves is for a new table.
func (k *stack) forgetLeaves() {
	for i := range k.walks {
		k.walks[i].leaf, k.walks[i].entry = ghostBlock, 0
	}
}

// haunt fills the front with ghosts: blocks that no access can touch. They sink
// to the bottom of the stack, under every block that is ever reused, and so
// never count, but save the check whether the front is full.
func (k *stack) haunt() {
	k.front.width, k.front.stays = frontMax, false
	for i := range k.front.place {
		k.entries[i] = entry(i)
		k.front.place[i] = k.table.block(entry(i))<<recBits | uint64(i)
	}
}

// plain analyses accesses through the front. The desk must be closed.
func (k *stack) plain(accesses []trace.Access) {
	for len(accesses) > 0 {
		n := min(sieve, len(accesses))
		if records := k.sift(accesses[:n]); records > frontMax {
			k.settle(records)
		}
		if k.tally.accesses >= adaptPeriod {
			k.adapt()
		}
		accesses = accesses[n:]
	}
}

// first records the first touch of a block.
func (k *stack) first(e entry, group uint32) {
	if k.chunk {
		k.firsts.add(touch{e, group})
		return
	}
	k.counts.cold[group]++
	k.blocks++
}

// adapt chooses the front's width by the distances of the last accesses: a
// place that is rarely hit costs more than it saves.
func (k *stack) adapt() {
	const share = 16 // a width pays if it takes 1/16 of the accesses more
	const away = 4   // looking for accesses to the same block pays if at most 1/4 are to others
	t := k.tally
	k.accesses += t.accesses
	k.tally = tally{}
	k.front.stays = (t.near+t.mid+t.records)*away < t.accesses
	switch {
	case t.mid*share > t.accesses:
		k.resize(frontMax)
	case (t.near+t.mid)*share > t.accesses:
		k.resize(frontMax / 2)
	default:
		k.resize(1)
	}
}

// each calls f with the entries of the blocks on the stack, the one accessed last at
// the end, some at a time, and with ghosts, which are in leaf 0. They are valid until f
// returns.
func (k *stack) each(f func([]entry)) {
	k.closeDesk()
	k.rebase() // a sift without records permutes the places all the same
	k.line.each(f)
	top := slices.Clone(k.entries[:k.front.width])
	slices.Reverse(top)
	f(top)
}

// bytes returns the memory of the table and the time line.
func (k *stack) bytes() uint64 { return k.table.bytes() + k.line.bytes() + k.firsts.bytes() }

// clear empties the stack and keeps its memory and counts.
func (k *stack) clear() {
	k.desk.open = false
	width := k.front.width
	clear(k.table.last)
	k.line.clear()
	k.haunt()
	k.resize(width)
	k.firsts.n = 0
}

func (k *stack) result() *Result {
	k.shapes.All(k.tell)
	for ref, n := range k.stayed {
		k.counts.near[k.groupOf[ref]][0] += n
		k.stayed[ref] = 0
	}
	r := &Result{
		Accesses: k.accesses + k.tally.accesses,
		Blocks:   k.blocks,
		Groups:   make([]Histogram, k.groups),
	}
	for i := range r.Groups {
		r.Groups[i] = k.counts.histogram(i)
	}
	return r
}
