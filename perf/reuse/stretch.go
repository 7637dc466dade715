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
	// stretchLeast is the number of turns below which a stretch is not worth the search.
	stretchLeast = 2

	// stretchMost bounds the fresh blocks of a turn, since each is compared with all others.
	stretchMost = 16

	// stretchWait bounds the turns that pass, as a power of two, after such as make no
	// stretch.
	stretchWait = 3
)

// stretch is the state of stack for stretches.
type stretch struct {
	taken, put [stretchMost]column // of the turns at hand
	idle       int                 // in a row that made none
}

// stretch takes turns of s from one on, at most so many, and returns their number, and
// that of turns to go on without.
func (k *stack) stretch(s *affine.Shape, turn uint64, most int, weight uint64) (taken, wait int) {
	fresh, left := s.Moves(0, len(s.Phases))
	if len(fresh) > stretchMost || len(left) > stretchMost {
		return 0, most
	}
	x := &k.stretches
	columns, put := x.taken[:len(fresh)], x.put[:len(left)]
	n := min(most, k.line.room()/max(len(left), 1))
	for i := range left {
		n = k.begin(&put[i], &left[i], turn, n)
	}
	for i := range columns {
		c := &columns[i]
		if n = k.begin(c, &fresh[i], turn, n); n < stretchLeast {
			return 0, 1
		}
		var ends bool
		if n, ends = c.slots(k.table.last, n); n < stretchLeast {
			if ends {
				return 0, 1
			}
			return 0, x.uneven()
		}
	}
	if !k.meetings(columns, n) {
		return 0, x.uneven()
	}
	for i := range columns {
		if c := &columns[i]; !c.cold {
			n = recurs(&c.marks, c.slot, c.step, n)
		}
	}
	x.idle = 0
	k.distances(columns, fresh, uint32(len(left)))
	for i := range columns {
		k.takeColumn(&columns[i], k.walks[fresh[i].Stream%loopRefs].label, n, weight)
	}
	k.touchColumns(columns, fresh, n)
	k.putColumns(put, n)
	return n, 1
}

// uneven returns the number of turns that pass after such as make no stretch.
func (x *stretch) uneven() int {
	x.idle++
	return 1 << min(x.idle-1, stretchWait)
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
