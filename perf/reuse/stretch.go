package reuse

import "presage/perf/trace/affine"

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
	// A stretch of so many turns, and one more for some fresh blocks of a turn, is worth
	// the search.
	stretchLeast = 2
	stretchShare = 4

	// stretchMost bounds the fresh blocks of a turn, since each is compared with all others.
	stretchMost = 16

	// stretchWait bounds the turns, as a power of two, that pass after such as make no
	// stretch.
	stretchWait = 6
)

// stretch is the state of stack for stretches.
type stretch struct {
	taken, put [stretchMost]column // of the turns at hand

	wait int // turns that pass before the next search
	idle int // searches in a row that found uneven slots
}

// ends makes the next search begin after turns at which lines or leaves end.
func (x *stretch) ends(after int) int {
	x.wait = max(after, 1)
	return 0
}

// uneven makes the next search begin later after each in a row that found nothing.
func (x *stretch) uneven() int {
	x.wait = 1 << min(x.idle, stretchWait)
	x.idle++
	return 0
}

// even reports whether turns of s may make a stretch: there are not too many fresh blocks,
// nor are they too far apart.
func (k *stack) even(s *affine.Shape) bool {
	for i := range s.Fresh {
		w := &k.walks[s.Fresh[i].Stream%loopRefs]
		if w.advance+leafSize/stretchLeast > 2*leafSize/stretchLeast {
			return false
		}
	}
	return len(s.Fresh) > 0 && len(s.Fresh) <= stretchMost && len(s.Left) <= stretchMost
}

// search takes a stretch of s from a turn on, of at most so many, if it is time for a
// search, and returns its turns.
func (k *stack) search(s *affine.Shape, turn uint64, most int, weight uint64) int {
	x := &k.stretches
	if x.wait > 0 {
		x.wait--
		return 0
	}
	if most < stretchLeast+len(s.Fresh)/stretchShare {
		return 0
	}
	k.follow(weight)
	k.taker.done()
	return k.stretch(s, turn, most, weight)
}

// stretch takes turns of s from one on, at most so many, and returns their number.
func (k *stack) stretch(s *affine.Shape, turn uint64, most int, weight uint64) int {
	fresh, left := s.Moves(0, len(s.Phases))
	x := &k.stretches
	columns, put := x.taken[:len(fresh)], x.put[:len(left)]
	n, least := min(most, k.line.room()/max(len(left), 1)), stretchLeast+len(fresh)/stretchShare
	for i := range left {
		n = k.begin(&put[i], &left[i], turn, n)
	}
	for i := range columns {
		c := &columns[i]
		if n = k.begin(c, &fresh[i], turn, n); n < least {
			return x.ends(n)
		}
		var ends bool
		if n, ends = c.slots(k.table.last, n); n >= least {
			continue
		}
		if ends {
			return x.ends(n)
		}
		return x.uneven()
	}
	if !k.meetings(columns, n) {
		return x.uneven()
	}
	for i := range columns {
		if c := &columns[i]; !c.cold {
			n = recurs(c.marks, c.slot, c.step, n)
		}
	}
	if n < least {
		return x.ends(n)
	}
	x.wait, x.idle = 1, 0
	k.distances(columns, fresh, uint32(len(left)))
	k.takeColumns(columns, fresh, n, weight)
	k.touchColumns(columns, fresh, n)
	k.putColumns(put, n)
	return n
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
