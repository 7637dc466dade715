package replay

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"

	"presage/perf/ptmalloc"
	"presage/perf/trace"
)

// RunHeap is what a run asked of allocators.
type RunHeap struct {
	Calls  []RunCall
	Begins uint64 // where the heap begins; 0: not known
}

// RunCall is a place at which a run called an allocator.
type RunCall struct {
	Place  int32 // of Run.Places: the allocator's first block
	Role   trace.Role
	Sites  []int32 // of addresses in the memory, by slot; none: they are real
	Events uint64
	Sizes  []uint64 // by event, or the same of all
	Freed  []int32  // likewise: of what call the memory was that was given back, -1: none
	Newest bool     // it was the youngest of the call's that was in use; else the oldest
}

const (
	// recycles is the size from which on memory that is given back and asked for again
	// matters.
	recycles = 16 << 10
	// maxEvents bounds a list of events that are not all alike.
	maxEvents = 1 << 12
	// maxHeld bounds what is in use at a time: of more, such as the elements of lists, the
	// model takes too long.
	maxHeld = 1 << 14
)

// asked follows what a run asks of allocators.
type asked struct {
	holdings
	code  *Code
	on    bool // addresses are placed
	found *Hints
	heap  *ptmalloc.Heap
	calls []RunCall
	keys  []uint64        // of them: the same in all runs of the executable
	of    map[int32]int32 // calls by place
	ages  [][]uint64      // by call: what is in use, the oldest first
	taken []slots         // by call

	entry   int32  // the allocator's call that is under way or was last: a place
	key     uint64 // of it, if it is a new one
	pending []trace.Change
	freed   bool   // much has been given back
	wrong   string // why the run's memory is not that of the model
}

func newAsked(code *Code, hints, found *Hints) *asked {
	if len(code.entries) == 0 || hints.Unmodelled {
		return nil
	}
	return &asked{code: code, on: hints.Recycles, found: found, heap: ptmalloc.New(ptmalloc.Layout{Top: code.mappings}), of: make(map[int32]int32), entry: -1}
}

// fail gives up.
func (a *asked) fail(format string, args ...any) {
	if a.wrong == "" {
		a.wrong = fmt.Sprintf(format, args...)
		a.found.Unmodelled = true
	}
}

// enters says that a call of an allocator begins.
func (a *asked) enters(place int32, contexts []Context, p placeKey) {
	a.entry = place
	if _, known := a.of[place]; known {
		return
	}
	h := fnv.New64a()
	for at := p.context; at > 0; at = contexts[at].Parent {
		_ = binary.Write(h, binary.LittleEndian, uint32(contexts[at].Call))
	}
	_ = binary.Write(h, binary.LittleEndian, uint32(p.block))
	a.key = h.Sum64()
}

// settle handles changes. Of memory that is given back they come with the beginning of the
// allocator's call, and otherwise after its end.
func (a *asked) settle() {
	for len(a.pending) > 0 && a.wrong == "" {
		c := a.pending[0]
		if a.entry < 0 {
			a.fail("memory was asked for at no known place")
			return
		}
		if moves(a.pending) {
			a.resize(a.call(), c.Addr, &a.pending[1])
			a.pending = a.pending[2:]
			continue
		}
		a.change(a.call(), &c)
		a.pending = a.pending[1:]
	}
	a.pending = a.pending[:0]
}

// ends reports whether what the run asked for can be joined with other runs: a call that asks for
// several sizes, as vectors that grow do, asks for as many at all sizes of the program.
func (a *asked) ends() bool {
	for i := range a.calls {
		c := &a.calls[i]
		n, known := a.found.Lists[a.keys[i]]
		switch {
		case known && n != c.Events:
			a.fail("one call asks for memory of many sizes, and more of them the larger n is")
		case len(c.Sizes) > 1 || len(c.Freed) > 1:
			a.found.Lists[a.keys[i]] = c.Events
		}
	}
	return a.wrong == ""
}

// nothing notes that null is given back.
func (a *asked) nothing() {
	r := &a.calls[a.call()]
	r.Role = trace.Free
	r.Events++
	if !note(&r.Freed, -1, r.Events) {
		a.fail("one call gives back memory of many others")
	}
}

// moves reports whether the first changes are those of memory that changes its size.
func moves(list []trace.Change) bool {
	return list[0].Kind == trace.Freed && len(list) > 1 && list[1].Kind == trace.Allocated
}

// call returns the number of the call under way.
func (a *asked) call() int32 {
	i, ok := a.of[a.entry]
	if !ok {
		i = int32(len(a.calls))
		a.of[a.entry] = i
		a.calls, a.keys = append(a.calls, RunCall{Place: a.entry}), append(a.keys, a.key)
		a.ages, a.taken = append(a.ages, nil), append(a.taken, 0)
	}
	return i
}

func (a *asked) change(call int32, c *trace.Change) {
	r := &a.calls[call]
	r.Events++
	switch c.Kind {
	case trace.Freed:
		r.Role = trace.Free
		a.take(call, c.Addr)
		if err := a.heap.Free(c.Addr); err != nil {
			a.fail("%v", err)
		}
	case trace.Allocated:
		r.Role = c.Role
		if c.Role == trace.Realloc {
			note(&r.Freed, -1, r.Events)
		}
		a.give(call, c)
		a.expect(c.Addr, c.Size, func() (uint64, error) { return ask(a.heap, c.Role, 0, c.Size) })
	default:
		a.fail("the program maps memory itself")
	}
}

// resize handles a realloc of memory.
func (a *asked) resize(call int32, old uint64, c *trace.Change) {
	a.calls[call].Events++
	a.calls[call].Role = trace.Realloc
	a.take(call, old)
	a.give(call, c)
	a.expect(c.Addr, c.Size, func() (uint64, error) { return ask(a.heap, trace.Realloc, old, c.Size) })
}

// expect compares what the model gives with what the run was given.
func (a *asked) expect(addr, size uint64, ask func() (uint64, error)) {
	if !a.heap.Placed() && a.heap.InHeap(size) {
		a.heap.Begin(addr)
	}
	got, err := ask()
	if err != nil {
		a.fail("%v", err)
	} else if got != addr {
		a.fail("%d bytes were placed at %#x, and not at %#x as by the C library's rules", size, addr, got)
	}
}

// ask asks the model for memory.
func ask(h *ptmalloc.Heap, role trace.Role, old, size uint64) (uint64, error) {
	switch role {
	case trace.Malloc:
		return h.Malloc(size)
	case trace.Calloc:
		return h.Calloc(size)
	case trace.Realloc:
		return h.Realloc(old, size)
	}
	return 0, fmt.Errorf("%v is not modelled", role)
}

// give adds memory that a call was given.
func (a *asked) give(call int32, c *trace.Change) {
	r := &a.calls[call]
	a.found.Recycles = a.found.Recycles || a.freed && c.Size >= recycles
	if !note(&r.Sizes, c.Size, r.Events) {
		a.fail("one call asks for memory of many sizes")
	}
	p := holding{lo: c.Addr, hi: c.Addr + c.Size, call: call}
	if a.on {
		p.site, p.slot = a.siteFor(call, c.Size)
	}
	a.ages[call] = append(a.ages[call], c.Addr)
	if a.add(p); len(a.list) > maxHeld {
		a.fail("more than %d allocations are in use", maxHeld)
	}
}

// siteFor returns the site of new memory of a call, and its slot; 0 if its addresses are to be
// real.
func (a *asked) siteFor(call int32, size uint64) (site, slot int32) {
	r := &a.calls[call]
	key := a.keys[call]
	if size > maxOffset || a.found.Several[key] {
		a.found.Several[key] = true
		return 0, 0
	}
	slot, ok := a.taken[call].take()
	if !ok {
		a.found.Several[key] = true
		return 0, 0
	}
	if key += uint64(slot); int(slot) == len(r.Sites) {
		if a.found.Sites[key] == 0 {
			if len(a.found.Sites) == maxSites {
				a.fail("memory is asked for at too many places")
				return 0, 0
			}
			a.found.Sites[key] = int32(len(a.found.Sites) + 1)
		}
		r.Sites = append(r.Sites, a.found.Sites[key])
	}
	return r.Sites[slot], slot
}

// take removes memory that a call gives back.
func (a *asked) take(call int32, addr uint64) {
	p, ok := a.holdings.take(addr)
	if !ok {
		a.fail("memory at %#x was given back that was not in use", addr)
		return
	}
	if p.site > 0 {
		a.taken[p.call].free(p.slot)
	}
	r := &a.calls[call]
	a.freed = a.freed || p.hi-p.lo >= recycles
	if !note(&r.Freed, p.call, r.Events) {
		a.fail("one call gives back memory of many others")
	}
	list := a.ages[p.call]
	i := slices.Index(list, addr)
	switch newest := i == len(list)-1; {
	case len(list) == 1:
	case i > 0 && !newest, r.Newest && !newest:
		a.fail("memory is given back in another order than it was asked for")
	case newest:
		r.Newest = true
	}
	a.ages[p.call] = slices.Delete(list, i, i+1)
}

// note adds what is so of an event, the events-th, to a list that is of length 1 as long as
// all are alike; false if it would grow too long.
func note[T comparable](list *[]T, v T, events uint64) bool {
	switch n := len(*list); {
	case n == 0, n > 1:
		*list = append(*list, v)
	case (*list)[0] == v:
	case events > maxEvents:
		return false
	default:
		for uint64(len(*list))+1 < events {
			*list = append(*list, (*list)[0])
		}
		*list = append(*list, v)
	}
	return len(*list) <= maxEvents
}
