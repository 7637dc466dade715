package rv64

import "slices"

// newThread adds a thread with the next id.
func (m *machine) newThread() *thread {
	t := &thread{id: m.nextID, index: int32(m.created), deadline: never}
	m.nextID++
	m.created++
	m.threads = append(m.threads, t)
	return t
}

// schedule returns the thread whose turn it is: the first after the current
// one, in order of creation, that can run. When all sleep, the clock advances
// to the first deadline or timer. It returns nil if nothing can ever run, or the run
// was cancelled.
func (m *machine) schedule() *thread {
	for {
		start := slices.Index(m.threads, m.current) + 1
		for i := range m.threads {
			t := m.threads[(start+i)%len(m.threads)]
			if m.runnable(t) {
				m.switchTo(t)
				return t
			}
		}
		first := m.nextWake()
		for _, t := range m.threads {
			first = min(first, t.deadline)
		}
		if first == never || m.ctx.Err() != nil {
			return nil
		}
		m.idle += first - min(first, m.now())
		m.expire()
	}
}

// runnable reports whether a thread can run. It first ends a wait that is over.
func (m *machine) runnable(t *thread) bool {
	if !t.blocked {
		return true
	}
	if t.deliverable() >= 0 {
		return true // turn delivers it
	}
	if t.poll != nil {
		if v, done := t.poll(); done {
			t.deadline = never
			t.resume(v)
			return true
		}
	}
	if t.deadline <= m.now() {
		if t.futex != nil {
			m.futexRemove(t)
		}
		t.deadline = never
		t.resume(t.timeout)
		return true
	}
	return false
}

// exitThread ends one thread.
func (m *machine) exitThread(t *thread, code int) {
	t.exited = true
	t.keepA0 = true
	if t.clearTID != 0 && m.mem.store32(t.clearTID, 0) {
		m.futexWake(t.clearTID, 1, ^uint32(0))
	}
	i := slices.Index(m.threads, t)
	m.threads = slices.Delete(m.threads, i, i+1)
	if len(m.threads) == 0 {
		m.over, m.exitCode = true, code
		return
	}
	// The turn goes to the thread that followed.
	m.flush(m.executed())
	m.current = m.threads[(i+len(m.threads)-1)%len(m.threads)]
	if m.batch != nil {
		m.batch.Thread = m.current.index
	}
}

// futexWait is a thread's entry in the queue of a futex.
type futexWait struct {
	thread *thread
	addr   uint64
	bits   uint32
}

// futexRemove removes a thread from its futex queue.
func (m *machine) futexRemove(t *thread) {
	i := slices.Index(m.futexes, t.futex)
	m.futexes = slices.Delete(m.futexes, i, i+1)
	t.futex = nil
}

// futexWake wakes up to n threads that wait at addr, in order of arrival, and
// returns their number.
func (m *machine) futexWake(addr uint64, n int64, bits uint32) int64 {
	var woken int64
	for i := 0; i < len(m.futexes) && woken < n; {
		w := m.futexes[i]
		if w.addr != addr || w.bits&bits == 0 {
			i++
			continue
		}
		m.futexRemove(w.thread)
		w.thread.deadline = never
		w.thread.resume(0)
		woken++
	}
	return woken
}

const (
	futexWaitOp        = 0
	futexWakeOp        = 1
	futexRequeue       = 3
	futexCmpRequeue    = 4
	futexWakeAndModify = 5
	futexWaitBitset    = 9
	futexWakeBitset    = 10
	futexPrivate       = 128
	futexRealtime      = 256
)

// sysFutex implements futex(2) without the priority-inheriting operations.
func (m *machine) sysFutex(t *thread, a [6]uint64) int64 {
	addr, val := a[0], uint32(a[2])
	if addr%4 != 0 {
		return -eINVAL
	}
	bits := ^uint32(0)
	switch op := a[1] &^ (futexPrivate | futexRealtime); op {
	case futexWaitOp, futexWaitBitset:
		absolute := false
		if op == futexWaitBitset {
			bits, absolute = uint32(a[5]), true
		}
		return m.futexSleep(t, addr, val, a[3], bits, absolute, a[1]&futexRealtime != 0)
	case futexWakeOp:
		return m.futexWake(addr, int64(int32(val)), bits)
	case futexWakeBitset:
		return m.futexWake(addr, int64(int32(val)), uint32(a[5]))
	case futexRequeue, futexCmpRequeue:
		if cur, ok := m.mem.load32(addr); !ok {
			return -eFAULT
		} else if op == futexCmpRequeue && cur != uint32(a[5]) {
			return -eAGAIN
		}
		n := m.futexWake(addr, int64(int32(val)), bits)
		for _, w := range m.futexes {
			if w.addr == addr && int64(a[3]) > 0 {
				w.addr = a[4]
				a[3]--
				n++
			}
		}
		return n
	case futexWakeAndModify:
		return m.futexModify(addr, a[4], int64(int32(val)), int64(int32(a[3])), uint32(a[5]))
	}
	return -eNOSYS
}

func (m *machine) futexSleep(t *thread, addr uint64, val uint32, timeout uint64, bits uint32, absolute, realtime bool) int64 {
	cur, ok := m.mem.load32(addr)
	if !ok {
		return -eFAULT
	}
	if cur != val {
		return -eAGAIN
	}
	if bits == 0 {
		return -eINVAL
	}
	deadline := uint64(never)
	if timeout != 0 {
		ns, errno := m.timespec(timeout)
		if errno != 0 {
			return -errno
		}
		deadline = m.deadline(ns, absolute, realtime)
	}
	t.futex = &futexWait{t, addr, bits}
	m.futexes = append(m.futexes, t.futex)
	return t.block(deadline, -eTIMEDOUT, nil)
}

// futexModify implements FUTEX_WAKE_OP: modify *addr2, wake at addr, and wake at
// addr2 if the old value passes op's comparison.
func (m *machine) futexModify(addr, addr2 uint64, n, n2 int64, op uint32) int64 {
	old, ok := m.mem.load32(addr2)
	if !ok {
		return -eFAULT
	}
	arg, cmpArg := int32(op<<8)>>20, int32(op<<20)>>20
	if op>>28&8 != 0 {
		arg = 1 << (arg & 31)
	}
	v := old
	switch op >> 28 & 7 {
	case 0:
		v = uint32(arg)
	case 1:
		v = old + uint32(arg)
	case 2:
		v = old | uint32(arg)
	case 3:
		v = old &^ uint32(arg)
	case 4:
		v = old ^ uint32(arg)
	default:
		return -eNOSYS
	}
	if !m.mem.store32(addr2, v) {
		return -eFAULT
	}
	woken := m.futexWake(addr, n, ^uint32(0))
	o := int32(old)
	var hit bool
	switch op >> 24 & 15 {
	case 0:
		hit = o == cmpArg
	case 1:
		hit = o != cmpArg
	case 2:
		hit = o < cmpArg
	case 3:
		hit = o <= cmpArg
	case 4:
		hit = o > cmpArg
	case 5:
		hit = o >= cmpArg
	default:
		return -eNOSYS
	}
	if hit {
		woken += m.futexWake(addr2, n2, ^uint32(0))
	}
	return woken
}
