package sched

// issuer has a core execute a path over and over, in program order as the
// compiler left it, until it takes the same time every time. It is a model of
// timing alone: every branch is predicted, every access hits.
type issuer struct {
	core *core
	opt  Options
	g    *Graph
	n    int // instructions an execution
	tm   []*timing

	x, d, r          []int32 // by instruction executed: when it begins, comes into the window, retires
	whyX, whyD, whyR []reason
	done             int // instructions that are decided on

	placed []placement

	inOrder inOrder
	window  window
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

// iterate executes the path once more: all of it begins, in order, or retires.
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

// producer returns the number of the instruction that an edge leads from, of
// one that it leads to; a negative one would be before the beginning.
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
