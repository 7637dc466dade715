package reuse

import (
	"sync"
	"time"

	"presage/perf/trace"
)

const (
	// firstChunk is the number of bytes that wait for a worker, in the beginning, before
	// another one takes over.
	firstChunk = 1 << 20

	// That grows while more than 1/joinShare of the work on a chunk is its resolution,
	// up to 1/fedShare of all that was fed, so that the workers end at about the same
	// time.
	joinShare = 16
	fedShare  = 4

	// waitingShare is the part of Options.MemoryBytes, 1/waitingShare, that batches may
	// take; tables have the rest.
	waitingShare = 4

	// leastPart is the number of waiting batches below which the rest of a run is not
	// divided further.
	leastPart = 4

	// DefaultMemoryBytes is the default of Options.MemoryBytes.
	DefaultMemoryBytes = 512 << 20
)

// parallel cuts a run in time into chunks and resolves the reuses across the cuts:
// after Niu, Dinan, Lu and Sadayappan, "PARDA: a fast parallel reuse distance analysis
// algorithm" (IPDPS 2012), with chunks of a stream in place of parts of a whole trace.
//
// Each worker has a stack that is empty at the start of its chunk. It finds the
// distances of all reuses within the chunk and keeps the first touches, in
// order. When all earlier chunks are resolved it resolves these against the
// past, the stack at the start of the chunk. The blocks accessed since the last
// access to the n-th block touched, counted from 0, are the n touched before it
// in the chunk and those above it on the past's stack that are not among these.
// So the n are removed from the past one by one, and
//
//	distance = n + blocks above the block on what is left of the past
//
// or the access is cold (derived here). Finally the chunk's blocks go on top of
// the past in the order of their last access.
//
// The batches of a chunk go to its worker one by one. A new chunk begins when as many
// bytes wait for that worker as may, and another one is idle: while the engine is slower
// than one worker, nothing is cut. Resolving a first touch is about half as much work as
// an access that misses the front, so chunks become longer while that takes more than
// 1/joinShare of the time, as far as Options.MemoryBytes allows. At the end of the run,
// idle workers get parts of what waits for the last chunk's.
//
// Goroutines end when nothing waits for them, so nothing has to be closed.
type parallel struct {
	chunks  chunks
	workers []*worker
	budget  uint64 // bytes of Options.MemoryBytes
	cut     int    // bytes after which tests cut; 0: where it helps

	mu       sync.Mutex
	wake     sync.Cond // a worker has taken a batch, or has nothing to do
	idle     []*worker
	tail     *worker // that of the latest chunk; nil: none has begun
	size     int     // bytes that wait for one worker at most
	fed      uint64  // bytes in all
	length   int     // of the latest chunk, in bytes
	alone    bool    // for want of memory there is no further cut
	spare    []*parcel
	resolved chan struct{} // closed when the chunk before the next is
	failed   any           // the value of a worker's panic
}

// worker analyses one chunk at a time.
type worker struct {
	part          part
	before, after chan struct{} // closed when the chunk before, and this one, is resolved

	// Guarded by parallel.mu.
	queue   []*parcel
	waiting int  // bytes in queue
	running bool // has a goroutine
	ended   bool // the queue is all that is left of the chunk
	tables  uint64

	took, joined time.Duration // of the chunk at hand
}

func newParallel(opt *Options, tune tuning, c chunks) *parallel {
	p := &parallel{
		chunks: c, budget: opt.MemoryBytes,
		size: firstChunk, cut: tune.cut, resolved: make(chan struct{}),
	}
	if p.budget == 0 {
		p.budget = DefaultMemoryBytes
	}
	p.wake.L = &p.mu
	close(p.resolved)
	for range opt.Workers {
		w := &worker{part: c.part()}
		p.workers, p.idle = append(p.workers, w), append(p.idle, w)
	}
	return p
}

// observe implements method.
func (p *parallel) observe(b *trace.Batch) {
	c, begins := p.room()
	p.chunks.fill(c, b, begins)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fed += uint64(c.bytes)
	p.length += c.bytes
	p.tail.waiting += c.bytes
	p.tail.queue = append(p.tail.queue, c)
	p.start(p.tail)
}

// room waits until a batch may be added to the latest chunk, or begins another one. It
// returns a parcel for the batch. It panics if a worker did.
func (p *parallel) room() (c *parcel, begins bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.failed == nil {
		if p.tail != nil && !p.full() {
			return p.parcel(), false
		}
		if len(p.idle) > 0 && (p.tail == nil || !p.alone) {
			p.begin()
			return p.parcel(), true
		}
		p.wake.Wait()
	}
	panic(p.failed)
}

// parcel returns one that is not in use.
func (p *parallel) parcel() *parcel {
	if n := len(p.spare); n > 0 {
		c := p.spare[n-1]
		p.spare = p.spare[:n-1]
		return c
	}
	return new(parcel)
}

// full reports that no more should wait for the latest chunk's worker.
func (p *parallel) full() bool {
	if p.cut > 0 {
		return p.length >= p.cut
	}
	return p.tail.waiting >= p.size
}

// begin ends the latest chunk and begins the next, with an idle worker.
func (p *parallel) begin() {
	if p.tail != nil {
		p.end(p.tail)
	}
	w := p.idle[len(p.idle)-1]
	p.idle = p.idle[:len(p.idle)-1]
	w.before, w.after = p.resolved, make(chan struct{})
	w.ended, w.took, w.joined = false, 0, 0
	p.resolved, p.tail, p.length = w.after, w, 0
}

// end makes what waits for a worker all that is left of its chunk.
func (p *parallel) end(w *worker) {
	w.ended = true
	p.start(w)
}

// start makes a worker run.
func (p *parallel) start(w *worker) {
	if !w.running {
		w.running = true
		go p.run(w)
	}
}

// run analyses what waits for a worker, and resolves the chunk if it has ended. On any
// failure it still passes on the turn and the worker, so that nothing waits forever.
func (p *parallel) run(w *worker) {
	for {
		c, ended := p.next(w)
		if c == nil && !ended {
			return
		}
		if c == nil {
			break
		}
		start := time.Now()
		p.try(func() { w.part.observe(c) })
		w.took += time.Since(start)
		p.mu.Lock()
		p.spare = append(p.spare, c)
		p.mu.Unlock()
	}
	<-w.before
	start := time.Now()
	p.try(w.part.join)
	close(w.after)
	p.try(w.part.clear)
	w.joined = time.Since(start)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.adapt(w)
	w.running = false
	p.idle = append(p.idle, w)
	p.wake.Broadcast()
}

// next returns the next batch of a worker's chunk. If there is none, and none will come,
// the chunk has ended; otherwise the worker no longer runs.
func (p *parallel) next(w *worker) (c *parcel, ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.tables = w.part.bytes()
	p.bound()
	if len(w.queue) == 0 {
		w.running = w.ended
		return nil, w.ended
	}
	c = w.queue[0]
	w.queue = w.queue[1:]
	w.waiting -= c.bytes
	p.wake.Broadcast()
	return c, false
}

// try calls f, unless something has failed before.
func (p *parallel) try(f func()) {
	defer func() {
		if r := recover(); r != nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.failed = r
		}
	}()
	if p.failure() == nil {
		f()
	}
}

func (p *parallel) failure() any {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

// adapt makes chunks longer if resolving that of w, which has nothing to do now, took
// much of the time.
func (p *parallel) adapt(w *worker) {
	if p.alone {
		w.shrink()
	}
	most := min(p.fed/fedShare, p.budget/waitingShare/uint64(len(p.workers)))
	if w.joined*joinShare > w.took && uint64(2*p.size) <= most {
		p.size *= 2
	}
}

// bound lets one worker go on alone once the tables of all have taken their part of the
// budget.
func (p *parallel) bound() {
	tables := uint64(0)
	for _, w := range p.workers {
		tables += w.tables
	}
	if p.alone || tables <= p.budget-p.budget/waitingShare {
		return
	}
	p.alone = true
	for _, w := range p.idle {
		w.shrink()
	}
}

// shrink gives the tables of a worker that has nothing to do back.
func (w *worker) shrink() {
	w.part.shrink()
	w.tables = 0
}

// flush has the workers analyse all that waits, and waits until they have.
func (p *parallel) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tail != nil {
		p.end(p.tail)
	}
	for len(p.idle) < len(p.workers) {
		if !p.share() {
			p.wake.Wait()
		}
	}
	p.tail = nil
	if p.failed != nil {
		panic(p.failed)
	}
}

// share gives a part of what waits for the latest chunk's worker to an idle one, as its
// chunk. It reports whether there was one.
func (p *parallel) share() bool {
	w := p.tail
	if len(p.idle) == 0 || len(w.queue) < leastPart || p.alone {
		return false
	}
	keep := max(1, len(w.queue)/(len(p.idle)+1))
	for ; keep < len(w.queue) && !p.chunks.begins(w.queue[keep]); keep++ {
	}
	if keep == len(w.queue) {
		return false
	}
	p.begin()
	p.tail.queue, w.queue = append(p.tail.queue[:0], w.queue[keep:]...), w.queue[:keep]
	for _, c := range p.tail.queue {
		w.waiting -= c.bytes
		p.tail.waiting += c.bytes
	}
	p.end(p.tail)
	return true
}

// result implements method.
func (p *parallel) result() *Result {
	p.flush()
	parts := make([]part, len(p.workers))
	for i, w := range p.workers {
		parts[i] = w.part
	}
	return p.chunks.result(parts)
}
