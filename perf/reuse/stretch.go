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
// slots are taken at once from a line of the time line, and what remains for a block are
// a load and two stores.
const (
	// A stretch of so many turns, and one more for some fresh blocks of a turn, is worth
	// the search.
	stretchLeast = 2
	stretchShare = 2

	// stretchFar bounds the blocks from one turn to the next.
	stretchFar = 1 << 16

	// stretchMost bounds the fresh blocks of a turn, since each is compared with all others.
	stretchMost = 16

	// stretchWait bounds the turns, as a power of two, that pass after a search that found
	// no stretch.
	stretchWait = 6
)

// stretch is the state of stack for stretches.
type stretch struct {
	taken, put  [stretchMost]column // of the turns at hand
	fresh, left int                 // columns in use
	losses      [2 * stretchMost]loss

	wait int // turns that pass before the next search
	idle int // searches in a row that found nothing
}

// pass makes the next search begin after turns, and later after each in a row that found
// nothing. It returns 0.
func (x *stretch) pass(turns int) int {
	x.wait = min(max(turns, 1)<<min(x.idle, stretchWait), 1<<stretchWait)
	x.idle++
	return 0
}

// even reports whether turns of s may make a stretch: there are not too many fresh blocks,
// nor are they too far apart.
func (k *stack) even(s *affine.Shape) bool {
	for i := range s.Fresh {
		w := &k.walks[s.Fresh[i].Stream%loopRefs]
		if w.advance+stretchFar > 2*stretchFar {
			return false
		}
	}
	return len(s.Fresh) > 0 && len(s.Fresh) <= stretchMost && len(s.Left) <= stretchMost
}

// search takes a stretch of s that begins in a phase of a turn, of at most so many turns,
// if it is time for a search, and returns its turns.
func (k *stack) search(s *affine.Shape, phase int, turn uint64, most int, weight uint64) int {
	x := &k.stretches
	if x.wait > 0 {
		x.wait--
		return 0
	}
	least := stretchLeast + len(s.Fresh)/stretchShare
	if most < least {
		return 0
	}
	k.follow(weight)
	k.taker.done()
	n := k.begin(s, phase, turn, most)
	if n < least {
		return x.pass(n)
	}
	return k.stretch(n, least, weight)
}

// stretch takes the columns that begin has set for at most so many turns, and returns the
// turns.
func (k *stack) stretch(most, least int, weight uint64) int {
	x := &k.stretches
	n, columns := most, x.taken[:x.fresh]
	for i := range columns {
		if n = columns[i].slots(k.table.last, n); n < least {
			return x.pass(n)
		}
	}
	if !k.meetings(columns, n) {
		return x.pass(1)
	}
	for i := range columns {
		if c := &columns[i]; !c.cold {
			n = c.marks.recurs(c.slot, c.step, n)
		}
	}
	if n < least {
		return x.pass(n)
	}
	x.idle = 0
	k.distances(columns, uint32(x.left))
	k.takeColumns(columns, n, weight)
	k.touchColumns(columns, n)
	k.putColumns(x.put[:x.left], n)
	return n
}

// begin sets the columns to the moves of turns from a phase of one on, and returns the
// number of turns, at most most, in which their entries are known.
func (k *stack) begin(s *affine.Shape, phase int, turn uint64, most int) int {
	x := &k.stretches
	fresh, left := s.Moves(phase, len(s.Phases))
	x.fresh, x.left = 0, 0
	most = k.columns(fresh, left, turn, -uint32(s.LeftBefore(phase)), most)
	if phase > 0 {
		gone := uint32(len(left))
		fresh, left = s.Moves(0, phase)
		most = k.columns(fresh, left, turn+1, gone, most)
	}
	return min(most, k.line.room()/max(x.left, 1))
}

// columns adds those of the moves of some phases in a turn. Before such that have no Lefts,
// turns have left some blocks.
func (k *stack) columns(fresh, left []affine.Move, turn uint64, gone uint32, most int) int {
	x := &k.stretches
	for i := range fresh {
		m, c := &fresh[i], &x.taken[x.fresh]
		most = k.column(c, m, turn, most)
		c.label, c.distance = k.walks[m.Stream%loopRefs].label, uint32(m.Held)+m.Lefts+gone
		x.fresh++
	}
	for i := range left {
		most = k.column(&x.put[x.left], &left[i], turn, most)
		x.left++
	}
	return most
}

// column sets the blocks of c to those of a move from a turn on, and returns the number of
// turns, at most most, in which its entries are known: in one row of leaves or two.
func (k *stack) column(c *column, m *affine.Move, turn uint64, most int) int {
	w := &k.walks[m.Stream%loopRefs]
	c.block = w.base + w.advance*turn + m.By
	c.entry, c.advance, c.inRow = w.entryOf(&k.table, c.block), int(w.advance), most
	if turns := k.table.row(c.entry).turns(c.entry, c.advance, most); turns < most {
		c.inRow = turns
		var ok bool
		if c.second, ok = k.table.find(c.block + w.advance*uint64(turns)); !ok {
			return turns
		}
		return turns + k.table.row(c.second).turns(c.second, c.advance, most-turns)
	}
	return most
}

// turns returns the number of turns, at most most, whose entries are in r, from one entry
// on.
func (r leafRow) turns(e entry, advance, most int) int {
	room := int(r.last - e)
	if advance < 0 {
		room, advance = int(e-r.first), -advance
	}
	if advance*(most-1) <= room {
		return most
	}
	return room/advance + 1
}
