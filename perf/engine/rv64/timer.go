package rv64

// maxTimers bounds the number of timers that a program has at a time.
const maxTimers = 1024

// minInterval is the shortest interval of a timer, in nanoseconds. A shorter one
// counts as this long: with one instruction a nanosecond, the program might
// otherwise do nothing but handle signals.
const minInterval = 10_000

// The interval timers of setitimer(2), which are the first elements of
// machine.timers.
const (
	itimerReal    = iota // the clock; SIGALRM
	itimerVirtual        // instructions; SIGVTALRM
	itimerProf           // instructions; SIGPROF
	itimers
)

// Notifications of a timer (SIGEV_…).
const (
	notifySignal = 0
	notifyNone   = 1
	notifyThread = 4 // SIGEV_THREAD_ID
)

// timer is an interval timer, or one made by timer_create(2). It expires at exact
// values of its clock, so that a signal interrupts the program at the same
// instruction in every run.
type timer struct {
	made     bool // the entry is in use
	cpu      bool // its clock counts instructions; otherwise idle time passes, too
	real     bool // absolute times are since 1970
	notify   uint32
	signal   int
	thread   int    // id of the thread to notify with notifyThread
	value    uint64 // sigev_value
	next     uint64 // when it expires, on its clock; never: disarmed
	interval uint64 // 0: it expires once
	overrun  uint64 // expirations that the last signal stands for, beyond one
}

// newTimers returns the interval timers, disarmed.
func newTimers() []timer {
	list := make([]timer, itimers)
	for i, sig := range []int{itimerReal: sigALRM, itimerVirtual: sigVTALRM, itimerProf: sigPROF} {
		list[i] = timer{made: true, cpu: i != itimerReal, signal: sig, next: never}
	}
	return list
}

// clock returns the timer's clock.
func (m *machine) clock(t *timer) uint64 {
	if t.cpu {
		return m.executed()
	}
	return m.now()
}

// arm sets the timer to expire at a value of its clock, and then at every interval.
func (m *machine) arm(t *timer, at, interval uint64) {
	if interval > 0 {
		interval = max(interval, minInterval)
	}
	t.next, t.interval, t.overrun = at, interval, 0
	m.alarm = m.nextAlarm()
}

// timeLeft returns the time until the timer expires, at least 1 if it is armed and
// 0 if it is not.
func (m *machine) timeLeft(t *timer) uint64 {
	if t.next == never {
		return 0
	}
	return max(t.next-min(t.next, m.clock(t)), 1)
}

// nextAlarm returns the number of executed instructions at which the first timer
// expires, if no thread sleeps until then.
func (m *machine) nextAlarm() uint64 {
	first := uint64(never)
	for i := range m.timers {
		t := &m.timers[i]
		switch {
		case t.next == never:
		case t.cpu:
			first = min(first, t.next)
		default:
			first = min(first, t.next-min(t.next, m.idle))
		}
	}
	return first
}

// nextWake returns the time at which the first timer expires that can wake a
// program all of whose threads sleep.
func (m *machine) nextWake() uint64 {
	first := uint64(never)
	for i := range m.timers {
		if t := &m.timers[i]; !t.cpu && t.notify != notifyNone && m.wakes(t.signal) {
			first = min(first, t.next)
		}
	}
	return first
}

// wakes reports whether a thread would take the signal.
func (m *machine) wakes(sig int) bool {
	for _, t := range m.threads {
		if m.awaits(t, sig) || t.mask&bitOf(sig) == 0 && !m.ignored(sig) {
			return true
		}
	}
	return false
}

// awaits reports whether the thread is in rt_sigtimedwait for the signal.
func (m *machine) awaits(t *thread, sig int) bool {
	if !t.blocked || t.callNumber != callSigtimedwait {
		return false
	}
	set, ok := m.mem.load64(t.call[0])
	return ok && set&bitOf(sig) != 0
}

// expire sends the signals of timers that have expired.
func (m *machine) expire() {
	for i := range m.timers {
		t := &m.timers[i]
		clock := m.clock(t)
		if t.next == never || t.next > clock {
			continue
		}
		t.overrun = 0
		if t.interval == 0 {
			t.next = never
		} else {
			t.overrun = (clock - t.next) / t.interval
			t.next += (t.overrun + 1) * t.interval
		}
		if t.notify != notifyNone {
			m.notify(i, t)
		}
	}
	m.alarm = m.nextAlarm()
}

// notify sends the signal of timer i.
func (m *machine) notify(i int, t *timer) {
	s := sigInfo{number: t.signal, code: siKernel}
	if i >= itimers {
		s = sigInfo{number: t.signal, code: siTimer, pid: uint32(i - itimers), overrun: uint32(min(t.overrun, 1<<31-1)), value: t.value}
	}
	to := m.receiver(m.threads[0], t.signal)
	if t.notify == notifyThread {
		if to = m.threadOf(t.thread); to == nil {
			return // the thread has ended
		}
	}
	m.send(to, s)
}

// threadOf returns the thread with the id, or nil.
func (m *machine) threadOf(id int) *thread {
	for _, t := range m.threads {
		if t.id == id {
			return t
		}
	}
	return nil
}
