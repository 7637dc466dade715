package rv64

import (
	"fmt"
	"unsafe"

	"presage/perf/trace"
)

// startTrace takes the first batch.
func (m *machine) startTrace() error {
	if m.opt.Sink == nil {
		return nil
	}
	var thread int32
	if m.current != nil { // resumed from a snapshot
		thread = m.current.index
	}
	m.use(m.opt.Sink.Exchange(nil), m.executed(), thread)
	if m.room < maxBlock {
		return fmt.Errorf("rv64: the sink's batches hold %d accesses; at least %d are needed", m.room, maxBlock)
	}
	return nil
}

// use makes b the batch that exec fills.
func (m *machine) use(b *trace.Batch, start uint64, thread int32) {
	b.Reset()
	b.Start, b.Thread = start, thread
	if len(m.opt.Plan.Blocks) > 0 && cap(b.Blocks) == 0 {
		b.Blocks = make([]trace.BlockID, 0, max(cap(b.Accesses), 1))
	}
	m.batch = b
	m.records, m.recorded, m.room = unsafe.Pointer(unsafe.SliceData(b.Accesses)), 0, uintptr(cap(b.Accesses))
	m.ids, m.idCount, m.idRoom = unsafe.Pointer(unsafe.SliceData(b.Blocks)), 0, uintptr(cap(b.Blocks))
	m.mark = 0
}

// flush passes the batch to the sink unless it is empty. start is the number of
// instructions executed before the first event of the next batch.
func (m *machine) flush(start uint64) {
	b := m.batch
	if b == nil {
		return
	}
	if m.recorded == 0 && m.idCount == 0 {
		b.Start = start
		return
	}
	b.Accesses = b.Accesses[:m.recorded]
	b.Blocks = b.Blocks[:m.idCount]
	m.counted.Accesses += uint64(m.recorded)
	m.counted.Blocks += uint64(m.idCount)
	m.counted.Batches++
	thread := b.Thread // the sink owns b from here on
	next := m.opt.Sink.Exchange(b)
	if cap(next.Accesses) < maxBlock {
		panic(fmt.Sprintf("rv64: the sink handed over a batch that holds %d accesses; at least %d are needed", cap(next.Accesses), maxBlock))
	}
	m.use(next, start, thread)
}

// makeRoom flushes the batch to make room for the events of block b. It is called
// at b's opCheck, o, and returns o.
//
//go:noinline
func (m *machine) makeRoom(b *block, o *op) *op {
	m.flush(m.executed() - uint64(b.n))
	return o
}

// makeRoomFor flushes the batch to make room for the events of block b, which are
// already counted as recorded.
func (m *machine) makeRoomFor(b *block) {
	m.recorded = m.mark
	m.flush(m.executed() - uint64(b.n))
	m.recorded = b.refs
}

// switchTo makes t the current thread. It flushes the batch, as a batch holds the
// events of one thread only.
func (m *machine) switchTo(t *thread) {
	if m.current == t {
		return
	}
	if m.current != nil {
		m.current.reserved = false
	}
	m.current = t
	m.flush(m.executed())
	if m.batch != nil {
		m.batch.Thread = t.index
	}
}
