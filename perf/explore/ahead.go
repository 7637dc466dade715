package explore

import (
	"context"
	"slices"
	"sync"
	"time"

	"presage/perf/machine"
)

// pause is how long no page must have asked for anything before a model is fitted ahead.
const pause = 500 * time.Millisecond

// ahead fits the models that another machine or level of the menus would ask for, while
// someone looks at what is shown: there is one for each block size, and a first fit of a
// large program takes half a second.
type ahead struct {
	mu     sync.Mutex
	of     modelKey           // of the last state that was asked for, with block 0
	cancel context.CancelFunc // of its models; nil: none are fitted yet
	work   sync.WaitGroup
}

// asked ends what is fitted ahead of states that differ from st in more than the block
// size.
func (a *ahead) asked(st *State) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == st.modelOf(0) {
		return
	}
	a.of = st.modelOf(0)
	if a.cancel != nil {
		a.cancel()
		a.cancel = nil
	}
}

// fitAhead begins to fit the models for all block sizes of the menus, those of the
// state's machine first, unless that was begun or another state has been asked for. It
// ends with ctx.
func (h *server) fitAhead(ctx context.Context, st State) {
	a := &h.ahead
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.cancel != nil || a.of != st.modelOf(0) {
		return
	}
	ctx, a.cancel = context.WithCancel(ctx)
	a.work.Go(func() {
		for _, block := range h.menuBlocks(st.Machine) {
			if !h.quiet(ctx) {
				return
			}
			_, _ = h.model(ctx, &st, block) // an error is told when the model is asked for
		}
	})
}

// menuBlocks returns the block sizes of all machines in the menu, those of one first.
func (s *Session) menuBlocks(first string) []uint64 {
	var blocks []uint64
	for _, m := range append([]*machine.Machine{s.machine(first)}, s.machines...) {
		for _, l := range s.levels(m) {
			if !slices.Contains(blocks, l.BlockBytes) {
				blocks = append(blocks, l.BlockBytes)
			}
		}
	}
	return blocks
}

// quiet waits until no page has asked for anything for a pause. It returns false if the
// context ended before.
func (h *server) quiet(ctx context.Context) bool {
	for {
		_, at := h.last()
		left := pause - time.Since(at)
		if left <= 0 {
			return ctx.Err() == nil
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(left):
		}
	}
}
