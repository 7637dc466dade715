package pipeline

// stalls records, for each cause, until when the latest wait lasted.
type stalls struct {
	branch, icache, trap int64 // of fetch
	full                 int64 // of dispatch for a place in the store queue
	fullFrom             uint8 // the level that the store there waited for

	// Of the instruction at hand, if it accesses memory: until when it waited
	// for its translation, and then for its block, and the level it came from.
	walked, waited int64
	from           uint8
}

// attribute divides the cycles from the latest retirement to that of o, at r, which
// are more than one, by what o was waiting for. All older instructions have retired,
// so none of them can be the reason.
func (c *core) attribute(o *op, r, fetched, dispatched, begin, complete int64) {
	at := c.retired + 1
	stack, stall := &c.counts.Stack, &c.stall
	// until gives n the cycles before t that are not given yet. That in which o
	// retires is none of them.
	until := func(n *uint64, t int64) {
		if t = min(t, r); t > at {
			*n += uint64(t - at)
			at = t
		}
	}
	until(&stack.Branch, min(stall.branch, dispatched))
	until(&stack.ICache, min(stall.icache, dispatched))
	until(&stack.TLB, min(stall.trap, dispatched))
	until(&stack.Frontend, fetched)
	until(&c.levels[stall.fullFrom], min(stall.full, dispatched))
	until(&stack.Structural, begin)
	if o.flags&(opLoad|opStore) != 0 {
		until(&stack.TLB, stall.walked)
		until(&c.levels[stall.from], stall.waited)
	}
	if o.flags&opLoad != 0 {
		until(&c.levels[o.enter], complete)
	}
	until(&stack.Latency, complete)
	stack.Base += uint64(r - at + 1)
}
