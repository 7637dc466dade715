package reuse

import (
	"slices"

	"presage/perf/trace/affine"
)

// runPhases is run for a loop whose shape is known: at is the phase of its first
// iteration. Accesses that are not fresh have a distance that their phase knows,
// so that its executions are counted and the distances added up in the end. An
// iteration costs a search of the time line for each fresh block, and nothing
// for the other accesses (derived here).
func (k *stack) runPhases(s *affine.Shape, at int, count uint32, weight uint64) {
	k.openDesk()
	k.clearDesk(len(k.streams))
	phases := len(s.Phases)
	at &= phases - 1
	for _, i := range s.Phases[at].Opens {
		f := &k.streams[i%loopRefs]
		k.touch(f.Block(0), f.Label, weight)
	}
	s.Phases[at].Begun += weight
	k.shelve(uint32(len(s.Phases[at].Latest)))
	s.Count(at+1, count-1, weight)
	for i := range k.streams {
		w := &k.walks[i]
		w.base, w.advance = s.Base(&k.streams[i], at)
		w.label = k.streams[i].Label
	}
	from := at + 1
	even := k.even(s)
	for turn, rest := uint64(0), int(count-1); rest > 0; turn++ {
		for n := 1; even && n > 0; {
			n = k.search(s, from, turn, rest/phases, weight)
			rest -= n * phases
			turn += uint64(n)
		}
		if to := min(phases, from+rest); to > from {
			k.meet(s, from, to, turn)
			rest -= to - from
		}
		from = 0
		if len(k.fresh) >= sieve || len(k.left) >= sieve {
			k.follow(weight)
		}
	}
	k.follow(weight)
	k.taker.done()
	k.desk.reset()
	last := count - 1
	for _, f := range s.Phases[(at+int(last))&(phases-1)].Latest {
		block := k.streams[f].Block(last)
		e, _ := k.table.find(block)
		k.table.last[e] = heldMark(k.desk.add(block, e))
	}
}

// walk is a stream on its way through a loop.
type walk struct {
	base    uint64 // of its blocks in the first turn of phases
	advance uint64 // from one turn to the next
	leaf    uint64 // the first block of that of the table which has the latest block
	entry   entry  // of leaf
	label   uint32
}

// entryOf returns the entry of a block that the stream moves to or leaves.
func (w *walk) entryOf(t *table, block uint64) entry {
	if block-w.leaf >= leafSize {
		w.find(t, block)
	}
	return w.entry + entry(block-w.leaf)
}

// find makes leaf that which has a block.
func (w *walk) find(t *table, block uint64) {
	e, ok := t.find(block)
	if !ok {
		e = t.add(block)
	}
	w.leaf, w.entry = block&^(leafSize-1), e&^(leafSize-1)
}

// freshBlock is a block that an iteration accesses first, after held others and after left
// of those in stack.left.
type freshBlock struct {
	entry      entry
	label      uint32
	held, left uint32
}

// meet lists the blocks that iterations access first, and those that they leave behind, in
// the phases from one up to another of a turn.
func (k *stack) meet(s *affine.Shape, from, to int, turn uint64) {
	fresh, left := s.Moves(from, to)
	passed := uint32(len(k.left) - s.LeftBefore(from))
	met := len(k.fresh)
	k.fresh = slices.Grow(k.fresh, len(fresh))[:met+len(fresh)]
	list := k.fresh[met:][:len(fresh)]
	for i := range fresh {
		m := &fresh[i]
		w := &k.walks[m.Stream%loopRefs]
		list[i] = freshBlock{w.entryOf(&k.table, w.base+w.advance*turn+m.By), w.label, uint32(m.Held), passed + m.Lefts}
	}
	met = len(k.left)
	k.left = slices.Grow(k.left, len(left))[:met+len(left)]
	entries := k.left[met:][:len(left)]
	for i := range left {
		m := &left[i]
		w := &k.walks[m.Stream%loopRefs]
		entries[i] = w.entryOf(&k.table, w.base+w.advance*turn+m.By)
	}
}

// follow takes fresh blocks off the time line and puts those left on it. As in
// settle, it looks all slots up before it uses any, so that cache misses overlap.
// All are taken before any is put, which only adds to their distances, unless a block that
// was left is fresh again.
func (k *stack) follow(weight uint64) {
	last, fresh := k.table.last, k.fresh
	slots := len(fresh)
	var touch uint32
	lines := k.line.lines
	for i := range fresh { // that of a block on the desk may lie beyond a short time line
		touch += uint32(lines[min(last[fresh[i].entry]>>lineBits, uint32(len(lines)-1))][lineCount])
	}
	k.touched = touch
	put := uint32(0)
	for i := range fresh {
		x := &fresh[i]
		s := last[x.entry]
		if s>>6&7 == heldWord {
			k.pushAll(k.left[put:x.left])
			put = x.left
			s = last[x.entry]
		}
		last[x.entry] = heldMark(0)
		if s == 0 {
			k.first(x.entry, x.label)
			continue
		}
		k.counts.addMany(x.label, x.held+x.left-put+k.taker.takeOf(slots, s), weight)
	}
	k.pushAll(k.left[put:])
	k.fresh, k.left = k.fresh[:0], k.left[:0]
}

// pushAll pushes all of list.
func (k *stack) pushAll(list []entry) {
	for len(list) > 0 {
		if k.line.full() {
			k.taker.done()
			k.line.renumber(k.table.last)
		}
		n := k.line.putSome(list, k.table.last)
		list = list[n:]
	}
}

// tell counts the accesses in the phases of s that are not yet counted.
func (k *stack) tell(s *affine.Shape) {
	c := &k.counts
	if k.again.learns { // s makes room for that of the loop at hand
		c = &k.again.scratch
	}
	for i := range s.Phases {
		p := &s.Phases[i]
		if p.Times+p.Begun == 0 {
			continue
		}
		for _, n := range p.Near {
			c.addMany(n.Label, n.Distance, p.Times)
		}
		for _, n := range p.Within {
			c.addMany(n.Label, n.Distance, p.Begun)
		}
		k.accesses += uint64(p.Accesses()) * (p.Times + p.Begun)
		p.Times, p.Begun = 0, 0
	}
}
