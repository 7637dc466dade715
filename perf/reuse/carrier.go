package reuse

import (
	"cmp"
	"fmt"
	"slices"

	"presage/perf/trace"
)

// Nest says in which loops the blocks of a plan are, for Options.Nest.
type Nest struct {
	Places []Place // by trace.BlockID
}

// Place is where a basic block stands in the program.
type Place struct {
	Routine int32 // any number that tells routines apart

	// Entry marks the first block of a routine: executing it is a call, unless it
	// continues a loop that it heads.
	Entry bool

	// Loops are the loops around the block, the outermost first, as numbers from
	// 0 that are unique in the program.
	Loops []int32

	// Header marks the block that begins each iteration of the last of Loops.
	Header bool
}

// NoLoop is the Loop of a Carried whose reuses no loop contains.
const NoLoop = -1

// Carried is the part of a group's reuses that one loop carries. The loop is the
// innermost one whose current execution, from entry to exit, contains both
// accesses; loops of calling routines are around those of the routines that they
// call.
type Carried struct {
	Group trace.GroupID
	Loop  int32 // NoLoop if the accesses are in no common execution of a loop

	// Crosses is true if the accesses are in different iterations of Loop, and
	// false if both are in one, outside all common executions of inner loops.
	Crosses bool

	Histogram // Cold is 0
}

// carriers finds the carrier of each reuse from its distance d alone: the block
// was accessed since a loop was entered exactly if d is less than the number of
// distinct blocks accessed since, as these include the block itself if so, and
// are all accessed after it if not. An access with d of at least that number is
// to a block that is new to the loop's execution, which counts it then. The same
// holds for the current iteration (derived here). So a loop needs two counters and
// a block none, and most accesses look at the innermost loop only.
//
// Calls and returns are told by the blocks executed. A return to the same
// routine, from recursion, is not noticed: until control returns to another one,
// loops that were active before the call do not count as active.
type carriers struct {
	*stack
	plan   *trace.Plan
	nest   *Nest
	active []activation // of the current thread, the innermost last
	frames []frame
	others map[int32]thread // threads that are not running
	thread int32

	index  map[carriedKey]uint32 // → place in keys, from 1
	keys   []carriedKey
	recent []placedKey // of the latest reuse of each group
	found  counts

	expanded trace.Batch // one with runs
}

type carriedKey struct {
	group   uint32
	loop    int32
	crosses bool
}

type placedKey struct {
	key carriedKey
	at  uint32 // 0: none
}

// activation is a loop being executed.
type activation struct {
	loop      int32
	execution uint32 // distinct blocks accessed since it was entered
	iteration uint32 // distinct blocks accessed in its current iteration; at most execution
}

// frame is a routine being executed.
type frame struct {
	routine int32
	loops   int // activations of its callers
}

// thread is the control of a thread of the program. Its loops see the accesses of
// the others only while it runs: see switchTo.
type thread struct {
	active []activation
	frames []frame
}

func newCarriers(l layout, plan *trace.Plan, nest *Nest, window int) (*carriers, error) {
	if len(nest.Places) != len(plan.Blocks) {
		return nil, fmt.Errorf("reuse: Nest has %d places for the plan's %d blocks", len(nest.Places), len(plan.Blocks))
	}
	if len(plan.Blocks) == 0 {
		return nil, fmt.Errorf("reuse: Nest needs a plan that records blocks")
	}
	return &carriers{
		stack: newStack(l, window), plan: plan, nest: nest,
		index: make(map[carriedKey]uint32), found: newCounts(0), recent: make([]placedKey, l.groups),
	}, nil
}

func (c *carriers) observe(b *trace.Batch) {
	if b.Thread != c.thread {
		c.switchTo(b.Thread)
	}
	if len(b.Runs) > 0 {
		b.Expand(&c.expanded)
		b = &c.expanded
	}
	c.openDesk()
	for id, accesses := range b.ByBlock(c.plan) {
		c.enter(&c.nest.Places[id])
		for _, a := range accesses {
			group := c.groupOf[a.Ref()]
			for block, last := a.Addr()>>c.shift, a.Last()>>c.shift; block <= last; block++ {
				c.access(block, group)
			}
		}
	}
}

// switchTo makes another thread the current one. Loops that were suspended do not
// know how many distinct blocks were accessed meanwhile, so they begin anew:
// what is reused across a switch has no carrier of its thread.
func (c *carriers) switchTo(id int32) {
	if c.others == nil {
		c.others = make(map[int32]thread)
	}
	for i := range c.active {
		c.active[i].execution, c.active[i].iteration = 0, 0
	}
	c.others[c.thread] = thread{c.active, c.frames}
	t := c.others[id]
	c.thread, c.active, c.frames = id, t.active, t.frames
}

// enter follows control to a block.
func (c *carriers) enter(p *Place) {
	top := c.call(p)
	own := c.active[top:]
	n := 0
	for n < len(own) && n < len(p.Loops) && own[n].loop == p.Loops[n] {
		n++
	}
	if n == len(p.Loops) && n > 0 && p.Header {
		own[n-1].iteration = 0
	}
	c.active = c.active[:top+n]
	for _, loop := range p.Loops[n:] {
		c.active = append(c.active, activation{loop: loop})
	}
}

// call makes the frame of p's routine the last one, and returns the number of
// activations below it.
func (c *carriers) call(p *Place) int {
	if n := len(c.frames); n > 0 && c.frames[n-1].routine == p.Routine {
		at := c.frames[n-1].loops
		depth := len(p.Loops)
		again := p.Header && len(c.active)-at >= depth && c.active[at+depth-1].loop == p.Loops[depth-1]
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
		c.frames, c.active = c.frames[:0], c.active[:0] // control came from elsewhere
	}
	c.frames = append(c.frames, frame{p.Routine, len(c.active)})
	return len(c.active)
}

// access accesses a block.
func (c *carriers) access(block uint64, group uint32) {
	c.clearDesk(1)
	_, d, cold := c.visit(block, group)
	c.accesses++
	if cold {
		for i := range c.active {
			c.active[i].execution++
			c.active[i].iteration++
		}
		return
	}
	c.counts.addMany(group, d, 1)
	key := carriedKey{group: group, loop: NoLoop}
	for i := len(c.active) - 1; i >= 0; i-- {
		a := &c.active[i]
		if d < a.execution {
			key.loop, key.crosses = a.loop, d >= a.iteration
			if key.crosses {
				a.iteration++
			}
			break
		}
		a.execution++
		a.iteration++
	}
	recent := &c.recent[group]
	if recent.key != key || recent.at == 0 {
		recent.key, recent.at = key, c.place(key)
	}
	c.found.addMany(recent.at-1, d, 1)
}

// place returns the number of a key, from 1.
func (c *carriers) place(key carriedKey) uint32 {
	at, ok := c.index[key]
	if !ok {
		c.keys = append(c.keys, key)
		c.found.grow(1)
		at = uint32(len(c.keys))
		c.index[key] = at
	}
	return at
}

func (c *carriers) result() *Result {
	r := c.stack.result()
	for i, key := range c.keys {
		r.Carried = append(r.Carried, Carried{trace.GroupID(key.group), key.loop, key.crosses, c.found.histogram(i)})
	}
	slices.SortFunc(r.Carried, func(a, b Carried) int {
		if by := cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Loop, b.Loop)); by != 0 || a.Crosses == b.Crosses {
			return by
		}
		if b.Crosses {
			return -1
		}
		return 1
	})
	return r
}
