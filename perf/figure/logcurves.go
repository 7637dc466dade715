package figure

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"github.com/go-gota/gota/dataframe"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"presage/perf/frame"
)

// LogCurvesOptions say how LogCurves draws.
type LogCurvesOptions struct {
	Title          string
	X              string // column of the horizontal axis, values above 0
	XLabel, YLabel string
	Curves         []Curve  // columns of values above 0; NaN: not drawn
	TickLabel      Labeller // of powers of two on the horizontal axis; nil: the number
	Lines          []Upright
}

// Labeller names a number at a tick.
type Labeller func(uint64) string

// Upright is a vertical line with a label beside it.
type Upright struct {
	X      float64 // above 0
	Label  string
	Dashed bool // and labelled higher up, clear of a solid one at the same place
}

// LogCurves draws columns against another, both axes logarithmic: ticks at powers
// of two across, at 1, 2 and 5 times powers of ten up.
func LogCurves(df dataframe.DataFrame, opt LogCurvesOptions) (*Figure, error) {
	logs, err := logged(df, opt.X, math.Log2)
	if err != nil {
		return nil, err
	}
	for _, c := range opt.Curves {
		if logs, err = logged(logs, c.Column, math.Log10); err != nil {
			return nil, err
		}
	}
	fig, err := Curves(logs, CurvesOptions{X: opt.X, XLabel: opt.XLabel, YLabel: opt.YLabel, Curves: opt.Curves})
	if err != nil {
		return nil, err
	}
	p := fig.Panels()[0]
	p.Title.Text = opt.Title
	label := opt.TickLabel
	if label == nil {
		label = func(n uint64) string { return fmt.Sprint(n) }
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = doublings{label}, oneTwoFive{}
	if err := fitLogs(p, logs, opt.Curves); err != nil {
		return nil, err
	}
	for _, l := range opt.Lines {
		if err := addUpright(p, l); err != nil {
			return nil, err
		}
	}
	return fig, nil
}

// fitLogs lets the vertical axis, of decimal logarithms, begin and end at 1, 2 or 5
// times a power of ten around the columns. Curves would begin it at 0, which is the
// number 1 here, and hide what is smaller.
func fitLogs(p *plot.Plot, logs dataframe.DataFrame, curves []Curve) error {
	least, most := math.Inf(1), math.Inf(-1)
	for _, c := range curves {
		values, err := frame.Floats(logs, c.Column)
		if err != nil {
			return fmt.Errorf("figure: %w", err)
		}
		for _, v := range values {
			if !math.IsNaN(v) {
				least, most = min(least, v), max(most, v)
			}
		}
	}
	if math.IsInf(least, 0) {
		return nil
	}
	// One decade further on either side holds the ends.
	ticks := oneTwoFive{}.Ticks(math.Floor(least)-1, math.Ceil(most)+1)
	for _, t := range ticks {
		if t.Value < least-1e-9 || t.Value <= least+1e-9 && least < most {
			p.Y.Min = t.Value
		}
	}
	for _, t := range slices.Backward(ticks) {
		if t.Value > most+1e-9 || t.Value >= most-1e-9 && least < most {
			p.Y.Max = t.Value
		}
	}
	return nil
}

// logged returns df with the logarithms of a column in its place.
func logged(df dataframe.DataFrame, column string, log func(float64) float64) (dataframe.DataFrame, error) {
	values, err := frame.Floats(df, column)
	if err != nil {
		return dataframe.DataFrame{}, fmt.Errorf("figure: %w", err)
	}
	logs := make([]float64, len(values))
	for i, v := range values {
		if v <= 0 {
			return dataframe.DataFrame{}, fmt.Errorf("figure: %s is %g in row %d: a logarithmic axis takes values above 0", column, v, i+1)
		}
		logs[i] = log(v)
	}
	return frame.WithFloats(df, column, logs), nil
}

func addUpright(p *plot.Plot, l Upright) error {
	if !(l.X > 0) {
		return fmt.Errorf("figure: a line at %g: a logarithmic axis takes values above 0", l.X)
	}
	x := math.Log2(l.X)
	line, err := plotter.NewLine(plotter.XYs{{X: x, Y: p.Y.Min}, {X: x, Y: p.Y.Max}})
	if err != nil {
		return fmt.Errorf("figure: %w", err)
	}
	line.Color = color.Gray{0x70}
	text, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: x, Y: p.Y.Min}}, Labels: []string{" " + l.Label}})
	if err != nil {
		return fmt.Errorf("figure: %w", err)
	}
	text.TextStyle[0].Rotation = math.Pi / 2
	text.TextStyle[0].Font.Variant, text.TextStyle[0].Font.Size = sans, vg.Points(smallestText)
	text.Offset = vg.Point{X: vg.Points(11), Y: vg.Points(6)}
	if l.Dashed {
		line.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
		text.Offset.Y = vg.Points(130)
	}
	p.Add(line, text)
	return nil
}

// doublings ticks an axis of binary logarithms at powers of two and labels every
// third of them, or all if these are six at most.
type doublings struct{ label Labeller }

// Ticks implements plot.Ticker.
func (d doublings) Ticks(lo, hi float64) []plot.Tick {
	var ticks []plot.Tick
	for e := math.Ceil(lo); e <= hi; e++ {
		t := plot.Tick{Value: e}
		if few := math.Floor(hi)-math.Ceil(lo) < 6; few || math.Mod(e, 3) == 0 {
			t.Label = "1/" + fmt.Sprint(1<<uint64(max(0, -e)))
			if e >= 0 {
				t.Label = d.label(1 << uint64(e))
			}
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// oneTwoFive ticks an axis of decimal logarithms at 1, 2 and 5 times the powers
// of ten.
type oneTwoFive struct{}

// Ticks implements plot.Ticker.
func (oneTwoFive) Ticks(lo, hi float64) []plot.Tick {
	var ticks []plot.Tick
	for power := math.Floor(lo); power <= hi; power++ {
		for _, digit := range []float64{1, 2, 5} {
			if v := math.Log10(digit) + power; v >= lo && v <= hi {
				ticks = append(ticks, plot.Tick{Value: v, Label: amount(digit * math.Pow(10, power))})
			}
		}
	}
	return ticks
}
