package cfg

import (
	"cmp"
	"slices"
)

// findLoops finds the loop nest: the strongly connected regions of the graph, the
// header of each, and recursively the strongly connected regions that remain once
// the edges back to the header are removed. In a reducible graph these are the
// natural loops, with those of the same header merged.
func (r *Routine) findLoops() {
	f := &loopFinder{r: r, removed: make([]bool, len(r.Edges)), region: make([]int, len(r.Blocks))}
	for e := range r.Edges {
		f.removed[e] = !r.structural(e)
	}
	all := make([]int, len(r.Blocks))
	for b := range all {
		all[b] = b
	}
	f.find(all, -1, 1)
	f.exits()
}

type loopFinder struct {
	r       *Routine
	removed []bool // edges
	region  []int  // by block: the region being searched
	regions int    // so far
}

// find adds the loops among blocks, which are those of one loop or of the whole
// routine.
func (f *loopFinder) find(blocks []int, parent, depth int) {
	f.regions++
	region := f.regions
	for _, b := range blocks {
		f.region[b] = region
	}
	regions := f.connected(blocks, region)
	slices.SortFunc(regions, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	for _, blocks := range regions {
		f.add(blocks, parent, depth)
	}
}

// add makes a strongly connected region a loop, and looks for those inside.
func (f *loopFinder) add(blocks []int, parent, depth int) {
	r := f.r
	l := Loop{Blocks: blocks, Parent: parent, Depth: depth, Header: -1}
	in := f.region[blocks[0]]
	inside := func(b int) bool { _, ok := slices.BinarySearch(blocks, b); return ok }
	for _, b := range blocks {
		enters := slices.Contains(r.Entries, b) && !slices.Contains(r.rejoins, b)
		for _, e := range r.Blocks[b].Preds {
			enters = enters || r.structural(e) && !inside(r.Edges[e].From)
		}
		if !enters {
			continue
		}
		if l.Header >= 0 {
			l.Irreducible = true
			break
		}
		l.Header = b
	}
	if l.Header < 0 { // reached only by a restart
		l.Header = blocks[0]
	}
	for _, e := range r.Blocks[l.Header].Preds {
		if !f.removed[e] && inside(r.Edges[e].From) {
			l.Back = append(l.Back, e)
			f.removed[e] = true
		}
	}
	index := len(r.Loops)
	r.Loops = append(r.Loops, l)
	for _, b := range blocks {
		r.Blocks[b].Loop = index
	}
	f.find(blocks, index, depth+1)
	for _, b := range blocks {
		f.region[b] = in
	}
}

// exits finds the edges that leave loops: each leaves those around its source, from the
// innermost, up to the first one that its target is in, too.
func (f *loopFinder) exits() {
	r := f.r
	for e := range r.Edges {
		if !r.structural(e) {
			continue
		}
		around := r.Blocks[r.Edges[e].To].Loop
		for l := r.Blocks[r.Edges[e].From].Loop; l >= 0; l = r.Loops[l].Parent {
			for around >= 0 && r.Loops[around].Depth > r.Loops[l].Depth {
				around = r.Loops[around].Parent
			}
			if around == l {
				break
			}
			r.Loops[l].Exit = append(r.Loops[l].Exit, e)
		}
	}
}

// connected returns the strongly connected components of blocks that contain an
// edge, each ascending (Tarjan, "Depth-first search and linear graph algorithms",
// SIAM J. Computing 1, 1972; iterative, since a recursion as long as a routine
// could exhaust the stack).
func (f *loopFinder) connected(blocks []int, region int) [][]int {
	t := tarjan{loopFinder: f, in: region, order: make(map[int]int, len(blocks)), low: make(map[int]int, len(blocks)), on: make(map[int]bool)}
	for _, b := range blocks {
		if t.order[b] == 0 {
			t.visit(b)
		}
	}
	return t.found
}

type tarjan struct {
	*loopFinder
	in         int
	order, low map[int]int // from 1
	on         map[int]bool
	stack      []int
	found      [][]int
}

// frame is a visit under way: a block and which of its edges comes next.
type frame struct{ block, edge int }

func (t *tarjan) visit(root int) {
	frames := []frame{t.open(root)}
	for len(frames) > 0 {
		top := &frames[len(frames)-1]
		if next, ok := t.next(top); ok {
			if t.order[next] == 0 {
				frames = append(frames, t.open(next))
			} else if t.on[next] {
				t.low[top.block] = min(t.low[top.block], t.order[next])
			}
			continue
		}
		b := top.block
		frames = frames[:len(frames)-1]
		if len(frames) > 0 {
			p := frames[len(frames)-1].block
			t.low[p] = min(t.low[p], t.low[b])
		}
		if t.low[b] == t.order[b] {
			t.close(b)
		}
	}
}

func (t *tarjan) open(b int) frame {
	n := len(t.order) + 1
	t.order[b], t.low[b], t.on[b] = n, n, true
	t.stack = append(t.stack, b)
	return frame{block: b}
}

// next returns the next successor within the region.
func (t *tarjan) next(f *frame) (int, bool) {
	succs := t.r.Blocks[f.block].Succs
	for f.edge < len(succs) {
		e := succs[f.edge]
		f.edge++
		if to := t.r.Edges[e].To; !t.removed[e] && t.region[to] == t.in {
			return to, true
		}
	}
	return 0, false
}

// close pops a component off the stack, and keeps it if it contains an edge.
func (t *tarjan) close(root int) {
	at := len(t.stack) - 1
	for t.stack[at] != root {
		at--
	}
	component := slices.Clone(t.stack[at:])
	t.stack = t.stack[:at]
	for _, b := range component {
		t.on[b] = false
	}
	if len(component) == 1 && !t.selfLoop(root) {
		return
	}
	slices.Sort(component)
	t.found = append(t.found, component)
}

func (t *tarjan) selfLoop(b int) bool {
	for _, e := range t.r.Blocks[b].Succs {
		if t.r.Edges[e].To == b && !t.removed[e] {
			return true
		}
	}
	return false
}
