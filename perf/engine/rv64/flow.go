package rv64

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"unsafe"

	"presage/perf/trace"
)

// counter identifies a counter of a flow as 1 + its index; 0 means that nothing
// is counted.
type counter int32

// flow counts executions and transfers of control as a plan asks.
//
//	execution   an opCount before the instruction's own op
//	direct      a jump counts before it jumps; each direction of a branch
//	            passes through a counting block: one without instructions
//	            that counts and continues at the target
//	indirect    the table for indirect jumps holds a counting block for each
//	            counted arrival, while direct transfers find the target itself
//	system call counted when the call is made
//
// A transfer is counted before the budget is checked, so that it is counted once
// whether or not a turn ends right after it.
type flow struct {
	plan *trace.FlowPlan
	bias uint64

	counts       []uint64           // of the plan's edges, then its places, then the destinations
	destinations map[uint64]counter // of indirect jumps; 0: quiet
	sites        []jumpSite         // of the plan's jumps
	breaks       map[uint64]*trace.Break
}

// jumpSite counts the destinations of one indirect jump.
type jumpSite struct {
	last  uint64  // the most recent destination
	count *uint64 // of last; nil: nowhere yet
	to    map[uint64]*uint64
}

func newFlow(p *trace.FlowPlan, bias uint64) *flow {
	return &flow{
		plan: p, bias: bias,
		counts:       make([]uint64, len(p.Edges)+len(p.Places)),
		destinations: make(map[uint64]counter),
		sites:        make([]jumpSite, len(p.Jumps)),
		breaks:       make(map[uint64]*trace.Break),
	}
}

// pc converts a guest address to the plan's unbiased address.
func (f *flow) pc(addr uint64) trace.PC { return trace.PC(addr - f.bias) }

// destination returns the counter of arrivals at a guest address, creating it on
// first use; 0 for a quiet place.
func (f *flow) destination(addr uint64) counter {
	n, seen := f.destinations[addr]
	if seen {
		return n
	}
	if _, quiet := slices.BinarySearch(f.plan.Quiet, f.pc(addr)); !quiet {
		f.counts = append(f.counts, 0)
		n = counter(len(f.counts))
	}
	f.destinations[addr] = n
	return n
}

// crossed counts a direct transfer that no counting op covers.
func (f *flow) crossed(from, to uint64) {
	if i, ok := slices.BinarySearchFunc(f.plan.Edges, trace.Edge{From: f.pc(from), To: f.pc(to)}, trace.Edge.Compare); ok {
		f.counts[i]++
	}
}

// jumped counts a transfer by one of the plan's indirect jumps.
func (f *flow) jumped(site uint32, to uint64) {
	s := &f.sites[site]
	if s.count == nil || s.last != to {
		if s.to == nil {
			s.to = make(map[uint64]*uint64)
		}
		s.last, s.count = to, s.to[to]
		if s.count == nil {
			s.count = new(uint64)
			s.to[to] = s.count
		}
	}
	*s.count++
}

func (f *flow) breakAt(addr uint64) *trace.Break {
	b := f.breaks[addr]
	if b == nil {
		b = &trace.Break{PC: f.pc(addr)}
		f.breaks[addr] = b
	}
	return b
}

func (f *flow) result() *trace.Flow {
	edges, all := len(f.plan.Edges), len(f.plan.Edges)+len(f.plan.Places)
	r := &trace.Flow{Edges: slices.Clone(f.counts[:edges]), Places: slices.Clone(f.counts[edges:all])}
	for addr, n := range f.destinations {
		if n != 0 && f.counts[n-1] > 0 {
			r.Arrivals = append(r.Arrivals, trace.Arrival{PC: f.pc(addr), Count: f.counts[n-1]})
		}
	}
	slices.SortFunc(r.Arrivals, func(a, b trace.Arrival) int { return cmp.Compare(a.PC, b.PC) })
	for i, from := range f.plan.Jumps {
		for to, n := range f.sites[i].to {
			r.Jumps = append(r.Jumps, trace.JumpCount{Edge: trace.Edge{From: from, To: f.pc(to)}, Count: *n})
		}
	}
	slices.SortFunc(r.Jumps, func(a, b trace.JumpCount) int { return a.Edge.Compare(b.Edge) })
	for b := range maps.Values(f.breaks) {
		r.Breaks = append(r.Breaks, *b)
	}
	slices.SortFunc(r.Breaks, func(a, b trace.Break) int { return cmp.Compare(a.PC, b.PC) })
	return r
}

// destination returns the counter of arrivals at pc, if they are counted.
func (c *codeCache) destination(pc uint64) counter {
	if c.flow == nil {
		return 0
	}
	n := c.flow.destination(pc)
	c.counts = unsafe.Pointer(unsafe.SliceData(c.flow.counts))
	return n
}

// count counts a transfer that the caller makes.
func (c *codeCache) count(n counter) {
	if n != 0 {
		c.flow.counts[n-1]++
	}
}

// stop ends a slice after a transfer to pc, which it counts.
func (m *machine) stop(t *thread, pc uint64, n counter) exit {
	t.pc = pc
	m.code.count(n)
	return exitBudget
}

// arrived counts an arrival by indirect jump that no counting block covers.
func (c *codeCache) arrived(pc uint64) { c.count(c.destination(pc)) }

// arrival returns the block that an indirect jump to pc enters: a counting block
// if arrivals there are counted.
func (c *codeCache) arrival(pc uint64) *block {
	b := c.lookup(pc)
	if c.flow == nil {
		return b // and it is in the table
	}
	if b.arrival == nil {
		b.arrival = counted(b, c.destination(pc))
	}
	c.jumps[pc>>1&(jumpSlots-1)] = jumpSlot{pc, b.arrival}
	return b.arrival
}

// link returns the block that a direct transfer to pc enters, by way of a counting
// block if n is not 0.
func (c *codeCache) link(pc uint64, n counter) *block { return counted(c.lookup(pc), n) }

// counted returns a block without instructions that counts n and continues at b,
// or b itself if n is 0.
func counted(b *block, n counter) *block {
	if n == 0 {
		return b
	}
	s := &block{pc: b.pc, fallPC: b.pc, fall: b, ops: []op{n.op(opCountNext)}}
	s.first = &s.ops[0]
	return s
}

// op returns op c with n as its counter.
func (n counter) op(c code) op { return op{code: c, imm: int32(n - 1)} }

// place emits the op that counts executions of the current pc, if they are
// planned.
func (g *builder) place() {
	f := g.cache.flow
	if f == nil {
		return
	}
	if i, planned := slices.BinarySearch(f.plan.Places, f.pc(g.pc)); planned {
		g.add(counter(len(f.plan.Edges) + i + 1).op(opCount))
	}
}

// transfers emits the counting of an instruction's transfers, before its op is
// added. For anything but a branch it returns the counter of the fall-through to
// the next instruction.
func (g *builder) transfers(l *lowered, next uint64) counter {
	f := g.cache.flow
	if f == nil {
		return 0
	}
	g.jumpSite(l)
	taken, fall := g.edges(l, next)
	switch {
	case l.branches():
		g.block.takenCount, g.block.fallCount = taken, fall
	case taken != 0:
		g.add(taken.op(opCount))
	case l.op.code == opFenceI && fall != 0:
		g.add(fall.op(opCount))
	case !l.ends:
		return fall
	}
	return 0
}

// nextCounted ends the block at the current pc and counts the fall-through.
func (g *builder) nextCounted(n counter) {
	if g.cache.limit == 1 {
		g.add(n.op(opCount))
		g.next()
		return
	}
	g.add(n.op(opCountNext))
}

// jumpSite makes an indirect jump count its destinations if the plan asks for
// them.
func (g *builder) jumpSite(l *lowered) {
	f := g.cache.flow
	i, planned := slices.BinarySearch(f.plan.Jumps, f.pc(g.pc))
	if !planned {
		return
	}
	if l.op.code != opJalr {
		g.contradiction("plan says indirect jump at pc %#x, but the instruction there is none", uint64(f.pc(g.pc)))
		return
	}
	l.op.code, l.op.tag = opJalrCount, uint32(i)
}

// edges returns the counters of an instruction's transfer to its target and of its
// fall-through.
func (g *builder) edges(l *lowered, next uint64) (taken, fall counter) {
	f := g.cache.flow
	from := f.pc(g.pc)
	i, _ := slices.BinarySearchFunc(f.plan.Edges, trace.Edge{From: from}, trace.Edge.Compare)
	for ; i < len(f.plan.Edges) && f.plan.Edges[i].From == from; i++ {
		to := f.plan.Edges[i].To
		toTarget := (l.branches() || l.jumps()) && to == f.pc(l.target)
		toNext := !l.jumps() && l.op.code != opJalr && l.op.code != opJalrCount && to == f.pc(next)
		if toTarget {
			taken = counter(i + 1)
		}
		if toNext {
			fall = counter(i + 1)
		}
		if !toTarget && !toNext {
			g.contradiction("plan says edge from pc %#x to pc %#x, but the instruction does not lead there", uint64(from), uint64(to))
		}
	}
	return taken, fall
}

// contradiction makes the run fail because the plan does not fit the program.
func (g *builder) contradiction(format string, args ...any) {
	if g.cache.err == nil {
		g.cache.err = fmt.Errorf("rv64: "+format+": was the plan made for this program?", args...)
	}
}

// branches reports whether an instruction is a conditional branch.
func (l *lowered) branches() bool { return l.op.code >= opBeq && l.op.code <= opBgeu }

// jumps reports whether an instruction is a direct jump.
func (l *lowered) jumps() bool { return l.op.code == opJ || l.op.code == opJal }

// entered records a break in the flow: control arrived at a thread's pc other than
// by an instruction.
func (m *machine) entered(t *thread) {
	if f := m.code.flow; f != nil {
		f.breakAt(t.pc).Entered++
		t.lost = false
	}
}

// left records a break in the flow: control left a thread's pc without executing
// the instruction there.
func (m *machine) left(t *thread) {
	if f := m.code.flow; f != nil && !t.lost {
		f.breakAt(t.pc).Left++
		t.lost = true
	}
}

// broke records a break in the flow: a thread executed pc, and control does not
// continue from there.
func (m *machine) broke(t *thread, pc uint64) {
	if f := m.code.flow; f != nil && !t.lost {
		f.breakAt(pc).Broke++
		t.lost = true
	}
}

// enterAll records every thread as entering at its pc when counting begins;
// leaveAll records every thread as leaving when counting ends. This conserves
// flow in a window too.
func (m *machine) enterAll() {
	for _, t := range m.threads {
		m.entered(t)
	}
}

func (m *machine) leaveAll() {
	for _, t := range m.threads {
		m.left(t)
	}
}

// countSyscall counts the transfer from a thread's system call to the next
// instruction, unless the call does not return there.
func (m *machine) countSyscall(t *thread, number uint64) {
	const ecallBytes = 4
	f := m.code.flow
	if f == nil {
		return
	}
	switch number {
	case callExit, callExitGroup, callSigreturn:
		m.broke(t, t.pc-ecallBytes)
	default:
		f.crossed(t.pc-ecallBytes, t.pc)
	}
}
