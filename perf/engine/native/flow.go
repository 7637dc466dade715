//go:build linux && amd64

package native

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"presage/perf/trace"
)

// flow counts executions and transfers of control as a plan asks, from the records
// of blocks: how often each was executed, and where control went from it. The
// counts of edges and places follow from these when the run has ended.
type flow struct {
	plan    *trace.FlowPlan
	blocks  []tally // by id
	from    *block  // the last block, until it is known where control went; nil: nowhere
	threads map[int32]*block
	breaks  map[trace.PC]*trace.Break
}

// tally counts executions of a block.
type tally struct {
	block    *block
	executed uint64
	taken    uint64         // its conditional branch was taken
	fell     uint64         // its conditional branch, or system call, continued behind it
	partly   []uint64       // by n: only the first n instructions were executed
	faults   map[int]uint64 // by n: instruction n began, and faulted
	last     trace.PC       // the last destination of its indirect transfer
	count    *uint64        // of last
	to       map[trace.PC]*uint64
}

func newFlow(p *trace.FlowPlan) *flow {
	return &flow{plan: p, threads: make(map[int32]*block), breaks: make(map[trace.PC]*trace.Break)}
}

func (f *flow) tally(b *block) *tally {
	for int(b.id) >= len(f.blocks) {
		f.blocks = append(f.blocks, tally{})
	}
	t := &f.blocks[b.id]
	t.block = b
	return t
}

// block counts an execution of b.
func (f *flow) block(b *block) {
	if f.from != nil {
		f.went(b.planPC)
	}
	f.tally(b).executed++
	f.from = b
}

// again counts n more executions of the block b after one: it branched to itself
// each time.
func (f *flow) again(b *block, n uint64) {
	t := f.tally(b)
	t.executed += n
	t.taken += n
}

// went notes that control went from the last block to pc.
func (f *flow) went(pc trace.PC) {
	b := f.from
	f.from = nil
	if b == nil {
		return
	}
	t := f.tally(b)
	switch b.last {
	case branch:
		if pc == b.targetPC {
			t.taken++
		} else {
			t.fell++
		}
	case systemCall:
		t.fell++
	case ret, jumpVia, callVia:
		t.jumped(pc)
	}
}

func (t *tally) jumped(pc trace.PC) {
	if t.count == nil || t.last != pc {
		if t.to == nil {
			t.to = make(map[trace.PC]*uint64)
		}
		t.last, t.count = pc, t.to[pc]
		if t.count == nil {
			t.count = new(uint64)
			t.to[pc] = t.count
		}
	}
	*t.count++
}

// cut counts an execution of the first n instructions of b, after which the next
// one may have faulted.
func (f *flow) cut(b *block, n int, faulted bool) {
	if f.from != nil {
		f.went(b.planPC)
	}
	t := f.tally(b)
	if t.partly == nil {
		t.partly = make([]uint64, b.instructions+1)
	}
	t.partly[n]++
	if faulted {
		if t.faults == nil {
			t.faults = make(map[int]uint64)
		}
		t.faults[n]++
	}
}

// switchTo makes thread to the one whose blocks follow.
func (f *flow) switchTo(from, to int32) {
	f.threads[from] = f.from
	f.from = f.threads[to]
}

func (f *flow) at(pc trace.PC) *trace.Break {
	b := f.breaks[pc]
	if b == nil {
		b = &trace.Break{PC: pc}
		f.breaks[pc] = b
	}
	return b
}

// changed counts a change in the flow of control of a thread.
func (f *flow) changed(e *event) {
	from := f.from
	if !e.current {
		f.from = f.threads[e.thread]
	}
	switch e.kind {
	case entered:
		f.from = nil
		f.at(e.pc).Entered++
	case left:
		f.went(e.pc)
		f.at(e.pc).Left++
	case broke:
		f.from = nil
		f.at(e.pc).Broke++
	}
	if !e.current {
		f.threads[e.thread] = f.from
		f.from = from
	}
}

// event is a change in the flow of control other than by an instruction.
type event struct {
	kind    eventKind
	pc      trace.PC
	thread  int32
	current bool // it is the thread whose blocks precede
}

type eventKind uint8

const (
	entered eventKind = iota
	left
	broke
)

// position is an instruction in a block.
type position struct {
	*tally
	index int
}

// positions returns where the plan's instructions are in the executed blocks.
func (f *flow) positions() map[trace.PC][]position {
	at := make(map[trace.PC][]position)
	for _, e := range f.plan.Edges {
		at[e.From] = nil
	}
	for _, pc := range f.plan.Places {
		at[pc] = nil
	}
	for i := range f.blocks {
		t := &f.blocks[i]
		if t.block == nil {
			continue
		}
		for k, start := range t.block.starts {
			pc := t.block.planPC + trace.PC(start)
			if list, wanted := at[pc]; wanted {
				at[pc] = append(list, position{t, k})
			}
		}
	}
	return at
}

// result returns the counts.
func (f *flow) result() (*trace.Flow, error) {
	at := f.positions()
	r := &trace.Flow{Edges: make([]uint64, len(f.plan.Edges)), Places: make([]uint64, len(f.plan.Places))}
	for i, e := range f.plan.Edges {
		for _, p := range at[e.From] {
			n, ok := p.edge(e.To)
			if !ok {
				return nil, fmt.Errorf("native: plan says edge from pc %#x to pc %#x, but the instruction does not lead there: was the plan made for this program?",
					uint64(e.From), uint64(e.To))
			}
			r.Edges[i] += n
		}
	}
	for i, pc := range f.plan.Places {
		for _, p := range at[pc] {
			r.Places[i] += p.executions()
		}
	}
	f.indirect(r)
	for b := range maps.Values(f.breaks) {
		r.Breaks = append(r.Breaks, *b)
	}
	slices.SortFunc(r.Breaks, func(a, b trace.Break) int { return cmp.Compare(a.PC, b.PC) })
	return r, nil
}

// executions returns how often the instruction was executed.
func (p position) executions() uint64 {
	n := p.executed
	for k, count := range p.partly {
		if k > p.index {
			n += count
		}
	}
	return n + p.faults[p.index]
}

// edge returns how often control went from the instruction to to; false if it
// cannot.
func (p position) edge(to trace.PC) (uint64, bool) {
	b := p.block
	if p.index < len(b.starts)-1 {
		n := p.executed
		for k, count := range p.partly {
			if k > p.index {
				n += count
			}
		}
		return n, to == b.planPC+trace.PC(b.starts[p.index+1])
	}
	next := b.planPC + trace.PC(b.end-b.pc)
	switch b.last {
	case plain, special:
		return p.executed, to == next
	case systemCall:
		return p.fell, to == next
	case branch:
		if to == b.targetPC {
			return p.taken, true
		}
		return p.fell, to == next
	case jump, call:
		return p.executed, to == b.targetPC
	}
	return 0, false
}

// indirect fills in the counts of indirect transfers.
func (f *flow) indirect(r *trace.Flow) {
	arrivals := make(map[trace.PC]uint64)
	jumps := make(map[trace.Edge]uint64)
	for i := range f.blocks {
		t := &f.blocks[i]
		for pc, n := range t.to {
			from := t.block.planPC + trace.PC(t.block.final-t.block.pc)
			if _, planned := slices.BinarySearch(f.plan.Jumps, from); planned {
				jumps[trace.Edge{From: from, To: pc}] += *n
			} else if _, quiet := slices.BinarySearch(f.plan.Quiet, pc); !quiet {
				arrivals[pc] += *n
			}
		}
	}
	for pc, n := range arrivals {
		r.Arrivals = append(r.Arrivals, trace.Arrival{PC: pc, Count: n})
	}
	slices.SortFunc(r.Arrivals, func(a, b trace.Arrival) int { return cmp.Compare(a.PC, b.PC) })
	for e, n := range jumps {
		r.Jumps = append(r.Jumps, trace.JumpCount{Edge: e, Count: n})
	}
	slices.SortFunc(r.Jumps, func(a, b trace.JumpCount) int { return a.Edge.Compare(b.Edge) })
}
