package figure

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"github.com/go-gota/gota/dataframe"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"presage/perf/frame"
)

// GridOptions says what Grid draws.
type GridOptions struct {
	X, Y string // columns of the cells' places: whole numbers, or names

	// Names, if given, lists the values of the columns X and Y in the order of
	// both axes.
	Names []string

	Panels         []string // columns of numbers, a panel each: the colours
	Titles         []string // of the panels; the columns' names by default
	Text           []string // columns of numbers written into the cells, by panel; none if empty
	XLabel, YLabel string
	Scale          string // what the colours mean, with the unit, for the legend; none if empty
	Decimals       int    // of the numbers in the cells
	YDown          bool   // rows are numbered from the top, as a matrix's are
	Lines          []int  // lines along both axes after this many places

	// FromZero colours cells from nearly white for 0 to dark for the largest
	// value, instead of from dark for the least to light for the largest.
	// Values must not be negative.
	FromZero bool
}

func (opt *GridOptions) check(cells int) error {
	if len(opt.Panels) == 0 || cells == 0 {
		return fmt.Errorf("figure: a grid of %d panels with %d cells: there is nothing to draw", len(opt.Panels), cells)
	}
	if len(opt.Titles) > 0 && len(opt.Titles) != len(opt.Panels) || len(opt.Text) > 0 && len(opt.Text) != len(opt.Panels) {
		return fmt.Errorf("figure: %d titles and %d texts for %d panels", len(opt.Titles), len(opt.Text), len(opt.Panels))
	}
	return nil
}

// Grid draws tables of numbers as coloured cells: a topology, or a matrix.
// Places without a row stay white. All panels share one scale of colours, from
// the least number in any of them, or 0, to the largest.
func Grid(df dataframe.DataFrame, opt GridOptions) (*Figure, error) {
	x, err := places(df, opt.X, opt.Names)
	if err != nil {
		return nil, err
	}
	y, err := places(df, opt.Y, opt.Names)
	if err != nil {
		return nil, err
	}
	if err := opt.check(len(x)); err != nil {
		return nil, err
	}
	scale := colourScale{lo: math.Inf(1), hi: math.Inf(-1), fromZero: opt.FromZero}
	var values [][]float64
	for _, name := range opt.Panels {
		v, err := frame.Floats(df, name)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
		scale.lo, scale.hi = min(scale.lo, slices.Min(v)), max(scale.hi, slices.Max(v))
	}
	f := new(Figure)
	for i, v := range values {
		cells := &cells{x: x, y: y, value: v, scale: scale, decimals: opt.Decimals}
		if len(opt.Text) > 0 {
			if cells.text, err = frame.Floats(df, opt.Text[i]); err != nil {
				return nil, err
			}
		}
		title := opt.Panels[i]
		if len(opt.Titles) > 0 {
			title = opt.Titles[i]
		}
		p, err := gridPanel(cells, title, &opt)
		if err != nil {
			return nil, err
		}
		f.panels = append(f.panels, p)
	}
	return f, nil
}

// places returns a column of numbers, or the indices in names of a column of
// text.
func places(df dataframe.DataFrame, column string, names []string) ([]float64, error) {
	if len(names) == 0 {
		return frame.Floats(df, column)
	}
	texts, err := frame.Strings(df, column)
	if err != nil {
		return nil, err
	}
	at := make([]float64, len(texts))
	for i, text := range texts {
		k := slices.Index(names, text)
		if k < 0 {
			return nil, fmt.Errorf("figure: row %d: %s is %s, which is not among the names of the grid", i, column, text)
		}
		at[i] = float64(k)
	}
	return at, nil
}

func gridPanel(cells *cells, title string, opt *GridOptions) (*panel, error) {
	p := newPlot(title, opt.XLabel, opt.YLabel)
	p.Add(cells)
	p.X.Tick.Marker, p.Y.Tick.Marker = cellTicks(cells.x), cellTicks(cells.y)
	p.X.LineStyle.Width, p.Y.LineStyle.Width = 0, 0
	if n := len(opt.Names); n > 0 {
		p.NominalX(opt.Names...)
		p.NominalY(opt.Names...)
		p.X.Tick.Label.Rotation, p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = math.Pi/2, draw.XRight, draw.YCenter
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -0.5, float64(n)-0.5, -0.5, float64(n)-0.5
	}
	for _, after := range opt.Lines {
		if err := addCross(p.Plot, float64(after)-0.5); err != nil {
			return nil, err
		}
	}
	if opt.YDown {
		p.Y.Scale = plot.InvertedScale{Normalizer: plot.LinearScale{}}
	}
	if opt.Scale != "" {
		cells.scale.explain(&p.Legend, opt.Scale)
	}
	return p, nil
}

// addCross draws a horizontal and a vertical line through (at, at), across the
// panel.
func addCross(p *plot.Plot, at float64) error {
	for _, ends := range []plotter.XYs{{{X: at, Y: p.Y.Min}, {X: at, Y: p.Y.Max}}, {{X: p.X.Min, Y: at}, {X: p.X.Max, Y: at}}} {
		line, err := plotter.NewLine(ends)
		if err != nil {
			return fmt.Errorf("figure: %w", err)
		}
		p.Add(line)
	}
	return nil
}

// colourScale maps values to colours.
type colourScale struct {
	lo, hi   float64
	fromZero bool // light for 0, dark for hi
}

// explained is the number of colours of a scale that its legend shows.
const explained = 5

// explain adds colours of the scale, from its least to its greatest value, to a legend.
func (s colourScale) explain(l *legend, unit string) {
	lo := s.lo
	if s.fromZero {
		lo = 0
	}
	for i := range explained {
		v := lo + (s.hi-lo)*float64(i)/(explained-1)
		c, _ := s.of(v)
		text := threeDigits(v)
		if i == explained-1 {
			text += " " + unit
		}
		l.Add(text, filled{c})
	}
}

// filled is the thumbnail of a cell's colour.
type filled struct{ color color.RGBA }

// Thumbnail implements plot.Thumbnailer.
func (f filled) Thumbnail(c *draw.Canvas) {
	c.FillPolygon(f.color, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
}

// of returns the colour of a value and whether dark text is legible on it.
func (s colourScale) of(v float64) (c color.RGBA, light bool) {
	if s.fromZero {
		share := 0.0
		if s.hi > 0 {
			share = v / s.hi
		}
		return shadeOf(share), share < 0.5
	}
	height := 0.5
	if s.hi > s.lo {
		height = (v - s.lo) / (s.hi - s.lo)
	}
	return heightColor(height, 1), height > 0.55
}

// cellTicks labels the place of each cell.
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
	scale             colourScale
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
		fill, light := c.scale.of(c.value[i])
		x0, x1, y0, y1 := tx(c.x[i]-0.5), tx(c.x[i]+0.5), ty(c.y[i]-0.5), ty(c.y[i]+0.5)
		canvas.FillPolygon(fill, []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}})
		if c.text == nil {
			continue
		}
		style.Color = color.White
		if light {
			style.Color = color.Black
		}
		canvas.FillText(style, vg.Point{X: tx(c.x[i]), Y: ty(c.y[i])}, strconv.FormatFloat(c.text[i], 'f', c.decimals, 64))
	}
}
