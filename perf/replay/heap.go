package replay

import (
	"slices"

	"presage/perf/ptmalloc"
	"presage/perf/trace"
)

// liveHeap is what an Instance asks of allocators, as far as it has got.
type liveHeap struct {
	holdings
	code   *Code
	heap   *ptmalloc.Heap
	calls  []liveCall
	at     map[int32]int32 // calls by place
	gives  []bool          // by place: it belongs to an allocator
	first  []int32         // by context: the allocator's first place in it; -1: none
	bases  []uint64        // by site: where its memory is or was last; 0: nowhere yet
	busy   bool            // the real run is within an allocator
	entry  int32           // the call that is under way in it, or was last
	wrong  error           // why it cannot go on
	exact  bool            // all sizes are exact; else what follows from them is a guess
	anyhow uint64          // where addresses are put that are nowhere
}

type liveCall struct {
	*HeapCall
	sizes  []uint64
	events int
	ages   []uint64 // what is in use, the oldest first
	taken  slots
}

// newLiveHeap returns what is asked of allocators at the size of values; nil if addresses of the
// program are real.
func newLiveHeap(code *Code, p *Program, values []Value) *liveHeap {
	h := p.Heap
	if h == nil {
		return nil
	}
	l := &liveHeap{code: code, at: make(map[int32]int32), bases: make([]uint64, maxSites+1), entry: -1, exact: true, anyhow: h.Begins}
	l.heap = ptmalloc.New(ptmalloc.Layout{Top: code.mappings, Heap: h.Begins})
	for i := range p.Places {
		l.gives = append(l.gives, code.gives(p.Contexts, placeKey{p.Places[i].Context, p.Places[i].Block}))
	}
	l.first = make([]int32, len(p.Contexts))
	for i := range l.first {
		l.first[i] = -1
	}
	for i := range h.Calls {
		l.first[p.Places[h.Calls[i].Place].Context] = h.Calls[i].Place
	}
	if h.Trouble != "" {
		l.wrong = refuse("memory is given back and asked for again, and what is asked for at this size is not known: %s", h.Trouble)
		return l
	}
	for i := range h.Calls {
		c := liveCall{HeapCall: &h.Calls[i]}
		for _, s := range c.Sizes {
			v := values[s]
			l.exact = l.exact && v.Exact()
			c.sizes = append(c.sizes, uint64(max(0, v.At)))
		}
		l.at[c.Place] = int32(i)
		l.calls = append(l.calls, c)
	}
	return l
}

// guesses reports whether a reference goes to memory of which it is not certain where it lies.
func (in *Instance) guesses(r *Ref) bool {
	return in.heap != nil && !in.heap.exact && in.placed(*r)
}

// placed reports whether a reference goes to memory that a model of malloc places.
func (in *Instance) placed(r Ref) bool { return isPlaced(uint64(in.values[r.Lo].At)) }

// Recycles reports whether the program gives memory back and asks for more, which lies where a
// model of malloc says.
func (in *Instance) Recycles() bool { return in.heap != nil }

// settled reports whether place i belongs to calls of an allocator of which all were in the
// real run.
func (h *liveHeap) settled(i int, in *Instance, start *Follower) bool {
	if start == nil || !h.holds(i) {
		return false
	}
	for c := in.prog.Places[i].Context; c > 0; c = in.prog.Contexts[c].Parent {
		if entry := h.first[c]; entry >= 0 {
			n := in.values[in.prog.Places[entry].Counts]
			return n.Exact() && start.Real.Visits[entry] >= uint64(max(0, n.At))
		}
	}
	return false
}

// holds reports whether place i belongs to an allocator, of which the model knows what it gives.
func (h *liveHeap) holds(i int) bool { return h != nil && h.gives != nil && h.gives[i] }

func nth[T any](list []T, k int) (v T) {
	if len(list) > 0 {
		v = list[min(k, len(list)-1)]
	}
	return v
}

// event does what an execution of a place asks of allocators, in a replay.
func (h *liveHeap) event(place int32) {
	i, ok := h.at[place]
	if !ok || h.wrong != nil || h.calls[i].Never {
		return
	}
	c := &h.calls[i]
	old, of := uint64(0), nth(c.Freed, c.events)
	if c.Role == trace.Free && of < 0 {
		c.events++
		return
	}
	if of >= 0 && (c.Role == trace.Free || c.Role == trace.Realloc) {
		if len(h.calls[of].ages) == 0 {
			h.wrong = refuse("memory is given back that is not in use")
			return
		}
		old = nth(h.calls[of].ages, 0)
		if c.Newest {
			old = h.calls[of].ages[len(h.calls[of].ages)-1]
		}
	}
	if c.Role == trace.Free {
		h.free(i, old)
		return
	}
	size := nth(c.sizes, c.events)
	addr, err := ask(h.heap, c.Role, old, size)
	if err != nil {
		h.wrong = refuse("%w", err)
		return
	}
	h.given(i, old, addr, size)
}

// free notes that a call gives memory back.
func (h *liveHeap) free(call int32, addr uint64) {
	h.calls[call].events++
	h.drop(addr)
	if err := h.heap.Free(addr); err != nil {
		h.wrong = refuse("%w", err)
	}
}

func (h *liveHeap) drop(addr uint64) {
	p, ok := h.take(addr)
	if !ok {
		return
	}
	c := &h.calls[p.call]
	if p.site > 0 {
		c.taken.free(p.slot)
	}
	if i := slices.Index(c.ages, addr); i >= 0 {
		c.ages = slices.Delete(c.ages, i, i+1)
	}
}

// given notes that a call is given memory, in place of old if that is not 0.
func (h *liveHeap) given(call int32, old, addr, size uint64) {
	c := &h.calls[call]
	c.events++
	if old != 0 {
		h.drop(old)
	}
	c.ages = append(c.ages, addr)
	p := holding{lo: addr, hi: addr + size, call: call}
	if len(c.Sites) > 0 {
		var ok bool
		if p.slot, ok = c.taken.take(); !ok || int(p.slot) >= len(c.Sites) || size > maxOffset {
			h.wrong = refuse("more memory of one call is in use at a time than in any run")
			return
		}
		p.site = c.Sites[p.slot]
		h.bases[p.site] = addr
	}
	h.add(p)
}

// enters says that a call of an allocator begins in the real run, at a place; -1: where no run
// was.
func (h *liveHeap) enters(place int32, changes []trace.Change) {
	i, ok := h.at[place]
	switch {
	case !ok:
		h.entry = -1
	case h.calls[i].Never:
	case h.calls[i].Role == trace.Free && len(changes) == 0: // null
		h.calls[i].events++
	default:
		h.entry, h.busy = i, true
	}
}

// follow handles changes of the real run.
func (h *liveHeap) follow(changes []trace.Change) {
	for len(changes) > 0 && h.wrong == nil {
		c := &changes[0]
		old := uint64(0)
		if moves(changes) {
			old = c.Addr
			changes = changes[1:]
			c = &changes[0]
		}
		changes = changes[1:]
		h.change(c, old)
		h.busy = false
	}
}

func (h *liveHeap) change(c *trace.Change, old uint64) {
	switch {
	case h.entry < 0:
		h.wrong = refuse("memory is asked for at a place where no run did")
	case c.Kind == trace.Freed:
		h.free(h.entry, c.Addr)
	case c.Kind != trace.Allocated:
		h.wrong = refuse("memory is mapped as in no run")
	default:
		h.exact = h.exact && c.Size == nth(h.calls[h.entry].sizes, h.calls[h.entry].events)
		if !h.heap.Placed() && h.heap.InHeap(c.Size) {
			h.heap.Begin(c.Addr)
		}
		if got, err := ask(h.heap, c.Role, old, c.Size); err != nil || got != c.Addr {
			h.wrong = refuse("the start of the run has memory at %#x, and the model of malloc at %#x", c.Addr, got)
		}
		h.given(h.entry, old, c.Addr, c.Size)
	}
}

// real returns the real address of a placed one.
func (h *liveHeap) real(addr uint64) uint64 {
	base := h.bases[siteOf(addr)]
	if base == 0 { // of nothing yet: a guess
		return h.anyhow + addr&(1<<16-1)
	}
	return base + addr&(maxOffset-1)
}

// translate makes addresses of accesses real.
func (h *liveHeap) translate(accesses []trace.Access) {
	for i, a := range accesses {
		if addr := a.Addr(); isPlaced(addr) {
			accesses[i] = a&^trace.Access(trace.AddrLimit-1) | trace.Access(h.real(addr)&(trace.AddrLimit-1))
		}
	}
}
