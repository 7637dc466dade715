package pipeline

import "presage/perf/isa"

// leave ends a block; the next block will show the outcome of its transfer.
func (c *core) leave(end *transfer) {
	complete := c.context.end.complete // of its last instruction
	c.context.end = *end
	c.context.end.complete = complete
}

// arrive begins block i of the batch, at pc, and checks whether the transfer to it was
// predicted.
func (c *core) arrive(i int, pc uint64) {
	t := c.context
	end := &t.end
	if !end.leads(pc) {
		c.line = noLine
		return
	}
	taken := pc != end.next
	switch end.class {
	case isa.Branch:
		c.counts.Branches++
		c.counts.Transfers++
	case isa.IndirectJump, isa.Return, isa.Call:
		c.counts.Transfers++
	}
	if !c.foresees(i, end, pc) {
		c.counts.Mispredicts++
		if !c.memory.timeless {
			c.redirect(end.complete + int64(c.config.Branch.Penalty))
			c.stall.branch = c.fetched
		}
		return
	}
	if !taken || c.memory.timeless {
		return
	}
	c.takenN++
	if bubble := int64(c.config.Branch.TakenBubble); bubble > 0 {
		c.redirect(c.fetched + 1 + bubble)
	} else if c.takenN >= c.taken {
		c.redirect(c.fetched + 1)
	}
}

// foresees reports whether the transfer to block i of the batch, at pc, was predicted.
func (c *core) foresees(i int, end *transfer, pc uint64) bool {
	if c.given != nil {
		return c.given.Wrong == nil || !c.given.Wrong[i]
	}
	return c.guess.foresees(end, pc, &c.context.calls)
}

// redirect makes fetch resume in cycle t.
func (c *core) redirect(t int64) {
	if t > c.fetched {
		c.fetched, c.fetchedN, c.takenN = t, 0, 0
	}
}

// fetch returns the cycle in which the next instruction is fetched.
func (c *core) fetch(line uint64) int64 {
	if c.fetchedN >= c.fetchWidth {
		c.redirect(c.fetched + 1)
	}
	if t := c.buffer.after(c.fetched); t > c.fetched {
		c.redirect(t)
	}
	if line != c.line {
		c.line = line
		if len(c.icache.tags) > 0 {
			c.fetchLine(line)
		}
	}
	c.fetchedN++
	return c.fetched
}

// fetchLine looks a block up in the instruction cache.
func (c *core) fetchLine(line uint64) {
	l := &c.icache
	if at := l.find(line); at >= 0 {
		l.touch(at)
		if t := l.info[at].ready; t > c.fetched && !c.memory.timeless {
			c.redirect(t)
			c.stall.icache = c.fetched
		}
		return
	}
	c.counts.FetchMisses++
	t := c.fill(line)
	if c.config.ICache.NextLine && l.find(line+1) < 0 {
		c.fill(line + 1)
	}
	if !c.memory.timeless {
		c.redirect(t)
		c.stall.icache = c.fetched
	}
}

// fill brings a block into the instruction cache and returns when it is there.
func (c *core) fill(line uint64) int64 {
	l, m, next := &c.icache, c.memory, c.config.ICache.Next
	at, _, _ := l.replace(line)
	addr := line << l.shift
	t, wait := c.fetched, m.last
	if next < len(m.levels) {
		t, _ = m.access(next, addr, addr, t, false, false)
		wait = m.levels[next].wait
	}
	if !m.timeless {
		t += wait
	}
	l.info[at].ready = t
	return t
}

// warm updates caches and predictors with the instructions, without timing.
func (c *core) warm(ops []op, in *input) (done int) {
	for i := range ops {
		o := &ops[i]
		if o.line != c.line {
			c.line = o.line
			if len(c.icache.tags) > 0 {
				c.fetchLine(o.line)
			}
		}
		if o.flags&(opLoad|opStore) == 0 {
			continue
		}
		a, ok := c.match(o, in)
		if !ok {
			if o.ref&again == 0 && in.final && in.next == len(in.accesses) {
				return i
			}
			continue
		}
		c.translate(o, a, 0)
		c.reach(o, a, c.dispatched, o.flags&opStore != 0)
	}
	return len(ops)
}
