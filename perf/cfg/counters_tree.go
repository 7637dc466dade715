package cfg

import (
	"cmp"
	"slices"
)

// treeArc is an arc of a spanning forest, with its end farther from the root: its
// value follows from the other flow at that vertex.
type treeArc struct{ arc, vertex int32 }

// span divides the arcs into those of a maximum-weight spanning forest and
// those with counters (Marin and Mellor-Crummey 2004, section 2.2.1, after
// Kruskal): the uncountable arcs first, then by decreasing weight. If everything
// is to be counted, the forest has only the uncountable arcs.
//
// The uncountable arcs form no cycle: each joins EXT to a vertex of its own,
// in(b) for an entry b, out(b) for a block b that ends in a call, a return or
// a jump; they are a star.
func (s *flowSystem) span(weights []float64, everything bool) {
	sets := newDisjointSets(1 + 2*len(s.r.Blocks))
	var countable []int32
	for i := range s.arcs {
		a := &s.arcs[i]
		if a.countable() {
			a.counter = 0
			if !a.escapes && !everything {
				countable = append(countable, int32(i))
			}
			continue
		}
		if !sets.join(a.from, a.to) {
			panic("cfg: a cycle of transfers that cannot be counted")
		}
	}
	slices.SortFunc(countable, func(i, j int32) int {
		return cmp.Or(cmp.Compare(weights[j], weights[i]), cmp.Compare(s.arcs[i].cheapness(), s.arcs[j].cheapness()), cmp.Compare(i, j))
	})
	for _, i := range countable {
		if a := &s.arcs[i]; sets.join(a.from, a.to) {
			a.counter = inTree
		}
	}
	s.peel()
}

// cheapness orders arcs of equal weight: arcs that are cheap to count come last.
func (a *arc) cheapness() int {
	switch {
	case a.byArrival():
		return 1
	case a.kind == blockArc:
		return 0
	}
	return 2
}

// peel finds the order in which the flows along the forest's arcs can be computed.
func (s *flowSystem) peel() {
	vertices := 1 + 2*len(s.r.Blocks)
	first := make([]int32, vertices+1) // of the arcs at a vertex, in ends
	for _, a := range s.arcs {
		if a.counter == inTree {
			first[a.from]++
			first[a.to]++
		}
	}
	sum := int32(0)
	for v := range first {
		first[v], sum = sum, sum+first[v]
	}
	ends, next := make([]int32, sum), slices.Clone(first)
	for i, a := range s.arcs {
		if a.counter == inTree {
			ends[next[a.from]] = int32(i)
			ends[next[a.to]] = int32(i)
			next[a.from]++
			next[a.to]++
		}
	}
	seen := make([]bool, vertices)
	s.order = make([]treeArc, 0, sum/2)
	queue := make([]int32, 0, vertices)
	for root := range int32(vertices) {
		if seen[root] {
			continue
		}
		if root != external {
			s.roots = append(s.roots, root)
		}
		seen[root] = true
		queue = append(queue[:0], root)
		for k := 0; k < len(queue); k++ {
			v := queue[k]
			for _, i := range ends[first[v]:first[v+1]] {
				to := s.arcs[i].from + s.arcs[i].to - v
				if !seen[to] {
					seen[to] = true
					s.order = append(s.order, treeArc{i, to})
					queue = append(queue, to)
				}
			}
		}
	}
	slices.Reverse(s.order)
}

// disjointSets are sets of vertices, found by their representatives (Tarjan,
// "Efficiency of a good but not linear set union algorithm", J. ACM 22, 1975;
// with path halving).
type disjointSets struct {
	parent []int32
	size   []int32
}

func newDisjointSets(n int) *disjointSets {
	d := &disjointSets{parent: make([]int32, n), size: make([]int32, n)}
	for i := range d.parent {
		d.parent[i], d.size[i] = int32(i), 1
	}
	return d
}

func (d *disjointSets) find(v int32) int32 {
	for d.parent[v] != v {
		d.parent[v] = d.parent[d.parent[v]]
		v = d.parent[v]
	}
	return v
}

// join merges the sets of a and b, and reports whether they were distinct.
func (d *disjointSets) join(a, b int32) bool {
	a, b = d.find(a), d.find(b)
	if a == b {
		return false
	}
	if d.size[a] < d.size[b] {
		a, b = b, a
	}
	d.parent[b] = a
	d.size[a] += d.size[b]
	return true
}
