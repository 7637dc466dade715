package calibration

import (
	"fmt"
	"image/color"
	"math"
	"presage/perf/figure"
	"presage/perf/frame"
	"presage/perf/internal/num"
	"presage/perf/machine"

	"github.com/go-gota/gota/dataframe"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// LatencyFigure draws load latency against the working set, as measured, with
// the capacities that the system says (dashed) and those that the curve shows
// (solid, at the largest working set that fits).
func (c *Calibration) LatencyFigure() (*figure.Figure, error) {
	type row struct {
		Bytes    float64 `frame:"bytes"` // binary logarithm
		Ordinary float64 `frame:"ordinary"`
		Huge     float64 `frame:"huge"`
	}
	least := make(map[uint64]*row)
	for _, l := range c.Profile.Latencies {
		r := least[l.Bytes]
		if r == nil {
			r = &row{math.Log2(float64(l.Bytes)), math.NaN(), math.NaN()}
			least[l.Bytes] = r
		}
		v := &r.Ordinary
		if l.Huge {
			v = &r.Huge
		}
		if y := math.Log10(c.Profile.Cycles(l.Load.Min)); !(*v <= y) { // NaN: none yet
			*v = y
		}
	}
	var rows []row
	for _, bytes := range num.Keys(least) {
		rows = append(rows, *least[bytes])
	}
	curves := []figure.Curve{{Column: "ordinary", Label: "pages of " + machine.Bytes(c.Profile.PageBytes).String()}}
	if c.Profile.HugePages {
		curves = append(curves, figure.Curve{Column: "huge", Label: "huge pages"})
	}
	fig, err := logFigure(frame.Of(rows), "bytes", "working set", curves, sizeTicks{})
	if err != nil {
		return nil, err
	}
	p := fig.Panels()[0]
	p.Title.Text = fmt.Sprintf("Load latency, measured: %s, %.2f GHz", c.Profile.Processor, c.Profile.GHz())
	for _, l := range c.Profile.Levels {
		if l.Geometry.Capacity > 0 {
			upright(p, math.Log2(float64(l.Geometry.Capacity)), l.Name+" as the system says", true)
		}
		if l.DetectedLo > 0 {
			upright(p, math.Log2(float64(l.DetectedLo)), l.Name+" as the curve shows", false)
		}
	}
	return fig, nil
}

// TranslationFigure draws what loads take that are one a page, and as many side
// by side, against the number of pages, with the reach of the TLBs that shows.
func (c *Calibration) TranslationFigure() (*figure.Figure, error) {
	type row struct {
		Pages  float64 `frame:"pages"` // binary logarithm
		Sparse float64 `frame:"sparse"`
		Dense  float64 `frame:"dense"`
	}
	least := make(map[int]*row)
	for _, q := range c.Profile.Pages {
		r := least[q.Pages]
		if r == nil {
			r = &row{math.Log2(float64(q.Pages)), math.Inf(1), math.Inf(1)}
			least[q.Pages] = r
		}
		r.Sparse = min(r.Sparse, math.Log10(c.Profile.Cycles(q.Sparse.Min)))
		r.Dense = min(r.Dense, math.Log10(c.Profile.Cycles(q.Dense.Min)))
	}
	var rows []row
	for _, pages := range num.Keys(least) {
		rows = append(rows, *least[pages])
	}
	fig, err := logFigure(frame.Of(rows), "pages", "pages of "+machine.Bytes(c.Profile.PageBytes).String(), []figure.Curve{
		{Column: "sparse", Label: "one line a page"}, {Column: "dense", Label: "as many lines side by side"},
	}, countTicks{})
	if err != nil {
		return nil, err
	}
	p := fig.Panels()[0]
	p.Title.Text = "TLB reach, measured: " + c.Profile.Processor
	for i, r := range c.Profile.TLBs {
		upright(p, math.Log2(float64(r.Lo)), c.Machine.TLBs[i].Name, false)
	}
	return fig, nil
}

// logFigure draws columns that hold decimal logarithms of cycles over one that
// holds binary logarithms.
func logFigure(df dataframe.DataFrame, x, label string, curves []figure.Curve, ticks plot.Ticker) (*figure.Figure, error) {
	fig, err := figure.Curves(df, figure.CurvesOptions{X: x, XLabel: label, YLabel: "load latency (cycles)", Curves: curves})
	if err != nil {
		return nil, err
	}
	p := fig.Panels()[0]
	p.Y.Max *= 0.9 // logarithms need less room for the legend
	p.X.Tick.Marker, p.Y.Tick.Marker = ticks, cycleTicks{}
	return fig, nil
}

// upright draws a vertical line at x, with words beside it.
func upright(p *plot.Plot, x float64, word string, dashed bool) {
	line, err := plotter.NewLine(plotter.XYs{{X: x, Y: p.Y.Min}, {X: x, Y: p.Y.Max}})
	if err != nil {
		panic(err) // two finite points
	}
	line.Color = color.Gray{0x70}
	if dashed {
		line.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
	}
	p.Add(line)
	text, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: x, Y: p.Y.Min}}, Labels: []string{" " + word}})
	if err != nil {
		panic(err) // one point, one label
	}
	text.TextStyle[0].Rotation = math.Pi / 2
	text.TextStyle[0].Font.Size = vg.Points(9)
	text.Offset = vg.Point{X: vg.Points(11), Y: vg.Points(6)}
	if dashed { // above the other word, which may stand at the same place
		text.Offset.Y = vg.Points(130)
	}
	p.Add(text)
}

// sizeTicks ticks an axis of binary logarithms of bytes at every other doubling.
type sizeTicks struct{}

// Ticks implements plot.Ticker.
func (sizeTicks) Ticks(lo, hi float64) []plot.Tick {
	return doublings(lo, hi, func(n uint64) string { return machine.Bytes(n).String() })
}

// countTicks is sizeTicks for plain numbers.
type countTicks struct{}

// Ticks implements plot.Ticker.
func (countTicks) Ticks(lo, hi float64) []plot.Tick {
	return doublings(lo, hi, func(n uint64) string { return fmt.Sprint(n) })
}

func doublings(lo, hi float64, label func(uint64) string) []plot.Tick {
	var ticks []plot.Tick
	for e := math.Ceil(lo); e <= hi; e++ {
		t := plot.Tick{Value: e}
		if math.Mod(e, 3) == 0 {
			t.Label = label(1 << uint64(e))
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// cycleTicks ticks an axis of decimal logarithms at 1, 2 and 5 times the powers
// of ten.
type cycleTicks struct{}

// Ticks implements plot.Ticker.
func (cycleTicks) Ticks(lo, hi float64) []plot.Tick {
	var ticks []plot.Tick
	for power := math.Floor(lo); power <= hi; power++ {
		for _, digit := range []float64{1, 2, 5} {
			if v := math.Log10(digit) + power; v >= lo && v <= hi {
				ticks = append(ticks, plot.Tick{Value: v, Label: fmt.Sprintf("%g", digit*math.Pow(10, power))})
			}
		}
	}
	return ticks
}
