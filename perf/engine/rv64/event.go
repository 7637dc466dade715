package rv64

import (
	"encoding/binary"
	"slices"
)

// pipe is a buffer between two descriptors.
type pipe struct {
	data             []byte
	readers, writers bool // is the end open?
}

const pipeBytes = 64 << 10

// pipeEnd is one end of a pipe.
type pipeEnd struct {
	noFile
	p      *pipe
	writer bool
}

func (e *pipeEnd) ready() (in, out bool) {
	if e.writer {
		return false, len(e.p.data) < pipeBytes || !e.p.readers
	}
	return len(e.p.data) > 0 || !e.p.writers, false
}

func (e *pipeEnd) read(p []byte) (int, int64) {
	n := copy(p, e.p.data)
	e.p.data = e.p.data[n:]
	return n, 0
}

func (e *pipeEnd) write(p []byte) (int, int64) {
	if !e.p.readers {
		return 0, ePIPE
	}
	n := min(len(p), pipeBytes-len(e.p.data))
	e.p.data = append(e.p.data, p[:n]...)
	return n, 0
}

func (e *pipeEnd) close() {
	if e.writer {
		e.p.writers = false
	} else {
		e.p.readers = false
	}
}

// eventFD is the counter behind an eventfd descriptor.
type eventFD struct {
	noFile
	count     uint64
	semaphore bool
}

func (e *eventFD) ready() (in, out bool) { return e.count > 0, e.count < ^uint64(0)-1 }

func (e *eventFD) read(p []byte) (int, int64) {
	if len(p) < 8 {
		return 0, eINVAL
	}
	v := e.count
	if e.semaphore {
		v = 1
	}
	binary.LittleEndian.PutUint64(p, v)
	e.count -= v
	return 8, 0
}

func (e *eventFD) write(p []byte) (int, int64) {
	if len(p) < 8 {
		return 0, eINVAL
	}
	e.count += binary.LittleEndian.Uint64(p)
	return 8, 0
}

// epoll is an epoll instance: a set of descriptors to wait for.
type epoll struct {
	noFile
	entries []epollEntry
}

type epollEntry struct {
	fd     uint64
	file   file
	events uint32
	data   uint64
	seen   uint32 // edge-triggered: events reported while they have lasted
	off    bool   // one-shot: reported
}

const (
	pollIn, pollOut, pollNval = 1, 4, 32
	epollOneShot              = 1 << 30
	epollEdge                 = 1 << 31
)

func readiness(f file) uint32 {
	in, out := f.ready()
	return uint32(bit(in)*pollIn | bit(out)*pollOut)
}

// collect returns up to most ready events, encoded as struct epoll_event.
func (e *epoll) collect(t *fileTable, most int) []byte {
	var out []byte
	for i := range e.entries {
		n := &e.entries[i]
		if d := t.open[n.fd]; d == nil || d.file != n.file || n.off {
			continue
		}
		ev := readiness(n.file) & n.events
		fresh := ev
		if n.events&epollEdge != 0 {
			fresh = ev &^ n.seen
			n.seen &= ev
		}
		if fresh == 0 || len(out) >= 16*most {
			continue
		}
		n.seen |= ev
		n.off = n.events&epollOneShot != 0
		out = binary.LittleEndian.AppendUint64(out, uint64(ev))
		out = binary.LittleEndian.AppendUint64(out, n.data)
	}
	return out
}

func (m *machine) addEventCalls(c map[uint64]systemCall) {
	t := m.files
	c[19] = func(_ *thread, a [6]uint64) int64 { // eventfd2
		return t.add(&eventFD{count: a[0], semaphore: a[1]&1 != 0}, 2|a[1]&oNonblock)
	}
	c[59] = func(_ *thread, a [6]uint64) int64 { // pipe2
		p := &pipe{readers: true, writers: true}
		r := t.add(&pipeEnd{p: p}, a[1]&oNonblock)
		w := t.add(&pipeEnd{p: p, writer: true}, 1|a[1]&oNonblock)
		if r < 0 || w < 0 {
			if r >= 0 {
				t.drop(uint64(r))
			}
			return -eMFILE
		}
		return m.put(a[0], uint64(r)|uint64(w)<<32)
	}
	c[20] = func(*thread, [6]uint64) int64 { return t.add(&epoll{}, 2) }
	c[21] = m.sysEpollCtl
	c[22] = func(th *thread, a [6]uint64) int64 { // epoll_pwait
		deadline := uint64(never)
		if ms := int32(a[3]); ms >= 0 {
			deadline = m.now() + uint64(ms)*1_000_000
		}
		return m.epollWait(th, a, deadline)
	}
	c[441] = func(th *thread, a [6]uint64) int64 { // epoll_pwait2
		deadline := uint64(never)
		if a[3] != 0 {
			ns, e := m.timespec(a[3])
			if e != 0 {
				return -e
			}
			deadline = m.deadline(ns, false, false)
		}
		return m.epollWait(th, a, deadline)
	}
	c[73] = m.sysPpoll
	c[72] = m.sysPselect
}

func (m *machine) sysEpollCtl(_ *thread, a [6]uint64) int64 {
	const add, del, mod = 1, 2, 3
	e, ok := m.files.get(a[0]).(*epoll)
	f := m.files.get(a[2])
	if !ok || f == nil {
		return -eBADF
	}
	switch f.(type) {
	case *hostFile, *stream, *device:
		return -ePERM // as on Linux for regular files; streams never block here
	}
	fd := a[2] & 0xffffffff
	i := slices.IndexFunc(e.entries, func(n epollEntry) bool { return n.fd == fd && n.file == f })
	if a[1] == del {
		if i < 0 {
			return -eNOENT
		}
		e.entries = slices.Delete(e.entries, i, i+1)
		return 0
	}
	events, ok1 := m.mem.load32(a[3])
	data, ok2 := m.mem.load64(a[3] + 8)
	if !ok1 || !ok2 {
		return -eFAULT
	}
	// Closed descriptors are no longer watched.
	e.entries = slices.DeleteFunc(e.entries, func(n epollEntry) bool { return m.files.get(n.fd) != n.file })
	i = slices.IndexFunc(e.entries, func(n epollEntry) bool { return n.fd == fd && n.file == f })
	n := epollEntry{fd: fd, file: f, events: events, data: data}
	switch {
	case a[1] == add && i >= 0:
		return -eEXIST
	case a[1] == add:
		e.entries = append(e.entries, n)
	case a[1] == mod && i < 0:
		return -eNOENT
	case a[1] == mod:
		e.entries[i] = n
	default:
		return -eINVAL
	}
	return 0
}

func (m *machine) epollWait(t *thread, a [6]uint64, deadline uint64) int64 {
	e, ok := m.files.get(a[0]).(*epoll)
	if !ok {
		return -eBADF
	}
	most := int(int32(a[2]))
	if most <= 0 {
		return -eINVAL
	}
	try := func() (int64, bool) {
		ev := e.collect(m.files, most)
		if len(ev) == 0 {
			return 0, false
		}
		if !m.mem.store(a[1], ev) {
			return -eFAULT, true
		}
		return int64(len(ev) / 16), true
	}
	if v, done := try(); done {
		return v
	}
	if deadline <= m.now() {
		return 0
	}
	return t.block(deadline, 0, try)
}

func (m *machine) sysPpoll(t *thread, a [6]uint64) int64 {
	if a[1] > maxFiles {
		return -eINVAL
	}
	deadline, e := m.timeout(a[2])
	if e != 0 {
		return -e
	}
	try := func() (int64, bool) {
		var n int64
		for i := range a[1] {
			v, ok := m.mem.load64(a[0] + 8*i)
			if !ok {
				return -eFAULT, true
			}
			var got uint32
			if fd := uint64(uint32(v)); int32(v) >= 0 {
				if f := m.files.get(fd); f == nil {
					got = pollNval
				} else {
					got = readiness(f) & uint32(v>>32&0xffff)
				}
			}
			if e := m.put(a[0]+8*i, v&0xffffffffffff|uint64(got)<<48); e != 0 {
				return e, true
			}
			n += int64(bit(got != 0))
		}
		return n, n > 0
	}
	if v, done := try(); done {
		return v
	}
	if deadline <= m.now() {
		return 0
	}
	return t.block(deadline, 0, try)
}

// fdSets are the three descriptor sets of pselect6: read, write and exceptional
// conditions. A set has one bit for each descriptor.
type fdSets [3][]uint64

func (s *fdSets) has(set int, fd uint64) bool { return s[set][fd/64]>>(fd%64)&1 != 0 }

func newFDSets(words uint64) (s fdSets) {
	for set := range s {
		s[set] = make([]uint64, words)
	}
	return s
}

// sysPselect implements pselect6 as far as Go's runtime and old programs use it:
// to sleep, and to wait for descriptors, each of which is ready unless it would
// block.
func (m *machine) sysPselect(t *thread, a [6]uint64) int64 {
	deadline, e := m.timeout(a[4])
	if e != 0 {
		return -e
	}
	words := (min(a[0], maxFiles) + 63) / 64
	want, ok := m.loadFDSets([3]uint64(a[1:4]), words)
	if !ok {
		return -eFAULT
	}
	try := func() (int64, bool) {
		got, n, ok := m.files.readyOf(&want, words)
		if !ok {
			return -eBADF, true
		}
		if n == 0 && deadline > m.now() {
			return 0, false
		}
		if e := m.storeFDSets([3]uint64(a[1:4]), &got); e != 0 {
			return e, true
		}
		return n, true
	}
	if v, done := try(); done {
		return v
	}
	return t.block(deadline, 0, try)
}

// timeout returns the deadline that the relative timespec at addr gives, never
// if addr is 0, and an error number, 0 on success.
func (m *machine) timeout(addr uint64) (deadline uint64, e int64) {
	if addr == 0 {
		return never, 0
	}
	ns, e := m.timespec(addr)
	if e != 0 {
		return 0, e
	}
	return m.deadline(ns, false, false), 0
}

// loadFDSets reads three sets of the given number of words from guest memory. A
// set at address 0 is empty.
func (m *machine) loadFDSets(at [3]uint64, words uint64) (s fdSets, ok bool) {
	s = newFDSets(words)
	for set, addr := range at {
		if addr == 0 {
			continue
		}
		for i := range words {
			if s[set][i], ok = m.mem.load64(addr + 8*i); !ok {
				return s, false
			}
		}
	}
	return s, true
}

// storeFDSets writes the sets back to guest memory. It returns 0 or a negated
// error number.
func (m *machine) storeFDSets(at [3]uint64, s *fdSets) int64 {
	for set, addr := range at {
		if addr == 0 || len(s[set]) == 0 {
			continue
		}
		if e := m.put(addr, s[set]...); e != 0 {
			return e
		}
	}
	return 0
}

// readyOf returns the subset of the wanted descriptors that are ready, and its
// size; ok is false if one of them is not open. Exceptional conditions never
// occur.
func (t *fileTable) readyOf(want *fdSets, words uint64) (got fdSets, n int64, ok bool) {
	got = newFDSets(words)
	for set := range want {
		for fd := range words * 64 {
			if !want.has(set, fd) {
				continue
			}
			f := t.get(fd)
			if f == nil {
				return got, 0, false
			}
			if in, out := f.ready(); set == 0 && in || set == 1 && out {
				got[set][fd/64] |= 1 << (fd % 64)
				n++
			}
		}
	}
	return got, n, true
}
