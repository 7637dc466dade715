package sched

import "presage/perf/isa"

// issuer has a core execute a path over and over, in program order as the
// compiler left it, until it takes the same time every time. It is a model of
// timing alone: every branch is predicted, every access hits.
//
// An in-order core begins instruction i at
//
//	X(i) = max(X(i-1), X(from) + latency of every dependence)
//
// moved to where fewer than IssueWidth instructions begin and units are free.
// An out-of-order core takes it into its window at D(i), begins it at X(i) and
// retires it at R(i):
//
//	D(i) = max(D(i-FetchWidth) + 1, R(i-Window), R of as many loads, stores and
//	       results before as their queues and registers hold, when its issue
//	       queue has room)
//	X(i) = max(D(i) + 1, X(from) + latency), moved likewise
//	R(i) = max(R(i-1), R(i-RetireWidth) + 1, X(i) + own latency)
//
// Older instructions are given their units first; a younger one that is ready
// earlier gets what they leave free.
type issuer struct {
	core     *core
	opt      Options
	g        *Graph
	n        int // instructions an iteration
	tm       []*timing
	units    table
	begun    []int32 // by cycle: instructions that begin
	beginner []int32 // by cycle: the last of them
	cycles   int     // of begun in use

	d, x, r               []int32 // by instruction executed: D, X and R
	whyD, whyX, whyR      []reason
	loads, stores         ring
	intResults, flResults ring
	waiting               []queue
	written               int32 // in-order writes: when the last result is written
	writer                int32
	picked                []placement // of the last iteration
}

// reason is why an event is not earlier: an earlier event, and what ties them.
type reason struct {
	event int32 // 3·instruction + 0, 1 or 2 for D, X or R; -1 for none
	limit Limit
	what  int32 // edge of the graph, or instruction whose units are not free
}

const (
	taken   = 0
	begins  = 1
	retires = 2
)

// ring holds the last instructions that occupy a queue until they retire.
type ring struct {
	size, next int
	inst       []int32
}

func (r *ring) reset(size int) {
	r.size, r.next = size, 0
	r.inst = r.inst[:0]
}

// oldest returns the instruction that has to retire before another comes in.
func (r *ring) oldest() int32 {
	if r.size == 0 || len(r.inst) < r.size {
		return -1
	}
	return r.inst[r.next]
}

func (r *ring) push(i int32) {
	switch {
	case r.size == 0:
	case len(r.inst) < r.size:
		r.inst = append(r.inst, i)
	default:
		r.inst[r.next] = i
		r.next = (r.next + 1) % r.size
	}
}

// start prepares for a graph.
func (s *issuer) start(g *Graph) {
	s.g, s.n = g, len(g.Insts)
	s.units.reset(s.core, g, 0)
	clear(s.begun[:s.cycles])
	s.cycles = 0
	s.tm, s.picked = s.tm[:0], s.picked[:0]
	for _, in := range g.Insts {
		s.tm = append(s.tm, s.core.of(in.Class))
		s.picked = append(s.picked, placement{})
	}
	s.d, s.x, s.r = s.d[:0], s.x[:0], s.r[:0]
	s.whyD, s.whyX, s.whyR = s.whyD[:0], s.whyX[:0], s.whyR[:0]
	s.loads.reset(s.core.loads)
	s.stores.reset(s.core.stores)
	s.intResults.reset(s.core.intRegs)
	s.flResults.reset(s.core.floatRegs)
	s.waiting = s.waiting[:0]
	for _, n := range s.core.queues {
		s.waiting = append(s.waiting, queue{size: n})
	}
	s.written, s.writer = 0, -1
}

// iterate executes the path once more.
func (s *issuer) iterate() {
	for i := range s.n {
		if s.core.inOrder {
			s.inOrder(i)
		} else {
			s.outOfOrder(i)
		}
	}
}

// operands returns when the operands of instruction i of the path are there.
func (s *issuer) operands(i int) (int32, reason) {
	at, why := int32(0), reason{event: -1}
	self := len(s.x) // in all executions
	for _, e := range s.g.arrive[i] {
		edge := &s.g.Edges[e]
		from := self - i + edge.From - edge.Distance*s.n
		if from < 0 {
			continue
		}
		if t := s.x[from] + int32(edge.Latency); t > at {
			at, why = t, reason{event(from, begins), Latency, e}
		}
	}
	return at, why
}

func event(inst, kind int) int32 { return int32(3*inst + kind) }

// begin finds the first cycle from at on in which instruction i of the path can
// begin, and reserves its units.
func (s *issuer) begin(i int, at int32, why reason) (int32, reason) {
	self := int32(len(s.x))
	for ; ; at++ {
		s.growBegun(int(at) + 1)
		if int(s.begun[at]) >= s.core.issue {
			why = reason{event(int(s.beginner[at]), begins), IssueWidth, -1}
			continue
		}
		p, missing, ok := s.units.take(s.tm[i], int(at), self)
		if ok {
			s.begun[at]++
			s.beginner[at] = self
			s.picked[i] = p
			return at, why
		}
		holder := s.units.holder(missing, int(at))
		why = reason{event: why.event, limit: UnitBusy, what: -1}
		if holder >= 0 {
			why = reason{event(int(holder), begins), UnitBusy, holder}
		}
	}
}

func (s *issuer) growBegun(n int) {
	for len(s.begun) < n {
		s.begun, s.beginner = append(s.begun, 0), append(s.beginner, -1)
	}
	s.cycles = max(s.cycles, n)
}

func (s *issuer) inOrder(i int) {
	at, why := s.operands(i)
	self := len(s.x)
	if self > 0 && s.x[self-1] >= at {
		at, why = s.x[self-1], reason{event(self-1, begins), ProgramOrder, -1}
	}
	latency := int32(s.tm[i].latency)
	if s.opt.OrderedWrites && s.written-latency > at {
		at, why = s.written-latency, reason{event(int(s.writer), begins), WriteOrder, -1}
	}
	at, why = s.begin(i, at, why)
	s.x, s.whyX = append(s.x, at), append(s.whyX, why)
	if s.written = at + latency; s.opt.OrderedWrites {
		s.writer = int32(self)
	}
}

func (s *issuer) outOfOrder(i int) {
	self := len(s.x)
	in := s.g.Insts[i]
	d, whyD := s.enter(in, self)
	x, whyX := s.operands(i)
	if d+1 >= x {
		x, whyX = d+1, reason{event(self, taken), Entering, -1}
	}
	s.d, s.whyD = append(s.d, d), append(s.whyD, whyD)
	x, whyX = s.begin(i, x, whyX)
	s.x, s.whyX = append(s.x, x), append(s.whyX, whyX)
	s.leave(i, self)
	if q := s.core.queueOf[in.Class]; q >= 0 {
		s.waiting[q].push(x, int32(self))
	}
	for _, r := range s.held(in) {
		r.push(int32(self))
	}
}

// held returns the queues that an instruction occupies until it retires.
func (s *issuer) held(in *isa.Inst) (list []*ring) {
	var all [4]*ring
	list = all[:0]
	switch in.Mem.Kind {
	case isa.MemLoad:
		list = append(list, &s.loads)
	case isa.MemStore:
		list = append(list, &s.stores)
	case isa.MemReadModifyWrite:
		list = append(list, &s.loads, &s.stores)
	}
	for _, r := range in.Defs() {
		if r.Float() {
			list = append(list, &s.flResults)
		} else {
			list = append(list, &s.intResults)
		}
	}
	return list
}

// enter returns when an instruction comes into the window.
func (s *issuer) enter(in *isa.Inst, self int) (int32, reason) {
	at, why := int32(0), reason{event: -1}
	later := func(t int32, r reason) {
		if t > at {
			at, why = t, r
		}
	}
	if self > 0 {
		later(s.d[self-1], reason{event(self-1, taken), ProgramOrder, -1})
	}
	if w := s.core.fetch; self >= w {
		later(s.d[self-w]+1, reason{event(self-w, taken), FetchWidth, -1})
	}
	if w := s.core.window; w > 0 && self >= w {
		later(s.r[self-w], reason{event(self-w, retires), WindowFull, -1})
	}
	for _, r := range s.held(in) {
		if i := r.oldest(); i >= 0 {
			limit := QueueFull
			if r == &s.intResults || r == &s.flResults {
				limit = NoRegister
			}
			later(s.r[i], reason{event(int(i), retires), limit, -1})
		}
	}
	if q := s.core.queueOf[in.Class]; q >= 0 {
		if t, i, full := s.waiting[q].room(); full {
			later(t, reason{event(int(i), begins), QueueFull, -1})
		}
	}
	return at, why
}

// leave lets instruction i of the path, self in all, retire.
func (s *issuer) leave(i, self int) {
	at, why := s.x[self]+int32(s.tm[i].latency), reason{event(self, begins), Completing, -1}
	if self > 0 && s.r[self-1] > at {
		at, why = s.r[self-1], reason{event(self-1, retires), ProgramOrder, -1}
	}
	if w := s.core.retire; self >= w && s.r[self-w]+1 > at {
		at, why = s.r[self-w]+1, reason{event(self-w, retires), RetireWidth, -1}
	}
	s.r, s.whyR = append(s.r, at), append(s.whyR, why)
}

// queue is an issue queue: it holds instructions until they begin, in whatever
// order. Only the latest as many as it has entries matter, in a heap of which
// the first to begin is on top.
type queue struct {
	size int
	heap []entry
}

type entry struct{ at, inst int32 }

// room returns when one of the entries becomes free, if all are occupied.
func (q *queue) room() (at, inst int32, full bool) {
	if q.size <= 0 || len(q.heap) < q.size {
		return 0, 0, false
	}
	return q.heap[0].at, q.heap[0].inst, true
}

func (q *queue) push(at, inst int32) {
	switch {
	case q.size <= 0:
	case len(q.heap) < q.size:
		q.heap = append(q.heap, entry{at, inst})
		for i := len(q.heap) - 1; i > 0 && q.heap[(i-1)/2].at > q.heap[i].at; i = (i - 1) / 2 {
			q.heap[i], q.heap[(i-1)/2] = q.heap[(i-1)/2], q.heap[i]
		}
	case at > q.heap[0].at:
		q.heap[0] = entry{at, inst}
		q.sink()
	}
}

func (q *queue) sink() {
	for i := 0; ; {
		least := i
		for _, c := range []int{2*i + 1, 2*i + 2} {
			if c < len(q.heap) && q.heap[c].at < q.heap[least].at {
				least = c
			}
		}
		if least == i {
			return
		}
		q.heap[i], q.heap[least] = q.heap[least], q.heap[i]
		i = least
	}
}
