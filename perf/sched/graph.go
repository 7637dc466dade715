package sched

import (
	"presage/perf/access"
	"presage/perf/isa"
)

// Graph is a dependence graph with the latencies of a core.
type Graph struct {
	Target *isa.Target
	Nodes  []access.Node // in program order
	Edges  []Edge

	// Closed says that the instructions are an iteration of a loop, which is
	// followed by itself: only then may an edge have a Distance.
	Closed bool

	arrive [][]int32 // by instruction: edges that lead to it
}

// Edge says that To can begin Latency cycles after From began, Distance iterations
// earlier.
type Edge struct {
	From, To int // indices in Graph.Nodes
	Latency  int // cycles
	Distance int // iterations; with 0, From comes before To
	Kind     access.DependenceKind
	Assumed  bool
}

// graphOf gives dependences the latencies of a core:
//
//   - a use of a register begins once its definition's latency has passed,
//   - a load after a store to the location, once the store's has: a value that
//     passes through memory costs the latencies of both,
//   - a store after a load from the location may begin in the same cycle,
//   - a store after a store to the location, in the next.
func graphOf(c *core, d *access.Dependences, closed bool) *Graph {
	g := &Graph{Target: d.Target, Nodes: d.Nodes, Edges: make([]Edge, 0, len(d.Edges)), Closed: closed}
	for _, e := range d.Edges {
		if e.Distance > 0 && !closed {
			continue
		}
		out := Edge{From: e.From, To: e.To, Distance: e.Distance, Kind: e.Kind, Assumed: e.Assumed}
		switch e.Kind {
		case access.RegisterFlow:
			out.Latency = c.of(d.Nodes[e.From].Micro.Class).latency
		case access.MemoryFlow:
			out.Latency = max(1, c.of(d.Nodes[e.From].Micro.Class).latency)
		case access.MemoryOutput:
			out.Latency = 1
		}
		g.Edges = append(g.Edges, out)
	}
	g.index()
	return g
}

// index finds the edges that lead to each instruction.
func (g *Graph) index() {
	count := make([]int32, len(g.Nodes)+1)
	for i := range g.Edges {
		count[g.Edges[i].To]++
	}
	all := make([]int32, len(g.Edges))
	g.arrive = make([][]int32, len(g.Nodes))
	at := int32(0)
	for i := range g.arrive {
		g.arrive[i] = all[at : at : at+count[i]]
		at += count[i]
	}
	for e := range g.Edges {
		to := g.Edges[e].To
		g.arrive[to] = append(g.arrive[to], int32(e))
	}
}

// heights returns, by instruction, the latency of the longest chain in the same
// iteration that starts with it, including its own.
func (g *Graph) heights(c *core) []int {
	h := make([]int, len(g.Nodes))
	for i := range h {
		h[i] = c.of(g.Nodes[i].Micro.Class).latency
	}
	for to := len(h) - 1; to >= 0; to-- { // edges of distance 0 lead forward
		for _, e := range g.arrive[to] {
			if edge := &g.Edges[e]; edge.Distance == 0 {
				h[edge.From] = max(h[edge.From], edge.Latency+h[to])
			}
		}
	}
	return h
}

// leaving returns, by instruction, the edges that lead from it.
func (g *Graph) leaving() [][]int32 {
	leave := make([][]int32, len(g.Nodes))
	for e := range g.Edges {
		leave[g.Edges[e].From] = append(leave[g.Edges[e].From], int32(e))
	}
	return leave
}
