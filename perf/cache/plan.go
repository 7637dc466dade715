package cache

import (
	"math/bits"

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
	c.makeSteps(want, s, phase)
	return want
}

// makeSteps sets the steps of a plan and the number of their asks.
func (c *chain) makeSteps(want *loopPlan, s *affine.Shape, phase int) {
	n := len(s.Phases)
	want.steps = make([]step, n)
	drafts := make([]draft, n) // in the order of iterations, from n on
	for i := range drafts {
		d := &drafts[i]
		*d = draft{streams: c.streams, at: uint32(n + i), close: c.close, stores: c.stores}
		d.begin(&s.Phases[(phase+i)&(n-1)])
	}
	switch {
	case want.unsure != 0 && c.fewInLives():
		want.unsure = 0
		settleLives(drafts)
	case want.unsure == 0 && c.close != 0:
		x := settler{streams: c.streams, level: &c.levels[want.level], drafts: drafts, at: uint32(n)}
		x.settle()
	}
	for i := range drafts {
		x := &want.steps[(phase+i)&(n-1)]
		*x = drafts[i].step(want.unsure != 0)
		want.asks += max(len(x.asks), len(x.moves))
	}
	for i := range want.steps {
		skip := 1
		for skip < n && want.steps[(i+skip)%n].idle() {
			skip++
		}
		want.steps[i].skip = uint32(skip)
	}
}

// measure sets the distances of the clusters of close from the first of them: of their
// first addresses, or of their first blocks if they step by whole blocks, as the shape does
// not tell where in its block each is then. It returns false if these do not tell what
// shares sets, because the clusters step differently.
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
		if x.Step != first.Step {
			*apart = [apartMost]uint32{}
			return false
		}
		by := x.Lo - first.Lo
		if x.Step&(1<<l.shift-1) == 0 {
			by = (c.leader(x) - c.leader(first)) << l.shift
		}
		apart[i] = uint32(by & (l.sets<<l.shift - 1))
	}
	return true
}

// leader returns the first block of the first stream of a cluster.
func (c *chain) leader(x *affine.Cluster) uint64 {
	return c.streams[bits.TrailingZeros64(x.Streams)].Block(0)
}

// idle reports whether an iteration asks for nothing.
func (x *step) idle() bool { return len(x.moves) == 0 && len(x.asks) == 0 }

// draft is how the step of a phase is made, of which iteration at is one. Sets of streams
// have a bit each.
type draft struct {
	streams       []affine.Stream
	at            uint32
	close, stores uint64

	asks, marks           uint64   // streams that ask for their blocks, in order, and those of them that mark them as dirty
	moves                 uint64   // streams of close that go on to another block
	opening, openingMarks uint64   // asks and marks of the first iteration of a loop
	latest                []uint8  // Phase.Latest, of close
	again, opens, ends    []ask    // come after asks: always, in the first iteration of a loop, in the last one
	has                   []uint64 // see settler
}

// begin sets what a phase asks for. A store to a block that a load asks for in the same
// iteration, and that shares no set, is left out: the load marks the block. Streams of
// different steps have no block in common: iterations of this phase may be beyond the loop's
// end, where they would meet.
func (d *draft) begin(p *affine.Phase) {
	d.moves = p.Moves & d.close
	d.asks = p.Moves & (p.New | d.stores)
	d.marks = d.stores
	d.opening, d.openingMarks = uint64(1)<<len(d.streams)-1, d.stores
	for k := range d.streams {
		for j := range k {
			if (d.close>>k|d.close>>j)&1 != 0 || d.streams[j].Step != d.streams[k].Step || d.streams[j].Block(d.at) != d.streams[k].Block(d.at) {
				continue
			}
			store := d.stores >> k & 1
			if d.opening>>j&1 != 0 {
				d.openingMarks |= store << j
				d.opening &^= 1 << k
			}
			if d.asks>>j&1 != 0 && p.New>>j&1 != 0 {
				d.marks |= d.asks >> k & store << j
				d.asks &^= 1 << k
			}
			break
		}
	}
	for _, k := range p.Latest {
		if d.close>>k&1 != 0 {
			d.latest = append(d.latest, k)
		}
	}
}

// step returns the step, with what it needs where it is not known what shares sets, if that
// is so.
func (d *draft) step(unsure bool) step {
	x := step{
		asks:  append(d.list(d.asks, d.marks), d.again...),
		first: append(d.list(d.opening, d.openingMarks), d.opens...),
		last:  d.ends,
	}
	if !unsure {
		return x
	}
	for _, a := range d.list(d.moves|d.asks, d.marks) {
		x.moves = append(x.moves, move{a, d.asks>>a.stream&1 != 0, d.close>>a.stream&1 != 0})
	}
	for _, k := range d.latest {
		x.latest = append(x.latest, ask{k, uint8(d.stores >> k & 1)})
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
