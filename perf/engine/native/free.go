//go:build linux && amd64

package native

import (
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// In a free run the program's threads execute at the same time, each with a buffer of
// its own, while the engine handles their stops one after the other:
//
//	thread 0 ──run──▶ stop ─────────────▶ run ──▶
//	thread 1 ────run──────▶ stop  (waits) ──────▶ run ──▶
//	engine             handles 0 │ handles 1
//
// The thread whose stop is handled is the current one; machine.place and machine.next
// are its own for that time, and it counts its own instructions. System calls, futexes
// and signals are thus handled as if threads ran in turns.
//
// Translated code is shared. New code is written where no thread can be, and becomes
// reachable by a single write: of a slot of the jump table, or of the displacement of a
// jump, which lies within eight aligned bytes. A thread that still sees the old one
// stops at a breakpoint, which leads to the new code. To drop code, the engine waits
// until each thread has stopped by itself, which takes some milliseconds (longestFree),
// and parks it.

// runFreely prepares for threads that run at the same time, or for turns.
func (m *machine) runFreely(free bool) {
	m.parallel = free
	if free {
		m.runners = min(max(2*runtime.NumCPU(), 4), maxBuffers-4)
		m.unlocked = make(map[uint64]bool)
	}
}

// buffers returns the number of buffers. There are always some that no thread holds, so
// that one who has filled its buffer waits only for the reader.
func (m *machine) buffers() int {
	if m.parallel {
		return m.runners + 4
	}
	return buffers
}

// loopFreely runs the program until it ends or fails.
func (m *machine) loopFreely() error {
	for !m.ended {
		if err := m.setGoing(); err != nil || m.ended {
			return err
		}
		t, err := m.nextStop()
		if err != nil {
			return err
		}
		if t == nil {
			continue
		}
		if err := m.handle(t); err != nil {
			return err
		}
	}
	return nil
}

// handle handles the stop of a thread, whose status has been taken, and lets it run on
// if it is in translated code.
func (m *machine) handle(t *thread) error {
	signal := t.stopped
	if err := m.stopped(t, signal); err != nil || m.ended || t.gone {
		return err
	}
	if !t.parked {
		return m.goOn(t)
	}
	if t.blocked || m.crowded {
		m.release()
	}
	return nil
}

// goOn resumes the current thread.
func (m *machine) goOn(t *thread) error {
	if err := t.setRegisters(&t.regs); err != nil {
		return err
	}
	m.resumes++
	t.running, t.resumed = true, m.resumes
	return t.resume(0)
}

// attend makes t the current thread.
func (m *machine) attend(t *thread) {
	if m.current == t {
		return
	}
	if u := m.current; u != nil {
		m.tally()
		u.place, u.until = m.place, m.next
	}
	m.use(t)
	m.base = m.total - t.counted
	m.place, m.next = t.place, t.until
}

// tally counts what the current thread has executed among the total, as far as it is
// known.
func (m *machine) tally() {
	t, n := m.current, m.place.count
	if t.parked {
		n = m.own()
	}
	if n > t.counted {
		m.total += n - t.counted
		t.counted = n
	}
}

// release gives up the current thread's buffer. The thread is parked.
func (m *machine) release() {
	if m.place.limit == 0 || m.place.buffer < 0 {
		return
	}
	pos := m.stateWord(m.current, gsBuffer)
	count := m.executed(pos)
	m.send(pos, true)
	m.place = place{buffer: -1, unit: ringUnit, count: count}
}

// setGoing resumes every thread that can run. If all wait, it passes time.
func (m *machine) setGoing() error {
	for {
		m.settled, m.crowded = false, false
		poll := time.Since(m.polled) > pollAfter
		for _, t := range slices.Clone(m.threads) { // a system call may start or end one
			if t.running || t.gone || t.poll != nil && !poll {
				continue
			}
			if err := m.setOne(t); err != nil || m.ended {
				return err
			}
		}
		if poll {
			m.polled = time.Now()
		}
		m.rotate()
		switch {
		case m.settled: // some were stopped again
		case slices.ContainsFunc(m.threads, func(t *thread) bool { return t.running }):
			return nil
		default:
			if err := m.idle(); err != nil {
				return err
			}
		}
	}
}

// rotate lets another thread be the first to be given a buffer.
func (m *machine) rotate() {
	if m.crowded {
		m.threads = append(m.threads[1:], m.threads[0])
	}
}

// setOne resumes a thread if it can run.
func (m *machine) setOne(t *thread) error {
	m.attend(t)
	for !t.gone && !m.ended {
		if can, err := m.runnable(t); err != nil || !can {
			return err
		}
		if s := t.held; s != nil {
			t.held = nil
			if err := m.reached(t, s); err != nil {
				return err
			}
			if t.blocked {
				m.release()
			}
			continue
		}
		if m.place.limit == 0 && m.cache.traced && m.holders() >= m.runners {
			m.crowded = true
			return nil
		}
		if ok, err := m.lease(t); err != nil || !ok {
			return err
		}
		if err := m.unpark(t); err != nil {
			return err
		}
		return m.goOn(t)
	}
	return nil
}

// holders returns how many threads hold a buffer.
func (m *machine) holders() int {
	n := 0
	for _, t := range m.threads {
		p := &t.place
		if t == m.current {
			p = &m.place
		}
		if p.limit != 0 && p.buffer >= 0 {
			n++
		}
	}
	return n
}

// lease gives the current thread, which is parked, a share of the instructions up to
// the end of the run. It returns false if others have the rest, or if the run is over.
func (m *machine) lease(t *thread) (bool, error) {
	end := m.times.end
	if end == 0 {
		m.next = never
		return true, m.pause()
	}
	m.tally()
	left, others := int64(end-m.total), false
	for _, u := range m.threads {
		if u.running {
			others = true
			left -= max(int64(u.until-u.counted), 0)
		}
	}
	const last = 4 * finely // below it, one thread has all
	switch {
	case m.total >= end && !t.resumeAt.flows:
		return false, m.reach()
	case m.total >= end:
		left = 1 // to the next transfer of control
	case left <= 0:
		return false, nil
	case left > last && (others || len(m.threads) > 1):
		left /= 2
	}
	m.next = t.counted + uint64(left)
	return true, m.pause()
}

// Threads that wait for something outside are asked again after a time.
const pollAfter = 100 * time.Microsecond

// nextStop waits for the next stop of a thread, makes it the current one and takes its
// registers. It returns nil when it is time to look after threads that wait for
// something outside.
func (m *machine) nextStop() (*thread, error) {
	polls := slices.ContainsFunc(m.threads, func(t *thread) bool { return t.blocked && t.poll != nil })
	for tries := 0; ; tries++ {
		t, full := m.stoppedThread()
		if t != nil {
			status := m.child.early[t.pid]
			delete(m.child.early, t.pid)
			return t, m.took(t, status)
		}
		if !polls && !full {
			if err := m.child.await(0); err != nil {
				return nil, err
			}
			continue
		}
		const most, pause = 5, 20 * time.Microsecond
		if tries >= most && polls {
			return nil, nil
		}
		if tries > 0 {
			time.Sleep(pause)
		}
		if err := m.child.await(unix.WNOHANG); err != nil {
			return nil, err
		}
	}
}

// stoppedThread returns a thread that has stopped. Those that may have filled their
// buffer come last, and wait while there is no other buffer and some thread runs: full
// is true if there are such. Among them the one that was resumed earliest is taken:
// where the reader is slower than the threads, one of them would otherwise get all
// buffers, and a signal to another would never arrive.
func (m *machine) stoppedThread() (t *thread, full bool) {
	var last *thread
	running := false
	for _, u := range m.threads {
		if !u.running {
			continue
		}
		status, ok := m.child.early[u.pid]
		switch {
		case !ok:
			running = true
		case status.Stopped() && status.StopSignal() == unix.SIGSEGV:
			if last == nil || u.resumed < last.resumed {
				last = u
			}
		default:
			return u, false
		}
	}
	if last != nil && running && m.cache.traced && len(m.free) == 0 {
		return nil, true
	}
	return last, false
}

// took notes a status of a running thread.
func (m *machine) took(t *thread, status unix.WaitStatus) error {
	t.running = false
	if !status.Stopped() {
		return m.died(status)
	}
	m.attend(t)
	t.stopped = status.StopSignal()
	return t.registers(&t.regs)
}

// died returns how the program ended when a thread did so by itself: all have been
// killed.
func (m *machine) died(status unix.WaitStatus) error {
	for {
		last, err := m.child.waitFor(m.child.pid)
		if err != nil {
			return &endedError{status} // it was the first thread's
		}
		if !last.Stopped() {
			return &endedError{last}
		}
	}
}

// quiesce waits until all threads but the current one have stopped by themselves, and
// parks them. They go on later.
func (m *machine) quiesce() error {
	if !m.parallel {
		return nil
	}
	t := m.current
	for _, u := range m.threads {
		if u != t && u.running {
			m.settled = true
			if err := m.settle(u); err != nil {
				return err
			}
		}
	}
	m.attend(t)
	return nil
}

// settle waits until a running thread has stopped, and parks it.
func (m *machine) settle(t *thread) error {
	for {
		status, err := m.child.waitFor(t.pid)
		if err != nil {
			return err
		}
		if err := m.took(t, status); err != nil {
			return err
		}
		if err := m.parkAt(t, t.stopped); err != nil || t.parked {
			return err
		}
		if err := m.goOn(t); err != nil {
			return err
		}
	}
}

// parkAt parks the current thread where it has stopped, without going on with what it
// has stopped for: that it meets again. A thread that cannot be parked there is made
// ready to run to where it can.
func (m *machine) parkAt(t *thread, signal unix.Signal) error {
	r := &t.regs
	switch signal {
	case unix.SIGTRAP:
		if r.Rip-1 == m.miss {
			t.resumeAt, t.parked = m.arrival(r.Rcx), true
			r.Rcx, r.Rax = m.stateWord(t, gsRcx), m.stateWord(t, gsRax)
			m.restore(t, r, standardRegisters(m.cache))
			return nil
		}
		if s := m.stops[r.Rip-1]; s != nil {
			m.parkBy(t, s)
			return nil
		}
	case unix.SIGSEGV:
		info, err := t.sigInfo()
		if err != nil {
			return err
		}
		b := m.find(r.Rip)
		if b == nil || !m.inHole(sigAddr(&info)) {
			break
		}
		if r.Rip == b.lo {
			m.park(t, r, b)
			return nil
		}
		pos := register(r, int(b.regs.pos))
		m.next = min(m.next, m.executed(*pos))
		next, err := m.renew(*pos, uint64(b.instructions), uint64(max(b.span, b.words)))
		*pos = next
		return err
	}
	info, err := t.sigInfo()
	if err != nil {
		return err
	}
	if b := m.find(r.Rip); b != nil && sigCode(&info) > 0 && isFault(signal) {
		m.cutAt(t, b, false) // the instruction faults again
		return nil
	}
	return m.signalled(t, signal)
}

// isFault reports whether a signal is one that an instruction causes.
func isFault(s unix.Signal) bool {
	switch s {
	case unix.SIGSEGV, unix.SIGBUS, unix.SIGILL, unix.SIGFPE, unix.SIGTRAP:
		return true
	}
	return false
}

// parkBy parks the current thread at a breakpoint in translated code.
func (m *machine) parkBy(t *thread, s *stop) {
	switch s.kind {
	case stopLink:
		m.restore(t, &t.regs, s.regs)
		t.resumeAt = s.target
	case stopCall, stopSpecial:
		t.held, t.resumeAt = s, key{pc: s.inst.next(), flows: s.kind == stopSpecial}
	case stopCredit:
		m.restore(t, &t.regs, s.regs)
		t.resumeAt = key{pc: s.pc}
	case stopMemory:
		t.resumeAt = s.target
	default:
		t.resumeAt = key{pc: s.pc}
	}
	t.parked = true
}

// retry is a fault of a thread.
type retry struct{ pc, addr, count uint64 }

// mayRepeat reports whether a fault may come from a page that the engine had made
// read-only when the thread stopped, and another thread's stop has made writable since:
// if so, the instruction is to be tried again, once.
func (m *machine) mayRepeat(t *thread, addr uint64) bool {
	if !m.unlocked[addr&^(pageBytes-1)] {
		return false
	}
	now := retry{t.regs.Rip, addr, m.place.count}
	again := t.retried == now
	t.retried = now
	return !again
}

// stopAll parks all threads, as the run is over, and returns how many instructions they
// have executed.
func (m *machine) stopAll() uint64 {
	if err := m.quiesce(); err != nil {
		m.out.Instructions = m.total // the program is gone already: the run ends in any case
	}
	m.tally()
	return m.total
}

// finishAll passes on what all threads have recorded.
func (m *machine) finishAll() {
	for _, t := range m.threads {
		m.attend(t)
		if m.place.limit != 0 && m.place.buffer >= 0 {
			m.finish()
			m.place = place{buffer: -1, unit: 1}
		}
	}
}

// pad makes room so that the displacement of a jump, n bytes further on, lies within
// eight aligned bytes: it can then be changed while another thread executes the jump.
func (m *machine) pad(a *asm, n int) {
	if !m.parallel {
		return
	}
	for (a.addr()+uint64(n))&7 > 4 {
		a.b(0x90)
	}
}
