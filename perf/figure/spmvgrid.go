package figure

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"github.com/go-gota/gota/dataframe"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"presage/perf/frame"
)

// GridOptions say what a grid of cells shows.
type GridOptions struct {
	X, Y           string   // columns of whole numbers: the cells' places
	Panels         []string // columns of numbers, a panel each: the colours
	Titles         []string // of the panels; default the columns' names
	Text           []string // columns of numbers written into the cells, by panel; none if empty
	XLabel, YLabel string
	Scale          string // what the colours mean, with the unit; written under the title
	Decimals       int    // of the numbers in the cells
	YDown          bool   // rows are numbered from the top, as a matrix's are
}

// Grid draws tables of numbers as coloured cells: a topology. All panels share one
// scale of colours, from the least number in any to the largest.
func Grid(df dataframe.DataFrame, opt GridOptions) (*Figure, error) {
	x, err := frame.Floats(df, opt.X)
	if err != nil {
		return nil, err
	}
	y, err := frame.Floats(df, opt.Y)
	if err != nil {
		return nil, err
	}
	if len(opt.Panels) == 0 || len(x) == 0 {
		return nil, fmt.Errorf("figure: a grid of %d panels with %d cells: there is nothing to draw", len(opt.Panels), len(x))
	}
	if len(opt.Titles) > 0 && len(opt.Titles) != len(opt.Panels) || len(opt.Text) > 0 && len(opt.Text) != len(opt.Panels) {
		return nil, fmt.Errorf("figure: %d titles and %d texts for %d panels", len(opt.Titles), len(opt.Text), len(opt.Panels))
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	var values [][]float64
	for _, name := range opt.Panels {
		v, err := frame.Floats(df, name)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
		lo, hi = min(lo, slices.Min(v)), max(hi, slices.Max(v))
	}
	f := new(Figure)
	for i, v := range values {
		title := opt.Panels[i]
		if len(opt.Titles) > 0 {
			title = opt.Titles[i]
		}
		p := newPlot(title, opt.XLabel, opt.YLabel)
		cells := &cells{x: x, y: y, value: v, lo: lo, hi: hi, decimals: opt.Decimals}
		if len(opt.Text) > 0 {
			if cells.text, err = frame.Floats(df, opt.Text[i]); err != nil {
				return nil, err
			}
		}
		p.Add(cells)
		p.X.Tick.Marker, p.Y.Tick.Marker = cellTicks(x), cellTicks(y)
		p.X.LineStyle.Width, p.Y.LineStyle.Width = 0, 0
		if opt.YDown {
			p.Y.Scale = plot.InvertedScale{Normalizer: plot.LinearScale{}}
		}
		if opt.Scale != "" {
			p.Title.Text += "\n" + fmt.Sprintf("dark %.3g to light %.3g %s", lo, hi, opt.Scale)
		}
		f.panels = append(f.panels, p)
	}
	return f, nil
}

// cellTicks labels each place that a cell is at.
func cellTicks(at []float64) plot.ConstantTicks {
	places := slices.Compact(slices.Sorted(slices.Values(at)))
	var ticks plot.ConstantTicks
	for _, v := range places {
		ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', -1, 64)})
	}
	return ticks
}

// cells is a plotter of unit squares around places.
type cells struct {
	x, y, value, text []float64
	lo, hi            float64
	decimals          int
}

var (
	_ plot.Plotter    = (*cells)(nil)
	_ plot.DataRanger = (*cells)(nil)
)

// DataRange implements plot.DataRanger.
func (c *cells) DataRange() (xmin, xmax, ymin, ymax float64) {
	return slices.Min(c.x) - 0.5, slices.Max(c.x) + 0.5, slices.Min(c.y) - 0.5, slices.Max(c.y) + 0.5
}

// Plot implements plot.Plotter.
func (c *cells) Plot(canvas draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&canvas)
	style := p.X.Tick.Label
	style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
	for i := range c.x {
		height := 0.5
		if c.hi > c.lo {
			height = (c.value[i] - c.lo) / (c.hi - c.lo)
		}
		x0, x1, y0, y1 := tx(c.x[i]-0.5), tx(c.x[i]+0.5), ty(c.y[i]-0.5), ty(c.y[i]+0.5)
		canvas.FillPolygon(heightColor(height, 1), []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}})
		if c.text == nil {
			continue
		}
		style.Color = color.White
		if height > 0.55 { // light cells
			style.Color = color.Black
		}
		canvas.FillText(style, vg.Point{X: tx(c.x[i]), Y: ty(c.y[i])}, strconv.FormatFloat(c.text[i], 'f', c.decimals, 64))
	}
}
