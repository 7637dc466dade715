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

// BlockDifferencesOptions say what BlockDifferences draws.
type BlockDifferencesOptions struct {
	Samples []Curve // columns of hit ratios
	Full    string  // column that they are held against; "": full_hit_ratio
	Panel   string  // column whose values get a panel each; "": program
	Top     float64 // end of the y axis, in percentage points; 0: 1, as in the paper
	YLabel  string  // "": difference in hit rate (points)
}

// BlockDifferences draws the errors of basic blocks' hit ratios, in percentage
// points, over their cumulative share of the accesses, starting with the block
// with the most: Figures 1 to 3 of "How SimPoint Can Improve MetaSim Tracer"
// (2005). A segment is as wide as its block's share, so the area below a line
// is the mean error; a line just above the axis is off the chart there. df is
// the table of phase.BlockHitRates, of one or several programs.
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

func blockPanel(df dataframe.DataFrame, title string, opt *BlockDifferencesOptions, first bool) (*panel, error) {
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
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, opt.Top*(1+0.02*float64(len(opt.Samples)+1))
	p.X.Tick.Marker, p.Y.Tick.Marker = linearTicks{}, upTo{opt.Top}
	return p, nil
}

// steps returns a line of segments as wide as shares, cut off at top, which is
// above the axis.
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
