package cache

import (
	"math/bits"
	"slices"

	"presage/perf/trace"
	"presage/perf/trace/affine"
)

// A run of a loop is simulated by the iterations in which some reference goes on
// to another block of the level it enters at. In all others, every access is to
// the block of the iteration before.
//
// While the blocks of an iteration lie in different sets, each is the latest of
// its set from its first access on, whatever the policy: accesses after the
// first are hits that change nothing, so only moves to another block are
// simulated. Where two blocks share a set, iterations with moves are simulated
// whole; under LRU, the next one then has hits alone, unless a set has too few
// ways, and leaves the set as it was: so do all up to the next move. What
// neither covers is simulated access by access. (Derived here.)
//
// Which references move in an iteration, and which blocks may share a set, is
// known beforehand for loops of a known shape: see runPhases.
const (
	// runLeast is the number of accesses below which a run is expanded.
	runLeast = 16

	// runChunk is the number of accesses that are expanded at a time.
	runChunk = 4096

	// runTail is the number of single accesses after a run up to which repeats
	// of both are looked for.
	runTail = 32

	// fewMoves is the share of iterations with moves up to which simulating
	// these whole is faster than simulating all.
	fewMoves = 0.3

	// manySets is a number of sets among which the blocks of a cluster differ.
	manySets = 32
)

// walker is what a chain knows of a stream.
type walker struct {
	ref        *reference
	origin     origin // ref's
	last       uint32 // bytes accessed, less 1; 0 for parts of accesses that may span several blocks
	level      uint8
	further    bool   // behind the first block of an access
	block, set uint64 // in the iteration at hand
}

// loop is the run at hand of a chain.
type loop struct {
	streams []affine.Stream
	walkers []walker // of the streams
	shapes  affine.Shapes
	plans   plans
	pieces  []trace.Piece
	buffer  []trace.Access
	rows    []affine.Row // see fits
	kept    []Counts     // see keepCounts

	queue, spare []transfer // see deliver
	round        []asked    // see listRound
	places       places
	turns        []uint32 // see listTurns, also for the next two
	straddles    []straddle
	sweeps       int
	stack        []tag // see sweep

	shape *affine.Shape // nil: none
	phase int           // of the first iteration

	stores  uint64  // streams, a bit each
	close   uint64  // streams whose blocks may share a set, a bit each
	moved   []uint8 // streams that went on to another block in the iteration at hand
	moves   float64 // about the share of iterations in which some do
	ordered bool    // the levels that it enters at are: see contents
	ample   bool    // no set of that level can overflow in an iteration
	mixed   bool    // it enters at several levels, or lower ones take blocks away from that level
	spans   bool    // some accesses span several blocks
}

// observeBatch passes the events of a batch through the chain.
func (c *chain) observeBatch(b *trace.Batch) {
	if len(b.Runs) == 0 {
		c.observe(b.Accesses)
		return
	}
	if c.prefetching != nil {
		for p := range b.Pieces() {
			c.observe(p.Accesses)
			c.expand(&p.Loop)
		}
		return
	}
	c.pieces = c.pieces[:0]
	for p := range b.Pieces() {
		c.pieces = append(c.pieces, p)
	}
	c.observe(c.pieces[0].Accesses)
	for i := 0; i+1 < len(c.pieces); i++ {
		if whole := c.segment(i); whole && c.repeatable {
			i += c.repeat(i)
		}
	}
}

// segment simulates the run of piece i and the accesses after it. It reports
// whether the run was prepared as a loop.
func (c *chain) segment(i int) bool {
	l := &c.pieces[i].Loop
	ok := false
	switch {
	case c.runPagewise(l):
	case c.prepare(l):
		c.run(l)
		ok = true
	default:
		c.expand(l)
	}
	c.observe(c.pieces[i+1].Accesses)
	return ok
}

// expand simulates a run access by access.
func (c *chain) expand(l *trace.Loop) {
	if len(l.Strides) == 0 {
		return
	}
	each := 1 + runChunk/uint32(len(l.Strides))
	for from := uint32(0); from < l.Count; from += each {
		c.buffer = l.AppendAccesses(c.buffer[:0], from, min(l.Count, from+each))
		c.observe(c.buffer)
	}
}

// prepare sets the loop at hand, or returns false if it is to be expanded: because
// an access is larger than a block, because stores that hit do more than mark a
// block, or because there is little to gain.
func (c *chain) prepare(l *trace.Loop) bool {
	if len(l.Strides) > affine.MaxStreams || uint64(l.Count)*uint64(len(l.Strides)) < runLeast {
		return false
	}
	if c.shape, c.phase = c.shapes.Again(l, c.streams); c.shape != nil {
		return true
	}
	c.streams, c.walkers, c.stores = c.streams[:0], c.walkers[:0], 0
	c.ordered, c.mixed, c.spans, c.moves = true, c.inclusive, false, 0
	ways := ^uint64(0) // the least of the levels that it enters at
	for _, s := range l.Strides {
		ref := &c.refs[s.First.Ref()]
		if int(ref.enter) >= len(c.levels) {
			continue
		}
		level := &c.levels[ref.enter]
		if s.First.Size() > 1<<c.shift || ref.mark != 0 && (level.spec.NoWriteAllocate || level.spec.WriteThrough) {
			return false
		}
		if f, ok := affine.NewStream(s, level.shift); ok && len(c.streams) < affine.MaxStreams {
			if ref.mark != 0 {
				c.stores |= 1 << len(c.streams)
			}
			c.streams = append(c.streams, f)
			c.walkers = append(c.walkers, walker{ref: ref, origin: origin{ref.group, ref.id}, last: uint32(s.First.Size() - 1), level: ref.enter})
		} else if !c.span(s, ref) {
			return false
		}
		c.ordered = c.ordered && level.ordered
		c.moves += min(1, max(float64(s.Step), -float64(s.Step))/float64(level.spec.BlockBytes))
		c.mixed = c.mixed || ref.enter != c.walkers[0].level
		ways = min(ways, level.ways)
	}
	c.ample = ways >= uint64(len(c.streams)) && !c.mixed
	return true
}

// span adds the streams and walkers of a stride by ref whose accesses may span several
// blocks, or returns false if they are too many.
func (c *chain) span(s trace.Stride, ref *reference) (ok bool) {
	n, shift := len(c.streams), c.levels[ref.enter].shift
	if c.streams, ok = affine.AppendSpanned(c.streams, s, shift); !ok {
		if c.streams, ok = affine.AppendSpilling(c.streams, s, shift); !ok {
			return false
		}
	}
	for k := n; k < len(c.streams); k++ {
		if ref.mark != 0 {
			c.stores |= 1 << k
		}
		c.walkers = append(c.walkers, walker{ref: ref, origin: origin{ref.group, ref.id}, level: ref.enter, further: k > n})
	}
	c.spans = true
	return true
}

// countSpans counts the accesses of the loop at hand, of count iterations, to further blocks
// than the first n times.
func (c *chain) countSpans(count uint32, n uint64) {
	if !c.spans {
		return
	}
	for k := range c.walkers {
		w := &c.walkers[k]
		if !w.further {
			continue
		}
		times := uint64(count)
		if f := &c.streams[k]; f.Spills {
			times = f.SpillsIn(&c.streams[k-1], count)
		}
		c.levels[w.level].counts[w.ref.group].Accesses += n * times
	}
}

// run simulates the loop at hand, l.
func (c *chain) run(l *trace.Loop) {
	if c.shape == nil {
		if c.shape, c.phase = c.shapeOf(l.Count); c.shape != nil {
			c.shapes.Keep(l)
		}
	}
	switch {
	case c.shape != nil && c.entersDirect():
		c.runDirect(c.shape, c.phase, l.Count)
	case c.shape != nil:
		c.runPhases(c.shape, c.phase, l.Count)
	case c.moves > fewMoves && c.ordered && c.ample && c.entersDirect():
		c.runWhole(l.Count)
	case c.moves > fewMoves:
		c.expand(l)
		return
	default:
		c.runMoves(l.Count)
	}
	for _, s := range l.Strides {
		c.refs[s.First.Ref()].count += uint64(l.Count)
	}
	c.countSpans(l.Count, 1)
}

// shapeOf returns the shape of the loop at hand and its first phase, or nil if it
// has none that is of use here.
func (c *chain) shapeOf(count uint32) (*affine.Shape, int) {
	if c.mixed || len(c.walkers) == 0 {
		return nil, 0
	}
	level := &c.levels[c.walkers[0].level]
	if level.paged || level.sets < manySets {
		return nil, 0
	}
	shape, phase := c.shapes.Find(c.streams, count)
	if shape == nil || !c.divide(level, count) && !(c.entersDirect() && c.measure(new([apartMost]uint32))) {
		return nil, 0
	}
	return shape, phase
}

// divide sets c.close, and reports whether no set can be asked to hold more blocks
// of an iteration and of the one before than LRU keeps for sure. If it returns false, a
// plan may know when one is: see settle.
func (c *chain) divide(level *level, count uint32) bool {
	clusters := c.shapes.Clusters()
	var met [affine.MaxStreams]uint64 // the number of blocks, now and in the iteration before, that each may meet in a set
	c.close = 0
	for i := range clusters {
		for j := range i {
			if meet(&clusters[i], &clusters[j], count, level.shift, level.sets) {
				met[i] += inSet(&clusters[j], level)
				met[j] += inSet(&clusters[i], level)
				c.close |= clusters[i].Streams | clusters[j].Streams
			}
		}
	}
	return c.close == 0 || level.ordered && slices.Max(met[:len(clusters)]) < level.ways
}

// inSet returns the largest number of blocks of a cluster in a set in two iterations: 2 if
// it steps by about a multiple of the size of a way.
func inSet(x *affine.Cluster, level *level) uint64 {
	block, way := uint64(1)<<level.shift, level.sets<<level.shift
	step, span := size(x.Step), x.Hi-x.Lo+block
	if by := step % way; step+span+block > way && min(by, way-by) < span {
		return 2
	}
	return 1
}

// size returns the size of a step modulo 2^64.
func size(step uint64) uint64 {
	if int64(step) < 0 {
		return -step
	}
	return step
}

// meet reports whether blocks of two clusters may be in one set in an iteration.
// The blocks of one cluster are fewer than sets apart.
func meet(a, b *affine.Cluster, count uint32, shift uint, sets uint64) bool {
	if a.Step == b.Step {
		count = 1 // they keep their distance, in blocks but for 1
	}
	aLo, aHi := a.Span(count)
	bLo, bHi := b.Span(count)
	// The difference of two blocks is that of their addresses, in blocks, rounded
	// down, or 1 more.
	least, most := int64(aLo-bHi)>>shift, int64(aHi-bLo)>>shift+1
	return floorDivide(most, int64(sets)) != floorDivide(least-1, int64(sets))
}

func floorDivide(n, d int64) int64 {
	q := n / d
	if n%d < 0 {
		q--
	}
	return q
}

// runPhases simulates a loop of a known shape. A block that shares no set is the
// latest of its set while it is accessed, so that only the first access and the
// first store matter. Blocks that share a set are accessed in the order of their
// last accesses in an iteration when one of them changes: in between, all are
// held and stay in that order.
func (c *chain) runPhases(s *affine.Shape, phase int, count uint32) {
	c.all(0)
	mask := len(s.Phases) - 1
	for at := uint32(1); at < count; at++ {
		phase++
		p := &s.Phases[phase&mask]
		changed := uint32(0) // sets of c.close, by setBit, that gained or lost a block
		for moves := p.Moves; moves != 0; moves &= moves - 1 {
			i := bits.TrailingZeros64(moves)
			if c.close>>i&1 != 0 {
				changed |= c.setBit(i)
				c.place(i, c.streams[i].Block(at))
				changed |= c.setBit(i)
			} else {
				c.place(i, c.streams[i].Block(at))
			}
			if (p.New|c.stores)>>i&1 != 0 {
				c.step(i, at)
			}
		}
		if changed == 0 {
			continue
		}
		for _, i := range p.Latest {
			if c.close>>i&1 != 0 && changed&c.setBit(int(i)) != 0 {
				c.step(int(i), at)
			}
		}
	}
}

// setBit returns a bit for the set of a walker's block, the same for all blocks
// of a set.
func (c *chain) setBit(i int) uint32 {
	w := &c.walkers[i]
	return 1 << (w.block & c.levels[w.level].mask & 31) // all are one without a mask
}

// all simulates the accesses of an iteration.
func (c *chain) all(at uint32) {
	for i := range c.streams {
		c.place(i, c.streams[i].Block(at))
		c.step(i, at)
	}
}

// place moves a walker to a block.
func (c *chain) place(i int, block uint64) {
	w := &c.walkers[i]
	w.block, w.set = block, c.levels[w.level].first(block)
}

// step simulates an access of iteration at, to the walker's block.
func (c *chain) step(i int, at uint32) {
	w := &c.walkers[i]
	want := tagOf(w.block)
	if t := c.levels[w.level].tags[w.set]; t == want|dirty || t == want|w.ref.mark {
		return
	}
	addr := c.streams[i].Addr(at)
	c.touch(int(w.level), w.block, addr, addr+uint64(w.last), w.ref, w.ref.mark)
}

// runMoves simulates a loop by its iterations with moves.
func (c *chain) runMoves(count uint32) {
	clash := true // two blocks share a set, in the iteration before
	for at := uint32(0); at < count; {
		next := c.advance(at, count)
		now := c.mixed || c.clash(clash)
		if !clash && !now {
			for _, i := range c.moved {
				c.step(int(i), at)
			}
			at = next
			continue
		}
		clash = now
		c.whole(at)
		for at++; at < next && clash && !(c.ordered && c.ample); at++ {
			before := c.missed()
			c.whole(at)
			if c.ordered && c.missed() == before {
				break
			}
		}
		at = next
	}
}

// runWhole simulates a loop by its iterations with moves, whole, where most have some and
// direct levels keep the blocks of an iteration in order: it lists all iterations, and
// writes over those without moves.
func (c *chain) runWhole(count uint32) {
	var before [affine.MaxStreams]uint64 // tags
	streams, walkers, shift := c.streams, c.walkers, c.levels[c.walkers[0].level].shift&63
	for at := range count {
		n := len(c.queue)
		q := slices.Grow(c.queue, len(streams))[:n+len(streams)]
		moved := uint64(0)
		for i := range streams {
			f := &streams[i]
			want := tagOf((f.First + f.Step*uint64(at)) >> shift)
			moved |= uint64(want) ^ before[i&63]
			before[i&63] = uint64(want)
			q[n+i] = transfer{block: want | tag(c.stores>>i&1), from: walkers[i].origin}
		}
		some := int((moved | -moved) >> 63)
		if c.queue = q[:n+some*len(streams)]; len(c.queue) >= queued {
			c.deliver()
		}
	}
	c.deliver()
}

// whole simulates the accesses of iteration at, whose blocks are known.
func (c *chain) whole(at uint32) {
	for i := range c.streams {
		c.step(i, at)
	}
}

// missed returns the number of misses so far in all levels.
func (c *chain) missed() uint64 {
	n := uint64(0)
	for i := range c.levels {
		n += c.levels[i].missed
	}
	return n
}

// advance moves walkers to their blocks in iteration at. It returns the next
// iteration, at most count, in which some move.
func (c *chain) advance(at, count uint32) (next uint32) {
	next = count
	c.moved = c.moved[:0]
	for i := range c.streams {
		f := &c.streams[i]
		if f.Next == at {
			c.place(i, f.Move(at, count))
			c.moved = append(c.moved, uint8(i))
		}
		next = min(next, f.Next)
	}
	return next
}

// clash reports whether blocks of two walkers share a set. before tells whether
// they did before the latest moves.
func (c *chain) clash(before bool) bool {
	if before {
		for i := range c.walkers {
			if c.clashes(i) {
				return true
			}
		}
		return false
	}
	for _, i := range c.moved {
		if c.clashes(int(i)) {
			return true
		}
	}
	return false
}

// clashes reports whether the block of walker i is in a set with another one's.
func (c *chain) clashes(i int) bool {
	w := &c.walkers[i]
	for j := range c.walkers {
		if o := &c.walkers[j]; o.set == w.set && o.block != w.block && o.level == w.level {
			return true
		}
	}
	return false
}
