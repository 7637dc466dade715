package replay

import (
	"fmt"
	"maps"
	"slices"

	"presage/perf/trace"
)

// Hints name the references and branches for which one affine function did not do
// in an earlier run. They cost more to collect, from the run's start on: what
// was not looked for in a run cannot be found in it afterwards.
type Hints struct {
	Refs     map[trace.RefID]bool
	Branches map[trace.BlockID]bool

	// Of allocators, see memory.go. Recycles: a run finds memory again that it gave back.
	// Unmodelled: not all of it is where a model has it. Several: calls of whose memory too
	// much is in use at a time, by what identifies a call. Sites: numbers of others, with their
	// slots. Lists: how many events calls had that ask for several sizes, or give back memory of
	// several others.
	Recycles, Unmodelled bool
	Several              map[uint64]bool
	Sites                map[uint64]int32
	Lists                map[uint64]uint64
}

// Size returns the number of hints.
func (h *Hints) Size() int {
	n := len(h.Refs) + len(h.Branches) + len(h.Several) + len(h.Lists)
	for _, is := range []bool{h.Recycles, h.Unmodelled} {
		if is {
			n++
		}
	}
	return n
}

func (h *Hints) clone() Hints {
	c := *h
	c.Refs, c.Branches = maps.Clone(h.Refs), maps.Clone(h.Branches)
	c.Several, c.Sites, c.Lists = maps.Clone(h.Several), maps.Clone(h.Sites), maps.Clone(h.Lists)
	return c
}

// Collector learns from a run, of which its plan must be Code.Recorded, the forms of
// the addresses and branches of each place. It is a trace.Collector.
type Collector struct {
	code  *Code
	walk  *walker
	hints Hints // those that it was made with
	found Hints // with what it found

	places  []*place
	known   map[placeKey]int32
	current *place // nil before the first
	vector  []int64
	stamps  []uint64 // when each coordinate, or one before it, last changed
	clock   uint64
	memory  *memory // nil: where numbers come from is not followed
	image   image
	asked   *asked // nil: what it asks of allocators is not followed
	stack   uint64 // the first address outside of the image
	trouble string
	other   *elsewhere
	given   GivenMemory // until a place is executed
	lost    uint64      // accesses of no known place
}

var _ trace.Collector = (*Collector)(nil)

// place is the state of a place.
type place struct {
	placeKey
	index  int // among those of the run
	depth  int
	count  uint64
	next   []passage
	latest int // of next, the one taken last
	refs   []reference
	branch *branch // nil if control can go on in one way only

	asks  bool // begins a call of an allocator
	gives bool // belongs to an allocator: its addresses stay real

	storings  []storing    // by reference
	numbers   []endNumbers // by which the loop around it may end, that did not fail
	remembers bool         // numbers are stored in it, or are loaded of which addresses are computed
	given     GivenMemory  // before it
	fork      bool
	hash      uint64 // of what followed
}

// passage is a way on from a place.
type passage struct {
	block trace.BlockID
	to    *place
	step  step
	count uint64
	again uint64 // of count, right after itself
}

// NewCollector returns a Collector for one run, with what earlier ones found.
func NewCollector(code *Code, hints Hints) *Collector {
	c := &Collector{code: code, image: image{code: code}, walk: newWalker(code), other: newElsewhere(code), hints: hints.clone(), found: hints.clone(), known: make(map[placeKey]int32)}
	if c.found.Refs == nil {
		c.found.Refs = make(map[trace.RefID]bool)
	}
	if c.found.Branches == nil {
		c.found.Branches = make(map[trace.BlockID]bool)
	}
	if c.found.Several == nil {
		c.found.Several, c.found.Sites, c.found.Lists = make(map[uint64]bool), make(map[uint64]int32), make(map[uint64]uint64)
	}
	c.asked = newAsked(code, &c.hints, &c.found)
	c.findSources()
	return c
}

// Hints returns what the next run should look for: that which this run did, and
// what it lacked. A run that adds to its hints is worth repeating.
func (c *Collector) Hints() Hints { return c.found.clone() }

// Observe implements trace.Collector.
func (c *Collector) Observe(b *trace.Batch) {
	if c.trouble != "" {
		return
	}
	c.image.load(b.Changes)
	if given := c.code.given(b); given.At != 0 {
		c.given = given
	}
	if c.other.thread(b) {
		c.trouble = c.other.trouble(soon)
		return
	}
	if c.asked != nil {
		c.asked.pending = append(c.asked.pending, b.Changes...)
	}
	left := 0
	for e := range c.code.executions(b, &left) {
		if c.other.interrupts(e) {
			continue
		}
		c.arrive(e.block)
		if c.trouble != "" {
			return
		}
		if c.given.At != 0 {
			c.current.given, c.given = c.given, GivenMemory{}
		}
		if c.asked != nil {
			c.allocate()
		}
		c.lost += uint64(e.strays)
		for i, a := range e.accesses {
			c.access(c.current, i, a.Addr())
		}
	}
	c.lost += uint64(left)
}

func (c *Collector) access(p *place, i int, addr uint64) {
	if c.stack == 0 && !c.image.holds(addr) {
		c.stack = addr
	}
	if c.asked != nil && c.asked.on && !p.gives {
		addr = c.asked.placed(addr)
	}
	r := &p.refs[i]
	had := len(r.candidates) > 0
	if !r.add(c.vector, c.stamps, addr) && had {
		c.found.Refs[c.code.blocks[p.block].firstRef+trace.RefID(i)] = true
	}
	p.pair(i)
	if p.remembers {
		c.remember(p, i, addr)
	}
}

// allocate follows calls of allocators to the current place.
func (c *Collector) allocate() {
	if c.current.asks {
		c.asked.enters(int32(c.current.index), c.walk.contexts, c.current.placeKey)
		if c.code.entries[c.current.block] == trace.Free && len(c.asked.pending) == 0 {
			c.asked.nothing()
		}
	}
	if len(c.asked.pending) > 0 {
		c.asked.settle()
	}
}

// arrive moves on to block id.
func (c *Collector) arrive(id trace.BlockID) {
	p := c.current
	if p == nil {
		c.vector = make([]int64, len(c.code.blocks[id].chain))
		c.stamps = make([]uint64, len(c.vector), 2*maxDepth)
		c.current = c.at(placeKey{0, id})
		c.current.count++
		return
	}
	if p.next != nil && p.next[p.latest].block == id {
		p.next[p.latest].again++
	} else if !c.turn(p, id) {
		return
	}
	way := &p.next[p.latest]
	way.count++
	if p.fork {
		p.hash = mix(p.hash, c.code.label(id))
		if had := len(p.branch.candidates) > 0; had && !p.branch.add(c.vector, c.stamps, id) {
			c.found.Branches[p.block] = true
		}
	}
	if len(p.numbers) > 0 && int(way.step.keep) < p.depth {
		c.leave(p, c.vector[p.depth-1])
	}
	c.advance(way.step)
	c.current = way.to
	if way.to.count++; way.to.count&(1<<13-1) == 0 {
		way.to.narrow()
	}
}

// narrow leaves out candidates, now and then.
func (p *place) narrow() {
	for i := range p.refs {
		p.refs[i].narrow(p.count)
	}
	if p.branch != nil {
		p.branch.narrow(p.count)
	}
}

// advance changes the iteration vector.
func (c *Collector) advance(s step) {
	if !s.more && s.push == 0 {
		c.vector, c.stamps = c.vector[:s.keep], c.stamps[:s.keep]
		return
	}
	c.vector = s.apply(c.vector)
	c.clock++
	c.stamps = c.stamps[:s.keep]
	if s.more {
		c.stamps[s.keep-1] = c.clock
	}
	for range s.push {
		c.stamps = append(c.stamps, c.clock)
	}
}

// turn finds the way from p to a block, which differs from the latest one.
func (c *Collector) turn(p *place, id trace.BlockID) bool {
	for i := range p.next {
		if p.next[i].block == id {
			p.latest = i
			return true
		}
	}
	key, s, err := c.walk.move(p.placeKey, id)
	if err != nil {
		c.trouble = err.Error()
		return false
	}
	to := c.at(key)
	if int(s.keep) > p.depth || int(s.keep)+int(s.push) != to.depth {
		c.trouble = fmt.Sprintf("control came to %s in a way that its loops do not explain", c.code.routine(id))
		return false
	}
	if to.depth > maxDepth {
		c.trouble = "more than 60 nested loops: recursion is not followed"
		return false
	}
	p.latest = len(p.next)
	p.next = append(p.next, passage{block: id, to: to, step: s})
	return true
}

// at returns the state of a place.
func (c *Collector) at(key placeKey) *place {
	if i, ok := c.known[key]; ok {
		return c.places[i]
	}
	b := &c.code.blocks[key.block]
	p := &place{placeKey: key, index: len(c.places), depth: c.walk.depth(key), fork: b.forks, refs: make([]reference, b.refs)}
	if c.asked != nil {
		p.asks, p.gives = c.code.asks(c.walk.contexts, key), c.code.gives(c.walk.contexts, key)
	}
	for i := range p.refs {
		p.refs[i] = newReference(p.depth, c.hints.Refs[b.firstRef+trace.RefID(i)])
	}
	if p.fork {
		p.branch = newBranch(p.depth, c.hints.Branches[key.block])
	}
	c.known[key] = int32(len(c.places))
	c.places = append(c.places, p)
	if c.memory != nil {
		c.prepare(p)
	}
	return p
}

// Result ends the collection and returns what was learned. An error says why the
// run cannot be replayed.
func (c *Collector) Result() (*Run, error) {
	if c.trouble == "" {
		c.trouble = c.other.trouble(freely)
	}
	if c.trouble != "" {
		return nil, &TroubleError{c.trouble}
	}
	if last := c.current; last != nil {
		last.next = append(last.next, passage{block: noBlock, count: 1})
		if last.fork {
			last.hash = mix(last.hash, c.code.label(noBlock))
			if had := len(last.branch.candidates) > 0; had && !last.branch.add(c.vector, c.stamps, noBlock) {
				c.found.Branches[last.block] = true
			}
		}
	}
	r := &Run{Contexts: slices.Clone(c.walk.contexts), Stack: c.stack, Lost: c.lost + c.other.accesses, Image: c.code.imageEnd(), Loaded: c.image.loaded, Elsewhere: slices.Sorted(maps.Keys(c.other.refs))}
	for _, p := range c.places {
		if p.fork {
			had := len(p.branch.candidates) > 0
			if p.branch.end(); had && len(p.branch.candidates) == 0 {
				c.found.Branches[p.block] = true
			}
		}
		r.Places = append(r.Places, p.result(c.memory))
	}
	if c.asked != nil && c.asked.on && c.asked.ends() {
		r.Heap = &RunHeap{Calls: c.asked.calls, Begins: c.asked.heap.Begins()}
	}
	return r, nil
}

// TroubleError says why a run cannot be learned from.
type TroubleError struct{ Reason string }

func (e *TroubleError) Error() string { return "replay: the run cannot be followed: " + e.Reason }
