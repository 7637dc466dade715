package figure

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// placement maps the camera's plane onto a canvas, the same scale both ways.
type placement struct {
	camera camera
	scale  vg.Length // of a unit of the plane
	middle vg.Point  // of the box
}

// at returns the place on the canvas of a point in space.
func (p placement) at(v vec) vg.Point {
	x, y := p.camera.project(v)
	return vg.Point{X: p.middle.X + p.scale*vg.Length(x), Y: p.middle.Y + p.scale*vg.Length(y)}
}

// length returns the greatest length in dots, at least one, of the box's edges
// along a direction.
func (p placement) length(along vec) float64 {
	longest := 1.0
	for i := range 8 {
		a := corner(i)
		if a.dot(along) != 0 {
			continue
		}
		from, to := p.at(a), p.at(a.plus(along, 1))
		longest = max(longest, math.Hypot(float64(to.X-from.X), float64(to.Y-from.Y))*resolution/72)
	}
	return longest
}

func corner(i int) vec { return vec{float64(i & 1), float64(i >> 1 & 1), float64(i >> 2)} }

// label is text at a distance on paper from a point in space.
type label struct {
	text   string
	style  text.Style
	anchor vec
	offset vg.Point
}

// edge is an edge of the box with ticks.
type edge struct {
	from, to vec
	ticks    []plot.Tick // values from 0 to 1 along the edge
	outward  vg.Point    // unit vector on paper along which tick marks run
	labels   []label     // of the ticks, then the title
}

const (
	tickMark = 4 * vg.Length(1)  // points
	tickGap  = 4 * vg.Length(1)  // between a tick mark and its label
	cutMark  = 10 * vg.Length(1) // from the box to the name of a cut
)

// fit places the box with its labels in the middle of a rectangle, as large as
// possible.
func fit(r vg.Rectangle, cam camera, edges []edge) placement {
	extents := func(scale vg.Length) vg.Rectangle {
		p := placement{camera: cam, scale: scale}
		all := vg.Rectangle{Min: p.at(corner(0)), Max: p.at(corner(0))}
		include := func(q vg.Point) {
			all.Min = vg.Point{X: min(all.Min.X, q.X), Y: min(all.Min.Y, q.Y)}
			all.Max = vg.Point{X: max(all.Max.X, q.X), Y: max(all.Max.Y, q.Y)}
		}
		for i := range 8 {
			include(p.at(corner(i)))
		}
		for _, e := range edges {
			for _, l := range e.labels {
				box, at := l.style.Rectangle(l.text), p.at(l.anchor).Add(l.offset)
				include(at.Add(box.Min))
				include(at.Add(box.Max))
			}
		}
		return all
	}
	lo, hi := vg.Length(1), max(r.Size().X, r.Size().Y)
	for range 30 {
		middle := (lo + hi) / 2
		if size := extents(middle).Size(); size.X <= r.Size().X && size.Y <= r.Size().Y {
			lo = middle
		} else {
			hi = middle
		}
	}
	all := extents(lo)
	return placement{cam, lo, vg.Point{
		X: (r.Min.X + r.Max.X - all.Min.X - all.Max.X) / 2,
		Y: (r.Min.Y + r.Max.Y - all.Min.Y - all.Max.Y) / 2,
	}}
}

func textStyle(size float64, c color.Color) text.Style {
	face := font.From(plot.DefaultFont, font.Points(size))
	face.Variant = sans
	return text.Style{Color: c, Font: face, Handler: plot.DefaultTextHandler}
}

// labels returns the edges that carry the three axes, and the one that carries
// the cuts: the floor's two near edges, the upright edge farthest left, and the
// one farthest right.
func (sp *space) labels() []edge {
	nearX, nearY := sp.camera.near(0), sp.camera.near(1)
	direction := func(v vec) vg.Point { // on paper, seen from far
		x, y := v.dot(sp.camera.right), v.dot(sp.camera.up)
		l := math.Hypot(x, y)
		return vg.Point{X: vg.Length(x / l), Y: vg.Length(y / l)}
	}
	x := edge{
		from: vec{0, nearY, 0}, to: vec{1, nearY, 0}, outward: direction(vec{0, 2*nearY - 1, 0}),
		ticks: within(linearTicks{}.Ticks(sp.size[0], sp.size[1]), sp.size[0], sp.size[1]),
	}
	y := edge{
		from: vec{nearX, 0, 0}, to: vec{nearX, 1, 0}, outward: direction(vec{2*nearX - 1, 0, 0}),
		ticks: within(linearTicks{}.Ticks(0, 1), 0, 1),
	}
	left, right := vec{nearX, 1 - nearY, 0}, vec{1 - nearX, nearY, 0}
	if left.minus(right).dot(sp.camera.right) > 0 {
		left, right = right, left
	}
	var marker plot.Ticker = linearTicks{}
	if sp.axis.log {
		marker = decades{}
	}
	z := edge{
		from: left, to: left.plus(vec{0, 0, 1}, 1), outward: vg.Point{X: -1},
		ticks: within(marker.Ticks(0, sp.top), 0, sp.top),
	}
	edges := []edge{x, y, z}
	for i, title := range []string{sp.xLabel, "share of non-cold accesses", sp.axis.label()} {
		edges[i].label(title, sp.camera)
	}
	cuts := edge{from: right, to: right.plus(vec{0, 0, 1}, 1), outward: vg.Point{X: 1}}
	for _, cut := range sp.cuts {
		style := textStyle(10, cut.color)
		style.YAlign = draw.YCenter
		cuts.labels = append(cuts.labels, label{
			strconv.FormatFloat(cut.Blocks, 'f', -1, 64), style, cuts.from.plus(vec{0, 0, 1}, cut.height), vg.Point{X: cutMark + 2},
		})
	}
	return append(edges, cuts)
}

// within maps ticks from a range to [0, 1], and drops every second label if
// there are too many for an edge seen at an angle.
func within(ticks []plot.Tick, lo, hi float64) []plot.Tick {
	var out []plot.Tick
	for _, t := range ticks {
		if t.Value >= lo && t.Value <= hi {
			out = append(out, plot.Tick{Value: (t.Value - lo) / (hi - lo), Label: t.Label})
		}
	}
	labelled := 0
	for _, t := range out {
		if t.Label != "" {
			labelled++
		}
	}
	if labelled <= 6 {
		return out
	}
	kept := false
	for i := range out {
		if out[i].Label == "" {
			continue
		}
		if kept = !kept; !kept {
			out[i].Label = ""
		}
	}
	return out
}

// place returns the point a part of the way along an edge.
func (e *edge) place(part float64) vec { return e.from.plus(e.to.minus(e.from), part) }

// label adds the labels of the ticks, and the title along the edge beyond them.
func (e *edge) label(title string, cam camera) {
	style := textStyle(10, color.Black)
	style.XAlign = text.XAlignment((e.outward.X - 1) / 2)
	style.YAlign = draw.YCenter
	if e.outward.Y < -0.1 { // wholly below, out of the way of the next axis's labels
		style.YAlign = draw.YTop
	}
	away := e.outward.Scale(tickMark + tickGap)
	for _, t := range e.ticks {
		if t.Label != "" {
			e.labels = append(e.labels, label{t.Label, style, e.place(t.Value), away})
		}
	}
	// The title stands off along the normal of the edge, as far as the tick
	// labels reach that way.
	x0, y0 := cam.project(e.from)
	x1, y1 := cam.project(e.to)
	l := math.Hypot(x1-x0, y1-y0)
	normal := vg.Point{X: vg.Length((y0 - y1) / l), Y: vg.Length((x1 - x0) / l)}
	if normal.Dot(e.outward) < 0 {
		normal = normal.Scale(-1)
	}
	reach := tickMark
	for _, l := range e.labels {
		box := l.style.Rectangle(l.text)
		for _, q := range []vg.Point{box.Min, {X: box.Max.X, Y: box.Min.Y}, box.Max, {X: box.Min.X, Y: box.Max.Y}} {
			reach = max(reach, l.offset.Add(q).Dot(normal))
		}
	}
	style = textStyle(11, color.Black)
	style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
	style.Rotation = math.Atan2(y1-y0, x1-x0)
	if e.from[2] != e.to[2] { // upright: from the foot, to stay clear of the floor's titles
		style.XAlign = draw.XLeft
		e.labels = append(e.labels, label{title, style, e.from, normal.Scale(reach + 9)})
		return
	}
	if style.Rotation > math.Pi/2+1e-9 {
		style.Rotation -= math.Pi
	} else if style.Rotation < -math.Pi/2+1e-9 {
		style.Rotation += math.Pi
	}
	e.labels = append(e.labels, label{title, style, e.place(0.5), normal.Scale(reach + 9)})
}

// walls draws the floor and the two far walls with lines at the ticks.
func (b *brush) walls(edges []edge) {
	cam := b.space.camera
	far := vec{1 - cam.near(0), 1 - cam.near(1), 0}
	wall := func(axis int, shade uint8) {
		u, v := (axis+1)%3, (axis+2)%3
		var p [4]vec
		for i := range p {
			p[i][axis] = far[axis]
			p[i][u], p[i][v] = float64((i+1)/2%2), float64(i/2)
		}
		b.fill(color.Gray{shade}, p[:])
		for _, along := range []int{u, v} {
			other := u + v - along
			for _, t := range edges[along].ticks {
				from, to := vec{}, vec{}
				from[axis], to[axis] = far[axis], far[axis]
				from[along], to[along] = t.Value, t.Value
				to[other] = 1
				b.stroke(draw.LineStyle{Color: color.Gray{0xcc}, Width: vg.Points(0.5)}, []vec{from, to})
			}
		}
	}
	wall(2, 0xf0)
	wall(0, 0xf6)
	wall(1, 0xfa)
}

// axes draws the axes and all text, on top of everything.
func (b *brush) axes(edges []edge) {
	line := draw.LineStyle{Color: color.Black, Width: vg.Points(0.8)}
	for _, e := range edges[:3] {
		b.stroke(line, []vec{e.from, e.to})
		for _, t := range e.ticks {
			at := b.at(e.place(t.Value))
			b.c.StrokeLines(line, []vg.Point{at, at.Add(e.outward.Scale(tickMark))})
		}
		for _, l := range e.labels {
			b.c.FillText(l.style, b.at(l.anchor).Add(l.offset), l.text)
		}
	}
	b.cutLabels(edges[3].labels)
}

// cutLabels writes the cuts' sizes beside their planes, separated from each
// other and from the floor, with a line to each.
func (b *brush) cutLabels(labels []label) {
	lowest := vg.Length(math.Inf(-1))
	for i, l := range labels { // by height
		mark := b.at(l.anchor)
		at := mark.Add(l.offset)
		if i == 0 {
			foot := l.anchor
			foot[2] = 0
			lowest = b.at(foot).Y + 11 // above a label of an axis that may end there
		}
		at.Y = max(at.Y, lowest)
		lowest = at.Y + l.style.Height(l.text) + 1
		b.c.StrokeLines(draw.LineStyle{Color: l.style.Color, Width: vg.Points(0.8)}, []vg.Point{mark, {X: mark.X + cutMark, Y: at.Y}})
		b.c.FillText(l.style, at, l.text)
	}
}
