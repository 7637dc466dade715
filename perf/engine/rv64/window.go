package rv64

import "presage/perf/trace"

// timetable holds the events of a run that are due at counts of executed
// instructions.
type timetable struct {
	turnEnd   uint64         // of the current thread's turn
	windows   []trace.Window // not yet ended
	snapshots []uint64       // not yet taken, ascending
	open      bool           // the first of windows has begun
	next      uint64         // the earliest pending event
}

// plan sets next.
func (s *timetable) plan() {
	s.next = never
	if len(s.windows) > 0 {
		s.next = s.windows[0].From
		if s.open {
			s.next = s.windows[0].To
		}
	}
	if len(s.snapshots) > 0 {
		s.next = min(s.next, s.snapshots[0])
	}
}

// startCode creates the caches of decoded code. With windows there are two, with
// and without the plan, so that switching between them decodes nothing again.
func (m *machine) startCode(plan *trace.Plan) {
	m.code = newCodeCache(m.mem, plan, Bias(m.file))
	m.codes = []*codeCache{m.code}
	if len(m.opt.Windows) > 0 {
		m.code = newCodeCache(m.mem, nil, Bias(m.file))
		m.codes = append(m.codes, m.code)
	}
	m.hookAllocators(plan)
	m.times = timetable{windows: m.opt.Windows, snapshots: m.opt.SnapshotAt}
	m.times.plan()
}

// startJIT creates a translator for each cache of decoded code.
func (m *machine) startJIT() error {
	if m.opt.mode == Interpret {
		return nil
	}
	for _, c := range m.codes {
		j, err := newJIT(m, c.plan)
		if err != nil {
			if m.opt.mode == Translate {
				return err
			}
			return nil // the first one: this host has no translator
		}
		m.jits = append(m.jits, j)
	}
	m.useCode(len(m.codes) - 1)
	return nil
}

// useCode switches to the code cache i.
func (m *machine) useCode(i int) {
	m.code = m.codes[i]
	if m.jits != nil {
		m.jit = m.jits[i]
	}
}

// flushCode discards all decoded code.
func (m *machine) flushCode() {
	for _, c := range m.codes {
		c.flush()
	}
}

// reach handles the events due at the current instruction count and sets the budget
// to last until the next one. It reports whether the turn continues.
//
// This does not move the end of the turn: exec returns at the first transfer of
// control at or after the horizon and continues from there, so that threads are
// preempted at the same instructions whatever events occur in between.
func (m *machine) reach() bool {
	if m.ctx.Err() != nil || m.failed != nil {
		return false // run reports it
	}
	at := m.executed()
	for m.times.next <= at {
		if err := m.arrive(at); err != nil {
			m.failed = err
			return false
		}
		m.times.plan()
	}
	if m.alarm <= at {
		m.expire()
	}
	stop := min(m.times.turnEnd, m.times.next, m.alarm)
	if m.end > 0 {
		stop = min(stop, m.end)
	}
	m.horizon, m.budget = stop, int64(stop-at)
	return m.budget > 0
}

// arrive handles the first event of the timetable.
func (m *machine) arrive(at uint64) error {
	s := &m.times
	if len(s.snapshots) > 0 && s.snapshots[0] <= at {
		s.snapshots = s.snapshots[1:]
		return m.takeSnapshot(at)
	}
	if !s.open {
		m.openWindow(at)
		return nil
	}
	m.closeWindow(at)
	return nil
}

func (m *machine) openWindow(at uint64) {
	m.times.open = true
	m.useCode(0)
	m.enterAll()
	m.flush(at) // it is empty: this sets the start of the batch
	if f := m.mem.footprint; f != nil {
		if n := len(m.counted.Windows); n == 0 || m.counted.Windows[n-1].To < at {
			m.mem.surveyAll()
		}
		f.begun++
	}
	m.counted.Windows = append(m.counted.Windows, trace.Window{From: at, To: at})
}

func (m *machine) closeWindow(at uint64) {
	m.leaveAll()
	m.times.open = false
	m.times.windows = m.times.windows[1:]
	m.useCode(1)
	m.flush(at)
	m.counted.Windows[len(m.counted.Windows)-1].To = at
}
