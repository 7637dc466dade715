package reuse

import "presage/perf/trace"

// carrierPart finds carriers in chunks, exactly as carriers does in the whole run.
//
// The activations of loops that are under way when a chunk begins are inherited: the
// worker knows them, but not how many blocks were accessed since they were entered. It
// need not. Accesses to a block within the chunk are both in all inherited activations
// that are left, so an inherited one counts as never exceeded. A first touch is of a
// block that is new to all activations entered in the chunk, and to an iteration begun
// in it; which inherited activation carries it is found in the end, from its distance
// and the counts of the past, by following how the inherited ones ended (edge.turns).
// Only the innermost one left can begin an iteration, as others are within it. All this
// holds for each thread (derived here).
type carrierPart struct {
	*carriers
	past   *carrierPast
	window int

	begins  bool // the next batch is a chunk's first
	changes int  // applied
	newborn int  // likewise

	twins, sourceTwins twins // of the tables of the stack and of sources
	memos              [edgeMemos]edgeMemo
}

// carrierPast is a past with what carriers must know of it.
type carrierPast struct {
	*past
	sources  []uint32               // by entry: the scope that accessed the block last, plus 1
	controls map[int32][]activation // of all threads
}

// edge is what a chunk does not know of its first touches.
type edge struct {
	late    []late
	turns   []turn
	noted   turn   // the latest
	objects []memo // by reference; loop is the object
}

// late is a first touch, as far as it is known.
type late struct {
	group         uint32
	object, birth int32
}

// turn is a change of the thread that runs, or of its inherited activations, before a
// first touch. What a thread left without one makes no difference while it waits: a
// block is new to an activation only if it is to those within it, and what has ended
// counts in vain.
type turn struct {
	at        int // of edge.late
	thread    int32
	inherited int
	restarted bool // the innermost of those inherited has begun an iteration
}

// inherit returns a copy of t whose activations are inherited.
func (t *control) inherit() control {
	c := control{context: t.context, inherited: len(t.active)}
	c.frames = append(c.frames, t.frames...)
	for _, a := range t.active {
		c.active = append(c.active, activation{a.loop, never, never})
	}
	return c
}

// restarted reports whether the innermost inherited activation has begun an iteration.
func (t *control) restarted() bool {
	return t.inherited > 1 && t.active[t.inherited-1].iteration != never
}

// age counts a block that is new to the chunk.
func (t *control) age() {
	for i := max(t.inherited, 1); i < len(t.active); i++ {
		t.active[i].execution++
		t.active[i].iteration++
	}
	if t.restarted() {
		t.active[t.inherited-1].iteration++
	}
}

// touch notes a first touch of a block.
func (e *edge) touch(c *carriers, a trace.Access, of entry) {
	for i := range c.waiting {
		c.waiting[i].age()
	}
	c.age()
	e.turn(&c.flow)
	m := &e.objects[a.Ref()]
	if uint64(a)-m.lo >= m.size {
		object, lo, hi := c.objects.at(a.Addr())
		c.recalled(m)
		*m = memo{lo: uint64(a) - a.Addr() + lo, size: hi - lo, loop: object}
	}
	t := late{c.groupOf[a.Ref()], m.loop, NoBirth}
	if c.objects.isByBirth(t.object) {
		t.birth = c.sources.birth(of)
	}
	e.late = append(e.late, t)
}

// turn notes where the running thread stands.
func (e *edge) turn(f *flow) {
	now := turn{len(e.late), f.thread, f.inherited, f.restarted()}
	if last := e.noted; last.thread != now.thread || last.inherited != now.inherited || last.restarted != now.restarted {
		e.turns, e.noted = append(e.turns, now), now
	}
}

func (c *carrierPart) observe(p *parcel) {
	c.learn(&p.ahead)
	if c.begins {
		c.begins = false
		c.begin(p.ahead.start)
	}
	c.carriers.observe(&p.batch)
}

// learn takes in what changed up to a batch, and which blocks were touched.
func (c *carrierPart) learn(a *ahead) {
	if now := a.changes[c.changes:]; len(now) > 0 && c.objects.memory != nil && c.objects.memory.Apply(now) {
		c.forgetMemos()
	}
	s := c.sources
	for _, n := range a.newborn[c.newborn:] {
		e := s.entryOf(n.block)
		s.grow()
		s.born[e] = n.birth
	}
	c.changes, c.newborn = len(a.changes), len(a.newborn)
}

// begin begins a chunk where control stands at start.
func (c *carrierPart) begin(start *standing) {
	c.control, c.others, c.thread = start.control, start.others, start.thread
	c.wait()
	c.edge.noted = turn{thread: c.thread, inherited: -1}
}

func (c *carrierPart) join() {
	c.twins.extend(c.past.past, &c.table)
	c.sourceTwins.extend(c.past.past, &c.sources.last)
	if n := len(c.past.table.last); len(c.past.sources) < n {
		c.past.sources = append(c.past.sources, make([]uint32, n-len(c.past.sources))...)
	}
	t := tracks{past: c.past, turns: c.edge.turns, at: make(map[int32]*track)}
	t.begin()
	c.past.resolve(c.stack, c.twins, func(from int, entries []entry, distances []uint32) {
		for i, d := range distances {
			x := &c.edge.late[from+i]
			loop, crosses := t.carrier(from+i, d)
			m := c.memo(carriedKey{x.group, loop, x.object, int32(c.past.sources[entries[i]]) - 1, x.birth})
			if d == never {
				c.found.cold[m]++
			} else {
				c.found.addMany(m+crosses, d, 1)
			}
		}
	})
	c.past.stack(c.stack, c.twins)
	c.handOver(&t)
}

const edgeMemos = 256

// edgeMemo is where a key is counted.
type edgeMemo struct {
	key carriedKey
	at  uint32 // plus 1; 0: none
}

// memo is counted, faster.
func (c *carrierPart) memo(key carriedKey) uint32 {
	m := &c.memos[(key.group*31+uint32(key.loop)*17+uint32(key.source)*7+uint32(key.object)*3+uint32(key.birth))%edgeMemos]
	if m.at == 0 || m.key != key {
		*m = edgeMemo{key, c.counted(key) + 1}
	}
	return m.at - 1
}

// handOver makes where the chunk has left off that of the past, and the sources that it
// has known are forgotten.
func (c *carrierPart) handOver(t *tracks) {
	last := c.sources.last.last
	for leaf := range c.sourceTwins {
		own := last[leaf<<leafBits:][:leafSize]
		theirs := c.past.sources[c.sourceTwins[leaf]<<leafBits:][:leafSize]
		for i, s := range own {
			if s != 0 {
				theirs[i] = s
			}
		}
		clear(own)
	}
	clear(c.past.controls)
	c.past.controls[c.thread] = t.exact(c.thread, &c.control)
	for id, o := range c.others {
		c.past.controls[id] = t.exact(id, &o)
	}
}

func (c *carrierPart) clear() {
	c.stack.clear()
	c.edge.late, c.edge.turns = c.edge.late[:0], c.edge.turns[:0]
	c.begins = true
}

func (c *carrierPart) bytes() uint64 {
	return c.stack.bytes() + c.sources.last.bytes() + 4*uint64(cap(c.sources.born)) + 12*uint64(cap(c.edge.late))
}

func (c *carrierPart) shrink() {
	c.table, c.line = newTable(c.blockBits()), newTimeline(c.window, leafSize-1)
	c.firsts, c.twins = touches{}, nil
	c.sources.last, c.sources.born, c.sourceTwins = newTable(c.blockBits()), nil, nil
	c.newborn = 0
	c.edge.late = nil
	c.clear()
}
