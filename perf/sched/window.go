package sched

import (
	"presage/perf/access"
	"presage/perf/isa"
)

// window is a cycle-by-cycle simulation of an out-of-order core. In each cycle it
// retires up to RetireWidth completed instructions in program order; issues up to
// IssueWidth instructions whose operands are ready and units free, oldest first;
// and admits up to FetchWidth instructions in program order while there is room in
// the window and the queues, and free registers for results. An admitted
// instruction can issue in the next cycle.
type window struct {
	now           int32
	in, out       int       // instructions that came in, that retired
	freeAt        [][]int32 // by kind and unit: when it is free again
	holder        []int32   // by kind: what occupied one of its units last
	order         []int     // kinds, in the order of preference
	leave         [][]int32 // by instruction of the path: edges that lead from it
	waits         []int32   // by instruction executed: operands that have not begun
	ready         []int32   // by instruction executed: when its operands are there
	whyReady      []reason
	sleeping      heap // by when they are ready
	groups        []group
	groupOf       []int // by instruction of the path
	last          int32 // that began
	loads, stores held
	ints, floats  held
	queues        []held
	needs         []need // by instruction of the path
}

// need is what an instruction occupies while in flight.
type need struct {
	load, store, integer, float bool
	queue                       int8 // -1 for none
}

func (c *core) need(n *access.Node) need {
	_, kind := n.Access(n.Micro)
	out := need{queue: c.queueOf[n.Micro.Class], load: kind == isa.MemLoad, store: kind == isa.MemStore}
	if kind == isa.MemReadModifyWrite {
		out.load, out.store = true, true
	}
	for k, r := range n.Defs() {
		if n.Micro.Defs>>k&1 != 0 {
			out.float = out.float || r.Float()
			out.integer = out.integer || !r.Float()
		}
	}
	return out
}

// group holds the ready instructions that need the same units, by age.
type group struct {
	tm    *timing
	heap  heap
	tried int32 // cycle in which its units were found busy
}

// held counts the instructions in a queue; 0 entries means no limit.
type held struct {
	size, count int
}

func (h *held) full() bool { return h.size > 0 && h.count >= h.size }

func (w *window) start(s *issuer) {
	c := s.core
	w.now, w.in, w.out, w.last = 0, 0, 0, -1
	w.order = preference(w.order[:0], c, s.g)
	w.freeAt, w.holder = w.freeAt[:0], w.holder[:0]
	for k := range c.names {
		w.freeAt = append(w.freeAt, make([]int32, c.counts[k]))
		w.holder = append(w.holder, -1)
	}
	w.leave = s.g.leaving()
	w.waits, w.ready, w.whyReady = w.waits[:0], w.ready[:0], w.whyReady[:0]
	w.sleeping = w.sleeping[:0]
	w.groups, w.groupOf = w.groups[:0], w.groupOf[:0]
	for _, tm := range s.tm {
		w.groupOf = append(w.groupOf, w.group(tm))
	}
	w.loads, w.stores = held{size: c.loads}, held{size: c.stores}
	w.ints, w.floats = held{size: renames(c.intRegs, s.g.Target.IntegerNames)}, held{size: renames(c.floatRegs, s.g.Target.FloatNames)}
	w.needs = w.needs[:0]
	for i := range s.g.Nodes {
		w.needs = append(w.needs, c.need(&s.g.Nodes[i]))
	}
	w.queues = w.queues[:0]
	for _, n := range c.queues {
		w.queues = append(w.queues, held{size: n})
	}
}

func (w *window) group(tm *timing) int {
	for i := range w.groups {
		if w.groups[i].tm == tm {
			return i
		}
	}
	w.groups = append(w.groups, group{tm: tm, tried: -1})
	return len(w.groups) - 1
}

// until runs until the given number of instructions have retired.
func (w *window) until(s *issuer, retired int) {
	for ; w.out < retired; w.now++ {
		w.retire(s)
		w.issue(s)
		w.enter(s)
	}
}

func (w *window) retire(s *issuer) {
	for n := 0; n < s.core.retire && w.out < w.in; n++ {
		i := w.out % s.n
		if s.x[w.out] < 0 {
			return
		}
		at := s.x[w.out] + int32(s.tm[i].latency)
		if at > w.now {
			return
		}
		why := reason{event(w.out, begins), Completing, -1}
		if at < w.now && w.out > 0 { // it could have retired before
			why = reason{event(w.out-1, retires), ProgramOrder, -1}
			if width := s.core.retire; w.out >= width && s.r[w.out-width] == w.now-1 {
				why = reason{event(w.out-width, retires), RetireWidth, -1}
			}
		}
		s.r, s.whyR = append(s.r, w.now), append(s.whyR, why)
		w.hold(&w.needs[i], -1)
		w.out++
	}
}

// hold adds n to the counts of what an instruction occupies from entry to
// retirement.
func (w *window) hold(in *need, n int) {
	if in.load {
		w.loads.count += n
	}
	if in.store {
		w.stores.count += n
	}
	if in.float {
		w.floats.count += n
	}
	if in.integer {
		w.ints.count += n
	}
}

// issue begins instructions whose operands are ready.
func (w *window) issue(s *issuer) {
	for len(w.sleeping) > 0 && w.sleeping[0].key <= w.now {
		i := w.sleeping.pop().inst
		w.groups[w.groupOf[int(i)%s.n]].heap.push(entry{i, i})
	}
	for n := 0; n < s.core.issue; n++ {
		g := w.oldest()
		if g == nil {
			return
		}
		if !w.begin(s, g) {
			g.tried = w.now
			n--
		}
	}
}

// oldest returns the group with the oldest ready instruction, among those whose
// units were not found busy in this cycle.
func (w *window) oldest() *group {
	var best *group
	for i := range w.groups {
		g := &w.groups[i]
		if len(g.heap) > 0 && g.tried != w.now && (best == nil || g.heap[0].key < best.heap[0].key) {
			best = g
		}
	}
	return best
}

// begin begins the oldest instruction of a group, if its units are free.
func (w *window) begin(s *issuer, g *group) bool {
	var kinds, units [maxUses]int
	i := g.heap[0].inst
	for u := range g.tm.uses {
		k, unit := w.free(&g.tm.uses[u])
		if k < 0 {
			for v := range u { // give back what it had
				w.freeAt[kinds[v]][units[v]] = w.now
			}
			s.whyX[i] = w.blocked(&g.tm.uses[u])
			return false
		}
		kinds[u], units[u] = k, unit
		w.freeAt[k][unit] = w.now + int32(g.tm.uses[u].cycles)
	}
	g.heap.pop()
	for u := range g.tm.uses {
		s.placed[i][u] = int8(kinds[u])
		w.holder[kinds[u]] = i
	}
	switch {
	case w.ready[i] == w.now:
		s.whyX[i] = w.whyReady[i]
	case s.whyX[i].event < 0 && w.last >= 0:
		s.whyX[i] = reason{event(int(w.last), begins), IssueWidth, -1}
	}
	s.x[i] = w.now
	w.last = i
	if q := w.needs[int(i)%s.n].queue; q >= 0 {
		w.queues[q].count--
	}
	w.wake(s, int(i))
	return true
}

// free returns the kind and number of a unit that is free now for a use, or -1.
func (w *window) free(u *use) (kind, unit int) {
	for _, k := range w.order {
		if u.kinds>>k&1 == 0 {
			continue
		}
		for unit, at := range w.freeAt[k] {
			if at <= w.now {
				return k, unit
			}
		}
	}
	return -1, -1
}

// blocked says that the units of a use are busy.
func (w *window) blocked(u *use) reason {
	last := int32(-1)
	for k, by := range w.holder {
		if u.kinds>>k&1 != 0 {
			last = max(last, by)
		}
	}
	if last < 0 {
		return reason{event: -1}
	}
	return reason{event(int(last), begins), UnitBusy, last}
}

// wake notifies the dependents in the window that an instruction has begun.
func (w *window) wake(s *issuer, i int) {
	for _, e := range w.leave[i%s.n] {
		edge := &s.g.Edges[e]
		to := i - i%s.n + edge.To + edge.Distance*s.n
		if to >= w.in {
			continue // it will see when it comes in
		}
		w.operand(s, to, e, i)
		w.waits[to]--
		switch {
		case w.waits[to] > 0:
		case w.ready[to] <= w.now: // nothing passes between them: it can begin at once
			w.groups[w.groupOf[to%s.n]].heap.push(entry{int32(to), int32(to)})
		default:
			w.sleeping.push(entry{w.ready[to], int32(to)})
		}
	}
}

// operand updates the ready time of an instruction for one of its operands.
func (w *window) operand(s *issuer, to int, e int32, from int) {
	if t := s.x[from] + int32(s.g.Edges[e].Latency); t > w.ready[to] {
		w.ready[to], w.whyReady[to] = t, reason{event(from, begins), Latency, e}
	}
}

// enter admits instructions to the window.
func (w *window) enter(s *issuer) {
	for n := 0; n < s.core.fetch; n++ {
		i := w.in % s.n
		in := &w.needs[i]
		if limit := w.room(s, in); limit != NoLimit {
			w.stall(s, limit)
			return
		}
		if len(s.whyD) == w.in { // it was not stalled
			s.whyD = append(s.whyD, w.unhindered(s))
		}
		s.d, s.placed = append(s.d, w.now), append(s.placed, placement{})
		s.x, s.whyX = append(s.x, -1), append(s.whyX, reason{event: -1})
		w.hold(in, 1)
		if q := in.queue; q >= 0 {
			w.queues[q].count++
		}
		w.await(s, i)
	}
}

// unhindered returns why an instruction for which there was room did not enter
// earlier: those before it entered then.
func (w *window) unhindered(s *issuer) reason {
	width := s.core.fetch
	switch {
	case w.in >= width && s.d[w.in-width] == w.now-1:
		return reason{event(w.in-width, taken), FetchWidth, -1}
	case w.in > 0:
		return reason{event(w.in-1, taken), ProgramOrder, -1}
	}
	return reason{event: -1}
}

// room returns the limit that leaves no room for an instruction.
func (w *window) room(s *issuer, in *need) Limit {
	if size := s.core.window; size > 0 && w.in-w.out >= size {
		return WindowFull
	}
	if q := in.queue; q >= 0 && w.queues[q].full() {
		return QueueFull
	}
	if in.load && w.loads.full() || in.store && w.stores.full() {
		return QueueFull
	}
	if in.float && w.floats.full() || in.integer && w.ints.full() {
		return NoRegister
	}
	return NoLimit
}

// stall records that the next instruction cannot enter because of the oldest one, or
// of the one that began last.
func (w *window) stall(s *issuer, limit Limit) {
	why := reason{event(w.out, retires), limit, -1}
	if limit == QueueFull && w.last >= 0 {
		why.event = event(int(w.last), begins)
	}
	if len(s.whyD) > w.in {
		s.whyD[w.in] = why
	} else {
		s.whyD = append(s.whyD, why)
	}
}

// await finds the operands that an entering instruction waits for.
func (w *window) await(s *issuer, i int) {
	self := w.in
	w.in++
	w.waits = append(w.waits, 0)
	w.ready, w.whyReady = append(w.ready, w.now+1), append(w.whyReady, reason{event(self, taken), Entering, -1})
	for _, e := range s.g.arrive[i] {
		from := s.producer(&s.g.Edges[e], self)
		switch {
		case from < 0:
		case s.x[from] < 0:
			w.waits[self]++
		default:
			w.operand(s, self, e, from)
		}
	}
	if w.waits[self] == 0 {
		w.sleeping.push(entry{w.ready[self], int32(self)})
	}
}
