//go:build linux && amd64

package native

import (
	"encoding/binary"
	"slices"

	"presage/perf/objfile"
	"presage/perf/trace"
)

// giver turns calls and returns of allocators into changes of memory. It belongs to the
// reader.
type giver struct {
	modules []moduleRange
	frames  frames
	threads map[int32]*giving
	stacks  map[string][]trace.PC
}

// giving is a call of an allocator that has not returned.
type giving struct {
	active  bool
	role    trace.Role
	pc      trace.PC
	sp      uint64 // where the return address lies
	back    uint64 // the return address
	args    [3]uint64
	callers []trace.PC
	taken   []interval // of what it gives back, by other threads meanwhile

	// The last entry, which a fault in the first instruction repeats.
	at, atSP, atCount uint64
}

// moduleRange is where a module's code lies.
type moduleRange struct {
	lo, hi uint64
	add    trace.PC // the plan's address less that of the program
}

// known returns the plan's address of code in a module; false if pc is in none.
func (g *giver) known(pc uint64) (trace.PC, bool) {
	for i := range g.modules {
		if m := &g.modules[i]; pc >= m.lo && pc < m.hi {
			return trace.PC(pc) + m.add, true
		}
	}
	return 0, false
}

// giving returns the state of the current thread.
func (r *reader) giving() *giving {
	g := r.giver.threads[r.thread]
	if g == nil {
		g = new(giving)
		if r.giver.threads == nil {
			r.giver.threads = make(map[int32]*giving)
		}
		r.giver.threads[r.thread] = g
	}
	return g
}

// memoryRecord reads the record of a call or a return.
func (r *reader) memoryRecord(b *block, w []uint64) {
	if b.memory == memoryBack {
		r.gave(b.pc, w[1], w[2], 0)
		return
	}
	e := memoryEvent{pc: b.pc, allocator: b.allocator, regs: [16]uint64(w[callRegisters:callStack])}
	stack := w[callStack:][:min(w[callCount], stackWords)]
	e.stack = make([]byte, 0, 8*len(stack))
	for _, v := range stack {
		e.stack = binary.LittleEndian.AppendUint64(e.stack, v)
	}
	r.asked(&e)
}

// memoryEvent handles a call or a return at which the program stopped.
func (r *reader) memoryEvent(e *memoryEvent) {
	if e.back {
		r.gave(e.pc, e.regs[rax], e.regs[rsp], e.value)
		return
	}
	r.asked(e)
}

// asked handles a call of an allocator.
func (r *reader) asked(e *memoryEvent) {
	g, sp := r.giving(), e.regs[rsp]
	if g.at == e.pc && g.atSP == sp && g.atCount == r.count {
		return
	}
	if g.active && r.within(g, e) {
		return
	}
	if len(e.stack) < 8 {
		return // the call itself has failed
	}
	args := [3]uint64{e.regs[rdi], e.regs[rsi], e.regs[rdx]}
	*g = giving{
		role: e.allocator.Role, pc: e.allocator.PC, sp: sp, back: binary.LittleEndian.Uint64(e.stack), args: args,
		at: e.pc, atSP: sp, atCount: r.count,
	}
	switch g.role {
	case trace.Free:
		if args[0] != 0 {
			r.tell(trace.Change{Kind: trace.Freed, Addr: r.chunks.synthetic(args[0])})
		}
	case trace.Munmap:
		if unmaps(args[0], args[1]) {
			r.tellPieces(trace.Change{Kind: trace.Unmapped}, args[0], pageUp(args[1]))
		}
	default:
		u := r.unwind(e)
		g.active, g.callers = true, r.shared(u.callers())
	}
}

// unmaps reports whether munmap succeeds with these arguments. It is told before it
// executes, as another thread may map the same addresses before it returns.
func unmaps(addr, size uint64) bool {
	const limit = 1<<47 - pageBytes // TASK_SIZE
	return addr%pageBytes == 0 && size > 0 && addr <= limit && size <= limit-addr
}

// gave handles the return of an allocator to pc. value is what lies at the address that
// was its first argument, if it needs that.
func (r *reader) gave(pc, result, sp, value uint64) {
	g := r.giving()
	if !g.active || g.back != pc || sp < g.sp+8 {
		return // another routine that was called there
	}
	g.active = false
	if sp != g.sp+8 {
		return
	}
	size, old := g.role.Asks(g.args)
	if g.role == trace.PosixMemalign {
		if result != 0 || value == 0 {
			return
		}
		result = value
	}
	if isError(result) { // mmap and mremap
		return
	}
	switch {
	case g.role == trace.Mremap:
		for _, v := range g.rest(old, old+pageUp(g.args[1])) {
			r.tellPieces(trace.Change{Kind: trace.Unmapped}, v.lo, v.hi-v.lo)
		}
	case old != 0 && (result != 0 || size == 0) && len(g.rest(old, old+1)) > 0:
		r.tell(trace.Change{Kind: trace.Freed, Addr: r.chunks.synthetic(old)})
	}
	if result != 0 {
		r.take(g, interval{result, result + size})
		r.tellPieces(trace.Change{Kind: trace.Allocated, PC: g.pc, Role: g.role, Callers: g.callers}, result, size)
	}
}

// take notes that a thread, whose call is own, has been given memory. Another thread may
// be within realloc or mremap, and have given that back already: that is told when the
// call returns, and must not take it from its new owner.
func (r *reader) take(own *giving, v interval) {
	for _, g := range r.giver.threads {
		if g != own && g.active {
			g.taken = append(g.taken, v)
		}
	}
}

// rest returns the parts of a range that no other thread has been given during the call.
func (g *giving) rest(lo, hi uint64) []interval {
	var left intervals
	left.add(lo, hi)
	for _, v := range g.taken {
		left.remove(v.lo, v.hi)
	}
	return left.list
}

// tell adds changes to what comes before the next event.
func (r *reader) tell(changes ...trace.Change) {
	r.closeBlock()
	r.flush()
	r.before = nil
	r.startBatch(r.count)
	if r.batch != nil {
		r.batch.Changes = append(r.batch.Changes, changes...)
	}
}

// tellPieces tells a change of a range of the program's addresses.
func (r *reader) tellPieces(c trace.Change, lo, size uint64) {
	var list []trace.Change
	for {
		n := r.chunks.together(lo, size)
		c.Addr, c.Size, c.More = r.chunks.synthetic(lo), n, len(list) > 0
		list = append(list, c)
		if lo, size = lo+n, size-n; size == 0 {
			break
		}
	}
	r.tell(list...)
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

// within reports whether the call of an allocator is a part of the last one, g: not if an
// exception or longjmp left that.
func (r *reader) within(g *giving, e *memoryEvent) bool {
	sp := e.regs[rsp]
	if sp > g.sp {
		return false
	}
	u := r.unwind(e)
	if v, ok := u.word(g.sp); ok && v != g.back {
		return false // its return address is no longer there
	}
	u.short = false
	if sp == g.sp { // a jump from one allocator to the next, as from operator new[] to new
		return u.r[dwarfReturn] == g.back && e.allocator.PC != g.pc
	}
	for { // each caller lies higher
		if at := u.r[dwarfRSP] - 8; at >= g.sp {
			return at == g.sp && u.r[dwarfReturn] == g.back
		}
		if !u.up() {
			// Where callers are not known, the call is taken for a part of the last; but
			// not so far down the stack.
			return !u.short
		}
	}
}

func (r *reader) unwind(e *memoryEvent) *unwinder {
	u := &unwinder{known: r.giver.known, frames: &r.giver.frames, r: dwarfRegisters(e.regs), stack: e.stack, low: e.regs[rsp]}
	u.start()
	return u
}

// shared returns a list that is equal to list, and the same whenever it is.
func (r *reader) shared(list []trace.PC) []trace.PC {
	b := make([]byte, 0, 8*trace.MaxCallers)
	for _, pc := range list {
		b = binary.LittleEndian.AppendUint64(b, uint64(pc))
	}
	known, ok := r.giver.stacks[string(b)]
	if !ok {
		if r.giver.stacks == nil {
			r.giver.stacks = make(map[string][]trace.PC)
		}
		known = slices.Clone(list)
		r.giver.stacks[string(b)] = known
	}
	return known
}

// unwinder goes from a routine to its callers by call frame information.
type unwinder struct {
	known  func(pc uint64) (trace.PC, bool)
	frames *frames
	r      [17]uint64 // by DWARF's numbers; the last is the return address
	stack  []byte     // what is there from low on
	low    uint64
	short  bool // the stack that is known did not suffice
}

// DWARF's numbers of registers.
const (
	dwarfRSP    = 7
	dwarfReturn = 16
)

// dwarfRegisters returns registers in the processor's order in that of DWARF.
func dwarfRegisters(r [16]uint64) [17]uint64 {
	return [17]uint64{r[rax], r[rdx], r[rcx], r[rbx], r[rsi], r[rdi], r[rbp], r[rsp], r[r8], r[r9], r[r10], r[r11], r[r12], r[r13], r[r14], r[r15]}
}

// start goes from the first instruction of a routine to its caller.
func (u *unwinder) start() {
	u.r[dwarfReturn], _ = u.word(u.low)
	u.r[dwarfRSP] = u.low + 8
}

func (u *unwinder) word(addr uint64) (uint64, bool) {
	if off := addr - u.low; addr >= u.low && off+8 <= uint64(len(u.stack)) {
		return binary.LittleEndian.Uint64(u.stack[off:]), true
	}
	u.short = true
	return 0, false
}

// up goes from a routine to its caller; it returns false where there is none, or it
// is not known.
func (u *unwinder) up() bool {
	pc, ok := u.known(u.r[dwarfReturn] - 1)
	if !ok {
		return false
	}
	f, ok := u.frames.at(pc)
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

// callers returns the return addresses of the calls that led to the routine.
func (u *unwinder) callers() []trace.PC {
	list := make([]trace.PC, 0, trace.MaxCallers)
	for len(list) < trace.MaxCallers {
		pc, ok := u.known(u.r[dwarfReturn])
		if !ok {
			break
		}
		list = append(list, pc)
		if !u.up() {
			break
		}
	}
	return list
}

// frames are the call frames of a program by the plan's addresses of instructions.
type frames struct {
	file *objfile.File
	list map[trace.PC]callFrame
}

// callFrame is what is known of the call frame at an instruction.
type callFrame struct {
	objfile.CallFrame
	ok bool
}

// at returns the call frame at an instruction of the plan.
func (f *frames) at(pc trace.PC) (objfile.CallFrame, bool) {
	c, ok := f.list[pc]
	if !ok {
		if f.list == nil {
			f.list = make(map[trace.PC]callFrame)
		}
		c.CallFrame, c.ok = f.file.CallFrameAt(uint64(pc))
		f.list[pc] = c
	}
	return c.CallFrame, c.ok
}
