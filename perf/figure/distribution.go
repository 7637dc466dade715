package figure

import (
	"slices"

	"github.com/go-gota/gota/dataframe"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// DistributionOptions says what Distribution draws.
type DistributionOptions struct {
	Values string // column of the values
	Panel  string // column whose values get a panel each; "" for one panel
	Bins   int    // of equal width; 0: 30
	XLabel string // with unit; "" for the panel's title, which is then left out
	YLabel string // "rows" by default

	// Common gives all panels one x axis, over all values.
	Common bool
}

// Distribution draws the histogram of a column's values.
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
