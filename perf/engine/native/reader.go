//go:build linux && amd64

package native

import (
	"fmt"

	"presage/perf/trace"
)

// reader turns records into batches and counts, in a goroutine of its own.
type reader struct {
	m    *machine
	plan index
	sink trace.Sink

	batch                *trace.Batch
	varies               bool
	capacity             int    // accesses, and blocks, with which a batch is full
	open                 bool   // the last of batch.Blocks is still being executed
	mark                 int    // the accesses before it
	begun                uint64 // the instructions executed before it
	inRuns, blocksInRuns int    // accesses and blocks that the batch's runs stand for
	body                 [1]trace.BlockID
	counts               [1]uint32
	partial              bool // it was entered in its middle, or left early

	count  uint64 // instructions executed
	thread int32
	fs     uint64
	before *block // the last block executed, by this thread

	chunks *chunkTable
	seen   []bool // by block id: executed
	flow   *flow

	accesses, blocksRecorded, batches uint64
	unplanned                         map[unplanned]struct{}
	executed                          []*block // discovered

	done chan struct{}
	err  error
}

func newReader(m *machine) *reader {
	r := &reader{m: m, plan: m.plan, sink: m.opt.Sink, unplanned: make(map[unplanned]struct{}), done: make(chan struct{})}
	if m.plan.Flow != nil {
		r.flow = newFlow(m.plan.Flow)
	}
	for i := range m.plan.Blocks {
		r.varies = r.varies || m.plan.Blocks[i].Varies
	}
	return r
}

// run reads segments until there are no more.
func (r *reader) run() {
	defer close(r.done)
	if r.sink != nil {
		r.batch = r.sink.Exchange(nil)
		r.capacity = min(max(cap(r.batch.Accesses), 1), trace.MaxExpansion/4)
	}
	for s := range r.m.full {
		if r.err == nil {
			r.err = r.segment(&s)
		}
		if s.release {
			r.m.free <- s.buffer
		}
	}
	if r.err == nil {
		r.flush()
		r.pass() // changes behind the last event
	}
}

func (r *reader) segment(s *segment) error {
	if r.chunks == nil {
		r.chunks = r.m.maps.chunks
	}
	if err := r.m.ctx.Err(); err != nil {
		return err
	}
	if s.boundary || s.thread != r.thread {
		r.closeBlock()
		r.flush()
		if r.flow != nil && s.thread != r.thread {
			r.flow.switchTo(r.thread, s.thread)
		}
		r.thread, r.before = s.thread, nil
		r.startBatch(s.count)
	}
	r.count, r.fs = s.count, s.fs
	if r.batch != nil {
		r.batch.Changes = append(r.batch.Changes, s.changes...)
	}
	if r.flow != nil {
		for i := range s.events {
			r.flow.changed(&s.events[i])
		}
	}
	if s.cut != nil {
		r.cut(s.cut)
		return nil
	}
	return r.records(s)
}

func (r *reader) startBatch(at uint64) {
	if r.batch != nil {
		r.batch.Start, r.batch.Thread = at, r.thread
	}
}

// records reads the records of a segment.
func (r *reader) records(s *segment) error {
	w := s.words
	for len(r.seen) < len(s.blocks) {
		r.seen = append(r.seen, false)
	}
	for i := 0; i < len(w); {
		id := uint32(w[i])
		if int(id) >= len(s.blocks) || w[i]>>32 != 0 {
			return fmt.Errorf("native: word %d of %d of a buffer is %#x, not the number of a block", i, len(w), w[i])
		}
		b := s.blocks[id]
		if !r.seen[id] {
			r.first(b)
		}
		if b.loop {
			used := w[i+endWord] - w[i+beginWord]
			if each := 8 * uint64(b.instructions); used%each != 0 || used>>60 != 0 {
				return fmt.Errorf("native: a loop recorded at word %d of %d has used %#x", i, len(w), used)
			}
			r.iterations(b, w[i:], used/8/uint64(b.instructions))
			i += int(b.span)
			continue
		}
		r.block(b, w[i:])
		i += int(b.span)
	}
	return nil
}

// first notes that a block is executed for the first time.
func (r *reader) first(b *block) {
	r.seen[b.id] = true
	r.executed = append(r.executed, b)
	for _, u := range b.unplanned {
		r.unplanned[u] = struct{}{}
	}
}

// block reads a record: one execution of a block.
func (r *reader) block(b *block, w []uint64) {
	if r.flow != nil {
		r.flow.block(b)
	}
	if r.batch != nil {
		r.enter(b)
		if len(b.refs) > 0 {
			if b.simple {
				r.expand(b, w)
			} else {
				r.expandAny(b, w)
			}
		}
		if r.inRuns > 0 && len(r.batch.Accesses)+r.inRuns > trace.MaxExpansion {
			r.split() // a block with very many accesses
		}
	}
	r.count += uint64(b.instructions)
	r.before = b
}

// cut reads the record of a block that was left after its first instructions.
func (r *reader) cut(c *cut) {
	b := c.block
	for len(r.seen) <= int(b.id) {
		r.seen = append(r.seen, false)
	}
	if !r.seen[b.id] {
		r.first(b)
	}
	if r.flow != nil {
		r.flow.cut(b, c.n, c.faulted)
	}
	if r.batch != nil {
		r.enter(b)
		for k := range b.refs {
			if p := &b.refs[k]; int(p.index) < c.n && b.loop {
				r.batch.Accesses = append(r.batch.Accesses, r.loopAccess(p, c.words, c.iteration))
			} else if int(p.index) < c.n && p.form == repeated {
				r.repetition(b.refs[k:k+1], c.words)
			} else if int(p.index) < c.n {
				r.access(p, c.words)
			}
		}
		r.partial = r.open
	}
	r.count += uint64(c.n)
	r.before = nil
}

// enter begins the plan's block of b.
func (r *reader) enter(b *block) {
	if len(r.plan.Blocks) == 0 {
		r.mark, r.begun = len(r.batch.Accesses), r.count
		if r.capacity-len(r.batch.Accesses) < len(b.refs) {
			r.split()
		}
		return
	}
	id := b.planBlock
	if id < 0 {
		follows := r.open && b.flows && r.before != nil && r.before.end == b.pc && r.before.inBlock == b.inBlock
		if follows || b.inBlock < 0 {
			r.reserve(len(b.refs))
			return
		}
		id = b.inBlock
	}
	r.openBlock(trace.BlockID(id))
	r.partial = b.planBlock < 0 // entered in its middle
	r.reserve(len(b.refs))
}

// openBlock appends an execution of a planned block to the batch.
func (r *reader) openBlock(id trace.BlockID) {
	r.closeBlock()
	if cap(r.batch.Blocks) == 0 {
		r.batch.Blocks = make([]trace.BlockID, 0, r.capacity)
	}
	if len(r.batch.Blocks) >= r.capacity {
		r.flush()
		r.startBatch(r.count)
		if cap(r.batch.Blocks) == 0 {
			r.batch.Blocks = make([]trace.BlockID, 0, r.capacity)
		}
	}
	r.open, r.mark, r.begun = true, len(r.batch.Accesses), r.count
	r.batch.Blocks = append(r.batch.Blocks, id)
	if r.varies {
		r.batch.Counts = append(r.batch.Counts, 0)
	}
}

// closeBlock ends the planned block that is being executed.
func (r *reader) closeBlock() {
	if !r.open {
		return
	}
	r.open = false
	if r.varies {
		r.batch.Counts[len(r.batch.Counts)-1] = uint32(len(r.batch.Accesses) - r.mark)
	}
	if r.partial {
		r.partial = false
		r.flush()
		r.startBatch(r.count)
	}
}

// reserve makes room for n accesses: if there is too little, the batch ends before
// the open block.
func (r *reader) reserve(n int) {
	if r.capacity-len(r.batch.Accesses) < n && r.mark > 0 {
		r.split()
	}
}

// split passes the batch on up to the open block, which moves to the next batch.
func (r *reader) split() {
	b := r.batch
	tail := append([]trace.Access(nil), b.Accesses[r.mark:]...)
	b.Accesses = b.Accesses[:r.mark]
	var id trace.BlockID
	if r.open {
		id = b.Blocks[len(b.Blocks)-1]
		b.Blocks = b.Blocks[:len(b.Blocks)-1]
		if r.varies {
			b.Counts = b.Counts[:len(b.Counts)-1]
		}
	}
	open := r.open
	r.open = false
	r.flush()
	r.startBatch(r.begun)
	r.open = open
	b = r.batch
	if open {
		if cap(b.Blocks) == 0 {
			b.Blocks = make([]trace.BlockID, 0, r.capacity)
		}
		b.Blocks = append(b.Blocks, id)
		if r.varies {
			b.Counts = append(b.Counts, 0)
		}
	}
	b.Accesses = append(b.Accesses, tail...)
	r.mark = 0
}

// flush passes the batch to the sink unless it is empty.
func (r *reader) flush() {
	b := r.batch
	if b == nil || b.Empty() {
		return
	}
	if r.open && r.varies {
		b.Counts[len(b.Counts)-1] = uint32(len(b.Accesses) - r.mark)
	}
	accesses, blocks := b.Expansion()
	r.accesses += accesses
	r.blocksRecorded += blocks
	r.inRuns, r.blocksInRuns = 0, 0
	r.exchange()
}

// pass passes a batch to the sink that has changes and nothing else.
func (r *reader) pass() {
	if r.batch != nil && len(r.batch.Changes) > 0 {
		r.exchange()
	}
}

// exchange passes the batch to the sink.
func (r *reader) exchange() {
	r.batches++
	r.batch = r.sink.Exchange(r.batch)
	r.batch.Reset()
	r.batch.Thread = r.thread
	r.batch.Start = r.count
}
