package cache

import (
	"slices"

	"presage/perf/trace"
)

// Most loops go through a small part of a page, or over one border, with each of their
// streams. Where the pages of an iteration, and those that they move on to, are no more than
// a set of the TLB has ways, the TLB changes in the iterations alone in which a stream moves
// on: all others have hits only, and leave each set in the order of the last accesses of an
// iteration, as they found it.

// setPagewise notes whether runPagewise may be for the loops of a chain: its first level is
// direct, all accesses enter there, and none marks a block.
func (c *chain) setPagewise() {
	c.pagewise = len(c.levels) > 0 && !c.writes && c.levels[0].direct && !c.levels[0].spec.BypassFloat
}

// runPagewise simulates a run if it is of this kind.
func (c *chain) runPagewise(l *trace.Loop) bool {
	if !c.pagewise || !c.listTurns(l) {
		return false
	}
	for i, at := range c.turns {
		c.touchPages(l, at)
		if c.sweeps >= 0 {
			end := l.Count
			if i+1 < len(c.turns) {
				end = c.turns[i+1]
			}
			c.sweep(l, at, end-1)
		}
	}
	for i := range l.Strides {
		c.refs[l.Strides[i].First.Ref()].count += uint64(l.Count)
	}
	return true
}

// listTurns sets turns to the iterations of a run in which pages change, the first of them
// 0, and sweeps to the stride that goes on to many, if one does. It returns false if the
// others may have too many, several go on to more than one, or an access spans two.
func (c *chain) listTurns(l *trace.Loop) bool {
	level := &c.levels[0]
	shift := level.shift & 63
	turns := append(c.turns[:0], 0)
	pages, before := uint64(0), ^uint64(0) // changes from one access to the next, moves included
	c.sweeps = -1
	for i := range l.Strides {
		s := &l.Strides[i]
		page := s.First.Addr() >> shift
		if page != before {
			pages++
			before = page
		}
		last := s.At(l.Count - 1)
		if page == last.Addr()>>shift && page == s.First.Last()>>shift && page == last.Last()>>shift {
			continue
		}
		pages += 2
		at := leaves(s, l.Count, shift)
		if at == 0 {
			if !c.addSweep(l, i) {
				return false
			}
			continue
		}
		if k, found := slices.BinarySearch(turns, at); !found {
			turns = slices.Insert(turns, k, at)
		}
	}
	c.turns = turns
	return pages <= level.ways && (c.sweeps < 0 || c.sweepMisses(l))
}

// leaves returns the first iteration of a run in which a stride is in another page than in
// the iteration before. It returns 0 if there is none, if it leaves that page too, or if an
// access spans two pages.
func leaves(s *trace.Stride, count uint32, shift uint) uint32 {
	addr, page, to := s.First.Addr(), s.First.Addr()>>shift, s.At(count-1).Addr()>>shift
	at := uint64(0)
	switch {
	case to == page+1 && s.Step > 0:
		at = (to<<shift - addr + uint64(s.Step) - 1) / uint64(s.Step)
	case to == page-1 && s.Step < 0:
		at = (addr-page<<shift)/uint64(-s.Step) + 1
	default:
		return 0
	}
	old, moved := s.At(uint32(at)-1), s.At(uint32(at))
	if s.Step < 0 {
		old = s.First
	} else {
		moved = s.At(count - 1)
	}
	if old.Last()>>shift != page || moved.Last()>>shift != to { // of each, the greatest address
		return 0
	}
	return uint32(at)
}

// touchPages makes the accesses of an iteration, each to one page, but those to the page of
// the access before.
func (c *chain) touchPages(l *trace.Loop, at uint32) {
	level := &c.levels[0]
	shift, before := level.shift&63, ^uint64(0)
	for i := range l.Strides {
		a := l.Strides[i].At(at)
		page := a.Addr() >> shift
		if page == before {
			continue
		}
		before = page
		if level.tags[level.first(page)] != tagOf(page) {
			c.touchDirect(0, page, &c.refs[a.Ref()], 0)
		}
	}
}
