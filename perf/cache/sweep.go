package cache

import (
	"slices"

	"presage/perf/trace"
)

// A stream that walks down a column of a matrix comes to more pages than a TLB of one set
// has entries. It misses each of them if the TLB holds none of the first ones, as many as it
// has entries: others have been evicted when the stream comes to them. The pages of all other
// streams are accessed in each iteration and stay. So the misses can be counted, and what
// the TLB holds at the end is known.

// addSweep notes that stride i goes on to many pages, as the first of a run, or as one with
// the same addresses as the first. It returns false if it is another one, or if accesses may
// span two pages.
func (c *chain) addSweep(l *trace.Loop, i int) bool {
	s := &l.Strides[i]
	if c.sweeps >= 0 {
		f := &l.Strides[c.sweeps]
		return s.Step == f.Step && s.First.Addr() == f.First.Addr() && s.First.Size() <= f.First.Size()
	}
	c.sweeps = i
	size, level := s.First.Size(), &c.levels[0]
	return level.sets == 1 && level.pool == nil && !level.gives &&
		(s.First.Addr()|uint64(s.Step))&(size-1) == 0 && size <= 1<<level.shift &&
		pagesOf(s, 0, l.Count-1, level.shift&63).moves >= level.ways
}

// sweepMisses reports whether the stride that goes on to many pages misses all of them, and
// comes to none of another stride.
func (c *chain) sweepMisses(l *trace.Loop) bool {
	f, level := &l.Strides[c.sweeps], &c.levels[0]
	shift := level.shift & 63
	all := pagesOf(f, 0, l.Count-1, shift)
	for i := range l.Strides {
		s := &l.Strides[i]
		if s.Step == f.Step && s.First.Addr() == f.First.Addr() {
			continue
		}
		if o := pagesOf(s, 0, l.Count-1, shift); o.hi >= all.lo && o.lo <= all.hi {
			return false
		}
	}
	first := all // the first ones, as many as the TLB has entries
	if all.leaps {
		first = pagesOf(f, 0, uint32(level.ways), shift)
	} else if f.Step > 0 {
		first.hi = first.lo + level.ways
	} else {
		first.lo = first.hi - level.ways
	}
	for _, t := range level.tags[:level.ways] {
		if b := t.block(); b >= first.lo && b <= first.hi {
			return false
		}
	}
	return true
}

// pageRange has the pages of some iterations of a stride.
type pageRange struct {
	lo, hi uint64
	moves  uint64 // from page to page
	leaps  bool   // in each iteration
}

// pagesOf returns the pages of a stride in iterations from one to another.
func pagesOf(s *trace.Stride, from, to uint32, shift uint) pageRange {
	first, last := s.At(from).Addr()>>shift, s.At(to).Addr()>>shift
	r := pageRange{lo: min(first, last), hi: max(first, last)}
	r.moves = r.hi - r.lo
	if r.leaps = s.Step >= 1<<shift || -s.Step >= 1<<shift; r.leaps {
		r.moves = uint64(to - from)
	}
	return r
}

// sweep simulates the iterations of a run after one up to another, in which no other stride
// than that to many pages goes on to one.
func (c *chain) sweep(l *trace.Loop, from, to uint32) {
	f, level := &l.Strides[c.sweeps], &c.levels[0]
	shift := level.shift & 63
	r := pagesOf(f, from, to, shift)
	if r.moves == 0 {
		return
	}
	ref := &c.refs[f.First.Ref()]
	n := &level.counts[ref.group]
	n.Misses += r.moves
	level.missed += r.moves
	below := int(level.below[ref.float])
	switch {
	case r.leaps || below < len(c.levels):
		for page, at := f.At(from).Addr()>>shift, from+1; at <= to; at++ {
			if b := f.At(at).Addr() >> shift; b != page {
				level.coldRow(n, b, 1, ref.group)
				c.sweepBelow(below, b, ref)
				page = b
			}
		}
	case f.Step > 0:
		level.coldRow(n, r.lo+1, r.moves, ref.group)
	default:
		level.coldRow(n, r.lo, r.moves, ref.group)
	}
	c.restack(l, from, to)
}

// sweepBelow asks the level below the first, if there is one, for a page of that.
func (c *chain) sweepBelow(below int, page uint64, ref *reference) {
	if below < len(c.levels) {
		l := &c.levels[below]
		l.counts[ref.group].Accesses++
		c.touchDirect(below, page>>(l.shift-c.levels[0].shift), ref, 0)
	}
}

// restack sets what the first level holds after a sweep: the pages of the last iteration,
// those that the sweep came to before, and those that it had, the latest first.
func (c *chain) restack(l *trace.Loop, from, to uint32) {
	f, level := &l.Strides[c.sweeps], &c.levels[0]
	shift, set := level.shift&63, level.tags[:level.ways]
	stack := c.stack[:0]
	for i := len(l.Strides) - 1; i >= 0; i-- {
		if t := tagOf(l.Strides[i].At(to).Addr() >> shift); !slices.Contains(stack, t) {
			stack = append(stack, t)
		}
	}
	others := stack
	old, page := f.At(from).Addr()>>shift, f.At(to).Addr()>>shift
	for at := to - 1; page != old && len(stack) < len(set); at-- {
		b := f.At(at).Addr() >> shift
		if b != page && b != old {
			stack = append(stack, tagOf(b))
		}
		page = b
	}
	for _, t := range set {
		if len(stack) == len(set) {
			break
		}
		if t == 0 || !slices.Contains(others, t) {
			stack = append(stack, t)
		}
	}
	copy(set, stack)
	c.stack = stack
}
