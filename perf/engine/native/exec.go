//go:build linux && amd64

package native

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// A program may replace itself by another (execve). The process goes on, but nothing of
// what it had in memory: the engine maps its own memory into it again and begins with the
// new program as it did with the first. The counts go on, files have new places in the
// plan, and addresses in the trace are others than those of the program before.

// errReplaced means that a system call has replaced the program.
var errReplaced = errors.New("native: the program was replaced")

// ErrExec means that the program has replaced itself by one that this engine does not
// run.
var ErrExec = errors.New("the program replaced itself by another (exec), which this engine cannot follow")

// callExec executes execve and execveat. If these succeed, all other threads are gone.
func (m *machine) callExec(t *thread) error {
	if err := m.quiesce(); err != nil {
		return err
	}
	if len(m.guarded) > 0 { // the path and the arguments may be there
		if err := m.unguardAll(); err != nil {
			return err
		}
	}
	err := m.execute(t)
	if !errors.Is(err, errReplaced) {
		return err
	}
	if err := m.leaveProgram(t); err != nil {
		return err
	}
	return m.enterProgram(t)
}

// leaveProgram ends what belongs to the program that has been replaced by a system call
// of thread t.
func (m *machine) leaveProgram(t *thread) error {
	for _, u := range m.threads {
		m.attendTo(u)
		if u == t {
			m.changed(broke, u, u.resumeAt.pc-callBytes)
		} else {
			m.changed(left, u, u.resumeAt.pc)
			u.gone = true
			delete(m.child.threads, u.pid)
			delete(m.child.early, u.pid)
		}
		if m.parallel {
			m.release()
			if u != t {
				m.full <- segment{thread: u.index, count: m.place.count, ends: true}
			}
		}
	}
	m.attendTo(t)
	if m.parallel {
		m.place = place{buffer: -1, unit: ringUnit, count: m.own()}
	} else {
		m.useCache(m.cache, m.own())
	}
	clear(m.child.threads)
	m.child.task.mem.Close() // only read and written
	m.threads, m.slots = []*thread{t}, nil
	m.futexes, m.zones = nil, nil
	clear(m.guarded)
	clear(m.written)
	clear(m.unlocked)
	clear(m.returns)
	clear(m.deep)
	clear(m.child.mem[fileReturns:][:returnBytes])
	for s := range m.actions {
		ignored := m.actions[s].handler == handlerIgnore
		m.actions[s] = action64{}
		if ignored {
			m.actions[s].handler = handlerIgnore
		}
	}
	kept := m.pending[:0]
	for _, q := range m.pending {
		if q.thread == t {
			kept = append(kept, q)
		}
	}
	m.pending = kept
	*t = thread{task: t.task, index: t.index, id: firstID, deadline: never, hidden: t.hidden, counted: t.counted, until: t.until}
	return nil
}

// attendTo makes t the current thread where this may be another: while threads run at
// the same time.
func (m *machine) attendTo(t *thread) {
	if m.parallel {
		m.attend(t)
	}
}

// enterProgram begins with the program that has replaced the one before, as its only
// thread.
func (m *machine) enterProgram(t *thread) error {
	c := m.child
	path, entry, err := replacement(c.pid)
	if err != nil {
		return err
	}
	// The kernel still sets the result of the system call.
	if err := unix.PtraceSyscall(c.pid, 0); err != nil {
		return fmt.Errorf("native: start %s: %w", path, err)
	}
	status, err := c.waitFor(c.pid)
	if err != nil {
		return err
	}
	if !status.Stopped() {
		return &endedError{status}
	}
	k, err := attach(c.pid)
	if err != nil {
		return err
	}
	c.task, c.agent, t.task = k, k, k
	if err := c.mapAgain(); err != nil {
		return fmt.Errorf("native: %w: %s: %w", ErrExec, path, err)
	}
	clear(m.stateBytes(t))
	if err := c.mapState(t.slot); err != nil {
		return err
	}
	if err := m.flushCode(); err != nil {
		return err
	}
	if err := t.registers(&t.regs); err != nil {
		return err
	}
	t.regs = c.injected
	t.regs.Gs_base = stateAddr(t.slot)
	t.parked, t.restored, t.resumeAt = true, true, key{pc: t.regs.Rip}
	m.maps = m.maps.next()
	if err := m.prepareStack(t); err != nil {
		return err
	}
	if err := m.maps.start(path, m.entry-entry, m.maps.base(path)); err != nil {
		return err
	}
	m.setStackEnd(t)
	m.keepRandoms()
	m.out.Images = append(m.out.Images, path)
	m.full <- segment{thread: t.index, count: m.own(), boundary: true, chunks: m.maps.chunks}
	m.changed(entered, t, t.resumeAt.pc)
	return m.tellStart()
}

// replacement returns the path of the program that a process has become, for a script
// its interpreter, and the address in its file at which it starts. A program that the
// engine does not run gives an ErrExec.
func replacement(pid int) (path string, entry uint64, err error) {
	link := fmt.Sprintf("/proc/%d/exe", pid)
	if path, err = os.Readlink(link); err != nil {
		return "", 0, fmt.Errorf("native: %w: %w", ErrExec, err)
	}
	f, err := elf.Open(link)
	if err != nil {
		return "", 0, fmt.Errorf("native: %w: %s: %w", ErrExec, path, err)
	}
	defer f.Close()
	if f.Class != elf.ELFCLASS64 || f.Machine != elf.EM_X86_64 {
		return "", 0, fmt.Errorf("native: %w: %s is for %v, %v, not 64-bit x86-64", ErrExec, path, f.Machine, f.Class)
	}
	return path, f.Entry, nil
}

// keepRandoms forgets the files of random numbers that exec has closed.
func (m *machine) keepRandoms() {
	for fd := range m.randoms {
		to, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", m.child.pid, fd))
		if err != nil || !strings.HasSuffix(to, "random") {
			delete(m.randoms, fd)
		}
	}
}

// mapAgain maps the engine's memory into the program that has replaced the one before.
// It has no file descriptor of that memory, and opens it by the engine's own.
func (c *child) mapAgain() error {
	if err := c.registers(&c.injected); err != nil {
		return err
	}
	c.injected.Orig_rax = ^uint64(0)
	name := fmt.Appendf(nil, "/proc/%d/fd/%d\x00", os.Getpid(), c.memfd)
	at, rip := c.injected.Rsp, c.injected.Rip
	stack, code := make([]byte, len(name)), make([]byte, len(gadget))
	if c.read(at, stack) < len(stack) || c.read(rip, code) < len(code) {
		return errors.New("the new program has no stack or no code")
	}
	if err := errors.Join(c.write(at, name), c.write(rip, gadget[:])); err != nil {
		return err
	}
	r := c.injected
	fd, err := c.call(c.task, &r, rip, unix.SYS_OPEN, at, unix.O_RDWR)
	if err == nil && isError(fd) {
		err = fmt.Errorf("it may not open the engine's memory: %w", unix.Errno(-fd))
	}
	if err := errors.Join(err, c.write(at, stack), c.write(rip, code), c.setRegisters(&c.injected)); err != nil {
		return err
	}
	return c.mapEngine(fd)
}
