package reuse

import "math/bits"

// column is what an access comes to, or leaves behind, in each turn of a stretch.
type column struct {
	block         uint64 // in the first turn
	advance       int    // blocks, from one turn to the next
	entry, second entry  // of block, and of the first one in another row of leaves
	inRow         int    // turns in the first row

	// Of an access to fresh blocks:
	label    uint32
	distance uint32 // in the first turn; before distances, without those on the time line
	slope    uint32 // added in each turn, modulo 2^32
	cold     bool

	// Of those that are not cold: slots, at equal steps in one line or two in a row.
	slot, end uint32 // in the first turn and in the last
	step      uint32 // from one turn to the next, in slots in use
	inLine    int    // turns whose slots may be in the first line
	next      uint32 // the first slot in the second line
	later     uint32 // columns all of whose slots come later
	marks     flat   // of both lines
}

// entryIn returns the entry of the block in a turn.
func (c *column) entryIn(turn int) entry {
	if turn < c.inRow {
		return entry(int(c.entry) + c.advance*turn)
	}
	return entry(int(c.second) + c.advance*(turn-c.inRow))
}

// slots sets the slots of c and returns the number of turns, at most most, in which the
// blocks have them.
func (c *column) slots(last []uint32, most int) int {
	first := last[c.entry]
	at := first & (1<<lineBits - 1)
	c.slot, c.step, c.cold, c.inLine = first, 0, first == 0, most
	if c.cold {
		return c.even(last, 0, most, 0)
	}
	if at >= lineSlots || most < 2 { // held
		return 0
	}
	step := number(last[c.entryIn(1)]) - number(first)
	if step == 0 || step >= lineSlots {
		return 1
	}
	c.step, c.inLine = step, int((lineSlots-1-at)/step)+1
	n := c.even(last, 0, min(most, c.inLine), first)
	if n < c.inLine || n == most {
		return n
	}
	at += step*uint32(n) - lineSlots
	c.next = (first>>lineBits+1)<<lineBits | at
	return c.even(last, n, min(most, n+int((lineSlots-1-at)/step)+1), c.next)
}

// even returns the first turn, of those from one up to another, in which the block does not
// have its slot, of those from one on; or the latter.
func (c *column) even(last []uint32, from, to int, slot uint32) int {
	for from < to {
		e, end := int(c.entryIn(from)), to
		if from < c.inRow {
			end = min(to, c.inRow)
		}
		for ; from < end; from++ {
			if last[e] != slot {
				return from
			}
			e += c.advance
			slot += c.step
		}
	}
	return to
}

// number numbers slots in use without gaps.
func number(slot uint32) uint32 { return slot - slot>>lineBits*(1<<lineBits-lineSlots) }

// slotIn returns the slot of a turn.
func (c *column) slotIn(turn int) uint32 {
	if turn < c.inLine {
		return c.slot + c.step*uint32(turn)
	}
	return c.next + c.step*uint32(turn-c.inLine)
}

// meetings finds out how columns of n turns lie to one another. It returns false if their
// distances may not be linear.
func (k *stack) meetings(columns []column, n int) bool {
	for i := range columns {
		columns[i].end = columns[i].slotIn(n - 1)
	}
	for i := range columns {
		c := &columns[i]
		if c.cold {
			if !c.alone(columns[:i], n) {
				return false
			}
			continue
		}
		k.line.flatten(&c.marks, c.slot>>lineBits)
		for cross := c.cross(columns) &^ (1 << i); cross != 0; cross &= cross - 1 {
			if o := &columns[bits.TrailingZeros64(cross)]; o.step != c.step || !c.ahead(o) {
				return false
			}
		}
	}
	return true
}

// cross returns the set of columns, a bit each, that run through slots of c, itself
// included, and counts those that come later.
func (c *column) cross(columns []column) (cross uint64) {
	slot, end, after := uint64(c.slot), uint64(c.end), uint64(0)
	for j := range columns {
		o := &columns[j]
		later, earlier := (end-uint64(o.slot))>>63, (uint64(o.end)-slot)>>63
		after += later
		cross |= (1 ^ later ^ earlier) << (j & 63)
	}
	c.later = uint32(after)
	return cross
}

// ahead prepares c for a column that runs through the same slots, if that is ahead of it.
// It returns false if both take the same slots, or their distances may not be linear.
//
// At each turn but the first ones, the column ahead has taken the same number of slots
// behind c in turns before. That it did not in the first ones is made good in the marks
// of c: slots that it would have taken before are live there, and must have been taken.
func (c *column) ahead(o *column) bool {
	if o.slot <= c.slot {
		return o.slot < c.slot
	}
	by := number(o.slot) - number(c.slot)
	if by < c.step {
		return true
	}
	for by -= c.step; by > 0; by -= c.step {
		if !c.marks.set(c.slot&(1<<lineBits-1) + by) {
			return false
		}
		if by < c.step {
			return true
		}
	}
	return false
}

// alone reports whether none of the other cold columns may have a block of c.
func (c *column) alone(others []column, n int) bool {
	lo, hi := c.span(n)
	for i := range others {
		if o := &others[i]; o.cold {
			oLo, oHi := o.span(n)
			if lo <= oHi && oLo <= hi && (o.advance != c.advance || int(o.block-c.block)%c.advance == 0) {
				return false
			}
		}
	}
	return true
}

// span returns the least and the greatest block of n turns.
func (c *column) span(n int) (lo, hi uint64) {
	last := c.block + uint64(c.advance*(n-1))
	return min(c.block, last), max(c.block, last)
}

// distances finds those of fresh blocks in turns that leave so many.
func (k *stack) distances(columns []column, left uint32) {
	t := &k.line
	at, above := uint32(noLine), uint32(0) // a line, and the live slots in it and after it
	for i := range columns {
		c := &columns[i]
		if c.cold {
			continue
		}
		if line := c.slot >> lineBits; line != at {
			at, above = line, t.live-t.before(line)
		}
		before := uint32(0) // taken in the same turn, of those that come later
		for j := range i {
			before += uint32((uint64(c.slot) - uint64(columns[j].slot)) >> 63)
		}
		c.distance += above - t.upTo(c.slot) - before
		c.slope = left - c.later - c.marks.between(c.slot, c.step)
	}
}
