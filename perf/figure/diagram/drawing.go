// Package diagram draws directed graphs in layers, such as control-flow graphs
// and loop nests. It takes those of package graph, and returns an SVG or a PNG. Graphviz's dot lays them out, compiled to
// WebAssembly (github.com/goccy/go-graphviz); gonum draws them, like all other
// figures.
package diagram

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"presage/perf/figure/graph"
)

// MaxNodes is the largest number of nodes of a layout: dot takes seconds for a
// few hundred, and nobody can read more.
const MaxNodes = 400

// Drawing is a graph that has been laid out.
type Drawing struct {
	graph  *graph.Graph
	layout layout
}

// New lays out a graph. It refuses graphs of more than MaxNodes nodes: leave
// out what is cold.
func New(ctx context.Context, g *graph.Graph) (*Drawing, error) {
	if err := check(g); err != nil {
		return nil, err
	}
	l, err := arrange(ctx, g)
	if err != nil {
		return nil, err
	}
	return &Drawing{graph: g, layout: l}, nil
}

// Description says in words what the drawing shows, for those who do not see it.
func (d *Drawing) Description() string {
	text := fmt.Sprintf("Graph of %d boxes and %d arrows", len(d.graph.Nodes), len(d.graph.Edges))
	if d.graph.Title != "" {
		text += ": " + d.graph.Title
	}
	if d.graph.Heat != "" {
		text += "; colours: " + d.graph.Heat
	}
	return text + "."
}

func check(g *graph.Graph) error {
	if len(g.Nodes) == 0 {
		return fmt.Errorf("diagram: no nodes to draw")
	}
	if len(g.Nodes) > MaxNodes {
		return fmt.Errorf("diagram: %d nodes; at most %d can be laid out: leave some out", len(g.Nodes), MaxNodes)
	}
	for i, f := range g.Frames {
		if f.Parent < -1 || f.Parent >= i {
			return fmt.Errorf("diagram: frame %d has the parent %d, which does not come before it", i, f.Parent)
		}
	}
	for i, n := range g.Nodes {
		if n.Frame < -1 || n.Frame >= len(g.Frames) {
			return fmt.Errorf("diagram: node %d stands in frame %d of %d", i, n.Frame, len(g.Frames))
		}
		if n.Heat > 1 || n.Heat != n.Heat {
			return fmt.Errorf("diagram: node %d has the heat %g, more than 1", i, n.Heat)
		}
	}
	for i, e := range g.Edges {
		if e.From < 0 || e.To < 0 || e.From >= len(g.Nodes) || e.To >= len(g.Nodes) {
			return fmt.Errorf("diagram: edge %d leads from node %d to %d of %d", i, e.From, e.To, len(g.Nodes))
		}
	}
	return nil
}

// SVG draws the graph as a scalable picture. Its text is in Liberation Mono, or
// the viewer's substitute.
func (d *Drawing) SVG() ([]byte, error) {
	w, h := d.extent()
	return d.render(vgsvg.NewWith(vgsvg.UseWH(w, h)))
}

// The resolution of PNG files in dots per inch, and their largest number of
// pixels.
const (
	resolution = 144
	maxPixels  = 64 << 20
)

// PNG draws the graph at its natural size, or smaller if that exceeds 64
// million pixels.
func (d *Drawing) PNG() ([]byte, error) {
	w, h := d.extent()
	dpi := resolution
	for dpi > 1 && float64(w/vg.Inch)*float64(h/vg.Inch)*float64(dpi*dpi) > maxPixels {
		dpi--
	}
	return d.render(vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(dpi))})
}

// surface is a canvas that can be written out.
type surface interface {
	vg.CanvasSizer
	io.WriterTo
}

func (d *Drawing) render(s surface) ([]byte, error) {
	d.draw(draw.New(s))
	var b bytes.Buffer
	if _, err := s.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("diagram: %w", err)
	}
	return b.Bytes(), nil
}
