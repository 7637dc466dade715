package reuse

import (
	"fmt"

	"presage/perf/trace"
)

// flow follows control through the loops and routines of a Nest.
type flow struct {
	nest  *Nest
	steps []step // by trace.BlockID

	control
	others  map[int32]control // of threads that are not running
	waiting []control         // those that are in loops
	thread  int32
}

// step is what following control to a block mostly takes.
type step struct {
	context uint32 // number of the block's routine and loops
	refs    uint32
	entry   bool
	header  bool
	single  bool // executed twice in a row, it is two iterations of a loop
}

// control is the state of a thread.
type control struct {
	active  []activation // the innermost last; the first is of no loop
	frames  []frame
	context uint32 // of the latest block; 0: none

	inherited int // of active, those that a chunk of a run began in: see carrierPart
}

// activation is a loop being executed.
type activation struct {
	loop      int32
	execution uint32 // distinct blocks accessed since it was entered
	iteration uint32 // distinct blocks accessed in its current iteration; at most execution
}

// outermost contains all accesses, in one iteration.
var outermost = activation{NoLoop, never, never}

// frame is a routine being executed.
type frame struct {
	routine int32
	loops   int // activations below its own
}

// maxFrames bounds the frames of a thread: where calls come from code without
// planned blocks, they look like recursion.
const maxFrames = 1 << 16

func newControl() control { return control{active: []activation{outermost}} }

func newFlow(plan *trace.Plan, nest *Nest) flow {
	return flow{nest: nest, steps: stepsOf(plan, nest), control: newControl(), others: make(map[int32]control)}
}

// stepsOf numbers the contexts of blocks from 1.
func stepsOf(plan *trace.Plan, nest *Nest) []step {
	steps := make([]step, len(plan.Blocks))
	contexts := make(map[string]uint32)
	for i := range steps {
		p := &nest.Places[i]
		name := fmt.Sprint(p.Routine, p.Loops)
		context, ok := contexts[name]
		if !ok {
			context = uint32(len(contexts) + 1)
			contexts[name] = context
		}
		header := p.Header && len(p.Loops) > 0
		steps[i] = step{context, plan.Blocks[i].Refs, p.Entry, header, header && !p.Entry && plan.Blocks[i].Refs > 0}
	}
	return steps
}

// switchTo makes another thread the current one. The loops of those that wait go on
// counting the blocks accessed.
func (c *flow) switchTo(id int32) {
	c.others[c.thread] = c.control
	next, ok := c.others[id]
	if !ok {
		next = newControl()
	}
	delete(c.others, id)
	c.thread, c.control = id, next
	c.wait()
}

// wait lists the threads that wait in loops.
func (c *flow) wait() {
	c.waiting = c.waiting[:0]
	for _, o := range c.others {
		if len(o.active) > 1 {
			c.waiting = append(c.waiting, o)
		}
	}
}

// enter follows control to a block.
func (c *flow) enter(p *Place) {
	top := c.call(p)
	own := c.active[top:]
	n := 0
	for n < len(own) && n < len(p.Loops) && own[n].loop == p.Loops[n] {
		n++
	}
	if n == len(p.Loops) && n > 0 && p.Header {
		own[n-1].iteration = 0
	}
	c.leave(top + n)
	for _, loop := range p.Loops[n:] {
		c.active = append(c.active, activation{loop: loop})
	}
}

// call makes the frame of p's routine the last one, and returns the number of
// activations below its own.
func (c *flow) call(p *Place) int {
	if n := len(c.frames); n > 0 && c.frames[n-1].routine == p.Routine {
		at := c.frames[n-1].loops
		depth := len(p.Loops)
		again := p.Header && depth > 0 && len(c.active)-at >= depth && c.active[at+depth-1].loop == p.Loops[depth-1]
		if !p.Entry || again {
			return at
		}
	}
	if !p.Entry {
		for n := len(c.frames) - 1; n >= 0; n-- {
			if c.frames[n].routine == p.Routine {
				c.frames = c.frames[:n+1]
				return c.frames[n].loops
			}
		}
		c.forget() // control came from elsewhere
	}
	if len(c.frames) == maxFrames {
		c.forget()
	}
	c.frames = append(c.frames, frame{p.Routine, len(c.active)})
	return len(c.active)
}

// forget leaves all routines.
func (c *flow) forget() {
	c.frames = c.frames[:0]
	c.leave(1)
}

// leave leaves all but the outer n activations.
func (c *flow) leave(n int) {
	c.active = c.active[:n]
	c.inherited = min(c.inherited, n)
}

// follow follows control through a batch, and counts nothing.
func (c *flow) follow(b *trace.Batch) {
	if b.Thread != c.thread {
		c.switchTo(b.Thread)
	}
	for _, id := range b.Blocks {
		s := &c.steps[id]
		if s.context != c.context || s.entry {
			c.enter(&c.nest.Places[id])
			c.context = s.context
		}
	}
}
