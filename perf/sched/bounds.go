package sched

import (
	"math/bits"

	"presage/perf/access"
)

// Bounds are lower bounds on the cycles per execution of a path whose executions
// follow each other without a gap.
type Bounds struct {
	Fetch, Issue, Retire float64 // micro-operations by the width; 0 if that is not known

	// Units is the time that the busiest units need: the maximum, over all sets
	// of kinds of units, of the cycles of instructions that can use only these
	// kinds, divided by the number of units. Unit names the set, "A|B" if the
	// kinds are busiest together.
	Units float64
	Unit  string

	// Recurrence is the greatest ratio of latency to distance of a cycle of
	// dependences, 0 if there is none, and Critical that cycle, as indices of
	// Graph.Edges, each starting where the previous one ends.
	Recurrence float64
	Critical   []int

	// Chain is the longest chain of dependences within one execution: a lower
	// bound on a single execution, but not on many.
	Chain int
}

// Max returns the greatest of the bounds on many executions.
func (b *Bounds) Max() float64 {
	return max(b.Fetch, b.Issue, b.Retire, b.Units, b.Recurrence)
}

// bound finds the bounds. Those of resources and recurrences are ResMII and
// RecMII of B. R. Rau, "Iterative Modulo Scheduling" (HP Laboratories report
// HPL-94-115, 1995), section 2, but not rounded up.
func (c *core) bound(g *Graph) Bounds {
	n := float64(len(g.Nodes))
	var b Bounds
	perWidth := func(width int) float64 {
		if width == unlimited {
			return 0
		}
		return n / float64(width)
	}
	b.Fetch, b.Issue, b.Retire = perWidth(c.fetch), perWidth(c.issue), perWidth(c.retire)
	b.Units, b.Unit = c.unitBound(g)
	for _, h := range g.heights(c) {
		b.Chain = max(b.Chain, h)
	}
	if g.Closed {
		b.Recurrence, b.Critical = recurrence(g)
	}
	return b
}

// demand adds up the cycles that instructions need of each of core.sets.
func (c *core) demand(g *Graph) []float64 {
	d := make([]float64, len(c.sets))
	for i := range g.Nodes {
		for _, u := range c.of(g.Nodes[i].Micro.Class).uses {
			d[u.set] += u.exact
		}
	}
	return d
}

// unitBound returns the greatest demand by unit of a set of kinds of units.
func (c *core) unitBound(g *Graph) (float64, string) {
	d := c.demand(g)
	var most float64
	var busiest uint64
	for _, group := range c.groups {
		var cycles float64
		for i, n := range d {
			if c.sets[i]&^group == 0 {
				cycles += n
			}
		}
		if per := cycles / float64(c.unitsOf(group)); per > most*(1+roundoff) {
			most, busiest = per, group
		}
	}
	return most, c.group(busiest)
}

// unitsOf returns how many units the kinds of a set have together.
func (c *core) unitsOf(set uint64) int {
	n := 0
	for ; set != 0; set &= set - 1 {
		n += int(c.counts[bits.TrailingZeros64(set)])
	}
	return n
}

// recurrence returns the greatest ratio of latency to distance of the cycles of
// a graph, and that cycle. If λ is the ratio of some cycle, a cycle of positive
// length Σ latency - λ·distance has a greater one; so the ratios increase until
// there is no such cycle (W. Dinkelbach, "On nonlinear fractional programming",
// Management Science 13, 1967; the lengths are multiplied by the ratio's
// denominator, so that the computation is exact).
func recurrence(g *Graph) (float64, []int) {
	var best []int
	latency, distance := 0, 1
	for {
		cycle := g.positiveCycle(func(e *Edge) int { return e.Latency*distance - e.Distance*latency })
		if cycle == nil {
			return float64(latency) / float64(distance), best
		}
		best, latency, distance = cycle, 0, 0
		for _, e := range cycle {
			latency += g.Edges[e].Latency
			distance += g.Edges[e].Distance
		}
	}
}

// positiveCycle returns a cycle of positive length, or nil (Bellman-Ford for
// longest paths from all nodes: if lengths still grow after as many rounds as
// there are nodes, the last edges lead around such a cycle).
func (g *Graph) positiveCycle(length func(*Edge) int) []int {
	n := len(g.Nodes)
	far, by := make([]int, n), make([]int, n)
	for i := range by {
		by[i] = -1
	}
	for round := 0; round <= n; round++ {
		grew := -1
		for to := range g.arrive {
			for _, e := range g.arrive[to] {
				edge := &g.Edges[e]
				if d := far[edge.From] + length(edge); d > far[to] {
					far[to], by[to], grew = d, int(e), to
				}
			}
		}
		if grew < 0 {
			return nil
		}
		if cycle := g.around(by, grew); cycle != nil {
			return cycle
		}
	}
	panic("sched: lengths grow without a cycle")
}

// around follows the edges in by, through which nodes were reached, backward until
// a node repeats, and returns the cycle, or nil if there is none.
func (g *Graph) around(by []int, from int) []int {
	seen := make(map[int]int)
	var list []int
	for at := from; by[at] >= 0; at = g.Edges[by[at]].From {
		if i, ok := seen[at]; ok {
			cycle := list[i:]
			for a, b := 0, len(cycle)-1; a < b; a, b = a+1, b-1 {
				cycle[a], cycle[b] = cycle[b], cycle[a]
			}
			return cycle
		}
		seen[at] = len(list)
		list = append(list, by[at])
	}
	return nil
}

// throughMemory reports whether an edge is a dependence through memory.
func (e *Edge) throughMemory() bool { return e.Kind != access.RegisterFlow }
