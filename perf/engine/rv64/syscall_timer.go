package rv64

func (m *machine) addTimerCalls(c map[uint64]systemCall) {
	c[102] = m.sysGetitimer
	c[103] = m.sysSetitimer
	c[107] = m.sysTimerCreate
	c[108] = m.onTimer(func(t *timer, a [6]uint64) int64 { return m.putTimer(t, a[1], 1) }) // timer_gettime
	c[109] = m.onTimer(func(t *timer, _ [6]uint64) int64 { return int64(min(t.overrun, 1<<31-1)) })
	c[110] = m.onTimer(m.sysTimerSettime)
	c[111] = m.onTimer(func(t *timer, _ [6]uint64) int64 { // timer_delete
		*t = timer{next: never}
		m.alarm = m.nextAlarm()
		return 0
	})
}

// microsecond is the unit of the interval timers' struct timeval, in nanoseconds.
const microsecond = 1000

// putTimer writes the timer's interval and the time left, as pairs of seconds and
// units of the given nanoseconds.
func (m *machine) putTimer(t *timer, addr, unit uint64) int64 {
	next := (m.timeLeft(t) + unit - 1) / unit * unit // an armed timer has time left
	return m.put(addr, t.interval/second, t.interval%second/unit, next/second, next%second/unit)
}

// loadTimer reads an interval and a first time as putTimer writes them, in
// nanoseconds.
func (m *machine) loadTimer(addr, unit uint64) (interval, first uint64, errno int64) {
	var ns [2]uint64
	for i := range ns {
		sec, ok1 := m.mem.load64(addr + 16*uint64(i))
		rest, ok2 := m.mem.load64(addr + 16*uint64(i) + 8)
		switch {
		case !ok1 || !ok2:
			return 0, 0, eFAULT
		case int64(sec) < 0 || rest >= second/unit:
			return 0, 0, eINVAL
		}
		ns[i] = min(sec, 1<<31)*second + rest*unit
	}
	return ns[0], ns[1], 0
}

func (m *machine) sysGetitimer(_ *thread, a [6]uint64) int64 {
	if a[0] >= itimers {
		return -eINVAL
	}
	return m.putTimer(&m.timers[a[0]], a[1], microsecond)
}

func (m *machine) sysSetitimer(_ *thread, a [6]uint64) int64 {
	if a[0] >= itimers {
		return -eINVAL
	}
	t := &m.timers[a[0]]
	interval, first, e := uint64(0), uint64(0), int64(0) // a null pointer disarms, as on Linux
	if a[1] != 0 {
		if interval, first, e = m.loadTimer(a[1], microsecond); e != 0 {
			return -e
		}
	}
	if a[2] != 0 {
		if e := m.putTimer(t, a[2], microsecond); e != 0 {
			return e
		}
	}
	m.set(t, first, interval)
	return 0
}

// set arms the timer to expire after a time, or disarms it if that is 0.
func (m *machine) set(t *timer, after, interval uint64) {
	if after == 0 {
		m.arm(t, never, 0)
		return
	}
	m.arm(t, m.clock(t)+after, interval)
}

// sysTimerCreate implements timer_create(2) with the clocks of the process.
func (m *machine) sysTimerCreate(_ *thread, a [6]uint64) int64 {
	const processClock, threadClock = 2, 3
	id := m.freeTimer()
	switch {
	case a[0] >= clocks:
		return -eINVAL
	case id < 0:
		return -eAGAIN
	}
	t := timer{
		made: true, cpu: a[0] == processClock || a[0] == threadClock, real: isRealtime(a[0]),
		signal: sigALRM, value: uint64(id), next: never,
	}
	if a[1] != 0 {
		if e := m.loadEvent(&t, a[1]); e != 0 {
			return -e
		}
	}
	if !m.mem.store32(a[2], uint32(id)) {
		return -eFAULT
	}
	if itimers+id == len(m.timers) {
		m.timers = append(m.timers, t)
	} else {
		m.timers[itimers+id] = t
	}
	return 0
}

// freeTimer returns the lowest free timer id, or -1.
func (m *machine) freeTimer() int {
	for i := range m.timers {
		if !m.timers[i].made {
			return i - itimers
		}
	}
	if len(m.timers) >= itimers+maxTimers {
		return -1
	}
	return len(m.timers) - itimers
}

// loadEvent reads a struct sigevent: value, signal, notification, thread id.
func (m *machine) loadEvent(t *timer, addr uint64) (errno int64) {
	value, ok1 := m.mem.load64(addr)
	sig, ok2 := m.mem.load32(addr + 8)
	notify, ok3 := m.mem.load32(addr + 12)
	id, ok4 := m.mem.load32(addr + 16)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return eFAULT
	}
	switch notify {
	case notifyNone:
	case notifySignal, notifyThread:
		if sig < 1 || sig > signals || notify == notifyThread && m.threadOf(int(id)) == nil {
			return eINVAL
		}
	default:
		return eINVAL
	}
	t.value, t.signal, t.notify, t.thread = value, int(sig), notify, int(id)
	return 0
}

// onTimer returns a system call on the timer whose id is its first argument.
func (m *machine) onTimer(do func(t *timer, a [6]uint64) int64) systemCall {
	return func(_ *thread, a [6]uint64) int64 {
		id := uint64(uint32(a[0]))
		if id >= uint64(len(m.timers)-itimers) || !m.timers[itimers+id].made {
			return -eINVAL
		}
		return do(&m.timers[itimers+id], a)
	}
}

func (m *machine) sysTimerSettime(t *timer, a [6]uint64) int64 {
	const absolute = 1
	interval, first, e := m.loadTimer(a[2], 1)
	if e != 0 {
		return -e
	}
	if a[3] != 0 {
		if e := m.putTimer(t, a[3], 1); e != 0 {
			return e
		}
	}
	if first == 0 || a[1]&absolute == 0 {
		m.set(t, first, interval)
		return 0
	}
	if t.real {
		first -= min(first, epoch)
	}
	m.arm(t, first, interval)
	return 0
}
