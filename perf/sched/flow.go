package sched

// flowGraph is one loop level: an acyclic graph with the remaining frequencies of
// its nodes and edges.
type flowGraph struct {
	nodes []flowNode
	edges []flowEdge
	order []int   // topological
	top   float64 // the greatest frequency of a node
	best  []arrival
}

type flowNode struct {
	Node
	left  float64   // of the node's frequency
	in    float64   // what is left of the frequency that comes from outside the level
	gone  float64   // frequency of all edges that lead away
	outs  []flowOut // ways out of the level
	preds []int     // edges
	succs int
}

type flowEdge struct {
	from, to int
	left     float64
}

// flowOut is a way out of a level: an edge, or none where the routine ends.
type flowOut struct {
	end  End
	edge int
	left float64
}

// arrival is the widest path to a node: its width, and its last edge, -1 if it
// enters from outside.
type arrival struct {
	width float64
	edge  int
}

// finish adds the frequency that leaves by no edge, and sorts the nodes
// topologically. The graph is acyclic because any strongly connected region
// without the edges back to the header is an inner loop.
func (g *flowGraph) finish() {
	for i := range g.nodes {
		n := &g.nodes[i]
		g.top = max(g.top, n.left)
		if rest := n.left - n.gone; rest > roundoff*n.left {
			n.outs = append(n.outs, flowOut{Ends, -1, rest})
		}
	}
	ahead := make([]int, len(g.nodes))
	after := make([][]int, len(g.nodes))
	for _, e := range g.edges {
		ahead[e.to]++
		after[e.from] = append(after[e.from], e.to)
	}
	for i := range g.nodes {
		if ahead[i] == 0 {
			g.order = append(g.order, i)
		}
	}
	for k := 0; k < len(g.order); k++ {
		for _, to := range after[g.order[k]] {
			if ahead[to]--; ahead[to] == 0 {
				g.order = append(g.order, to)
			}
		}
	}
	g.best = make([]arrival, len(g.nodes))
}

// widest removes from the graph the path that can be executed most often: the one
// with the greatest minimum remaining frequency. Ties go to the first.
func (g *flowGraph) widest() (Path, bool) {
	width, last, out := g.search()
	if width <= roundoff*g.top {
		return Path{}, false
	}
	n := &g.nodes[last]
	p := Path{End: n.outs[out].end, Edge: n.outs[out].edge, Frequency: width}
	n.outs[out].left -= width
	for at := last; ; {
		n := &g.nodes[at]
		n.left -= width
		p.Nodes = append(p.Nodes, n.Node)
		e := g.best[at].edge
		if e < 0 {
			n.in -= width
			break
		}
		g.edges[e].left -= width
		at = g.edges[e].from
	}
	for i, j := 0, len(p.Nodes)-1; i < j; i, j = i+1, j-1 {
		p.Nodes[i], p.Nodes[j] = p.Nodes[j], p.Nodes[i]
	}
	return p, true
}

// search finds the widest path: its width, its last node, and the way out.
func (g *flowGraph) search() (width float64, last, out int) {
	for _, i := range g.order {
		n := &g.nodes[i]
		b := arrival{n.in, -1}
		for _, e := range n.preds {
			if w := min(g.best[g.edges[e].from].width, g.edges[e].left); w > b.width {
				b = arrival{w, e}
			}
		}
		b.width = min(b.width, n.left)
		g.best[i] = b
		for k := range n.outs {
			if w := min(b.width, n.outs[k].left); w > width {
				width, last, out = w, i, k
			}
		}
	}
	return width, last, out
}
