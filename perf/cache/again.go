package cache

import (
	"slices"

	"presage/perf/trace/affine"
)

// repeat simulates the segments after that of piece i that repeat it, and returns
// their number. One without a miss leaves caches under LRU as it found them, if
// the one before it accessed the same blocks in the same order: all others will
// do the same (derived here). Where all blocks fit, the first repeat is such a one.
func (c *chain) repeat(i int) int {
	n := affine.Repeats(c.pieces, i, runTail, c.shift)
	if n > 0 && c.fits(i) {
		c.countAgain(i, uint64(n))
		return n
	}
	for j := 1; j <= n; j++ {
		before := c.missed()
		c.segment(i + j)
		if c.missed() == before {
			c.countAgain(i, uint64(n-j))
			break
		}
	}
	return n
}

// fits reports whether the segment of piece i, whose run was prepared last, leaves all
// the blocks that it accesses in the levels that they enter at: it has no more for a
// set than that has ways. It may return false where they do fit.
func (c *chain) fits(i int) bool {
	if c.inclusive || len(c.levels) == 0 {
		return false // a level below may take blocks away
	}
	l := &c.levels[0]
	if l.paged || l.mask != l.sets-1 {
		return false
	}
	most := uint64(0) // blocks for a set
	for _, a := range c.pieces[i+1].Accesses {
		if c.refs[a.Ref()].enter != 0 {
			return false
		}
		most += a.Last()>>l.shift - a.Addr()>>l.shift + 1
	}
	if most > l.ways {
		return false
	}
	for k := range c.streams {
		f := &c.streams[k]
		if c.walkers[k].level != 0 {
			return false
		}
		alike := func(o affine.Stream) bool { return o.First == f.First && o.Step == f.Step }
		if slices.ContainsFunc(c.streams[:k], alike) {
			continue
		}
		if most += f.MostInSet(c.pieces[i].Loop.Count, l.sets); most > l.ways {
			return false
		}
	}
	return true
}

// countAgain counts the accesses of the segment of piece i, all of them hits, n
// times.
func (c *chain) countAgain(i int, n uint64) {
	l := &c.pieces[i].Loop
	for _, s := range l.Strides {
		c.refs[s.First.Ref()].count += n * uint64(l.Count)
	}
	for _, a := range c.pieces[i+1].Accesses {
		ref := &c.refs[a.Ref()]
		ref.count += n
		if int(ref.enter) < len(c.levels) {
			e := &c.levels[ref.enter]
			e.counts[ref.group].Accesses += n * (a.Last()>>e.shift - a.Addr()>>e.shift)
		}
	}
}
