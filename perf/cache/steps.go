package cache

import (
	"math/bits"
	"slices"

	"presage/perf/trace/affine"
)

// runDirect is runPhases where the level that accesses enter at is direct.
func (c *chain) runDirect(s *affine.Shape, phase int, count uint32) {
	i := int(c.walkers[0].level)
	l := &c.levels[i]
	tags, setMask, places := l.tags, l.mask, l.places
	plan := c.planOf(s, phase)
	p := &plan.steps[phase&(len(plan.steps)-1)]
	for first := p.first; first != 0; first &= first - 1 {
		k := bits.TrailingZeros64(first)
		w := &c.walkers[k]
		w.block = c.streams[k].Block(0)
		c.enterDirect(tags, w.block&setMask*places, i, w.block, w.ref, tag(p.firstStores>>k&1))
	}
	if plan.unsure == 0 {
		c.runSure(plan.steps, phase, count)
	} else {
		c.runUnsure(plan.steps, phase, count)
	}
}

// runSure is runDirect after the first iteration, if it is known what shares sets.
func (c *chain) runSure(steps []step, phase int, count uint32) {
	i := int(c.walkers[0].level)
	l := &c.levels[i]
	tags, setMask, places := l.tags, l.mask, l.places
	last := len(steps) - 1
	streams, walkers := c.streams, c.walkers[:len(c.streams)]
	for at := steps[phase&last].skip; at < count; {
		p := &steps[(phase+int(at))&last]
		for moves := p.moves; moves != 0; moves &= moves - 1 {
			k := bits.TrailingZeros64(moves)
			block := streams[k].Block(at)
			c.enterDirect(tags, block&setMask*places, i, block, walkers[k].ref, tag(p.stores>>k&1))
		}
		for _, k := range p.again {
			block := streams[k].Block(at)
			c.enterDirect(tags, block&setMask*places, i, block, walkers[k].ref, 0)
		}
		at += p.skip
	}
}

// runUnsure is runDirect after the first iteration, if that is not known: when sets of
// several streams gain or lose a block, all that they have of the iteration are accessed
// again, in order.
func (c *chain) runUnsure(steps []step, phase int, count uint32) {
	i := int(c.walkers[0].level)
	l := &c.levels[i]
	tags, setMask, places := l.tags, l.mask, l.places
	last := len(steps) - 1
	streams, walkers := c.streams, c.walkers[:len(c.streams)]
	moves, still := uint64(0), c.setBits(c.close) // sets of those that do not move
	for at := steps[phase&last].skip; at < count; {
		p := &steps[(phase+int(at))&last]
		if p.moves != moves {
			moves, still = p.moves, c.setBits(c.close&^p.moves)
		}
		changed, shared := uint64(0), uint64(0)
		for rest := moves; rest != 0; rest &= rest - 1 {
			k := bits.TrailingZeros64(rest)
			w := &walkers[k]
			block := streams[k].Block(at)
			if c.close>>k&1 != 0 {
				sets := uint64(1)<<(w.block&setMask&63) | 1<<(block&setMask&63)
				shared |= sets & (still | changed)
				changed |= sets
				w.block = block
			}
			if p.asks>>k&1 != 0 {
				c.enterDirect(tags, block&setMask*places, i, block, w.ref, tag(p.stores>>k&1))
			}
		}
		at += p.skip
		if shared != 0 {
			c.accessAgain(p.latest, shared)
		}
	}
}

// setBits returns a bit for the set of each of some walkers: see setBit.
func (c *chain) setBits(walkers uint64) (sets uint64) {
	mask := c.levels[c.walkers[0].level].mask & 63
	for ; walkers != 0; walkers &= walkers - 1 {
		sets |= 1 << (c.walkers[bits.TrailingZeros64(walkers)].block & mask)
	}
	return sets
}

// accessAgain accesses the blocks of walkers that are in some sets.
func (c *chain) accessAgain(latest []uint8, sets uint64) {
	i := int(c.walkers[0].level)
	l := &c.levels[i]
	for _, k := range latest {
		w := &c.walkers[k]
		if sets>>(w.block&l.mask&63)&1 == 0 {
			continue
		}
		at := w.block & l.mask * l.places
		if t := l.tags[at]; t != tagOf(w.block)|dirty && t != tagOf(w.block)|w.ref.mark {
			c.enterDirect(l.tags, at, i, w.block, w.ref, w.ref.mark)
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
	again  []uint8 // streams whose blocks come next in the order of their sets
	latest []uint8 // Phase.Latest, with the streams alone of which it is not known what shares sets
	skip   uint32  // iterations to the next one with moves, or to that of the same phase

	// Of the first iteration of a loop.
	first, firstStores uint64
}

// plans remembers the steps of loops.
type plans struct {
	kept [16]loopPlan
	next int // is replaced next
	at   int // was found last
}

// loopPlan has the steps of the phases of a shape, with streams of close that may share
// sets and those of stores that store. Where those of close step alike, the distances of
// their clusters tell which do share sets in which phase; elsewhere they are unsure.
type loopPlan struct {
	phases        *affine.Phase // the first of them
	close, stores uint64
	level         uint8             // that it enters at
	apart         [apartMost]uint32 // from the first cluster of close, modulo the sets
	steps         []step
	unsure        uint64
}

// apartMost is the largest number of clusters whose distances are looked at.
const apartMost = 16

// planOf returns the plan of the loop at hand, valid until the next call.
func (c *chain) planOf(s *affine.Shape, phase int) *loopPlan {
	want := &c.plans.kept[c.plans.next]
	*want = loopPlan{phases: &s.Phases[0], close: c.close, stores: c.stores, level: c.walkers[0].level, unsure: c.close}
	l := &c.levels[want.level]
	if c.measure(&want.apart) {
		want.unsure = 0
	}
	for range c.plans.kept {
		o := &c.plans.kept[c.plans.at]
		if o != want && o.phases == want.phases && o.close == c.close && o.stores == c.stores && o.level == want.level && o.apart == want.apart {
			return o
		}
		c.plans.at = (c.plans.at + 1) % len(c.plans.kept)
	}
	c.plans.next = (c.plans.next + 1) % len(c.plans.kept)
	n := len(s.Phases)
	want.steps = make([]step, n)
	for i := range want.steps {
		at := uint32(i-phase)&uint32(n-1) + uint32(n) // an iteration of this phase
		x := &want.steps[i]
		x.plan(&s.Phases[i], c.streams, at, c.close, c.stores)
		if want.unsure == 0 && c.close != 0 {
			x.settle(s.Phases[(i+n-1)%n].Latest, c.streams, at, want, l)
		}
	}
	for i := range want.steps {
		skip := 1
		for skip < n && want.steps[(i+skip)%n].idle() {
			skip++
		}
		want.steps[i].skip = uint32(skip)
	}
	return want
}

// measure sets the distances of the clusters of close from the first of them. It returns
// false if these do not tell what shares sets: because the clusters step differently, or
// by a multiple of a block, so that the shape does not tell where in its block each is.
func (c *chain) measure(apart *[apartMost]uint32) bool {
	clusters := c.shapes.Clusters()
	l := &c.levels[c.walkers[0].level]
	if c.close != 0 && (len(clusters) > apartMost || l.sets<<l.shift > 1<<32) {
		return false
	}
	var first *affine.Cluster
	for i := range clusters {
		x := &clusters[i]
		if x.Streams&c.close == 0 {
			continue
		}
		if first == nil {
			first = x
		}
		if x.Step != first.Step || x.Step&(1<<l.shift-1) == 0 {
			*apart = [apartMost]uint32{}
			return false
		}
		apart[i] = uint32((x.Lo - first.Lo) & (l.sets<<l.shift - 1))
	}
	return true
}

// idle reports whether an iteration asks for nothing.
func (x *step) idle() bool { return x.moves == 0 && len(x.again) == 0 }

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

// settle finds the blocks that are accessed again in iteration at, so that each set has
// those of close in the order of their last accesses, as in the iteration before, whose
// Latest is given. In between, moves change it. Where a set has fewer ways than blocks of
// the two iterations, one could evict another: all accesses to that set are asked for.
func (x *step) settle(before []uint8, streams []affine.Stream, at uint32, plan *loopPlan, l *level) {
	var has []uint64 // blocks by last access, the latest last
	for _, k := range before {
		if plan.close>>k&1 != 0 {
			has = append(has, streams[k].Block(at-1))
		}
	}
	var due []uint64 // as has, at the end of the iteration
	for _, k := range x.latest {
		due = append(due, streams[k].Block(at))
	}
	in := func(block uint64) func(uint64) bool {
		return func(b uint64) bool { return b&l.mask == block&l.mask }
	}
	for all := plan.close; all != 0; all &= all - 1 {
		k := bits.TrailingZeros64(all)
		here := in(streams[k].Block(at))
		gone := only(has, func(b uint64) bool { return here(b) && !slices.Contains(due, b) })
		if uint64(len(gone)+len(only(due, here))) > l.ways {
			x.asks |= 1 << k
		}
	}
	x.stores |= x.asks & plan.close & plan.stores
	for asks := x.asks & plan.close; asks != 0; asks &= asks - 1 {
		block := streams[bits.TrailingZeros64(asks)].Block(at)
		has = append(slices.DeleteFunc(has, func(b uint64) bool { return b == block }), block)
	}
	for i, k := range x.latest {
		here := in(due[i])
		if !settled(only(has, here), only(due[:i+1], here), only(due[i+1:], here)) {
			x.again = append(x.again, k)
		}
	}
	x.moves, x.latest = x.asks, nil
}

// only returns the blocks that are in a set.
func only(blocks []uint64, in func(uint64) bool) (list []uint64) {
	for _, b := range blocks {
		if in(b) {
			list = append(list, b)
		}
	}
	return list
}

// settled reports whether the blocks of a set come last in has, in this order, once those
// of later are accessed again.
func settled(has, blocks, later []uint64) bool {
	has = only(has, func(b uint64) bool { return !slices.Contains(later, b) })
	return len(has) >= len(blocks) && slices.Equal(has[len(has)-len(blocks):], blocks)
}
