//go:build linux && amd64

package native

// unread is a part of a buffer whose instructions nobody has counted: the reader will, and
// while no event is near, that is soon enough.
type unread struct {
	buffer int
	words  []uint64
	loops  uint64 // instructions of its loops, and what is counted already
}

// freed is a buffer that the reader has read, up to a count of instructions.
type freed struct {
	buffer int
	count  uint64
}

// countRecords returns the number of instructions of records, loops apart.
func (m *machine) countRecords(w []uint64) (found uint64) {
	sizes := m.blockSizes()
	for at := 0; at < len(w); {
		s := sizes[idOf(w[at])]
		found += uint64(s.counted)
		at += int(s.span)
	}
	return found
}

// countUnread counts what the reader has not.
func (m *machine) countUnread() {
	for i := range m.unread {
		u := &m.unread[i]
		m.place.count += m.countRecords(u.words) + u.loops
	}
	m.unread = m.unread[:0]
}

// counted takes the reader's count where it has read what nobody had counted.
func (m *machine) counted(f freed) {
	for i := len(m.unread) - 1; i >= 0; i-- {
		if m.unread[i].buffer == f.buffer {
			m.place.count = f.count
			m.unread = append(m.unread[:0], m.unread[i+1:]...)
			return
		}
	}
}

// sendUncounted is send while no event is near: it leaves it to the reader to count
// instructions.
func (m *machine) sendUncounted(pos uint64) {
	p := &m.place
	m.full <- m.part(pos)
	if p.read < p.from || p.read > pos {
		p.read, p.found = p.from, 0
	}
	m.unread = append(m.unread, unread{p.buffer, p.words(m, p.read, pos), p.found + m.inLoops()})
}
