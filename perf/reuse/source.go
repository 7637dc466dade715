package reuse

import (
	"fmt"
	"slices"

	"presage/perf/trace"
)

// sources knows which scope accessed each block last.
type sources struct {
	of     []int32      // by reference: the scope that it is in
	last   table        // block → scope + 1; 0: not accessed yet
	births []int32      // by reference, as in Options; nil: not asked for
	born   []int32      // by entry of last: what touched the block first, once it was touched
	memos  []sourceMemo // by reference and a hash of loop and source

	chunk bool // of a run: born is known before

	tell bool     // each is wanted
	each []uint32 // where each access of the batch is counted, as an index of found
}

// sourceMemos is the number of memos of a reference, a power of two.
const sourceMemos = 8

// sourceMemo is a memo that holds for one source, and for one birth or any.
type sourceMemo struct {
	memo
	source, birth int32
}

// anyBirth is the birth of memos of objects that are not told apart by it.
const anyBirth = -2

func newSources(l layout, plan *trace.Plan, opt *Options) (*sources, error) {
	if opt.Sources == nil {
		if opt.Births != nil {
			return nil, fmt.Errorf("reuse: Births without Sources: they take them")
		}
		return nil, nil
	}
	for _, list := range []struct {
		name string
		of   []int32
	}{{"Sources", opt.Sources}, {"Births", opt.Births}} {
		if len(list.of) != len(plan.Refs) && (list.of != nil || list.name == "Sources") {
			return nil, fmt.Errorf("reuse: %s has %d numbers for the plan's %d references", list.name, len(list.of), len(plan.Refs))
		}
		if i := slices.IndexFunc(list.of, func(s int32) bool { return s < 0 }); i >= 0 {
			return nil, fmt.Errorf("reuse: %s has %d for reference %d: want numbers from 0", list.name, list.of[i], i)
		}
	}
	return &sources{of: opt.Sources, births: opt.Births, last: newTable(l.blockBits()), memos: make([]sourceMemo, sourceMemos*len(plan.Refs))}, nil
}

// swap makes the scope of a reference the last that accessed a block, and returns
// the one before and the block's entry.
func (s *sources) swap(block uint64, ref trace.RefID) (source int32, e entry) {
	e = s.entryOf(block)
	source = int32(s.last.last[e]) - 1
	s.last.last[e] = uint32(s.of[ref] + 1)
	if source == NoSource && s.births != nil {
		s.grow()
		if !s.chunk {
			s.born[e] = s.births[ref]
		}
	}
	return source, e
}

// birth returns what touched a block first that swap has returned.
func (s *sources) birth(e entry) int32 {
	if s.births == nil {
		return NoBirth
	}
	return s.born[e]
}

func (s *sources) entryOf(block uint64) entry {
	e, ok := s.last.find(block)
	if !ok {
		e = s.last.add(block)
	}
	return e
}

// grow makes born as long as the table.
func (s *sources) grow() {
	if n := len(s.last.last); len(s.born) < n {
		s.born = append(s.born, make([]int32, n-len(s.born))...)
	}
}

// attributeFrom is attribute with sources, or while other threads wait in loops:
// simpler, and slower.
func (c *carriers) attributeFrom(b *trace.Batch, weights []uint64, distances []uint32) {
	accesses := b.Accesses
	for i, id := range b.Blocks {
		s := &c.steps[id]
		n := int(s.refs)
		if len(b.Counts) > 0 {
			n = int(b.Counts[i])
		}
		n = min(n, len(accesses)) // a fault may have ended the last block
		if s.context != c.context || s.entry {
			c.enter(&c.nest.Places[id])
			c.context = s.context
		} else if s.header {
			c.active[len(c.active)-1].iteration = 0
		}
		weight := uint64(1)
		if weights != nil {
			weight = weights[i]
		}
		for j, a := range accesses[:n] {
			c.count(a, distances[j], weight)
		}
		accesses, distances = accesses[n:], distances[n:]
	}
	if len(accesses) > 0 {
		panic(fmt.Sprintf("reuse: %d accesses belong to no block of the plan", len(accesses)))
	}
}

// count counts an access to one block at a distance.
func (c *carriers) count(a trace.Access, d uint32, weight uint64) {
	s := c.sources
	if s == nil {
		c.countPlain(a, d, weight)
		return
	}
	source, e := s.swap(a.Addr()>>c.shift, a.Ref())
	if s.chunk && d == never {
		c.edge.touch(c, a, e)
		return
	}
	loop, crosses := c.carrier(d)
	m := &s.memos[uint32(a.Ref())*sourceMemos+(uint32(loop)*3+uint32(source))%sourceMemos]
	if uint64(a)-m.lo >= m.size || m.loop != loop || m.source != source || m.birth != anyBirth && m.birth != s.birth(e) {
		object, lo, hi := c.objects.at(a.Addr())
		key, of := carriedKey{c.groupOf[a.Ref()], loop, object, source, NoBirth}, int32(anyBirth)
		if c.objects.isByBirth(object) {
			key.birth = s.birth(e)
			of = key.birth
		}
		c.recalled(&m.memo)
		*m = sourceMemo{memo{uint64(a) - a.Addr() + lo, hi - lo, loop, c.counted(key)}, source, of}
	}
	at := m.at + crosses
	if s.tell {
		s.each = append(s.each, at)
	}
	if d == never {
		c.found.cold[m.at] += weight
		return
	}
	c.found.addMany(at, d, weight)
}

// countPlain is count without sources.
func (c *carriers) countPlain(a trace.Access, d uint32, weight uint64) {
	loop, crosses := c.carrier(d)
	m := &c.outer[uint32(a.Ref())*carrierMemos+uint32(loop)%carrierMemos]
	if uint64(a)-m.lo >= m.size || m.loop != loop {
		c.recall(m, a, loop)
	}
	if d == never {
		c.found.cold[m.at] += weight
		return
	}
	c.found.addMany(m.at+crosses, d, weight)
}

// carrier returns the loop that carries a reuse at a distance, and 1 if it crosses
// iterations. It counts the block for the loops to which it is new.
func (c *carriers) carrier(d uint32) (loop int32, crosses uint32) {
	for _, active := range c.waiting {
		carry(active.active, d)
	}
	return carry(c.active, d)
}

// carry is carrier for the loops of one thread.
func carry(active []activation, d uint32) (loop int32, crosses uint32) {
	for i := len(active) - 1; i > 0; i-- {
		x := &active[i]
		if d < x.execution {
			if d >= x.iteration {
				x.iteration++
				return x.loop, 1
			}
			return x.loop, 0
		}
		x.execution++
		x.iteration++
	}
	return NoLoop, 0
}

// A Classifier tells of each single access what Result.Carried counts of all.
type Classifier struct{ c *carriers }

// NewClassifier returns a Classifier for a run under plan. It takes the options Nest
// and Sources.
func NewClassifier(plan *trace.Plan, opt Options) (*Classifier, error) {
	if opt.Nest == nil || opt.Sources == nil || opt.Workers > 1 {
		return nil, fmt.Errorf("reuse: a Classifier takes a Nest and Sources, and one worker")
	}
	c, err := New(plan, opt)
	if err != nil {
		return nil, err
	}
	m := c.method.(*carriers)
	m.sources.tell = true
	return &Classifier{m}, nil
}

// Classify returns, for each block access of a batch without runs, in order, the
// number of its class. The slice is valid until the next call.
func (c *Classifier) Classify(b *trace.Batch) []uint32 {
	c.c.sources.each = c.c.sources.each[:0]
	c.c.observe(b)
	return c.c.sources.each
}

// Classes returns the number of classes so far; numbers are below.
func (c *Classifier) Classes() int { return 2 * len(c.c.keys) }

// Class describes a class of accesses, without their histogram.
func (c *Classifier) Class(n uint32) Carried {
	key := c.c.keys[n/2]
	return Carried{Group: trace.GroupID(key.group), Loop: key.loop, Crosses: n%2 == 1, Object: key.object, Source: key.source, Birth: key.birth}
}

// Histogram returns the histogram of the accesses of a class so far.
func (c *Classifier) Histogram(n uint32) Histogram { return c.c.found.histogram(int(n)) }
