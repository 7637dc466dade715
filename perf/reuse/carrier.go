package reuse

import (
	"cmp"
	"fmt"
	"slices"

	"presage/perf/trace"
)

// Nest says in which loops the blocks of a plan are, for Options.Nest.
type Nest struct {
	Places []Place // by trace.BlockID
}

// Place is where a basic block stands in the program.
type Place struct {
	Routine int32 // any number that tells routines apart

	// Entry marks the first block of a routine: executing it is a call, unless it
	// continues a loop that it heads.
	Entry bool

	// Loops are the loops around the block, the outermost first, as numbers from
	// 0 that are unique in the program.
	Loops []int32

	// Header marks the block that begins each iteration of the last of Loops.
	Header bool
}

// NoLoop is the Loop of a Carried whose reuses no loop contains.
const NoLoop = -1

// NoSource is the Source of a Carried without an access before.
const NoSource = -1

// NoBirth is the Birth of a Carried whose object is not told apart by it.
const NoBirth = -1

// Carried is the part of a group's accesses to one object whose reuses one loop
// carries. The loop is the innermost one whose current execution, from entry to
// exit, contains both accesses; loops of calling routines are around those of the
// routines that they call.
type Carried struct {
	Group trace.GroupID
	Loop  int32 // NoLoop if the accesses are in no common execution of a loop

	// Crosses is true if the accesses are in different iterations of Loop, and
	// false if both are in one, outside all common executions of inner loops.
	Crosses bool

	// Object is an index in Options.Objects, or from their number on one of
	// Options.Memory, or NoObject if none holds the first byte accessed in the block.
	Object int32

	// Source is the scope of Options.Sources whose access to the block came before;
	// NoSource for cold accesses, and without that option.
	Source int32

	// Birth is the number in Options.Births of the reference that accessed the block
	// first, in an Object with ByBirth; NoBirth in others.
	Birth int32

	Histogram // Cold is 0 unless Loop is NoLoop
}

// carriers finds the carrier of each reuse from its distance d alone: the block
// was accessed since a loop was entered exactly if d is less than the number of
// distinct blocks accessed since, as these include the block itself if so, and
// are all accessed after it if not. An access with d of at least that number is
// to a block that is new to the loop's execution, which counts it then. The same
// holds for the current iteration (derived here). So a loop needs two counters and
// a block none, and most accesses look at the innermost loop only.
//
// The distances of a batch are found first, in the stack's own way, and attributed
// in a second pass. It counts, so that the first need not. While control stays in
// a loop and a reference in its object, an access costs a few comparisons with
// what the reference remembers.
//
// Calls and returns are told by the blocks executed. A return to the same
// routine, from recursion, is not noticed: until control returns to another one,
// loops that were active before the call do not count as active.
type carriers struct {
	*stack
	flow
	plan    *trace.Plan
	objects objects

	measured measure
	inner    []memo // by reference: where reuses that the innermost loop carries are counted
	outer    []memo // likewise, by reference and depth of another carrier, modulo carrierMemos
	index    map[carriedKey]uint32
	keys     []carriedKey
	found    counts // two for each of keys: within iterations, and crossing them

	sources *sources // nil: not asked for
	edge    *edge    // of a chunk of a run; nil: it is the whole run
	repeats repeats
	changed []*memo // filled since memory changed, if it can
	largest uint64  // bytes of the plan's largest access

	expanded, split trace.Batch
}

// carriedKey is what memos lead to.
type carriedKey struct {
	group  uint32
	loop   int32
	object int32
	source int32
	birth  int32
}

// carrierMemos is the number of memos of a reference for carriers that are not the
// innermost loop.
const carrierMemos = 4

// memo is where a reference's accesses to some addresses are counted if a loop
// carries their reuses.
type memo struct {
	lo, size uint64 // the accesses: to size addresses from that of the access lo; 0: none
	loop     int32
	at       uint32 // in found, of reuses within an iteration; those that cross are next to it
}

func newCarriers(l layout, plan *trace.Plan, opt *Options, window int) (*carriers, error) {
	nest := opt.Nest
	if len(nest.Places) != len(plan.Blocks) {
		return nil, fmt.Errorf("reuse: Nest has %d places for the plan's %d blocks", len(nest.Places), len(plan.Blocks))
	}
	if len(plan.Blocks) == 0 {
		return nil, fmt.Errorf("reuse: Nest needs a plan that records blocks")
	}
	objects, err := newObjects(opt.Objects)
	if err != nil {
		return nil, err
	}
	objects.memory = opt.Memory
	largest := uint64(1)
	for i := range plan.Refs {
		largest = max(largest, uint64(plan.Refs[i].Size))
	}
	from, err := newSources(l, plan, opt)
	if err != nil {
		return nil, err
	}
	return &carriers{
		sources: from, repeats: repeats{whole: make([]memo, len(plan.Refs))}, largest: largest,
		stack: newStack(l, window), flow: newFlow(plan, nest), plan: plan, objects: objects,
		inner: make([]memo, len(plan.Refs)), outer: make([]memo, carrierMemos*len(plan.Refs)),
		index: make(map[carriedKey]uint32), found: newCounts(0),
	}, nil
}

func (c *carriers) observe(b *trace.Batch) {
	if b.Thread != c.thread {
		c.switchTo(b.Thread)
	}
	if len(b.Changes) > 0 && c.objects.memory != nil && c.objects.memory.Apply(b.Changes) {
		c.forgetMemos()
	}
	if len(b.Runs) > 0 {
		b.Expand(&c.expanded)
		b = &c.expanded
	}
	b, weights := c.compact(b)
	c.measure(&c.measured, b.Accesses)
	if c.measured.straddles {
		c.separate(b)
		b = &c.split
	}
	if c.sources != nil || len(c.waiting) > 0 {
		c.attributeFrom(b, weights, c.measured.distances)
		return
	}
	c.attribute(b, weights, c.measured.distances)
}

// separate sets split to the block accesses of b, each an access of its own.
func (c *carriers) separate(b *trace.Batch) {
	s := &c.split
	s.Reset()
	s.Blocks = append(s.Blocks, b.Blocks...)
	for _, accesses := range b.ByBlock(c.plan) {
		before := len(s.Accesses)
		for _, a := range accesses {
			s.Accesses = append(s.Accesses, a)
			for block := a.Addr()>>c.shift + 1; block <= a.Last()>>c.shift; block++ {
				at := min(block<<c.shift, trace.AddrLimit-1) // the last one may reach beyond
				s.Accesses = append(s.Accesses, a+trace.Access(at-a.Addr()))
			}
		}
		s.Counts = append(s.Counts, uint32(len(s.Accesses)-before))
	}
}

// attribute counts the accesses of b, which straddle no blocks, each as often as
// the weight of its execution of a block; nil: all once.
func (c *carriers) attribute(b *trace.Batch, weights []uint64, distances []uint32) {
	top := &c.active[len(c.active)-1]
	execution, iteration, loop := top.execution, top.iteration, top.loop
	fresh := uint32(min(len(c.active)-1, 1)) // what a new block adds to them
	near, memos := c.found.near, c.inner
	accesses := b.Accesses
	for i, id := range b.Blocks {
		s := &c.steps[id]
		n := int(s.refs)
		if len(b.Counts) > 0 {
			n = int(b.Counts[i])
		}
		n = min(n, len(accesses)) // a fault may have ended the last block
		if s.context != c.context || s.entry {
			top.execution, top.iteration = execution, iteration
			c.enter(&c.nest.Places[id])
			c.context = s.context
			top = &c.active[len(c.active)-1]
			execution, iteration, loop = top.execution, top.iteration, top.loop
			fresh = uint32(min(len(c.active)-1, 1))
		} else if s.header {
			iteration = 0
		}
		weight := uint64(1)
		if weights != nil {
			weight = weights[i]
		}
		ds := distances[:n]
		for j, a := range accesses[:n] {
			d := ds[j]
			if d >= execution {
				execution += fresh
				iteration += fresh
				c.beyond(a, d)
				near = c.found.near
				continue
			}
			m := &memos[a.Ref()]
			if uint64(a)-m.lo >= m.size || m.loop != loop {
				c.recall(m, a, loop)
				near = c.found.near
			}
			crosses := uint32((uint64(d)-uint64(iteration))>>63 ^ 1) // d >= iteration
			at := m.at + crosses
			iteration += crosses
			if d < nearBins {
				near[at][d] += weight
			} else {
				c.found.addFar(at, d, weight)
			}
		}
		accesses, distances = accesses[n:], distances[n:]
	}
	top.execution, top.iteration = execution, iteration
	if len(accesses) > 0 {
		panic(fmt.Sprintf("reuse: %d accesses belong to no block of the plan", len(accesses)))
	}
}

// beyond counts an access to a block that is new to the execution of the innermost
// loop, which has counted it.
func (c *carriers) beyond(a trace.Access, d uint32) {
	loop, crosses := int32(NoLoop), uint32(0)
	i := len(c.active) - 2
	for ; i > 0; i-- {
		x := &c.active[i]
		if d < x.execution {
			loop = x.loop
			if d >= x.iteration {
				x.iteration++
				crosses = 1
			}
			break
		}
		x.execution++
		x.iteration++
	}
	m := &c.outer[uint32(a.Ref())*carrierMemos+uint32(max(i, 0))%carrierMemos]
	if uint64(a)-m.lo >= m.size || m.loop != loop {
		c.recall(m, a, loop)
	}
	if d == never {
		c.found.cold[m.at]++
		return
	}
	c.found.addMany(m.at+crosses, d, 1)
}

// recall makes m that of an access and a loop.
func (c *carriers) recall(m *memo, a trace.Access, loop int32) {
	object, lo, hi := c.objects.at(a.Addr())
	at := c.counted(carriedKey{c.groupOf[a.Ref()], loop, object, NoSource, NoBirth})
	c.recalled(m)
	*m = memo{uint64(a) - a.Addr() + lo, hi - lo, loop, at}
}

// recalled notes that m, which holds while memory does not change, is about to be set.
func (c *carriers) recalled(m *memo) {
	if c.objects.memory != nil && m.size == 0 {
		c.changed = append(c.changed, m)
	}
}

// forgetMemos makes all memos hold for nothing.
func (c *carriers) forgetMemos() {
	for _, m := range c.changed {
		m.size = 0
	}
	c.changed = c.changed[:0]
}

// counted returns where in found the accesses of a key are counted.
func (c *carriers) counted(key carriedKey) uint32 {
	at, ok := c.index[key]
	if !ok {
		at = uint32(2 * len(c.keys))
		c.keys = append(c.keys, key)
		c.found.grow(2)
		c.index[key] = at
	}
	return at
}

func (c *carriers) result() *Result {
	r := c.stack.result()
	if c.objects.memory != nil {
		r.Memory = c.objects.memory.Names()
	}
	for i, key := range c.keys {
		for crosses := range 2 {
			r.carry(key, crosses == 1, c.found.histogram(2*i+crosses))
		}
	}
	r.sortCarried()
	return r
}

// carry adds accesses of a key.
func (r *Result) carry(key carriedKey, crosses bool, h Histogram) {
	if h.Accesses() == 0 {
		return
	}
	r.Groups[key.group] = r.Groups[key.group].merge(&h)
	r.Carried = append(r.Carried, Carried{trace.GroupID(key.group), key.loop, crosses, key.object, key.source, key.birth, h})
}

func (r *Result) sortCarried() {
	slices.SortFunc(r.Carried, func(a, b Carried) int {
		if by := cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Loop, b.Loop), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Birth, b.Birth)); by != 0 || a.Crosses == b.Crosses {
			return by
		}
		if b.Crosses {
			return -1
		}
		return 1
	})
}
