//go:build linux && amd64

package native

import (
	"presage/perf/engine"
	"presage/perf/trace"
)

// timetable holds the events that are due at counts of executed instructions.
type timetable struct {
	windows []trace.Window // not yet ended
	open    bool           // the first of them has begun
	end     uint64         // 0: none
	limit   bool           // reaching end is an error
	turn    uint64         // the end of the running thread's turn
}

func newTimetable(r *engine.Request) timetable {
	end, limit := r.End()
	return timetable{windows: r.Windows, end: end, limit: limit, turn: never}
}

// plan sets the count at which the running thread is to stop.
func (m *machine) plans() {
	if m.parallel {
		return // see lease
	}
	s := &m.times
	m.next = s.turn
	if len(s.windows) > 0 {
		at := s.windows[0].From
		if s.open {
			at = s.windows[0].To
		}
		m.next = min(m.next, at)
	}
	if s.end > 0 {
		m.next = min(m.next, s.end)
	}
}

// reach handles the events that are due. The running thread is parked, at the
// target of a transfer of control.
func (m *machine) reach() error {
	if err := m.pause(); err != nil {
		return err
	}
	s := &m.times
	at := m.now()
	if s.end > 0 && at >= s.end {
		m.stop(at)
		if s.limit {
			return engine.ErrInstructionLimit
		}
		m.out.Stopped = true
		return nil
	}
	for len(s.windows) > 0 {
		w := s.windows[0]
		if !s.open && at >= w.From {
			m.openWindow(at)
			continue
		}
		if s.open && at >= w.To {
			m.closeWindow(at)
			continue
		}
		break
	}
	m.plans()
	if at >= s.turn {
		return m.turnOver()
	}
	return nil
}

// stop ends the run at a count of instructions.
func (m *machine) stop(at uint64) {
	if m.parallel {
		at = m.stopAll()
	}
	m.out.Instructions = at
	for _, t := range m.threads {
		if !t.gone {
			m.changed(left, t, t.resumeAt.pc)
		}
	}
	m.closeAll(at)
	m.ended = true
}

// closeAll ends an open window.
func (m *machine) closeAll(at uint64) {
	if m.times.open {
		m.out.Windows[len(m.out.Windows)-1].To = at
	}
}

func (m *machine) openWindow(at uint64) {
	m.times.open = true
	m.out.Windows = append(m.out.Windows, trace.Window{From: at, To: at})
	m.useCache(m.caches[0], at)
	m.full <- segment{boundary: true, thread: m.current.index, count: at}
	m.enterAll()
}

// enterAll notes that all threads are where counting begins.
func (m *machine) enterAll() {
	for _, t := range m.threads {
		m.changed(entered, t, t.resumeAt.pc)
	}
}

func (m *machine) closeWindow(at uint64) {
	for _, t := range m.threads {
		m.changed(left, t, t.resumeAt.pc)
	}
	m.times.open = false
	m.times.windows = m.times.windows[1:]
	m.out.Windows[len(m.out.Windows)-1].To = at
	m.useCache(m.caches[1], at)
	m.full <- segment{boundary: true, thread: m.current.index, count: at}
}

// useCache switches to the code of another cache.
func (m *machine) useCache(c *cache, at uint64) {
	if m.place.limit != 0 {
		m.send(m.stateWord(m.current, gsBuffer), true)
	}
	m.place = place{count: at, unit: 1}
	m.cache = c
}
