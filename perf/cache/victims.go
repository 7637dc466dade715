package cache

import "presage/perf/trace"

// takesVictims reports whether there is a level i that takes what the one above
// evicts.
func (c *chain) takesVictims(i int) bool {
	return i < len(c.levels) && c.levels[i].spec.Filling != OnMiss
}

// ask is touch for a level that takes what the one above evicts: it gives a block that
// it holds to the nearest level above that asks memory, together with the duty to write
// it back, and lets it go unless it keeps copies.
func (c *chain) ask(i int, block uint64, ref *reference) {
	l := &c.levels[i]
	held := c.give(i, block)
	if c.prefetching != nil {
		first, _ := l.bytes(block)
		c.demanded(i, block, first, held, ref)
	}
	if held {
		return
	}
	c.countMiss(i, block, ref.group)
	c.tell(Missed{Level: i, Block: block, Fetched: true})
	if c.logging && !l.full(block) {
		c.fills = append(c.fills, Fill{i, trace.GroupID(ref.group), uint32(l.setOf(block)), block})
	}
	first, last := l.bytes(block)
	c.demand(int(l.below[ref.float]), first, last, ref, 0)
}

// give passes a block of level i up, and reports whether the level held it.
func (c *chain) give(i int, block uint64) bool {
	l := &c.levels[i]
	if l.spec.Filling == Victims {
		if !l.mark(block, 0) {
			return false
		}
		l.fetch(block, 0)
		return true
	}
	t := l.remove(block)
	if t&dirty != 0 {
		c.levels[c.asking(i)].mark(block, dirty)
	}
	return t != 0
}

// asking returns the level for which level i is asked: the nearest one above that is
// filled on misses.
func (c *chain) asking(i int) int {
	for i > 0 && c.levels[i].spec.Filling != OnMiss {
		i--
	}
	return i
}

// take puts a block that the level above evicted into level i.
func (c *chain) take(i int, t tag, group uint32) {
	if held, victim := c.levels[i].fetch(t.block(), t&dirty); !held && victim != 0 {
		c.evict(i, victim, group)
	}
}

// full reports whether the set of a block has no free place.
func (c *contents) full(block uint64) bool {
	for _, t := range c.set(block) {
		if t == 0 {
			return false
		}
	}
	return c.pool == nil || c.pool.full()
}
