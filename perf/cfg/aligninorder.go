package cfg

import "slices"

// loopFeatures are the features by which loops without lines are recognised:
// those that do not depend on how the compiler used a constant.
type loopFeatures struct {
	references []loopReference // in the loop and in those inside, each once
	height     int             // of the nest: 1 for an innermost loop
}

func (a *aligner) featuresOf(t, s int) loopFeatures {
	if f, ok := a.features[t][s]; ok {
		return f
	}
	tree := a.trees[t]
	scope := &tree.Scopes[s]
	f := loopFeatures{references: tree.references[s], height: 1}
	for _, c := range scope.Children {
		f.height = max(f.height, 1+a.featuresOf(t, c).height)
	}
	a.features[t][s] = f
	return f
}

// alike returns the similarity of two loops, from 0 (none) to 3. Loops with known,
// different lines have none; byLines has already matched loops that share lines.
func (a *aligner) alike(t, s, u, o int) float64 {
	x, y := &a.trees[t].Scopes[s], &a.trees[u].Scopes[o]
	if x.Source.Known() && y.Source.Known() {
		return 0
	}
	f, g := a.featuresOf(t, s), a.featuresOf(u, o)
	common, all := 0, len(g.references)
	for _, ref := range f.references {
		if slices.Contains(g.references, ref) {
			common++
		} else {
			all++
		}
	}
	score := 1.0
	if all > 0 {
		score = 2 * float64(common) / float64(all)
	}
	if score > 0 && f.height == g.height {
		score++
	}
	return score
}

// inOrder returns, for each of the loops rest of tree t, the matching node of
// free, or nil.
func (a *aligner) inOrder(t int, kids, rest []int, free []*alignedNode) []*alignedNode {
	like := make([][]float64, len(rest))
	for i := range like {
		like[i] = make([]float64, len(free))
		for j := range like[i] {
			u, o := free[j].first()
			like[i][j] = a.alike(t, kids[rest[i]], u, o)
		}
	}
	out := make([]*alignedNode, len(rest))
	for i, j := range pairing(like, len(free)) {
		if j >= 0 {
			out[i] = free[j]
		}
	}
	return out
}

// pairing returns, for each row of like, the column that it is paired with, or
// -1: the order-preserving pairing with the largest sum of entries (the alignment
// of Needleman and Wunsch, J. Molecular Biology 48, 1970, with free gaps). Entries
// are not negative, and an entry of 0 cannot be a pair.
func pairing(like [][]float64, columns int) []int {
	best := make([][]float64, len(like)+1) // of the rows and columns from there on
	best[len(like)] = make([]float64, columns+1)
	for i := len(like) - 1; i >= 0; i-- {
		best[i] = make([]float64, columns+1)
		for j := columns - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1], like[i][j]+best[i+1][j+1])
		}
	}
	out := make([]int, len(like))
	for i := range out {
		out[i] = -1
	}
	for i, j := 0, 0; i < len(like) && j < columns; {
		switch best[i][j] {
		case like[i][j] + best[i+1][j+1]:
			if like[i][j] > 0 {
				out[i] = j
			}
			i, j = i+1, j+1
		case best[i+1][j]:
			i++
		default:
			j++
		}
	}
	return out
}

// moved joins loops that some tree lacks with loops of the same routine of the
// source elsewhere.
func (a *aligner) moved(root *alignedNode) {
	byName := make(map[string][]*alignedNode)
	var incomplete []*alignedNode
	var visit func(n *alignedNode, whole bool)
	visit = func(n *alignedNode, whole bool) {
		for _, c := range n.children {
			if c.kind == LoopScope {
				name := a.sourceName(c)
				byName[name] = append(byName[name], c)
			}
			ok := c.everywhere()
			if c.kind == LoopScope && whole && !ok {
				incomplete = append(incomplete, c)
			}
			visit(c, whole && (ok || c.kind == RoutineScope))
		}
	}
	visit(root, true)
	// An inlined loop joins the routine's own loop, if there is one.
	slices.SortStableFunc(incomplete, func(x, y *alignedNode) int { return a.inlined(y) - a.inlined(x) })
	for _, n := range incomplete {
		if n.lost() || n.everywhere() {
			continue
		}
		if best := a.mostAlike(n, byName[a.sourceName(n)]); best != nil {
			best.take(n)
			a.inside(best)
		}
	}
}

// mostAlike returns the candidate that n is joined to, or nil.
func (a *aligner) mostAlike(n *alignedNode, candidates []*alignedNode) (best *alignedNode) {
	most := 0.0
	for _, o := range candidates {
		if o == n || o.lost() || o.within(n) || n.within(o) {
			continue
		}
		if like := a.movedLikeness(n, o); like > most {
			best, most = o, like
		}
	}
	return best
}

// movedLikeness scores joining n to o, 0 if they cannot be joined: they must share
// lines, and o must have a tree that n lacks. A loop that was not inlined scores
// best.
func (a *aligner) movedLikeness(n, o *alignedNode) float64 {
	t, s := n.first()
	u, v := o.first()
	like := likeness(a.trees[t].Scopes[s].Source, a.trees[u].Scopes[v].Source)
	if like == 0 {
		return 0
	}
	gains := false
	for k := range n.in {
		gains = gains || len(n.in[k]) == 0 && len(o.in[k]) > 0
	}
	if !gains {
		return 0
	}
	return like + float64(1-a.inlined(o))
}

// inlined returns 1 for a loop that comes from an inlined call, else 0.
func (a *aligner) inlined(n *alignedNode) int {
	t, s := n.first()
	return min(1, len(a.trees[t].Scopes[s].Inlined))
}

func (n *alignedNode) everywhere() bool {
	for _, in := range n.in {
		if len(in) == 0 {
			return false
		}
	}
	return true
}

// lost reports whether the node or one of its ancestors is gone.
func (n *alignedNode) lost() bool {
	for ; n != nil; n = n.parent {
		if n.gone {
			return true
		}
	}
	return false
}

func (n *alignedNode) within(o *alignedNode) bool {
	for ; n != nil; n = n.parent {
		if n == o {
			return true
		}
	}
	return false
}
