package diagram

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"presage/perf/figure/graph"
)

// nest is the graph of two nested loops with a way round them.
func nest() *graph.Graph {
	return &graph.Graph{
		Title: "main.kernel <a & b>",
		Heat:  "instructions executed, share of the routine",
		Nodes: []graph.Node{
			{Lines: []string{"B0 10000  kernel.c:3", "4 instructions", "1x"}, Heat: 0.01, Frame: -1},
			{Lines: []string{"B1 10010  kernel.c:4", "100x"}, Heat: 0.1, Frame: 0},
			{Lines: []string{"B2 10020  kernel.c:5", "1e+06x"}, Heat: 1, Frame: 1},
			{Lines: []string{"B3 10030  kernel.c:7", "100x"}, Heat: 0.5, Frame: 0},
			{Lines: []string{"B4 10040  kernel.c:9", "1x", "returns"}, Heat: 0.01, Frame: -1},
			{Lines: []string{"B5 10050  kernel.c:2"}, Heat: -1, Frame: -1},
		},
		Edges: []graph.Edge{
			{From: 0, To: 1, Label: "1"},
			{From: 1, To: 2},
			{From: 2, To: 2, Stroke: graph.Heavy, Label: "999900"},
			{From: 2, To: 3},
			{From: 3, To: 1, Stroke: graph.Heavy},
			{From: 3, To: 4},
			{From: 0, To: 5, Stroke: graph.Dashed},
			{From: 5, To: 4},
		},
		Frames: []graph.Frame{{Label: "loop kernel.c:4", Parent: -1}, {Label: "loop kernel.c:5", Parent: 0}},
	}
}

func layOut(t *testing.T, g *graph.Graph) *Drawing {
	t.Helper()
	d, err := New(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestLayout holds the layout against what a reader expects of it: boxes apart
// from each other, within their frames, edges from box to box, downwards but
// for back edges.
func TestLayout(t *testing.T) {
	g := nest()
	l := layOut(t, g).layout
	inside := func(in, out vg.Rectangle) bool {
		return in.Min.X >= out.Min.X && in.Min.Y >= out.Min.Y && in.Max.X <= out.Max.X && in.Max.Y <= out.Max.Y
	}
	for i, a := range l.nodes {
		w, h := boxSize(g.Nodes[i])
		if size := a.Size(); size.X < w-1 || size.Y < h-1 {
			t.Errorf("node %d is %v, its text takes %v x %v", i, size, w, h)
		}
		for j, b := range l.nodes[:i] {
			if a.Min.X < b.Max.X && b.Min.X < a.Max.X && a.Min.Y < b.Max.Y && b.Min.Y < a.Max.Y {
				t.Errorf("nodes %d and %d overlap", i, j)
			}
		}
		if f := g.Nodes[i].Frame; f >= 0 && !inside(a, l.frames[f]) {
			t.Errorf("node %d lies outside of frame %d", i, f)
		}
	}
	if !inside(l.frames[1], l.frames[0]) {
		t.Error("the inner loop's frame lies outside of the outer's")
	}
	near := func(p vg.Point, r vg.Rectangle) bool {
		const slack = 3 // points; dot lets an edge begin beside the box's line
		return p.X >= r.Min.X-slack && p.X <= r.Max.X+slack && p.Y >= r.Min.Y-slack && p.Y <= r.Max.Y+slack
	}
	for i, e := range g.Edges {
		if c := l.edges[i]; !near(c.points[0], l.nodes[e.From]) || !near(c.tip, l.nodes[e.To]) {
			t.Errorf("edge %d leads from %v to %v, not from %v to %v", i, c.points[0], c.tip, l.nodes[e.From], l.nodes[e.To])
		}
		if up := l.nodes[e.From].Min.Y < l.nodes[e.To].Min.Y; up != (e.Stroke == graph.Heavy && e.From != e.To) {
			t.Errorf("edge %d leads upwards: %v", i, up)
		}
	}
}

func TestPicture(t *testing.T) {
	d := layOut(t, nest())
	svg, err := d.SVG()
	if err != nil {
		t.Fatal(err)
	}
	for x := xml.NewDecoder(bytes.NewReader(svg)); ; {
		if _, err := x.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("SVG: %v", err)
		}
	}
	for _, want := range []string{"B2 10020", "loop kernel.c:5", "&lt;a &amp; b&gt;", "share of the routine", "999900"} {
		if !strings.Contains(string(svg), want) {
			t.Errorf("SVG does not say %q", want)
		}
	}
	data, err := d.PNG()
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	wide, high := d.extent()
	w, h := float64(wide/vg.Inch), float64(high/vg.Inch)
	if b := picture.Bounds(); b.Dx() < int(w*resolution)-2 || b.Dy() < int(h*resolution)-2 {
		t.Errorf("PNG is %v for %g x %g inches", b, w, h)
	}
	// The hottest block is dark red, the coldest white, the dead one grey.
	for i, want := range map[int][3]uint32{2: {110, 0, 20}, 5: {0xe4, 0xe4, 0xe4}} {
		r := d.layout.nodes[i]
		_, height := d.extent()
		x := (r.Min.X + 2 + margin + ((vg.Length(w)*vg.Inch-d.layout.size.X)/2 - margin)) / vg.Inch * resolution
		y := (height - (r.Min.Y + 2 + margin)) / vg.Inch * resolution
		red, green, blue, _ := picture.At(int(x), int(y)).RGBA()
		if got := [3]uint32{red >> 8, green >> 8, blue >> 8}; got != want {
			t.Errorf("node %d has the colour %v, want %v", i, got, want)
		}
	}
	if keep := os.Getenv("DIAGRAM_PNG"); keep != "" {
		if err := os.WriteFile(keep, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestHeatIsMonotonous(t *testing.T) {
	brightness := func(x float64) int { c := heat(x); return int(c.R) + int(c.G) + int(c.B) }
	for x := 0.0; x < 1; x += 0.01 {
		if brightness(x+0.01) > brightness(x) {
			t.Errorf("heat %g is brighter than %g", x+0.01, x)
		}
	}
	if heat(0) != heat(-1) || heat(1) != heat(2) {
		t.Error("heat beyond its scale")
	}
}

func TestRefuses(t *testing.T) {
	many := &graph.Graph{Nodes: make([]graph.Node, MaxNodes+1)}
	for want, g := range map[string]*graph.Graph{
		"no nodes":        {},
		"at most 400":     many,
		"frame 0 has":     {Nodes: []graph.Node{{}}, Frames: []graph.Frame{{Parent: 0}}},
		"stands in frame": {Nodes: []graph.Node{{Frame: 1}}, Frames: []graph.Frame{{Parent: -1}}},
		"edge 0 leads":    {Nodes: []graph.Node{{Frame: -1}}, Edges: []graph.Edge{{To: 1}}},
		"the heat 1.5":    {Nodes: []graph.Node{{Frame: -1, Heat: 1.5}}},
	} {
		if _, err := New(t.Context(), g); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
