package replay

import (
	"context"
	"errors"
	"slices"

	"presage/perf/trace"
)

// FollowOptions configure Instance.Follow.
type FollowOptions struct {
	// MinAccesses is what is followed in any case, so that the start of the
	// program, which is seldom regular, is taken from the run; 0: 16 Ki.
	MinAccesses uint64
	// MaxAccesses ends it, whether or not all bases are known; 0: 32 Mi, or half of
	// what the run is expected to have, if that is less.
	MaxAccesses uint64
}

const (
	defaultMinAccesses = 16 << 10
	defaultMaxAccesses = 32 << 20
)

// Follower takes the first part of a real run at an Instance's size: it compares
// each address and each branch with the Instance, finds the bases of data, and
// passes the events on to a sink. When it knows enough it stops, at a place from
// which Replay goes on. It is a trace.Collector.
type Follower struct {
	in   *Instance
	sink trace.Sink
	opt  FollowOptions
	stop context.CancelFunc

	at      map[placeKey]int32
	keys    []placeKey // by place
	key     placeKey   // where the run is
	started bool
	changes []trace.Change // of memory, not yet handled
	gives   bool           // the run is in an allocator
	place   int32          // the same, in the program; -1: nowhere that is known
	vector  []int64
	walk    *walker
	batch   *trace.Batch
	missing int    // bases that are not known and matter
	matters []bool // by base
	waits   []wait // executions that the run should get to
	patient uint64 // accesses up to which it is waited for
	unshown *unshown

	anchors  map[int32][]anchored // by place
	byAnchor []bool               // bases that are known by these alone

	apart map[int32]*movedApart // by base, of those with several allocations that are moved
	seen  [][][]seenClass       // by place, reference and class

	other   *elsewhere
	given   uint64 // where memory lies that was asked for, until a place is executed
	done    bool
	trouble string

	image image
	first uint64 // the first address outside of it

	// Real counts what was passed on.
	Real Outcome
	refs []uint64 // of it, accesses by trace.RefID
}

// Follow returns a Follower that passes events to sink, and calls stop once it has
// seen enough; the run may then be cancelled, and what else it delivers is
// ignored. Places that may not be cut, by index, are those at which the replay
// cannot take over.
func (in *Instance) Follow(sink trace.Sink, stop context.CancelFunc, opt FollowOptions) *Follower {
	if opt.MinAccesses == 0 {
		opt.MinAccesses = defaultMinAccesses
	}
	if opt.MaxAccesses == 0 {
		opt.MaxAccesses = min(defaultMaxAccesses, uint64(in.Accesses()/2))
	}
	f := &Follower{in: in, image: image{code: in.code}, sink: sink, opt: opt, stop: stop, at: make(map[placeKey]int32), walk: newWalker(in.code), other: newElsewhere(in.code), place: -1}
	f.walk.contexts = append([]Context(nil), in.prog.Contexts...)
	for i, c := range f.walk.contexts[1:] {
		f.walk.known[c] = int32(i + 1)
	}
	for i := range in.prog.Places {
		key := placeKey{in.prog.Places[i].Context, in.prog.Places[i].Block}
		f.at[key] = int32(i)
		f.keys = append(f.keys, key)
	}
	f.matters = in.matteringBases()
	for b, matters := range f.matters {
		if matters && !in.known[b] {
			f.missing++
		}
	}
	f.findWaits()
	f.findAnchors()
	if in.own {
		f.unshown = newUnshown(in)
	}
	f.Real.Visits = make([]uint64, len(in.places))
	f.apart, f.seen = make(map[int32]*movedApart), make([][][]seenClass, len(in.places))
	f.refs = make([]uint64, len(in.code.Plan.Refs))
	f.vector = make([]int64, 0, 2*maxDepth)
	return f
}

// minShare is the share of all accesses below which a base is not waited for.
const minShare = 1e-3

// matteringBases returns which bases a noticeable part of the accesses goes to, by the
// expected counts.
func (in *Instance) matteringBases() []bool {
	count := make([]float64, len(in.prog.Bases))
	total := 0.0
	for i := range in.prog.Places {
		p := &in.prog.Places[i]
		n := float64(max(0, in.values[p.Counts].At))
		for j := range p.Refs {
			count[p.Refs[j].Base] += n
			total += n
		}
	}
	out := make([]bool, len(count))
	for b := range out {
		out[b] = count[b] > minShare*total
	}
	return out
}

const (
	// earlyShare is the share of a run in which a place must have been executed for the
	// last time for it to belong to the run's start.
	earlyShare = 0.25
	// patience is the largest share of a run that is followed until such places are
	// done.
	patience = 0.4
)

// wait is a number of executions of a place that the run should get to.
type wait struct {
	place int32
	count uint64
}

// findWaits finds what the start of the run settles: the places of it after which nothing
// would be certain, if they were replayed, as a branch there could go where no run has
// been: once the real run has done with them it has shown where it went; and, once the run
// has come to them, branches that the size decides.
func (f *Follower) findWaits() {
	in := f.in
	f.patient = min(f.opt.MaxAccesses, uint64(patience*in.Accesses()))
	for i := range in.prog.Places {
		v := in.values[in.prog.Places[i].Counts]
		if in.heap.holds(i) || in.ends == nil || v.At <= 0 || !v.Exact() && !in.places[i].oneWay {
			continue
		}
		gap := in.gaps[i].at(in.N, in.trained)
		switch {
		case v.Exact() && in.ends[i] < earlyShare && (gap || in.doubts[i]&control != 0):
			f.waits = append(f.waits, wait{int32(i), uint64(v.At)})
		case in.places[i].oneWay && in.starts[i] < patience, gap && in.starts[i] < patience && in.gaps[i].by() == bySize:
			f.waits = append(f.waits, wait{int32(i), 1})
		}
	}
}

// waiting reports whether the run's start is still to be followed.
func (f *Follower) waiting() bool {
	for n := len(f.waits); n > 0; n-- {
		if w := f.waits[n-1]; f.Real.Visits[w.place] < w.count {
			return f.Real.Accesses < f.patient
		}
		f.waits = f.waits[:n-1]
	}
	return false
}

// Observe implements trace.Collector.
func (f *Follower) Observe(b *trace.Batch) {
	if f.done || f.trouble != "" {
		return
	}
	if given := f.in.code.given(b); given.At != 0 {
		f.given = given.At
	}
	other := f.other.thread(b)
	if f.image.load(b.Changes) && f.in.own {
		f.in.placeObjects(f.image.loaded)
	}
	if f.in.heap != nil && !other {
		f.changes = append(f.changes, b.Changes...)
	}
	if f.batch == nil {
		f.batch = f.sink.Exchange(nil)
	}
	f.batch.Start = b.Start
	used, blocks, left := 0, 0, 0
	for e := range f.in.code.executions(b, &left) {
		if !other && !f.other.interrupts(e) && !f.follow(e) {
			break
		}
		f.Real.Instructions += uint64(f.in.code.Plan.Blocks[e.block].Instructions)
		f.Real.Accesses += uint64(e.strays + len(e.accesses))
		f.batch.Blocks = append(f.batch.Blocks, e.block)
		used, blocks = used+e.strays+len(e.accesses), blocks+1
	}
	for _, a := range b.Accesses[:used] {
		f.refs[a.Ref()]++
	}
	f.batch.Accesses = append(f.batch.Accesses, b.Accesses[:used]...)
	f.Real.Blocks += uint64(blocks)
	if f.trouble == "" {
		f.trouble = f.other.trouble(soon)
	}
	if !f.done && f.trouble == "" && f.Real.Accesses > 2*max(f.opt.MaxAccesses, f.opt.MinAccesses) {
		f.trouble = "its first half goes through no place from which it could be replayed"
	}
	f.batch = f.sink.Exchange(f.batch)
	if f.done || f.trouble != "" {
		f.stop()
	}
}

// follow goes on with an execution. It reports false if the run is followed no further.
func (f *Follower) follow(e execution) bool {
	if f.enough(e.block) {
		f.done = true
		return false
	}
	f.move(e.block)
	if f.trouble != "" || !f.allocate() {
		return false
	}
	f.executes(e.accesses)
	return true
}

// enough reports whether the replay can take over before block id is executed.
func (f *Follower) enough(id trace.BlockID) bool {
	if f.in.heap != nil && (f.in.heap.busy || len(f.changes) > 0 && f.changes[0].Kind == trace.Allocated) {
		return false
	}
	if f.place < 0 || f.Real.Accesses < f.opt.MinAccesses || f.missing > 0 && f.Real.Accesses < f.opt.MaxAccesses || f.waiting() ||
		(f.unshown != nil && f.unshown.matter > 0 || f.unsettled()) && f.Real.Accesses < f.opt.MaxAccesses {
		return false
	}
	way := f.in.prog.Places[f.place].way(id)
	const unfit = drawnAddress | drawnBranch | failsTraining | otherWays
	if way < 0 || f.in.doubts[f.place]&unfit != 0 {
		return false
	}
	next := f.in.places[f.place].next[way]
	if next.to < 0 || f.in.doubts[next.to]&unfit != 0 {
		return false
	}
	f.settleApart()
	f.in.start = state{next.to, append([]int64(nil), next.step.apply(f.vector)...)}
	return true
}

// move follows control to block id, and compares the branch.
func (f *Follower) move(id trace.BlockID) {
	if !f.started {
		f.started = true
		f.key = placeKey{0, id}
		f.vector = f.vector[:len(f.in.code.blocks[id].chain)]
		clear(f.vector)
	} else {
		if f.place >= 0 {
			f.compareBranch(id)
		}
		key, s, err := f.walk.move(f.key, id)
		if err != nil {
			f.trouble = err.Error()
			return
		}
		f.key = key
		f.vector = s.apply(f.vector)
	}
	if p, ok := f.at[f.key]; ok {
		f.place = p
	} else {
		f.place = -1
	}
}

// allocate follows what the run asks of allocators. It reports whether that is as expected.
func (f *Follower) allocate() bool {
	h := f.in.heap
	if h == nil {
		return true
	}
	if f.in.code.asks(f.walk.contexts, f.key) {
		h.enters(f.place, f.changes)
	}
	h.follow(f.changes)
	f.changes = f.changes[:0]
	if f.place >= 0 {
		f.gives = h.gives[f.place]
	} else {
		f.gives = f.in.code.gives(f.walk.contexts, f.key)
	}
	if h.wrong != nil {
		f.trouble = h.wrong.Error()
	}
	return h.wrong == nil
}

// allPlaced returns accesses with the addresses that the program has for them.
func (f *Follower) allPlaced(accesses []trace.Access) []trace.Access {
	if f.in.heap == nil || f.in.cells == nil {
		return accesses
	}
	out := slices.Clone(accesses)
	for i, a := range out {
		out[i] = a&^trace.Access(trace.AddrLimit-1) | trace.Access(f.placed(a))
	}
	return out
}

// placed returns the address of an access as the program has it.
func (f *Follower) placed(a trace.Access) uint64 {
	if f.in.heap == nil || f.gives {
		return a.Addr()
	}
	return f.in.heap.placed(a.Addr())
}

func (f *Follower) compareBranch(id trace.BlockID) {
	p := &f.in.places[f.place]
	if p.oneWay && f.in.settleWay(f.place, id) {
		return
	}
	way := p.way
	switch p.choice {
	case chance:
		return
	case bounds:
		way = p.branch.way(f.vector)
	case numbered:
		var known bool
		if way, known = f.in.numberedWay(p.numbers, f.vector); !known {
			f.in.doubts[f.place] |= unstored | control
			return
		}
	}
	if len(p.next) == 0 || p.next[way].block != id {
		f.in.doubts[f.place] |= otherBranch | control
	}
}

// executes compares the addresses of an execution.
func (f *Follower) executes(accesses []trace.Access) {
	for _, a := range accesses {
		if f.first == 0 && !f.image.holds(a.Addr()) {
			f.first = a.Addr()
			f.settle(int32(Stack), f.first)
		}
	}
	if f.place < 0 {
		f.given = 0
		f.in.forget(f.allPlaced(accesses))
		return
	}
	f.Real.Visits[f.place]++
	if f.unshown != nil {
		f.unshown.visit(f.place, f.vector)
	}
	tracks := f.in.places[f.place].tracks
	f.in.places[f.place].count++
	for i, a := range accesses {
		addr := f.placed(a)
		f.compare(i, addr)
		if tracks {
			f.in.track(&f.in.places[f.place], i, addr, f.vector)
		}
	}
	f.settleAnchored(accesses)
	f.given = 0
}

// compare compares an address with what the reference is to access; the first one
// of a base that is not known says where it is.
func (f *Follower) compare(i int, addr uint64) {
	ref := &f.in.places[f.place].refs[i]
	if ref.kind == irregular {
		return
	}
	base := f.in.prog.Places[f.place].Refs[i].Base
	want, stored := f.in.address(ref, f.vector)
	if !stored {
		f.in.doubts[f.place] |= unstored
		return
	}
	if !f.in.known[base] {
		if !f.in.places[f.place].exact {
			return
		}
		f.settle(base, f.in.bases[base]+addr-want)
		return
	}
	if f.byAnchor[base] && f.in.places[f.place].exact { // what is accessed is certain
		f.byAnchor[base] = false
		f.moveBase(base, f.in.bases[base]+addr-want)
		return
	}
	if !f.agrees(i, base, want, addr) && !(f.isSlot(i) && ref.moveSlot(addr)) {
		f.in.doubts[f.place] |= otherAddress
	}
}

// isSlot reports whether reference i of the place is at a constant distance from the stack
// pointer in code of the size's own executable.
func (f *Follower) isSlot(i int) bool {
	p := &f.in.prog.Places[f.place]
	return f.in.own && p.Refs[i].Base == int32(Stack) && f.in.code.spills(&f.in.code.blocks[p.Block])[i]
}

// moveSlot takes the address of a variable or register on the stack from the run, once:
// where a compiler has put it in an executable of its own, other executables do not tell.
func (ref *liveRef) moveSlot(addr uint64) bool {
	if ref.kind != simple || ref.moved || slices.ContainsFunc(ref.coef[1:], func(c int64) bool { return c != 0 }) {
		return false
	}
	ref.coef[0], ref.moved = int64(addr)*scale, true
	return true
}

// settle sets a base.
func (f *Follower) settle(base int32, addr uint64) {
	if f.in.known[base] {
		return
	}
	f.in.known[base] = true
	if f.matters[base] {
		f.missing--
	}
	f.in.shift(base, addr-f.in.bases[base])
}

// ErrEnded means that the run ended while it was followed: nothing is left to be
// replayed.
var ErrEnded = errors.New("replay: the run has ended")

// End says how the run was followed: nil if the replay goes on where it stopped,
// ErrEnded if the run ended before, or why it could not be followed.
func (f *Follower) End() error {
	switch {
	case f.trouble != "":
		return &TroubleError{f.trouble}
	case !f.done:
		return ErrEnded
	}
	return nil
}
