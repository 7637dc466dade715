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
	if !c.pagewise || l.Count == 0 || !c.listTurns(l) {
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
	for _, s := range c.straddles {
		c.levels[0].counts[c.refs[s.ref].group].Accesses += s.times
	}
	return true
}

// straddle is a number of accesses of a run that span two pages.
type straddle struct {
	ref   trace.RefID
	times uint64
}

// listTurns sets turns to the iterations of a run in which pages change, the first of them
// 0, straddles, and sweeps to the stride that goes on to many pages, if one does. It returns
// false if the others may have too many, or several go on to more than one.
func (c *chain) listTurns(l *trace.Loop) bool {
	level := &c.levels[0]
	shift := level.shift & 63
	c.turns, c.straddles, c.sweeps = append(c.turns[:0], 0), c.straddles[:0], -1
	pages, before := uint64(0), ^uint64(0) // changes from one access to the next, moves included
	for i := range l.Strides {
		s := &l.Strides[i]
		last := s.At(l.Count - 1)
		page, to := s.First.Addr()>>shift, last.Addr()>>shift
		if page != before {
			pages++
			before = page
		}
		if page == to && page == s.First.Last()>>shift && page == last.Last()>>shift {
			continue
		}
		if s.First.Size() > 1<<shift {
			return false
		}
		if to-page+1 > 2 || last.Last()>>shift-s.First.Last()>>shift+1 > 2 {
			if !c.addSweep(l, i) {
				return false
			}
			pages += 2
			continue
		}
		pages += c.addMoves(l, s, shift)
	}
	return pages <= level.ways && (c.sweeps < 0 || len(c.straddles) == 0 && c.sweepMisses(l))
}

// addMoves adds the iterations in which a stride's first and last bytes go on to another
// page, once at most each, to turns, and the accesses that span two pages to straddles. It
// returns how many changes of pages from one access of an iteration to the next that makes
// at most.
func (c *chain) addMoves(l *trace.Loop, s *trace.Stride, shift uint) uint64 {
	first := leaves(s.First.Addr(), s.Step, l.Count, shift)
	if (s.First.Addr()|uint64(s.Step))&(s.First.Size()-1) == 0 { // the last byte goes with it
		c.addTurn(first, l.Count)
		return 2
	}
	last := leaves(s.First.Last(), s.Step, l.Count, shift)
	times, from := uint64(0), uint32(0)
	for _, to := range []uint32{min(first, last), max(first, last), l.Count} {
		if a := s.At(from); from < to && a.Addr()>>shift != a.Last()>>shift {
			times += uint64(to - from)
		}
		from = to
		c.addTurn(to, l.Count)
	}
	if times > 0 {
		c.straddles = append(c.straddles, straddle{s.First.Ref(), times})
	}
	return 6
}

// addTurn adds an iteration to turns, if it is one of the run.
func (c *chain) addTurn(at, count uint32) {
	if at >= count || c.turns[len(c.turns)-1] == at {
		return
	}
	if k, found := slices.BinarySearch(c.turns, at); !found {
		c.turns = slices.Insert(c.turns, k, at)
	}
}

// leaves returns the first iteration in which a byte is in another page than at first, or
// count if that is as late.
func leaves(addr uint64, step int64, count uint32, shift uint) uint32 {
	at, page := uint64(count), addr>>shift
	switch {
	case step > 0:
		at = ((page+1)<<shift - addr + uint64(step) - 1) / uint64(step)
	case step < 0:
		at = (addr-page<<shift)/uint64(-step) + 1
	}
	return uint32(min(at, uint64(count)))
}

// touchPages makes the accesses of an iteration, but those to the page of the access before.
func (c *chain) touchPages(l *trace.Loop, at uint32) {
	level := &c.levels[0]
	shift, before, straddles := level.shift&63, ^uint64(0), len(c.straddles) > 0
	for i := range l.Strides {
		a := l.Strides[i].At(at)
		page := a.Addr() >> shift
		last := page
		if straddles {
			last = a.Last() >> shift
		}
		if page == before && page == last {
			continue
		}
		before = last
		for ; page <= last; page++ {
			if level.tags[level.first(page)] != tagOf(page) {
				c.touchDirect(0, page, &c.refs[a.Ref()], 0)
			}
		}
	}
}
