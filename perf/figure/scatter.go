package figure

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-gota/gota/dataframe"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// ScatterOptions says what Scatter draws.
type ScatterOptions struct {
	X, Y           string // columns
	By             string // column whose values get a colour and shape each; "" for one
	Panel          string // column whose values get a panel each; "" for one panel
	XLabel, YLabel string // with units; the columns' names by default
	Log            bool   // both axes are logarithmic; all values are above 0
}

// scatterPoints is the largest number of points drawn in a panel, evenly
// chosen.
const scatterPoints = 4000

// Scatter draws one column against another on linear axes from 0, or on logarithmic
// ones, with the line of equality and, in the panels' titles, their correlation: on
// logarithmic axes that of the logarithms.
func Scatter(df dataframe.DataFrame, opt ScatterOptions) (*Figure, error) {
	if opt.Log {
		for _, column := range []string{opt.X, opt.Y} {
			var err error
			if df, err = logged(df, column, math.Log10); err != nil {
				return nil, err
			}
		}
	}
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
		low, top := 0.0, max(slices.Max(allX), slices.Max(allY))
		if opt.Log {
			low = min(slices.Min(allX), slices.Min(allY))
			room := max(0.05*(top-low), 0.05) // for the marks at the ends
			low, top = low-room, top+room
		}
		equal, err := plotter.NewLine(plotter.XYs{{X: low, Y: low}, {X: top, Y: top}})
		if err != nil {
			return nil, fmt.Errorf("figure: %w", err)
		}
		p.Add(equal)
		p.Title.Text = fmt.Sprintf("correlation %.3f", stat.Correlation(allX, allY, nil))
		if panel != "" {
			p.Title.Text = panel + ": " + p.Title.Text
		}
		p.X.Min, p.Y.Min, p.X.Max, p.Y.Max = low, low, top, top
		p.X.Tick.Marker, p.Y.Tick.Marker = linearTicks{}, linearTicks{}
		if opt.Log {
			p.X.Tick.Marker, p.Y.Tick.Marker = oneTwoFive{}, oneTwoFive{}
			if top-low > 2 { // decades
				p.X.Tick.Marker, p.Y.Tick.Marker = tens{}, tens{}
			}
		}
		fig.panels = append(fig.panels, p)
	}
	return fig, nil
}

// scatterMarks draws the points of one label.
func scatterMarks(p *panel, x, y plotter.Values, number int, name string, legend bool) error {
	step := max(1, len(x)/scatterPoints)
	var at plotter.XYs
	for i := 0; i < len(x); i += step {
		at = append(at, plotter.XY{X: x[i], Y: y[i]})
	}
	marks, err := plotter.NewScatter(at)
	if err != nil {
		return fmt.Errorf("figure: %w", err)
	}
	marks.GlyphStyle = draw.GlyphStyle{Color: paletteAt(number), Radius: vg.Points(2.8), Shape: shapes[number%len(shapes)]}
	p.Add(marks)
	if name != "" && legend {
		p.Legend.Add(name, marks)
	}
	return nil
}

// tens ticks an axis of decimal logarithms at 1, 2 and 5 times the powers of ten and
// labels the powers.
type tens struct{}

// Ticks implements plot.Ticker.
func (tens) Ticks(lo, hi float64) []plot.Tick {
	ticks := oneTwoFive{}.Ticks(lo, hi)
	for i := range ticks {
		if power := ticks[i].Value; power != math.Floor(power) {
			ticks[i].Label = ""
		}
	}
	return ticks
}
