//go:build linux && amd64

package native

import (
	"golang.org/x/sys/unix"
)

// The program sees the identifiers of its process and threads that the engine
// chooses. System calls that name one of them are given the kernel's.

func (m *machine) callGetpid(t *thread) error {
	t.regs.Rax = firstID
	return nil
}

func (m *machine) callGettid(t *thread) error {
	t.regs.Rax = uint64(t.id)
	return nil
}

func (m *machine) callSetTidAddress(t *thread) error {
	t.clearAt = t.regs.Rdi
	t.regs.Rax = uint64(t.id)
	return nil
}

// realID returns the kernel's identifier for one that the program knows.
func (m *machine) realID(id int32) int32 {
	for _, t := range m.threads {
		if int32(t.id) == id {
			return int32(t.pid)
		}
	}
	if id == firstID {
		return int32(m.child.pid)
	}
	return id
}

// named replaces the identifiers in the first count arguments of a system call.
func named(count int) handler {
	return func(m *machine, t *thread) error {
		for i, p := range []*uint64{&t.regs.Rdi, &t.regs.Rsi} {
			if i < count && int32(*p) > 0 {
				*p = uint64(m.realID(int32(*p)))
			}
		}
		return m.execute(t)
	}
}

// callTgkill executes tgkill. A thread that waits in the engine is woken for it; one that
// has stopped to wait, which the engine has not handled yet, will not wait.
func (m *machine) callTgkill(t *thread) error {
	id := int32(t.regs.Rsi)
	if err := named(2)(m, t); err != nil || isError(t.regs.Rax) {
		return err
	}
	for _, other := range m.threads {
		if int32(other.id) != id || t.regs.Rax != 0 {
			continue
		}
		other.nudged = other != t && !other.blocked
		if other.blocked {
			m.stopWaiting(other, unix.Signal(t.regs.Rdx))
		}
	}
	return nil
}

// callAffinity tells the program that it has one processor.
func (m *machine) callAffinity(t *thread) error {
	const bytes = 8
	if t.regs.Rsi < bytes {
		t.fail(unix.EINVAL)
		return nil
	}
	t.store(t.regs.Rdx, 1)
	if !isError(t.regs.Rax) {
		t.regs.Rax = bytes
	}
	return nil
}

func (m *machine) callGetcpu(t *thread) error {
	for _, at := range []uint64{t.regs.Rdi, t.regs.Rsi} {
		if at != 0 && t.write(at, make([]byte, 4)) != nil {
			t.fail(unix.EFAULT)
			return nil
		}
	}
	t.regs.Rax = 0
	return nil
}
