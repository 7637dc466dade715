package figure

import (
	"fmt"
	"math"

	"github.com/go-gota/gota/dataframe"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"presage/perf/frame"
)

// BlockDifferencesOptions say what BlockDifferences draws.
type BlockDifferencesOptions struct {
	Samples []Curve // columns of hit ratios
	Full    string  // column that they are held against; "": full_hit_ratio
	Panel   string  // column whose values get a panel each; "": program
	Top     float64 // end of the y axis, in percentage points; 0: 1, as in the paper
	YLabel  string  // "": difference in hit rate (points)
}

// BlockDifferences draws how far off the hit ratios of basic blocks are, in
// percentage points, over their share of the accesses, added up from the block
// with the most: Figures 1 to 3 of "How SimPoint Can Improve MetaSim Tracer"
// (2005). A line's segment is as wide as its block's share, and the area below a
// line is the mean difference; a line just above the axis is off the chart there. df is the table of perf.BlockHitRates, of one or several programs.
func BlockDifferences(df dataframe.DataFrame, opt BlockDifferencesOptions) (*Figure, error) {
	if len(opt.Samples) == 0 {
		return nil, fmt.Errorf("figure: no samples asked for; the frame has columns %v", df.Names())
	}
	opt.Full, opt.Panel = orDefault(opt.Full, "full_hit_ratio"), orDefault(opt.Panel, "program")
	if opt.Top == 0 {
		opt.Top = 1
	}
	titles, err := frame.Strings(df, opt.Panel)
	if err != nil {
		return nil, err
	}
	fig := new(Figure)
	for _, title := range distinct(titles) {
		rows, err := frame.Where(df, opt.Panel, title)
		if err != nil {
			return nil, err
		}
		p, err := blockPanel(rows, title, &opt, len(fig.panels) == 0)
		if err != nil {
			return nil, err
		}
		fig.panels = append(fig.panels, p)
	}
	if len(fig.panels) == 0 {
		return nil, fmt.Errorf("figure: the frame has no rows")
	}
	return fig, nil
}

func blockPanel(df dataframe.DataFrame, title string, opt *BlockDifferencesOptions, first bool) (*plot.Plot, error) {
	y := ""
	if first {
		y = orDefault(opt.YLabel, "difference in hit rate (points)")
	}
	p := newPlot(title, "share of accesses, by frequency", y)
	p.Add(plotter.NewGrid())
	share, err := frame.Floats(df, "share")
	if err != nil {
		return nil, err
	}
	full, err := frame.Floats(df, opt.Full)
	if err != nil {
		return nil, err
	}
	for i, s := range opt.Samples {
		hit, err := frame.Floats(df, s.Column)
		if err != nil {
			return nil, err
		}
		line, err := plotter.NewLine(steps(share, hit, full, opt.Top*(1+0.02*float64(i+1))))
		if err != nil {
			return nil, fmt.Errorf("figure: column %s: %w", s.Column, err)
		}
		line.LineStyle = draw.LineStyle{Color: paletteAt(i), Width: vg.Points(1.6)}
		if s.Mark == Dashes {
			line.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
		}
		p.Add(line)
		if first {
			p.Legend.Add(orDefault(s.Label, s.Column), line)
		}
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, opt.Top*(1+0.09*float64(len(opt.Samples)))
	p.X.Tick.Marker, p.Y.Tick.Marker = linearTicks{}, upTo{opt.Top}
	p.Legend.Top, p.Legend.Left, p.Legend.XOffs = true, true, vg.Points(4)
	return p, nil
}

// steps returns a line of segments as wide as shares, no higher than top, which is
// beyond the axis.
func steps(share, hit, full []float64, top float64) plotter.XYs {
	var out plotter.XYs
	x := 0.0
	for i := range share {
		d := math.Min(100*math.Abs(hit[i]-full[i]), top)
		out = append(out, plotter.XY{X: x, Y: d}, plotter.XY{X: x + share[i], Y: d})
		x += share[i]
	}
	return out
}

// upTo ticks an axis up to a value below its end: above that is the legend.
type upTo struct{ top float64 }

// Ticks implements plot.Ticker.
func (u upTo) Ticks(lo, _ float64) []plot.Tick { return linearTicks{}.Ticks(lo, u.top) }

// ErrorsOptions say what Errors draws.
type ErrorsOptions struct {
	X, XLabel string  // column on the x axis, above 0
	Y, YLabel string  // column on the y axis: its absolute values
	Line      string  // column whose values get a line each
	Panel     string  // column whose values get a panel each; "" for one
	Least     float64 // beginning of the y axis, above 0
}

// Errors draws absolute errors over what they cost, on logarithmic axes. Errors
// below Least are drawn there.
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

func errorsPanel(df dataframe.DataFrame, title string, order []string, opt *ErrorsOptions, first bool) (*plot.Plot, error) {
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
	p.Legend.Top = true
	return p, nil
}
