package figure

import (
	"fmt"
	"math"

	"github.com/go-gota/gota/dataframe"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"presage/perf/frame"
)

// ErrorsOptions say what Errors draws.
type ErrorsOptions struct {
	X, XLabel string  // column on the x axis, above 0
	Y, YLabel string  // column on the y axis: its absolute values
	Line      string  // column whose values get a line each
	Panel     string  // column whose values get a panel each; "" for one
	Least     float64 // beginning of the y axis, above 0
}

// Errors draws absolute errors over their cost, on logarithmic axes. Errors
// below Least are drawn at Least.
func Errors(df dataframe.DataFrame, opt ErrorsOptions) (*Figure, error) {
	if !(opt.Least > 0) {
		return nil, fmt.Errorf("figure: errors from %g up: a logarithmic axis has to begin above 0", opt.Least)
	}
	panels := []string{""}
	if opt.Panel != "" {
		names, err := frame.Strings(df, opt.Panel)
		if err != nil {
			return nil, err
		}
		panels = distinct(names)
	}
	lines, err := frame.Strings(df, opt.Line)
	if err != nil {
		return nil, err
	}
	order := distinct(lines)
	fig := new(Figure)
	for _, panel := range panels {
		rows := df
		if opt.Panel != "" {
			if rows, err = frame.Where(df, opt.Panel, panel); err != nil {
				return nil, err
			}
		}
		p, err := errorsPanel(rows, panel, order, &opt, len(fig.panels) == 0)
		if err != nil {
			return nil, err
		}
		fig.panels = append(fig.panels, p)
	}
	return fig, nil
}

func errorsPanel(df dataframe.DataFrame, title string, order []string, opt *ErrorsOptions, first bool) (*panel, error) {
	y := ""
	if first {
		y = orDefault(opt.YLabel, opt.Y)
	}
	p := newPlot(title, orDefault(opt.XLabel, opt.X), y)
	p.Add(plotter.NewGrid())
	for i, name := range order {
		rows, err := frame.Where(df, opt.Line, name)
		if err != nil {
			return nil, err
		}
		xs, err := frame.Floats(rows, opt.X)
		if err != nil {
			return nil, err
		}
		ys, err := frame.Floats(rows, opt.Y)
		if err != nil {
			return nil, err
		}
		for k := range xs {
			xs[k], ys[k] = math.Log10(xs[k]), math.Log10(math.Max(math.Abs(ys[k]), opt.Least))
		}
		data := finite(xs, ys)
		if len(data) == 0 {
			continue
		}
		line, dots, err := plotter.NewLinePoints(data)
		if err != nil {
			return nil, fmt.Errorf("figure: %s: %w", name, err)
		}
		shape := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.TriangleGlyph{}}[i/len(palette)%3]
		line.LineStyle = draw.LineStyle{Color: paletteAt(i), Width: vg.Points(1.4)}
		dots.GlyphStyle = draw.GlyphStyle{Color: paletteAt(i), Radius: vg.Points(3), Shape: shape}
		p.Add(line, dots)
		if first {
			p.Legend.Add(name, line, dots)
		}
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = decades{}, decades{}
	return p, nil
}
