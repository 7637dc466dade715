//go:build linux && amd64

package native

import (
	"bytes"

	"golang.org/x/sys/unix"
)

// The files of random numbers give the engine's, as getrandom does.

// opener opens a file whose path is in a register.
func opener(path func(r *unix.PtraceRegs) uint64) handler {
	return func(m *machine, t *thread) error {
		var name [16]byte
		n := t.read(path(&t.regs), name[:])
		if err := m.execute(t); err != nil || isError(t.regs.Rax) {
			return err
		}
		text, _, _ := bytes.Cut(name[:n], []byte{0})
		if s := string(text); s == "/dev/urandom" || s == "/dev/random" {
			m.randoms[int32(t.regs.Rax)] = true
		} else {
			delete(m.randoms, int32(t.regs.Rax))
		}
		return nil
	}
}

func (m *machine) callClose(t *thread) error {
	delete(m.randoms, int32(t.regs.Rdi))
	return m.execute(t)
}

func (m *machine) callRead(t *thread) error {
	if !m.randoms[int32(t.regs.Rdi)] {
		return waiter(unix.POLLIN)(m, t)
	}
	b := make([]byte, min(t.regs.Rdx, 1<<20))
	m.random.Read(b) // never fails
	at := t.regs.Rsi
	t.regs.Rax = uint64(len(b))
	if t.write(at, b) != nil {
		t.fail(unix.EFAULT)
	}
	return nil
}
