//go:build linux && amd64

package native

import (
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"
)

// futexWait is a thread that waits at a futex.
type futexWait struct {
	thread *thread
	addr   uint64
	bits   uint32
}

// Operations of futex(2).
const (
	futexOpWait       = 0
	futexOpWake       = 1
	futexOpRequeue    = 3
	futexOpCmpRequeue = 4
	futexOpWakeModify = 5
	futexOpWaitBitset = 9
	futexOpWakeBitset = 10
	futexPrivate      = 128
	futexRealtime     = 256
)

// callFutex implements futex without the operations that inherit priorities, so
// that waiting threads are known.
func (m *machine) callFutex(t *thread) error {
	r := &t.regs
	addr, op, value := r.Rdi, r.Rsi, uint32(r.Rdx)
	all := ^uint32(0)
	switch op &^ (futexPrivate | futexRealtime) {
	case futexOpWait:
		return m.futexSleep(t, addr, value, r.R10, all, false, false)
	case futexOpWaitBitset:
		return m.futexSleep(t, addr, value, r.R10, uint32(r.R9), true, op&futexRealtime != 0)
	case futexOpWake:
		r.Rax = m.futexWake(addr, int32(value), all)
	case futexOpWakeBitset:
		r.Rax = m.futexWake(addr, int32(value), uint32(r.R9))
	case futexOpRequeue, futexOpCmpRequeue:
		now, ok := t.word32(addr)
		switch {
		case !ok:
			t.fail(unix.EFAULT)
		case op&^(futexPrivate|futexRealtime) == futexOpCmpRequeue && now != uint32(r.R9):
			t.fail(unix.EAGAIN)
		default:
			r.Rax = m.futexWake(addr, int32(value), all) + m.futexRequeue(addr, r.R8, int64(r.R10))
		}
	case futexOpWakeModify:
		m.futexModify(t, addr, r.R8, int32(value), int32(r.R10), uint32(r.R9))
	default:
		t.fail(unix.ENOSYS)
	}
	return nil
}

func (t *task) word32(addr uint64) (uint32, bool) {
	var b [4]byte
	ok := t.read(addr, b[:]) == len(b)
	return binary.LittleEndian.Uint32(b[:]), ok
}

// futexSleep suspends the running thread while the word at addr has a value.
func (m *machine) futexSleep(t *thread, addr uint64, value uint32, timeout uint64, bits uint32, absolute, realtime bool) error {
	now, ok := t.word32(addr)
	deadline := uint64(never)
	switch {
	case !ok:
		t.fail(unix.EFAULT)
		return nil
	case now != value:
		t.fail(unix.EAGAIN)
		return nil
	case bits == 0:
		t.fail(unix.EINVAL)
		return nil
	}
	if timeout != 0 {
		if deadline, ok = m.deadlineAt(t, timeout, absolute, realtime); !ok {
			t.fail(unix.EINVAL)
			return nil
		}
	}
	m.futexes = append(m.futexes, futexWait{t, addr, bits})
	return m.block(t, deadline, errnoResult(unix.ETIMEDOUT), nil)
}

func errnoResult(e unix.Errno) uint64 { return -uint64(e) }

// futexWake wakes up to n threads that wait at addr, in order of arrival, and returns
// how many.
func (m *machine) futexWake(addr uint64, n int32, bits uint32) uint64 {
	woken := int32(0)
	m.futexes = slices.DeleteFunc(m.futexes, func(w futexWait) bool {
		if woken >= n || w.addr != addr || w.bits&bits == 0 {
			return false
		}
		w.thread.wake(0)
		woken++
		return true
	})
	return uint64(woken)
}

// futexRequeue makes up to n threads that wait at addr wait at another address.
func (m *machine) futexRequeue(addr, to uint64, n int64) uint64 {
	moved := int64(0)
	for i := range m.futexes {
		if m.futexes[i].addr == addr && moved < n {
			m.futexes[i].addr = to
			moved++
		}
	}
	return uint64(moved)
}

// futexRemove removes a thread from the queue.
func (m *machine) futexRemove(t *thread) {
	m.futexes = slices.DeleteFunc(m.futexes, func(w futexWait) bool { return w.thread == t })
}

// futexModify implements FUTEX_WAKE_OP: modify the word at other, wake at addr, and
// wake at other if its old value passes a comparison.
func (m *machine) futexModify(t *thread, addr, other uint64, n, n2 int32, op uint32) {
	old, ok := t.word32(other)
	if !ok {
		t.fail(unix.EFAULT)
		return
	}
	arg, limit := uint32(int32(op<<8)>>20), int32(op<<20)>>20
	if op>>31 != 0 {
		arg = 1 << (arg & 31)
	}
	var v uint32
	switch op >> 28 & 7 {
	case 0:
		v = arg
	case 1:
		v = old + arg
	case 2:
		v = old | arg
	case 3:
		v = old &^ arg
	case 4:
		v = old ^ arg
	default:
		t.fail(unix.ENOSYS)
		return
	}
	holds := map[uint32]bool{0: int32(old) == limit, 1: int32(old) != limit, 2: int32(old) < limit, 3: int32(old) <= limit, 4: int32(old) > limit, 5: int32(old) >= limit}
	hit, known := holds[op>>24&15]
	if !known {
		t.fail(unix.ENOSYS)
		return
	}
	if t.write(other, binary.LittleEndian.AppendUint32(nil, v)) != nil {
		t.fail(unix.EFAULT)
		return
	}
	t.regs.Rax = m.futexWake(addr, n, ^uint32(0))
	if hit {
		t.regs.Rax += m.futexWake(other, n2, ^uint32(0))
	}
}
