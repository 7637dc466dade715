package pipeline

import (
	"fmt"
	"math"

	"presage/perf/isa"
	"presage/perf/trace"
)

// core is the processor: when each resource is free again, and when the value of
// each register is ready.
type core struct {
	config  *Config
	inOrder bool
	memory  *memory
	units   units
	guess   predictor
	icache  lines
	context *context
	given   *Given   // outcomes of the batch; nil: they are simulated
	outcome *Outcome // of the access at hand, if given
	counts  Counts   // those that other parts do not keep
	odd     oddities

	// The progress of each stage: the cycle of the latest instruction, and the
	// number handled in that cycle.
	fetched, dispatched, retired    int64
	fetchedN, dispatchedN, retiredN int
	takenN                          int    // taken branches that fetched's instructions went beyond
	line                            uint64 // block that fetch is in

	barrier int64 // nothing is dispatched before it
	begun   int64 // in order: when the latest instruction began
	ended   int64 // ordered completion: when the latest instruction completes
	known   int64 // when all addresses of stores so far are known
	written int64 // when the latest store is in the cache
	writing int64 // when the cache took it up
	block   int64 // when the block of the store at hand is there
	source  uint8 // and the level that it comes from

	window, buffer, loads, ints, floats ring
	pending                             ring    // stores: when they are in the cache
	sources                             []uint8 // the levels that those waited for
	queues                              []queue
	stores                              stores
	commit                              work // what writing a store takes

	fetchWidth, dispatchWidth, retireWidth, taken int

	stall  stalls
	levels [maxLevels + 1]uint64 // Counts.Stack.Levels
}

// context is the state of a thread, as opposed to the processor.
type context struct {
	ready [regs]int64
	end   transfer // of its latest block
	calls returns

	block trace.BlockID // with rest, of a block that is not done
	rest  []op
}

const noLine = math.MaxUint64

// input is the accesses of a batch.
type input struct {
	accesses []trace.Access
	next     int
	final    bool // the block is the last of its batch
}

// ring holds the times at which the latest users of a fixed-size resource leave it;
// the next user takes the place of the oldest.
type ring struct {
	leave []int64
	at    int
}

func newRing(n int) ring {
	r := ring{leave: make([]int64, n)}
	for i := range r.leave {
		r.leave[i] = -1
	}
	return r
}

// after returns the first cycle from t on with a free place.
func (r *ring) after(t int64) int64 {
	if len(r.leave) > 0 {
		return max(t, r.leave[r.at]+1)
	}
	return t
}

func (r *ring) push(t int64) {
	if len(r.leave) == 0 {
		return
	}
	r.leave[r.at] = t
	r.at++
	if r.at == len(r.leave) {
		r.at = 0
	}
}

// queue is an issue queue, which instructions leave in any order.
type queue struct {
	free  int
	leave []int64 // of places not known to be free, the first free cycle
}

// after returns the first cycle from t on with a free place. No later call has a
// smaller t.
func (q *queue) after(t int64) int64 {
	if q.free > 0 {
		return t
	}
	if q.sweep(t) {
		return t
	}
	least := q.leave[0]
	for _, l := range q.leave {
		least = min(least, l)
	}
	q.sweep(least)
	return least
}

// sweep frees the places that are free at t.
func (q *queue) sweep(t int64) bool {
	n := 0
	for _, l := range q.leave {
		if l <= t {
			q.free++
			continue
		}
		q.leave[n] = l
		n++
	}
	q.leave = q.leave[:n]
	return q.free > 0
}

func (q *queue) push(t int64) {
	q.free--
	q.leave = append(q.leave, t)
}

func newCore(c *Config, t *isa.Target, m *memory, widestStore uint64) *core {
	k := &core{
		config: c, inOrder: c.InOrder, memory: m, units: newUnits(), guess: newPredictor(&c.Branch), line: noLine,
		retired: -1, begun: -1, ended: never * -1, written: -1, writing: -1,
		stall: stalls{branch: -1, icache: -1, trap: -1, full: -1},
	}
	if c.ICache != (ICache{}) {
		k.icache = newLines(c.ICache.Blocks, c.ICache.BlockBytes, c.ICache.Ways)
	}
	orAll := func(n, all int) int {
		if n == 0 {
			return all
		}
		return n
	}
	k.fetchWidth = orAll(c.FetchWidth, math.MaxInt)
	k.dispatchWidth = orAll(c.DispatchWidth, math.MaxInt)
	k.retireWidth = orAll(c.RetireWidth, math.MaxInt)
	k.taken = orAll(c.TakenPerCycle, math.MaxInt)
	k.window = newRing(c.Window)
	k.buffer = newRing(c.FetchBuffer)
	k.loads = newRing(orAll(c.LoadQueue, c.Window))
	entries := orAll(c.StoreQueue, c.Window)
	k.pending = newRing(entries)
	k.sources = make([]uint8, entries)
	k.stores = newStores(entries, widestStore)
	k.ints = newRing(max(c.IntRegisters-len(t.IntegerNames), 0))
	k.floats = newRing(max(c.FloatRegisters-len(t.FloatNames), 0))
	for _, q := range c.Queues {
		k.queues = append(k.queues, queue{free: q.Entries})
	}
	l := newLayout(c)
	k.commit = l.commit()
	k.odd.untimed = make(map[isa.Class]uint64)
	return k
}

// snapshot returns all counts so far. Cycles are those up to the latest
// retirement.
func (c *core) snapshot() Counts {
	n := c.counts
	n.Cycles = uint64(c.retired + 1)
	n.Stack.Levels = append([]uint64(nil), c.levels[:len(c.memory.levels)+1]...)
	for i := range c.memory.levels {
		n.Levels = append(n.Levels, c.memory.levels[i].counts)
	}
	for i := range c.memory.tlbs {
		n.TLBs = append(n.TLBs, c.memory.tlbs[i].counts)
	}
	return n
}

// oddities are the counts behind the Warnings.
type oddities struct {
	untimed   map[isa.Class]uint64
	strays    uint64 // accesses that no executed block accounts for
	unmatched uint64 // executed references without an access
}

func (o *oddities) warnings() []error {
	var list []error
	for _, class := range isa.Classes() {
		if n := o.untimed[class]; n > 0 {
			list = append(list, fmt.Errorf("pipeline: %d executed instructions of the class %v, which has no timing: each took a cycle and no unit", n, class))
		}
	}
	if o.strays > 0 {
		list = append(list, fmt.Errorf("pipeline: %d recorded accesses belong to no executed block and were left out", o.strays))
	}
	if o.unmatched > 0 {
		list = append(list, fmt.Errorf("pipeline: %d executed memory references have no recorded access and were taken to hit in the first level", o.unmatched))
	}
	return list
}
