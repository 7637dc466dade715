package sched

// inOrder is an in-order core at work. It begins instruction i in cycle
//
//	X(i) = max(X(i-1), X(from) + latency of every dependence)
//
// or in the first cycle after that in which fewer instructions have begun than the
// least of its widths allows, and its units are free.
type inOrder struct {
	units   table
	cycle   int32 // in which the last one began
	begun   int   // how many began in it
	written int32 // when the last result is written
}

func (o *inOrder) start(s *issuer) {
	o.units.reset(s.core, s.g, 0)
	o.cycle, o.begun, o.written = 0, 0, 0
}

// issue begins instruction i of the path.
func (o *inOrder) issue(s *issuer, i int) {
	self := len(s.x)
	at, why := o.cycle, reason{event(self-1, begins), ProgramOrder, -1}
	if self == 0 {
		why.event = -1
	}
	for _, e := range s.g.arrive[i] {
		edge := &s.g.Edges[e]
		if from := s.producer(edge, self); from >= 0 {
			if t := s.x[from] + int32(edge.Latency); t > at {
				at, why = t, reason{event(from, begins), Latency, e}
			}
		}
	}
	tm := s.tm[i]
	if t := o.written - int32(tm.latency); s.opt.OrderedWrites && t > at {
		at, why = t, reason{event(self-1, begins), WriteOrder, -1}
	}
	if at == o.cycle && o.begun >= s.core.width {
		at, why = at+1, reason{event(self-1, begins), IssueWidth, -1}
	}
	for ; ; at++ {
		p, missing, ok := o.units.take(tm, int(at), int32(self))
		if ok {
			s.placed = append(s.placed, p)
			break
		}
		if holder := o.units.holder(missing, int(at)); holder >= 0 {
			why = reason{event(int(holder), begins), UnitBusy, holder}
		}
	}
	if at > o.cycle {
		o.cycle, o.begun = at, 0
	}
	o.begun++
	o.written = at + int32(tm.latency)
	s.x, s.whyX = append(s.x, at), append(s.whyX, why)
}
