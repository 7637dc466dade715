package reuse

import "presage/perf/trace/affine"

// column is what an access comes to, or leaves behind, in each turn of a stretch.
type column struct {
	entry   entry // in the first turn
	advance int   // entries, from one turn to the next

	// Of an access to fresh blocks:
	cold       bool
	slot, step uint32 // slots, likewise, all of one line; 0 if it is cold
	later      uint32 // columns all of whose slots come later
	distance   uint32 // in the first turn
	slope      uint32 // added in each turn, modulo 2^32
	marks      [lineWords]uint64
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
//
// Of columns that run through the same slots of a line, one is ahead of another by the
// same number of slots in each turn. So at each turn but the first ones, it took the same
// number of slots behind the other in turns before. That it did not in the first ones is
// made good in the other's marks: of the slots that it would have taken before, those
// behind the other are live there, and must have been taken.
func (k *stack) meetings(columns []column, n int) bool {
	for i := range columns {
		c := &columns[i]
		if c.cold {
			if !c.alone(columns[:i], n) {
				return false
			}
			continue
		}
		c.marks, c.later = k.line.lines[c.slot>>lineBits], 0
		end := c.slot + c.step*uint32(n-1)
		for j := range columns {
			o := &columns[j]
			switch {
			case o.slot > end:
				c.later++
			case i == j || o.slot+o.step*uint32(n-1) < c.slot:
			case o.step != c.step || !c.ahead(o, &k.line.lines[c.slot>>lineBits]):
				return false
			}
		}
	}
	return true
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

// ahead makes slots live for c that o would have taken before, if it is ahead.
// It returns false if they take the same slots, or some of these are live.
func (c *column) ahead(o *column, line *[lineWords]uint64) bool {
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
func (k *stack) distances(columns []column, fresh []affine.Move, left uint32) {
	for i := range columns {
		c := &columns[i]
		if c.cold {
			continue
		}
		before := uint32(0) // taken in the same turn, of those that come later
		for j := range i {
			if columns[j].slot > c.slot {
				before++
			}
		}
		c.distance = uint32(fresh[i].Held) + fresh[i].Lefts + k.line.after(c.slot) - before
		c.slope = left - c.later - between(&c.marks, c.slot, c.step)
	}
}

// takeColumn takes the blocks of n turns off the time line and counts their distances.
func (k *stack) takeColumn(c *column, label uint32, n int, weight uint64) {
	switch {
	case c.cold:
	case c.slope == 0:
		k.counts.addMany(label, c.distance, weight*uint64(n))
	default:
		for i := range uint32(n) {
			k.counts.addMany(label, c.distance+c.slope*i, weight)
		}
	}
	if !c.cold {
		k.line.takeMany(c.slot, c.step, n)
	}
	last, e := k.table.last, int(c.entry)
	for range n {
		last[e] = heldMark(0)
		e += c.advance
	}
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
