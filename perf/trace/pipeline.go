package trace

import (
	"fmt"
	"sync"
)

// pipelineBatches is the number of batches in flight: enough to absorb
// variations in the collectors' speed, few enough (1 MiB at 16 Ki accesses each)
// to stay in a second-level cache.
const pipelineBatches = 8

// BatchAccesses is the capacity, in accesses, of a batch made by a Pipeline. An
// engine passes a batch on when the next block's accesses do not fit.
const BatchAccesses = 16 << 10

// Pipeline is a Sink that runs each collector in its own goroutine, in parallel
// with the engine and the other collectors. Every collector sees every batch, in
// order. Batches that a Holder keeps are not in flight: others take their place.
type Pipeline struct {
	feeds []chan *inFlight
	free  chan *inFlight
	out   map[*Batch]*inFlight // batches held by the engine
	done  sync.WaitGroup

	mu     sync.Mutex
	failed error
	spare  []*inFlight // that were held
}

// inFlight is a batch with those who read it.
type inFlight struct {
	batch    Batch
	released func() // ends a hold

	// Guarded by Pipeline.mu.
	readers int // collectors that have not returned
	holds   int

	expand   sync.Once // by the first collector that takes no runs
	expanded Batch     // without memory until a batch has runs
}

// AllTakeRuns reports whether collectors see batches as they were recorded, all of them:
// a Compressor before them may pay.
func AllTakeRuns(collectors []Collector) bool {
	for _, c := range collectors {
		if !takesRuns(c) {
			return false
		}
	}
	return len(collectors) > 0
}

// forCollector returns the batch as c takes it.
func (f *inFlight) forCollector(c Collector) *Batch {
	if len(f.batch.Runs) == 0 || takesRuns(c) {
		return &f.batch
	}
	f.expand.Do(func() { f.batch.Expand(&f.expanded) })
	return &f.expanded
}

// NewPipeline starts a goroutine for each collector; Close ends them.
func NewPipeline(collectors ...Collector) *Pipeline {
	p := &Pipeline{
		free: make(chan *inFlight, pipelineBatches),
		out:  make(map[*Batch]*inFlight),
	}
	for range pipelineBatches {
		p.free <- p.newBatch()
	}
	for _, c := range collectors {
		feed := make(chan *inFlight, pipelineBatches)
		p.feeds = append(p.feeds, feed)
		p.done.Go(func() { p.drain(c, feed) })
	}
	return p
}

func (p *Pipeline) newBatch() *inFlight {
	f := new(inFlight)
	f.batch.Accesses = make([]Access, 0, BatchAccesses)
	f.released = func() { p.release(f) }
	return f
}

// Exchange implements Sink. A nil full only asks for an empty batch.
func (p *Pipeline) Exchange(full *Batch) *Batch {
	if full != nil {
		f := p.out[full]
		if f == nil {
			panic("trace: Exchange of a batch that this Pipeline did not hand out")
		}
		delete(p.out, full)
		p.send(f)
	}
	f := <-p.free
	f.batch.Reset()
	f.expand = sync.Once{}
	p.out[&f.batch] = f
	return &f.batch
}

func (p *Pipeline) send(f *inFlight) {
	if len(p.feeds) == 0 {
		p.free <- f
		return
	}
	f.readers = len(p.feeds) // nobody else has f
	for _, feed := range p.feeds {
		feed <- f
	}
}

// drain feeds one collector. A collector that panics fails the pipeline, not
// the process: its batches are still passed on, so that the engine can end.
func (p *Pipeline) drain(c Collector, feed <-chan *inFlight) {
	dead := false
	for f := range feed {
		if !dead {
			dead = !p.observe(c, f)
		}
		p.returned(f)
	}
}

// returned notes that a collector is through with f, or holds it. A batch that is held
// when all are leaves its place in flight to another.
func (p *Pipeline) returned(f *inFlight) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f.readers--; f.readers > 0 {
		return
	}
	if f.holds > 0 {
		if n := len(p.spare); n > 0 {
			f, p.spare = p.spare[n-1], p.spare[:n-1]
		} else {
			f = p.newBatch()
		}
	}
	p.free <- f // there is room: each batch in flight has its place
}

// release ends a hold of f.
func (p *Pipeline) release(f *inFlight) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f.holds--; f.holds == 0 && f.readers == 0 {
		p.spare = append(p.spare, f)
	}
}

func (p *Pipeline) observe(c Collector, f *inFlight) (ok bool) {
	defer func() {
		if r := recover(); r != nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.failed == nil {
				p.failed = fmt.Errorf("trace: collector %T panicked: %v", c, r)
			}
		}
	}()
	b := f.forCollector(c)
	h, ok := c.(Holder)
	if !ok {
		c.Observe(b)
		return true
	}
	p.mu.Lock()
	f.holds++
	p.mu.Unlock()
	h.Hold(b, f.released)
	return true
}

// Close waits until the collectors have seen every batch, and ends their
// goroutines. Its error reports the first collector that panicked.
func (p *Pipeline) Close() error {
	for _, feed := range p.feeds {
		close(feed)
	}
	p.done.Wait()
	return p.failed
}

// Direct is a Sink that runs its collectors in the engine's own goroutine, one
// after the other: no concurrency, one batch.
type Direct struct {
	collectors []Collector
	batch      Batch
	expanded   Batch // without memory until a batch has runs
}

// NewDirect returns a Direct sink.
func NewDirect(collectors ...Collector) *Direct {
	d := &Direct{collectors: collectors}
	d.batch.Accesses = make([]Access, 0, BatchAccesses)
	return d
}

// Exchange implements Sink. A nil full only asks for an empty batch.
func (d *Direct) Exchange(full *Batch) *Batch {
	if full != nil {
		d.observe(full)
	}
	d.batch.Reset()
	return &d.batch
}

func (d *Direct) observe(full *Batch) {
	plain := full
	for _, c := range d.collectors {
		if takesRuns(c) {
			c.Observe(full)
			continue
		}
		if plain == full && len(full.Runs) > 0 {
			full.Expand(&d.expanded)
			plain = &d.expanded
		}
		c.Observe(plain)
	}
}

var (
	_ Sink = (*Pipeline)(nil)
	_ Sink = (*Direct)(nil)
)
