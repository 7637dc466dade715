package figure

import (
	"fmt"
	"image/color"
	"math"

	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"
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

// HistogramAxis is the axis of distances in Histogram.
type HistogramAxis int

// The axes: logarithmic, of distance + 1; linear; or a panel of each, linear
// first, as in Figure 5 of the 2004 paper.
const (
	LogAxis HistogramAxis = iota
	LinearAxis
	BothAxes
)

// HistogramOptions says what Histogram draws.
type HistogramOptions struct {
	Title string
	// By is the column with a curve for each of its values. Numbers, such as
	// those of "n", appear in the legend as "n = 20", and text, such as
	// "collected" and "predicted", as it is; then curves after the first are
	// dashed, so that equal ones remain visible. Empty for one curve.
	By   string
	Axis HistogramAxis
	Cuts []Cut
}

// Histogram draws a reuse-distance histogram in the style of Figure 5 of Marin
// and Mellor-Crummey (2004) and Figure 5(e) and (f) of their paper of 2005:
// accesses sorted by distance along the x axis, as a share of all that are not
// cold; their distance along the y axis; cuts at cache sizes, whose crossing
// with a curve is the hit ratio. df has the columns lo_blocks, hi_blocks and
// accesses, a row for each bin. A logarithmic axis has no 0, so it shows
// distances plus one. The panel's Y axis then holds decimal logarithms:
// plot.LogScale would reserve room for the axis label as if the axis were
// linear, a fifth of the figure here.
func Histogram(df dataframe.DataFrame, opt HistogramOptions) (*Figure, error) {
	var axes []distanceAxis
	switch opt.Axis {
	case LogAxis:
		axes = []distanceAxis{{log: true}}
	case LinearAxis:
		axes = []distanceAxis{{log: false}}
	case BothAxes:
		axes = []distanceAxis{{log: false}, {log: true}}
	default:
		return nil, fmt.Errorf("figure: no histogram axis %d", opt.Axis)
	}
	curves, err := histogramCurves(df, opt.By)
	if err != nil {
		return nil, err
	}
	fig := new(Figure)
	for i, axis := range axes {
		p, err := histogramPanel(curves, axis, opt, i == 0)
		if err != nil {
			return nil, err
		}
		fig.panels = append(fig.panels, p)
	}
	return fig, nil
}

// histogramCurve is one of the histograms in a panel.
type histogramCurve struct {
	label string // in the legend; none if empty
	bins  []bin
	style draw.LineStyle
}

// histogramCurves groups the rows by the values of a column.
func histogramCurves(df dataframe.DataFrame, by string) ([]histogramCurve, error) {
	if by == "" {
		bins, err := binsOf(df)
		if err != nil {
			return nil, err
		}
		return []histogramCurve{{bins: bins, style: draw.LineStyle{Color: paletteAt(0), Width: vg.Points(2)}}}, nil
	}
	column, err := frame.Strings(df, by)
	if err != nil {
		return nil, err
	}
	isText := df.Col(by).Type() == series.String
	var curves []histogramCurve
	for i, v := range distinct(column) {
		rows, err := frame.Where(df, by, v)
		if err != nil {
			return nil, err
		}
		bins, err := binsOf(rows)
		if err != nil {
			return nil, fmt.Errorf("%w (where %s is %s)", err, by, v)
		}
		c := histogramCurve{by + " = " + v, bins, draw.LineStyle{Color: paletteAt(i), Width: vg.Points(2)}}
		if isText {
			c.label = v
			if i > 0 {
				c.style.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
			}
		}
		curves = append(curves, c)
	}
	return curves, nil
}

func histogramPanel(curves []histogramCurve, axis distanceAxis, opt HistogramOptions, first bool) (*panel, error) {
	p := newPlot(opt.Title, "share of non-cold accesses, by increasing distance", axis.label())
	p.Add(plotter.NewGrid())
	top := 1.0 // in the axis's unit: a decade, or a block
	for _, curve := range curves {
		corners := cornersOf(stairOf(curve.bins, axis))
		if len(corners) == 0 {
			continue
		}
		l, err := plotter.NewLine(corners)
		if err != nil {
			return nil, fmt.Errorf("figure: %w", err)
		}
		l.LineStyle = curve.style
		p.Add(l)
		if curve.label != "" && first { // one legend, in the first panel, serves all
			p.Legend.Add(curve.label, l)
		}
		top = math.Max(top, corners[len(corners)-1].Y)
	}
	cuts, err := newCutLines(opt.Cuts, axis)
	if err != nil {
		return nil, err
	}
	p.Add(cuts)
	for _, y := range cuts.at {
		top = math.Max(top, y)
	}
	p.X.Min, p.X.Max = 0, 1
	p.Y.Tick.Marker = linearTicks{}
	if axis.log {
		top += 0.3
		p.Y.Tick.Marker = decades{}
	} else {
		top *= 1.06
	}
	p.Y.Min, p.Y.Max = 0, top
	return p, nil
}

// cornersOf returns the corners of a stair, two for each step.
func cornersOf(stair []step) plotter.XYs {
	var corners plotter.XYs
	from := 0.0
	for _, s := range stair {
		corners = append(corners, plotter.XY{X: from, Y: s.height}, plotter.XY{X: s.share, Y: s.height})
		from = s.share
	}
	return corners
}

// cutLines draws cuts across a histogram, each with its label above it, at the
// left where there is room.
type cutLines struct {
	cuts []Cut
	at   []float64
}

func newCutLines(cuts []Cut, axis distanceAxis) (*cutLines, error) {
	l := &cutLines{cuts: cuts}
	for _, cut := range cuts {
		if !(cut.Blocks > 0) || math.IsInf(cut.Blocks, 0) {
			return nil, fmt.Errorf("figure: cut %q at %g blocks has no place on a distance axis", cut.Label, cut.Blocks)
		}
		l.at = append(l.at, axis.cut(cut.Blocks))
	}
	return l, nil
}

// Plot implements plot.Plotter.
func (l *cutLines) Plot(c draw.Canvas, p *plot.Plot) {
	_, place := p.Transforms(&c)
	line := draw.LineStyle{
		Color: color.Gray{0x40}, Width: vg.Points(1.2), Dashes: []vg.Length{vg.Points(2), vg.Points(2)},
	}
	style := textStyle(10, color.Black)
	var taken []vg.Rectangle
	for i, cut := range l.cuts {
		y := place(l.at[i])
		c.StrokeLine2(line, c.Min.X, y, c.Max.X, y)
		at := vg.Point{X: c.Min.X + vg.Points(2), Y: y + vg.Points(2)}
		box := style.Rectangle(cut.Label)
		for k := 0; k < len(taken); k++ { // right of every label in the way
			if t := taken[k]; at.Y+box.Max.Y > t.Min.Y && at.Y+box.Min.Y < t.Max.Y && at.X < t.Max.X+vg.Points(8) && at.X+box.Max.X > t.Min.X {
				at.X, k = t.Max.X+vg.Points(8), -1
			}
		}
		c.FillText(style, at, cut.Label)
		taken = append(taken, vg.Rectangle{Min: at.Add(box.Min), Max: at.Add(box.Max)})
	}
}
