package diagram

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"presage/perf/figure/graph"
)

// Sizes in points. Text uses a face whose characters are all as wide as
// advance, so that boxes can be measured before they are drawn.
const (
	textSize  = vg.Length(9)
	advance   = 0.6 * textSize // Liberation Mono
	lineSkip  = 1.25 * textSize
	padding   = vg.Length(5)
	margin    = vg.Length(10)
	titleSize = vg.Length(12)
	scaleSize = vg.Length(10) // height of the scale of colours
)

func boxSize(n graph.Node) (w, h vg.Length) {
	longest := 1
	for _, l := range n.Lines {
		longest = max(longest, len([]rune(l)))
	}
	return vg.Length(longest)*advance + 2*padding, vg.Length(max(1, len(n.Lines)))*lineSkip + 2*padding
}

// top returns the height of the heading above the graph.
func (d *Drawing) top() vg.Length {
	var h vg.Length
	if d.graph.Title != "" {
		h += 2 * titleSize
	}
	if d.graph.Heat != "" {
		h += 3 * scaleSize
	}
	return h
}

func (d *Drawing) extent() (w, h vg.Length) {
	w = max(d.layout.size.X, vg.Length(len([]rune(d.graph.Title)))*0.6*titleSize)
	if d.graph.Heat != "" {
		w = max(w, scaleWidth+vg.Length(len([]rune(d.graph.Heat))+12)*advance)
	}
	return w + 2*margin, d.layout.size.Y + d.top() + 2*margin
}

const scaleWidth = vg.Length(120)

func style(size vg.Length, x text.XAlignment, y text.YAlignment) draw.TextStyle {
	return draw.TextStyle{
		Color: color.Black, Font: font.Font{Typeface: "Liberation", Variant: "Mono", Size: size},
		XAlign: x, YAlign: y, Handler: plot.DefaultTextHandler,
	}
}

var (
	ink       = color.RGBA{0x33, 0x33, 0x33, 0xff}
	frameInk  = color.RGBA{0x00, 0x72, 0xb2, 0xff}
	frameFill = color.NRGBA{0x00, 0x72, 0xb2, 0x10}
	cold      = color.RGBA{0xe4, 0xe4, 0xe4, 0xff}
)

func (d *Drawing) draw(c draw.Canvas) {
	w, h := d.extent()
	at := vg.Point{X: (w - d.layout.size.X) / 2, Y: margin}
	c.SetColor(color.White)
	c.Fill(rectangle(vg.Rectangle{Max: vg.Point{X: w, Y: h}}))
	d.heading(c, h-margin)
	for i, r := range d.layout.frames {
		d.frame(c, d.graph.Frames[i], shift(r, at))
	}
	for i, e := range d.layout.edges {
		d.edge(c, d.graph.Edges[i], e, at)
	}
	for i, r := range d.layout.nodes {
		d.node(c, d.graph.Nodes[i], shift(r, at))
	}
}

// heading draws the title and the scale of colours, downwards from y.
func (d *Drawing) heading(c draw.Canvas, y vg.Length) {
	if d.graph.Title != "" {
		c.FillText(style(titleSize, draw.XLeft, draw.YTop), vg.Point{X: margin, Y: y}, d.graph.Title)
		y -= 2 * titleSize
	}
	if d.graph.Heat == "" {
		return
	}
	label := style(textSize, draw.XLeft, draw.YCenter)
	x := margin
	c.FillText(label, vg.Point{X: x, Y: y - scaleSize/2}, "0")
	x += 2 * advance
	const steps = 40
	for i := range steps {
		c.SetColor(heat((float64(i) + 0.5) / steps))
		c.Fill(rectangle(vg.Rectangle{
			Min: vg.Point{X: x + scaleWidth*vg.Length(i)/steps, Y: y - scaleSize},
			Max: vg.Point{X: x + scaleWidth*vg.Length(i+1)/steps + 0.3, Y: y},
		}))
	}
	c.FillText(label, vg.Point{X: x + scaleWidth + advance, Y: y - scaleSize/2}, "1  "+d.graph.Heat)
}

func (d *Drawing) frame(c draw.Canvas, f graph.Frame, r vg.Rectangle) {
	c.SetColor(frameFill)
	c.Fill(rectangle(r))
	c.SetColor(frameInk)
	c.SetLineWidth(0.8)
	c.Stroke(rectangle(r))
	label := style(textSize, draw.XLeft, draw.YTop)
	label.Color = frameInk
	c.FillText(label, vg.Point{X: r.Min.X + 3, Y: r.Max.Y - 2}, f.Label)
}

func (d *Drawing) node(c draw.Canvas, n graph.Node, r vg.Rectangle) {
	fill := cold
	face := style(textSize, draw.XLeft, draw.YTop)
	if n.Heat >= 0 {
		fill = heat(n.Heat)
		if n.Heat > darkFrom {
			face.Color = color.White
		}
	}
	c.SetColor(fill)
	c.Fill(rectangle(r))
	c.SetColor(ink)
	c.SetLineWidth(0.7)
	c.Stroke(rectangle(r))
	at := vg.Point{X: r.Min.X + padding, Y: r.Max.Y - padding}
	for _, l := range n.Lines {
		c.FillText(face, at, l)
		at.Y -= lineSkip
	}
}

func (d *Drawing) edge(c draw.Canvas, e graph.Edge, l curve, at vg.Point) {
	var p vg.Path
	p.Move(l.points[0].Add(at))
	for i := 1; i+2 < len(l.points); i += 3 {
		p.CubeTo(l.points[i].Add(at), l.points[i+1].Add(at), l.points[i+2].Add(at))
	}
	c.SetColor(ink)
	c.SetLineWidth(0.8)
	c.SetLineDash(nil, 0)
	switch e.Stroke {
	case graph.Heavy:
		c.SetLineWidth(1.8)
	case graph.Dashed:
		c.SetLineDash([]vg.Length{3, 2}, 0)
	}
	c.Stroke(p)
	c.SetLineDash(nil, 0)
	head(c, l.points[len(l.points)-1].Add(at), l.tip.Add(at))
	if e.Label != "" {
		c.FillText(style(textSize-1, draw.XCenter, draw.YCenter), l.label.Add(at), e.Label)
	}
}

// head draws an arrow's head from the end of its curve to its tip.
func head(c draw.Canvas, from, tip vg.Point) {
	along := tip.Sub(from)
	across := vg.Point{X: -along.Y, Y: along.X}.Scale(0.4)
	var p vg.Path
	p.Move(tip)
	p.Line(from.Add(across))
	p.Line(from.Sub(across))
	p.Close()
	c.Fill(p)
}

// darkFrom is the heat above which black text is hard to read.
const darkFrom = 0.62

// heat returns the colour of a share from 0, white, through orange to 1, deep
// red.
func heat(x float64) color.RGBA {
	stops := [...][3]float64{{255, 255, 255}, {254, 224, 160}, {252, 141, 60}, {200, 30, 30}, {110, 0, 20}}
	x = math.Max(0, math.Min(1, x)) * float64(len(stops)-1)
	i := min(int(x), len(stops)-2)
	mix := func(k int) uint8 { return uint8(math.Round(stops[i][k] + (x-float64(i))*(stops[i+1][k]-stops[i][k]))) }
	return color.RGBA{mix(0), mix(1), mix(2), 0xff}
}

func shift(r vg.Rectangle, by vg.Point) vg.Rectangle {
	return vg.Rectangle{Min: r.Min.Add(by), Max: r.Max.Add(by)}
}

func rectangle(r vg.Rectangle) vg.Path {
	var p vg.Path
	p.Move(r.Min)
	p.Line(vg.Point{X: r.Max.X, Y: r.Min.Y})
	p.Line(r.Max)
	p.Line(vg.Point{X: r.Min.X, Y: r.Max.Y})
	p.Close()
	return p
}
