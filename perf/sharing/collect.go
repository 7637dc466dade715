// Package sharing finds what threads make each other miss: blocks that one thread held
// and another wrote. What goes in is a program's run; what comes out are coherence
// misses by object and scope, true and false.
//
// Each thread has a cache of its own without limit, and a write takes the block from all
// others. A thread that accesses a block again after that has a coherence miss. It is of
// true sharing if the thread, until it loses the block once more, accesses any byte that
// others wrote while it was without; otherwise of false sharing: what it wanted was there
// all along. (Dubois, Skeppstedt, Ricciulli, Ramamurthy and Stenström call true sharing
// misses essential; the definition here is by bytes.)
//
//	thread 0   writes byte 0             reads byte 0: false
//	thread 1              writes byte 8                      reads byte 0: true only if written since
//
// Not modelled: capacity, which would turn some of these into misses of another kind, and
// prefetching. Threads take turns as the engine runs them, so that two which write at
// the same time lose a block once a turn here, and as often as they write on a machine
// with a processor each: counts are the least that there are.
package sharing

import (
	"math/bits"

	"presage/perf/allocation"
	"presage/perf/trace"
)

// maxBlockBytes keeps a mask of bytes within a word.
const maxBlockBytes = 64

// collector counts coherence misses by the references involved.
type collector struct {
	shift   uint
	writes  []bool // by reference
	threads map[int32]int
	pages   map[uint64]*[pageBlocks]block
	memory  *allocation.Table // nil: the engine does not tell of it
	number  uint64            // of the page looked at last
	page    *[pageBlocks]block
	found   map[miss]*counts
}

var _ trace.Collector = (*collector)(nil)

const pageBlocks = 256

// block is a block of memory.
type block struct {
	first  uint32 // the reference that accessed it first, plus 1; 0: none did
	owner  int    // the thread that did
	writer uint32 // the reference that wrote it last, plus 1
	by     []view // by thread, once a second one accessed it
	missed bool   // a thread missed it since another wrote it
}

// view is a block as a thread sees it.
type view struct {
	held, ever bool
	since      uint64 // bytes that others wrote while it is not held
	wanted     uint64 // of those when it was fetched again; 0: the miss is told, or there was none
	open       *counts
	uses       *[maxBlockBytes]uint32 // accesses of each byte, from the block's first coherence miss on
}

// miss is what coherence misses are counted by.
type miss struct {
	ref    trace.RefID // that missed
	writer trace.RefID // that wrote the block last before
	object uint64      // address of the first byte that was missed
	memory int32       // the number of the object there, as memory told; allocation.None
	first  trace.RefID // that accessed it first
}

// counts are those of a kind of miss.
type counts struct {
	True, False uint64
}

func newCollector(plan *trace.Plan, blockBytes uint64) *collector {
	c := &collector{
		shift: uint(bits.TrailingZeros64(blockBytes)), threads: make(map[int32]int), pages: make(map[uint64]*[pageBlocks]block), number: ^uint64(0),
		found: make(map[miss]*counts),
	}
	for i := range plan.Refs {
		c.writes = append(c.writes, plan.Refs[i].Kind.Writes())
	}
	return c
}

// Observe implements trace.Collector.
func (c *collector) Observe(b *trace.Batch) {
	if c.memory != nil {
		c.memory.Apply(b.Changes)
	}
	thread, ok := c.threads[b.Thread]
	if !ok {
		thread = len(c.threads)
		c.threads[b.Thread] = thread
	}
	size := uint64(1) << c.shift
	for _, a := range b.Accesses {
		for first := a.Addr(); first <= a.Last(); {
			number := first >> c.shift
			last := min(a.Last(), (number+1)<<c.shift-1)
			from, to := first&(size-1), last&(size-1)
			c.access(c.at(number), thread, number, ^uint64(0)>>(63-(to-from))<<from, a.Ref())
			first = last + 1
		}
	}
}

func (c *collector) at(number uint64) *block {
	if n := number / pageBlocks; n != c.number {
		if c.pages[n] == nil {
			c.pages[n] = new([pageBlocks]block)
		}
		c.number, c.page = n, c.pages[n]
	}
	return &c.page[number%pageBlocks]
}

// access makes an access of a thread to some bytes of a block.
func (c *collector) access(x *block, thread int, number, bytes uint64, ref trace.RefID) {
	if x.first == 0 {
		x.first, x.owner = uint32(ref)+1, thread
	}
	if x.by == nil && x.owner != thread {
		x.by = make([]view, max(x.owner, thread)+1)
		x.by[x.owner] = view{held: true, ever: true}
	}
	if x.by != nil {
		c.shared(x, thread, number, bytes, ref)
	}
	if c.writes[ref] {
		x.writer = uint32(ref) + 1
	}
}

// shared is access for a block that several threads accessed.
func (c *collector) shared(x *block, thread int, number, bytes uint64, ref trace.RefID) {
	for len(x.by) <= thread {
		x.by = append(x.by, view{})
	}
	v := &x.by[thread]
	if !v.held {
		if v.ever {
			x.missed = true
			v.wanted, v.open = v.since, c.counts(x, number<<c.shift+uint64(bits.TrailingZeros64(bytes)), ref)
		}
		v.held, v.ever, v.since = true, true, 0
	}
	if v.open != nil && v.wanted&bytes != 0 {
		v.open.True++
		v.open = nil
	}
	if x.missed {
		v.use(bytes)
	}
	if !c.writes[ref] {
		return
	}
	for t := range x.by {
		if o := &x.by[t]; t != thread && o.ever {
			o.leave()
			o.since |= bytes
		}
	}
}

// counts returns those of a miss.
func (c *collector) counts(x *block, addr uint64, ref trace.RefID) *counts {
	key := miss{ref, trace.RefID(x.writer - 1), addr, allocation.None, trace.RefID(x.first - 1)}
	if c.memory != nil {
		key.memory = c.memory.At(addr).Object
	}
	if c.found[key] == nil {
		c.found[key] = new(counts)
	}
	return c.found[key]
}

// leave takes the block from a thread: a miss that wanted nothing new was false.
func (v *view) leave() {
	if v.open != nil {
		v.open.False++
		v.open = nil
	}
	v.held = false
}

// finish ends the run.
func (c *collector) finish() {
	for _, p := range c.pages {
		for i := range p {
			for t := range p[i].by {
				p[i].by[t].leave()
			}
		}
	}
}
