package cache

import (
	"slices"

	"presage/perf/trace/affine"
)

// repeat simulates the segments after that of piece i that repeat it, and returns
// their number. One without a miss leaves caches under LRU as it found them, if
// the one before it accessed the same blocks in the same order: all others will
// do the same (derived here). Where all blocks fit, the first repeat is such a one.
// Where they do not, all repeats from some number on count the same: see recursAfter.
func (c *chain) repeat(i int) int {
	n := affine.Repeats(c.pieces, i, runTail, c.shift)
	if n > 0 && c.fits(i) {
		c.countAgain(i, uint64(n))
		return n
	}
	recurs := c.recursAfter()
	for j := 1; j <= n; j++ {
		before := c.missed()
		last := j == recurs && j < n
		if last {
			c.keepCounts()
		}
		c.segment(i + j)
		if c.missed() == before {
			c.countAgain(i, uint64(n-j))
			break
		}
		if last {
			c.countReferences(i, uint64(n-j))
			c.addCounts(uint64(n - j))
			break
		}
	}
	return n
}

// recursAfter returns the number of repeats after which all count as the last of these
// did, or 0 if that is not known.
//
// Accesses that repeat leave a set under LRU with the same blocks in the same order each
// time: theirs by last access, then the others as they were. So the first level, and by
// induction level k from the k-th pass on, is left with the same blocks, and has the same
// misses from the next pass on. Which blocks are dirty is the same one pass later: those
// that miss have only what the pass writes to them, the others keep what they had. So level
// k writes back the same from pass k+2 on, if anything; the first pass is no repeat
// (derived here).
func (c *chain) recursAfter() int {
	switch {
	case c.inclusive || c.takes:
		return 0
	case c.writes:
		return len(c.levels) + 1
	}
	return len(c.levels)
}

// keepCounts keeps the counts of all levels for addCounts.
func (c *chain) keepCounts() {
	c.kept = c.kept[:0]
	for i := range c.levels {
		c.kept = append(c.kept, c.levels[i].counts...)
	}
}

// addCounts counts n times more what was counted since keepCounts.
func (c *chain) addCounts(n uint64) {
	kept := c.kept
	for i := range c.levels {
		counts := c.levels[i].counts
		for g := range counts {
			counts[g].addTimes(counts[g], kept[g], n)
		}
		kept = kept[len(counts):]
	}
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
	rows := c.rows[:0] // of blocks next to one another
	for _, a := range c.pieces[i+1].Accesses {
		r := affine.Row{First: a.Addr() >> l.shift, Last: a.Last() >> l.shift}
		if c.refs[a.Ref()].enter != 0 || r.Last-r.First >= l.sets {
			return false
		}
		rows = addRow(rows, r)
	}
	most := uint64(0) // other blocks for a set
	for k := range c.streams {
		f := &c.streams[k]
		if c.walkers[k].level != 0 {
			return false
		}
		if r, ok := f.Row(c.pieces[i].Loop.Count); ok && r.Last-r.First < l.sets {
			rows = addRow(rows, r)
			continue
		}
		alike := func(o affine.Stream) bool { return o.First == f.First && o.Step == f.Step }
		if slices.ContainsFunc(c.streams[:k], alike) {
			continue
		}
		if most += f.MostInSet(c.pieces[i].Loop.Count, l.sets); most > l.ways {
			return false
		}
	}
	c.rows = rows
	return most+mostInSet(rows, l.mask) <= l.ways
}

// addRow adds a row to others, unless it is part of one of them.
func addRow(rows []affine.Row, r affine.Row) []affine.Row {
	for i := range rows {
		if o := &rows[i]; o.First <= r.First && r.Last <= o.Last {
			return rows
		}
	}
	return append(rows, r)
}

// mostInSet returns the largest number of rows, each of fewer blocks than there are sets,
// with a block in the same set, which is that of the first block of one of them.
func mostInSet(rows []affine.Row, mask uint64) (most uint64) {
	for i := range rows {
		n := uint64(0)
		for _, r := range rows {
			if (rows[i].First-r.First)&mask <= r.Last-r.First {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// countAgain counts the accesses of the segment of piece i, all of them hits, n
// times.
func (c *chain) countAgain(i int, n uint64) {
	c.countReferences(i, n)
	c.countSpans(c.pieces[i].Loop.Count, n)
	for _, a := range c.pieces[i+1].Accesses {
		ref := &c.refs[a.Ref()]
		if int(ref.enter) < len(c.levels) {
			e := &c.levels[ref.enter]
			e.counts[ref.group].Accesses += n * (a.Last()>>e.shift - a.Addr()>>e.shift)
		}
	}
}

// countReferences counts the executions of references in the segment of piece i n times.
func (c *chain) countReferences(i int, n uint64) {
	l := &c.pieces[i].Loop
	for _, s := range l.Strides {
		c.refs[s.First.Ref()].count += n * uint64(l.Count)
	}
	for _, a := range c.pieces[i+1].Accesses {
		c.refs[a.Ref()].count += n
	}
}
