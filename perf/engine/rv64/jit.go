//go:build linux && amd64

package rv64

import (
	"cmp"
	"errors"
	"unsafe"

	"golang.org/x/sys/cpu"

	"presage/perf/engine/rv64/amd64asm"
	"presage/perf/engine/rv64/softfloat"
	"presage/perf/trace"
)

const (
	// hot is the number of interpreted executions after which a block is
	// translated.
	hot = 64
	// jumpEntries is the size of the direct-mapped table in which indirect
	// jumps look up translated code.
	jumpEntries = 1 << 12
	// manyMisses is the number of accesses outside the window that makes it
	// move.
	manyMisses = 1 << 10
)

// callCode runs translated code at target, through the arena's entry code. The
// code never calls Go, keeps the stack, and does not fault: every guest access
// is checked before it is made.
//
//go:noescape
func callCode(code, target uintptr, regs unsafe.Pointer, mxcsr *uint32)

// jit translates hot blocks to machine code and runs it.
//
//	         ┌────────── transfer ──────────┐
//	         ▼                              │
//	run ─ lookup ─ hot? ─ translate ─ callCode
//	         │ cold                         │ what is not translated, or
//	         ▼                              ▼ needs Go: bail
//	      interpret a block        interpret the block's rest
//
// Translated code returns through one of exits. Whatever it cannot do (system
// calls, faults, a full batch, unusual floating-point cases) it leaves to the
// interpreter before the op in question has had any effect, so that the
// interpreter alone defines the semantics.
type jit struct {
	m      *machine
	arena  *arena
	asm    amd64asm.Code
	exits  []jitExit
	jumps  []jitJump
	traced bool
	heat   int // interpreted executions before a block is translated

	generation uint64 // of machine.code when the arena was filled
	mapped     uint64 // generation of machine.mem when the window was chosen
	window     span
	stack      span // the window around the stack pointer

	base      int // arena offset of the end of the common code
	epilogue  int
	indirect  int // exit with the target in RAX
	constants constants
}

// jitExit is an exit from translated code.
type jitExit struct {
	kind  jitExitKind
	block *block
	op    int    // bail: index of the op at which the interpreter continues
	pc    uint64 // transfer: the target
	site  int    // transfer: arena offset of the jump to retarget

	pending pending // bail: results that may be a NaN that is not canonical
}

type jitExitKind uint8

const (
	exitIndirect jitExitKind = iota // to jitFrame.target
	exitTransfer
	exitNext // a transfer that does not check the budget
	exitBail
)

// jitJump is a slot of the table for indirect jumps. Translated code depends on
// its layout.
type jitJump struct {
	pc   uint64
	code uintptr
}

func newJIT(m *machine, p *trace.Plan) (*jit, error) {
	if !(cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2 && cpu.X86.HasFMA && cpu.X86.HasLZCNT && cpu.X86.HasPOPCNT) {
		return nil, errors.New("rv64: translation to machine code needs a processor with AVX2, BMI2, FMA, LZCNT and POPCNT")
	}
	a, err := newArena()
	if err != nil {
		return nil, err
	}
	j := &jit{m: m, arena: a, jumps: make([]jitJump, jumpEntries), heat: cmp.Or(m.opt.heat, hot)}
	j.traced = p != nil && len(p.Refs)+len(p.Blocks) > 0
	j.common()
	j.reset()
	return j, nil
}

func (j *jit) close() { j.arena.close() }

// reset discards all translations.
func (j *jit) reset() {
	j.arena.used = j.base
	j.exits = append(j.exits[:0], jitExit{kind: exitIndirect})
	for i := range j.jumps {
		j.jumps[i] = jitJump{pc: 1} // no instruction has an odd address
	}
	j.generation = j.m.code.generation
}

// run executes a thread like machine.exec, using translated code.
func (j *jit) run(t *thread) exit {
	m := j.m
	unchecked := false // reached by opNext, which does not check the budget
	link := -1         // the exit taken to get here
	for {
		if m.budget <= 0 && !unchecked {
			return exitBudget
		}
		unchecked = false
		b := m.code.lookup(t.pc)
		if m.code.generation != j.generation {
			j.reset()
			link = -1
		}
		if b.entry == 0 && b.behind == nil && j.isHot(b) {
			link = j.translate(b, link)
		}
		// Translated code rounds to nearest even.
		if b.entry == 0 || t.frm != rmNearestEven {
			link = -1
			if e := j.interpret(t, nil, nil); e != exitBudget {
				return e
			}
			continue
		}
		if link >= 0 && !j.connect(link, b) {
			j.restart()
			link = -1
			continue
		}
		link = -1
		x := j.enter(t, b)
		switch e := &j.exits[x]; e.kind {
		case exitIndirect:
			t.pc, link = t.jit.target, 0
			m.code.arrived(t.pc)
		case exitTransfer:
			t.pc, link = e.pc, x
		case exitNext:
			t.pc, link = e.pc, x
			unchecked = true
		case exitBail:
			if e := j.bail(t, e); e != exitBudget {
				return e
			}
		}
	}
}

// isHot counts an execution of a block that is not translated, and reports whether it is
// time to translate it. If that fails, it is tried again after as many executions.
func (j *jit) isHot(b *block) bool {
	b.heat++
	return b.home != nil || b.heat%j.heat == 0
}

// bail interprets the rest of the block that translated code left by exit e.
func (j *jit) bail(t *thread, e *jitExit) exit {
	j.sync(e)
	t.settle(e.pending)
	return j.interpret(t, e.block, &e.block.ops[e.op])
}

// translate compiles the region that b heads. It returns link, or -1 if the arena
// was full: emptying it discards the code that link refers to.
func (j *jit) translate(b *block, link int) int {
	if b.home != nil && j.enterHome(b) || b.home == nil && j.compile(b) {
		return link
	}
	// The arena is full: start over.
	j.restart()
	j.compile(b)
	return -1
}

// restart empties the arena.
func (j *jit) restart() {
	for _, b := range j.m.code.blocks {
		b.entry, b.stub, b.home = 0, 0, nil
	}
	j.reset()
}

// connect retargets the exit that led to b so that it jumps there directly from
// now on. It returns false if the arena is full.
func (j *jit) connect(link int, b *block) bool {
	e := &j.exits[link]
	if e.kind == exitIndirect {
		at, ok := j.arrival(b)
		if ok {
			j.jumps[b.pc>>1&(jumpEntries-1)] = jitJump{b.pc, j.arena.addr(at)}
		}
		return ok
	}
	j.arena.put(e.site, amd64asm.Distance(e.site, b.entry))
	return true
}

// interpret runs the interpreter to the next transfer of control: from op o of
// block b, which has been entered, or from the thread's pc. It moves the end of
// the slice temporarily, which does not affect the instruction count.
func (j *jit) interpret(t *thread, b *block, o *op) (e exit) {
	m := j.m
	shift := m.budget - 1
	if b != nil {
		shift = m.budget // exec does not count the block again
		m.resume.block, m.resume.op = b, o
	}
	m.budget -= shift
	m.horizon -= uint64(shift)
	defer func() { // also when the host faults
		m.budget += shift
		m.horizon += uint64(shift)
	}()
	return m.exec(t)
}

// enter runs translated code from the start of b and returns the index of the
// exit that it took.
func (j *jit) enter(t *thread, b *block) int {
	m, f := j.m, &t.jit
	if m.mem.generation != j.mapped {
		// No window is needed unless accesses soon miss it.
		j.mapped, j.window, j.stack = m.mem.generation, span{}, span{}
	}
	if sp := t.x[regSP]; sp < j.stack.start || sp >= j.stack.end {
		j.stack = j.stackAround(sp)
	}
	f.budget, f.horizon, f.idle = m.budget, m.horizon, m.idle
	f.negStart, f.last, f.lastSpan = j.window.bounds()
	f.lastReach = j.window.room(maxReach)
	f.stackNeg, f.stackLast, f.stackSpan = j.stack.bounds()
	f.host = uintptr(m.mem.base)
	f.perm = uintptr(unsafe.Pointer(unsafe.SliceData(m.mem.perm)))
	f.sizeLess8 = m.mem.size - 8
	f.jumps = uintptr(unsafe.Pointer(unsafe.SliceData(j.jumps)))
	f.counts = uintptr(m.code.counts)
	if j.traced {
		f.record = uintptr(m.records) + m.recorded*8
		f.recordEnd = uintptr(m.records) + m.room*8
		f.id = uintptr(m.ids) + m.idCount*4
		f.idEnd = uintptr(m.ids) + m.idRoom*4
	}
	m.at = 0 // translated code does not fault; should it, no op is to blame
	callCode(j.arena.addr(0), j.arena.addr(b.entry), unsafe.Pointer(&t.x[jitBias/8]), &f.mxcsr)
	m.counted.translated += uint64(m.budget - f.budget)
	m.budget = f.budget
	if j.traced {
		m.recorded = (f.record - uintptr(m.records)) / 8
		m.idCount = (f.id - uintptr(m.ids)) / 4
	}
	t.raise(accrued(f.mxcsr)) // even if none is set: fflags may have been written
	if f.misses > manyMisses {
		f.misses = 0
		j.moveWindow(f.missedAddr)
	}
	return int(f.exit)
}

// sync sets the machine's state to the point in a block where an exit was taken.
func (j *jit) sync(e *jitExit) {
	j.m.mark = j.m.recorded
	for _, o := range e.block.ops[:e.op] {
		if o.code.traced() {
			j.m.mark--
		}
	}
}

// defaultMXCSR is the host's mode in translated code: round to nearest even,
// exceptions masked.
const defaultMXCSR = 0x1f80

// accrued converts the flags of MXCSR. The denormal-operand flag has no
// counterpart.
func accrued(mxcsr uint32) softfloat.Flags {
	// From invalid, denormal, zero divide, overflow, underflow, precision at
	// bits 0 to 5 to fflags' NX, UF, OF, DZ, NV at bits 0 to 4.
	f := mxcsr>>5&1 | mxcsr>>4&1<<1 | mxcsr>>3&1<<2 | mxcsr>>2&1<<3 | mxcsr&1<<4
	return softfloat.Flags(f)
}

// bounds returns what translated code checks addresses in a window against: the
// negated start, and one more than the largest offset of accesses of up to 8 bytes
// and of maxSpan bytes.
func (s span) bounds() (negStart, last, lastSpan uint64) {
	return -s.start, s.room(8), s.room(maxSpan)
}

// room returns one more than the largest offset of n bytes in a window; 0 if there is
// none.
func (s span) room(n uint64) uint64 { return max(s.end-s.start, n-1) - (n - 1) }

// moveWindow moves the window to the run of writable pages around addr, if there
// is one.
func (j *jit) moveWindow(addr uint64) {
	if run := j.runAround(addr); run != (span{}) {
		j.window = run
	}
}

// runAround returns the run of writable pages around addr; empty if there is none.
func (j *jit) runAround(addr uint64) span {
	mem := j.m.mem
	for _, s := range mem.spans {
		if addr < s.start || addr >= s.end || mem.perm[addr/pageBytes]&pageWrite == 0 {
			continue
		}
		at := pageDown(addr)
		for at > s.start && mem.perm[at/pageBytes-1]&pageWrite != 0 {
			at -= pageBytes
		}
		return mem.writable(at, s)
	}
	return span{}
}

// stackAround returns the writable pages around sp, as far as functions that are called
// soon may reach: looking for more would take longer than it saves in a Go program,
// whose stacks lie in its heap.
func (j *jit) stackAround(sp uint64) span {
	const reach = 256 // pages, either way
	perm := j.m.mem.perm
	writable := func(page uint64) bool { return page < uint64(len(perm)) && perm[page]&pageWrite != 0 }
	first := sp / pageBytes
	if !writable(first) {
		return span{}
	}
	end := first + 1
	for n := 0; n < reach && first > 0 && writable(first-1); n++ {
		first--
	}
	for n := 0; n < reach && writable(end); n++ {
		end++
	}
	return span{first * pageBytes, end * pageBytes}
}

// writable returns the run of writable pages that starts at page at, within s.
func (m *memory) writable(at uint64, s span) span {
	r := span{at, at}
	for r.end < s.end && m.perm[r.end/pageBytes]&pageWrite != 0 {
		r.end += pageBytes
	}
	return r
}
