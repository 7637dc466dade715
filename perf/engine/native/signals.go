//go:build linux && amd64

package native

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"presage/perf/engine"
)

// Signals reach the engine before the program. One that the program handles is
// delivered by the kernel, which builds its frame, while the thread has all its own
// registers and Rip is the program's address; the handler is then translated like
// any other code. One from outside waits for the next transfer of control at which
// the thread stops anyway, or interrupts a system call.

// action64 is what the program wants done on a signal, as rt_sigaction has it.
type action64 struct{ handler, flags, restorer, mask uint64 }

const (
	handlerDefault = 0
	handlerIgnore  = 1

	saRestart   = 0x10000000
	saNoDefer   = 0x40000000
	saResetHand = 0x80000000

	actionBytes = 32
	setBytes    = 8
)

// queued is a signal that waits to be delivered.
type queued struct {
	thread *thread
	signal unix.Signal
	info   [sigInfoBytes]byte
}

// bit returns a signal's bit in a set.
func bit(s unix.Signal) uint64 { return 1 << (s - 1) }

// needed are the signals by which translated code stops: the kernel must be able to
// send them at any time.
const needed = 1<<(unix.SIGTRAP-1) | 1<<(unix.SIGSEGV-1)

// ignores reports whether a signal has no effect on the program.
func (m *machine) ignores(s unix.Signal) bool {
	switch m.actions[s].handler {
	case handlerIgnore:
		return true
	case handlerDefault:
		switch s {
		case unix.SIGCHLD, unix.SIGCONT, unix.SIGURG, unix.SIGWINCH, unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
			return true
		}
	}
	return false
}

// signalled handles a signal that arrived while a thread ran translated code.
func (m *machine) signalled(t *thread, s unix.Signal) error {
	t.nudged = false
	info, err := t.sigInfo()
	if err != nil {
		return err
	}
	if sigCode(&info) > 0 {
		switch s {
		case unix.SIGSEGV, unix.SIGBUS, unix.SIGILL, unix.SIGFPE, unix.SIGTRAP:
			return m.fault(t, s, &info)
		}
	}
	if m.ignores(s) {
		return nil
	}
	m.pending = append(m.pending, queued{t, s, info})
	return nil
}

// keep takes a signal that stopped a thread's system call, to be delivered later.
func (m *machine) keep(k *task, s unix.Signal) error {
	i := slices.IndexFunc(m.threads, func(t *thread) bool { return t.task == k })
	if i < 0 {
		return fmt.Errorf("native: signal %d for a thread that has ended", s)
	}
	info, err := k.sigInfo()
	m.pending = append(m.pending, queued{m.threads[i], s, info})
	return err
}

// fault handles an instruction of the program that faulted.
func (m *machine) fault(t *thread, s unix.Signal, info *[sigInfoBytes]byte) error {
	b := m.find(t.regs.Rip)
	if b == nil || b.memory != noMemory {
		return &engine.Fault{Engine: m.name, Signal: int(s), PC: t.regs.Rip, Addr: sigAddr(info)}
	}
	pc := m.cutAt(t, b, true)
	t.regs.Rip = pc
	m.changed(broke, t, pc)
	switch s {
	case unix.SIGILL, unix.SIGFPE, unix.SIGTRAP:
		binary.LittleEndian.PutUint64(info[16:], pc)
	}
	f := m.cause(t, s, info)
	if m.actions[s].handler > handlerIgnore && t.hidden&bit(s) == 0 {
		err := m.deliver(t, s, info)
		if ended := new(endedError); s != unix.SIGSEGV || !errors.As(err, &ended) || !ended.status.Signaled() || ended.status.Signal() != s {
			return err
		}
		// There was no stack for the handler: the program was killed.
	}
	return m.fatal(t, s, f)
}

// cause describes a signal that the instruction at which t is parked has caused.
func (m *machine) cause(t *thread, s unix.Signal, info *[sigInfoBytes]byte) *engine.Fault {
	f := &engine.Fault{PC: t.regs.Rip}
	i, err := decode(m.code(f.PC), f.PC)
	if err != nil || s != unix.SIGSEGV && s != unix.SIGBUS {
		return f
	}
	f.Addr, f.Access = sigAddr(info), "load"
	for k := range i.refs {
		f.Size = uint64(i.refs[k].size)
		if i.refs[k].kind.Writes() {
			f.Access = "store"
		}
	}
	if s == unix.SIGSEGV {
		m.overflowed(t, f)
	}
	return f
}

// cutAt gives thread t, which stopped within block b, its own registers, and records
// the instructions of b that it executed. It returns the address of the one that it
// did not. The thread is parked there.
func (m *machine) cutAt(t *thread, b *block, faulted bool) uint64 {
	r := &t.regs
	k := b.at(r.Rip)
	pos := m.stateWord(t, gsBuffer)
	var scratch uint64
	own := r.Rip >= b.left && b.last != branch && b.last != call && b.last != jump
	if own {
		r.Rcx = m.stateWord(t, gsRcx)
		if b.leftRegs.pos >= 0 {
			pos = *register(r, int(b.leftRegs.pos))
			m.restore(t, r, b.leftRegs)
		}
	} else {
		pos = *register(r, int(b.regs.pos))
		if b.regs.scratch >= 0 {
			scratch = *register(r, int(b.regs.scratch))
		}
		m.restore(t, r, b.regs)
	}
	if b.advanced != 0 && r.Rip >= b.advanced {
		if m.place.buffer < 0 {
			pos -= uint64(b.instructions)
		} else {
			pos -= 8 * uint64(b.span)
		}
	}
	pc := b.pc + uint64(int64(b.starts[k]))
	c := &cut{block: b, n: k, faulted: faulted}
	if m.place.buffer >= 0 {
		start := buffersAt + uint64(m.place.buffer)*bufferStride
		w := m.bufferWords(m.place.buffer)[(pos-start)/8:]
		if b.loop {
			w[endWord] = scratch
			c.iteration = (scratch - w[beginWord]) / (8 * uint64(b.instructions))
		}
		c.words = append([]uint64(nil), w[:min(len(w), int(max(b.span, b.words)))]...)
	}
	if b.loop {
		if m.place.buffer >= 0 {
			pos += 8 * uint64(b.span)
		}
		m.setStateWord(t, gsCredit, scratch)
	}
	m.setStateWord(t, gsBuffer, pos)
	m.cut(t, c, pos)
	t.parked, t.resumeAt = true, key{pc: pc, flows: true}
	return pc
}

// cut is an execution of the first instructions of a block.
type cut struct {
	block *block
	words []uint64
	n     int

	faulted   bool   // the next one
	iteration uint64 // of a loop
}

// cut passes an execution of a part of a block, whose record begins at pos, to the
// reader.
func (m *machine) cut(t *thread, c *cut, pos uint64) {
	p := &m.place
	if p.buffer >= 0 {
		m.send(pos, false)
		m.full <- segment{buffer: p.buffer, blocks: m.blocks, thread: t.index, fs: t.regs.Fs_base, count: p.count, cut: c}
	} else {
		m.fold(pos)
	}
	p.count += uint64(c.n)
}

// callBytes is the length of a system call's instruction.
const callBytes = 2

const ptraceSetSigInfo = 0x4203

// deliver delivers a signal to a parked thread whose Rip is the program's.
func (m *machine) deliver(t *thread, s unix.Signal, info *[sigInfoBytes]byte) error {
	if err := t.setRegisters(&t.regs); err != nil {
		return err
	}
	unix.RawSyscall6(unix.SYS_PTRACE, ptraceSetSigInfo, uintptr(t.pid), 0, uintptr(unsafe.Pointer(info)), 0, 0)
	if err := t.step(s); err != nil {
		return err
	}
	if _, err := m.await(t); err != nil {
		return err
	}
	if flags := m.actions[s].flags; flags&saResetHand != 0 {
		m.actions[s].handler = handlerDefault
	}
	t.parked, t.resumeAt = true, key{pc: t.regs.Rip}
	m.changed(entered, t, t.regs.Rip)
	return nil
}

// changed notes a change in the flow of control of the running thread other than by
// an instruction.
func (m *machine) changed(kind eventKind, t *thread, pc uint64) {
	if m.plan.Flow == nil || !m.cache.traced {
		return
	}
	if m.place.buffer >= 0 && m.place.limit != 0 && t == m.current {
		m.sendNow()
	}
	m.full <- segment{
		thread: m.current.index, count: m.own(),
		events: []event{{kind: kind, pc: m.maps.planPC(pc), thread: t.index, current: t == m.current}},
	}
}

// deliverPending delivers the signals that wait for the running thread, which is
// parked.
func (m *machine) deliverPending() error {
	for i := 0; i < len(m.pending) && !m.ended; {
		q := m.pending[i]
		if q.thread != m.current {
			i++
			continue
		}
		m.pending = slices.Delete(m.pending, i, i+1)
		if err := m.arrived(q.thread, &q); err != nil {
			return err
		}
	}
	return nil
}

// arrived delivers a signal from outside to a parked thread.
func (m *machine) arrived(t *thread, q *queued) error {
	switch {
	case m.ignores(q.signal):
		return nil
	case m.actions[q.signal].handler == handlerDefault:
		m.out.Signal, m.out.ExitCode = int(q.signal), 128+int(q.signal)
		m.stop(m.now())
		return nil
	}
	t.regs.Rip = t.resumeAt.pc
	m.changed(left, t, t.regs.Rip)
	return m.deliver(t, q.signal, &q.info)
}

// The kernel's results of system calls that a signal stopped.
const (
	restartSys     = 512
	restartNoIntr  = 513
	restartNoHand  = 514
	restartByBlock = 516
)

// restarts reports whether a result of the kernel means that a signal stopped the call.
func restarts(result uint64) bool {
	switch -int64(result) {
	case restartSys, restartNoIntr, restartNoHand, restartByBlock:
		return true
	}
	return false
}

// interrupted handles a signal that stopped a system call. One that is yet to be made is
// made after the signal's handler.
func (m *machine) interrupted(t *thread, i *inst, number uint64, by *interruptedError) error {
	s := by.signal
	t.nudged = false
	info, err := t.sigInfo()
	if err != nil {
		return err
	}
	if by.before {
		t.regs.Orig_rax, t.resumeAt = ^uint64(0), key{pc: i.pc}
		return m.arrived(t, &queued{t, s, info})
	}
	result := -int64(by.result)
	t.regs.Rax, t.regs.Orig_rax = by.result, ^uint64(0)
	t.regs.Rcx, t.regs.R11 = i.next(), t.regs.Eflags
	switch {
	case result == restartNoIntr, result == restartSys && m.actions[s].flags&saRestart != 0:
		t.regs.Rax = number
		t.resumeAt = key{pc: i.pc}
	case result == restartSys, result == restartNoHand, result == restartByBlock:
		t.fail(unix.EINTR)
	}
	return m.arrived(t, &queued{t, s, info})
}

// callSigaction executes rt_sigaction. What the kernel is told differs in that the
// signals that the engine needs are never blocked or ignored.
func (m *machine) callSigaction(t *thread) error {
	r := t.regs
	s, to, from := r.Rdi, r.Rsi, r.Rdx
	if s == 0 || s >= uint64(len(m.actions)) || r.R10 != setBytes {
		return m.execute(t)
	}
	old := m.actions[s]
	if to != 0 {
		var b [actionBytes]byte
		if t.read(to, b[:]) != len(b) {
			t.fail(unix.EFAULT)
			return nil
		}
		if err := m.setAction(t, unix.Signal(s), &b); err != nil || isError(t.regs.Rax) {
			return err
		}
	}
	t.regs.Rax = 0
	if from != 0 {
		t.store(from, old.handler, old.flags, old.restorer, old.mask)
	}
	return nil
}

func (m *machine) setAction(t *thread, s unix.Signal, b *[actionBytes]byte) error {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	a := action64{word(0), word(1), word(2), word(3)}
	told := a
	told.mask &^= needed
	if needed&bit(s) != 0 {
		told.flags |= saNoDefer
		if told.handler == handlerIgnore {
			told.handler = handlerDefault
		}
	}
	copyAt := stateAddr(t.slot) + gsCopy
	state := m.stateBytes(t)[gsCopy:]
	for i, w := range []uint64{told.handler, told.flags, told.restorer, told.mask} {
		binary.LittleEndian.PutUint64(state[8*i:], w)
	}
	saved := t.regs
	_, err := m.child.call(t.task, &t.regs, gadgetAt, unix.SYS_RT_SIGACTION, uint64(s), copyAt, 0, setBytes)
	result := t.regs.Rax
	t.regs = saved
	t.regs.Rax = result
	if err == nil && !isError(result) {
		m.actions[s] = a
	}
	return err
}

// callSigprocmask executes rt_sigprocmask, but blocks none of the signals that the
// engine needs.
func (m *machine) callSigprocmask(t *thread) error {
	r := t.regs
	how, to, from := r.Rdi, r.Rsi, r.Rdx
	if to == 0 || r.R10 != setBytes {
		if err := m.execute(t); err != nil || isError(t.regs.Rax) || from == 0 {
			return err
		}
		m.showHidden(t, from, t.hidden)
		return nil
	}
	set, ok := t.word(to)
	if !ok {
		t.fail(unix.EFAULT)
		return nil
	}
	hidden := t.hidden
	switch how {
	case unix.SIG_BLOCK:
		hidden |= set & needed
	case unix.SIG_UNBLOCK:
		hidden &^= set
	case unix.SIG_SETMASK:
		hidden = set & needed
	}
	binary.LittleEndian.PutUint64(m.stateBytes(t)[gsCopy:], set&^needed)
	saved, old := t.regs, t.hidden
	_, err := m.child.call(t.task, &t.regs, gadgetAt, unix.SYS_RT_SIGPROCMASK, how, stateAddr(t.slot)+gsCopy, from, setBytes)
	result := t.regs.Rax
	t.regs = saved
	t.regs.Rax = result
	if err != nil || isError(result) {
		return err
	}
	if t.hidden = hidden; from != 0 {
		m.showHidden(t, from, old)
	}
	return nil
}

// showHidden adds the signals that only the program takes for blocked to a set.
func (m *machine) showHidden(t *thread, at, hidden uint64) {
	set, _ := t.word(at)
	result := t.regs.Rax
	t.store(at, set|hidden)
	t.regs.Rax = result
}

// callSigreturn lets the kernel restore the registers from a signal's frame.
func (m *machine) callSigreturn(t *thread) error {
	t.regs.Rip, t.regs.Orig_rax = gadgetAt, ^uint64(0)
	if err := t.setRegisters(&t.regs); err != nil {
		return err
	}
	for made := false; !made; made = t.regs.Rip != gadgetAt {
		if err := t.step(0); err != nil {
			return err
		}
		status, err := m.await(t)
		if err != nil {
			return err
		}
		switch s := status.StopSignal(); {
		case s == unix.SIGTRAP, m.ignores(s):
		case t.regs.Rip == gadgetAt:
			return &interruptedError{signal: s, before: true}
		default:
			if err := m.keep(t.task, s); err != nil {
				return err
			}
		}
	}
	t.restored = true
	m.changed(broke, t, t.resumeAt.pc-callBytes)
	t.resumeAt = key{pc: t.regs.Rip}
	m.changed(entered, t, t.regs.Rip)
	return nil
}
