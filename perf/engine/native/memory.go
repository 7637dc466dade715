//go:build linux && amd64

package native

import (
	"cmp"
	"slices"

	"presage/perf/trace"
)

// What memory is for is told by blocks that are executed at the first instruction of a
// routine that gives or takes memory, and where it returns to:
//
//	call malloc ─▶ records registers and a piece of the stack
//	               malloc's own code
//	records  ◀──── ret
//	the result
//
// The reader finds the arguments, the callers and the result in these records: see
// giving. A return is an indirect jump, and where a routine was called from, indirect
// jumps to the return address lead to the block that records them; direct ones do not.
// The code at the beginning of a routine looks its return address up in a table: when it
// is not there, the program stops, and the engine prepares the return. It also stops
// where nothing is recorded, for routines that are called seldom, and where callers lie
// farther up the stack than the piece that is recorded.

// Words of a record: at a call the block's number, the registers in the processor's
// order and a piece of the stack, up to its end; at a return the number, rax and rsp.
const (
	callRegisters = 1
	callCount     = callRegisters + 16 // words of the stack
	callStack     = callCount + 1
	stackWords    = 512
	callWords     = callStack + stackWords

	backWords = 3
)

// deepest is how much of the stack the engine looks at when it stops, in bytes.
const deepest = 256 << 10

// memoryKind says what a block records of memory.
type memoryKind uint8

const (
	noMemory memoryKind = iota
	memoryCall
	memoryBack
)

// backKind says how the return to an address is told.
type backKind uint8

const (
	backRecorded backKind = 1 + iota // by a record
	backStops                        // by a stop
)

// memoryEvent is a call or a return of an allocator at which the program stopped.
type memoryEvent struct {
	back      bool
	pc        uint64 // of the program
	allocator trace.Allocator
	regs      [16]uint64 // in the processor's order
	stack     []byte     // from rsp on
	value     uint64     // at the address that the last call's first argument was
}

// recordable reports whether calls of an allocator are recorded without a stop. The
// others are seldom, or their result is more than rax.
func recordable(r trace.Role) bool {
	switch r {
	case trace.Malloc, trace.Calloc, trace.Realloc, trace.ReallocArray, trace.AlignedAlloc, trace.Free:
		return true
	}
	return false
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

// watches reports whether a block tells of memory.
func (m *machine) watches(k key) bool {
	if k.back {
		return true
	}
	_, allocator := m.allocatorAt(k.pc)
	return allocator && !k.past
}

// watch makes b, which tells of memory, record or stop.
func (m *machine) watch(b *block, k key) {
	a, _ := m.allocatorAt(k.pc)
	h := &b.zone.hot
	switch {
	case !m.cache.traced, m.stopping, k.back && m.returns[k.pc] != backRecorded, !k.back && !recordable(a.Role):
		leave(h, b.regs)
		m.stops[h.addr()] = &stop{kind: stopMemory, pc: b.pc, target: k}
		h.b(0xcc)
	case k.back:
		b.memory, b.words = memoryBack, backWords
		m.recordBack(b)
	default:
		b.memory, b.allocator, b.words = memoryCall, a, callWords
		m.recordCall(b, k)
	}
	b.span = b.words
	b.hi = h.addr()
}

// behind returns the key of the block behind one that tells of memory.
func (k key) behind() key {
	// Where a routine returns to another may begin.
	return key{pc: k.pc, flows: k.flows, slow: k.slow, past: !k.back}
}

// recordBack emits the record of a return. Flags are dead there.
func (m *machine) recordBack(b *block) {
	h, pos := &b.zone.hot, int(b.regs.pos)
	h.store32(pos, 8*(backWords-1), 0) // faults before anything is done if there is too little room
	h.store32(pos, 0, b.id)
	h.store(pos, 8, rax)
	h.store(pos, 16, rsp)
	h.skip(b)
}

// recordCall emits the record of a call. Flags are dead there.
func (m *machine) recordCall(b *block, k key) {
	h, c, pos, scratch := &b.zone.hot, &b.zone.cold, int(b.regs.pos), int(b.regs.scratch)
	h.store32(pos, 8*(callWords-1), 0)
	h.store32(pos, 0, b.id)
	for r := range 16 {
		from := r
		if r == pos || r == scratch {
			from = scratch
			h.load(scratch, gsRegister+8*r)
		}
		h.store(pos, 8*int64(callRegisters+r), from)
	}
	h.save(rcx, gsRcx)
	if b.allocator.Role != trace.Free { // whose return tells nothing
		h.memory(0x8b, rcx, at(rsp, 0))
		h.b(0x40|byte(scratch>>3), 0x89, 0xc8|byte(scratch&7)) // mov scratch, ecx
		h.b(0x40|byte(scratch>>3), 0x81, 0xe0|byte(scratch&7)) // and scratch, …
		h.u32(returnSlots - 1)
		h.b(0x65, 0x48|byte(scratch>>3)<<1, 0x3b, 0x0c, 0xc5|byte(scratch&7)<<3) // cmp rcx, gs:[scratch*8+…]
		h.u32(gsReturns)
		h.b(0x0f, 0x85) // jne
		h.u32(0)
		h.patch(h.addr()-4, c.addr())
		c.load(rcx, gsRcx)
		leave(c, b.regs)
		m.stops[c.addr()] = &stop{kind: stopMemory, pc: b.pc, target: k}
		c.b(0xcc)
	}
	h.save(rsi, gsRegister+8*rsi)
	h.save(rdi, gsRegister+8*rdi)
	h.lea(rdi, at(pos, 8*callStack))
	h.b(0x48, 0x89, 0xe6) // mov rsi, rsp
	h.load(rcx, gsStackEnd)
	h.b(0x48, 0x29, 0xe1)    // sub rcx, rsp
	h.b(0x48, 0xc1, 0xe9, 3) // shr rcx, 3
	h.b(0x48, 0x81, 0xf9)    // cmp rcx, …
	h.u32(stackWords)
	h.b(0x76, 5) // jbe
	h.set(rcx, stackWords)
	h.store(pos, 8*callCount, rcx)
	b.copies = h.addr()
	h.b(0xf3, 0x48, 0xa5) // rep movsq
	h.load(rsi, gsRegister+8*rsi)
	h.load(rdi, gsRegister+8*rdi)
	h.load(rcx, gsRcx)
	h.skip(b)
}

// skip emits the step behind a record that stands for no instructions.
func (a *asm) skip(b *block) {
	a.add(int(b.regs.pos), 8*int64(b.words))
}

// arrival returns the key of the block that an indirect jump to pc leads to.
func (m *machine) arrival(pc uint64) key { return key{pc: pc, back: m.returns[pc] != 0} }

// memoryStop handles a stop that tells of memory.
func (m *machine) memoryStop(t *thread, k key) error {
	t.parked, t.resumeAt = true, k.behind()
	if k.back {
		e := m.eventAt(t, k.pc)
		e.back = true
		e.value, _ = t.word(t.firstArgument)
		m.happen(e)
		return nil
	}
	a, ok := m.allocatorAt(k.pc)
	if !ok {
		return nil
	}
	back, ok := t.word(t.regs.Rsp)
	if !ok {
		return nil // the call itself has failed
	}
	if m.cache.traced && !m.stopping && recordable(a.Role) && !m.deep[back] && m.returns[back] != backStops && !m.liesDeep(t) {
		t.resumeAt = k // to be recorded
		m.expect(t, back, backRecorded)
		m.setReturn(back)
		return nil
	}
	return m.called(t, a, k.pc, back)
}

// called tells of a call of an allocator at which the program has stopped.
func (m *machine) called(t *thread, a trace.Allocator, pc, back uint64) error {
	e := m.eventAt(t, pc)
	e.allocator = a
	e.stack = m.stackOf(t, deepest)
	t.firstArgument = t.regs.Rdi
	m.happen(e)
	switch {
	case a.Role == trace.Free || a.Role == trace.Munmap:
		return nil
	case recordable(a.Role):
		m.expect(t, back, backRecorded)
		return nil
	}
	if m.returns[back] == backRecorded { // as when a routine calls what a pointer says
		m.expect(t, back, backStops)
		return m.flushCode()
	}
	m.expect(t, back, backStops)
	return nil
}

// expect prepares for the return of a call to an address.
func (m *machine) expect(t *thread, back uint64, how backKind) {
	if m.returns == nil {
		m.returns = make(map[uint64]backKind)
	}
	m.returns[back] = max(m.returns[back], how)
	t.back = back
}

// liesDeep reports whether the callers of the routine that a thread is about to execute
// are found only with more of the stack than is recorded. It is remembered.
func (m *machine) liesDeep(t *thread) bool {
	stack := m.stackOf(t, 8*stackWords)
	u := unwinder{known: m.maps.known, frames: &m.frames, r: dwarfRegisters(t.general()), stack: stack, low: t.regs.Rsp}
	u.start()
	u.callers()
	if u.short && len(stack) == 8*stackWords {
		if m.deep == nil {
			m.deep = make(map[uint64]bool)
		}
		back, _ := t.word(t.regs.Rsp)
		m.deep[back] = true
		return true
	}
	return false
}

// stackOf returns what lies on a thread's stack, up to a number of bytes.
func (m *machine) stackOf(t *thread, most int) []byte {
	b := make([]byte, most)
	return b[:t.read(t.regs.Rsp, b)]
}

// general returns the general registers in the processor's order.
func (t *thread) general() (regs [16]uint64) {
	for i := range regs {
		regs[i] = *register(&t.regs, i)
	}
	return regs
}

func (m *machine) eventAt(t *thread, pc uint64) *memoryEvent {
	return &memoryEvent{pc: pc, regs: t.general()}
}

// happen passes an event to the reader, behind what the running thread, which is parked,
// has recorded.
func (m *machine) happen(e *memoryEvent) {
	if m.place.buffer >= 0 && m.place.limit != 0 {
		m.sendNow()
	}
	m.full <- segment{thread: m.current.index, count: m.now(), boundary: true, memory: e, modules: m.moduleRanges()}
}

// copyFailed handles a fault of the code that records a call in block b: the stack ends
// within the piece that it copies, or there is none. The program goes on behind it.
func (m *machine) copyFailed(t *thread, b *block) error {
	r := &t.regs
	copies := r.Rip == b.copies
	if copies {
		r.Rsi, r.Rdi = m.stateWord(t, gsRegister+8*rsi), m.stateWord(t, gsRegister+8*rdi)
		r.Rcx = m.stateWord(t, gsRcx)
	}
	m.restore(t, r, b.regs)
	t.parked, t.resumeAt = true, key{pc: b.pc, flows: b.flows, slow: b.slow, past: true}
	if !copies {
		return nil // the call itself has failed
	}
	back, _ := t.word(r.Rsp)
	if m.deep == nil {
		m.deep = make(map[uint64]bool)
	}
	m.deep[back] = true
	m.clearReturn(back)
	return m.called(t, b.allocator, b.pc, back)
}

// awaitReturn makes the return of the last call of an allocator at which the thread
// stopped tell of it.
func (m *machine) awaitReturn(t *thread) error {
	k, plain, now := m.arrival(t.back), key{pc: t.back}, m.cache
	defer func() { m.cache = now }()
	t.back = 0
	for _, c := range m.caches {
		if p := c.blocks[plain]; c.blocks[k] != nil || c != now && (p == nil || p.via == 0) {
			continue // it is told when it comes to that
		}
		m.cache = c
		b, err := m.translated(k)
		if err != nil {
			return err
		}
		m.viaEntry(b)
	}
	return nil
}

// setStackEnd notes where the stack of a thread that begins ends.
func (m *machine) setStackEnd(t *thread) {
	_, hi, _ := m.maps.mapped.around(t.regs.Rsp)
	m.setStateWord(t, gsStackEnd, hi)
}

// The table of return addresses whose calls are recorded, by their lowest bits.

func (m *machine) returnSlot(back uint64) []byte {
	return m.child.mem[fileReturns+8*(back&(returnSlots-1)):][:8]
}

func (m *machine) setReturn(back uint64) { putWord(m.returnSlot(back), back) }

// clearReturn makes calls that return to an address stop.
func (m *machine) clearReturn(back uint64) { putWord(m.returnSlot(back), 0) }

// tell passes changes to the reader, behind what the running thread, which is parked,
// has recorded.
func (m *machine) tell(changes ...trace.Change) {
	if m.place.buffer >= 0 && m.place.limit != 0 {
		m.sendNow()
	}
	m.full <- segment{thread: m.current.index, count: m.now(), boundary: true, changes: changes, modules: m.moduleRanges()}
}

// moduleRanges returns where modules lie, if that is of interest.
func (m *machine) moduleRanges() []moduleRange {
	if m.plan.Memory == nil {
		return nil
	}
	return m.maps.ranges()
}

// unmap notes that a range is accessible no more, and drops code that was there.
func (m *machine) unmap(lo, hi uint64) error {
	if m.plan.Memory != nil && m.place.limit != 0 {
		m.sendNow() // while it is known what was there
	}
	if m.maps.remove(lo, hi) {
		return m.flushCode()
	}
	return nil
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
