package rv64

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"runtime/debug"
	"slices"
	"time"
	"unsafe"

	"presage/perf/engine"
	"presage/perf/objfile"
	"presage/perf/trace"
)

const (
	// quantum is the length of a thread's turn, in instructions, and the
	// interval at which cancellation is checked.
	quantum = 1 << 16
	// progressEvery is the interval between Progress calls, in instructions.
	progressEvery = 1 << 26
)

// machine is a program being run.
type machine struct {
	file *objfile.File
	opt  options
	mem  *memory
	code *codeCache // in use

	codes []*codeCache // with the plan and, where windows need it, without
	times timetable
	ctx   context.Context
	jit   *jit   // for the cache in use; nil: interpret
	jits  []*jit // one for each of codes; empty: interpret

	// The working state of exec.
	budget   int64   // instructions left in the slice
	at       uintptr // the memory op being executed
	records  unsafe.Pointer
	recorded uintptr // accesses in the batch
	mark     uintptr // accesses before the current block
	room     uintptr // accesses that the batch holds
	ids      unsafe.Pointer
	idCount  uintptr
	idRoom   uintptr
	touched  byte

	// Where exec continues in a block that translated code began; op is nil if
	// it does not.
	resume struct {
		block *block
		op    *op
	}

	horizon uint64 // executed instructions when budget is 0
	idle    uint64 // nanoseconds that passed while all threads slept

	batch   *trace.Batch
	counted result // counters updated while running

	threads []*thread // that have not exited, in turn
	current *thread
	created int
	nextID  int

	actions    [signals + 1]sigAction
	timers     []timer                    // the interval timers, then those of timer_create by id
	allocators map[uint64]trace.Allocator // by pc
	alarm      uint64                     // instructions at which the first timer expires
	trampoline uint64
	stack      stackRange // of the first thread
	futexes    []*futexWait
	calls      map[uint64]systemCall
	unknown    map[uint64]uint64
	files      *fileTable
	random     splitMix
	brk        struct{ start, end, limit uint64 }
	refused    bool // memory was refused for lack of address space

	end     uint64 // instructions at which the run ends; 0: with the program
	limited bool   // reaching end is an error

	over     bool // the program has ended
	exitCode int
	signal   int
	err      error
	failed   error // of the host: the run cannot go on
}

func newMachine(f *objfile.File, opt options) (*machine, error) {
	if err := opt.fill(); err != nil {
		return nil, err
	}
	from, err := resumption(opt.Resume)
	if err != nil {
		return nil, err
	}
	mem, err := newMemory(opt.Memory)
	if err != nil {
		return nil, err
	}
	mem.limit = opt.MemoryLimit
	m := &machine{
		file: f, opt: opt, mem: mem,
		ctx:     context.Background(),
		unknown: make(map[uint64]uint64),
		random:  splitMix(opt.Seed),
		nextID:  firstID,
		timers:  newTimers(),
		alarm:   never,
	}
	if m.files, err = newFileTable(&m.opt); err != nil {
		mem.close()
		return nil, err
	}
	m.end, m.limited = opt.End()
	m.calls = m.syscalls()
	m.startCode(opt.Plan)
	begin := m.load
	if from != nil {
		begin = func() error { return m.restore(from) }
	}
	if opt.Pages {
		mem.prepareFootprint()
	}
	if err := begin(); err != nil {
		m.close()
		return nil, err
	}
	if opt.Pages {
		mem.startFootprint()
	}
	m.enterAll()
	if err := m.startTrace(); err != nil {
		m.close()
		return nil, err
	}
	if err := m.startJIT(); err != nil {
		m.close()
		return nil, err
	}
	for _, c := range m.codes {
		c.combines = m.jits == nil
	}
	return m, nil
}

func (m *machine) close() {
	for _, j := range m.jits {
		j.close()
	}
	m.files.close()
	m.mem.close()
}

// executed returns the number of instructions executed, counting the current
// block as a whole.
func (m *machine) executed() uint64 { return m.horizon - uint64(m.budget) }

// now returns the guest's clock in nanoseconds since its start.
func (m *machine) now() uint64 { return m.executed() + m.idle }

// run executes until the program ends.
func (m *machine) run(ctx context.Context) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case hostFailure:
			err = m.hostError(r.err)
		default:
			panic(r)
		}
	}()
	// Turn a host fault in guest memory into a panic, from which slice recovers.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	m.ctx = ctx
	progress := m.executed() + progressEvery
	for resumes := m.opt.Resume != nil; !m.over; resumes = false {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("rv64: %s stopped after %d instructions: %w", m.program(), m.executed(), err)
		}
		if m.end > 0 && m.executed() >= m.end {
			if !m.limited {
				m.counted.Stopped = true
				return nil
			}
			return fmt.Errorf("rv64: %s stopped after %d instructions: %w", m.program(), m.executed(), engine.ErrInstructionLimit)
		}
		if resumes {
			m.play(m.current) // in the middle of its turn
		} else if t := m.schedule(); t != nil {
			m.turn(t)
		} else if ctx.Err() == nil {
			return fmt.Errorf("rv64: %s after %d instructions: %w", m.program(), m.executed(), engine.ErrDeadlock)
		}
		if err := cmp.Or(m.failed, m.codes[0].err); err != nil {
			return err
		}
		if m.files.output.reached {
			return fmt.Errorf("rv64: %s wrote more than %d bytes (OutputLimit): %w", m.program(), m.opt.OutputLimit, engine.ErrOutputLimit)
		}
		if m.opt.Progress != nil && m.executed() >= progress {
			m.opt.Progress(m.executed())
			progress = m.executed() + progressEvery
		}
	}
	return m.verdict()
}

// verdict returns the run's error, if any, after the program has ended.
func (m *machine) verdict() error {
	if m.refused && (m.exitCode != 0 || m.signal != 0) {
		err := fmt.Errorf("rv64: %s failed after it was refused memory; %s: %w", m.program(), m.space(), engine.ErrMemoryLimit)
		return errors.Join(err, m.err)
	}
	return m.err
}

func (m *machine) program() string {
	if m.file.Path == "" {
		return "program"
	}
	return path.Base(m.file.Path)
}

// turn runs one thread for a quantum, or until it blocks or ends.
func (m *machine) turn(t *thread) {
	m.times.turnEnd = m.executed() + quantum
	m.play(t)
}

// play continues a thread's turn.
func (m *machine) play(t *thread) {
	for !m.over && !t.exited {
		more := m.reach()
		m.deliver(t) // may interrupt what blocks the thread
		if m.over || t.blocked || !more {
			return
		}
		m.serve(t, m.slice(t))
	}
}

// serve handles the reason for which exec returned.
func (m *machine) serve(t *thread, e exit) {
	switch e {
	case exitSyscall:
		m.serveSyscall(t)
	case exitFenceI:
		m.flushCode()
	case exitFault:
		m.memoryFault(t)
	case exitAlign:
		m.rewind(t)
		f := m.fault(t, sigBUS)
		f.Addr, f.Size = m.accessOf(t)
		f.Access = "atomic"
		m.trap(t, sigInfo{number: sigBUS, code: 1, addr: f.Addr, fault: f})
	case exitIllegal:
		m.rewind(t)
		t.badRounding = false
		m.trap(t, sigInfo{number: sigILL, code: 1, addr: t.pc, fault: m.fault(t, sigILL)})
	case exitBreak:
		t.pc -= uint64(m.lengthBefore(t.pc))
		m.trap(t, sigInfo{number: sigTRAP, code: 1, addr: t.pc, fault: m.fault(t, sigTRAP)})
	case exitHook:
		m.hooked(t)
	case exitFetch:
		f := m.fault(t, sigSEGV)
		f.Addr, f.Access = t.pc, "fetch"
		m.trap(t, sigInfo{number: sigSEGV, code: m.segvCode(t.pc), addr: t.pc, fault: f})
	}
}

// slice runs exec and turns a host fault in guest memory into exitFault. If a
// combined op faulted, slice re-executes it in parts to find the one at fault.
func (m *machine) slice(t *thread) exit {
	e, faulted := m.attempt(t)
	for faulted {
		b, i := m.code.locate(m.at)
		if b == nil || b.ops[i].code < opAddLd {
			return exitFault
		}
		m.resume.block, m.resume.op = b, &b.ops[i+1]
		e, faulted = m.attempt(t)
	}
	return e
}

// attempt runs exec and reports whether the host faulted in guest memory.
func (m *machine) attempt(t *thread) (e exit, faulted bool) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		if a, ok := r.(interface{ Addr() uintptr }); ok && m.mem.contains(a.Addr()) {
			e, faulted = exitFault, true
			return
		}
		panic(r)
	}()
	if m.jit != nil {
		return m.jit.run(t), false
	}
	return m.exec(t), false
}

// rewind resets a thread's pc, the instruction count and the batch to the op that
// did not complete.
func (m *machine) rewind(t *thread) {
	b, i := m.code.locate(m.at)
	if b == nil {
		panic("rv64: fault outside of decoded code")
	}
	meta := b.meta[i]
	t.pc = b.pc + uint64(meta.offset)
	m.budget += b.n - int64(meta.index)
	if b.refs == 0 && b.first.code != opCheck {
		return
	}
	m.recorded = m.mark + uintptr(meta.refs)
}

// traced reports whether an op records an access.
func (c code) traced() bool {
	return c >= opLbT && c <= opFlwT || c >= opSbT && c <= opSdT || c == opAtomicT || c == opShlAddLdT
}

// accessOf returns the address and size of the memory instruction at pc.
func (m *machine) accessOf(t *thread) (addr, size uint64) {
	d, ok := m.code.decode(m.mem.code(t.pc))
	if !ok {
		return 0, 0
	}
	l := m.code.lower(d, t.pc)
	if l.op.code == opAtomic {
		return t.x[l.op.rs1], uint64(l.size)
	}
	return t.x[l.op.rs1] + uint64(int64(l.op.imm)), uint64(l.size)
}

// memoryFault raises SIGSEGV for the load or store at machine.at.
func (m *machine) memoryFault(t *thread) {
	m.rewind(t)
	f := m.fault(t, sigSEGV)
	f.Addr, f.Size = m.accessOf(t)
	f.Access = "load"
	if m.overflows(t, f.Addr) {
		f.Stack, f.StackLimit = m.opt.Stack, "Stack"
	}
	if d, ok := m.code.decode(m.mem.code(t.pc)); ok {
		if l := m.code.lower(d, t.pc); l.kind.Writes() {
			f.Access = "store"
		}
	}
	m.trap(t, sigInfo{number: sigSEGV, code: m.segvCode(f.Addr), addr: f.Addr, fault: f})
}

// segvCode returns 1 (SEGV_MAPERR) for an unmapped address, else 2 (SEGV_ACCERR).
func (m *machine) segvCode(addr uint64) int32 {
	if addr < m.mem.size && m.mem.perm[addr/pageBytes] != 0 {
		return 2
	}
	return 1
}

// lengthBefore returns the size of the ebreak that ends at pc.
func (m *machine) lengthBefore(pc uint64) int {
	if b, ok := m.mem.view(pc-4, 4, pageExec); ok && b[0] == 0x73 && b[1] == 0 && b[2] == 0x10 && b[3] == 0 {
		return 4
	}
	return 2
}

// fault returns a description of a fault at the thread's pc.
func (m *machine) fault(t *thread, sig int) *engine.Fault {
	f := &engine.Fault{Engine: name, Signal: sig, PC: t.pc, Thread: t.index}
	f.Instruction = disassemble(m.mem.code(t.pc))
	bias := Bias(m.file)
	f.Routine = m.routine(t.pc - bias)
	if line, ok := m.file.LineAt(t.pc - bias); ok {
		f.File, f.Line = line.File, line.Line
	}
	f.Backtrace = m.backtrace(t)
	return f
}

func (m *machine) routine(pc uint64) string {
	if r := m.file.RoutineAt(pc); r != nil {
		return r.Name
	}
	return ""
}

// kill ends the program with a signal.
func (m *machine) kill(s sigInfo) {
	m.over, m.signal, m.exitCode = true, s.number, 128+s.number
	if s.fault != nil {
		m.err = s.fault
	}
}

func (m *machine) result() *result {
	r := m.counted
	if m.times.open {
		r.Windows[len(r.Windows)-1].To = m.executed()
	}
	if f := m.codes[0].flow; f != nil {
		m.leaveAll()
		r.Flow = f.result()
	}
	r.ExitCode, r.Signal = m.exitCode, m.signal
	r.Instructions = m.executed()
	r.Threads = m.created
	r.Refused = m.files.refused
	for i := range m.files.mounts {
		if g := &m.files.mounts[i]; g.full {
			r.Full = append(r.Full, g.guest)
		}
	}
	r.UnplannedRefs = len(m.codes[0].foreign)
	for _, pc := range slices.Sorted(maps.Keys(m.codes[0].foreign)) {
		r.Unplanned = append(r.Unplanned, trace.PC(pc-m.codes[0].bias))
	}
	r.Clock = time.Duration(m.now())
	r.MemoryPeak = m.mem.peak
	if f := m.mem.footprint; f != nil {
		m.mem.surveyAll()
		r.Pages = f.pages()
	}
	for n, count := range m.unknown {
		call := engine.SyscallCount{Number: n, Count: count}
		if n == callClone {
			call.Name = "fork"
		}
		r.UnknownSyscalls = append(r.UnknownSyscalls, call)
	}
	slices.SortFunc(r.UnknownSyscalls, func(a, b engine.SyscallCount) int { return cmp.Compare(a.Number, b.Number) })
	return &r
}
