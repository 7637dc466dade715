package reuse

import (
	"fmt"
	"slices"

	"presage/perf/trace"
)

// sources knows which scope accessed each block last.
type sources struct {
	of    []int32      // by reference: the scope that it is in
	last  table        // block → scope + 1; 0: not accessed yet
	memos []sourceMemo // by reference and a hash of loop and source

	tell bool     // each is wanted
	each []uint32 // where each access of the batch is counted, as an index of found
}

// sourceMemos is the number of memos of a reference, a power of two.
const sourceMemos = 8

// sourceMemo is a memo that holds for one source.
type sourceMemo struct {
	memo
	source int32
}

func newSources(l layout, plan *trace.Plan, of []int32) (*sources, error) {
	if of == nil {
		return nil, nil
	}
	if len(of) != len(plan.Refs) {
		return nil, fmt.Errorf("reuse: Sources has %d scopes for the plan's %d references", len(of), len(plan.Refs))
	}
	if i := slices.IndexFunc(of, func(s int32) bool { return s < 0 }); i >= 0 {
		return nil, fmt.Errorf("reuse: Sources has scope %d for reference %d: want numbers from 0", of[i], i)
	}
	return &sources{of: of, last: newTable(l.blockBits()), memos: make([]sourceMemo, sourceMemos*len(plan.Refs))}, nil
}

// swap makes a scope the last that accessed a block, and returns the one before.
func (s *sources) swap(block uint64, scope int32) int32 {
	e, ok := s.last.find(block)
	if !ok {
		e = s.last.add(block)
	}
	before := int32(s.last.last[e]) - 1
	s.last.last[e] = uint32(scope + 1)
	return before
}

// attributeFrom is attribute with sources: simpler, and slower.
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
	source := s.swap(a.Addr()>>c.shift, s.of[a.Ref()])
	loop, crosses := c.carrier(d)
	m := &s.memos[uint32(a.Ref())*sourceMemos+(uint32(loop)*3+uint32(source))%sourceMemos]
	if uint64(a)-m.lo >= m.size || m.loop != loop || m.source != source {
		object, lo, hi := c.objects.at(a.Addr())
		at := c.counted(carriedKey{c.groupOf[a.Ref()], loop, object, source})
		*m = sourceMemo{memo{uint64(a) - a.Addr() + lo, hi - lo, loop, at}, source}
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

// carrier returns the loop that carries a reuse at a distance, and 1 if it crosses
// iterations. It counts the block for the loops to which it is new.
func (c *carriers) carrier(d uint32) (loop int32, crosses uint32) {
	i := len(c.active) - 1
	for ; i > 0; i-- {
		x := &c.active[i]
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
	if opt.Nest == nil || opt.Sources == nil {
		return nil, fmt.Errorf("reuse: a Classifier takes a Nest and Sources")
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

// Class describes a class of accesses: a Carried with the histogram of the accesses
// so far.
func (c *Classifier) Class(n uint32) Carried {
	key := c.c.keys[n/2]
	h := c.c.found.histogram(int(n))
	return Carried{trace.GroupID(key.group), key.loop, n%2 == 1, key.object, key.source, h}
}
