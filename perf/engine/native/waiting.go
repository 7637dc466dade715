//go:build linux && amd64

package native

import (
	"encoding/binary"
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// deadlineAt returns when a wait with the timespec at an address ends, by the
// engine's clock; false if there is no such time.
func (m *machine) deadlineAt(t *thread, at uint64, absolute, realtime bool) (uint64, bool) {
	seconds, ok1 := t.word(at)
	nanos, ok2 := t.word(at + 8)
	if !ok1 || !ok2 || nanos >= nanoseconds || int64(seconds) < 0 {
		return 0, false
	}
	const longest = 1 << 33
	d := min(seconds, longest)*nanoseconds + nanos
	switch {
	case !absolute:
		return m.clock() + d, true
	case realtime && d < epoch*nanoseconds:
		return 0, true
	case realtime:
		return d - epoch*nanoseconds, true
	}
	return d, true
}

// callNanosleep and callClockNanosleep let only the engine's clock advance.
func (m *machine) callNanosleep(t *thread) error { return m.sleep(t, t.regs.Rdi, false, false) }

func (m *machine) callClockNanosleep(t *thread) error {
	const absoluteTime = 1
	return m.sleep(t, t.regs.Rdx, t.regs.Rsi&absoluteTime != 0, t.regs.Rdi == unix.CLOCK_REALTIME)
}

func (m *machine) sleep(t *thread, at uint64, absolute, realtime bool) error {
	deadline, ok := m.deadlineAt(t, at, absolute, realtime)
	if !ok {
		t.fail(unix.EINVAL)
		return nil
	}
	return m.block(t, deadline, 0, nil)
}

func (m *machine) callYield(t *thread) error {
	t.regs.Rax = 0
	return m.nextThread()
}

// callPause executes pause: with several threads it lets the others run until a signal
// is sent to this one.
func (m *machine) callPause(t *thread) error {
	if len(m.threads) == 1 {
		return m.execute(t)
	}
	return m.block(t, never, 0, func() (uint64, bool, error) { return 0, false, nil })
}

// outside waits for something that is not in the program, while all its threads
// wait.
func (m *machine) outside() error {
	const pause = 200 * time.Microsecond
	time.Sleep(pause)
	return nil
}

// waiter makes a system call that may wait for a file descriptor: at once if there
// is one thread; otherwise when it does not wait, so that the others can run. For what is
// no descriptor the kernel would wait for ever.
func waiter(events int16) handler {
	return func(m *machine, t *thread) error {
		if len(m.threads) == 1 || int32(t.regs.Rdi) < 0 {
			return m.execute(t)
		}
		own := t.regs
		fd := int32(own.Rdi)
		t.restarts = true
		return m.retry(t, never, 0, func() (uint64, bool, error) {
			state := m.stateBytes(t)[gsCopy:]
			binary.LittleEndian.PutUint32(state, uint32(fd))
			binary.LittleEndian.PutUint32(state[4:], uint32(uint16(events)))
			t.regs = own
			if _, err := m.child.call(t.task, &t.regs, gadgetAt, unix.SYS_POLL, stateAddr(t.slot)+gsCopy, 1, 0); err != nil {
				if stopped := new(interruptedError); errors.As(err, &stopped) {
					stopped.before = true // the program's own call is yet to be made
				}
				return 0, false, err
			}
			if t.regs.Rax == 0 {
				t.regs = own
				return 0, false, nil
			}
			t.regs = own
			err := m.execute(t)
			return t.regs.Rax, true, err
		})
	}
}

// retry tries a system call now, and at every turn until it is done.
func (m *machine) retry(t *thread, deadline, late uint64, call func() (uint64, bool, error)) error {
	own := t.regs
	try := func() (uint64, bool, error) {
		result, done, err := call()
		if err != nil {
			t.regs = own
		}
		return result, done, err
	}
	result, done, err := try()
	if err != nil {
		return err
	}
	if done {
		t.regs.Rax = result
		return nil
	}
	return m.block(t, deadline, late, try)
}

// poller makes a system call whose timeout is in register timeout, in milliseconds
// or as a timespec: with several threads it does not wait, but is repeated.
func poller(timeout func(r *unix.PtraceRegs) *uint64, spec bool) handler {
	return func(m *machine, t *thread) error {
		if len(m.threads) == 1 {
			return m.execute(t)
		}
		own, deadline := t.regs, uint64(never)
		if p := timeout(&own); spec && *p != 0 {
			var ok bool
			if deadline, ok = m.deadlineAt(t, *p, false, false); !ok {
				t.fail(unix.EINVAL)
				return nil
			}
		} else if !spec && int32(*p) >= 0 {
			deadline = m.clock() + uint64(int32(*p))*1e6
		}
		return m.retry(t, deadline, 0, func() (uint64, bool, error) {
			t.regs = own
			p := timeout(&t.regs)
			*p = 0
			if spec {
				clear(m.stateBytes(t)[gsCopy:][:16])
				*p = stateAddr(t.slot) + gsCopy
			}
			err := m.execute(t)
			result := t.regs.Rax
			t.regs = own
			return result, result != 0, err
		})
	}
}

func inRdx(r *unix.PtraceRegs) *uint64 { return &r.Rdx }

func inR10(r *unix.PtraceRegs) *uint64 { return &r.R10 }

// callWait4 waits for a process: with several threads by asking again and again.
func (m *machine) callWait4(t *thread) error {
	if len(m.threads) == 1 || t.regs.Rdx&unix.WNOHANG != 0 {
		return m.execute(t)
	}
	own := t.regs
	t.restarts = true
	return m.retry(t, never, 0, func() (uint64, bool, error) {
		t.regs = own
		t.regs.Rdx |= unix.WNOHANG
		err := m.execute(t)
		result := t.regs.Rax
		t.regs = own
		return result, result != 0, err
	})
}
