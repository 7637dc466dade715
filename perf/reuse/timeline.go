package reuse

import (
	"fmt"
	"math/bits"
)

// A slot is a point on the time line. Slots are numbered
//
//	31        9 8      6 5      0
//	┌──────────┬────────┬────────┐
//	│   line   │ word   │  bit   │   word 0 to 6
//	└──────────┴────────┴────────┘
//
// so that a line's seven words of bits and its counter word are one cache line
// of 64 bytes. Numbers with word 7 are not used.
const (
	lineBits  = 9
	lineSlots = 7 * 64
	lineWords = 8
	lineCount = 7 // the counter word

	// A counter word has lane w, 9 bits wide, for word w: the live slots in the
	// words before it. Bit 63 is in no lane.
	laneBits = 9
	laneMask = 1<<laneBits - 1
	laneOnes = 1 | 1<<9 | 1<<18 | 1<<27 | 1<<36 | 1<<45 | 1<<54
	fullLine = 64<<9 | 128<<18 | 192<<27 | 256<<36 | 320<<45 | 384<<54

	// A tree word holds, for children 1, 2 and 3 of its node, the live slots in
	// the children before it, child 1 highest: bit 63 is always 0, so that
	// child 0 reads 0 without a branch.
	treeBits = 21
	treeMask = 1<<treeBits - 1
	treeOnes = 1<<42 | 1<<21 | 1

	// treeLevels is the number of levels that fit 21-bit lanes: 3·448·4^5 <
	// 2^21. Nodes above them have four lanes of 32 bits in two words.
	treeLevels = 6

	// maxLines keeps slot numbers, and the first one past them, within 32 bits.
	maxLines = 1 << (32 - lineBits)

	// spare is the least ratio of slots to live slots after a renumbering, so
	// that its cost is shared by at least three accesses a live slot.
	spare = 4
)

// wideTake is subtracted from the two words of a wide node when a slot in child
// c is removed.
var wideTake = [4][2]uint64{
	{1 << 32, 1<<32 | 1},
	{0, 1<<32 | 1},
	{0, 1 << 32},
	{0, 0},
}

// timeline orders blocks by their last access. A slot is live while it is the
// last access of its block. Slots from now on are live from the start, so that
// an insertion updates no counter; a rank counts only slots before one in use,
// so they are never counted.
//
// A removal lowers only the lanes of later siblings. Those of the line of now
// lie ahead of every slot in use, so removals from this line stay out of the
// tree, and are applied to it together when now leaves the line: reuse within
// the last few hundred accesses costs no walk through the tree.
//
// Invariants: live is the number of live slots before now; gone is how many of
// the slots before now in its line are not. A lane of a counter word or a tree
// node is the number of live slots under the siblings before, but that in the
// tree those gone are not taken off.
type timeline struct {
	lines [][lineWords]uint64
	tree  []uint64 // packed levels, from the leaves up
	wide  []uint64 // wide levels, two words a node
	treeN []uint32 // where a packed level starts in tree
	wideN []uint32 // where a wide level starts in wide
	owner []entry  // slot → block, where the slot is live and before now

	now  uint32 // the next slot to use
	end  uint32 // the first slot past the last line
	live uint32
	gone uint32
}

// newTimeline returns a time line of at least slots slots. Slot 0 belongs to
// ghost for good, so that 0 can mean "never accessed" in a table.
func newTimeline(slots int, ghost entry) timeline {
	var t timeline
	t.resize(slots)
	t.owner[0] = ghost
	t.now, t.live = 1, 1
	return t
}

// clear removes all slots but slot 0.
func (t *timeline) clear() {
	t.fill()
	t.now, t.live, t.gone = 1, 1, 0
}

// resize makes room for slots slots; owners and marks are lost.
func (t *timeline) resize(slots int) {
	n := (slots + lineSlots - 1) / lineSlots
	if n >= maxLines {
		panic(fmt.Sprintf("reuse: %d live blocks are more than the time line can hold; use a larger BlockBytes", t.live))
	}
	t.lines = make([][lineWords]uint64, n)
	t.owner = make([]entry, n<<lineBits)
	t.end = uint32(n) << lineBits
	t.treeN, t.wideN = nil, nil
	tree, wide := 0, 0
	for nodes, level := n, 0; nodes > 1; level++ {
		nodes = (nodes + 3) / 4
		if level < treeLevels {
			t.treeN = append(t.treeN, uint32(tree))
			tree += nodes
		} else {
			t.wideN = append(t.wideN, uint32(wide))
			wide += 2 * nodes
		}
	}
	t.tree, t.wide = make([]uint64, tree), make([]uint64, wide)
	t.fill()
}

// fill makes every slot live.
func (t *timeline) fill() {
	const all = ^uint64(0)
	for i := range t.lines {
		t.lines[i] = [lineWords]uint64{all, all, all, all, all, all, all, fullLine}
	}
	child := uint64(lineSlots)
	for l, from := range t.treeN {
		to := len(t.tree)
		if l+1 < len(t.treeN) {
			to = int(t.treeN[l+1])
		}
		for i := int(from); i < to; i++ {
			t.tree[i] = child<<42 | 2*child<<21 | 3*child
		}
		child *= 4
	}
	for l, from := range t.wideN {
		to := len(t.wide)
		if l+1 < len(t.wideN) {
			to = int(t.wideN[l+1])
		}
		for i := int(from); i < to; i += 2 {
			t.wide[i], t.wide[i+1] = child<<32, 2*child|3*child<<32
		}
		child *= 4
	}
}

// take removes live slot s and returns how many live slots, before now, came
// after it: the distinct blocks on the time line accessed since.
func (t *timeline) take(s uint32) uint32 {
	at := s >> lineBits
	line := &t.lines[at]
	word := s >> 6 & 7
	bit := uint64(1) << (s & 63)
	before := uint32(bits.OnesCount64(line[word] & (bit - 1)))
	line[word] &^= bit
	before += uint32(line[lineCount]>>(laneBits*word)) & laneMask
	line[lineCount] -= laneOnes << (laneBits * (word + 1) & 63)

	if at == t.now>>lineBits {
		t.gone++
		t.live--
		return t.now&(1<<lineBits-1) - t.gone - before
	}

	tree := t.tree
	for _, from := range t.treeN {
		shift := treeBits * (at & 3)
		at >>= 2
		node := &tree[from+at]
		before += uint32(*node>>((63-shift)&63)) & treeMask
		*node -= treeOnes >> (shift & 63)
	}
	for _, from := range t.wideN {
		child := at & 3
		at >>= 2
		node := t.wide[from+2*at:][:2]
		before += uint32(node[child>>1] >> (32 * (child & 1)))
		node[0] -= wideTake[child][0]
		node[1] -= wideTake[child][1]
	}
	t.live--
	return t.live - before
}

// before returns the number of live slots in the lines before line at, one that now
// has left.
func (t *timeline) before(at uint32) uint32 {
	before := uint32(0)
	for _, from := range t.treeN {
		shift := treeBits * (at & 3)
		at >>= 2
		before += uint32(t.tree[from+at]>>((63-shift)&63)) & treeMask
	}
	for _, from := range t.wideN {
		child := at & 3
		at >>= 2
		before += uint32(t.wide[from+2*at+child>>1] >> (32 * (child & 1)))
	}
	return before
}

// leave applies to the tree the slots gone from line at, which now has left.
func (t *timeline) leave(at uint32) {
	t.lower(at, t.gone)
	t.gone = 0
}

// lower applies to the tree that slots are gone from line at.
func (t *timeline) lower(at, slots uint32) {
	if slots == 0 {
		return
	}
	gone := uint64(slots)
	for _, from := range t.treeN {
		shift := treeBits * (at & 3)
		at >>= 2
		t.tree[from+at] -= gone * (treeOnes >> shift)
	}
	for _, from := range t.wideN {
		child := at & 3
		at >>= 2
		node := t.wide[from+2*at:][:2]
		node[0] -= gone * wideTake[child][0]
		node[1] -= gone * wideTake[child][1]
	}
}

// put gives the next slot to e and returns it. The caller renumbers first when
// the time line is full.
func (t *timeline) put(e entry) uint32 {
	s := t.now
	t.owner[s] = e
	t.live++
	t.now++
	if t.now&(1<<lineBits-1) == lineSlots {
		t.leave(s >> lineBits)
		t.now = next(s)
	}
	return s
}

// putSome gives the next slots of one line to the first of list, updates last, and returns
// their number.
func (t *timeline) putSome(list []entry, last []uint32) int {
	s := t.now
	n := min(len(list), lineSlots-int(s&(1<<lineBits-1)))
	owner := t.owner[s:][:n]
	for i, e := range list[:n] {
		owner[i] = e
		last[e] = s + uint32(i)
	}
	t.live += uint32(n)
	t.now += uint32(n)
	if t.now&(1<<lineBits-1) == lineSlots {
		t.leave(s >> lineBits)
		t.now = next(t.now - 1)
	}
	return n
}

// next returns the slot number after s.
func next(s uint32) uint32 {
	s++
	if s&(1<<lineBits-1) == lineSlots {
		s += 1<<lineBits - lineSlots
	}
	return s
}

// full reports that no slot is left.
func (t *timeline) full() bool { return t.now == t.end }

// newest returns the live slot of the most recent access. There must be one
// beside slot 0.
func (t *timeline) newest() uint32 {
	at, word := t.now>>lineBits, t.now>>6&7
	var w uint64
	if at < uint32(len(t.lines)) {
		w = t.lines[at][word] & (1<<(t.now&63) - 1)
	}
	for w == 0 {
		if word > 0 {
			word--
		} else {
			at, word = at-1, lineCount-1
		}
		w = t.lines[at][word]
	}
	return at<<lineBits | word<<6 | uint32(63-bits.LeadingZeros64(w))
}

// each calls f with the owners of the live slots before now, in their order, those of
// a line at a time. They are valid until f returns.
func (t *timeline) each(f func([]entry)) {
	var found [lineSlots]entry
	at, word := t.now>>lineBits, t.now>>6&7
	for l := range min(at+1, uint32(len(t.lines))) {
		words := t.lines[l]
		if l == at {
			words[word] &= 1<<(t.now&63) - 1
			clear(words[word+1:])
		}
		n := 0
		owner := t.owner[l<<lineBits:][:lineSlots]
		for w, live := range words[:lineCount] {
			for ; live != 0; live &= live - 1 {
				found[n] = owner[w<<6|bits.TrailingZeros64(live)]
				n++
			}
		}
		f(found[:n])
	}
}

// renumber gives the live slots the first numbers, in order, updates last, and
// grows the time line if there would be fewer than spare slots for each live one.
func (t *timeline) renumber(last []uint32) {
	old, lines := t.owner, t.lines
	grow := uint64(t.live)*spare > uint64(len(lines))*lineSlots
	if grow {
		t.resize(2 * spare * int(t.live))
	}
	to := uint32(0)
	for at := range lines {
		for word, w := range lines[at][:lineCount] {
			base := uint32(at)<<lineBits | uint32(word)<<6
			for ; w != 0; w &= w - 1 {
				e := old[base|uint32(bits.TrailingZeros64(w))]
				t.owner[to] = e
				last[e] = to
				to = next(to)
			}
		}
	}
	t.now = to
	t.gone = 0
	if !grow {
		t.fill()
	}
}

// bytes returns the memory of the time line.
func (t *timeline) bytes() uint64 {
	return 8*uint64(lineWords*cap(t.lines)+cap(t.tree)+cap(t.wide)) + 4*uint64(cap(t.owner))
}
