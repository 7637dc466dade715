//go:build linux && amd64

package native

import (
	"fmt"
	"maps"
	"slices"

	"presage/perf/trace"
)

// reader turns records into batches and counts, in a goroutine of its own.
type reader struct {
	m    *machine
	plan index
	sink trace.Sink

	*lane
	lanes map[int32]*lane // of threads that run at the same time; nil: one lane has all
	lent  *trace.Batch    // the sink's, while each lane has a batch of its own
	sent  uint64          // instructions in the batches passed on

	varies   bool
	capacity int // accesses, and blocks, with which a batch is full
	body     [1]trace.BlockID
	counts   [1]uint32
	strides  []trace.Stride // of the run that is added

	chunks *chunkTable
	giver  giver
	hot    []hotBlock // by block id
	unused []uint32   // see roomForCounts
	flow   *flow

	accesses, blocksRecorded, batches uint64
	unplanned                         map[unplanned]struct{}
	executed                          []*block // discovered

	done chan struct{}
	err  error
}

// lane is what becomes the next batch.
type lane struct {
	batch                *trace.Batch
	open                 bool   // the last of batch.Blocks is still being executed
	mark                 int    // the accesses before it
	begun                uint64 // the instructions executed before it
	inRuns, blocksInRuns int    // accesses and blocks that the batch's runs stand for
	partial              bool   // the open block was entered in its middle, or left early

	count  uint64 // instructions executed: by all threads if there is one lane
	passed uint64 // of them in batches passed on, if there are several
	thread int32
	fs     uint64
	before *block // the last block executed, by this thread
}

func newReader(m *machine) *reader {
	r := &reader{m: m, lane: new(lane), giver: giver{frames: frames{file: m.file}}, plan: m.plan, sink: m.opt.Sink, unplanned: make(map[unplanned]struct{}), done: make(chan struct{})}
	if m.plan.Flow != nil {
		r.flow = newFlow(m.plan.Flow)
	}
	if m.parallel {
		r.lanes = map[int32]*lane{0: r.lane}
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
		if r.lanes != nil {
			r.lent, r.batch = r.batch, r.newBatch()
		}
	}
	for s := range r.m.full {
		if r.err == nil {
			r.err = r.segment(&s)
		}
		if s.release {
			r.m.free <- freed{s.buffer, r.count}
		}
	}
	if r.err == nil {
		r.endAll()
	}
}

// endAll passes on what is left.
func (r *reader) endAll() {
	for _, thread := range slices.Sorted(maps.Keys(r.lanes)) {
		r.lane = r.lanes[thread]
		r.flush()
	}
	r.flush()
	r.pass() // changes behind the last event
}

// newBatch returns a batch for a lane.
func (r *reader) newBatch() *trace.Batch {
	return &trace.Batch{Accesses: make([]trace.Access, 0, r.capacity)}
}

// turnTo makes the lane of a thread the one that is filled.
func (r *reader) turnTo(thread int32) {
	if r.flow != nil {
		r.flow.switchTo(r.thread, thread)
	}
	next := r.lanes[thread]
	if next == nil {
		next = &lane{thread: thread}
		if r.batch != nil {
			next.batch = r.newBatch()
		}
		r.lanes[thread] = next
	}
	r.lane = next
}

// leave ends the lane of a thread that has ended.
func (r *reader) leave() {
	r.closeBlock()
	r.flush()
	delete(r.lanes, r.thread)
}

func (r *reader) segment(s *segment) error {
	if err := r.m.ctx.Err(); err != nil {
		return err
	}
	if r.lanes != nil && s.thread != r.thread {
		r.turnTo(s.thread)
	} else if s.boundary || s.thread != r.thread {
		r.closeBlock()
		r.flush()
		if r.flow != nil && s.thread != r.thread {
			r.flow.switchTo(r.thread, s.thread)
		}
		r.thread, r.before = s.thread, nil
		r.startBatch(s.count)
	}
	if s.chunks != nil {
		r.closeBlock()
		r.flush()
		r.chunks, r.before = s.chunks, nil
	}
	if !s.late {
		r.count = s.count
	}
	r.fs = s.fs
	if s.modules != nil {
		r.giver.modules = s.modules
	}
	if r.batch != nil {
		r.batch.Changes = append(r.batch.Changes, s.changes...)
	}
	if s.memory != nil {
		r.memoryEvent(s.memory)
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
	if s.ends {
		r.leave()
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
	plainly := r.plainly()
	for i := 0; i < len(w); {
		if plainly {
			if i = r.plain(w, i); i >= len(w) {
				break
			}
		}
		id := idOf(w[i])
		if int(id) >= len(s.blocks) || w[i] != uint64(int32(s.blocks[id].word)) {
			return fmt.Errorf("native: word %d of %d of a buffer is %#x, not the first word of a record", i, len(w), w[i])
		}
		b := s.blocks[id]
		if b.memory != noMemory {
			r.memoryRecord(b, w[i:])
			i += int(b.span)
			continue
		}
		if !r.known(id) {
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
	r.keep(b)
	r.executed = append(r.executed, b)
	for _, u := range b.unplanned {
		r.unplanned[u] = struct{}{}
	}
}

// block reads a record: one execution of a block.
func (r *reader) block(b *block, w []uint64) {
	if b.joins() {
		for _, p := range b.parts {
			r.block(p, w)
		}
		return
	}
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
	if !r.known(b.id) {
		r.first(b)
	}
	if b.joins() {
		r.cutParts(c)
		return
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
	if r.lanes != nil {
		r.hand()
		return
	}
	r.batch = r.sink.Exchange(r.batch)
	r.batch.Reset()
	r.batch.Thread = r.thread
	r.batch.Start = r.count
}

// hand passes the contents of a lane's batch to the sink, in the sink's own batch. In
// the order of batches, its first instruction follows the last of the batch before.
func (r *reader) hand() {
	*r.lent, *r.batch = *r.batch, *r.lent
	r.lent.Start, r.lent.Thread = r.sent, r.thread
	r.sent += r.count - r.passed
	r.passed = r.count
	r.lent = r.sink.Exchange(r.lent)
	r.batch.Reset()
}
