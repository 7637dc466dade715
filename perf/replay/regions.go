package replay

import (
	"slices"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/flow"
	graphs "gonum.org/v1/gonum/graph/simple"

	"presage/perf/trace"
)

// A region is what a branch decides about: the places that control may come to after
// it and before the place where all ways from it meet again, those of routines
// that are called in between included. Where the ways meet, the iteration vector is
// the same whichever was taken, so that functions of it which held in all runs do
// not depend on the branch.
type region struct {
	places []int32
	meet   int32 // where the ways meet; -1: not before the routine returns
}

// regions finds the regions of branches.
type regions struct {
	prog    *Program
	code    *Code
	calls   map[placeKey][]int32 // by the place of a call: contexts
	members [][]int32            // by context: its places
	meets   map[int32]flow.DominatorTree
}

func newRegions(prog *Program, code *Code) *regions {
	r := &regions{prog: prog, code: code, calls: make(map[placeKey][]int32), members: make([][]int32, len(prog.Contexts)), meets: make(map[int32]flow.DominatorTree)}
	for i, c := range prog.Contexts[1:] {
		at := placeKey{c.Parent, c.Call}
		r.calls[at] = append(r.calls[at], int32(i+1))
	}
	for i := range prog.Places {
		c := prog.Places[i].Context
		r.members[c] = append(r.members[c], int32(i))
	}
	return r
}

// exitNode is the node at which an activation of a routine ends.
const exitNode = graphs.Node(-1)

// after returns the places of the same context that follow a place, and whether the
// routine may end there. A call is followed by what it returns to.
func (r *regions) after(i int32) (next []int32, ends bool) {
	p := &r.prog.Places[i]
	site := r.code.blocks[p.Block].site
	if r.code.blocks[p.Block].exit == calls {
		for _, k := range r.members[p.Context] {
			if r.prog.Places[k].Block == site {
				return []int32{k}, false
			}
		}
		return nil, true // it never came back
	}
	for _, n := range p.Next {
		if n.To >= 0 && r.prog.Places[n.To].Context == p.Context && r.code.blocks[p.Block].exit == plain {
			next = append(next, n.To)
		} else {
			ends = true
		}
	}
	return next, ends || len(p.Next) == 0
}

// tree returns the tree of postdominators of a context.
func (r *regions) tree(context int32) flow.DominatorTree {
	if t, ok := r.meets[context]; ok {
		return t
	}
	g := graphs.NewDirectedGraph() // of what went before
	g.AddNode(exitNode)
	link := func(from, to graph.Node) {
		if from.ID() != to.ID() {
			g.SetEdge(graphs.Edge{F: to, T: from})
		}
	}
	for _, i := range r.members[context] {
		next, ends := r.after(i)
		for _, k := range next {
			link(graphs.Node(i), graphs.Node(k))
		}
		if ends {
			link(graphs.Node(i), exitNode)
		}
	}
	t := flow.Dominators(exitNode, g)
	r.meets[context] = t
	return t
}

// of returns the region of the branch at the end of place i.
func (r *regions) of(i int32) region {
	out := region{meet: -1}
	tree := r.tree(r.prog.Places[i].Context)
	if d := tree.DominatorOf(int64(i)); d != nil && d.ID() != exitNode.ID() {
		out.meet = int32(d.ID())
	}
	p := &r.prog.Places[i]
	for _, c := range r.called(placeKey{p.Context, p.Block}) { // through a pointer, or by a jump
		out.places = append(out.places, r.members[c]...)
	}
	next, _ := r.after(i)
	r.collect(&out, next)
	return out
}

// collect adds the places that can be reached from others before the ways meet, and
// all of the routines that these call.
func (r *regions) collect(out *region, todo []int32) {
	seen := make(map[int32]bool)
	for len(todo) > 0 {
		k := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if k == out.meet || seen[k] {
			continue
		}
		seen[k] = true
		out.places = append(out.places, k)
		next, _ := r.after(k)
		todo = append(todo, next...)
		p := &r.prog.Places[k]
		for _, c := range r.called(placeKey{p.Context, p.Block}) {
			out.places = append(out.places, r.members[c]...)
		}
	}
}

// called returns the contexts of the calls at the end of a place, and of calls
// within these.
func (r *regions) called(at placeKey) []int32 {
	var all []int32
	todo := slices.Clone(r.calls[at])
	for len(todo) > 0 {
		c := todo[0]
		todo = todo[1:]
		all = append(all, c)
		for _, i := range r.members[c] {
			todo = append(todo, r.calls[placeKey{c, r.prog.Places[i].Block}]...)
		}
	}
	return all
}

// meetBlock returns the block in which a region ends; noBlock if that is with the
// routine.
func (r *regions) meetBlock(of region) trace.BlockID {
	if of.meet < 0 {
		return noBlock
	}
	return r.prog.Places[of.meet].Block
}
