package cfg

import (
	"regexp"
	"slices"

	"presage/perf/objfile"
)

// Alignment matches the scope trees of several executables built from one
// source, such as builds with the problem size as a compile-time constant. It is
// a single tree of scopes that says where each scope is in each executable.
//
// Routines are matched by name, then by name without the suffix that a compiler
// gives to clones (.constprop.0, .isra.0, .part.0, .cold). Loops are matched
// within matching scopes: by overlapping line ranges in files of the same name,
// in any order; loops without lines in order, so as to maximize the similarity
// of their references. Finally, a loop without a counterpart in some executable
// joins one elsewhere that comes from the same source routine and overlapping
// lines, as when a call was inlined in only one of the executables. A scope
// that still has no counterpart stays in the tree with the executables that
// have it.
//
// Not modelled: loops without line information that were interchanged, split or
// merged in one executable only.
type Alignment struct {
	Trees  []*ScopeTree
	Scopes []AlignedScope // the program first, parents before what is in them
	Of     [][]int        // by tree and index of a scope in it: which of Scopes
}

// AlignedScope is a scope of the source, in all executables that have it.
type AlignedScope struct {
	Kind     ScopeKind
	Parent   int // index in Alignment.Scopes, -1 for the program's
	Children []int
	In       [][]int // by tree: scopes of it; none where it has no such scope
}

// Has reports whether a tree has the scope.
func (s *AlignedScope) Has(tree int) bool { return len(s.In[tree]) > 0 }

// Align finds corresponding scopes of one or more trees.
func Align(trees ...*ScopeTree) *Alignment {
	a := aligner{trees: trees, features: make([]map[int]loopFeatures, len(trees))}
	root := a.node(nil, ProgramScope)
	for t := range trees {
		a.features[t] = make(map[int]loopFeatures)
		root.in[t] = []int{0}
	}
	a.routines(root)
	for _, r := range root.children {
		a.inside(r)
	}
	a.moved(root)
	return a.result(root)
}

// alignedNode is an AlignedScope under construction.
type alignedNode struct {
	kind     ScopeKind
	parent   *alignedNode
	children []*alignedNode
	in       [][]int
	gone     bool // what it had is in another node
}

type aligner struct {
	trees    []*ScopeTree
	features []map[int]loopFeatures // by tree, of a scope
}

func (a *aligner) node(parent *alignedNode, kind ScopeKind) *alignedNode {
	return &alignedNode{kind: kind, parent: parent, in: make([][]int, len(a.trees))}
}

var cloneSuffix = regexp.MustCompile(`(\.(constprop|isra|part|cold|lto_priv|localalias)(\.\d+)?)+$`)

// SourceName returns the name of a routine without the suffix that GCC gives to
// clones.
func SourceName(name string) string { return cloneSuffix.ReplaceAllString(name, "") }

// routines aligns the routines of all trees.
func (a *aligner) routines(root *alignedNode) {
	exact := make(map[string]*alignedNode)
	var names []string
	for t, tree := range a.trees {
		for _, s := range tree.Scopes[0].Children {
			name := tree.Scopes[s].Path
			n := exact[name]
			if n == nil {
				n = a.node(root, RoutineScope)
				exact[name] = n
				names = append(names, name)
			}
			n.in[t] = append(n.in[t], s)
		}
	}
	// Clones: nodes of one source name whose trees do not overlap become one.
	byBase := make(map[string][]*alignedNode)
	for _, name := range names {
		n := exact[name]
		base := a.sourceName(n)
		at := slices.IndexFunc(byBase[base], func(o *alignedNode) bool { return disjoint(o, n) })
		if at < 0 {
			byBase[base] = append(byBase[base], n)
			root.children = append(root.children, n)
			continue
		}
		byBase[base][at].take(n)
	}
}

// sourceName returns the source name of the routine that a node stands for; for
// a loop, that of the routine it comes from, which may have been inlined.
func (a *aligner) sourceName(n *alignedNode) string {
	t, s := n.first()
	scope := &a.trees[t].Scopes[s]
	if k := len(scope.Inlined); k > 0 {
		return scope.Inlined[k-1].Routine
	}
	return SourceName(a.trees[t].names[scope.Routine])
}

// first returns the first tree that has the node, and its scope there.
func (n *alignedNode) first() (tree, scope int) {
	for t, in := range n.in {
		if len(in) > 0 {
			return t, in[0]
		}
	}
	panic("cfg: an aligned scope that no tree has")
}

func disjoint(a, b *alignedNode) bool {
	for t := range a.in {
		if len(a.in[t]) > 0 && len(b.in[t]) > 0 {
			return false
		}
	}
	return true
}

func (n *alignedNode) take(o *alignedNode) {
	for t := range n.in {
		n.in[t] = append(n.in[t], o.in[t]...)
	}
	o.gone = true
}

// inside aligns the loops directly in a node, and recursively their inner loops.
func (a *aligner) inside(n *alignedNode) {
	for _, c := range n.children {
		c.gone = true // of an earlier alignment
	}
	n.children = nil
	for t, tree := range a.trees {
		for _, s := range n.in[t] { // several where a tree has copies
			a.siblings(n, t, tree.Scopes[s].Children)
		}
	}
	for _, c := range n.children {
		a.inside(c)
	}
}

// siblings aligns loops of tree t with the loops already in n, from earlier trees
// or from copies in this one.
func (a *aligner) siblings(n *alignedNode, t int, kids []int) {
	of := make([]*alignedNode, len(kids))
	taken := make(map[*alignedNode]bool)
	for i, s := range kids {
		of[i] = a.byLines(n.children, taken, t, s)
		if of[i] != nil {
			of[i].in[t] = append(of[i].in[t], s)
			taken[of[i]] = true
		}
	}
	var rest []int // indices of kids
	var free []*alignedNode
	for i := range kids {
		if of[i] == nil {
			rest = append(rest, i)
		}
	}
	for _, c := range n.children {
		if !taken[c] {
			free = append(free, c)
		}
	}
	for i, c := range a.inOrder(t, kids, rest, free) {
		if c != nil {
			of[rest[i]] = c
			c.in[t] = append(c.in[t], kids[rest[i]])
		}
	}
	at := 0 // where to insert a new node: after the counterpart of the previous loop
	for i, s := range kids {
		if of[i] == nil {
			of[i] = a.node(n, LoopScope)
			of[i].in[t] = []int{s}
			n.children = slices.Insert(n.children, at, of[i])
		}
		at = slices.Index(n.children, of[i]) + 1
	}
}

// byLines returns the node, not yet taken, whose lines best match those of scope
// s of tree t; nil if none shares a line.
func (a *aligner) byLines(nodes []*alignedNode, taken map[*alignedNode]bool, t, s int) *alignedNode {
	scope := &a.trees[t].Scopes[s]
	var best *alignedNode
	most := 0.0
	for _, n := range nodes {
		if taken[n] {
			continue
		}
		u, o := n.first()
		other := &a.trees[u].Scopes[o]
		like := likeness(scope.Source, other.Source)
		if like > 0 && slices.EqualFunc(scope.Inlined, other.Inlined, sameCall) {
			like++
		}
		if like > most {
			best, most = n, like
		}
	}
	return best
}

// likeness is the share of lines that two sources have in common, from 0 to 1.
func likeness(a, b Source) float64 {
	if !a.Known() || !b.Known() || a.base() != b.base() {
		return 0
	}
	common := min(a.Last, b.Last) - max(a.First, b.First) + 1
	all := max(a.Last, b.Last) - min(a.First, b.First) + 1
	return max(0, float64(common)/float64(all))
}

func sameCall(a, b objfile.Inline) bool { return a.Routine == b.Routine && a.Line == b.Line }

// result numbers the nodes.
func (a *aligner) result(root *alignedNode) *Alignment {
	out := &Alignment{Trees: a.trees, Of: make([][]int, len(a.trees))}
	for t, tree := range a.trees {
		out.Of[t] = make([]int, len(tree.Scopes))
	}
	var put func(n *alignedNode, parent int)
	put = func(n *alignedNode, parent int) {
		if n.gone {
			return
		}
		at := len(out.Scopes)
		out.Scopes = append(out.Scopes, AlignedScope{Kind: n.kind, Parent: parent, In: n.in})
		if parent >= 0 {
			out.Scopes[parent].Children = append(out.Scopes[parent].Children, at)
		}
		for t, in := range n.in {
			for _, s := range in {
				out.Of[t][s] = at
			}
		}
		for _, c := range n.children {
			put(c, at)
		}
	}
	put(root, -1)
	return out
}
