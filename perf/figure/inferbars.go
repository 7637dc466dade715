package figure

import (
	"fmt"
	"slices"

	"github.com/go-gota/gota/dataframe"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"presage/perf/frame"
)

// DistributionOptions says what Distribution draws.
type DistributionOptions struct {
	Values string // column of the values
	Panel  string // column whose values get a panel each; "" for one panel
	Bins   int    // of equal width; 0: 30
	XLabel string // with unit; "" for the panel's title, which is then left out
	YLabel string // "rows" by default

	// Common gives all panels the x axis of all values together.
	Common bool
}

// Distribution draws how often values of a column occur, as bars.
func Distribution(df dataframe.DataFrame, opt DistributionOptions) (*Figure, error) {
	g, err := grouped(df, opt.Values, "", opt.Panel)
	if err != nil {
		return nil, err
	}
	if opt.Bins == 0 {
		opt.Bins = 30
	}
	var all []float64
	for _, panel := range g.panels {
		all = append(all, g.values[[2]string{panel, ""}]...)
	}
	fig := new(Figure)
	for i, panel := range g.panels {
		x, y, title := opt.XLabel, "", panel
		if x == "" {
			x, title = panel, ""
		}
		if i == 0 {
			y = orDefault(opt.YLabel, "rows")
		}
		p := newPlot(title, x, y)
		values := g.values[[2]string{panel, ""}]
		reach := values
		if opt.Common {
			reach = all
		}
		lo, hi := slices.Min(reach), slices.Max(reach)
		if lo == hi {
			hi++
		}
		bins := binned(values, lo, hi, opt.Bins)
		h := &plotter.Histogram{Bins: bins, Width: (hi - lo) / float64(opt.Bins), FillColor: paletteAt(i), LineStyle: plotter.DefaultLineStyle}
		h.LineStyle.Width = vg.Points(0.4)
		p.Add(h)
		p.X.Min, p.X.Max, p.Y.Min = lo, hi, 0
		p.X.Tick.Marker, p.Y.Tick.Marker = linearTicks{}, linearTicks{}
		fig.panels = append(fig.panels, p)
	}
	return fig, nil
}

// binned counts values in bins of equal width from lo to hi; hi is in the last.
func binned(values []float64, lo, hi float64, n int) []plotter.HistogramBin {
	bins := make([]plotter.HistogramBin, n)
	width := (hi - lo) / float64(n)
	for i := range bins {
		bins[i].Min, bins[i].Max = lo+float64(i)*width, lo+float64(i+1)*width
	}
	for _, v := range values {
		bins[max(0, min(n-1, int((v-lo)/width)))].Weight++
	}
	return bins
}

// BarsOptions says what Bars draws.
type BarsOptions struct {
	Values string // column of the heights
	Names  string // column of the places on the x axis
	By     string // column whose values get a bar each at every place; "" for one
	YLabel string // with unit; the column's name by default
	Title  string
}

// Bars draws a bar for each row, those of one place side by side.
func Bars(df dataframe.DataFrame, opt BarsOptions) (*Figure, error) {
	values, err := frame.Floats(df, opt.Values)
	if err != nil {
		return nil, err
	}
	names, err := frame.Strings(df, opt.Names)
	if err != nil {
		return nil, err
	}
	by, err := textsOr(df, opt.By, len(values))
	if err != nil {
		return nil, err
	}
	places, kinds := distinct(names), distinct(by)
	if len(places) == 0 {
		return nil, fmt.Errorf("figure: the frame has no rows")
	}
	p := newPlot(opt.Title, "", orDefault(opt.YLabel, opt.Values))
	p.Add(plotter.NewGrid())
	width := vg.Points(30 / float64(len(kinds)))
	for k, kind := range kinds {
		heights := make(plotter.Values, len(places))
		for i, v := range values {
			if by[i] == kind {
				heights[slices.Index(places, names[i])] = v
			}
		}
		bars, err := plotter.NewBarChart(heights, width)
		if err != nil {
			return nil, fmt.Errorf("figure: %w", err)
		}
		bars.Color, bars.LineStyle.Width = paletteAt(k), 0
		bars.Offset = width * vg.Length(float64(k)-float64(len(kinds)-1)/2)
		p.Add(bars)
		if kind != "" {
			p.Legend.Add(kind, bars)
		}
	}
	p.NominalX(places...)
	p.Y.Tick.Marker = linearTicks{}
	p.X.Tick.Label.Rotation, p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = 0.6, draw.XRight, draw.YCenter
	p.Legend.Top = true
	return &Figure{panels: []*plot.Plot{p}}, nil
}
