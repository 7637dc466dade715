package reuse

import (
	"math/bits"

	"presage/perf/trace/affine"
)

// Loops go along the rows of arrays again and again, and mostly in step with the same
// ones as before. The blocks that a turn of a loop's phases (see affine.Shape) comes to
// then have their slots as far apart, from each turn to the next, as the sweep left them
// that accessed them last:
//
//	time line   … a b c d a b c d a b c d …     one sweep, turn by turn
//	taken         ^       ^       ^             by an access of another one
//
// Such turns make a stretch. If what is live between the slots of an access recurs with
// them, its distances are linear in the turns, and mostly equal (derived here): with each
// turn there are as many more blocks as turns leave, less one for each access that takes
// blocks from further on, and less those between its slots. So they are counted at once,
// the slots are taken at once from a line of the time line, and what remains for a block
// are a load and three stores.
const (
	// stretchLeast is the number of turns below which a stretch is not worth the search.
	stretchLeast = 2

	// stretchMost bounds the fresh blocks of a turn, since each is compared with all others.
	stretchMost = 16

	// stretchWait is the number of turns that pass after one that begins no stretch.
	stretchWait = 8
)

// column is what an access comes to, or leaves behind, in each turn of a stretch.
type column struct {
	entry   entry // in the first turn
	advance int   // entries, from one turn to the next

	// Of an access to fresh blocks:
	slot, step uint32 // slots, likewise, all of one line
	later      uint32 // columns all of whose slots come later
	distance   uint32 // in the first turn
	slope      uint32 // added in each turn, modulo 2^32
	marks      [lineWords]uint64
}

// slots sets the slots of c and returns the number of turns, at most most, in which the
// blocks have them, and whether the line ends there.
func (c *column) slots(last []uint32, most int) (turns int, ends bool) {
	first, second := last[c.entry], last[int(c.entry)+c.advance]
	at := first & (1<<lineBits - 1)
	if first == 0 || at >= lineSlots { // cold, or held
		return 0, false
	}
	if second>>lineBits != first>>lineBits || second <= first {
		return 1, second == next(second-1) && second > first
	}
	c.slot, c.step = first, second-first
	inLine := int((lineSlots-1-at)/c.step) + 1
	most = min(most, inLine)
	e, s := int(c.entry), first
	for n := range most {
		if last[e] != s {
			return n, false
		}
		e += c.advance
		s += c.step
	}
	return most, most == inLine
}

// stretch takes turns of s from one on, at most so many, and returns their number, and
// that of turns to go on without.
func (k *stack) stretch(s *affine.Shape, turn uint64, most int, weight uint64) (taken, wait int) {
	fresh, left := s.Moves(0, len(s.Phases))
	if len(fresh) == 0 || len(fresh) > stretchMost || len(left) > stretchMost {
		return 0, most
	}
	n := min(most, k.line.room()/max(len(left), 1))
	for i := range left {
		if n = k.begin(&k.put[i], &left[i], turn, n); n < stretchLeast {
			return 0, 1
		}
	}
	for i := range fresh {
		c := &k.taken[i]
		if n = k.begin(c, &fresh[i], turn, n); n < stretchLeast {
			return 0, 1
		}
		var ends bool
		if n, ends = c.slots(k.table.last, n); n < stretchLeast {
			if ends {
				return 0, 1
			}
			return 0, stretchWait
		}
	}
	if !k.meetings(len(fresh), n) {
		return 0, stretchWait
	}
	for i := range fresh {
		c := &k.taken[i]
		n = recurs(&c.marks, c.slot, c.step, n)
	}
	if n < stretchLeast {
		return 0, n
	}
	k.distances(fresh, uint32(len(left)))
	for i := range fresh {
		k.takeColumn(&k.taken[i], k.walks[fresh[i].Stream%loopRefs].label, n, weight)
	}
	k.putColumns(k.put[:len(left)], n)
	return n, 1
}

// begin sets the block of c to that of a move in a turn, and returns the number of turns,
// at most most, in which its entries are known: in one leaf of the table, or in two that
// lie side by side.
func (k *stack) begin(c *column, m *affine.Move, turn uint64, most int) int {
	w := &k.walks[m.Stream%loopRefs]
	block := w.base + w.advance*turn + m.By
	c.entry, c.advance = w.entryOf(&k.table, block), int(w.advance)
	at, by := int(c.entry&(leafSize-1)), c.advance
	if by < 0 {
		at, by = leafSize-1-at, -by
	}
	if at+by*(most-1) < leafSize {
		return most
	}
	inLeaf := (leafSize-1-at)/by + 1
	most = min(most, (leafSize-1)/by+1)
	if e, ok := k.table.find(block + w.advance*uint64(most-1)); !ok || int(e) != int(c.entry)+c.advance*(most-1) {
		return inLeaf
	}
	return most
}

// meetings finds out how columns of n turns lie to one another. It returns false if their
// distances may not be linear.
//
// Of columns that run through the same slots of a line, one is ahead of another by the
// same number of slots in each turn. So at each turn but the first ones, it took the same
// number of slots behind the other in turns before. That it did not in the first ones is
// made good in the other's marks: of the slots that it would have taken before, those
// behind the other are live there, and must have been taken.
func (k *stack) meetings(columns, n int) bool {
	for i := range columns {
		c := &k.taken[i]
		c.marks, c.later = k.line.lines[c.slot>>lineBits], 0
		end := c.slot + c.step*uint32(n-1)
		for j := range columns {
			o := &k.taken[j]
			switch {
			case o.slot > end:
				c.later++
			case i == j || o.slot+o.step*uint32(n-1) < c.slot:
			case o.step != c.step || !k.ahead(c, o):
				return false
			}
		}
	}
	return true
}

// ahead makes slots live for c that o would have taken before, if it is ahead.
// It returns false if they take the same slots, or some of these are live.
func (k *stack) ahead(c, o *column) bool {
	switch by := o.slot - c.slot; {
	case o.slot == c.slot:
		return false
	case o.slot < c.slot:
		return (c.slot-o.slot)%c.step != 0
	case by < c.step:
		return true
	case by%c.step == 0:
		return false
	}
	line := &k.line.lines[c.slot>>lineBits]
	for s := o.slot - o.step; s > c.slot; s -= o.step {
		word, bit := s>>6&7, uint64(1)<<(s&63)
		if line[word]&bit != 0 {
			return false
		}
		c.marks[word] |= bit
	}
	return true
}

// distances finds those of fresh blocks in turns that leave so many.
func (k *stack) distances(fresh []affine.Move, left uint32) {
	for i := range fresh {
		c := &k.taken[i]
		before := uint32(0) // taken in the same turn, of those that come later
		for j := range i {
			if k.taken[j].slot > c.slot {
				before++
			}
		}
		c.distance = uint32(fresh[i].Held) + fresh[i].Lefts + k.line.after(c.slot) - before
		c.slope = left - c.later - between(&c.marks, c.slot, c.step)
	}
}

// takeColumn takes the blocks of n turns off the time line and counts their distances.
func (k *stack) takeColumn(c *column, label uint32, n int, weight uint64) {
	if c.slope == 0 {
		k.counts.addMany(label, c.distance, weight*uint64(n))
	} else {
		for i := range uint32(n) {
			k.counts.addMany(label, c.distance+c.slope*i, weight)
		}
	}
	k.line.takeMany(c.slot, c.step, n)
	last, e := k.table.last, int(c.entry)
	for range n {
		last[e] = heldMark(0)
		e += c.advance
	}
}

// putColumns puts the blocks left in n turns on the time line, which has room.
func (k *stack) putColumns(left []column, n int) {
	t, last := &k.line, k.table.last
	for done, all := 0, n*len(left); done < all; {
		s := t.now
		some := min(all-done, lineSlots-int(s&(1<<lineBits-1)))
		owner := t.owner[s:][:some]
		for i := range left {
			c := &left[i]
			turn := (done + len(left) - 1 - i) / len(left)
			e := int(c.entry) + c.advance*turn
			for at := turn*len(left) + i - done; at < some; at += len(left) {
				owner[at] = entry(e)
				last[e] = s + uint32(at)
				e += c.advance
			}
		}
		t.used(uint32(some))
		done += some
	}
}

// room returns a number of slots that are left.
func (t *timeline) room() int { return int((t.end-t.now)>>lineBits) * lineSlots }

// used makes the next n slots, all of one line, live.
func (t *timeline) used(n uint32) {
	t.live += n
	t.now += n
	if t.now&(1<<lineBits-1) == lineSlots {
		t.leave(t.now >> lineBits)
		t.now = next(t.now - 1)
	}
}

// window returns the marks of the 64 slots from one on; without meaning beyond the line.
func window(line *[lineWords]uint64, at uint32) uint64 {
	w, shift := at>>6, at&63
	return line[w%lineWords]>>shift | line[(w+1)%lineWords]<<1<<(63-shift)
}

// recurs returns the number of slots, at most most, of a row of slots so many apart
// between which the same are live.
func recurs(line *[lineWords]uint64, slot, step uint32, most int) int {
	from, all := slot&(1<<lineBits-1)+1, uint32(max(most-2, 0))*step
	for done := uint32(0); done < all; done += 64 {
		if x := window(line, from+done) ^ window(line, from+done+step); x != 0 {
			done += uint32(bits.TrailingZeros64(x))
			return min(most, int(done/step)+2)
		}
	}
	return most
}

// between returns how many of the n slots of a line after one are live.
func between(line *[lineWords]uint64, slot, n uint32) (live uint32) {
	for at := slot&(1<<lineBits-1) + 1; n > 0; at += 64 {
		some := min(n, 64)
		live += uint32(bits.OnesCount64(window(line, at) << (64 - some)))
		n -= some
	}
	return live
}

// after returns how many live slots, before now, come after a live one.
func (t *timeline) after(s uint32) uint32 {
	line := &t.lines[s>>lineBits]
	word := s >> 6 & 7
	before := uint32(bits.OnesCount64(line[word]&(1<<(s&63)-1))) + uint32(line[lineCount]>>(laneBits*word))&laneMask
	return t.live - 1 - before - t.before(s>>lineBits)
}

// takeMany removes n slots of a line, so many apart.
func (t *timeline) takeMany(slot, step uint32, n int) {
	at := slot >> lineBits
	line := &t.lines[at]
	s := slot & (1<<lineBits - 1)
	for range n {
		line[s>>6&7] &^= 1 << (s & 63)
		s += step
	}
	count, live := uint64(0), uint64(0)
	for w, marks := range line[:lineCount] {
		count |= live << (laneBits * w)
		live += uint64(bits.OnesCount64(marks))
	}
	line[lineCount] = count
	if at == t.now>>lineBits {
		t.gone += uint32(n)
	} else {
		t.lower(at, uint32(n))
	}
	t.live -= uint32(n)
}
