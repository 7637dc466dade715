package reuse

import (
	"sync"

	"presage/perf/trace"
)

const (
	// firstChunk is the number of accesses in the first chunks of a run.
	firstChunk = 1 << 17

	// maxChunk bounds the memory of a waiting chunk: 128 MiB.
	maxChunk = 1 << 24

	// A chunk grows while more than 1/chunkFirsts of its accesses are first
	// touches, up to chunkBlocks accesses for each block that the run has
	// touched: buffers stay proportional to the blocks.
	chunkFirsts = 6
	chunkBlocks = 8

	// leastPart is the number of accesses below which the rest of a run is not
	// divided further.
	leastPart = 1 << 12
)

// parallel cuts a run in time into chunks, one for each worker, and resolves
// the reuses across the cuts: after Niu, Dinan, Lu and Sadayappan, "PARDA: a
// fast parallel reuse distance analysis algorithm" (IPDPS 2012), with chunks of
// a stream in place of parts of a whole trace.
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
// Resolving a first touch costs as much as the access itself did, and only one
// worker at a time does it, while others work on their chunks. So chunks are
// long enough that first touches are rare, as far as memory allows.
//
// No goroutine outlives its chunk, so nothing has to be closed.
type parallel struct {
	past past
	idle chan *worker
	n    int // workers

	chunk    []trace.Access // being filled
	size     int            // accesses at which it is full
	spare    [][]trace.Access
	resolved chan struct{} // closed when the chunk before is
	expanded trace.Batch   // one with runs

	mu     sync.Mutex
	failed any // the value of a worker's panic
}

// worker analyses one chunk at a time.
type worker struct {
	stack  *stack
	order  []uint64       // the chunk's blocks by last access
	buffer []trace.Access // of the last chunk, if it is spare after it

	firsts, length int    // of the last chunk
	blocks         uint64 // of the run up to its end
}

func newParallel(l layout, workers int, tune tuning) *parallel {
	p := &parallel{
		past:     newPast(l, tune.window),
		idle:     make(chan *worker, workers),
		n:        workers,
		size:     tune.chunk,
		resolved: make(chan struct{}),
	}
	close(p.resolved)
	for range workers {
		w := &worker{stack: newStack(l, tune.window)}
		w.stack.chunk = true
		p.idle <- w
	}
	return p
}

func (p *parallel) observe(b *trace.Batch) {
	if len(b.Runs) == 0 {
		p.plain(b.Accesses)
		return
	}
	b.Expand(&p.expanded)
	p.plain(p.expanded.Accesses)
}

func (p *parallel) plain(accesses []trace.Access) {
	for len(accesses) > 0 {
		if p.chunk == nil {
			p.chunk = p.buffer()
		}
		n := min(len(accesses), p.size-len(p.chunk))
		p.chunk = append(p.chunk, accesses[:n]...)
		accesses = accesses[n:]
		if len(p.chunk) == p.size {
			p.begin(p.chunk, p.chunk)
			p.chunk = nil
		}
	}
}

// buffer returns memory for a chunk.
func (p *parallel) buffer() []trace.Access {
	if n := len(p.spare); n > 0 {
		b := p.spare[n-1]
		p.spare = p.spare[:n-1]
		if cap(b) >= p.size {
			return b[:0]
		}
	}
	return make([]trace.Access, 0, p.size)
}

// begin waits for a worker and starts it on a chunk; afterwards buffer is
// spare. It panics if a worker did.
func (p *parallel) begin(chunk, buffer []trace.Access) {
	w := <-p.idle
	if failed := p.failure(); failed != nil {
		p.idle <- w
		panic(failed)
	}
	if w.buffer != nil {
		p.spare = append(p.spare, w.buffer)
	}
	w.buffer = buffer
	p.adapt(w)
	before, after := p.resolved, make(chan struct{})
	p.resolved = after
	go p.run(w, chunk, before, after)
}

// run analyses a chunk. On any failure it still passes on the turn and the
// worker, so that nothing waits forever.
func (p *parallel) run(w *worker, chunk []trace.Access, before, after chan struct{}) {
	p.try(func() {
		w.stack.plain(chunk)
		w.order = w.stack.order(w.order[:0])
	})
	<-before
	p.try(func() { p.past.join(w.stack, w.order) })
	w.firsts, w.length, w.blocks = len(w.stack.firsts), len(chunk), p.past.blocks
	close(after)
	p.try(w.stack.clear)
	p.idle <- w
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

// adapt makes chunks longer if that of w had many first touches.
func (p *parallel) adapt(w *worker) {
	most := min(maxChunk, chunkBlocks*w.blocks)
	if w.firsts*chunkFirsts > w.length && uint64(2*p.size) <= most {
		p.size *= 2
	}
}

// flush analyses the buffered accesses, divided among the workers, and waits
// until all are idle.
func (p *parallel) flush() []*worker {
	parts := max(1, min(p.n, len(p.chunk)/leastPart))
	for i := range parts {
		from, to := len(p.chunk)*i/parts, len(p.chunk)*(i+1)/parts
		if from < to {
			p.begin(p.chunk[from:to], nil)
		}
	}
	if p.chunk != nil {
		p.spare = append(p.spare, p.chunk)
		p.chunk = nil
	}
	workers := make([]*worker, p.n)
	for i := range workers {
		workers[i] = <-p.idle
	}
	for _, w := range workers {
		p.idle <- w
	}
	if failed := p.failure(); failed != nil {
		panic(failed)
	}
	return workers
}

func (p *parallel) result() *Result {
	r := &Result{Groups: make([]Histogram, p.past.groups)}
	for _, w := range p.flush() {
		o := w.stack.result()
		r.Accesses += o.Accesses
		for g := range r.Groups {
			r.Groups[g] = r.Groups[g].merge(&o.Groups[g])
		}
	}
	r.Blocks = p.past.blocks
	return r
}
