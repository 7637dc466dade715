package figure

import (
	"fmt"
	"image/color"
	"math"

	"github.com/go-gota/gota/dataframe"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"presage/perf/frame"
)

// AgreementOptions says what Agreement draws.
type AgreementOptions struct {
	Reference string // column on the x axis, such as "sim_misses"
	Predicted string // column on the y axis, such as "pred_misses"
	By        string // column whose values get a colour and shape each; "" for one
	Panel     string // column whose values get a panel each; "" for one panel

	XLabel, YLabel string  // with units; the columns' names by default
	Band           float64 // relative error whose range is shaded, such as 0.1; 0 for none
}

// Agreement draws predictions against their reference, both on logarithmic
// axes, with the line of equality. All panels have the same range. Rows with a
// value that is not positive are not drawn; the panel's title counts them.
func Agreement(df dataframe.DataFrame, opt AgreementOptions) (*Figure, error) {
	all, err := pairs(df, opt)
	if err != nil {
		return nil, err
	}
	if len(all.at) == 0 {
		return nil, fmt.Errorf("figure: no row has a positive %s and %s", opt.Reference, opt.Predicted)
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, p := range all.at {
		lo, hi = min(lo, p.X, p.Y), max(hi, p.X, p.Y)
	}
	lo, hi = math.Floor(lo), math.Ceil(hi)
	if lo == hi {
		hi++
	}
	marks := distinct(all.mark)
	fig := new(Figure)
	for i, title := range distinct(all.panel) {
		p, err := agreementPanel(all, title, marks, opt, lo, hi, i == 0)
		if err != nil {
			return nil, err
		}
		fig.panels = append(fig.panels, p)
	}
	return fig, nil
}

// agreement holds the points of all panels, as decimal logarithms, and the
// number of rows of each panel without one.
type agreement struct {
	at          plotter.XYs
	mark, panel []string
	left        map[string]int
}

func pairs(df dataframe.DataFrame, opt AgreementOptions) (*agreement, error) {
	x, err := frame.Floats(df, opt.Reference)
	if err != nil {
		return nil, err
	}
	y, err := frame.Floats(df, opt.Predicted)
	if err != nil {
		return nil, err
	}
	texts := func(column string) ([]string, error) {
		if column == "" {
			return make([]string, len(x)), nil
		}
		return frame.Strings(df, column)
	}
	mark, err := texts(opt.By)
	if err != nil {
		return nil, err
	}
	panel, err := texts(opt.Panel)
	if err != nil {
		return nil, err
	}
	a := &agreement{left: make(map[string]int)}
	for i := range x {
		if !(x[i] > 0 && y[i] > 0) || math.IsInf(x[i]+y[i], 0) {
			a.left[panel[i]]++
			continue
		}
		a.at = append(a.at, plotter.XY{X: math.Log10(x[i]), Y: math.Log10(y[i])})
		a.mark, a.panel = append(a.mark, mark[i]), append(a.panel, panel[i])
	}
	return a, nil
}

// shapes distinguish marks in addition to colours.
var shapes = []draw.GlyphDrawer{
	draw.CircleGlyph{},
	draw.PyramidGlyph{},
	draw.BoxGlyph{},
	draw.RingGlyph{},
	draw.TriangleGlyph{},
	draw.SquareGlyph{},
	draw.CrossGlyph{},
	draw.PlusGlyph{}, // one more than colours, so that both together repeat late
}

func agreementPanel(all *agreement, title string, marks []string, opt AgreementOptions, lo, hi float64, first bool) (*panel, error) {
	y := ""
	if first {
		y = orDefault(opt.YLabel, opt.Predicted)
	}
	text := title
	if n := all.left[title]; n > 0 {
		text = fmt.Sprintf("%s (not drawn, not positive: %d)", title, n)
	}
	p := newPlot(text, orDefault(opt.XLabel, opt.Reference), y)
	if opt.Band > 0 {
		addBand(p, opt.Band, lo, hi, first)
	}
	p.Add(plotter.NewGrid())
	equal, err := plotter.NewLine(plotter.XYs{{X: lo, Y: lo}, {X: hi, Y: hi}})
	if err != nil {
		return nil, fmt.Errorf("figure: %w", err)
	}
	equal.LineStyle = draw.LineStyle{Color: color.Gray{0x60}, Width: vg.Points(1)}
	p.Add(equal)
	for m, name := range marks {
		var points plotter.XYs
		for i := range all.at {
			if all.panel[i] == title && all.mark[i] == name {
				points = append(points, all.at[i])
			}
		}
		style := draw.GlyphStyle{Color: paletteAt(m), Radius: vg.Points(3.5), Shape: shapes[m%len(shapes)]}
		if first && name != "" {
			p.Legend.Add(name, &plotter.Scatter{GlyphStyle: style})
		}
		if len(points) == 0 {
			continue
		}
		s, err := plotter.NewScatter(points)
		if err != nil {
			return nil, fmt.Errorf("figure: %w", err)
		}
		s.GlyphStyle = style
		p.Add(s)
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = lo, hi, lo, hi
	p.X.Tick.Marker, p.Y.Tick.Marker = decades{}, decades{}
	return p, nil
}

// addBand shades the range within a relative error of the reference.
func addBand(p *panel, relative, lo, hi float64, legend bool) {
	up := math.Log10(1 + relative)
	down := math.Log10(max(1-relative, 1e-3))
	band, err := plotter.NewPolygon(plotter.XYs{{X: lo, Y: lo + down}, {X: hi, Y: hi + down}, {X: hi, Y: hi + up}, {X: lo, Y: lo + up}})
	if err != nil {
		panic(err) // four finite points
	}
	band.Color, band.LineStyle.Width = color.Gray{0xe4}, 0
	p.Add(band)
	if legend {
		p.Legend.Add(fmt.Sprintf("within %g%%", 100*relative), band)
	}
}
