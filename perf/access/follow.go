package access

import (
	"slices"

	"presage/perf/cfg"
	"presage/perf/isa"
)

// checkedThread follows the activations of routines in a thread.
type checkedThread struct {
	c     *Checker
	stack []activation
}

// activation is one execution of a routine.
type activation struct {
	routine int
	block   int          // executed last
	loops   []*execution // that it is in, from the outermost in
}

// maxActivations bounds the stack that is remembered.
const maxActivations = 1 << 16

// enter records the execution of a block.
func (t *checkedThread) enter(b *checkedBlock) {
	t.follow(b)
	t.stack[len(t.stack)-1].block = b.block
	t.iterate(b)
}

// follow finds the activation that a block belongs to: the top one, if an edge
// leads to the block from the previous one; a new one, after a call; or a caller,
// after a return. If control came by none of these, as when goroutines switch, it
// discards all activations.
func (t *checkedThread) follow(b *checkedBlock) {
	if n := len(t.stack); n > 0 {
		top := &t.stack[n-1]
		if top.routine == b.routine && t.c.edge(top.routine, top.block, b.block) {
			return
		}
		last := &t.c.analysis.Program.Routines[top.routine].Blocks[top.block]
		entry := t.c.isEntry(b)
		switch {
		case last.Last().Class == isa.Call && entry && n < maxActivations:
			t.stack = append(t.stack, activation{routine: b.routine})
			return
		case (last.Exit == cfg.TailJump || last.Exit == cfg.Unknown) && entry:
			t.pop()
			t.stack = append(t.stack, activation{routine: b.routine})
			return
		}
		for i := n - 2; i >= 0; i-- {
			if a := &t.stack[i]; a.routine == b.routine && t.c.edge(a.routine, a.block, b.block) {
				for len(t.stack) > i+1 {
					t.pop()
				}
				return
			}
		}
	}
	for len(t.stack) > 0 {
		t.pop()
	}
	t.stack = append(t.stack, activation{routine: b.routine})
}

func (c *Checker) isEntry(b *checkedBlock) bool {
	return slices.Contains(c.analysis.Program.Routines[b.routine].Entries, b.block)
}

// edge reports whether control can go from a block to another of the routine.
func (c *Checker) edge(routine, from, to int) bool {
	r := c.analysis.Program.Routines[routine]
	for _, e := range r.Blocks[from].Succs {
		if r.Edges[e].To == to {
			return true
		}
	}
	return false
}

func (t *checkedThread) pop() {
	top := &t.stack[len(t.stack)-1]
	for len(top.loops) > 0 {
		t.leave(top)
	}
	t.stack = t.stack[:len(t.stack)-1]
}

// leave ends the innermost loop.
func (t *checkedThread) leave(a *activation) {
	e := a.loops[len(a.loops)-1]
	a.loops = a.loops[:len(a.loops)-1]
	table := &t.c.loops[a.routine][e.loop]
	table.free = append(table.free, e)
}

// midway is the iteration of a loop that was not entered through its header.
const midway = 1 << 40

// iterate brings the loops of the activation on top up to date.
func (t *checkedThread) iterate(b *checkedBlock) {
	a := &t.stack[len(t.stack)-1]
	keep := 0
	for keep < len(a.loops) && keep < len(b.chain) && a.loops[keep].loop == b.chain[keep] {
		keep++
	}
	for len(a.loops) > keep {
		t.leave(a)
	}
	if keep == len(b.chain) {
		if b.header {
			a.loops[keep-1].iteration++
		}
		return
	}
	for i, l := range b.chain[keep:] {
		e := t.c.loops[a.routine][l].begin(l)
		if keep+i < len(b.chain)-1 || !b.header {
			e.iteration = midway
		}
		a.loops = append(a.loops, e)
	}
}

// begin returns the execution of a loop that begins.
func (t *loopTable) begin(loop int) *execution {
	if n := len(t.free); n > 0 {
		e := t.free[n-1]
		t.free = t.free[:n-1]
		e.epoch++
		e.iteration = 0
		return e
	}
	return &execution{loop: loop, epoch: 1, records: make([]record, t.records), strides: make([]observed, len(t.classes))}
}

// execution is one execution of a loop, from entry to exit.
type execution struct {
	loop      int
	iteration int64
	epoch     uint64 // of its records
	records   []record
	strides   []observed // by class
}

type record struct {
	epoch     uint64
	iteration int64
	addr      uint64
}

type observed struct {
	epoch uint64
	value int64
}

// access checks one execution of a reference, or counts its steps.
func (t *checkedThread) access(ref *checkedRef, addr uint64) {
	loops := t.stack[len(t.stack)-1].loops
	for i := range ref.levels {
		l, e := &ref.levels[i], loops[len(loops)-1-i]
		was := &e.records[l.slot]
		if was.epoch == e.epoch && was.iteration == e.iteration {
			return
		}
		switch {
		case was.epoch != e.epoch:
		case l.steps != nil:
			l.steps.add(int64(addr - was.addr))
		case l.check && was.iteration+1 == e.iteration:
			l.compare(e, int64(addr-was.addr))
		}
		*was = record{e.epoch, e.iteration, addr}
		if e.iteration != 0 {
			return
		}
	}
}

func (l *level) compare(e *execution, difference int64) {
	if l.class < 0 {
		l.count(difference == l.number)
		return
	}
	num, ok := mul(difference, l.scale.den)
	if !ok || num%l.scale.num != 0 {
		l.count(false)
		return
	}
	value := num / l.scale.num
	if s := &e.strides[l.class]; s.epoch != e.epoch {
		*s = observed{e.epoch, value}
	} else {
		l.count(value == s.value)
	}
}

func (l *level) count(agree bool) {
	if agree {
		l.agree++
	} else {
		l.disagree++
	}
}
