package diagram

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-graphviz"
	"gonum.org/v1/plot/vg"

	"presage/perf/figure/graph"
	"presage/perf/internal/wasmcache"
)

// Graphviz has been initialised, with the cache of package wasmcache.
var _ = wasmcache.Restore()

// layout holds all positions, in points from the lower left corner.
type layout struct {
	size   vg.Point
	nodes  []vg.Rectangle
	edges  []curve
	frames []vg.Rectangle
}

// curve is a chain of cubic Bézier curves: a start, and three points for each,
// with a head that points to tip, and the place of the label.
type curve struct {
	points []vg.Point
	tip    vg.Point
	label  vg.Point
}

// arrange lays out the graph with dot.
func arrange(ctx context.Context, g *graph.Graph) (layout, error) {
	engine, err := graphviz.New(ctx)
	if err != nil {
		return layout{}, fmt.Errorf("diagram: start of graphviz: %w", err)
	}
	defer engine.Close()
	parsed, err := graphviz.ParseBytes([]byte(source(g)))
	if err != nil {
		return layout{}, fmt.Errorf("diagram: %w", err)
	}
	defer parsed.Close()
	var out bytes.Buffer
	if err := engine.Render(ctx, parsed, "json", &out); err != nil {
		return layout{}, fmt.Errorf("diagram: layout: %w", err)
	}
	return read(&out, g)
}

// source returns the graph in dot's language, with the sizes of nodes instead
// of their text.
func source(g *graph.Graph) string {
	var b strings.Builder
	b.WriteString("digraph{nodesep=0.3;ranksep=0.35;node[shape=box,fixedsize=true,label=\"\"];edge[arrowsize=0.7,fontname=Courier];graph[fontname=Courier];\n")
	inside := make([][]int, len(g.Frames)+1) // by frame, those without one last
	for i, f := range g.Frames {
		at := f.Parent
		if at < 0 {
			at = len(g.Frames)
		}
		inside[at] = append(inside[at], i)
	}
	var frame func(f int)
	frame = func(f int) {
		if f < len(g.Frames) {
			fmt.Fprintf(&b, "subgraph cluster_%d{margin=9;label=\"%s\";fontsize=%g;\n", f, strings.Repeat("x", len([]rune(g.Frames[f].Label))), float64(textSize))
		}
		for i, n := range g.Nodes {
			if n.Frame == f || n.Frame < 0 && f == len(g.Frames) {
				w, h := boxSize(n)
				fmt.Fprintf(&b, "n%d[width=%g,height=%g];\n", i, float64(w/vg.Inch), float64(h/vg.Inch))
			}
		}
		for _, i := range inside[f] {
			frame(i)
		}
		if f < len(g.Frames) {
			b.WriteString("}\n")
		}
	}
	frame(len(g.Frames))
	for i, e := range g.Edges {
		label := ""
		if e.Label != "" {
			label = fmt.Sprintf(",fontsize=%g,label=\"%s\"", float64(textSize), strings.Repeat("x", len([]rune(e.Label))))
		}
		if e.Stroke == graph.Heavy { // reversed in the layout, so that it alone points upwards
			fmt.Fprintf(&b, "n%d->n%d[dir=back,id=\"%d\"%s];\n", e.To, e.From, i, label)
			continue
		}
		fmt.Fprintf(&b, "n%d->n%d[id=\"%d\"%s];\n", e.From, e.To, i, label)
	}
	b.WriteString("}\n")
	return b.String()
}

// result is the part of dot's JSON output that is used.
type result struct {
	BB      string `json:"bb"`
	Objects []struct {
		Name, BB, Pos, Width, Height string
	} `json:"objects"`
	Edges []struct {
		ID, Pos, LP string
	} `json:"edges"`
}

func read(r io.Reader, g *graph.Graph) (layout, error) {
	var in result
	if err := json.NewDecoder(r).Decode(&in); err != nil {
		return layout{}, fmt.Errorf("diagram: output of dot: %w", err)
	}
	var p parser
	l := layout{nodes: make([]vg.Rectangle, len(g.Nodes)), edges: make([]curve, len(g.Edges)), frames: make([]vg.Rectangle, len(g.Frames))}
	l.size = p.rectangle(in.BB).Max
	for _, o := range in.Objects {
		if id, ok := strings.CutPrefix(o.Name, "cluster_"); ok {
			l.frames[p.index(id, len(l.frames))] = p.rectangle(o.BB)
		} else {
			at := p.point(o.Pos)
			half := vg.Point{X: vg.Length(p.number(o.Width)) * vg.Inch / 2, Y: vg.Length(p.number(o.Height)) * vg.Inch / 2}
			l.nodes[p.index(strings.TrimPrefix(o.Name, "n"), len(l.nodes))] = vg.Rectangle{Min: at.Sub(half), Max: at.Add(half)}
		}
	}
	for _, e := range in.Edges {
		c := p.curve(e.Pos)
		if e.LP != "" {
			c.label = p.point(e.LP)
		}
		l.edges[p.index(e.ID, len(l.edges))] = c
	}
	return l, p.err
}

// parser reads numbers of dot's output and keeps the first error.
type parser struct{ err error }

func (p *parser) number(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if p.err == nil && (err != nil || math.IsInf(v, 0) || math.IsNaN(v)) {
		p.err = fmt.Errorf("diagram: output of dot: %q is no number", s)
	}
	return v
}

func (p *parser) index(s string, n int) int {
	i, err := strconv.Atoi(s)
	if err != nil || i < 0 || i >= n {
		if p.err == nil {
			p.err = fmt.Errorf("diagram: output of dot: %q names nothing", s)
		}
		return 0
	}
	return i
}

func (p *parser) point(s string) vg.Point {
	x, y, _ := strings.Cut(s, ",")
	return vg.Point{X: vg.Length(p.number(x)), Y: vg.Length(p.number(y))}
}

func (p *parser) rectangle(s string) vg.Rectangle {
	c := strings.SplitN(s, ",", 3)
	if len(c) < 3 {
		p.number(s)
		return vg.Rectangle{}
	}
	return vg.Rectangle{Min: p.point(c[0] + "," + c[1]), Max: p.point(c[2])}
}

// curve reads "e,x,y x,y x,y …": the tip of the head, the start, then three
// points for each piece; or "s,x,y x,y …", with the head at the start, which it
// reverses.
func (p *parser) curve(s string) curve {
	var c curve
	back := strings.HasPrefix(s, "s,")
	for i, f := range strings.Fields(s) {
		if i == 0 {
			c.tip = p.point(strings.TrimLeft(f, "es,"))
			continue
		}
		c.points = append(c.points, p.point(f))
	}
	if back {
		slices.Reverse(c.points)
	}
	if p.err == nil && (len(c.points) < 4 || len(c.points)%3 != 1) {
		p.err = fmt.Errorf("diagram: output of dot: a curve of %d points", len(c.points))
	}
	return c
}
