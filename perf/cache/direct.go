package cache

// The levels of most hierarchies are of one kind: sets in order of last access, which
// write back, fetch on stores and are filled on misses, with blocks no smaller than
// those of the level above. An access then takes one way through them, without a
// choice at any level. Such levels are direct. Below them may be levels that take what
// the level above evicts.

// setDirect notes which levels are direct: none while fills are logged, with prefetchers,
// or if some level is of another kind.
func (c *chain) setDirect() {
	direct := !c.logging && c.prefetching == nil
	for i := range c.levels {
		l := &c.levels[i]
		s := &l.spec
		switch {
		case !l.ordered || l.paged || l.mask != l.sets-1:
			direct = false
		case s.WriteThrough || s.NoWriteAllocate || s.Inclusive:
			direct = false
		case i > 0 && (l.shift < c.levels[i-1].shift || s.BypassFloat):
			direct = false
		}
	}
	for i := range c.levels {
		l := &c.levels[i]
		l.direct = direct && l.spec.Filling == OnMiss
		l.gives = c.takesVictims(i + 1)
	}
	c.setPagewise()
	c.streams = c.streams[:0] // the loop at hand was prepared for other levels
}

// touchDirect is touch where level i is direct and the chain keeps no log.
func (c *chain) touchDirect(i int, block uint64, ref *reference, mark tag) {
	for {
		l := &c.levels[i]
		at := block & l.mask * l.places
		set := l.tags[at : at+l.places]
		want := tagOf(block)
		carry := want | mark
		if !l.far {
			for w, t := range set { // as fetchOrdered
				set[w] = carry
				if t&^dirty == want {
					set[0] |= t & dirty
					return
				}
				carry = t
			}
		} else {
			held := false
			if held, carry = l.fetchFar(set, want, mark); held {
				return
			}
		}
		if l.gives { // the victim, after the level below was asked
			c.miss(i, block, carry, ref)
			return
		}
		n := &l.counts[ref.group]
		n.Misses++
		l.missed++
		if l.seen.add(block) {
			l.cold(n, block, ref.group)
		}
		if carry&dirty != 0 {
			n.Writebacks++
			c.updateDirect(i, carry.block(), ref.group)
		}
		if i = int(l.below[ref.float]); i == len(c.levels) {
			return
		}
		next := &c.levels[i]
		next.counts[ref.group].Accesses++
		block >>= (next.shift - l.shift) & 63
		mark = 0
	}
}

// updateDirect is update of the levels below level i by one of its blocks.
func (c *chain) updateDirect(i int, block uint64, group uint32) {
	shift := c.levels[i].shift
	for i++; i < len(c.levels); i++ {
		l := &c.levels[i]
		b := block >> ((l.shift - shift) & 63)
		want := tagOf(b)
		at := b & l.mask * l.places
		set := l.tags[at : at+l.places]
		for w, t := range set {
			if t&^dirty == want {
				set[w] = t | dirty
				return
			}
		}
		if l.pool != nil && l.mark(b, dirty) {
			return
		}
		l.counts[group].PassedWrites++
	}
}

// entersDirect reports whether runDirect is for the loop at hand: all its accesses enter
// at one level, that of its first stream.
func (c *chain) entersDirect() bool {
	l := &c.levels[c.walkers[0].level]
	return l.direct && l.pool == nil
}
