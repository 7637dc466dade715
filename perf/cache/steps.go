package cache

import (
	"slices"

	"presage/perf/trace/affine"
)

// runDirect is runPhases where the level that accesses enter at is direct.
func (c *chain) runDirect(s *affine.Shape, phase int, count uint32) {
	plan := c.planOf(s, phase)
	c.enqueue(plan.steps[phase&(len(plan.steps)-1)].first, 0)
	n := uint32(len(plan.steps))
	for asks := plan.asks; asks < roundLeast && 8*n < count; asks *= 2 {
		n *= 2
	}
	if plan.unsure == 0 {
		c.runSure(plan.steps, phase, n, count)
	} else {
		c.runUnsure(plan.steps, phase, n, count)
	}
	c.enqueue(plan.steps[(phase+int(count)-1)&(len(plan.steps)-1)].last, count-1)
	c.deliver()
}

// roundLeast is about the number of asks in a round, if the loop has as many.
const roundLeast = 8

// runSure is runDirect after the first iteration, if it is known what shares sets. It takes n
// iterations at a time, a multiple of the number of phases: a round.
func (c *chain) runSure(steps []step, phase int, n, count uint32) {
	c.listRound(steps, phase, n, count, false)
	for at := uint32(1); at < count; at += n {
		round, q := c.roundAt(at, count), c.queue
		for i := range round {
			a := &round[i]
			q = append(q, transfer{block: a.block, from: a.from})
			a.block += a.by
		}
		if c.queue = q; len(q) >= queued {
			c.deliver()
		}
	}
}

// asked is what a loop asks for in iteration at of those from 1 on, a round. In each of the
// next ones it asks for a block as far away again.
type asked struct {
	block, by tag
	from      origin
	at        uint32

	// If it is not known what shares sets: see places.
	asks      uint8  // 1; 0 for a stream that only moves
	mask, set uint16 // bits of a block that tell sets apart, and those that stand for it
	was       tag    // the block of the iteration before
	last      uint64 // all ones for the last one of an iteration, else 0
}

// listRound lists what a loop asks for in the n iterations from 1 on; with all moves of
// streams of close, if these are asked for.
func (c *chain) listRound(steps []step, phase int, n, count uint32, moves bool) {
	mask := len(steps) - 1
	c.round = c.round[:0]
	for at := steps[phase&mask].skip; at <= n && at < count; {
		p := &steps[(phase+int(at))&mask]
		if moves {
			c.listMoves(p.moves, at, n)
		} else {
			c.list(p.asks, at, n)
		}
		at += p.skip
	}
}

// list adds what iteration at asks for to the round of n iterations.
func (c *chain) list(asks []ask, at, n uint32) {
	from := len(c.round)
	c.round = slices.Grow(c.round, len(asks))[:from+len(asks)]
	round, streams, walkers, shift := c.round[from:], c.streams, c.walkers, c.levels[c.walkers[0].level].shift&63
	for i, k := range asks {
		f, a := &streams[k.stream], &round[i]
		a.block = tagOf((f.First+f.Step*uint64(at))>>shift) | tag(k.mark)
		a.by = tag(int64(f.Step*uint64(n))>>shift) << 1
		a.from, a.at = walkers[k.stream].origin, at
	}
}

// roundAt returns the part of the round from iteration at on that is before count.
func (c *chain) roundAt(at, count uint32) []asked {
	round := c.round
	for len(round) > 0 && round[len(round)-1].at-1 >= count-at {
		round = round[:len(round)-1]
	}
	return round
}

// step is what a loop asks for in an iteration of one phase.
type step struct {
	asks []ask
	skip uint32 // iterations to the next one that asks or moves, or to that of the same phase

	// If it is not known what shares sets.
	moves  []move
	latest []ask // Phase.Latest of streams that may

	first []ask // of the first iteration of a loop, in place of asks
	last  []ask // of the last one, after asks
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
