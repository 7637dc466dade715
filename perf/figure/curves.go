package figure

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"github.com/go-gota/gota/dataframe"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"presage/perf/frame"
)

// Mark is the style of a curve: lines for predictions, points for their
// reference.
type Mark int

// The marks.
const (
	Line Mark = iota
	Dashes
	Points
	Rings
)

// Curve is a column of a frame, drawn over the x column.
type Curve struct {
	Column string // missing values are left out
	Label  string // in the legend; the column's name by default
	Mark   Mark

	// Low and High, if not empty, are columns of bounds, between which an upright line
	// stands at each point of the curve that has both.
	Low, High string
}

// CurvesOptions says what Curves draws.
type CurvesOptions struct {
	X      string // column on the x axis, such as "n"
	Panel  string // column whose values get a panel each; "" for one panel
	Curves []Curve
	XLabel string // with unit; the column's name by default
	YLabel string

	// Training is the range of x to which the models were fitted, which is
	// shaded unless both ends are 0.
	Training [2]float64
}

// Curves draws columns of df over problem size, in the style of Figure 6 of
// Marin and Mellor-Crummey (2004): each panel has its own y axis from 0, and
// the training range is shaded.
func Curves(df dataframe.DataFrame, opt CurvesOptions) (*Figure, error) {
	if len(opt.Curves) == 0 {
		return nil, fmt.Errorf("figure: no curves asked for; the frame has columns %v", df.Names())
	}
	titles := []string{""}
	if opt.Panel != "" {
		column, err := frame.Strings(df, opt.Panel)
		if err != nil {
			return nil, err
		}
		titles = distinct(column)
	}
	fig := new(Figure)
	for i, title := range titles {
		rows := df
		if opt.Panel != "" {
			var err error
			if rows, err = frame.Where(df, opt.Panel, title); err != nil {
				return nil, err
			}
		}
		p, err := curvesPanel(rows, title, opt, i == 0)
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

func curvesPanel(df dataframe.DataFrame, title string, opt CurvesOptions, first bool) (*panel, error) {
	y := ""
	if first {
		y = opt.YLabel
	}
	p := newPlot(title, orDefault(opt.XLabel, opt.X), y)
	p.Add(plotter.NewGrid())
	x, err := frame.Floats(df, opt.X)
	if err != nil {
		return nil, err
	}
	data := make([]plotter.XYs, len(opt.Curves))
	top := 0.0
	for i, curve := range opt.Curves {
		values, err := frame.Floats(df, curve.Column)
		if err != nil {
			return nil, err
		}
		data[i] = finite(x, values)
		for _, xy := range data[i] {
			top = math.Max(top, xy.Y)
		}
		if top, err = reach(df, curve, top); err != nil {
			return nil, err
		}
	}
	if top == 0 {
		top = 1
	}
	top *= 1.05
	if opt.Training != [2]float64{} {
		shade(p, opt.Training, top)
	}
	for i, curve := range opt.Curves {
		if err := addBounds(p, df, x, curve, paletteAt(i)); err != nil {
			return nil, err
		}
		if err := addCurve(p, data[i], curve, paletteAt(i)); err != nil {
			return nil, err
		}
	}
	p.Y.Min, p.Y.Max = 0, top
	p.Y.Tick.Marker = linearTicks{}
	p.X.Tick.Marker = linearTicks{}
	if !first { // one legend, that of the first panel, serves all
		p.Legend = legend{}
	}
	return p, nil
}

func orDefault(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func addCurve(p *panel, data plotter.XYs, curve Curve, c color.RGBA) error {
	if len(data) == 0 {
		return nil
	}
	label := orDefault(curve.Label, curve.Column)
	if curve.Mark == Points || curve.Mark == Rings {
		s, err := plotter.NewScatter(data)
		if err != nil {
			return fmt.Errorf("figure: column %s: %w", curve.Column, err)
		}
		s.GlyphStyle = draw.GlyphStyle{Color: c, Radius: vg.Points(4), Shape: draw.CircleGlyph{}}
		if curve.Mark == Rings { // larger, to be seen around a point
			s.GlyphStyle.Radius, s.GlyphStyle.Shape = vg.Points(6), draw.RingGlyph{}
		}
		p.Add(s)
		p.Legend.Add(label, s)
		return nil
	}
	l, err := plotter.NewLine(data)
	if err != nil {
		return fmt.Errorf("figure: column %s: %w", curve.Column, err)
	}
	l.LineStyle = draw.LineStyle{Color: c, Width: vg.Points(2)}
	if curve.Mark == Dashes {
		l.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
	}
	p.Add(l)
	p.Legend.Add(label, l)
	return nil
}

// reach returns the greatest of top and the upper bounds of a curve.
func reach(df dataframe.DataFrame, curve Curve, top float64) (float64, error) {
	if curve.High == "" {
		return top, nil
	}
	high, err := frame.Floats(df, curve.High)
	for _, v := range high {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			top = math.Max(top, v)
		}
	}
	return top, err
}

// addBounds adds the bounds of a curve, behind it.
func addBounds(p *panel, df dataframe.DataFrame, x []float64, curve Curve, c color.RGBA) error {
	if curve.Low == "" && curve.High == "" {
		return nil
	}
	low, err := frame.Floats(df, curve.Low)
	if err != nil {
		return err
	}
	high, err := frame.Floats(df, curve.High)
	if err != nil {
		return err
	}
	of, err := frame.Floats(df, curve.Column)
	if err != nil {
		return err
	}
	for i := range x {
		bar := finite([]float64{x[i], x[i]}, []float64{low[i], high[i]})
		if len(bar) < 2 || math.IsNaN(of[i]) {
			continue
		}
		l, err := plotter.NewLine(bar)
		if err != nil {
			return fmt.Errorf("figure: columns %s and %s: %w", curve.Low, curve.High, err)
		}
		l.LineStyle = draw.LineStyle{Color: c, Width: vg.Points(1.5)}
		p.Add(l)
	}
	return nil
}

// shade marks the training range, from the x axis to top, behind the curves.
func shade(p *panel, training [2]float64, top float64) {
	lo, hi := training[0], training[1]
	band, err := plotter.NewPolygon(plotter.XYs{{X: lo}, {X: hi}, {X: hi, Y: top}, {X: lo, Y: top}})
	if err != nil {
		panic(err) // four finite points
	}
	band.Color = color.Gray{0xe4}
	band.LineStyle = draw.LineStyle{Color: color.Gray{0xa0}, Width: vg.Points(0.5)}
	p.Add(band)
	p.Legend.Add("training range", band)
}

// finite pairs x and y, sorted by x, without pairs that cannot be drawn.
func finite(x, y []float64) plotter.XYs {
	var out plotter.XYs
	for i := range x {
		if !math.IsNaN(x[i]+y[i]) && !math.IsInf(x[i]+y[i], 0) {
			out = append(out, plotter.XY{X: x[i], Y: y[i]})
		}
	}
	slices.SortStableFunc(out, func(a, b plotter.XY) int { return cmp.Compare(a.X, b.X) })
	return out
}

// distinct returns the different values, in order of first appearance.
func distinct(values []string) []string {
	var out []string
	for _, v := range values {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}
