package spmv

import (
	"runtime"
	"sync/atomic"
)

// A team is goroutines that wait for work, so that a product starts none: a worker
// looks for its turn for some microseconds before it goes to sleep. The caller is
// the first of them.
type team struct {
	work func(part int) // nil: go home
	turn atomic.Uint32  // counts the times that run was called
	busy atomic.Int32   // workers that are not finished
	wake []chan struct{}

	bound bool
}

// looks is how often a worker looks for its turn before it sleeps: some 20 µs.
const looks = 20000

// newTeam returns a team of n, which ends with close. Workers that are bound stay each
// on a thread of the system, whose processor time can then be read.
func newTeam(n int, bound bool) *team {
	t := &team{wake: make([]chan struct{}, n-1), bound: bound}
	for i := range t.wake {
		t.wake[i] = make(chan struct{}, 1)
		go t.serve(i)
	}
	return t
}

// run calls work for each part, 0 to n-1, each by another goroutine, and returns
// when all are finished.
func (t *team) run(work func(part int)) {
	t.begin(work)
	work(0)
	for looked := 1; t.busy.Load() > 0; looked++ {
		if looked%looks == 0 {
			runtime.Gosched()
		}
	}
}

// begin hands out work. A worker that is awake leaves its token in the channel, which
// costs it one look more before it next sleeps.
func (t *team) begin(work func(part int)) {
	t.work = work
	t.busy.Store(int32(len(t.wake)))
	t.turn.Add(1)
	for _, w := range t.wake {
		select {
		case w <- struct{}{}:
		default:
		}
	}
}

func (t *team) serve(worker int) {
	if t.bound {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	for turn := uint32(1); ; turn++ {
		for looked := 0; t.turn.Load() != turn && looked < looks; looked++ {
		}
		for t.turn.Load() != turn {
			<-t.wake[worker]
		}
		work := t.work
		if work != nil {
			work(worker + 1)
		}
		t.busy.Add(-1)
		if work == nil {
			return
		}
	}
}

// close ends the workers. The team must not be used afterwards.
func (t *team) close() { t.begin(nil) }
