package figure

import (
	"fmt"
	"image"
	"image/color"
	"slices"

	"github.com/go-gota/gota/dataframe"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"presage/perf/frame"
)

// executed returns the label of an axis of instructions that ends at end, and the unit
// in which it counts them.
func executed(end float64) (label string, unit float64) {
	for _, u := range []struct {
		name string
		unit float64
	}{{"billions", 1e9}, {"millions", 1e6}, {"thousands", 1e3}} {
		if end >= u.unit {
			return "instructions executed (" + u.name + ")", u.unit
		}
	}
	return "instructions executed", 1
}

// Similarity draws the similarity of a run's intervals, from the table of
// perf.Phases.Similarity: a square for each pair, dark if they execute the same
// code, light if they have none in common. Phases are dark squares along the
// diagonal, recurrences dark squares away from it.
func Similarity(df dataframe.DataFrame, title string) (*Figure, error) {
	var columns [3][]float64
	for i, name := range []string{"x_instructions", "y_instructions", "difference"} {
		var err error
		if columns[i], err = frame.Floats(df, name); err != nil {
			return nil, err
		}
	}
	at := slices.Clone(columns[0])
	slices.Sort(at)
	at = slices.Compact(at)
	if len(at) < 2 {
		return nil, fmt.Errorf("figure: similarity of %d intervals: want two at least", len(at))
	}
	img := image.NewRGBA(image.Rect(0, 0, len(at), len(at)))
	for i, d := range columns[2] {
		x, okX := slices.BinarySearch(at, columns[0][i])
		y, okY := slices.BinarySearch(at, columns[1][i])
		if !okX || !okY {
			return nil, fmt.Errorf("figure: similarity: an interval at instruction %g is only among the y", columns[1][i])
		}
		img.Set(x, len(at)-1-y, heightColor(d, 1))
	}
	end := at[len(at)-1] + at[1] - at[0]
	label, unit := executed(end)
	end /= unit
	p := newPlot(title, label, label)
	p.Add(&pixels{img, end}, colorScale{end})
	labels, err := plotter.NewLabels(plotter.XYLabels{
		XYs:    []plotter.XY{{X: 0, Y: 1.12 * end}, {X: end, Y: 1.12 * end}},
		Labels: []string{"0: the same mix of code", "1: none of the same"},
	})
	if err != nil {
		return nil, fmt.Errorf("figure: %w", err)
	}
	labels.TextStyle[1].XAlign = text.XRight
	for i := range labels.TextStyle {
		labels.TextStyle[i].Font.Variant, labels.TextStyle[i].Font.Size = sans, font.Points(10)
	}
	p.Add(labels)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, end, 0, 1.2*end
	p.X.Tick.Marker, p.Y.Tick.Marker = linearTicks{}, upTo{end}
	return &Figure{panels: []*panel{p}}, nil
}

// pixels draws an image over a square of data coordinates from 0, each pixel as
// a rectangle, so that none is smoothed away.
type pixels struct {
	img *image.RGBA
	end float64
}

// Plot implements plot.Plotter.
func (g *pixels) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	n := g.img.Rect.Dx()
	at := func(i int) float64 { return g.end * float64(i) / float64(n) }
	for row := range n {
		for from := 0; from < n; {
			to := from + 1
			for to < n && g.img.RGBAAt(to, row) == g.img.RGBAAt(from, row) {
				to++
			}
			fill(&c, g.img.RGBAAt(from, row), x(at(from)), x(at(to)), y(at(n-row-1)), y(at(n-row)))
			from = to
		}
	}
}

// fill fills a rectangle, and slightly beyond its right and lower sides, so
// that anti-aliased edges of neighbours leave no seam. Neighbours to the right
// and below are drawn later.
func fill(c *draw.Canvas, with color.RGBA, left, right, bottom, top vg.Length) {
	const seam = vg.Length(0.4)
	right, bottom = right+seam, bottom-seam
	c.FillPolygon(with, []vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}})
}

// colorScale draws a bar with the colours of differences from 0 to 1, above a
// square of data coordinates.
type colorScale struct{ end float64 }

// Plot implements plot.Plotter.
func (s colorScale) Plot(c draw.Canvas, p *plot.Plot) {
	const steps = 64
	x, y := p.Transforms(&c)
	bottom, top := y(1.04*s.end), y(1.1*s.end)
	for i := range steps {
		fill(&c, heightColor((float64(i)+0.5)/steps, 1), x(s.end*float64(i)/steps), x(s.end*float64(i+1)/steps), bottom, top)
	}
}
