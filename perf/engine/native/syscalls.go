//go:build linux && amd64

package native

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"presage/perf/engine"
)

// handler executes or emulates a system call of the running thread, which is
// parked, and leaves the result in Rax.
type handler func(m *machine, t *thread) error

// handlers are the system calls that are not simply executed.
func handlers() map[uint64]handler {
	return map[uint64]handler{
		unix.SYS_EXIT:       (*machine).exitThread,
		unix.SYS_EXIT_GROUP: (*machine).exitGroup,

		unix.SYS_MMAP:     (*machine).callMmap,
		unix.SYS_MUNMAP:   (*machine).callMunmap,
		unix.SYS_MREMAP:   (*machine).callMremap,
		unix.SYS_MPROTECT: (*machine).callMprotect,
		unix.SYS_BRK:      (*machine).callBrk,

		unix.SYS_ARCH_PRCTL: (*machine).callArchPrctl,
		unix.SYS_RSEQ:       refused(unix.ENOSYS),

		unix.SYS_RT_SIGACTION:   (*machine).callSigaction,
		unix.SYS_RT_SIGPROCMASK: (*machine).callSigprocmask,
		unix.SYS_RT_SIGRETURN:   (*machine).callSigreturn,

		unix.SYS_CLOCK_GETTIME: (*machine).callClockGettime,
		unix.SYS_GETTIMEOFDAY:  (*machine).callGettimeofday,
		unix.SYS_TIME:          (*machine).callTime,
		unix.SYS_GETRANDOM:     (*machine).callGetrandom,

		unix.SYS_CLONE:  (*machine).callClone,
		unix.SYS_CLONE3: (*machine).callClone3,
		unix.SYS_FORK:   (*machine).callFork,
		unix.SYS_VFORK:  (*machine).callFork,
		unix.SYS_EXECVE: (*machine).callExec,
		unix.SYS_FUTEX:  (*machine).callFutex,
		unix.SYS_WAIT4:  (*machine).callWait4,

		unix.SYS_EXECVEAT: (*machine).callExec,

		unix.SYS_NANOSLEEP:       (*machine).callNanosleep,
		unix.SYS_CLOCK_NANOSLEEP: (*machine).callClockNanosleep,
		unix.SYS_SCHED_YIELD:     (*machine).callYield,
		unix.SYS_PAUSE:           (*machine).callPause,

		unix.SYS_GETPID:            (*machine).callGetpid,
		unix.SYS_GETTID:            (*machine).callGettid,
		unix.SYS_SET_TID_ADDRESS:   (*machine).callSetTidAddress,
		unix.SYS_KILL:              named(1),
		unix.SYS_TKILL:             named(1),
		unix.SYS_TGKILL:            (*machine).callTgkill,
		unix.SYS_RT_SIGQUEUEINFO:   named(1),
		unix.SYS_RT_TGSIGQUEUEINFO: named(2),
		unix.SYS_SCHED_GETAFFINITY: (*machine).callAffinity,
		unix.SYS_GETCPU:            (*machine).callGetcpu,

		unix.SYS_READ:        (*machine).callRead,
		unix.SYS_OPEN:        opener(func(r *unix.PtraceRegs) uint64 { return r.Rdi }),
		unix.SYS_OPENAT:      opener(func(r *unix.PtraceRegs) uint64 { return r.Rsi }),
		unix.SYS_CLOSE:       (*machine).callClose,
		unix.SYS_READV:       waiter(unix.POLLIN),
		unix.SYS_RECVFROM:    waiter(unix.POLLIN),
		unix.SYS_RECVMSG:     waiter(unix.POLLIN),
		unix.SYS_ACCEPT:      waiter(unix.POLLIN),
		unix.SYS_ACCEPT4:     waiter(unix.POLLIN),
		unix.SYS_WRITE:       waiter(unix.POLLOUT),
		unix.SYS_WRITEV:      waiter(unix.POLLOUT),
		unix.SYS_SENDTO:      waiter(unix.POLLOUT),
		unix.SYS_SENDMSG:     waiter(unix.POLLOUT),
		unix.SYS_POLL:        poller(inRdx, false),
		unix.SYS_PPOLL:       poller(inRdx, true),
		unix.SYS_EPOLL_WAIT:  poller(inR10, false),
		unix.SYS_EPOLL_PWAIT: poller(inR10, false),
	}
}

var calls = handlers()

// systemCall executes the system call that the running thread is about to make.
func (m *machine) systemCall(t *thread, i *inst) error {
	r := &t.regs
	number := r.Rax
	t.restored, t.restarts = false, false
	own := *r
	m.child.calling = own
	m.child.calling.Rip, m.child.calling.Rcx, m.child.calling.R11 = i.next(), i.next(), r.Eflags
	var err error
	if h := calls[number]; h != nil {
		err = h(m, t)
	} else {
		err = m.execute(t)
	}
	if interrupted := new(interruptedError); errors.As(err, &interrupted) {
		if interrupted.before {
			*r = own
		}
		return m.interrupted(t, i, number, interrupted)
	}
	if !t.restored {
		r.Rcx, r.R11 = i.next(), r.Eflags
	}
	if err != nil || m.ended {
		return err
	}
	return m.deliverPending()
}

// execute makes the system call in the program.
func (m *machine) execute(t *thread) error {
	r := &t.regs
	own := *r
	if other := m.instead(t); other != nil {
		_, err := m.child.call(t.task, r, gadgetAt, other[0], other[1:]...)
		result := r.Rax
		*r = own
		r.Rax = result
		return err
	}
	_, err := m.child.call(t.task, r, gadgetAt, r.Rax, r.Rdi, r.Rsi, r.Rdx, r.R10, r.R8, r.R9)
	if err == nil && len(m.guarded) > 0 && r.Rax == errnoResult(unix.EFAULT) {
		// The kernel may have found a page that only the engine made read-only.
		if err := m.unguardAll(); err != nil {
			return err
		}
		*r = own
		_, err = m.child.call(t.task, r, gadgetAt, r.Rax, r.Rdi, r.Rsi, r.Rdx, r.R10, r.R8, r.R9)
	}
	return err
}

func refused(errno unix.Errno) handler {
	return func(_ *machine, t *thread) error {
		t.fail(errno)
		return nil
	}
}

func (t *thread) fail(errno unix.Errno) { t.regs.Rax = -uint64(errno) }

// exitGroup ends the program.
func (m *machine) exitGroup(t *thread) error {
	m.out.ExitCode = int(t.regs.Rdi & 0xff)
	m.changed(broke, t, t.resumeAt.pc-callBytes)
	t.gone = true
	m.stop(m.now())
	return nil
}

func pageUp(n uint64) uint64 { return (n + pageBytes - 1) &^ (pageBytes - 1) }

// callMmap executes mmap and follows it.
func (m *machine) callMmap(t *thread) error {
	r := t.regs
	addr, size, prot, flags, offset := r.Rdi, pageUp(r.Rsi), r.Rdx, r.R10, r.R9
	if flags&unix.MAP_FIXED != 0 && m.engineIn(addr, addr+size) {
		return fmt.Errorf("native: the program maps memory at %#x, where the engine has its own", addr)
	}
	if err := m.execute(t); err != nil || isError(t.regs.Rax) {
		return err
	}
	at := t.regs.Rax
	if flags&unix.MAP_FIXED != 0 {
		if err := m.unmap(at, at+size); err != nil {
			return err
		}
	}
	if prot != unix.PROT_NONE || flags&unix.MAP_NORESERVE == 0 {
		if err := m.maps.add(at, at+size); err != nil {
			return err
		}
	}
	m.forget(at, at+size)
	m.maps.protect(at, at+size, prot&unix.PROT_WRITE != 0, prot&unix.PROT_EXEC != 0)
	if flags&unix.MAP_ANONYMOUS != 0 {
		m.maps.anonymousMaps++
		return nil
	}
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", t.pid, int32(r.R8)))
	if err != nil {
		return nil // a file without a name has no code that could be named
	}
	if err := m.maps.file(path, at, at+size, offset); err != nil {
		return err
	}
	m.tellLoaded()
	return nil
}

// engineIn reports whether the engine has memory in a range.
func (m *machine) engineIn(lo, hi uint64) bool {
	if lo < engineEnd && hi > engineBase {
		return true
	}
	return slices.ContainsFunc(m.zones, func(z *zone) bool { return lo < z.hot.base+zoneBytes && z.hot.base < hi })
}

func (m *machine) callMunmap(t *thread) error {
	addr, size := t.regs.Rdi, pageUp(t.regs.Rsi)
	if m.engineIn(addr, addr+size) {
		t.fail(unix.EINVAL)
		return nil
	}
	if err := m.execute(t); err != nil || isError(t.regs.Rax) {
		return err
	}
	m.forget(addr, addr+size)
	return m.unmap(addr, addr+size)
}

func (m *machine) callMremap(t *thread) error {
	old, oldSize, size := t.regs.Rdi, pageUp(t.regs.Rsi), pageUp(t.regs.Rdx)
	if m.engineIn(old, old+oldSize) {
		t.fail(unix.EFAULT)
		return nil
	}
	if err := m.execute(t); err != nil || isError(t.regs.Rax) {
		return err
	}
	_, _, execute := m.maps.executable.around(old)
	_, _, both := m.maps.both.around(old)
	if err := m.unmap(old, old+oldSize); err != nil {
		return err
	}
	m.maps.protect(t.regs.Rax, t.regs.Rax+size, both, execute)
	return m.maps.add(t.regs.Rax, t.regs.Rax+size)
}

// callMprotect executes mprotect. Code that was translated may change when it
// becomes writable, and what was data may become code.
func (m *machine) callMprotect(t *thread) error {
	addr, size, prot := t.regs.Rdi, pageUp(t.regs.Rsi), t.regs.Rdx
	if m.engineIn(addr, addr+size) {
		t.fail(unix.EACCES)
		return nil
	}
	if err := m.execute(t); err != nil || isError(t.regs.Rax) {
		return err
	}
	if prot&unix.PROT_WRITE != 0 && m.translatedIn(addr, addr+size) {
		if err := m.flushCode(); err != nil {
			return err
		}
	}
	m.forget(addr, addr+size)
	m.maps.protect(addr, addr+size, prot&unix.PROT_WRITE != 0, prot&unix.PROT_EXEC != 0)
	if prot != unix.PROT_NONE {
		return m.maps.add(addr, addr+size)
	}
	return nil
}

// translatedIn reports whether code in a range was translated.
func (m *machine) translatedIn(lo, hi uint64) bool {
	for _, c := range m.caches {
		for _, b := range c.blocks {
			if b.within(lo, hi) || slices.ContainsFunc(b.parts, func(p *block) bool { return p.within(lo, hi) }) {
				return true
			}
		}
	}
	return false
}

func (m *machine) callBrk(t *thread) error {
	if err := m.execute(t); err != nil {
		return err
	}
	s, now := m.maps, t.regs.Rax
	old := s.brk
	s.brk = now
	if old == 0 {
		s.heapStart = now
	}
	s.heapPeak = max(s.heapPeak, now-s.heapStart)
	switch {
	case old == 0 || now == old:
		return nil
	case now < old:
		s.remove(pageUp(now), pageUp(old))
		return nil
	}
	return s.add(pageUp(old), pageUp(now))
}

const (
	archSetGS = 0x1001
	archSetFS = 0x1002
	archGetFS = 0x1003
	archGetGS = 0x1004
)

// callArchPrctl executes arch_prctl. What is recorded relative to FS before and
// after must not mix.
func (m *machine) callArchPrctl(t *thread) error {
	switch t.regs.Rdi {
	case archSetFS:
		m.sendNow()
		return m.execute(t)
	case archGetFS:
		return m.execute(t)
	case archSetGS:
		return fmt.Errorf("native: the program uses the segment register gs, which the engine needs")
	case archGetGS:
		t.fail(unix.EFAULT)
		if t.write(t.regs.Rsi, make([]byte, 8)) == nil {
			t.regs.Rax = 0
		}
		return nil
	}
	return m.execute(t)
}

// sendNow passes what the running thread, which is parked, recorded to the reader.
func (m *machine) sendNow() { m.send(m.stateWord(m.current, gsBuffer), false) }

// store writes words to the program's memory and makes the call succeed, or fail
// with EFAULT.
func (t *thread) store(addr uint64, words ...uint64) {
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	t.regs.Rax = 0
	if t.task.write(addr, b) != nil {
		t.fail(unix.EFAULT)
	}
}

// epoch is the time of day at which every program starts: 2020-01-01 UTC.
const epoch = 1577836800

const nanoseconds = 1_000_000_000

func (m *machine) callClockGettime(t *thread) error {
	now := m.clock()
	switch int32(t.regs.Rdi) {
	case unix.CLOCK_REALTIME, unix.CLOCK_REALTIME_COARSE, unix.CLOCK_TAI:
		now += epoch * nanoseconds
	}
	t.store(t.regs.Rsi, now/nanoseconds, now%nanoseconds)
	return nil
}

func (m *machine) callGettimeofday(t *thread) error {
	t.regs.Rax = 0
	if now := m.clock(); t.regs.Rdi != 0 {
		t.store(t.regs.Rdi, epoch+now/nanoseconds, now%nanoseconds/1000)
	}
	return nil
}

func (m *machine) callTime(t *thread) error {
	seconds := epoch + m.clock()/nanoseconds
	if t.regs.Rdi != 0 {
		t.store(t.regs.Rdi, seconds)
	}
	if !isError(t.regs.Rax) || t.regs.Rdi == 0 {
		t.regs.Rax = seconds
	}
	return nil
}

// clock returns the time that passed for the program: a nanosecond for each
// instruction, and what it slept.
func (m *machine) clock() uint64 { return m.now() + m.slept }

func (m *machine) callGetrandom(t *thread) error {
	size := min(t.regs.Rsi, 1<<20)
	b := make([]byte, size)
	m.random.Read(b)
	t.regs.Rax = size
	if t.task.write(t.regs.Rdi, b) != nil {
		t.fail(unix.EFAULT)
	}
	return nil
}

// noCode handles a jump to where there is no code or no instruction.
func (m *machine) noCode(t *thread, pc uint64) error {
	signal, access := unix.SIGILL, ""
	if len(m.code(pc)) == 0 {
		signal, access = unix.SIGSEGV, "fetch"
	}
	t.parked, t.resumeAt = true, key{pc: pc}
	m.changed(left, t, pc)
	if m.actions[signal].handler > handlerIgnore && t.hidden&bit(signal) == 0 {
		info := newSigInfo(signal)
		binary.LittleEndian.PutUint32(info[8:], 1) // SEGV_MAPERR, ILL_ILLOPC
		binary.LittleEndian.PutUint64(info[16:], pc)
		return m.deliver(t, signal, &info)
	}
	return m.fatal(t, signal, &engine.Fault{PC: pc, Addr: pc, Access: access})
}
