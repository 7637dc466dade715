package cache

import (
	"math/bits"
	"slices"

	"presage/perf/trace/affine"
)

// While a block is accessed in every iteration, LRU keeps it before all that are not, and
// the order that such blocks have among themselves matters only when one of them is left:
// the others then come before it. So blocks of an iteration are accessed again only where a
// set does not have those that the next one leaves last, in the order of their last
// accesses; mostly, streams leave blocks in the order in which they came to them, and it
// has. Where a set has fewer ways than blocks of two iterations, one could evict another:
// all accesses to that set are asked for, before which it is to have its blocks in the
// order of their last accesses, as it has at the end of a loop. (Derived here.)

// settler finds what is accessed again in the iterations of a plan.
type settler struct {
	streams []affine.Stream
	level   *level
	drafts  []draft // of the phases, in the order of iterations
	at      uint32  // the iteration of the first
	strict  bool    // blocks that the next iteration does not leave are in the order of their last accesses too

	// Of the phase before the first up to that after the last.
	due     [][]uint64 // blocks, in the order of their last accesses
	crowded [][]uint64 // sets with fewer ways than blocks of the phase and of the one before; none of the first

	here, first []uint64 // at hand
}

// settleTurns is the number of turns of all phases in which the orders of sets are to
// recur. If they do not, none is left open.
var settleTurns = 4 // set by tests

// settle adds to the asks of drafts what sets with too few ways need, and sets what is
// accessed again.
func (s *settler) settle() {
	s.list()
	for i := range s.drafts {
		d, crowded := &s.drafts[i], s.crowded[i+1]
		for all := d.close; all != 0 && len(crowded) > 0; all &= all - 1 {
			k := bits.TrailingZeros64(all)
			if slices.Contains(crowded, s.set(d.streams[k].Block(d.at))) {
				d.asks |= 1 << k
			}
		}
	}
	if !s.recur(settleTurns) {
		s.strict = true
		s.recur(1)
	}
	for i := range s.drafts {
		d, due := &s.drafts[i], s.due[i+1]
		d.opens = s.asks(d, s.reorder(due, d.has))
		d.ends = s.asks(d, s.reorder(d.has, due))
	}
}

// list sets due and crowded.
func (s *settler) list() {
	n := len(s.drafts)
	for i := range n + 2 {
		d := &s.drafts[(i+n-1)%n]
		due := make([]uint64, 0, len(d.latest))
		for _, k := range d.latest {
			due = append(due, s.streams[k].Block(s.at+uint32(i)-1))
		}
		s.due = append(s.due, due)
		s.crowded = append(s.crowded, s.crowd(i))
	}
}

// crowd returns what crowded has of phase i-1.
func (s *settler) crowd(i int) (sets []uint64) {
	if i == 0 {
		return nil
	}
	both := append(s.here[:0], s.due[i]...)
	for _, b := range s.due[i-1] {
		if !slices.Contains(both, b) {
			both = append(both, b)
		}
	}
	s.here = both
	for k, b := range both {
		n := uint64(0)
		for _, o := range both[:k+1] {
			n += 1 - min(1, s.set(b^o))
		}
		if n == s.level.ways+1 {
			sets = append(sets, s.set(b))
		}
	}
	return sets
}

// recur goes through the phases, so many times at most, until sets have the same orders as
// the turn before, and reports whether they do.
func (s *settler) recur(turns int) bool {
	has := slices.Clone(s.due[0])
	f, n := &s.streams[s.drafts[0].latest[0]], len(s.drafts)
	by := f.Block(s.at+uint32(n)) - f.Block(s.at) // in a turn
	for range turns {
		before := slices.Clone(has)
		for i := range s.drafts {
			has = s.iterate(i, has)
		}
		for k := range has {
			has[k] = (has[k] - by) & (^uint64(0) >> s.level.shift)
		}
		if slices.Equal(has, before) {
			return true
		}
	}
	return false
}

// iterate makes the accesses of a phase to the blocks of the iteration before, which come
// in the order that sets have, the latest last, and returns those of this one.
func (s *settler) iterate(i int, has []uint64) []uint64 {
	d := &s.drafts[i]
	for asks := d.asks & d.close; asks != 0; asks &= asks - 1 {
		has = toEnd(has, d.streams[bits.TrailingZeros64(asks)].Block(d.at))
	}
	due, next, crowded := s.due[i+1], s.due[i+2], s.crowded[i+2]
	has = slices.DeleteFunc(has, func(b uint64) bool { return !slices.Contains(due, b) })
	first := s.first[:0]
	for _, b := range due {
		if !slices.Contains(next, b) || slices.Contains(crowded, s.set(b)) {
			first = append(first, b)
		}
	}
	for _, b := range due {
		if s.strict && !slices.Contains(first, b) {
			first = append(first, b)
		}
	}
	s.first = first
	list := s.reorder(has, first)
	for _, b := range list {
		has = toEnd(has, b)
	}
	d.again, d.has = s.asks(d, list), append(d.has[:0], has...)
	return has
}

// set returns the set of a block.
func (s *settler) set(block uint64) uint64 { return block & s.level.mask }

// reorder returns what blocks that sets have, the latest last, are to be accessed again so
// that those of first come first in each set, in their order.
func (s *settler) reorder(has, first []uint64) (list []uint64) {
	for i, b := range has {
		in := func(o uint64) bool { return s.set(o^b) == 0 }
		if !slices.ContainsFunc(has[i+1:], in) || slices.ContainsFunc(has[:i], in) {
			continue // alone, or done
		}
		list = append(list, reorder(only(has, in), only(first, in))...)
	}
	return list
}

// reorder is settler.reorder for the blocks of one set.
func reorder(has, first []uint64) (list []uint64) {
	at, n := 0, 0 // so many of first come so far into has
	for ; n < len(first); n++ {
		k := slices.Index(has[at:], first[n])
		if k < 0 {
			at = len(has)
			break
		}
		at += k + 1
	}
	list = append(list, first[n:]...)
	for _, b := range has[:at] {
		if !slices.Contains(first, b) {
			list = append(list, b)
		}
	}
	return list
}

// asks returns accesses to blocks of a phase.
func (s *settler) asks(d *draft, blocks []uint64) (list []ask) {
	for _, b := range blocks {
		i := slices.IndexFunc(d.latest, func(k uint8) bool { return s.streams[k].Block(d.at) == b })
		list = append(list, ask{stream: d.latest[i]})
	}
	return list
}

// toEnd moves a block to the end of a list, or adds it there.
func toEnd(blocks []uint64, b uint64) []uint64 {
	if i := slices.Index(blocks, b); i >= 0 {
		blocks = slices.Delete(blocks, i, i+1)
	}
	return append(blocks, b)
}

// only returns the blocks for which keep returns true.
func only(blocks []uint64, keep func(uint64) bool) (list []uint64) {
	for _, b := range blocks {
		if keep(b) {
			list = append(list, b)
		}
	}
	return list
}
