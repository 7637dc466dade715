package figure

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-gota/gota/dataframe"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"presage/perf/frame"
)

// MatrixOptions says what Matrix draws.
type MatrixOptions struct {
	X, Y   string // columns of names
	Values string // column of the values, not negative
	Names  []string
	Title  string

	// Lines are drawn after so many names, along both axes.
	Lines []int
}

// Matrix draws values of pairs of names as squares, the darker the larger; pairs
// that have no row are left white. Names are in the order of opt.Names on both
// axes.
func Matrix(df dataframe.DataFrame, opt MatrixOptions) (*Figure, error) {
	x, err := frame.Strings(df, opt.X)
	if err != nil {
		return nil, err
	}
	y, err := frame.Strings(df, opt.Y)
	if err != nil {
		return nil, err
	}
	values, err := frame.Floats(df, opt.Values)
	if err != nil {
		return nil, err
	}
	n := len(opt.Names)
	if n == 0 {
		return nil, fmt.Errorf("figure: a matrix without names")
	}
	g := matrix{n: n, z: slices.Repeat([]float64{math.NaN()}, n*n)}
	top := 0.0
	for i, v := range values {
		c, r := slices.Index(opt.Names, x[i]), slices.Index(opt.Names, y[i])
		if c < 0 || r < 0 {
			return nil, fmt.Errorf("figure: row %d is of %s and %s, which are not both among the names", i, x[i], y[i])
		}
		g.z[r*n+c] = v
		top = max(top, v)
	}
	p := newPlot(fmt.Sprintf("%s (darkest: %g)", opt.Title, top), "", "")
	heat := plotter.NewHeatMap(g, shades{})
	heat.Min, heat.Max = 0, max(top, 1e-300)
	p.Add(heat)
	for _, after := range opt.Lines {
		at := float64(after) - 0.5
		for _, ends := range []plotter.XYs{{{X: at, Y: -0.5}, {X: at, Y: float64(n) - 0.5}}, {{X: -0.5, Y: at}, {X: float64(n) - 0.5, Y: at}}} {
			line, err := plotter.NewLine(ends)
			if err != nil {
				return nil, fmt.Errorf("figure: %w", err)
			}
			p.Add(line)
		}
	}
	p.NominalX(opt.Names...)
	p.NominalY(opt.Names...)
	p.X.Tick.Label.Rotation, p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = math.Pi/2, draw.XRight, draw.YCenter
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -0.5, float64(n)-0.5, -0.5, float64(n)-0.5
	return &Figure{panels: []*plot.Plot{p}}, nil
}

// matrix is a plotter.GridXYZ.
type matrix struct {
	n int
	z []float64
}

func (m matrix) Dims() (c, r int)   { return m.n, m.n }
func (m matrix) X(c int) float64    { return float64(c) }
func (m matrix) Y(r int) float64    { return float64(r) }
func (m matrix) Z(c, r int) float64 { return m.z[r*m.n+c] }
