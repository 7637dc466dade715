package figure

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"github.com/go-gota/gota/dataframe"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"presage/perf/frame"
)

// BoxesOptions says what Boxes draws.
type BoxesOptions struct {
	Values string // column of the values
	By     string // column whose values get a box each
	Panel  string // column whose values get a panel each; "" for one panel
	YLabel string // with unit; the column's name by default

	// Top ends the y axis; 0: the largest end of a whisker. What lies beyond is
	// not drawn, and how many rows that are is said in the panel's title.
	Top float64
}

// Boxes draws the distribution of a column as box plots: the median, a box from
// the lower to the upper quartile, and whiskers to the last values within 1.5
// times the box's height of it; values beyond are points.
func Boxes(df dataframe.DataFrame, opt BoxesOptions) (*Figure, error) {
	groups, err := grouped(df, opt.Values, opt.By, opt.Panel)
	if err != nil {
		return nil, err
	}
	fig := new(Figure)
	for i, panel := range groups.panels {
		p, err := boxesPanel(groups, panel, opt, i == 0)
		if err != nil {
			return nil, err
		}
		fig.panels = append(fig.panels, p)
	}
	return fig, nil
}

// groups are the values of a column by panel and label, in the order of rows.
type groups struct {
	panels, labels []string
	values         map[[2]string]plotter.Values // none where a panel does not have a label
}

func grouped(df dataframe.DataFrame, values, by, panel string) (*groups, error) {
	x, err := frame.Floats(df, values)
	if err != nil {
		return nil, err
	}
	label, err := textsOr(df, by, len(x))
	if err != nil {
		return nil, err
	}
	title, err := textsOr(df, panel, len(x))
	if err != nil {
		return nil, err
	}
	g := &groups{panels: distinct(title), labels: distinct(label), values: make(map[[2]string]plotter.Values)}
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("figure: row %d: %s is %g", i, values, v)
		}
		key := [2]string{title[i], label[i]}
		g.values[key] = append(g.values[key], v)
	}
	if len(g.panels) == 0 {
		return nil, fmt.Errorf("figure: the frame has no rows")
	}
	return g, nil
}

// textsOr returns a column, or empty texts if it has no name.
func textsOr(df dataframe.DataFrame, column string, rows int) ([]string, error) {
	if column == "" {
		return make([]string, rows), nil
	}
	return frame.Strings(df, column)
}

func boxesPanel(g *groups, panel string, opt BoxesOptions, first bool) (*plot.Plot, error) {
	y := ""
	if first {
		y = orDefault(opt.YLabel, opt.Values)
	}
	p := newPlot(panel, "", y)
	p.Add(plotter.NewGrid())
	beyond, top := 0, 0.0
	for i, label := range g.labels {
		values := g.values[[2]string{panel, label}]
		if len(values) == 0 {
			continue
		}
		box, err := plotter.NewBoxPlot(vg.Points(18), float64(i), values)
		if err != nil {
			return nil, fmt.Errorf("figure: %w", err)
		}
		box.FillColor, box.MedianStyle.Width = tint(paletteAt(i)), vg.Points(2)
		box.GlyphStyle = draw.GlyphStyle{Color: paletteAt(i), Radius: vg.Points(1.5), Shape: draw.RingGlyph{}}
		if opt.Top > 0 {
			box.Outside = slices.DeleteFunc(box.Outside, func(k int) bool { return values[k] > opt.Top })
			for _, v := range values {
				if v > opt.Top {
					beyond++
				}
			}
		}
		top = max(top, box.AdjHigh)
		p.Add(box)
	}
	if opt.Top > 0 {
		top = opt.Top
	}
	if beyond > 0 {
		p.Title.Text = fmt.Sprintf("%s (beyond the axis: %d)", panel, beyond)
	}
	p.NominalX(g.labels...)
	p.X.Tick.Label.Rotation, p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = 0.6, draw.XRight, draw.YCenter
	p.Y.Min, p.Y.Max, p.Y.Tick.Marker = 0, top, linearTicks{}
	if top == 0 {
		p.Y.Max = 1
	}
	return p, nil
}

// tint returns a lighter colour, on which a black line is seen.
func tint(c color.RGBA) color.RGBA {
	half := func(v uint8) uint8 { return v/2 + 0x7f }
	return color.RGBA{half(c.R), half(c.G), half(c.B), 0xff}
}

// ScatterOptions says what Scatter draws.
type ScatterOptions struct {
	X, Y           string // columns
	By             string // column whose values get a colour and shape each; "" for one
	Panel          string // column whose values get a panel each; "" for one panel
	XLabel, YLabel string // with units; the columns' names by default
}

// scatterPoints is how many points a panel draws at most, evenly chosen.
const scatterPoints = 4000

// Scatter draws one column against another on linear axes that begin at 0, with
// the line where they are equal and, in the panels' titles, their correlation.
func Scatter(df dataframe.DataFrame, opt ScatterOptions) (*Figure, error) {
	x, err := grouped(df, opt.X, opt.By, opt.Panel)
	if err != nil {
		return nil, err
	}
	y, err := grouped(df, opt.Y, opt.By, opt.Panel)
	if err != nil {
		return nil, err
	}
	fig := new(Figure)
	for i, panel := range x.panels {
		label := ""
		if i == 0 {
			label = orDefault(opt.YLabel, opt.Y)
		}
		p := newPlot("", orDefault(opt.XLabel, opt.X), label)
		p.Add(plotter.NewGrid())
		var allX, allY []float64
		for m, name := range x.labels {
			key := [2]string{panel, name}
			if len(x.values[key]) == 0 {
				continue
			}
			if err := scatterMarks(p, x.values[key], y.values[key], m, name, i == 0); err != nil {
				return nil, err
			}
			allX, allY = append(allX, x.values[key]...), append(allY, y.values[key]...)
		}
		top := max(slices.Max(allX), slices.Max(allY))
		equal, err := plotter.NewLine(plotter.XYs{{}, {X: top, Y: top}})
		if err != nil {
			return nil, fmt.Errorf("figure: %w", err)
		}
		p.Add(equal)
		p.Title.Text = fmt.Sprintf("%s: correlation %.3f", panel, stat.Correlation(allX, allY, nil))
		p.X.Min, p.Y.Min, p.X.Max, p.Y.Max = 0, 0, top, top
		p.X.Tick.Marker, p.Y.Tick.Marker = linearTicks{}, linearTicks{}
		p.Legend.Top, p.Legend.Left = true, true
		fig.panels = append(fig.panels, p)
	}
	return fig, nil
}

// scatterMarks draws the points of one label.
func scatterMarks(p *plot.Plot, x, y plotter.Values, number int, name string, legend bool) error {
	step := max(1, len(x)/scatterPoints)
	var at plotter.XYs
	for i := 0; i < len(x); i += step {
		at = append(at, plotter.XY{X: x[i], Y: y[i]})
	}
	marks, err := plotter.NewScatter(at)
	if err != nil {
		return fmt.Errorf("figure: %w", err)
	}
	marks.GlyphStyle = draw.GlyphStyle{Color: paletteAt(number), Radius: vg.Points(1.8), Shape: shapes[number%len(shapes)]}
	p.Add(marks)
	if name != "" && legend {
		p.Legend.Add(name, marks)
	}
	return nil
}
