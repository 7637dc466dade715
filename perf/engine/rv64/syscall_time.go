package rv64

// epoch is the real time at which every program starts: 2024-01-01 00:00 UTC,
// in nanoseconds.
const epoch = 1704067200 * second

const second = 1_000_000_000

// Clock numbers.
const (
	clockRealtime       = 0
	clockRealtimeCoarse = 5
	clockTAI            = 11
	clocks              = 12
)

func isRealtime(clock uint64) bool {
	return clock == clockRealtime || clock == clockRealtimeCoarse || clock == clockTAI
}

// timespec reads a struct timespec as nanoseconds.
func (m *machine) timespec(addr uint64) (ns uint64, errno int64) {
	sec, ok1 := m.mem.load64(addr)
	nsec, ok2 := m.mem.load64(addr + 8)
	switch {
	case !ok1 || !ok2:
		return 0, eFAULT
	case int64(sec) < 0 || nsec >= second:
		return 0, eINVAL
	case sec > 1<<33:
		return never, 0
	}
	return sec*second + nsec, 0
}

// deadline converts a time-out to a guest clock value.
func (m *machine) deadline(ns uint64, absolute, realtime bool) uint64 {
	switch {
	case ns == never:
		return never
	case !absolute:
		return m.now() + ns
	case realtime:
		return ns - min(ns, epoch)
	}
	return ns
}

func (m *machine) addTimeCalls(c map[uint64]systemCall) {
	c[callNanosleep] = func(t *thread, a [6]uint64) int64 { // nanosleep
		return m.sleep(t, a[0], false, false)
	}
	c[113] = func(_ *thread, a [6]uint64) int64 { // clock_gettime
		ns := m.now()
		if isRealtime(a[0]) {
			ns += epoch
		} else if int64(a[0]) >= clocks {
			return -eINVAL
		}
		return m.put(a[1], ns/second, ns%second)
	}
	c[114] = func(_ *thread, a [6]uint64) int64 { // clock_getres
		if a[1] == 0 {
			return 0
		}
		return m.put(a[1], 0, 1)
	}
	c[callClockNanosleep] = func(t *thread, a [6]uint64) int64 { // clock_nanosleep
		return m.sleep(t, a[2], a[1]&1 != 0, isRealtime(a[0]))
	}
	c[169] = func(_ *thread, a [6]uint64) int64 { // gettimeofday
		if a[0] == 0 {
			return 0
		}
		us := (m.now() + epoch) / 1000
		return m.put(a[0], us/1_000_000, us%1_000_000)
	}
	c[153] = func(_ *thread, a [6]uint64) int64 { // times
		ticks := m.now() / (second / 100)
		if a[0] != 0 {
			if e := m.put(a[0], ticks, 0, 0, 0); e != 0 {
				return e
			}
		}
		return int64(ticks)
	}
	c[112] = always(-ePERM) // clock_settime
}

// sleptShort tells a thread whose nanosleep or relative clock_nanosleep is
// interrupted how much of its time is left.
func (m *machine) sleptShort(t *thread) {
	addr := uint64(0)
	switch {
	case t.callNumber == callNanosleep:
		addr = t.call[1]
	case t.callNumber == callClockNanosleep && t.call[1]&1 == 0:
		addr = t.call[3]
	}
	if addr == 0 {
		return
	}
	left := t.deadline - min(t.deadline, m.now())
	_ = m.put(addr, left/second, left%second) // EINTR is returned in any case
}

func (m *machine) sleep(t *thread, req uint64, absolute, realtime bool) int64 {
	ns, errno := m.timespec(req)
	if errno != 0 {
		return -errno
	}
	d := m.deadline(ns, absolute, realtime)
	if d <= m.now() {
		return 0
	}
	return t.block(d, 0, nil)
}
