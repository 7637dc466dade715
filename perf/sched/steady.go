package sched

// steady is the steady state of the repeated execution of a path.
type steady struct {
	cycles   float64 // an execution, in the end
	period   int     // executions after which everything repeats; 0: none found, and cycles is an average
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
	// Throughput is measured by instructions retiring, or beginning in order:
	// those that begin out of order may still be running ahead.
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

// farthest is the greatest distance, in executions, of a simulated dependence.
// Longer ones count only in Bounds.Recurrence.
const farthest = 64

// reach returns how many previous executions can influence one: those in the window,
// those that it depends on, and those that share a cycle with it.
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

// echo counts the latest instructions that repeated those of period executions
// before, a constant number of cycles later.
type echo struct {
	period int // executions
	shift  int32
	count  int
}

// candidates returns the periods to look for: short ones, and those of a window that
// fills, waits and drains as a whole.
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

// settled returns the first echo that shows a steady state: for at least need
// executions, every event is a constant number of cycles later than one period
// before. It returns nil if there is none.
func settled(echoes []echo, n, need int) *echo {
	for k := range echoes {
		if e := &echoes[k]; e.count >= max(need, e.period)*n {
			return e
		}
	}
	return nil
}
