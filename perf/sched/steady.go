package sched

// steady is what executing a path over and over comes to.
type steady struct {
	cycles   float64 // an execution, in the end
	period   int     // executions after which everything repeats; 0: none was found, and cycles is an average
	executed int     // executions
	alone    int     // the first one's, from its beginning to its last result
}

const (
	maxPeriod     = 12      // executions, but for those of the window
	minExecutions = 4       // before the end is looked for
	maxExecutions = 400     // short ones
	maxExecuted   = 1 << 14 // instructions, unless few executions are more
)

// run executes a path until the time from one execution to the next repeats.
func (s *issuer) run(g *Graph) steady {
	s.start(g)
	var out steady
	span := s.reach()
	limit := max(minExecutions, min(maxExecutions, maxExecuted/max(1, s.n)))
	echoes := s.candidates()
	for out.executed < limit {
		s.iterate()
		s.hear(echoes)
		out.executed++
		if out.executed == 1 {
			out.alone = s.alone()
		}
		if e := settled(echoes, s.n, span); e != nil && out.executed >= minExecutions {
			out.period, out.cycles = e.period, float64(e.shift)/float64(e.period)
			return out
		}
	}
	// What retires, or begins in order, is the throughput; what begins out of
	// order may still be running ahead.
	done := s.x
	if !s.core.inOrder {
		done = s.r
	}
	half := out.executed / 2
	out.cycles = float64(done[s.done-1]-done[s.done-1-half*s.n]) / float64(half)
	return out
}

// alone returns the time from the first instruction's beginning to the last
// result of what was executed.
func (s *issuer) alone() int {
	last := int32(0)
	for i := range s.n {
		last = max(last, s.x[i]+int32(s.tm[i].latency), s.x[i]+1)
	}
	return int(last - s.x[0])
}

// farthest is how far back dependences are waited for, in executions. Those
// that reach farther count in Bounds.Recurrence.
const farthest = 64

// reach returns how many executions can influence one: those that the window
// holds, those that dependences come from, and those that share a cycle.
func (s *issuer) reach() int {
	span := 2
	for _, width := range []int{s.core.fetch, s.core.issue, s.core.retire} {
		if width != unlimited {
			span = max(span, 2*width/s.n+1)
		}
	}
	for i := range s.g.Edges {
		span = max(span, min(farthest, s.g.Edges[i].Distance)+1)
	}
	if w := s.core.window; w > 0 && !s.core.inOrder {
		span = max(span, w/s.n+1)
	}
	return span
}

// echo is how many of the last instructions did the same as those some
// executions before, a constant number of cycles later.
type echo struct {
	period int // executions
	shift  int32
	count  int
}

// candidates returns the periods that are looked for: short ones, and those of a
// window that fills, waits and empties as one.
func (s *issuer) candidates() []echo {
	var list []echo
	for p := 1; p <= maxPeriod; p++ {
		list = append(list, echo{period: p})
	}
	if w := s.core.window / s.n; !s.core.inOrder {
		for p := max(maxPeriod+1, w-1); p <= w+1; p++ {
			list = append(list, echo{period: p})
		}
	}
	return list
}

// hear goes on with the instructions of another execution.
func (s *issuer) hear(echoes []echo) {
	for i := s.done - s.n; i < s.done; i++ {
		for k := range echoes {
			e := &echoes[k]
			before := i - e.period*s.n
			if before < 0 {
				break
			}
			shift := s.x[i] - s.x[before]
			switch {
			case !s.core.inOrder && (s.d[i]-s.d[before] != shift || s.r[i]-s.r[before] != shift):
				e.count = 0
			case shift == e.shift:
				e.count++
			default:
				e.shift, e.count = shift, 1
			}
		}
	}
}

// settled returns the first echo that says that the last executions repeat: all
// that happens to their instructions happens the same number of cycles after it
// did to those of as many before, for at least need executions; nil if none does.
func settled(echoes []echo, n, need int) *echo {
	for k := range echoes {
		if e := &echoes[k]; e.count >= max(need, e.period)*n {
			return e
		}
	}
	return nil
}
