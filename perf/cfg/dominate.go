package cfg

import (
	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/flow"
	"gonum.org/v1/gonum/graph/iterator"
)

// structural reports whether an edge belongs to the structure of the code: all
// do except those that restart the routine after its stack has grown.
func (r *Routine) structural(e int) bool { return r.Edges[e].Kind != Restarts }

// dominate finds the blocks' immediate dominators. Blocks that control reaches
// from several entries are dominated by none; entries by which only a part of the
// routine itself leads back do not count.
func (r *Routine) dominate() {
	if len(r.Blocks) == 0 {
		return
	}
	tree := flow.DominatorsSLT(node(len(r.Blocks)), directed{r})
	for b := range r.Blocks {
		r.Blocks[b].Dominator = -1
		if d := tree.DominatorOf(int64(b)); d != nil && d.ID() < int64(len(r.Blocks)) {
			r.Blocks[b].Dominator = int(d.ID())
		}
	}
}

// Dominates reports whether every way to block c leads through block b, not
// counting ways through parts of the routine that lie elsewhere.
func (r *Routine) Dominates(b, c int) bool {
	for ; c >= 0; c = r.Blocks[c].Dominator {
		if c == b {
			return true
		}
	}
	return false
}

// Cold reports, by block, whether the routine cannot return once control reaches
// the block, as in the code that reports a failed check: a loop exit that leads
// there is not taken in a normal run. If the routine never returns, no block is
// cold.
func (r *Routine) Cold() []bool {
	cold := make([]bool, len(r.Blocks))
	var work []int
	for b := range r.Blocks {
		switch r.Blocks[b].Exit {
		case Returns, TailJump, Unknown:
			work = append(work, b)
		default:
			cold[b] = true
		}
	}
	if len(work) == 0 {
		clear(cold)
		return cold
	}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		for _, e := range r.Blocks[b].Preds {
			if from := r.Edges[e].From; cold[from] && r.structural(e) {
				cold[from] = false
				work = append(work, from)
			}
		}
	}
	return cold
}

// node is a block as a gonum graph node; the number after the last block is a
// virtual entry that leads to every entry of the routine.
type node int64

func (n node) ID() int64 { return int64(n) }

// directed presents a routine as a graph.Directed.
type directed struct{ r *Routine }

func (g directed) Node(id int64) graph.Node {
	if id < 0 || id > int64(len(g.r.Blocks)) {
		return nil
	}
	return node(id)
}

func (g directed) Nodes() graph.Nodes {
	all := make([]graph.Node, len(g.r.Blocks)+1)
	for i := range all {
		all[i] = node(i)
	}
	return iterator.NewOrderedNodes(all)
}

func (g directed) From(id int64) graph.Nodes {
	var list []graph.Node
	if id == int64(len(g.r.Blocks)) {
		for _, b := range g.r.proper() {
			list = append(list, node(b))
		}
		return iterator.NewOrderedNodes(list)
	}
	for _, e := range g.r.Blocks[id].Succs {
		if g.r.structural(e) {
			list = append(list, node(g.r.Edges[e].To))
		}
	}
	return iterator.NewOrderedNodes(list)
}

func (g directed) To(id int64) graph.Nodes {
	var list []graph.Node
	for _, b := range g.r.proper() {
		if int64(b) == id {
			list = append(list, node(len(g.r.Blocks)))
		}
	}
	if id < int64(len(g.r.Blocks)) {
		for _, e := range g.r.Blocks[id].Preds {
			if g.r.structural(e) {
				list = append(list, node(g.r.Edges[e].From))
			}
		}
	}
	return iterator.NewOrderedNodes(list)
}

func (g directed) HasEdgeBetween(x, y int64) bool {
	return g.HasEdgeFromTo(x, y) || g.HasEdgeFromTo(y, x)
}

func (g directed) HasEdgeFromTo(u, v int64) bool {
	for it := g.From(u); it.Next(); {
		if it.Node().ID() == v {
			return true
		}
	}
	return false
}

func (g directed) Edge(u, v int64) graph.Edge {
	if !g.HasEdgeFromTo(u, v) {
		return nil
	}
	return link{node(u), node(v)}
}

type link struct{ from, to node }

func (l link) From() graph.Node         { return l.from }
func (l link) To() graph.Node           { return l.to }
func (l link) ReversedEdge() graph.Edge { return link{l.to, l.from} }
