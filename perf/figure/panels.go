// Package figure draws tables as plots: curves over problem size,
// reuse-distance histograms with cuts at cache sizes, distributions, grids and
// the other shapes of its functions. A Figure becomes a PNG,
// an SVG or a PDF, for a notebook cell, a page or a file.
package figure

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// sans is the variant of the font in which everything is written, as pages are.
const sans font.Variant = "Sans"

// Figure is one or more plots side by side, in rows if they are many.
type Figure struct {
	// Alt says in words what the figure shows, for those who do not see it.
	Alt string

	panels []*panel
}

// Panels returns the figure's plots, from left to right, to change titles,
// and axes before it is drawn.
func (f *Figure) Panels() []*plot.Plot {
	var plots []*plot.Plot
	for _, p := range f.panels {
		plots = append(plots, p.Plot)
	}
	return plots
}

// newPlot returns an empty plot in the house style.
func newPlot(title, x, y string) *panel {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.TextStyle.Font.Size = font.Points(12)
	for _, style := range []*text.Style{
		&p.Title.TextStyle,
		&p.X.Label.TextStyle, &p.Y.Label.TextStyle, &p.X.Tick.Label, &p.Y.Tick.Label,
	} {
		style.Font.Variant = sans
	}
	p.Title.Padding = vg.Points(4)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font.Size = font.Points(11)
		a.Tick.Label.Font.Size = font.Points(10)
	}
	return &panel{Plot: p}
}

// Beside returns the panels of several figures as one figure, from left to right.
func Beside(figures ...*Figure) *Figure {
	f := new(Figure)
	for _, g := range figures {
		f.panels = append(f.panels, g.panels...)
	}
	return f
}
