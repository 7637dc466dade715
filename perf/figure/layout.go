package figure

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

// panel is a plot of a figure. Its Legend is not the plot's, which would stand upon
// the curves: the figure draws it below the panels.
type panel struct {
	*plot.Plot
	Legend legend
}

// legend says what marks mean.
type legend struct{ entries []legendEntry }

type legendEntry struct {
	text   string
	thumbs []plot.Thumbnailer
}

// Add adds an entry, unless there is one with the text.
func (l *legend) Add(text string, thumbs ...plot.Thumbnailer) {
	if !slices.ContainsFunc(l.entries, func(e legendEntry) bool { return e.text == text }) {
		l.entries = append(l.entries, legendEntry{text, thumbs})
	}
}

// What sizes follow from. A notebook shows figures 975 pixels wide, and text of less
// than ten pixels is hard to read: the smallest text has smallestText points, so that
// no figure is laid out wider than layoutWidth.
const (
	smallestText = 10
	notebookPx   = 975
	layoutWidth  = vg.Length(smallestText) * notebookPx / 10
	panelWidth   = 3 * vg.Inch // at least, where there is more than one
	thumbWidth   = vg.Length(20)
	entryGap     = vg.Length(16)
)

// arrangement is how the panels of a figure stand: in rows, each of the height that
// was asked for, on paper of another size if that is too wide to be read.
type arrangement struct {
	width, height vg.Length // of the paper
	scale         float64   // of what was asked for to the paper
	rows, columns int
}

// arrange places the panels for a width and height in inches. Panels that would be
// narrower than panelWidth go to further rows, and the figure is higher.
func (f *Figure) arrange(width, height float64) arrangement {
	a := arrangement{width: vg.Length(width) * vg.Inch, height: vg.Length(height) * vg.Inch, scale: 1}
	if a.width > layoutWidth {
		a.scale = float64(a.width / layoutWidth)
		a.width, a.height = layoutWidth, a.height/vg.Length(a.scale)
	}
	n := max(1, len(f.panels))
	a.columns = max(1, min(n, int(a.width/panelWidth)))
	a.rows = (n + a.columns - 1) / a.columns
	a.columns = (n + a.rows - 1) / a.rows
	if a.rows > 1 {
		// As high as they would be wide, or as asked for.
		row := min(a.height, 0.85*a.width/vg.Length(a.columns))
		a.height = row * vg.Length(a.rows)
	}
	return a
}

// size returns the width and height, in inches, of a drawing that is asked for in
// some size: panels in several rows make it higher.
func (a arrangement) size() (width, height float64) {
	return float64(a.width/vg.Inch) * a.scale, float64(a.height/vg.Inch) * a.scale
}

// legendStyle is how legends are written.
func legendStyle() text.Style {
	face := font.From(plot.DefaultFont, smallestText)
	face.Variant = sans
	return text.Style{Font: face, Handler: plot.DefaultTextHandler}
}

// placed is an entry of a legend with its place from the upper left corner.
type placed struct {
	legendEntry
	x, y vg.Length
}

// flow places the entries of a legend from left to right, in as many lines as a width
// takes, and returns their height.
func (l *legend) flow(width vg.Length) (all []placed, height vg.Length) {
	if len(l.entries) == 0 {
		return nil, 0
	}
	style := legendStyle()
	line := 1.5 * style.Font.Size
	x, y := vg.Length(0), vg.Length(0)
	for _, e := range l.entries {
		w := style.Width(e.text)
		if len(e.thumbs) > 0 {
			w += thumbWidth + vg.Length(4)
		}
		if x > 0 && x+w > width {
			x, y = 0, y+line
		}
		all = append(all, placed{e, x, y})
		x += w + entryGap
	}
	return all, y + line + vg.Length(4)
}

// draw draws a legend from the upper left corner of a canvas.
func (l *legend) draw(c draw.Canvas) {
	style := legendStyle()
	style.Color = color.Black
	all, _ := l.flow(c.Max.X - c.Min.X)
	for _, e := range all {
		at := vg.Point{X: c.Min.X + e.x, Y: c.Max.Y - e.y - style.Font.Size - vg.Length(2)}
		if len(e.thumbs) > 0 {
			icon := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{Min: at, Max: vg.Point{X: at.X + thumbWidth, Y: at.Y + style.Font.Size}}}
			for _, t := range e.thumbs {
				t.Thumbnail(&icon)
			}
			at.X += thumbWidth + vg.Length(4)
		}
		c.FillText(style, vg.Point{X: at.X, Y: at.Y + vg.Length(1)}, e.text)
	}
}

// alike reports whether two legends say the same: their texts, and what their marks draw.
func (l *legend) alike(o *legend) bool {
	return slices.EqualFunc(l.entries, o.entries, func(a, b legendEntry) bool {
		return a.text == b.text && slices.Equal(a.drawn(), b.drawn())
	})
}

// drawn returns what the marks of an entry draw.
func (e *legendEntry) drawn() (calls []string) {
	var seen recorder.Canvas
	icon := draw.Canvas{Canvas: &seen, Rectangle: vg.Rectangle{Max: vg.Point{X: thumbWidth, Y: thumbWidth}}}
	for _, t := range e.thumbs {
		t.Thumbnail(&icon)
	}
	for _, a := range seen.Actions {
		calls = append(calls, a.Call())
	}
	return calls
}

// commonLegend returns the legend that stands once below all panels: the only one or, if
// several panels have one, theirs, if they are alike; nil if each stands below its panel.
func (f *Figure) commonLegend() *legend {
	var common *legend
	for _, p := range f.panels {
		switch l := &p.Legend; {
		case len(l.entries) == 0:
		case common == nil:
			common = l
		case !common.alike(l):
			return nil
		}
	}
	if common == nil {
		return new(legend)
	}
	return common
}

// draw draws the panels on a canvas, and the legends below: one below all if it is that
// of all, otherwise each below its panel.
func (f *Figure) draw(c draw.Canvas, a arrangement) {
	margin := 2 * vg.Millimeter
	key := f.commonLegend()
	if key != nil && len(key.entries) > 0 {
		_, height := key.flow(c.Max.X - c.Min.X - 4*margin)
		below := draw.Crop(c, 3*margin, -margin, 0, -(c.Max.Y - c.Min.Y - height))
		key.draw(below)
		c = draw.Crop(c, 0, 0, height, 0)
	}
	tiles := draw.Tiles{
		Rows: a.rows, Cols: a.columns,
		PadX: 6 * vg.Millimeter, PadY: 5 * vg.Millimeter,
		PadTop: margin, PadBottom: margin, PadLeft: margin, PadRight: 2 * margin,
	}
	plots := make([][]*plot.Plot, a.rows)
	for i := range plots {
		plots[i] = make([]*plot.Plot, a.columns)
	}
	height := vg.Length(0) // of the highest legend
	for i, p := range f.panels {
		plots[i/a.columns][i%a.columns] = f.inRow(i, a)
		if key == nil {
			_, h := p.Legend.flow((c.Max.X - c.Min.X) / vg.Length(a.columns) * 0.9)
			height = max(height, h)
		}
	}
	if height > 0 {
		tiles.PadY += height
		tiles.PadBottom += height
	}
	canvases := plot.Align(plots, tiles, c)
	for i, p := range f.panels {
		cell := canvases[i/a.columns][i%a.columns]
		plots[i/a.columns][i%a.columns].Draw(cell)
		if key == nil {
			below := cell
			below.Max.Y = cell.Min.Y
			below.Min.Y = cell.Min.Y - height
			p.Legend.draw(below)
		}
	}
}

// inRow returns a panel's plot; the first of a row has the label of the axis that the
// first of the figure has for all.
func (f *Figure) inRow(i int, a arrangement) *plot.Plot {
	p := f.panels[i].Plot
	if i == 0 || i%a.columns > 0 || p.Y.Label.Text != "" {
		return p
	}
	own := *p
	own.Y.Label.Text = f.panels[0].Y.Label.Text
	return &own
}
