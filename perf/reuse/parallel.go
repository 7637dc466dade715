package reuse

import (
	"sync"

	"presage/perf/trace"
)

const (
	// firstChunk is the number of bytes that wait for a worker, in the beginning, before
	// another one takes over.
	firstChunk = 1 << 20

	// That grows while more than 1/joinShare of the work on a chunk is its resolution,
	// up to 1/fedShare of all that was fed, so that the workers end at about the same
	// time. Where workers take runs, which stand for many accesses, chunks are resolved
	// in little time, and grow to twice that.
	joinShare = 16
	fedShare  = 4

	// waitingShare is the part of Options.MemoryBytes, 1/waitingShare, that batches may
	// take; tables have the rest.
	waitingShare = 4

	// leastPart is the number of waiting batches below which the rest of a run is not
	// divided further, and 1/dividedShare of what may wait the number of bytes: half of
	// that where workers take runs.
	leastPart    = 4
	dividedShare = 8

	// refillShare is the part of what may wait, 1/refillShare, that must have been
	// taken before more is added: otherwise each batch would be.
	refillShare = 4

	// extraShare is the number of workers for each that may be busy: others wait for
	// chunks before theirs to be resolved.
	extraShare = 2

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
// 1/joinShare of the time, as far as Options.MemoryBytes allows. A worker that waits for
// its turn to resolve leaves its processor to a further one, and at the end of the run,
// when what waits is all that is left, free ones get half of what waits for another.
//
// Goroutines end when nothing waits for them, so nothing has to be closed.
type parallel struct {
	chunks chunks
	most   int    // workers that may be busy at a time
	budget uint64 // bytes of Options.MemoryBytes
	cut    int    // bytes after which tests cut; 0: where it helps

	mu       sync.Mutex
	wake     sync.Cond // a worker's queue is shorter, or it has nothing to do
	workers  []*worker
	idle     []*worker
	waiting  int     // workers whose chunk has ended, for those before to be resolved
	tail     *worker // that of the latest chunk; nil: none has begun
	size     int     // bytes that wait for one worker at most
	fed      uint64  // bytes in all
	length   int     // of the latest chunk, in bytes
	alone    bool    // for want of memory there is no further cut
	spare    []*parcel
	resolved chan struct{} // closed when the chunk before the next is
	failed   any           // the value of a worker's panic
}

func newParallel(opt *Options, tune tuning, c chunks) *parallel {
	p := &parallel{
		chunks: c, most: opt.Workers, budget: opt.MemoryBytes,
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
func (p *parallel) observe(b *trace.Batch) { p.add(b, nil) }

// add passes on a batch, which stays as it is until done is called; nil: until add
// returns.
func (p *parallel) add(b *trace.Batch, done func()) {
	c, begins := p.room()
	changes := b.Changes
	c.take(b, done, p.chunks)
	p.chunks.prepare(c, changes, begins)
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
		if p.tail == nil || !p.alone {
			if w := p.free(); w != nil {
				p.begin(w)
				return p.parcel(), true
			}
		}
		p.wake.Wait()
	}
	panic(p.failed)
}

// free returns a worker that has no chunk, or nil if all processors are taken.
func (p *parallel) free() *worker {
	if len(p.workers)-len(p.idle)-p.waiting >= p.most {
		return nil
	}
	if n := len(p.idle); n > 0 {
		w := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return w
	}
	if len(p.workers) >= extraShare*p.most || p.alone {
		return nil
	}
	w := &worker{part: p.chunks.part()}
	p.workers = append(p.workers, w)
	return w
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

// begin ends the latest chunk and begins the next, with a free worker.
func (p *parallel) begin(w *worker) {
	if p.tail != nil {
		p.end(p.tail)
	}
	w.before, w.after = p.resolved, make(chan struct{})
	w.ended, w.took, w.joined = false, 0, 0
	p.resolved, p.tail, p.length = w.after, w, 0
}

// end makes what waits for a worker all that is left of its chunk.
func (p *parallel) end(w *worker) {
	w.ended = true
	p.start(w)
}

// flush has the workers analyse all that waits, and waits until they have.
func (p *parallel) flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tail != nil {
		p.end(p.tail)
	}
	p.tail = nil
	for len(p.idle) < len(p.workers) {
		if !p.share() {
			p.wake.Wait()
		}
	}
	if p.failed != nil {
		panic(p.failed)
	}
}

// share gives a part of what waits for a worker to another one, as a chunk of its own.
// It reports whether there was one. Only while no batches are added.
func (p *parallel) share() bool {
	w := p.fullest()
	if w == nil || p.alone {
		return false
	}
	keep := max(1, len(w.queue)/2)
	for ; keep < len(w.queue) && !p.chunks.begins(w.queue[keep]); keep++ {
	}
	if keep == len(w.queue) {
		return false
	}
	o := p.free()
	if o == nil {
		return false
	}
	o.before, o.after = make(chan struct{}), w.after
	w.after = o.before
	o.took, o.joined = 0, 0
	o.queue, w.queue = append(o.queue[:0], w.queue[keep:]...), w.queue[:keep]
	for _, c := range o.queue {
		w.waiting -= c.bytes
		o.waiting += c.bytes
	}
	p.end(o)
	return true
}

// fullest returns the worker for which most waits, if that is worth dividing.
func (p *parallel) fullest() *worker {
	var most *worker
	least := p.size / dividedShare
	if p.chunks.takesRuns() {
		least /= 2
	}
	if p.cut > 0 {
		least = 0
	}
	for _, w := range p.workers {
		if len(w.queue) >= leastPart && w.waiting > least && (most == nil || w.waiting > most.waiting) {
			most = w
		}
	}
	return most
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
