//go:build linux && amd64

package native

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"presage/perf/engine"
)

// Threads run one at a time. A turn ends when the thread waits, yields, or has
// executed turnInstructions; the next thread is the one that follows in order of
// creation. So their interleaving depends on nothing but the program.
const turnInstructions = 1 << 20

// The program sees identifiers that are the same in every run.
const firstID = 1000

// newThread adds a thread of the program.
func (m *machine) newThread(k *task, regs *unix.PtraceRegs) (*thread, error) {
	t := &thread{task: k, index: int32(m.created), id: firstID + m.created, regs: *regs, deadline: never}
	if err := m.giveSlot(t); err != nil {
		return nil, err
	}
	t.regs.Gs_base = stateAddr(t.slot)
	m.created++
	m.threads = append(m.threads, t)
	return t, nil
}

// giveSlot gives a new thread a slot for its state: that of one that has ended, if
// there is one.
func (m *machine) giveSlot(t *thread) error {
	if n := len(m.slots) - 1; n >= 0 {
		t.slot, m.slots = m.slots[n], m.slots[:n]
		clear(m.stateBytes(t))
		return nil
	}
	t.slot = len(m.threads)
	if t.slot >= maxThreads {
		return fmt.Errorf("native: the program has more than %d threads at a time", maxThreads)
	}
	return m.child.mapState(t.slot)
}

// callClone executes clone, fork and vfork: a thread joins the program, a process
// runs unrecorded.
func (m *machine) callClone(t *thread) error {
	return m.spawn(t, t.regs.Rdi, t.regs.Rdx, t.regs.R10)
}

func (m *machine) callFork(t *thread) error { return m.spawn(t, 0, 0, 0) }

// callClone3 executes clone3.
func (m *machine) callClone3(t *thread) error {
	var b [64]byte
	if t.regs.Rsi < uint64(len(b)) || t.read(t.regs.Rdi, b[:]) < len(b) {
		t.fail(unix.EINVAL)
		return nil
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	return m.spawn(t, word(0), word(3), word(2))
}

// spawn executes a system call that starts a thread or a process. parentAt and
// childAt are where its identifier is stored, if the flags say so.
func (m *machine) spawn(t *thread, flags, parentAt, childAt uint64) error {
	m.child.created = 0
	if flags&unix.CLONE_THREAD == 0 && len(m.guarded) > 0 {
		if err := m.unguardAll(); err != nil {
			return err
		}
	}
	if flags&unix.CLONE_THREAD != 0 {
		if err := m.separate(); err != nil {
			return err
		}
	}
	own := t.regs
	if err := m.execute(t); err != nil || isError(t.regs.Rax) {
		return err
	}
	pid := m.child.created
	switch {
	case pid == 0:
		return nil
	case flags&unix.CLONE_THREAD == 0:
		return m.child.release(pid)
	}
	m.child.threads[pid] = true
	status, err := m.child.waitFor(pid)
	if err != nil {
		return err
	}
	if !status.Stopped() {
		return &endedError{status}
	}
	k := &task{pid: pid, mem: t.mem}
	regs := own
	var now unix.PtraceRegs
	if err := k.registers(&now); err != nil {
		return err
	}
	regs.Rax, regs.Rsp, regs.Fs_base, regs.Orig_rax = 0, now.Rsp, now.Fs_base, ^uint64(0)
	regs.Rcx, regs.R11 = t.resumeAt.pc, own.Eflags
	n, err := m.newThread(k, &regs)
	if err != nil {
		return err
	}
	m.setStackEnd(n)
	n.top = now.Rsp
	n.parked, n.resumeAt, n.hidden = true, t.resumeAt, t.hidden
	id := binary.LittleEndian.AppendUint32(nil, uint32(n.id))
	if flags&unix.CLONE_PARENT_SETTID != 0 {
		t.write(parentAt, id) // fails only if the kernel's own store has failed
	}
	if flags&(unix.CLONE_CHILD_SETTID|unix.CLONE_CHILD_CLEARTID) != 0 {
		n.clearAt = childAt
		if flags&unix.CLONE_CHILD_SETTID != 0 {
			t.write(childAt, id)
		}
	}
	t.regs.Rax = uint64(n.id)
	m.changed(entered, n, n.resumeAt.pc)
	m.startTurn()
	return nil
}

// startTurn makes the running thread stop at the end of its turn if there are
// others.
func (m *machine) startTurn() {
	m.times.turn = never
	if len(m.threads) > 1 && !m.parallel {
		m.times.turn = m.now() + turnInstructions
	}
	m.plans()
}

// exitThread ends the running thread.
func (m *machine) exitThread(t *thread) error {
	if len(m.threads) == 1 {
		return m.exitGroup(t)
	}
	m.changed(broke, t, t.resumeAt.pc-callBytes)
	t.gone = true
	if t.clearAt != 0 {
		t.write(t.clearAt, make([]byte, 4))
		m.futexWake(t.clearAt, 1, ^uint32(0))
	}
	t.regs.Rip, t.regs.Orig_rax = gadgetAt, ^uint64(0)
	if err := t.setRegisters(&t.regs); err != nil {
		return err
	}
	if err := t.resume(0); err != nil {
		return err
	}
	if t.pid != m.child.pid { // the first thread stays until all others are gone
		if _, err := m.child.waitFor(t.pid); err != nil {
			return err
		}
		delete(m.child.threads, t.pid)
	}
	i := slices.Index(m.threads, t)
	m.threads = slices.Delete(m.threads, i, i+1)
	m.slots = append(m.slots, t.slot)
	if m.parallel {
		m.release()
		m.full <- segment{thread: t.index, count: m.place.count, ends: true}
		return nil
	}
	m.sendNow()
	return m.schedule(i)
}

// block suspends the running thread in a system call until it is woken, poll
// reports a result, or the clock reaches the deadline, which gives late.
func (m *machine) block(t *thread, deadline, late uint64, poll func() (uint64, bool, error)) error {
	t.blocked, t.deadline, t.late, t.poll = true, deadline, late, poll
	q := slices.IndexFunc(m.pending, func(q queued) bool { return q.thread == t && !m.ignores(q.signal) })
	switch {
	case q >= 0:
		m.stopWaiting(t, m.pending[q].signal)
	case m.parallel && t.nudged:
		m.futexRemove(t)
		t.wake(errnoResult(unix.EINTR))
	default:
		return m.nextThread()
	}
	t.nudged = false
	return nil
}

// stopWaiting ends the wait of a thread for a signal: its system call is interrupted, or made
// again after a handler that asks for that.
func (m *machine) stopWaiting(t *thread, s unix.Signal) {
	m.futexRemove(t)
	number := t.regs.Rax
	if t.wake(errnoResult(unix.EINTR)); t.restarts && m.actions[s].flags&saRestart != 0 {
		t.regs.Rax, t.resumeAt = number, key{pc: t.resumeAt.pc - callBytes}
	}
}

// wake ends the wait of a thread with the result of its system call.
func (t *thread) wake(result uint64) {
	t.blocked, t.poll, t.deadline = false, nil, never
	t.regs.Rax = result
}

// nextThread ends the turn of the running thread.
func (m *machine) nextThread() error {
	if m.parallel {
		return nil
	}
	return m.schedule(slices.Index(m.threads, m.current) + 1)
}

// turnOver ends the turn of the running thread because it is used up.
func (m *machine) turnOver() error { return m.nextThread() }

// schedule gives the turn to the first thread from i on, in a circle, that can run.
// When all sleep, the clock advances to the first deadline; when all wait for
// something outside, so does the engine.
func (m *machine) schedule(i int) error {
	for {
		for k := range m.threads {
			t := m.threads[(i+k)%len(m.threads)]
			can, err := m.runnable(t)
			if err != nil {
				return err
			}
			if can {
				return m.switchTo(t)
			}
		}
		if err := m.idle(); err != nil {
			return err
		}
	}
}

// runnable reports whether a thread can run. It first ends a wait that is over.
func (m *machine) runnable(t *thread) (bool, error) {
	if !t.blocked {
		return true, nil
	}
	if t.poll != nil {
		result, done, err := t.poll()
		if stopped := new(interruptedError); errors.As(err, &stopped) {
			m.stopWaiting(t, stopped.signal)
			return true, m.keep(t.task, stopped.signal)
		}
		if err != nil {
			return false, err
		}
		if done {
			t.wake(result)
			return true, nil
		}
	}
	if t.deadline <= m.clock() {
		m.futexRemove(t)
		t.wake(t.late)
		return true, nil
	}
	return false, nil
}

// idle passes time while no thread can run.
func (m *machine) idle() error {
	if err := m.pause(); err != nil {
		return err
	}
	first, polls := uint64(never), false
	for _, t := range m.threads {
		first = min(first, t.deadline)
		polls = polls || t.poll != nil
	}
	switch {
	case first != never:
		m.slept += first - m.clock()
	case polls:
		return m.outside()
	default:
		return engine.ErrDeadlock
	}
	return nil
}

// switchTo gives the turn to a thread.
func (m *machine) switchTo(t *thread) error {
	if m.current != t {
		if m.place.limit != 0 {
			pos := m.stateWord(m.current, gsBuffer)
			m.send(pos, false)
			m.fold(pos)
			m.setStateWord(t, gsBuffer, pos)
			m.setStateWord(t, gsCredit, m.place.credit)
		}
		m.use(t)
	}
	m.startTurn()
	return nil
}
