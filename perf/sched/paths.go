package sched

import (
	"presage/perf/cfg"
)

// PathOptions bound the search for paths.
type PathOptions struct {
	// MaxPaths is the maximum number of paths at one loop level of a routine; 0
	// means 100. The frequency of further paths is accounted for block by block:
	// see Remains.
	MaxPaths int
}

const defaultMaxPaths = 100

// Path is a sequence of blocks of one loop level that are executed one after
// the other, with the loops between them collapsed to nodes.
type Path struct {
	Routine int // index in cfg.Program.Routines
	Loop    int // index in cfg.Routine.Loops of the level; -1 for the routine's
	Nodes   []Node
	End     End
	Edge    int // index in cfg.Routine.Edges that the path ends with; -1 if none

	// First is the first instruction of the first block that belongs to the
	// path: 0, except in a Partial path.
	First int

	// Frequency is how often the path is executed. Only that of a Partial path
	// can be negative.
	Frequency float64
}

// Node is a block, or a loop that was collapsed after its own paths were found.
type Node struct {
	Block int // -1 for a loop
	Loop  int // -1 for a block
}

// End says how a path ends.
type End uint8

// The ends of paths.
const (
	Closes  End = iota // with an edge back to the loop's header
	Leaves             // with an edge out of the loop
	Ends               // the routine ends there, or an inner loop never exited
	Remains            // one block, with the frequency that no path accounts for
	Partial            // the end of a block that was not always executed in full
)

var endNames = [...]string{"closes", "leaves", "ends", "remains", "partial"}

func (e End) String() string { return endNames[e] }

// Blocks returns the blocks of the path, without those of inner loops.
func (p *Path) Blocks() []int {
	var list []int
	for _, n := range p.Nodes {
		if n.Block >= 0 {
			list = append(list, n.Block)
		}
	}
	return list
}

// Instructions returns how many instructions of the routine one execution of
// the path executes.
func (p *Path) Instructions(r *cfg.Routine) int {
	sum := -p.First
	for _, n := range p.Nodes {
		if n.Block >= 0 {
			sum += len(r.Blocks[n.Block].Insts)
		}
	}
	return sum
}

// Paths returns the paths of a routine and their frequencies (Marin and
// Mellor-Crummey, "Cross-Architecture Performance Predictions for Scientific
// Applications Using Parameterized Models", SIGMETRICS 2004, section 2.4: "from
// the inside out; no basic block is considered at more than one loop level"):
// inner loops before the loops around them, within each loop by descending
// frequency.
//
// Edge counts do not determine how often each path is executed. The paper does not
// say how it chooses; here the path with the greatest frequency that the remaining
// edge counts allow is taken first, its frequency is subtracted, and so on. So a
// loop's main path comes first, and there are at most as many paths as edges. For
// every block, the frequencies of the paths through it sum to its own: exactly if
// the frequencies are integers below 2^53, else to within the relative roundoff
// 1e-9.
//
// It panics if f does not fit r.
func Paths(r *cfg.Routine, routine int, f *RoutineFrequencies, opt PathOptions) []Path {
	if err := f.check(r); err != nil {
		panic(err.Error())
	}
	if opt.MaxPaths <= 0 {
		opt.MaxPaths = defaultMaxPaths
	}
	var all []Path
	x := pathFinder{r: r, routine: routine, f: f, max: opt.MaxPaths}
	x.prepare()
	for l := len(r.Loops) - 1; l >= -1; l-- { // inner loops come after those around them
		all = append(all, x.level(l)...)
	}
	for _, s := range f.Steps {
		all = append(all, Path{
			Routine: routine, Loop: r.Blocks[s.Block].Loop, Nodes: []Node{{s.Block, -1}},
			End: Partial, Edge: -1, First: s.Inst, Frequency: s.Delta,
		})
	}
	return all
}

// roundoff is the share of a frequency that is attributed to the rounding error of
// adding and subtracting fractions.
const roundoff = 1e-9

type pathFinder struct {
	r       *cfg.Routine
	routine int
	f       *RoutineFrequencies
	max     int
	back    []bool    // by edge: back to a loop's header
	members [][]int   // by loop + 1: blocks, and len(Blocks) + index of inner loops
	at      []int     // by member: its index at its level
	source  []float64 // by block: frequency that no edge brings
}

func (x *pathFinder) prepare() {
	r := x.r
	x.back = make([]bool, len(r.Edges))
	x.members = make([][]int, len(r.Loops)+1)
	x.at = make([]int, len(r.Blocks)+len(r.Loops))
	for b := range r.Blocks {
		x.join(r.Blocks[b].Loop, b)
	}
	for l := range r.Loops {
		x.join(r.Loops[l].Parent, len(r.Blocks)+l)
		for _, e := range r.Loops[l].Back {
			x.back[e] = true
		}
	}
	x.source = make([]float64, len(r.Blocks))
	for b := range r.Blocks {
		n := x.f.Blocks[b]
		for _, e := range r.Blocks[b].Preds {
			if r.Edges[e].Kind != cfg.Restarts {
				n -= x.f.Edges[e]
			}
		}
		x.source[b] = max(n, 0)
	}
}

func (x *pathFinder) join(loop, member int) {
	x.at[member] = len(x.members[loop+1])
	x.members[loop+1] = append(x.members[loop+1], member)
}

// memberOf returns the index at level l of the member that contains block b; -1 if
// b is outside of l.
func (x *pathFinder) memberOf(l, b int) int {
	m, in := b, x.r.Blocks[b].Loop
	for in != l {
		if in < 0 {
			return -1
		}
		m, in = len(x.r.Blocks)+in, x.r.Loops[in].Parent
	}
	return x.at[m]
}

// blocks returns the blocks of level l and of the loops inside it.
func (x *pathFinder) blocks(l int) []int {
	if l >= 0 {
		return x.r.Loops[l].Blocks
	}
	all := make([]int, len(x.r.Blocks))
	for b := range all {
		all[b] = b
	}
	return all
}

// level returns the paths of loop l, -1 for the routine's own.
func (x *pathFinder) level(l int) []Path {
	g := x.graph(l)
	if g.top == 0 {
		return nil
	}
	var paths []Path
	for len(paths) < x.max {
		p, ok := g.widest()
		if !ok {
			break
		}
		paths = append(paths, p)
	}
	for i, m := range x.members[l+1] {
		if m < len(x.r.Blocks) && g.nodes[i].left > roundoff*x.f.Blocks[m] {
			paths = append(paths, Path{Nodes: []Node{{m, -1}}, End: Remains, Edge: -1, Frequency: g.nodes[i].left})
		}
	}
	for i := range paths {
		paths[i].Routine, paths[i].Loop = x.routine, l
	}
	return paths
}

// graph returns the flow graph of a level: its blocks and collapsed loops, the
// edges between them, where frequency comes in and where it goes out.
func (x *pathFinder) graph(l int) *flowGraph {
	r := x.r
	g := &flowGraph{nodes: make([]flowNode, len(x.members[l+1]))}
	for i, m := range x.members[l+1] {
		n := &g.nodes[i]
		n.Node = Node{m, -1}
		if m >= len(r.Blocks) {
			n.Node = Node{-1, m - len(r.Blocks)}
			continue
		}
		n.left = x.f.Blocks[m]
	}
	for _, b := range x.blocks(l) {
		to := x.memberOf(l, b)
		n := &g.nodes[to]
		if n.Loop >= 0 {
			n.left += x.source[b]
		}
		for _, e := range r.Blocks[b].Preds {
			x.arrive(g, l, to, e)
		}
		n.in += x.source[b]
		for _, e := range r.Blocks[b].Succs {
			x.depart(g, l, to, e)
		}
	}
	g.finish()
	return g
}

// arrive adds edge e, which leads to member to of level l.
func (x *pathFinder) arrive(g *flowGraph, l, to, e int) {
	edge, n := x.r.Edges[e], x.f.Edges[e]
	if edge.Kind == cfg.Restarts {
		return
	}
	from := x.memberOf(l, edge.From)
	node := &g.nodes[to]
	switch {
	case from == to && node.Loop >= 0: // inside the inner loop
		return
	case from < 0 || x.back[e]:
		node.in += n
	default:
		node.preds = append(node.preds, len(g.edges))
		g.nodes[from].succs++
		g.edges = append(g.edges, flowEdge{from: from, to: to, left: n})
	}
	if node.Loop >= 0 {
		node.left += n
	}
}

// depart adds edge e, which leads from member from out of level l.
func (x *pathFinder) depart(g *flowGraph, l, from, e int) {
	edge, n := x.r.Edges[e], x.f.Edges[e]
	node := &g.nodes[from]
	to := -1
	if edge.Kind != cfg.Restarts {
		to = x.memberOf(l, edge.To)
	}
	switch {
	case to == from && node.Loop >= 0:
		return
	case to < 0:
		node.outs = append(node.outs, flowOut{Leaves, e, n})
	case x.back[e]:
		node.outs = append(node.outs, flowOut{Closes, e, n})
	}
	node.gone += n
}
