//go:build linux && amd64

package native

import (
	"encoding/binary"
	"math"
	"slices"

	"golang.org/x/sys/unix"

	"presage/perf/trace"
)

// never is later than any event.
const never = math.MaxUint64

// place is where the running thread records: a part of a buffer up to its end, or
// of the ring if nothing is recorded. A position in the ring counts instructions; one in
// a buffer bounds their number: none takes less than unit bytes.
type place struct {
	buffer int    // -1: the ring
	from   uint64 // address at which this part begins
	limit  uint64 // address of the buffer's end
	unit   uint64
	count  uint64 // instructions executed before this part, apart from machine.unread
	credit uint64 // gsCredit before this part

	// In a buffer, the instructions of the records from from on, up to the position
	// read; 0: of none.
	read, found uint64
}

const (
	ringUnit   = 1
	recordUnit = 8 / wordInstructions
)

// segment is a part of a buffer on its way to the reader of records.
type segment struct {
	buffer   int
	words    []uint64
	blocks   []*block
	thread   int32
	fs       uint64
	count    uint64 // instructions executed before it
	late     bool   // count is not known yet: the reader counts on
	release  bool   // the buffer is free afterwards
	boundary bool   // a batch ends before it
	cut      *cut
	events   []event
	changes  []trace.Change
	ends     bool // the thread has ended
	memory   *memoryEvent
	modules  []moduleRange // of now; nil: nobody asks
	chunks   *chunkTable   // from now on: a program begins
}

func (m *machine) stateBytes(t *thread) []byte {
	return m.child.mem[fileStates+t.slot*pageBytes:][:pageBytes]
}

func (m *machine) stateWord(t *thread, off int) uint64 {
	return binary.LittleEndian.Uint64(m.stateBytes(t)[off:])
}

func (m *machine) setStateWord(t *thread, off int, v uint64) {
	binary.LittleEndian.PutUint64(m.stateBytes(t)[off:], v)
}

// executed returns the number of instructions executed when the running thread's
// position is pos.
func (m *machine) executed(pos uint64) uint64 {
	p := &m.place
	m.countUnread()
	if p.buffer < 0 {
		return p.count + pos - p.from + m.inLoops()
	}
	return p.count + m.recorded(pos) + m.inLoops()
}

// inLoops returns the number of instructions of the loops in this part.
func (m *machine) inLoops() uint64 {
	return uint64(int64(m.stateWord(m.current, gsCredit)-m.place.credit) / 8)
}

// due reports whether the running thread, at a position, is to stop for an event.
func (m *machine) due(pos uint64) bool { return m.next != never && m.executed(pos) >= m.next }

// recorded returns the number of instructions of the records up to pos, loops apart.
func (m *machine) recorded(pos uint64) uint64 {
	p := &m.place
	if p.read < p.from || p.read > pos {
		p.read, p.found = p.from, 0
	}
	if p.read == pos {
		return p.found
	}
	p.found += m.countRecords(p.words(m, p.read, pos))
	p.read = pos
	return p.found
}

// words returns what was recorded between two positions. The last span may end behind the
// buffer.
func (p *place) words(m *machine, from, to uint64) []uint64 {
	start := buffersAt + uint64(p.buffer)*bufferStride
	return m.bufferWords(p.buffer)[min(from-start, bufferBytes)/8 : min(to-start, bufferBytes)/8]
}

// now returns the number of instructions executed, while the running thread has all
// registers of its own.
func (m *machine) now() uint64 {
	return m.base + m.own()
}

// own returns how many of them the running thread has executed, or all threads have
// if they run one at a time.
func (m *machine) own() uint64 {
	if m.place.limit == 0 {
		return m.place.count
	}
	return m.executed(m.stateWord(m.current, gsBuffer))
}

// capacity is the largest number of instructions until the running thread stops.
func (p *place) capacity() uint64 {
	if p.buffer < 0 {
		return ringBytes * ringTimes / ringUnit
	}
	return bufferBytes / recordUnit
}

// finely is the number of instructions before an event from which on loops are not
// executed as such. It is more than twice what a block can have.
const finely = 512

// longest is the number of instructions after which a loop stops even if there is no
// event.
const longest = 64 << 20

// longestFree is the same while threads run at the same time, and may have to wait for
// each other's stops: some ten milliseconds.
const longestFree = 16 << 20

// share divides the instructions up to the next event between the position in the
// buffer and the credit of loops. Either may be overrun by less than a block, so
// their sum stays that much below; close to the event the position has all.
func (m *machine) share(count uint64) (room, credit uint64) {
	room = m.place.capacity()
	if m.place.buffer < 0 {
		room = min(room, max(4*m.child.provided, firstRoom)/ringUnit)
	}
	m.report(m.base + count)
	longest := uint64(longest)
	if m.parallel {
		longest = longestFree
	}
	if m.next == never {
		return room, longest
	}
	left := uint64(1)
	if m.next > count {
		left = m.next - count
	}
	if left <= finely {
		return left, 0
	}
	room = min(room, left/2)
	return room, min(left-room-finely/4, longest)
}

// rewind starts a new part at which count instructions have been executed, with room
// for the instructions up to the next event, but at least least. It returns the new
// position. What was recorded must have been sent.
func (m *machine) rewind(count, least uint64) (uint64, error) {
	p := &m.place
	room, credit := m.share(count)
	room = min(max(room, least), p.capacity())
	p.count, p.from, p.credit, p.read = count, p.behind(room), -(8 * credit), 0
	m.setStateWord(m.current, gsCredit, p.credit)
	if p.buffer < 0 {
		return p.from, m.child.provide(p.limit - p.from)
	}
	return p.from, nil
}

// behind returns the position with room for at most room instructions, and for a block.
func (p *place) behind(room uint64) uint64 {
	if p.buffer < 0 {
		return p.limit - room*p.unit
	}
	return p.limit - max(8, room*p.unit&^7)
}

// takeBuffer makes the next free buffer, or the ring, the place to record in.
func (m *machine) takeBuffer() error {
	if !m.cache.traced {
		m.place = place{buffer: -1, limit: ringAt + ringBytes*ringTimes, unit: ringUnit}
		return nil
	}
	select {
	case f := <-m.free:
		m.counted(f)
		if err := m.child.fill(f.buffer); err != nil {
			return err
		}
		m.place = place{buffer: f.buffer, limit: buffersAt + uint64(f.buffer)*bufferStride + bufferBytes, unit: recordUnit, count: m.place.count}
		return nil
	case <-m.reader.done:
		return m.reader.err
	}
}

// send passes what was recorded up to pos to the reader. With release the buffer is
// given up.
func (m *machine) send(pos uint64, release bool) {
	p := &m.place
	if p.buffer < 0 {
		return
	}
	m.countUnread()
	if s := m.part(pos); len(s.words) > 0 || release {
		s.release = release
		m.full <- s
	}
	m.fold(pos)
}

// part returns what was recorded up to pos.
func (m *machine) part(pos uint64) segment {
	p := &m.place
	return segment{
		buffer: p.buffer, blocks: m.blocks, thread: m.current.index, fs: m.current.regs.Fs_base, count: p.count, late: len(m.unread) > 0,
		modules: m.moduleRanges(), words: p.words(m, p.from, pos),
	}
}

// fold begins a new part at pos.
func (m *machine) fold(pos uint64) {
	p := &m.place
	p.count, p.from, p.credit, p.read = m.executed(pos), pos, m.stateWord(m.current, gsCredit), 0
}

// renew replaces a full place: it sends what was recorded and returns the position
// in a new one with room for at least least instructions. The record that begins at
// pos is moved there; it has at most words words.
func (m *machine) renew(pos, least, words uint64) (uint64, error) {
	if m.place.buffer < 0 {
		return m.rewind(m.executed(pos), least)
	}
	old, at := m.place.buffer, pos-(buffersAt+uint64(m.place.buffer)*bufferStride)
	if m.next == never && !m.parallel {
		m.sendUncounted(pos)
	} else {
		m.send(pos, false)
	}
	if err := m.takeBuffer(); err != nil {
		return 0, err
	}
	next, err := m.rewind(m.place.count, max(least, words*wordInstructions))
	if err != nil {
		return 0, err
	}
	from := m.child.mem[fileBuffers+old*bufferBytes:][:bufferBytes]
	to := m.child.mem[fileBuffers+m.place.buffer*bufferBytes:][:bufferBytes]
	if at < bufferBytes {
		copy(to[next-(buffersAt+uint64(m.place.buffer)*bufferStride):], from[at:min(at+8*words, bufferBytes)])
	}
	m.full <- segment{buffer: old, release: true, blocks: m.blocks, thread: m.current.index, count: m.place.count, late: len(m.unread) > 0}
	return next, nil
}

// aim makes the running thread, which has all registers of its own, stop at the next
// event.
func (m *machine) aim() error {
	if m.place.limit == 0 {
		count := m.place.count
		if err := m.takeBuffer(); err != nil {
			return err
		}
		pos, err := m.rewind(count, 1)
		m.setStateWord(m.current, gsBuffer, pos)
		return err
	}
	pos := m.stateWord(m.current, gsBuffer)
	left := (max(m.place.limit, pos) - pos) / m.place.unit // the last span may end behind the buffer
	credit := uint64(max(-int64(m.stateWord(m.current, gsCredit)), 0)) / 8
	if m.next == never && credit > finely {
		return nil
	}
	count := m.executed(pos)
	if m.next >= count+left+credit+finely/4 && credit > finely {
		return nil
	}
	m.send(pos, false)
	m.fold(pos)
	room, credit := m.share(count)
	if room < left {
		pos = m.place.behind(room)
	} else if m.next != never { // the position must not go back: what is there may not be read yet
		credit = 0
		if m.next > count+left+finely {
			credit = m.next - count - left - finely/4
		}
	}
	m.place.from, m.place.credit, m.place.read = pos, -(8 * credit), 0
	m.setStateWord(m.current, gsBuffer, pos)
	m.setStateWord(m.current, gsCredit, m.place.credit)
	return nil
}

// inHole reports whether an address lies behind the end of the current place.
func (m *machine) inHole(addr uint64) bool {
	return addr >= m.place.limit && addr < m.place.limit+1<<20
}

// full handles the fault of block b at the end of the place.
func (m *machine) placeFull(t *thread, r *unix.PtraceRegs, b *block) error {
	reg := register(r, int(b.regs.pos))
	pos := *reg
	begins := r.Rip == b.lo
	if m.crowded { // others wait for a buffer
		m.next = min(m.next, m.executed(pos))
	}
	signalled := slices.ContainsFunc(m.pending, func(q queued) bool { return q.thread == t })
	if begins && !b.flows && (m.due(pos) || signalled) {
		m.park(t, r, b)
		if err := m.reach(); err != nil || m.ended {
			return err
		}
		return m.deliverPending()
	}
	least := uint64(1)
	if !begins || m.due(pos) {
		least = uint64(b.instructions) // up to the next transfer of control
	}
	event := m.next
	if signalled {
		m.next = min(event, m.executed(pos)) // stop behind the block: others may never begin at the end of a buffer
	}
	next, err := m.renew(pos, least, uint64(max(b.span, b.words)))
	m.next = event
	if err != nil {
		return err
	}
	*reg = next
	return m.pause()
}

// park gives thread t, which is about to execute block b, all its own registers.
func (m *machine) park(t *thread, r *unix.PtraceRegs, b *block) {
	m.restore(t, r, b.regs)
	t.resumeAt = key{pc: b.pc, flows: b.flows, past: b.past, back: b.back}
	t.parked = true
}

// restore puts the program's content into registers that were taken.
func (m *machine) restore(t *thread, r *unix.PtraceRegs, regs taken) {
	if regs.pos >= 0 {
		p := register(r, int(regs.pos))
		m.setStateWord(t, gsBuffer, *p)
		*p = m.stateWord(t, gsRegister+8*int(regs.pos))
	}
	if regs.scratch >= 0 {
		*register(r, int(regs.scratch)) = m.stateWord(t, gsRegister+8*int(regs.scratch))
	}
}
