package pipeline

import "presage/perf/trace"

// lookAhead is how many accesses are searched for the one of a reference: those
// before it come from code outside the blocks.
const lookAhead = 256

// match returns the access that a reference made; false if there is none.
func (c *core) match(o *op, in *input) (trace.Access, bool) {
	if in.next < len(in.accesses) {
		if a := in.accesses[in.next]; a.Ref() == o.ref {
			in.next++
			return a, true
		}
	}
	return c.search(o, in)
}

func (c *core) search(o *op, in *input) (trace.Access, bool) {
	if o.ref&again != 0 {
		if in.next > 0 {
			if a := in.accesses[in.next-1]; a.Ref() == o.ref&^again {
				return a, true
			}
		}
		return 0, false
	}
	for i := in.next; i < min(in.next+lookAhead, len(in.accesses)); i++ {
		if a := in.accesses[i]; a.Ref() == o.ref {
			c.odd.strays += uint64(i - in.next)
			in.next = i + 1
			return a, true
		}
	}
	if !in.final || in.next < len(in.accesses) {
		c.odd.unmatched++
	}
	return 0, false
}

// execute assigns times to the micro-operations, and returns how many were executed:
// fewer than all if the batch ends within a block.
func (c *core) execute(ops []op, in *input) (done int) {
	ready := &c.context.ready
	complete := int64(0)
	for i := range ops {
		o := &ops[i]
		var access trace.Access
		found := false
		if o.flags&(opLoad|opStore) != 0 {
			if access, found = c.match(o, in); found {
				c.lookUp(in)
			} else if in.ended() {
				return i
			}
		}
		latency := int64(o.latency)
		f := c.fetch(o.line)
		d := c.dispatch(o, f)

		// When operands and, in order, the instruction before allow.
		uses := o.uses
		t := max(d, max(ready[uint8(uses)], ready[uint8(uses>>8)]), max(ready[uint8(uses>>16)], ready[uses>>24]))
		if c.inOrder {
			t = max(t, c.begun, c.ended-latency)
		}
		var begin int64
		if o.flags&(opLoad|opStore) == 0 {
			begin = c.units.begin(o.work, t)
			complete = begin + latency
		} else {
			begin, complete = c.access(o, t, access, found)
		}
		if c.inOrder {
			c.follow(begin, complete)
		}
		if o.queue >= 0 {
			c.queues[o.queue].push(begin + 1)
		}
		r := c.retire(complete)
		if r > c.retired {
			if r == c.retired+1 {
				c.counts.Stack.Base++
			} else {
				c.attribute(o, r, f, d, begin, complete)
			}
			c.retired = r
		}
		c.window.push(r)
		if o.flags != 0 {
			c.settle(o, access, found, d, begin, complete, r)
		}
		ready[uint8(o.defs)], ready[o.defs>>8] = complete, complete
	}
	c.context.end.complete = complete
	return len(ops)
}

// ended reports whether the batch has no accesses left, and ends in this block.
func (in *input) ended() bool { return in.final && in.next == len(in.accesses) }

// lookUp sets the outcome of the access matched last, if outcomes are given.
func (c *core) lookUp(in *input) {
	if c.given != nil {
		c.outcome = &c.given.Outcomes[in.next-1]
	}
}

// follow makes the next instruction of a core in order follow one that began and
// completed at these times.
func (c *core) follow(begin, complete int64) {
	c.begun = begin
	if c.config.OrderedCompletion {
		c.ended = max(c.ended, complete)
	}
}

// access returns when the access of o to memory begins and completes. Where it was
// not recorded, it takes the operation's own latency.
func (c *core) access(o *op, t int64, a trace.Access, found bool) (begin, complete int64) {
	switch {
	case found && o.flags&opLoad != 0:
		return c.load(o, t, a)
	case found:
		return c.address(o, t, a)
	}
	begin = c.units.begin(o.work, t)
	c.stall.walked, c.stall.waited = begin, begin
	return begin, begin + int64(o.latency)
}

// dispatch returns the cycle in which the instruction gets its place in the
// window, the queues and the registers.
func (c *core) dispatch(o *op, fetched int64) int64 {
	d := c.window.after(max(fetched, c.dispatched, c.barrier))
	if o.queue >= 0 {
		d = c.queues[o.queue].after(d)
	}
	if o.flags != 0 {
		d = c.claim(o, d)
	}
	if d == c.dispatched && c.dispatchedN >= c.dispatchWidth {
		d++
	}
	if d > c.dispatched {
		c.dispatched, c.dispatchedN = d, 0
		c.units.floor, c.memory.floor = d, fetched
	}
	c.dispatchedN++
	c.buffer.push(d)
	return d
}

// claim is the part of dispatch for resources that not all instructions need.
func (c *core) claim(o *op, d int64) int64 {
	if o.flags&opInt != 0 {
		d = c.ints.after(d)
	} else if o.flags&opFP != 0 {
		d = c.floats.after(d)
	}
	if o.flags&opLoad != 0 {
		d = c.loads.after(d)
	}
	if o.flags&opStore != 0 {
		if t := c.pending.after(d); t > d {
			d = t
			c.stall.full, c.stall.fullFrom = t, c.sources[c.pending.at]
		}
	}
	if o.flags&opSerializes != 0 {
		d = max(d, c.retired+1)
	}
	return d
}

// retire returns the cycle in which an instruction retires that completes at t.
func (c *core) retire(t int64) int64 {
	if t > c.retired {
		c.retiredN = 1
		return t
	}
	if c.retiredN < c.retireWidth {
		c.retiredN++
		return c.retired
	}
	c.retiredN = 1
	return c.retired + 1
}

// load begins a load that can begin at t, and returns when it begins and when its
// value is ready.
func (c *core) load(o *op, t int64, a trace.Access) (begin, complete int64) {
	first, last := a.Addr(), a.Last()
	if c.config.Memory.Conservative {
		t = max(t, c.known)
	}
	store := c.stores.latest(first, last, t)
	if store != nil {
		if store.first <= first && last <= store.last {
			t = max(t, store.data)
		} else { // no single store has all of it: wait for the cache
			t = max(t, store.done)
		}
	}
	begin = c.units.begin(o.work, t)
	walked := begin + c.translate(o, a, begin)
	ready, from := c.find(o, a, walked, o.flags&opStore != 0)
	latency := int64(o.latency)
	if store != nil && walked < store.done {
		c.counts.Forwarded++
		ready, from = walked, int(o.enter)
		if n := c.config.Memory.ForwardLatency; n > 0 {
			latency = int64(n)
		}
	}
	c.stall.walked, c.stall.waited, c.stall.from = walked, ready, uint8(from)
	return begin, ready + latency
}

// address begins a store that can begin at t: it translates the address and requests
// the block, but does not wait for its arrival.
func (c *core) address(o *op, t int64, a trace.Access) (begin, complete int64) {
	begin = c.units.begin(o.work, t)
	walked := begin + c.translate(o, a, begin)
	ready, from := c.find(o, a, walked, true)
	c.block, c.source = ready, uint8(from)
	c.stall.walked, c.stall.waited = walked, walked
	return begin, walked + int64(o.latency)
}

// find looks for the block of an access at t: see memory.access.
func (c *core) find(o *op, a trace.Access, t int64, store bool) (ready int64, from int) {
	if c.given != nil {
		return c.memory.given(int(o.enter), c.outcome, t, o.flags&opFloat != 0)
	}
	return c.reach(o, a, t, store)
}

// reach makes an access of the program, which prefetchers see.
func (c *core) reach(o *op, a trace.Access, t int64, store bool) (ready int64, from int) {
	m := c.memory
	if len(m.fetchers.units) > 0 {
		return m.followed(uint32(a.Ref()), int(o.enter), a.Addr(), a.Last(), t, store, o.flags&opFloat != 0)
	}
	return m.access(int(o.enter), a.Addr(), a.Last(), t, store, o.flags&opFloat != 0)
}

// settle sets when the resources that claim took are free again.
func (c *core) settle(o *op, a trace.Access, found bool, d, begin, complete, r int64) {
	if o.flags&opInt != 0 {
		c.ints.push(r)
	} else if o.flags&opFP != 0 {
		c.floats.push(r)
	}
	if o.flags&opLoad != 0 {
		c.loads.push(r)
	}
	if o.flags&opStore != 0 {
		c.store(o, a, found, d, begin, complete, r)
	}
	if o.flags&opSerializes != 0 {
		c.barrier = r + 1
	}
	if o.flags&opMoot != 0 {
		c.odd.untimed[o.class]++
	}
}

// store writes a store that retired at r to the cache, when its block is there
// and those before it are written.
func (c *core) store(o *op, a trace.Access, found bool, d, begin, complete, r int64) {
	if o.flags&opLoad != 0 {
		c.known = max(c.known, begin)
		c.block, c.source = complete, o.enter // which it loaded from
	} else {
		ready := &c.context.ready
		c.known = max(c.known, d, ready[o.address[0]], ready[o.address[1]])
	}
	if found {
		c.writing = c.units.begin(&c.commit, max(r+1, c.writing))
		c.written = max(c.written, c.writing, c.block)
		c.stores.add(a.Addr(), a.Last(), complete, c.written)
	}
	c.sources[c.pending.at] = c.source
	c.pending.push(max(r, c.written))
}

// translate looks an access at t up in the TLBs and returns by how much that
// delays it.
func (c *core) translate(o *op, a trace.Access, t int64) int64 {
	if c.given != nil {
		return int64(c.outcome.Walk)
	}
	if int(o.tlb) >= len(c.memory.tlbs) {
		return 0
	}
	l := &c.memory.tlbs[o.tlb]
	page := a.Addr() >> (l.shift & 63)
	if at := l.find(page); at >= 0 && page == a.Last()>>(l.shift&63) {
		l.touch(at)
		l.counts.Accesses++
		return 0
	}
	walk, trap := int64(0), int64(0)
	for ; page <= a.Last()>>l.shift; page++ {
		for k := int(o.tlb); k < len(c.memory.tlbs); k++ {
			l := &c.memory.tlbs[k]
			if o.flags&opFloat != 0 && l.spec.BypassFloat {
				continue
			}
			if !l.ask(max(page<<c.memory.tlbs[o.tlb].shift, a.Addr()) >> l.shift) {
				walk += int64(l.spec.MissPenalty)
				if l.spec.Trap {
					trap = walk
				}
				continue
			}
			break
		}
	}
	if c.memory.timeless {
		return 0
	}
	if trap > 0 {
		c.stall.trap = max(c.stall.trap, t+trap)
		c.redirect(t + trap)
	}
	return walk
}

// ask looks a page up, brings it in if it is missing, and reports whether it hit.
func (l *tlb) ask(page uint64) bool {
	l.counts.Accesses++
	if at := l.find(page); at >= 0 {
		l.touch(at)
		return true
	}
	l.counts.Misses++
	l.replace(page)
	return false
}
