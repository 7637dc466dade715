package rv64

import "presage/perf/trace"

// Calls of allocators are hooks: a block that holds nothing but an opHook stands in front
// of the code there, and of the code to which such a call returns. Places of return are
// hooked once an allocator has been called from them.

// giving is a call of an allocator that has not returned.
type giving struct {
	active bool
	role   trace.Role
	pc     trace.PC // the plan's
	sp     uint64
	back   uint64 // the return address
	args   [3]uint64
}

// hookAllocators sets hooks where the plan has allocators.
func (m *machine) hookAllocators(plan *trace.Plan) {
	if plan == nil || plan.Memory == nil {
		return
	}
	m.allocators = make(map[uint64]trace.Allocator)
	for _, c := range m.codes {
		c.hooks = make(map[uint64]bool)
	}
	for _, a := range plan.Memory.Allocators {
		pc := uint64(a.PC) + Bias(m.file)
		m.allocators[pc] = a
		m.hook(pc)
	}
}

func (m *machine) hook(pc uint64) {
	for _, c := range m.codes {
		c.hooks[pc] = true
	}
}

// hooked handles a hook, at the thread's pc.
func (m *machine) hooked(t *thread) {
	t.passed = t.pc
	g, sp := &t.giving, t.x[regSP]
	if g.active && t.pc == g.back && sp == g.sp {
		g.active = false
		m.gave(g, t.x[regA0])
		return
	}
	a, ok := m.allocators[t.pc]
	if !ok || g.active && sp <= g.sp { // from within another
		return
	}
	*g = giving{active: true, role: a.Role, pc: a.PC, sp: sp, back: t.x[regRA], args: [3]uint64(t.x[regA0 : regA2+1])}
	switch {
	case g.role == trace.Free && g.args[0] != 0:
		m.tell(trace.Change{Kind: trace.Freed, Addr: g.args[0]})
	case g.role == trace.Munmap && g.args[0]%pageBytes == 0 && g.args[1] > 0:
		m.tell(trace.Change{Kind: trace.Unmapped, Addr: g.args[0], Size: pageUp(g.args[1])})
	}
	if !m.code.hooks[g.back] {
		m.hook(g.back)
		m.flushCode()
	}
}

// begin returns the block at the thread's pc: what is behind a hook that it has passed.
func (m *machine) begin(t *thread) *block {
	b := m.code.lookup(t.pc)
	if b.behind != nil && t.passed == t.pc {
		b, t.passed = b.behind, 0
	}
	return b
}

// gave tells what a call gave whose result is given.
func (m *machine) gave(g *giving, result uint64) {
	if g.role == trace.Free || g.role == trace.Munmap {
		return
	}
	size, old := g.role.Asks(g.args)
	if g.role == trace.PosixMemalign {
		at, ok := m.mem.load64(g.args[0])
		if result != 0 || !ok {
			return
		}
		result = at
	}
	if int64(result) < 0 { // mmap and mremap
		return
	}
	switch {
	case g.role == trace.Mremap:
		m.tell(trace.Change{Kind: trace.Unmapped, Addr: old, Size: pageUp(g.args[1])})
	case old != 0 && (result != 0 || size == 0):
		m.tell(trace.Change{Kind: trace.Freed, Addr: old})
	}
	if result != 0 {
		m.tell(trace.Change{Kind: trace.Allocated, Addr: result, Size: size, PC: g.pc, Role: g.role, Callers: []trace.PC{trace.PC(g.back - Bias(m.file))}})
	}
}

// tell adds a change to what comes before the next event.
func (m *machine) tell(c trace.Change) {
	if m.batch == nil {
		return
	}
	m.flush(m.executed())
	m.batch.Changes = append(m.batch.Changes, c)
}

// tellRest passes changes on that nothing follows.
func (m *machine) tellRest() {
	if m.batch != nil && len(m.batch.Changes) > 0 {
		m.batch.Accesses, m.batch.Blocks = m.batch.Accesses[:0], m.batch.Blocks[:0]
		m.counted.Batches++
		m.batch = m.opt.Sink.Exchange(m.batch)
	}
}
