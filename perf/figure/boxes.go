package figure

import (
	"fmt"
	"slices"

	"github.com/go-gota/gota/dataframe"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// BoxesOptions says what Boxes draws: panels for the values of one column, or
// for several columns.
type BoxesOptions struct {
	Values string // column of the values
	Panel  string // column whose values get a panel each; "" for one panel

	// Columns, if given, replaces Values and Panel: a panel for each, titled with
	// its label. Marks are ignored.
	Columns []Curve

	By             string // column whose values get a box each
	XLabel, YLabel string // with unit; YLabel is the values' column by default

	// Top ends the y axis; 0: the longest whisker. Values beyond it are not drawn,
	// and the panel's title counts them.
	Top  float64
	Goal float64 // value drawn as a horizontal line; 0 for none
}

// Boxes draws the distribution of a column as box plots: the median, a box from
// the lower to the upper quartile, and whiskers to the last values within 1.5
// times the box's height of it; values beyond are points.
func Boxes(df dataframe.DataFrame, opt BoxesOptions) (*Figure, error) {
	fig := new(Figure)
	add := func(g *groups, panel, title, y string) error {
		p, err := boxesPanel(g, panel, title, opt)
		if err != nil {
			return err
		}
		if len(fig.panels) == 0 {
			p.Y.Label.Text = orDefault(opt.YLabel, y)
		}
		fig.panels = append(fig.panels, p)
		return nil
	}
	if len(opt.Columns) == 0 {
		g, err := grouped(df, opt.Values, opt.By, opt.Panel)
		if err != nil {
			return nil, err
		}
		for _, panel := range g.panels {
			if err := add(g, panel, panel, opt.Values); err != nil {
				return nil, err
			}
		}
	}
	for _, c := range opt.Columns {
		g, err := grouped(df, c.Column, opt.By, "")
		if err != nil {
			return nil, err
		}
		if err := add(g, "", orDefault(c.Label, c.Column), "value"); err != nil {
			return nil, err
		}
	}
	return fig, nil
}

func boxesPanel(g *groups, panel, title string, opt BoxesOptions) (*panel, error) {
	p := newPlot(title, opt.XLabel, "")
	p.Add(plotter.NewGrid())
	beyond, top := 0, 0.0
	for i, label := range g.labels {
		values := g.values[[2]string{panel, label}]
		if len(values) == 0 {
			continue
		}
		box, err := newBox(values, i, opt.Top)
		if err != nil {
			return nil, err
		}
		for _, v := range values {
			if opt.Top > 0 && v > opt.Top {
				beyond++
			}
		}
		top = max(top, box.AdjHigh)
		p.Add(box)
	}
	if opt.Top > 0 {
		top = opt.Top
	}
	if beyond > 0 {
		p.Title.Text = fmt.Sprintf("%s (beyond the axis: %d)", title, beyond)
	}
	if opt.Goal != 0 {
		if err := addLevel(p.Plot, opt.Goal, len(g.labels)); err != nil {
			return nil, err
		}
	}
	p.NominalX(g.labels...)
	slantLabels(&p.X)
	p.Y.Min, p.Y.Max, p.Y.Tick.Marker = 0, top, linearTicks{}
	if top == 0 {
		p.Y.Max = 1
	}
	return p, nil
}

// newBox returns the box plot of values at place i, without points above top
// unless that is 0.
func newBox(values plotter.Values, i int, top float64) (*plotter.BoxPlot, error) {
	box, err := plotter.NewBoxPlot(vg.Points(18), float64(i), values)
	if err != nil {
		return nil, fmt.Errorf("figure: %w", err)
	}
	box.FillColor, box.MedianStyle.Width = tint(paletteAt(i)), vg.Points(2)
	box.GlyphStyle = draw.GlyphStyle{Color: paletteAt(i), Radius: vg.Points(1.5), Shape: draw.RingGlyph{}}
	if top > 0 {
		box.Outside = slices.DeleteFunc(box.Outside, func(k int) bool { return values[k] > top })
	}
	return box, nil
}

// addLevel draws a horizontal line across n places of a nominal axis.
func addLevel(p *plot.Plot, y float64, n int) error {
	line, err := plotter.NewLine(plotter.XYs{{X: -0.5, Y: y}, {X: float64(n) - 0.5, Y: y}})
	if err != nil {
		return fmt.Errorf("figure: %w", err)
	}
	line.Color, line.Width = paletteAt(1), vg.Points(1)
	p.Add(line)
	return nil
}
