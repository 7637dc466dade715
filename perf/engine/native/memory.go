//go:build linux && amd64

package native

import (
	"cmp"
	"encoding/binary"
	"slices"

	"presage/perf/objfile"
	"presage/perf/trace"
)

// What memory is for is told by stops: at the first instruction of a routine that gives
// or takes memory, and where it returns to.
//
//	call malloc ─▶ stop: arguments, callers
//	               malloc's own code
//	stop ◀──────── ret
//	result: the address
//
// A routine is entered by a block that is nothing but a stop; behind it follows the
// block that is executed. A return is an indirect jump, and where a routine was called
// from, indirect jumps to the return address lead to a stop, too; direct ones do not.

// giving is a call of an allocator that has not returned.
type giving struct {
	active  bool
	role    trace.Role
	pc      trace.PC
	sp      uint64 // where the return address lies
	back    uint64 // the return address
	args    [3]uint64
	callers []trace.PC

	// The last entry, which a fault in the first instruction repeats.
	at, atSP, atCount uint64
}

// allocatorAt returns the allocator whose first instruction is at an address.
func (m *machine) allocatorAt(pc uint64) (trace.Allocator, bool) {
	if m.plan.Memory == nil || len(m.plan.Memory.Allocators) == 0 {
		return trace.Allocator{}, false
	}
	list := m.plan.Memory.Allocators
	at := m.maps.planPC(pc)
	i, found := slices.BinarySearchFunc(list, at, func(a trace.Allocator, pc trace.PC) int { return cmp.Compare(a.PC, pc) })
	if !found {
		return trace.Allocator{}, false
	}
	return list[i], true
}

// watches reports whether a block is a stop that tells of memory.
func (m *machine) watches(k key) bool {
	if k.back {
		return true
	}
	_, allocator := m.allocatorAt(k.pc)
	return allocator && !k.past
}

// watch makes b such a stop.
func (m *machine) watch(b *block, k key) {
	h := &b.zone.hot
	m.stops[h.addr()] = &stop{kind: stopMemory, pc: b.pc, target: k}
	h.b(0xcc)
	b.hi = h.addr()
}

// arrival returns the key of the block that an indirect jump to pc leads to.
func (m *machine) arrival(pc uint64) key { return key{pc: pc, back: m.returns[pc]} }

// memoryStop handles a stop that tells of memory.
func (m *machine) memoryStop(t *thread, k key) error {
	t.parked, t.resumeAt = true, key{pc: k.pc, flows: k.flows, slow: k.slow, past: true}
	if k.back {
		m.gave(t, k.pc)
		// Where a routine returns to another may begin.
		t.resumeAt.past = false
		return nil
	}
	return m.asked(t, k.pc)
}

// asked handles a call of the allocator at pc.
func (m *machine) asked(t *thread, pc uint64) error {
	a, ok := m.allocatorAt(pc)
	if !ok {
		return nil
	}
	r, g, now := &t.regs, &t.giving, m.now()
	if g.at == pc && g.atSP == r.Rsp && g.atCount == now {
		return nil
	}
	if g.active && m.within(t, a.PC) {
		return nil
	}
	back, ok := t.word(r.Rsp)
	if !ok {
		return nil // the call itself has failed
	}
	*g = giving{role: a.Role, pc: a.PC, sp: r.Rsp, back: back, args: [3]uint64{r.Rdi, r.Rsi, r.Rdx}, at: pc, atSP: r.Rsp, atCount: now}
	switch a.Role {
	case trace.Free:
		if r.Rdi != 0 {
			m.tell(trace.Change{Kind: trace.Freed, Addr: m.maps.chunks.synthetic(r.Rdi)})
		}
		return nil
	case trace.Munmap:
		if unmaps(r.Rdi, r.Rsi) {
			m.tellPieces(trace.Change{Kind: trace.Unmapped}, r.Rdi, pageUp(r.Rsi))
		}
		return nil
	}
	g.active, g.callers = true, m.callers(t)
	if m.returns == nil {
		m.returns = make(map[uint64]bool)
	}
	m.returns[back] = true
	return nil
}

// unmaps reports whether munmap succeeds with these arguments. It is told before it
// executes, as another thread may map the same addresses before it returns.
func unmaps(addr, size uint64) bool {
	const limit = 1<<47 - pageBytes // TASK_SIZE
	return addr%pageBytes == 0 && size > 0 && addr <= limit && size <= limit-addr
}

// awaitReturn makes the return of a call of an allocator a stop.
func (m *machine) awaitReturn(t *thread) error {
	k := m.arrival(t.giving.back)
	if m.cache.blocks[k] != nil {
		return nil
	}
	b, err := m.translated(k)
	if err != nil {
		return err
	}
	m.viaEntry(b)
	return nil
}

// gave handles the return of an allocator to pc.
func (m *machine) gave(t *thread, pc uint64) {
	g, result := &t.giving, t.regs.Rax
	if !g.active || g.back != pc || t.regs.Rsp < g.sp+8 {
		return // another routine that was called there
	}
	g.active = false
	if t.regs.Rsp != g.sp+8 {
		return
	}
	size, old := g.args[0], uint64(0)
	switch g.role {
	case trace.Calloc:
		size = g.args[0] * g.args[1]
	case trace.Realloc:
		size, old = g.args[1], g.args[0]
	case trace.ReallocArray:
		size, old = g.args[1]*g.args[2], g.args[0]
	case trace.AlignedAlloc:
		size = g.args[1]
	case trace.PosixMemalign:
		at, ok := t.word(g.args[0])
		if result != 0 || !ok {
			return
		}
		size, result = g.args[2], at
	case trace.Mmap:
		size = pageUp(g.args[1])
	case trace.Mremap:
		size = pageUp(g.args[2])
	}
	if isError(result) { // mmap and mremap
		return
	}
	switch {
	case g.role == trace.Mremap:
		m.tellPieces(trace.Change{Kind: trace.Unmapped}, g.args[0], pageUp(g.args[1]))
	case old != 0 && (result != 0 || size == 0):
		m.tell(trace.Change{Kind: trace.Freed, Addr: m.maps.chunks.synthetic(old)})
	}
	if result != 0 {
		m.tellPieces(trace.Change{Kind: trace.Allocated, PC: g.pc, Role: g.role, Callers: g.callers}, result, size)
	}
}

// tell passes changes to the reader, behind what the running thread, which is parked,
// has recorded.
func (m *machine) tell(changes ...trace.Change) {
	if m.place.buffer >= 0 && m.place.limit != 0 {
		m.sendNow()
	}
	m.full <- segment{thread: m.current.index, count: m.now(), boundary: true, changes: changes}
}

// tellPieces tells a change of a range of the program's addresses.
func (m *machine) tellPieces(c trace.Change, lo, size uint64) {
	var list []trace.Change
	for {
		n := m.maps.chunks.together(lo, size)
		c.Addr, c.Size, c.More = m.maps.chunks.synthetic(lo), n, len(list) > 0
		list = append(list, c)
		if lo, size = lo+n, size-n; size == 0 {
			break
		}
	}
	m.tell(list...)
}

// together returns how many of size bytes at an address lie together in the trace,
// too.
func (c *chunkTable) together(addr, size uint64) uint64 {
	at := addr >> chunkBits
	n := (at+1)<<chunkBits - addr
	for next := at + 1; n < size && next < uint64(len(c)) && c[next].mapped && c[next].add == c[at].add; next++ {
		n += 1 << chunkBits
	}
	return min(n, size)
}

// tellStart tells what memory is for when the program starts.
func (m *machine) tellStart() error {
	if m.plan.Memory == nil {
		return nil
	}
	list, err := readMaps(m.child.pid)
	if err != nil {
		return err
	}
	for _, v := range list {
		if v.path == "[stack]" {
			const room = 8 << 20 // it grows
			lo := max(v.hi-room, v.hi&^(1<<chunkBits-1))
			m.tell(trace.Change{Kind: trace.Stacked, Addr: m.maps.chunks.synthetic(lo), Size: v.hi - lo})
		}
	}
	m.tellLoaded()
	return nil
}

// tellLoaded tells of modules that it has not told of.
func (m *machine) tellLoaded() {
	if m.plan.Memory == nil {
		return
	}
	for _, mod := range m.maps.modules {
		if mod.told || mod.anonymous {
			continue
		}
		mod.told = true
		m.tell(trace.Change{
			Kind: trace.Loaded, Addr: m.maps.chunks.synthetic(mod.lo), Size: m.maps.chunks.together(mod.lo, moduleStride),
			PC: mod.base + trace.PC(mod.lo-mod.bias),
		})
	}
}

// unwinder goes from a routine to its callers by call frame information.
type unwinder struct {
	m     *machine
	t     *thread
	r     [17]uint64 // by DWARF's numbers; the last is the return address
	stack []byte     // what is there from low on
	low   uint64
}

// DWARF's numbers of registers.
const (
	dwarfRSP    = 7
	dwarfReturn = 16
)

// unwind returns an unwinder at the first instruction of a routine.
func (m *machine) unwind(t *thread) *unwinder {
	const most = 2 << 10
	u := &unwinder{m: m, t: t, low: t.regs.Rsp}
	r := &t.regs
	u.r = [17]uint64{r.Rax, r.Rdx, r.Rcx, r.Rbx, r.Rsi, r.Rdi, r.Rbp, r.Rsp + 8, r.R8, r.R9, r.R10, r.R11, r.R12, r.R13, r.R14, r.R15}
	u.stack = make([]byte, most)
	u.stack = u.stack[:t.read(u.low, u.stack)]
	u.r[dwarfReturn], _ = u.word(r.Rsp)
	return u
}

func (u *unwinder) word(addr uint64) (uint64, bool) {
	if off := addr - u.low; addr >= u.low && off+8 <= uint64(len(u.stack)) {
		return binary.LittleEndian.Uint64(u.stack[off:]), true
	}
	return u.t.word(addr)
}

// up goes from a routine to its caller; it returns false where there is none, or it
// is not known.
func (u *unwinder) up() bool {
	pc, ok := u.m.maps.known(u.r[dwarfReturn] - 1)
	if !ok {
		return false
	}
	f, ok := u.m.frameAt(pc)
	if !ok || f.Outermost || f.Return != dwarfReturn || f.CFARegister >= dwarfReturn {
		return false
	}
	top := u.r[f.CFARegister] + uint64(f.CFAOffset)
	if top <= u.r[dwarfRSP] {
		return false
	}
	found := false
	for _, s := range f.Saved {
		if s.Register > dwarfReturn {
			continue
		}
		v, ok := u.word(top + uint64(s.Offset))
		if !ok {
			return false
		}
		u.r[s.Register] = v
		found = found || s.Register == dwarfReturn
	}
	u.r[dwarfRSP] = top
	return found
}

// callers returns the return addresses of the calls that led to a routine whose first
// instruction a thread is about to execute.
func (m *machine) callers(t *thread) []trace.PC {
	u := m.unwind(t)
	list := make([]trace.PC, 0, trace.MaxCallers)
	for len(list) < trace.MaxCallers {
		pc, ok := m.maps.known(u.r[dwarfReturn])
		if !ok {
			break
		}
		list = append(list, pc)
		if !u.up() {
			break
		}
	}
	return m.shared(list)
}

// within reports whether a thread that is about to execute the first instruction of the
// allocator at pc is still within its last call of one: not if an exception or longjmp
// left that.
func (m *machine) within(t *thread, pc trace.PC) bool {
	g := &t.giving
	if t.regs.Rsp > g.sp {
		return false
	}
	u := m.unwind(t)
	if t.regs.Rsp == g.sp { // a jump from one allocator to the next, as from operator new[] to new
		return u.r[dwarfReturn] == g.back && pc != g.pc
	}
	for { // each caller lies higher
		if at := u.r[dwarfRSP] - 8; at >= g.sp {
			return at == g.sp && u.r[dwarfReturn] == g.back
		}
		if !u.up() {
			return true // where callers are not known, the call is taken for a part of the last
		}
	}
}

// frameAt returns the call frame at an instruction of the plan.
func (m *machine) frameAt(pc trace.PC) (objfile.CallFrame, bool) {
	f, ok := m.callFrames[pc]
	if !ok {
		if m.callFrames == nil {
			m.callFrames = make(map[trace.PC]callFrame)
		}
		f.CallFrame, f.ok = m.file.CallFrameAt(uint64(pc))
		m.callFrames[pc] = f
	}
	return f.CallFrame, f.ok
}

// callFrame is what is known of the call frame at an instruction.
type callFrame struct {
	objfile.CallFrame
	ok bool
}

// shared returns a list that is equal to list, and the same whenever it is.
func (m *machine) shared(list []trace.PC) []trace.PC {
	var b []byte
	for _, pc := range list {
		b = binary.LittleEndian.AppendUint64(b, uint64(pc))
	}
	known, ok := m.stacks[string(b)]
	if !ok {
		if m.stacks == nil {
			m.stacks = make(map[string][]trace.PC)
		}
		known = slices.Clone(list)
		m.stacks[string(b)] = known
	}
	return known
}
