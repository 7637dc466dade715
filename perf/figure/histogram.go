package figure

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"github.com/go-gota/gota/dataframe"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"presage/perf/frame"
)

// Cut is a cache size drawn across a histogram.
type Cut struct {
	Label  string
	Blocks float64
}

// HistogramOptions says what Histogram draws.
type HistogramOptions struct {
	Title string
	// By is the column whose values get a curve each, such as "n"; it enters
	// the legend as "n = 20". Empty for one curve.
	By   string
	Cuts []Cut
}

// Histogram draws a reuse-distance histogram in the style of Figure 5 of Marin
// and Mellor-Crummey (2004): accesses sorted by distance along the x axis, as a
// share of all that are not cold; their distance on a logarithmic y axis; cuts
// at cache sizes, whose crossing with a curve is the hit ratio. df has the
// columns lo_blocks, hi_blocks and accesses, a row a bin. Distances are drawn
// plus one, since a logarithmic axis has no 0. The panel's Y axis holds decimal
// logarithms: plot.LogScale would reserve room for the axis label as if the
// axis were linear, a fifth of the figure here.
func Histogram(df dataframe.DataFrame, opt HistogramOptions) (*Figure, error) {
	p := newPlot(opt.Title, "share of non-cold accesses, by increasing distance", "reuse distance + 1 (blocks)")
	p.Add(plotter.NewGrid())
	values := []string{""}
	if opt.By != "" {
		column, err := frame.Strings(df, opt.By)
		if err != nil {
			return nil, err
		}
		values = distinct(column)
	}
	top := 1.0 // decimal logarithms, like all ordinates here
	for i, v := range values {
		rows := df
		if opt.By != "" {
			var err error
			if rows, err = frame.Where(df, opt.By, v); err != nil {
				return nil, err
			}
		}
		steps, err := cumulative(rows)
		if err != nil {
			return nil, err
		}
		if len(steps) == 0 {
			continue
		}
		l, err := plotter.NewLine(steps)
		if err != nil {
			return nil, fmt.Errorf("figure: %w", err)
		}
		l.LineStyle = draw.LineStyle{Color: paletteAt(i), Width: vg.Points(2)}
		p.Add(l)
		if opt.By != "" {
			p.Legend.Add(opt.By+" = "+v, l)
		}
		top = math.Max(top, steps[len(steps)-1].Y)
	}
	if err := addCuts(p, opt.Cuts); err != nil {
		return nil, err
	}
	for _, cut := range opt.Cuts {
		top = math.Max(top, math.Log10(cut.Blocks))
	}
	p.X.Min, p.X.Max = 0, 1
	// Room for the legend: a line of it takes about 6% of a figure 3.5 inches high.
	p.Y.Min, p.Y.Max = 0, (top+0.3)/max(0.5, 1-0.06*float64(len(values)))
	p.Y.Tick.Marker = decades{}
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.XOffs = vg.Points(4)
	return &Figure{panels: []*plot.Plot{p}}, nil
}

// cumulative returns the corners of the stair of log10(distance+1) over share.
func cumulative(df dataframe.DataFrame) (plotter.XYs, error) {
	type bin struct{ mid, accesses float64 }
	lo, err := frame.Floats(df, "lo_blocks")
	if err != nil {
		return nil, err
	}
	hi, err := frame.Floats(df, "hi_blocks")
	if err != nil {
		return nil, err
	}
	accesses, err := frame.Floats(df, "accesses")
	if err != nil {
		return nil, err
	}
	bins, total := make([]bin, len(lo)), 0.0
	for i := range bins {
		bins[i] = bin{(lo[i] + hi[i] - 1) / 2, accesses[i]}
		total += accesses[i]
	}
	slices.SortStableFunc(bins, func(a, b bin) int { return cmp.Compare(a.mid, b.mid) })
	var steps plotter.XYs
	done := 0.0
	for _, b := range bins {
		if b.accesses == 0 {
			continue
		}
		steps = append(steps, plotter.XY{X: done / total, Y: math.Log10(b.mid + 1)})
		done += b.accesses
		steps = append(steps, plotter.XY{X: done / total, Y: math.Log10(b.mid + 1)})
	}
	return steps, nil
}

func addCuts(p *plot.Plot, cuts []Cut) error {
	for _, cut := range cuts {
		if !(cut.Blocks > 0) || math.IsInf(cut.Blocks, 0) {
			return fmt.Errorf("figure: cut %q at %g blocks has no place on a logarithmic axis", cut.Label, cut.Blocks)
		}
		y := math.Log10(cut.Blocks)
		l, err := plotter.NewLine(plotter.XYs{{X: 0, Y: y}, {X: 1, Y: y}})
		if err != nil {
			return fmt.Errorf("figure: cut %q: %w", cut.Label, err)
		}
		l.LineStyle = draw.LineStyle{
			Color: color.Gray{0x40}, Width: vg.Points(1.2), Dashes: []vg.Length{vg.Points(2), vg.Points(2)},
		}
		p.Add(l)
		labels, err := plotter.NewLabels(plotter.XYLabels{
			XYs:    plotter.XYs{{X: 0.005, Y: y}},
			Labels: []string{cut.Label},
		})
		if err != nil {
			return fmt.Errorf("figure: cut %q: %w", cut.Label, err)
		}
		labels.Offset.Y = vg.Points(2)
		labels.TextStyle[0].Font.Size = 10
		p.Add(labels)
	}
	return nil
}
