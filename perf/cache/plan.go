package cache

import (
	"math/bits"
	"slices"

	"presage/perf/trace/affine"
)

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
	asks          int // of all steps, or moves if it is unsure
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
		d := draft{streams: c.streams, at: at, close: c.close, stores: c.stores}
		want.steps[i] = d.step(&s.Phases[i])
		if want.unsure == 0 && c.close != 0 {
			d.settle(s.Phases[(i+n-1)%n].Latest, l)
			want.steps[i].moves, want.steps[i].latest = nil, nil
		}
		want.steps[i].asks = append(d.list(d.asks, d.marks), d.again...)
		want.asks += max(len(want.steps[i].asks), len(want.steps[i].moves))
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
func (x *step) idle() bool { return len(x.moves) == 0 && len(x.asks) == 0 }

// draft is how the step of a phase is made, of which iteration at is one. Sets of streams
// have a bit each.
type draft struct {
	streams       []affine.Stream
	at            uint32
	close, stores uint64

	asks   uint64  // streams that ask for their blocks, in order
	marks  uint64  // of these, those that mark them as dirty
	latest []uint8 // Phase.Latest, of close
	again  []ask   // come next
}

// step returns the step without asks. A store to a block that a load asks for in the same
// iteration, and that shares no set, is left out: the load marks the block. Streams of
// different steps have no block in common: iterations of this phase may be beyond the loop's
// end, where they would meet.
func (d *draft) step(p *affine.Phase) step {
	d.asks = p.Moves & (p.New | d.stores)
	d.marks = d.stores
	first, firstMarks := uint64(1)<<len(d.streams)-1, d.stores
	for k := range d.streams {
		for j := range k {
			if (d.close>>k|d.close>>j)&1 != 0 || d.streams[j].Step != d.streams[k].Step || d.streams[j].Block(d.at) != d.streams[k].Block(d.at) {
				continue
			}
			store := d.stores >> k & 1
			if first>>j&1 != 0 {
				firstMarks |= store << j
				first &^= 1 << k
			}
			if d.asks>>j&1 != 0 && p.New>>j&1 != 0 {
				d.marks |= d.asks >> k & store << j
				d.asks &^= 1 << k
			}
			break
		}
	}
	x := step{first: d.list(first, firstMarks)}
	for _, a := range d.list(p.Moves&d.close|d.asks, d.marks) {
		x.moves = append(x.moves, move{a, d.asks>>a.stream&1 != 0, d.close>>a.stream&1 != 0})
	}
	for _, k := range p.Latest {
		if d.close>>k&1 != 0 {
			d.latest = append(d.latest, k)
			x.latest = append(x.latest, ask{k, uint8(d.stores >> k & 1)})
		}
	}
	return x
}

// list returns the asks of streams, in order.
func (d *draft) list(streams, marks uint64) (list []ask) {
	for ; streams != 0; streams &= streams - 1 {
		k := bits.TrailingZeros64(streams)
		list = append(list, ask{uint8(k), uint8(marks >> k & 1)})
	}
	return list
}

// settle finds the blocks that are accessed again, so that each set has those of close in
// the order of their last accesses, as in the iteration before, whose Latest is given. In
// between, moves change it. Where a set has fewer ways than blocks of the two iterations,
// one could evict another: all accesses to that set are asked for.
func (d *draft) settle(before []uint8, l *level) {
	var has []uint64 // blocks by last access, the latest last
	for _, k := range before {
		if d.close>>k&1 != 0 {
			has = append(has, d.streams[k].Block(d.at-1))
		}
	}
	var due []uint64 // as has, at the end of the iteration
	for _, k := range d.latest {
		due = append(due, d.streams[k].Block(d.at))
	}
	in := func(block uint64) func(uint64) bool {
		return func(b uint64) bool { return b&l.mask == block&l.mask }
	}
	for all := d.close; all != 0; all &= all - 1 {
		k := bits.TrailingZeros64(all)
		here := in(d.streams[k].Block(d.at))
		gone := only(has, func(b uint64) bool { return here(b) && !slices.Contains(due, b) })
		if uint64(len(gone)+len(only(due, here))) > l.ways {
			d.asks |= 1 << k
		}
	}
	for asks := d.asks & d.close; asks != 0; asks &= asks - 1 {
		block := d.streams[bits.TrailingZeros64(asks)].Block(d.at)
		has = append(slices.DeleteFunc(has, func(b uint64) bool { return b == block }), block)
	}
	for i, k := range d.latest {
		here := in(due[i])
		if !settled(only(has, here), only(due[:i+1], here), only(due[i+1:], here)) {
			d.again = append(d.again, ask{stream: k})
		}
	}
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
