package cache

import (
	"math/bits"

	"presage/perf/trace/affine"
)

// runDirect is runPhases where the level that accesses enter at is direct.
func (c *chain) runDirect(s *affine.Shape, phase int, count uint32) {
	i := int(c.walkers[0].level)
	l := &c.levels[i]
	tags, setMask, places := l.tags, l.mask, l.places
	steps := c.steps(s, phase)
	last := len(steps) - 1
	sets := setMask & 63 // tells them apart in changed
	streams, walkers := c.streams, c.walkers[:len(c.streams)]
	p := &steps[phase&last]
	for first := p.first; first != 0; first &= first - 1 {
		k := bits.TrailingZeros64(first)
		w := &walkers[k]
		w.block = streams[k].Block(0)
		c.enterDirect(tags, w.block&setMask*places, i, w.block, w.ref, tag(p.firstStores>>k&1))
	}
	for at := p.skip; at < count; {
		p := &steps[(phase+int(at))&last]
		changed := uint64(0)
		for moves := p.moves; moves != 0; moves &= moves - 1 {
			k := bits.TrailingZeros64(moves)
			w := &walkers[k]
			block := streams[k].Block(at)
			if c.close>>k&1 != 0 {
				changed |= 1<<(w.block&sets) | 1<<(block&sets)
				w.block = block
			}
			if p.asks>>k&1 != 0 {
				c.enterDirect(tags, block&setMask*places, i, block, w.ref, tag(p.stores>>k&1))
			}
		}
		at += p.skip
		if changed == 0 {
			continue
		}
		for _, k := range p.latest {
			if w := &walkers[k]; changed>>(w.block&sets)&1 != 0 {
				if at := w.block & setMask * places; tags[at] != tagOf(w.block)|dirty && tags[at] != tagOf(w.block)|w.ref.mark {
					c.enterDirect(tags, at, i, w.block, w.ref, w.ref.mark)
				}
			}
		}
	}
}

// step is what a loop asks for in an iteration of one phase. Sets of streams have a bit
// each. A store to a block that a load asks for in the same iteration, and that shares no
// set, is left out: the load marks the block.
type step struct {
	moves  uint64  // streams that move, of those that ask for blocks or may share sets
	asks   uint64  // streams that ask for the block that they move to
	stores uint64  // of these, those that store
	latest []uint8 // Phase.Latest, with the streams of close alone
	skip   uint32  // iterations to the next one with moves, or to that of the same phase

	// Of the first iteration of a loop.
	first, firstStores uint64
}

// plans remembers the steps of loops.
type plans struct {
	kept [8]loopPlan
	next int // is replaced next
}

// loopPlan has the steps of the phases of a shape, with streams of close that may share
// sets and those of stores that store.
type loopPlan struct {
	phases        *affine.Phase // the first of them
	close, stores uint64
	steps         []step
}

// steps returns the steps of the loop at hand, valid until the next call.
func (c *chain) steps(s *affine.Shape, phase int) []step {
	phases := &s.Phases[0]
	for i := range c.plans.kept {
		if o := &c.plans.kept[i]; o.phases == phases && o.close == c.close && o.stores == c.stores {
			return o.steps
		}
	}
	o := &c.plans.kept[c.plans.next]
	c.plans.next = (c.plans.next + 1) % len(c.plans.kept)
	*o = loopPlan{phases, c.close, c.stores, make([]step, len(s.Phases))}
	for i := range o.steps {
		at := uint32(i-phase) & uint32(len(o.steps)-1) // an iteration of this phase
		o.steps[i].plan(&s.Phases[i], c.streams, at, c.close, c.stores)
	}
	for i := range o.steps {
		n := 1
		for n < len(o.steps) && o.steps[(i+n)%len(o.steps)].moves == 0 {
			n++
		}
		o.steps[i].skip = uint32(n)
	}
	return o.steps
}

// plan makes the step of a phase, of which iteration at is one.
func (x *step) plan(p *affine.Phase, streams []affine.Stream, at uint32, close, stores uint64) {
	x.asks = p.Moves & (p.New | stores)
	x.stores = x.asks & stores
	x.first = 1<<len(streams) - 1
	x.firstStores = stores
	for k := range streams {
		for j := range k {
			if (close>>k|close>>j)&1 != 0 || streams[j].Block(at) != streams[k].Block(at) {
				continue
			}
			store := stores >> k & 1
			if x.first>>j&1 != 0 {
				x.firstStores |= store << j
				x.first &^= 1 << k
			}
			if x.asks>>j&1 != 0 && p.New>>j&1 != 0 {
				x.stores |= x.asks >> k & store << j
				x.asks &^= 1 << k
			}
			break
		}
	}
	x.moves = p.Moves & (x.asks | close)
	for _, k := range p.Latest {
		if close>>k&1 != 0 {
			x.latest = append(x.latest, k)
		}
	}
}
