package reuse

import (
	"math/bits"

	"presage/perf/trace/affine"
)

// column is what an access comes to, or leaves behind, in each turn of a stretch.
type column struct {
	entry   entry // in the first turn
	advance int   // entries, from one turn to the next

	// Of an access to fresh blocks, unless it is cold:
	cold      bool
	slot, end uint32 // its slots in the first turn and in the last, of one line
	step      uint32 // between those of turns
	later     uint32 // columns all of whose slots come later
	distance  uint32 // in the first turn
	slope     uint32 // added in each turn, modulo 2^32
	marks     *[lineWords]uint64
	own       [lineWords]uint64
}

// slots sets the slots of c and returns the number of turns, at most most, in which the
// blocks have them, and whether the line ends there. If c is cold they have none.
func (c *column) slots(last []uint32, most int) (turns int, ends bool) {
	first, second := last[c.entry], last[int(c.entry)+c.advance]
	at := first & (1<<lineBits - 1)
	c.slot, c.step, c.cold = first, second-first, first == 0
	switch {
	case c.cold:
		c.step = 0
	case at >= lineSlots: // held
		return 0, false
	case second>>lineBits != first>>lineBits || second <= first:
		return 1, second == next(second-1) && second > first
	}
	inLine := most
	if !c.cold {
		inLine = int((lineSlots-1-at)/c.step) + 1
		most = min(most, inLine)
	}
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

// meetings finds out how columns of n turns lie to one another. It returns false if their
// distances may not be linear.
func (k *stack) meetings(columns []column, n int) bool {
	for i := range columns {
		c := &columns[i]
		c.end = c.slot + c.step*uint32(n-1)
	}
	for i := range columns {
		c := &columns[i]
		if c.cold {
			if !c.alone(columns[:i], n) {
				return false
			}
			continue
		}
		c.marks = &k.line.lines[c.slot>>lineBits]
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
	c.later = 0
	for j := range columns {
		o := &columns[j]
		later, earlier := (uint64(c.end)-uint64(o.slot))>>63, (uint64(o.end)-uint64(c.slot))>>63
		c.later += uint32(later)
		cross |= (1 ^ later ^ earlier) << j
	}
	return cross
}

// ahead prepares c for a column that runs through the same slots, if that is ahead of it.
// It returns false if both take the same slots, or their distances may not be linear.
//
// At each turn but the first ones, the column ahead has taken the same number of slots
// behind c in turns before. That it did not in the first ones is made good in the marks
// of c: slots that it would have taken before are live there, and must have been taken.
func (c *column) ahead(o *column) bool {
	by := o.slot - c.slot
	if by < c.step {
		return by != 0
	}
	if o.slot < c.slot {
		return true
	}
	line := c.marks
	for by -= c.step; by > 0; by -= c.step {
		s := c.slot + by
		word, bit := s>>6&7, uint64(1)<<(s&63)
		if line[word]&bit != 0 {
			return false
		}
		if c.marks != &c.own {
			c.own, c.marks = *c.marks, &c.own
		}
		c.own[word] |= bit
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
			if lo <= oHi && oLo <= hi && (o.advance != c.advance || (int(o.entry)-int(c.entry))%c.advance == 0) {
				return false
			}
		}
	}
	return true
}

// span returns the least and the greatest entry of n turns.
func (c *column) span(n int) (lo, hi int) {
	first, last := int(c.entry), int(c.entry)+c.advance*(n-1)
	return min(first, last), max(first, last)
}

// distances finds those of fresh blocks in turns that leave so many.
func (k *stack) distances(columns []column, fresh []affine.Move, left uint32) {
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
		c.distance = uint32(fresh[i].Held) + fresh[i].Lefts + above - t.upTo(c.slot) - before
		c.slope = left - c.later - between(c.marks, c.slot, c.step)
	}
}

// takeColumns takes the blocks of n turns off the time line and counts their distances.
func (k *stack) takeColumns(columns []column, fresh []affine.Move, n int, weight uint64) {
	last := k.table.last
	at, gone := uint32(0), uint32(0) // a line, and the slots that it has lost
	for i := range columns {
		c := &columns[i]
		for turn := range n {
			last[int(c.entry)+c.advance*turn] = heldMark(0)
		}
		if c.cold {
			continue
		}
		label := k.walks[fresh[i].Stream%loopRefs].label
		if c.slope == 0 {
			k.counts.addMany(label, c.distance, weight*uint64(n))
		} else {
			for turn := range uint32(n) {
				k.counts.addMany(label, c.distance+c.slope*turn, weight)
			}
		}
		if line := c.slot >> lineBits; line != at {
			k.line.recount(at, gone)
			at, gone = line, 0
		}
		k.line.unmark(c.slot, c.step, n)
		gone += uint32(n)
	}
	k.line.recount(at, gone)
}

// touchColumns notes first touches in n turns, in order.
func (k *stack) touchColumns(columns []column, fresh []affine.Move, n int) {
	var cold [stretchMost]int
	some := 0
	for i := range columns {
		if columns[i].cold {
			cold[some] = i
			some++
		}
	}
	for turn := range n {
		for _, i := range cold[:some] {
			c := &columns[i]
			k.first(entry(int(c.entry)+c.advance*turn), k.walks[fresh[i].Stream%loopRefs].label)
		}
		if some == 0 {
			return
		}
	}
}

// putColumns puts the blocks left in n turns on the time line, which has room.
func (k *stack) putColumns(left []column, n int) {
	t, last := &k.line, k.table.last
	for done, all := 0, n*len(left); done < all; {
		s := t.now
		some := min(all-done, lineSlots-int(s&(1<<lineBits-1)))
		owner := t.owner[s:][:some]
		turn, rest := done/len(left), done%len(left)
		for i := range left {
			c := &left[i]
			turn := turn
			if i < rest {
				turn++
			}
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
