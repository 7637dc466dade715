package replayed

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"presage/perf/misses"
	"presage/perf/progress"
	"presage/perf/subject"
)

var _ misses.Preparer = (*Corrector)(nil)

// Prepare implements misses.Preparer: it replays the program at several points at a
// time, each as Correct would.
func (c *Corrector) Prepare(ctx context.Context, points []subject.Point) {
	workers := min(runtime.GOMAXPROCS(0), len(points))
	if workers < 2 {
		return
	}
	f := &funnel{make(chan progress.Report), make(chan struct{})}
	c.funnel.Store(f)
	defer c.funnel.Store(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(points) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				_, _ = c.at(ctx, points[i]) // Correct meets the error again
			}
		})
	}
	go func() {
		wg.Wait()
		close(f.done)
	}()
	for {
		select {
		case r := <-f.reports:
			c.opt.Progress.Report(r)
		case <-f.done:
			return
		}
	}
}

// funnel takes reports to the goroutine that called Prepare.
type funnel struct {
	reports chan progress.Report
	done    chan struct{}
}

// report reports progress, from the goroutine of the caller.
func (c *Corrector) report(r progress.Report) {
	f := c.funnel.Load()
	if f == nil || c.opt.Progress == nil {
		c.opt.Progress.Report(r)
		return
	}
	select {
	case f.reports <- r:
	case <-f.done: // it was another call that prepared
		c.opt.Progress.Report(r)
	}
}
