package reuse

import "presage/perf/trace/affine"

// runPhases is run for a loop whose shape is known: at is the phase of its first
// iteration. Accesses that are not fresh have a distance that their phase knows,
// so that its executions are counted and the distances added up in the end. An
// iteration costs a search of the time line for each fresh block, and nothing
// for the other accesses (derived here).
func (k *stack) runPhases(s *affine.Shape, at int, count uint32, weight uint64) {
	k.openDesk()
	k.clearDesk(len(k.streams))
	k.iterate(0, count, weight)
	mask := len(s.Phases) - 1
	k.shelve(uint32(len(s.Phases[at&mask].Latest)))
	s.Count(at+1, count-1, weight)
	events := k.events[:0]
	for i := uint32(1); i < count; {
		p := &s.Phases[(at+int(i))&mask]
		for _, f := range p.Fresh {
			x := &k.streams[f.Stream]
			events = append(events, event{block: x.Block(i), label: x.Label, held: f.Held})
		}
		for _, f := range p.Left {
			events = append(events, event{block: k.streams[f].Block(i - 1), left: true})
		}
		if len(events) >= sieve {
			k.follow(events, weight)
			events = events[:0]
		}
		i += p.Skip
	}
	k.follow(events, weight)
	k.events = events
	k.desk.reset()
	last := count - 1
	for _, f := range s.Phases[(at+int(last))&mask].Latest {
		block := k.streams[f].Block(last)
		e, _ := k.table.find(block)
		k.table.last[e] = heldMark(k.desk.add(block, e))
	}
	k.accesses += uint64(count) * uint64(len(k.streams)) * weight
}

// event is a block that an iteration accesses first, after held others, or that it
// leaves behind.
type event struct {
	block uint64
	label uint32
	held  uint32
	left  bool
}

// follow takes fresh blocks off the time line and puts those left on it. As in
// settle, it looks up all table entries before it uses any, so that cache misses
// overlap.
func (k *stack) follow(events []event, weight uint64) {
	if cap(k.found) < len(events) {
		k.found = make([]entry, 2*len(events))
	}
	found := k.found[:len(events)]
	for i := range events {
		e, ok := k.table.find(events[i].block)
		if !ok {
			e = k.table.add(events[i].block)
		}
		found[i] = e
	}
	var touch uint32
	for i := range events {
		if !events[i].left {
			touch += uint32(k.line.lines[k.table.last[found[i]]>>lineBits][lineCount])
		}
	}
	k.touched = touch
	for i := range events {
		switch x, last := &events[i], k.table.last[found[i]]; {
		case x.left:
			k.push(found[i])
		case last != 0:
			k.counts.addMany(x.label, x.held+k.line.take(last), weight)
		default:
			k.first(found[i], x.label)
		}
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
		if p.Times == 0 {
			continue
		}
		for _, n := range p.Near {
			c.addMany(n.Label, n.Distance, p.Times)
		}
		p.Times = 0
	}
}
