package anatomy

import (
	"fmt"
	"path"
	"strconv"

	"presage/perf/cfg"
	"presage/perf/figure/graph"
	"presage/perf/internal/num"
	"presage/perf/subject"
)

// DrawOptions configures ControlFlow and LoopNest.
type DrawOptions struct {
	// Counts of a run add colours and numbers of executions; nil: all grey.
	Counts *Counts
	// Instructions is how many instructions of each block are listed, at most.
	Instructions int
	// Cold also draws blocks and loops that were not executed. Without Counts
	// everything is drawn.
	Cold bool
}

// ControlFlow returns the control-flow graph of a routine, named as in the table
// of routines, to be drawn by package diagram: blocks with address, line and
// executions, coloured by the instructions executed in them; loops as frames
// around them. Back edges are heavy; edges of indirect jumps, and of Go's jump
// back to a routine's beginning once the stack has grown, are dashed.
func ControlFlow(prog *subject.Program, routine string, opt DrawOptions) (*graph.Graph, error) {
	s := structureOf(prog, opt.Counts)
	index, err := s.Routine(routine)
	if err != nil {
		return nil, err
	}
	d := flowDrawer{s: s, index: index, r: s.Graph.Routines[index], opt: opt, g: &graph.Graph{Title: routine}}
	return d.draw()
}

type flowDrawer struct {
	s     *subject.Structure
	index int
	r     *cfg.Routine
	opt   DrawOptions
	g     *graph.Graph
	node  []int // by block, -1: not drawn
	frame []int // by loop, -1: not drawn
}

func (d *flowDrawer) draw() (*graph.Graph, error) {
	r := d.r
	var most uint64
	for b := range r.Blocks {
		most = max(most, d.instructions(b))
	}
	if d.opt.Counts != nil {
		if most == 0 {
			return nil, fmt.Errorf("perf: %s was not executed in this run", d.g.Title)
		}
		d.g.Heat = "instructions executed, relative to the block with the most (" + count(most) + ")"
	}
	drawn := func(b int) bool { return d.opt.Counts == nil || d.opt.Cold || d.instructions(b) > 0 }
	d.frames(drawn)
	d.node = make([]int, len(r.Blocks))
	for b := range r.Blocks {
		if d.node[b] = -1; drawn(b) {
			d.node[b] = len(d.g.Nodes)
			d.g.Nodes = append(d.g.Nodes, d.box(b, most))
		}
	}
	d.edges()
	return d.g, nil
}

// instructions returns how many instructions were executed in a block.
func (d *flowDrawer) instructions(b int) uint64 {
	if d.opt.Counts == nil {
		return 0
	}
	var sum uint64
	for _, n := range d.opt.Counts.Recovered.Routines[d.index].Insts(nil, d.r, b) {
		sum += n
	}
	return sum
}

// frames adds a frame for each loop that holds a block that is drawn.
func (d *flowDrawer) frames(drawn func(b int) bool) {
	d.frame = make([]int, len(d.r.Loops))
	for l := range d.r.Loops {
		loop := &d.r.Loops[l]
		d.frame[l] = -1
		any := false
		for _, b := range loop.Blocks {
			any = any || drawn(b)
		}
		if !any {
			continue
		}
		parent := -1
		if loop.Parent >= 0 {
			parent = d.frame[loop.Parent]
		}
		d.frame[l] = len(d.g.Frames)
		d.g.Frames = append(d.g.Frames, graph.Frame{Label: d.loopLabel(l), Parent: parent})
	}
}

func (d *flowDrawer) loopLabel(l int) string {
	label := "loop"
	scope := &d.s.Scopes.Scopes[d.s.Scopes.Of(d.index, d.r.Loops[l].Header)]
	if scope.Source.Known() {
		label += " " + scope.Source.String()
	}
	if n := len(scope.Inlined); n > 0 {
		label += " of " + scope.Inlined[n-1].Routine
	}
	if d.r.Loops[l].Irreducible {
		label += ", irreducible"
	}
	return label
}

func (d *flowDrawer) box(b int, most uint64) graph.Node {
	block := &d.r.Blocks[b]
	where := fmt.Sprintf("B%d  %#x", b, block.PC())
	if line, ok := d.s.Graph.File.LineAt(block.PC()); ok {
		where += fmt.Sprintf("  %s:%d", path.Base(line.File), line.Line)
	}
	n := graph.Node{Lines: []string{where}, Heat: -1, Frame: -1}
	if block.Loop >= 0 {
		n.Frame = d.frame[block.Loop]
	}
	for i := range block.Insts {
		if i == d.opt.Instructions {
			break
		}
		n.Lines = append(n.Lines, "  "+block.Insts[i].String())
	}
	what := fmt.Sprintf("%d instructions", len(block.Insts))
	if d.opt.Counts != nil {
		executed := d.opt.Counts.Recovered.Routines[d.index].Blocks[b]
		what += fmt.Sprintf(", %s executions", count(executed))
		if k := d.instructions(b); k > 0 {
			n.Heat = float64(k) / float64(most)
		}
	}
	if block.Exit != cfg.Stays {
		what += ", " + block.Exit.String()
	}
	n.Lines = append(n.Lines, what)
	return n
}

func (d *flowDrawer) edges() {
	back := make(map[int]bool)
	for l := range d.r.Loops {
		for _, e := range d.r.Loops[l].Back {
			back[e] = true
		}
	}
	for e, edge := range d.r.Edges {
		if d.node[edge.From] < 0 || d.node[edge.To] < 0 {
			continue
		}
		out := graph.Edge{From: d.node[edge.From], To: d.node[edge.To]}
		switch {
		case back[e]:
			out.Stroke = graph.Heavy
		case edge.Kind == cfg.Table || edge.Kind == cfg.Restarts:
			out.Stroke = graph.Dashed
		}
		if d.opt.Counts != nil {
			n := d.opt.Counts.Recovered.Routines[d.index].Edges[e]
			if n == 0 && !d.opt.Cold {
				continue
			}
			out.Label = count(n)
		}
		d.g.Edges = append(d.g.Edges, out)
	}
}

// count writes a number so that it fits into a box: 1234567 as 1.23M.
func count(n uint64) string {
	v, unit := float64(n), ""
	for _, u := range []string{"k", "M", "G", "T", "P"} {
		if v < 10_000 {
			break
		}
		v, unit = v/1000, u
	}
	if unit == "" {
		return strconv.FormatUint(n, 10)
	}
	return strconv.FormatFloat(v, 'g', 4, 64) + unit
}

// LoopNest returns the loop nest of a routine, or with "" of the whole program,
// to be drawn by package diagram: routines and the loops of the source in them,
// coloured by the instructions executed in each and all inside it.
func LoopNest(prog *subject.Program, routine string, opt DrawOptions) (*graph.Graph, error) {
	s := structureOf(prog, opt.Counts)
	root, title := 0, prog.Name
	if routine != "" {
		index, err := s.Routine(routine)
		if err != nil {
			return nil, err
		}
		root, title = s.OfRoutine[index], routine
	}
	g := &graph.Graph{Title: title}
	var executed []uint64
	if opt.Counts != nil {
		executed = opt.Counts.byScope()
		g.Heat = "instructions executed, share of " + count(executed[root])
	}
	node := make(map[int]int)
	for i := root; i < s.Scopes.Scopes[root].End; i++ {
		scope := &s.Scopes.Scopes[i]
		cold := opt.Counts != nil && executed[i] == 0 && !opt.Cold
		dull := root == 0 && scope.Kind == cfg.RoutineScope && len(scope.Children) == 0
		if cold || dull {
			continue
		}
		n := graph.Node{Lines: scopeLines(s, i, title), Heat: -1, Frame: -1}
		if opt.Counts != nil {
			n.Lines = append(n.Lines, count(executed[i])+" instructions")
			n.Heat = num.Ratio(float64(executed[i]), float64(executed[root]))
			if scope.Kind == cfg.LoopScope {
				entries, iterations := opt.Counts.trips(i)
				n.Lines = append(n.Lines, fmt.Sprintf("%s x %.4g iterations", count(entries), num.Ratio(float64(iterations), float64(entries))))
			}
		}
		node[i] = len(g.Nodes)
		g.Nodes = append(g.Nodes, n)
		if parent, ok := node[scope.Parent]; ok && i != root {
			g.Edges = append(g.Edges, graph.Edge{From: parent, To: node[i]})
		}
	}
	return g, nil
}

// scopeLines names a scope in a box.
func scopeLines(s *subject.Structure, i int, title string) []string {
	scope := &s.Scopes.Scopes[i]
	switch scope.Kind {
	case cfg.ProgramScope:
		return []string{title}
	case cfg.RoutineScope:
		return []string{scope.Path}
	}
	name := "loop " + scope.Source.String()
	if !scope.Source.Known() {
		r := s.Graph.Routines[scope.Routine]
		name = fmt.Sprintf("loop at %#x", r.Blocks[r.Loops[scope.Loops[0]].Header].PC())
	}
	lines := []string{name}
	if n := len(scope.Inlined); n > 0 {
		lines = append(lines, "of "+scope.Inlined[n-1].Routine)
	}
	if n := len(scope.Loops); n > 1 {
		lines = append(lines, fmt.Sprintf("%d object-code loops", n))
	}
	return lines
}
