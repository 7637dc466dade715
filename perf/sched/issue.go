package sched

// issuer simulates the repeated execution of a path, in the compiler's order,
// until each execution takes the same time. It models timing alone: every branch
// is predicted, every access hits.
type issuer struct {
	core *core
	opt  Options
	g    *Graph
	n    int // instructions an execution
	tm   []*timing

	x, d, r          []int32 // by instruction executed: when it begins, comes into the window, retires
	whyX, whyD, whyR []reason
	done             int // instructions whose times are decided

	placed []placement

	inOrder inOrder
	window  window
}

// reason is why an event is not earlier: an earlier event, and what connects the
// two.
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

func event(inst, kind int) int32 { return int32(3*inst + kind) }

// start prepares for a graph.
func (s *issuer) start(g *Graph) {
	s.g, s.n, s.done = g, len(g.Nodes), 0
	s.tm = s.tm[:0]
	for i := range g.Nodes {
		s.tm = append(s.tm, s.core.of(g.Nodes[i].Micro.Class))
	}
	s.d, s.x, s.r = s.d[:0], s.x[:0], s.r[:0]
	s.whyD, s.whyX, s.whyR = s.whyD[:0], s.whyX[:0], s.whyR[:0]
	s.placed = s.placed[:0]
	if s.core.inOrder {
		s.inOrder.start(s)
	} else {
		s.window.start(s)
	}
}

// iterate executes the path once more, until all of it has begun (in order) or
// retired (out of order).
func (s *issuer) iterate() {
	if s.core.inOrder {
		for i := range s.n {
			s.inOrder.issue(s, i)
		}
		s.done += s.n
		return
	}
	s.done += s.n
	s.window.until(s, s.done)
}

// producer returns the number of the executed instruction from which edge e leads
// to inst; negative if it precedes the first execution.
func (s *issuer) producer(e *Edge, inst int) int {
	return inst - inst%s.n + e.From - e.Distance*s.n
}

// occupied returns for how long an execution occupied units, on average, by
// kind.
func (s *issuer) occupied() []float64 {
	sums := make([]float64, len(s.core.names))
	for i, p := range s.placed[:s.done] {
		tm := s.tm[i%s.n]
		for u := range tm.uses {
			sums[p[u]] += tm.uses[u].exact
		}
	}
	for k := range sums {
		sums[k] /= float64(s.done / s.n)
	}
	return sums
}
