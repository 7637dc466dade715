package sched

import (
	"cmp"
	"slices"
)

// Slots is a schedule: when each instruction begins.
type Slots struct {
	Begin []int // by instruction: cycle, from 0

	// Kinds are, by instruction and use of its class, the kinds of units that
	// it occupies: indices in machine.Core.Units.
	Kinds [][]int

	// Period is the number of cycles after which the next iteration begins, with
	// the same schedule; 0 for a schedule that does not repeat.
	Period int

	// Iterations is the number of iterations that the instructions span: more
	// than 1 if the loop was unrolled.
	Iterations int

	// Hindered is the instruction that most often found no place at the previous
	// interval, if Period exceeds the bounds; -1 otherwise.
	Hindered int
}

// Length returns the time from the first instruction's beginning to the last
// one's, both included.
func (s *Slots) Length() int {
	last := 0
	for _, t := range s.Begin {
		last = max(last, t+1)
	}
	return last
}

// lister schedules by list and by modulo scheduling.
type lister struct {
	core  *core
	units table
}

// kinds translates a placement.
func (t *timing) kinds(p placement) []int {
	list := make([]int, len(t.uses))
	for i := range list {
		list[i] = int(p[i])
	}
	return list
}

// list schedules a path for a core whose compiler, or hardware, may put the
// instructions in any order that the dependences within the path allow: cycle by
// cycle, the ready instructions by descending height in the dependence graph, the
// longest chain of latencies that starts with them (R. L. Graham, "Bounds on
// multiprocessing timing anomalies", SIAM J. Applied Mathematics 17, 1969, for
// list schedules in general). Ties go to the first in the program. Branches do not
// constrain the order: it is a schedule of the path alone, such as a compiler makes
// with compensation code on the other paths.
func (l *lister) list(g *Graph) *Slots {
	n := len(g.Nodes)
	l.units.reset(l.core, g, 0)
	s := &Slots{Begin: make([]int, n), Kinds: make([][]int, n), Iterations: 1, Hindered: -1}
	waits, ready := make([]int, n), make([]int, n)
	leave := make([][]int32, n)
	for e := range g.Edges {
		if edge := &g.Edges[e]; edge.Distance == 0 {
			waits[edge.To]++
			leave[edge.From] = append(leave[edge.From], int32(e))
		}
	}
	order := byHeight(g.heights(l.core))
	done := make([]bool, n)
	for left, cycle := n, 0; left > 0; cycle++ {
		begun := 0
		for _, i := range order {
			if begun >= l.core.width {
				break
			}
			if done[i] || waits[i] > 0 || ready[i] > cycle {
				continue
			}
			tm := l.core.of(g.Nodes[i].Micro.Class)
			p, _, ok := l.units.take(tm, cycle, int32(i))
			if !ok {
				continue
			}
			s.Begin[i], s.Kinds[i], done[i] = cycle, tm.kinds(p), true
			begun++
			left--
			for _, e := range leave[i] {
				edge := &g.Edges[e]
				waits[edge.To]--
				ready[edge.To] = max(ready[edge.To], cycle+edge.Latency)
			}
		}
		order = slices.DeleteFunc(order, func(i int) bool { return done[i] })
	}
	return s
}

// byHeight orders instructions by falling height.
func byHeight(heights []int) []int {
	order := make([]int, len(heights))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(heights[b], heights[a]) })
	return order
}
