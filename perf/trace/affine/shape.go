package affine

import (
	"math/bits"
	"slices"

	"presage/perf/trace"
)

// The blocks that an iteration accesses and those of the one before it determine
// which accesses go to a block that was accessed just before, and after how many
// others. When all steps are multiples of 2^g bytes, which accesses share a block
// recurs every 2^(shift-g) iterations: 8, for doubles in a row and blocks of 64
// bytes. So a loop has few kinds of iterations, its phases (derived here).
//
// A Shape depends on addresses only in relation to one another, so that the rows
// of an array share it.
type Shape struct {
	// Phases has a power of two of them; iteration i of a loop that begins in
	// phase p is in phase (p+i) mod their number.
	Phases []Phase

	// Fresh and Left moves of all phases, in order.
	Fresh, Left []Move

	key []feature
}

// Move is a Fresh access, or a Left block.
type Move struct {
	Stream uint8
	Held   uint8  // of Fresh
	By     uint64 // the block, less that of the stream's address in phase 0: see Shape.Base
	Lefts  uint32 // of Fresh: the number of moves of Shape.Left before it
}

// Phase is one kind of iteration, other than the first of a loop. It names
// accesses by their position in the iteration.
type Phase struct {
	Fresh []Fresh // accesses to blocks not accessed before, in this iteration or the one before it
	Near  []Near  // all others: not those of streams that spill into the same block
	Left  []uint8 // positions whose blocks in the iteration before are not accessed, the least recent first

	// Latest are positions that access the blocks of this iteration, one for each
	// block, ordered by the last access to it.
	Latest []uint8

	// Sets of positions, a bit each: those that access another block than in the
	// iteration before, and those of Fresh.
	Moves, New uint64

	// Opens are positions that access the blocks of an iteration first, and Within all other
	// accesses, with distances within the iteration: those of the first one of a loop.
	Opens  []uint8
	Within []Near

	Times, Begun uint64 // for the caller to count executions, and such as are the first of a loop

	// FreshAt and LeftAt are the numbers of moves of Shape.Fresh and of Shape.Left in the
	// phases up to this one.
	FreshAt, LeftAt int
}

// Accesses returns the number of accesses in an iteration.
func (p *Phase) Accesses() int { return len(p.Fresh) + len(p.Near) }

// Fresh is an access to a block, after Held others were accessed in this iteration
// and the one before it.
type Fresh struct {
	Stream uint8
	Held   uint32
}

// Near is an access to a block, Distance others after the last access to it.
type Near struct {
	Stream   uint8
	Label    uint32
	Distance uint32
}

// feature is what a shape depends on in an access of a loop.
type feature struct {
	step    uint64
	place   uint64 // address relative to that of the cluster; of its first stream, the offset in a block in phase 0
	label   uint32
	cluster uint8
	shift   uint8 // log2 of the block size
	spills  bool
}

// Cluster is a set of streams with one step and addresses close to each other.
// Streams of different clusters access no block in common in an iteration and
// the one before it, so the distance between clusters does not matter.
type Cluster struct {
	Step   uint64
	Lo, Hi uint64 // the least and the greatest of its addresses in iteration 0

	// Streams are the positions of its streams, a bit each.
	Streams uint64

	first  uint64 // address of its first stream
	leader uint8
}

// lead is the stream of a loop that moves in most phases.
type lead struct {
	stream  int
	unit    uint   // log2 of the greatest power of two that divides its step, at most a block
	inverse uint64 // of the step without that factor
}

const (
	// maxPhases bounds the phases of a shape.
	maxPhases = 16

	// minCount is the number of iterations below which loops are not looked up.
	minCount = 4

	// clusterBlocks is the number of blocks within which streams are of one
	// cluster: enough for the neighbours in a stencil's row.
	clusterBlocks = 4

	shapeBits = 8 // log2 of the number of shapes that are remembered
)

// Shapes remembers the shapes of loops. Its zero value is ready to use.
type Shapes struct {
	// Forget, if not nil, is called with a shape before it is replaced.
	Forget func(*Shape)

	// Freely lets Again know loops of which some clusters are in another place than
	// others, too: only where it does not matter to the caller how far clusters are from
	// one another.
	Freely bool

	shift    uint
	found    *Shape // by the last call of Find, with lead
	lead     lead
	kept     trace.Loop // see Keep; Count is 0: none
	grain    uint64     // it accesses as many blocks that many bytes further on: see Keep
	of       []uint8    // the cluster of each of its strides; empty unless all streams are of them
	begins   uint64     // strides that are the first of their cluster, a bit each
	by       [MaxStreams]uint64
	table    []Shape // by hash
	clusters []Cluster
	features []feature
}

// All calls f with all shapes that are remembered.
func (s *Shapes) All(f func(*Shape)) {
	for i := range s.table {
		f(&s.table[i])
	}
}

// Clusters returns the clusters of the loop for which Find returned a shape last.
func (s *Shapes) Clusters() []Cluster { return s.clusters }

// Find returns the shape of the loop of count iterations in streams, at most
// MaxStreams of one block size, and the phase of its first iteration. Shapes are
// alike if labels, in order, are too. The shape is nil if the loop is seen for the
// first time, has too many phases, or mixes different steps in one region of
// memory. It is valid until the next call of Find.
func (s *Shapes) Find(streams []Stream, count uint32) (shape *Shape, phase int) {
	s.kept.Count = 0
	if count < minCount || len(streams) == 0 {
		return nil, 0
	}
	s.shift = uint(streams[0].shift)
	first := 0
	for i := range streams {
		if f := &streams[i]; f.Step != 0 && (streams[first].Step == 0 || bits.TrailingZeros64(f.Step) < bits.TrailingZeros64(streams[first].Step)) {
			first = i
		}
	}
	step := streams[first].Step
	g := min(uint(bits.TrailingZeros64(step)), s.shift)
	phases := 1 << (s.shift - g)
	if phases > maxPhases || !s.gather(streams, count) {
		return nil, 0
	}
	s.lead = lead{first, g, oddInverse(step >> g)}
	phase = s.phase(streams)
	s.found = s.remember(streams, phase, phases)
	return s.found, phase
}

// phase returns the phase of a loop's first iteration: that for which offset = low +
// phase·step modulo a block, where low is the offset modulo 2^unit.
func (s *Shapes) phase(streams []Stream) int {
	mask := uint64(1)<<s.shift - 1
	offset := streams[s.lead.stream].First & mask
	return int(offset >> s.lead.unit * s.lead.inverse & (mask >> s.lead.unit))
}

// Keep makes Again know the loop in the streams of the last call of Find, those of its
// strides, in order. Find returned a shape.
//
// Aligned accesses lie in as many blocks a multiple of their size further on, and others
// that step by whole blocks, whole blocks further on; where streams spill, anywhere.
func (s *Shapes) Keep(l *trace.Loop) {
	s.kept.Strides, s.kept.Count, s.grain = append(s.kept.Strides[:0], l.Strides...), l.Count, 1
	for i := range l.Strides {
		_, grain := divided(l.Strides[i], s.shift)
		s.grain = max(s.grain, grain)
	}
	if s.of, s.begins = s.of[:0], 0; !s.Freely || !s.keepClusters(l) {
		s.of = s.of[:0]
	}
}

// keepClusters sets of and begins, and returns false if the streams found are others than
// those of the strides of l, or those of one stride are in several clusters.
func (s *Shapes) keepClusters(l *trace.Loop) bool {
	key, known := s.found.key, 0
	for i := range l.Strides {
		streams, _ := divided(l.Strides[i], s.shift)
		if streams > len(key) {
			return false
		}
		c := key[0].cluster
		for _, x := range key[:streams] {
			if x.cluster != c {
				return false
			}
		}
		if int(c) == known {
			s.begins |= 1 << i
			known++
		}
		s.of, key = append(s.of, c), key[streams:]
	}
	return len(key) == 0
}

// Again is Find for a loop that is the one kept in another place, as the next row of
// arrays mostly is: all its accesses are the same number of bytes away, or those of each
// cluster if loops are known Freely. It moves the streams there. The shape is nil, and no
// loop is kept any longer, if the loop is another one.
func (s *Shapes) Again(l *trace.Loop, streams []Stream) (shape *Shape, phase int) {
	together, ok := s.away(l)
	if !ok || len(streams) != len(s.found.key) || !together && !s.apiece(l) {
		s.kept.Count = 0
		return nil, 0
	}
	if together {
		by := uint64(l.Strides[0].First - s.kept.Strides[0].First)
		for i := range s.clusters {
			s.by[i] = by
		}
	}
	copy(s.kept.Strides, l.Strides)
	for i := range streams {
		streams[i].First += s.by[streams[i].cluster&(MaxStreams-1)]
		streams[i].Next = 0
	}
	for i := range s.clusters {
		c, by := &s.clusters[i], s.by[i]
		c.first, c.Lo, c.Hi = c.first+by, c.Lo+by, c.Hi+by
	}
	phase = s.phase(streams)
	if !s.alike(streams, phase) || !together && !s.allApart(l.Count) {
		s.kept.Count = 0
		return nil, 0
	}
	return s.found, phase
}

// alike reports whether the first streams of clusters are where the shape found has them
// in a block, in a loop that begins in a phase.
func (s *Shapes) alike(streams []Stream, phase int) bool {
	mask := uint64(1)<<s.shift - 1
	for i := range s.clusters {
		c := &s.clusters[i]
		f := &streams[c.leader]
		if c.placed(mask) && (f.First-f.Step*uint64(phase))&mask != s.found.key[c.leader].place {
			return false
		}
	}
	return true
}

// away reports whether l is the loop kept in another place, and whether all of it is the
// same number of bytes away.
func (s *Shapes) away(l *trace.Loop) (together, ok bool) {
	k := &s.kept
	if k.Count == 0 || l.Count != k.Count || len(l.Strides) != len(k.Strides) {
		return false, false
	}
	first, together := l.Strides[0].First-k.Strides[0].First, true
	for i := range l.Strides {
		a, b := &l.Strides[i], &k.Strides[i]
		by := a.First - b.First
		if a.Step != b.Step || a.First.Ref() != b.First.Ref() || uint64(by)&(s.grain-1) != 0 {
			return false, false // or accesses may span more blocks, or fewer
		}
		together = together && by == first
	}
	return together, together || s.Freely
}

// apiece sets by to the numbers of bytes that clusters of l are away from those of the
// loop kept, and returns false if parts of a cluster are not as far.
func (s *Shapes) apiece(l *trace.Loop) bool {
	if len(s.of) == 0 {
		return false
	}
	for i, c := range s.of {
		by := uint64(l.Strides[i].First - s.kept.Strides[i].First)
		if s.begins>>i&1 != 0 {
			s.by[c%MaxStreams] = by
		} else if s.by[c%MaxStreams] != by {
			return false
		}
	}
	return true
}

// placed reports whether a shape depends on where the cluster's first stream is in a
// block, where mask is the size of a block less 1.
func (c *Cluster) placed(mask uint64) bool {
	return c.Streams&(c.Streams-1) != 0 || c.Step&mask != 0
}

// oddInverse returns the inverse of an odd x modulo 2^64 (Newton's iteration:
// each step doubles the correct bits, of which x has three as its own inverse).
// Without meaning for an even one.
func oddInverse(x uint64) uint64 {
	y := x
	for range 5 {
		y *= 2 - x*y
	}
	return y
}

// gather divides the streams into clusters. It returns false if two clusters may
// share blocks.
func (s *Shapes) gather(streams []Stream, count uint32) bool {
	s.clusters = s.clusters[:0]
	near := uint64(clusterBlocks) << s.shift
	for i := range streams {
		f := &streams[i]
		c := slices.IndexFunc(s.clusters, func(c Cluster) bool {
			return c.Step == f.Step && f.First-c.first+near < 2*near
		})
		if c < 0 {
			c = len(s.clusters)
			s.clusters = append(s.clusters, Cluster{Step: f.Step, first: f.First, Lo: f.First, Hi: f.First, leader: uint8(i), Streams: 1 << i})
		} else {
			x := &s.clusters[c]
			x.Lo, x.Hi = min(x.Lo, f.First), max(x.Hi, f.First)
			x.Streams |= 1 << i
		}
		f.cluster = uint8(c)
	}
	return s.allApart(count)
}

// allApart reports whether no two clusters may share blocks.
func (s *Shapes) allApart(count uint32) bool {
	for i := range s.clusters {
		for j := range i {
			if !s.clusters[i].apart(&s.clusters[j], count, s.shift) {
				return false
			}
		}
	}
	return true
}

// apart reports whether c and o share no block, wherever blocks begin: if they step
// alike, in an iteration and the one before it, otherwise in all iterations.
func (c *Cluster) apart(o *Cluster, count uint32, shift uint) bool {
	if c.Step == o.Step {
		count = 2
	}
	cLo, cHi := c.Span(count)
	oLo, oHi := o.Span(count)
	size := uint64(1) << shift
	return cHi+size <= oLo || oHi+size <= cLo
}

// Span returns the least and the greatest address of the first count iterations.
func (c *Cluster) Span(count uint32) (lo, hi uint64) {
	by := c.Step * uint64(count-1)
	if int64(by) < 0 {
		return c.Lo + by, c.Hi
	}
	return c.Lo, c.Hi + by
}

// remember returns the shape of the loop in streams if one like it was seen
// before, and remembers it.
func (s *Shapes) remember(streams []Stream, at, phases int) *Shape {
	if s.table == nil {
		s.table = make([]Shape, 1<<shapeBits)
	}
	key, hash := s.describe(streams, at)
	x := &s.table[hash>>(64-shapeBits)]
	if !slices.Equal(x.key, key) {
		if s.Forget != nil {
			s.Forget(x)
		}
		*x = Shape{key: append(x.key[:0], key...)}
		return nil
	}
	if x.Phases == nil {
		x.build(phases, s.shift)
	}
	return x
}

// describe returns the features of the loop in streams whose first iteration is
// in phase at, and a hash of them.
func (s *Shapes) describe(streams []Stream, at int) (key []feature, hash uint64) {
	key = s.features[:0]
	mask := uint64(1)<<s.shift - 1
	for i := range streams {
		f := &streams[i]
		c := &s.clusters[f.cluster]
		x := feature{step: f.Step, label: f.Label, cluster: f.cluster, shift: f.shift, spills: f.Spills}
		switch {
		case uint8(i) != c.leader:
			x.place = f.First - c.first
		case c.placed(mask):
			x.place = (f.First - f.Step*uint64(at)) & mask
		}
		key = append(key, x)
	}
	for _, x := range key {
		hash = bits.RotateLeft64((hash^x.place^x.step<<32^uint64(x.label)<<48^uint64(x.shift)<<24)*0x9e3779b97f4a7c15, 29)
	}
	s.features = key
	return key, hash * 0x9e3779b97f4a7c15
}

// build finds the phases of a shape by accessing the blocks of two iterations for
// each.
func (s *Shape) build(phases int, shift uint) {
	s.Phases = make([]Phase, phases)
	streams := make([]int, len(s.key))
	base := make([]uint64, len(s.key)) // addresses in phase 0
	var clusters []uint64              // addresses of their first streams
	for i, x := range s.key {
		streams[i] = i
		if int(x.cluster) == len(clusters) {
			base[i] = uint64(i+1)<<48 + x.place // far from one another
			clusters = append(clusters, base[i])
		} else {
			base[i] = clusters[x.cluster] + x.place
		}
	}
	blockOf := func(stream, iteration int) uint64 {
		return (base[stream] + s.key[stream].step*uint64(iteration)) >> shift
	}
	var order []uint64 // blocks by last access, the latest last
	for at := range s.Phases {
		p := &s.Phases[at]
		order = order[:0]
		for i := range s.key {
			order, _ = again(order, blockOf(i, at-1))
		}
		for i, x := range s.key {
			if blockOf(i, at) != blockOf(i, at-1) {
				p.Moves |= 1 << i
			}
			if !s.accesses(i, at, blockOf) {
				continue
			}
			before := len(order)
			var d int
			if order, d = again(order, blockOf(i, at)); d == before {
				p.New |= 1 << i
				p.Fresh = append(p.Fresh, Fresh{uint8(i), uint32(before)})
			} else {
				p.Near = append(p.Near, Near{uint8(i), x.label, uint32(d)})
			}
		}
		p.open(s, at, blockOf)
		for _, b := range order {
			of := func(iteration int) int {
				return slices.IndexFunc(streams, func(i int) bool { return blockOf(i, iteration) == b })
			}
			if i := of(at); i >= 0 {
				p.Latest = append(p.Latest, uint8(i))
			} else {
				p.Left = append(p.Left, uint8(of(at-1)))
			}
		}
	}
	s.list(blockOf)
}

// accesses reports whether a stream makes an access in an iteration.
func (s *Shape) accesses(stream, iteration int, blockOf func(stream, iteration int) uint64) bool {
	return !s.key[stream].spills || blockOf(stream, iteration) != blockOf(stream-1, iteration)
}

// open sets what the first iteration of a loop accesses, in phase at.
func (p *Phase) open(s *Shape, at int, blockOf func(stream, iteration int) uint64) {
	var order []uint64
	for i, x := range s.key {
		if !s.accesses(i, at, blockOf) {
			continue
		}
		before, d := len(order), 0
		if order, d = again(order, blockOf(i, at)); d == before {
			p.Opens = append(p.Opens, uint8(i))
		} else {
			p.Within = append(p.Within, Near{uint8(i), x.label, uint32(d)})
		}
	}
}

// list sets the moves of all phases.
func (s *Shape) list(blockOf func(stream, iteration int) uint64) {
	for at := range s.Phases {
		p := &s.Phases[at]
		by := func(stream uint8, at int) uint64 { return blockOf(int(stream), at) - blockOf(int(stream), 0) }
		for _, f := range p.Fresh {
			s.Fresh = append(s.Fresh, Move{f.Stream, uint8(f.Held), by(f.Stream, at), uint32(len(s.Left))})
		}
		for _, f := range p.Left {
			s.Left = append(s.Left, Move{Stream: f, By: by(f, at-1)})
		}
		p.FreshAt, p.LeftAt = len(s.Fresh), len(s.Left)
	}
}

// Moves returns the moves of the phases from one up to another.
func (s *Shape) Moves(from, to int) (fresh, left []Move) {
	first := 0
	if from > 0 {
		first = s.Phases[from-1].FreshAt
	}
	last := &s.Phases[to-1]
	return s.Fresh[first:last.FreshAt], s.Left[s.LeftBefore(from):last.LeftAt]
}

// LeftBefore returns the number of moves of Left in the phases before one.
func (s *Shape) LeftBefore(phase int) int {
	if phase == 0 {
		return 0
	}
	return s.Phases[phase-1].LeftAt
}

// Base returns the block of a stream's address in phase 0 for a loop that begins in phase
// at, and the number of blocks from there to that of as many iterations later as the shape
// has phases.
func (s *Shape) Base(f *Stream, at int) (block, advance uint64) {
	shift := f.shift & 63
	block = uint64(int64(f.First-f.Step*uint64(at)) >> shift)
	return block, uint64(int64(f.Step*uint64(len(s.Phases))) >> shift)
}

// Count adds weight to the Times of each of n iterations, the first of which is in phase
// at.
func (s *Shape) Count(at int, n uint32, weight uint64) {
	phases := uint32(len(s.Phases))
	for i := range phases {
		times := n / phases
		if i < n%phases {
			times++
		}
		s.Phases[(at+int(i))&int(phases-1)].Times += weight * uint64(times)
	}
}

// again accesses block, and returns how many others were since its last access,
// or the number of all if there was none.
func again(order []uint64, block uint64) (after []uint64, distance int) {
	n := len(order)
	i := slices.Index(order, block)
	if i < 0 {
		return append(order, block), n
	}
	return append(slices.Delete(order, i, i+1), block), n - 1 - i
}
