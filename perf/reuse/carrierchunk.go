package reuse

import (
	"fmt"

	"presage/perf/trace"
)

// carrierChunks are chunks of distances by carrier, object and source. Where control
// stands, which memory belongs to what and what touched a block first is found while
// batches are handed out, since each depends on all that came before and none on
// distances.
type carrierChunks struct {
	layout
	opt    *Options
	plan   *trace.Plan
	window int
	past   carrierPast

	flow             flow
	changes          []trace.Change // of all batches
	newborn          []newborn      // likewise
	bornLo, bornSize uint64         // the addresses around all memory that is told apart by birth
	seen             table
	objects          objects
	memos            []birthMemo // by reference
}

// newborn is a block that is touched for the first time.
type newborn struct {
	block uint64
	birth int32
}

// ahead is what a worker must know before a batch, of the batches before and it.
type ahead struct {
	start   *standing // nil: only where no chunk begins
	changes []trace.Change
	newborn []newborn
}

// standing is where control stands.
type standing struct {
	control
	others map[int32]control
	thread int32
}

// maxStanding bounds the frames of a standing that is kept in case that a chunk should
// begin there.
const maxStanding = 256

// newCarrying returns what finds carriers.
func newCarrying(l layout, plan *trace.Plan, opt *Options, tune tuning) (method, error) {
	switch {
	case opt.Workers > 1 && opt.Sources == nil:
		return nil, fmt.Errorf("reuse: Workers is %d: a Nest without Sources takes one worker", opt.Workers)
	case opt.Workers > 1 && opt.Memory != nil:
		return nil, fmt.Errorf("reuse: Workers is %d: a Memory takes one worker; more take NewMemory", opt.Workers)
	case opt.Memory == nil && opt.NewMemory != nil:
		opt.Memory = opt.NewMemory()
	}
	one, err := newCarriers(l, plan, opt, tune.window)
	if err != nil {
		return nil, err
	}
	if opt.Workers <= 1 {
		return one, nil
	}
	c := &carrierChunks{
		layout: l, opt: opt, plan: plan, window: tune.window,
		past: carrierPast{past: newPast(l, tune.window), controls: make(map[int32][]activation)},
		flow: newFlow(plan, opt.Nest), seen: newTable(l.blockBits()), memos: make([]birthMemo, len(plan.Refs)),
	}
	c.objects, err = newObjects(opt.Objects)
	if err != nil {
		return nil, err
	}
	c.bearing(one.largest)
	return newParallel(opt, tune, c), nil
}

func (s *carrierChunks) part() part {
	opt := *s.opt
	if opt.NewMemory != nil {
		opt.Memory = opt.NewMemory()
	}
	c, err := newCarriers(s.layout, s.plan, &opt, s.window)
	if err != nil {
		panic(err) // newCarrying has made one
	}
	c.chunk, c.sources.chunk = true, true
	c.edge = &edge{objects: make([]memo, len(s.plan.Refs))}
	return &carrierPart{carriers: c, past: &s.past, window: s.window, begins: true}
}

func (s *carrierChunks) copy(dst, b *trace.Batch) {
	if len(b.Runs) > 0 {
		b.Expand(dst)
		dst.Changes = dst.Changes[:0] // prepare has them
		return
	}
	dst.Reset()
	dst.Thread = b.Thread
	dst.Accesses = append(dst.Accesses, b.Accesses...)
	dst.Blocks = append(dst.Blocks, b.Blocks...)
	dst.Counts = append(dst.Counts, b.Counts...)
}

func (s *carrierChunks) prepare(c *parcel, changes []trace.Change, begins bool) {
	s.changes = append(s.changes, changes...)
	if s.anyBorn(c.batch.Accesses) {
		s.bear(c.batch.Accesses)
	}
	c.ahead = ahead{changes: s.changes, newborn: s.newborn}
	if begins || len(s.flow.frames) <= maxStanding {
		c.ahead.start = s.standing()
	}
	s.flow.follow(&c.batch)
}

// bearing sets the addresses at which accesses may need births.
func (s *carrierChunks) bearing(largest uint64) {
	lo, hi := uint64(trace.AddrLimit), uint64(0)
	for _, o := range s.opt.Objects {
		if o.ByBirth && s.opt.Births != nil {
			lo, hi = min(lo, o.Lo), max(hi, o.Hi)
		}
	}
	if lo < hi {
		lo, hi = lo>>s.shift<<s.shift, (hi+1<<s.shift-1)>>s.shift<<s.shift // whole blocks
		s.bornLo = lo - min(lo, largest-1)
		s.bornSize = hi - s.bornLo
	}
}

// anyBorn reports whether an access may be the first to a block that is told apart by
// birth.
func (s *carrierChunks) anyBorn(accesses []trace.Access) bool {
	lo, size := s.bornLo, s.bornSize
	within := uint64(0) // its highest bit: one is
	for _, a := range accesses {
		within |= (a.Addr() - lo - size) &^ (a.Addr() - lo)
	}
	return size > 0 && within>>63 == 1
}

// birthMemo is what a reference's accesses to some addresses need: lo and size are as in
// memo.
type birthMemo struct {
	lo, size uint64
	skip     bool   // nothing: the memory of their blocks is not told apart by birth
	block    uint64 // accessed last, plus 1; 0: none
}

// bear notes the blocks that are touched for the first time, where it matters.
func (s *carrierChunks) bear(accesses []trace.Access) {
	shift := s.shift & 63
	for _, a := range accesses {
		m := &s.memos[a.Ref()]
		if uint64(a)-m.lo >= m.size {
			s.recall(m, a)
		}
		if m.skip {
			continue
		}
		block, last := a.Addr()>>shift, a.Last()>>shift
		if block == last && m.block == last+1 {
			continue
		}
		m.block = last + 1
		for ; block <= last; block++ {
			e, ok := s.seen.find(block)
			if !ok {
				e = s.seen.add(block)
			}
			if s.seen.last[e] == 0 {
				s.seen.last[e] = 1
				s.newborn = append(s.newborn, newborn{block, s.opt.Births[a.Ref()]})
			}
		}
	}
}

// recall makes m that of an access.
func (s *carrierChunks) recall(m *birthMemo, a trace.Access) {
	tag := uint64(a) - a.Addr()
	object, lo, hi := s.objects.at(a.Addr())
	if s.objects.isByBirth(object) {
		*m = birthMemo{lo: tag + lo, size: hi - lo}
		return
	}
	// Blocks that are in this object alone.
	lo, hi = (lo+1<<s.shift-1)>>s.shift<<s.shift, hi>>s.shift<<s.shift
	if a.Addr() < lo || a.Last() >= hi {
		*m = birthMemo{lo: uint64(a), size: 1}
		return
	}
	*m = birthMemo{lo: tag + lo, size: hi - lo - (a.Size() - 1), skip: true}
}

// standing returns a copy of where control stands.
func (s *carrierChunks) standing() *standing {
	t := &standing{control: s.flow.control.inherit(), others: make(map[int32]control, len(s.flow.others)), thread: s.flow.thread}
	for id, o := range s.flow.others {
		t.others[id] = o.inherit()
	}
	return t
}

func (s *carrierChunks) begins(c *parcel) bool { return c.ahead.start != nil }

func (s *carrierChunks) takesRuns() bool { return false }

func (s *carrierChunks) result(parts []part) *Result {
	r := &Result{Groups: make([]Histogram, s.groups), Blocks: s.past.blocks}
	sum := make(map[carriedKey]*[2]Histogram)
	for _, p := range parts {
		c := p.(*carrierPart)
		c.learn(&ahead{changes: s.changes, newborn: s.newborn})
		r.Accesses += c.stack.result().Accesses
		for i, key := range c.keys {
			h := sum[key]
			if h == nil {
				h = new([2]Histogram)
				sum[key] = h
			}
			for crosses := range h {
				o := c.found.histogram(2*i + crosses)
				h[crosses] = h[crosses].merge(&o)
			}
		}
	}
	if memory := parts[0].(*carrierPart).objects.memory; memory != nil {
		r.Memory = memory.Names()
	}
	for key, h := range sum {
		for crosses := range h {
			r.carry(key, crosses == 1, h[crosses])
		}
	}
	r.sortCarried()
	return r
}
