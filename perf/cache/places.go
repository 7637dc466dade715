package cache

// placesMost is the number of sets that are told apart.
const placesMost = 1 << 10

// places is the number of streams of close that have their block in each set. Sets are told
// apart by the last bits of their blocks plus 1; one more is for all other streams.
type places [2 * placesMost]uint8

// listMoves is list of all moves of streams of close, and of what else is asked for.
func (c *chain) listMoves(moves []move, at, n uint32) {
	if len(moves) == 0 {
		return
	}
	mask := c.placeMask()
	for _, m := range moves {
		c.list([]ask{m.ask}, at, n)
		a := &c.round[len(c.round)-1]
		a.asks, a.last = 0, 0
		if m.asks {
			a.asks = 1
		}
		if a.mask, a.set = mask, 0; !m.close {
			a.mask, a.set = 0, placesMost
		}
		a.was = tagOf(c.streams[m.stream].Block(at - 1))
	}
	c.round[len(c.round)-1].last = ^uint64(0)
}

// placeMask returns the mask of bits that tell sets of the loop at hand apart.
func (c *chain) placeMask() uint16 {
	return uint16(min(c.levels[c.walkers[0].level].mask, placesMost-1))
}

// place returns the set of a block of the iteration before or at hand.
func (a *asked) place(block tag) uint16 {
	return (uint16(block>>1)&a.mask | a.set) % (2 * placesMost)
}

// placeOf returns the set of the block of a stream of close in iteration at.
func (c *chain) placeOf(k int, at uint32) uint16 {
	return uint16(c.streams[k].Block(at)+1) & c.placeMask()
}

// runUnsure is runDirect after the first iteration, if it is not known what shares sets:
// when sets of several streams gain or lose a block, all that they have of the iteration are
// accessed again, in order.
func (c *chain) runUnsure(steps []step, phase int, n, count uint32) {
	held := &c.places
	clear(held[:c.placeMask()+1])
	held[placesMost] = 1
	for k := range c.streams {
		if c.close>>k&1 != 0 {
			held[c.placeOf(k, 0)]++
		}
	}
	c.listRound(steps, phase, n, count, true)
	for at := uint32(1); at < count; at += n {
		round, shared := c.roundAt(at, count), uint64(0)
		q, k := c.queue[:cap(c.queue)], len(c.queue)
		for i := range round {
			a := &round[i]
			if k == len(q) {
				q = append(q, transfer{})
				q = q[:cap(q)]
			}
			q[k] = transfer{block: a.block, from: a.from}
			k += int(a.asks)
			from, to := a.place(a.was), a.place(a.block)
			a.block += a.by
			a.was += a.by
			held[from]--
			if held[from]|held[to] != 0 {
				shared |= 1<<(from&63) | 1<<(to&63)
			}
			held[to]++
			if shared&a.last != 0 {
				c.queue = q[:k]
				now := at + a.at - 1
				c.accessAgain(steps[(phase+int(now))&(len(steps)-1)].latest, shared, now)
				q, k, shared = c.queue[:cap(c.queue)], len(c.queue), 0
			}
		}
		if c.queue = q[:k]; k >= queued {
			c.deliver()
		}
	}
}

// accessAgain adds the accesses of iteration at in sets, a bit each, to the queue.
func (c *chain) accessAgain(latest []ask, sets uint64, at uint32) {
	for i, a := range latest {
		if sets>>(c.placeOf(int(a.stream), at)&63)&1 != 0 {
			c.enqueue(latest[i:i+1], at)
		}
	}
}
