package cache

import "presage/perf/trace/affine"

// runDirect is runPhases where the level that accesses enter at is direct.
func (c *chain) runDirect(s *affine.Shape, phase int, count uint32) {
	plan := c.planOf(s, phase)
	c.enqueue(plan.steps[phase&(len(plan.steps)-1)].first, 0)
	if plan.unsure == 0 {
		c.runSure(plan.steps, phase, count)
	} else {
		c.runUnsure(plan.steps, phase, count)
	}
	c.deliver()
}

// runSure is runDirect after the first iteration, if it is known what shares sets.
func (c *chain) runSure(steps []step, phase int, count uint32) {
	last := len(steps) - 1
	streams, walkers, shift := c.streams, c.walkers[:len(c.streams)], c.levels[c.walkers[0].level].shift&63
	q := c.queue
	for at := steps[phase&last].skip; at < count; {
		p := &steps[(phase+int(at))&last]
		for _, a := range p.asks { // as enqueue
			f := &streams[a.stream]
			block := (f.First + f.Step*uint64(at)) >> shift
			q = append(q, transfer{block: tagOf(block) | tag(a.mark), from: walkers[a.stream].origin})
		}
		at += p.skip
		if len(q) >= queued {
			c.queue = q
			c.deliver()
			q = c.queue
		}
	}
	c.queue = q
}

// runUnsure is runDirect after the first iteration, if that is not known: when sets of
// several streams gain or lose a block, all that they have of the iteration are accessed
// again, in order.
func (c *chain) runUnsure(steps []step, phase int, count uint32) {
	l := &c.levels[c.walkers[0].level]
	mask, shift := l.mask&63, l.shift&63 // of bits that tell sets apart
	last := len(steps) - 1
	streams, walkers := c.streams, c.walkers[:len(c.streams)]
	held := c.setsHeld(mask)
	for at := steps[phase&last].skip; at < count; {
		p := &steps[(phase+int(at))&last]
		shared := uint64(0) // sets, a bit each
		for _, m := range p.moves {
			f, w := &streams[m.stream], &walkers[m.stream]
			block := (f.First + f.Step*uint64(at)) >> shift
			if m.close {
				from, to := w.block&mask, block&mask
				held[from]--
				if held[from]|held[to] != 0 {
					shared |= 1<<from | 1<<to
				}
				held[to]++
				w.block = block
			}
			if m.asks {
				c.queue = append(c.queue, transfer{block: tagOf(block) | tag(m.mark), from: w.origin})
			}
		}
		for i := 0; shared != 0 && i < len(p.latest); i++ {
			if shared>>(walkers[p.latest[i].stream].block&mask)&1 != 0 {
				c.enqueue(p.latest[i:i+1], at)
			}
		}
		if len(c.queue) >= queued {
			c.deliver()
		}
		at += p.skip
	}
}

// setsHeld moves walkers to their first blocks, and returns the number of those of close in
// each set, told apart by the bits of mask.
func (c *chain) setsHeld(mask uint64) (held [64]uint8) {
	for k := range c.streams {
		w := &c.walkers[k]
		w.block = c.streams[k].Block(0)
		held[w.block&mask&63] += uint8(c.close >> k & 1)
	}
	return held
}

// step is what a loop asks for in an iteration of one phase.
type step struct {
	asks []ask
	skip uint32 // iterations to the next one that asks or moves, or to that of the same phase

	// If it is not known what shares sets.
	moves  []move
	latest []ask // Phase.Latest of streams that may

	first []ask // of the first iteration of a loop
}

// ask is an access to the block of a stream.
type ask struct {
	stream uint8
	mark   uint8 // dirty for a store
}

// move is a stream that goes on to another block.
type move struct {
	ask
	asks  bool // for that
	close bool // may share sets
}
