package reuse

import "time"

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
		c.release()
		p.mu.Lock()
		p.spare = append(p.spare, c)
		p.mu.Unlock()
	}
	p.await(w.before)
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

// await waits until a chunk is resolved, and lends the processor to others meanwhile.
func (p *parallel) await(resolved <-chan struct{}) {
	p.mu.Lock()
	p.waiting++
	p.wake.Broadcast()
	p.mu.Unlock()
	<-resolved
	p.mu.Lock()
	p.waiting--
	p.mu.Unlock()
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
	if w == p.tail && w.waiting <= p.size-p.size/refillShare {
		p.wake.Broadcast()
	}
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
	fed := p.fed / fedShare
	if p.chunks.takesRuns() {
		fed *= 2
	}
	most := min(fed, p.budget/waitingShare/uint64(p.most))
	for cost := w.joined * joinShare; cost > w.took && uint64(2*p.size) <= most; cost /= 2 {
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
