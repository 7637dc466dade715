package figure

import (
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// BlockedMatrix describes a matrix stored in blocks, with its entries and the
// zeros filled in.
type BlockedMatrix struct {
	Rows, Cols   int
	BlockRows    int
	BlockColumns int
	Entries      [][2]int // row and column, from 0
	Labels       []string // of the entries; none if empty
}

// Blocked draws a BlockedMatrix.
func Blocked(m BlockedMatrix) (*Figure, error) {
	if m.Rows < 1 || m.Cols < 1 || m.BlockRows < 1 || m.BlockColumns < 1 || m.Rows*m.Cols > 10_000 {
		return nil, fmt.Errorf("figure: a matrix of %d×%d in blocks of %d×%d: want from 1×1 to 10000 places", m.Rows, m.Cols, m.BlockRows, m.BlockColumns)
	}
	if len(m.Labels) > 0 && len(m.Labels) != len(m.Entries) {
		return nil, fmt.Errorf("figure: %d labels for %d entries", len(m.Labels), len(m.Entries))
	}
	for _, e := range m.Entries {
		if e[0] < 0 || e[0] >= m.Rows || e[1] < 0 || e[1] >= m.Cols {
			return nil, fmt.Errorf("figure: entry (%d, %d) is outside %d×%d", e[0], e[1], m.Rows, m.Cols)
		}
	}
	p := newPlot(fmt.Sprintf("blocks of %d×%d", m.BlockRows, m.BlockColumns), "column", "row")
	p.Add(&blocked{m})
	p.Y.Scale = plot.InvertedScale{Normalizer: plot.LinearScale{}}
	p.X.LineStyle.Width, p.Y.LineStyle.Width = 0, 0
	for _, a := range []struct {
		axis *plot.Axis
		n    int
	}{{&p.X, m.Cols}, {&p.Y, m.Rows}} {
		var ticks plot.ConstantTicks
		for i := 0; i < a.n; i += max(1, a.n/12) {
			ticks = append(ticks, plot.Tick{Value: float64(i), Label: fmt.Sprint(i)})
		}
		a.axis.Tick.Marker = ticks
	}
	return &Figure{panels: []*panel{p}}, nil
}

type blocked struct{ m BlockedMatrix }

// DataRange implements plot.DataRanger.
func (b *blocked) DataRange() (xmin, xmax, ymin, ymax float64) {
	return -0.5, float64(b.m.Cols) - 0.5, -0.5, float64(b.m.Rows) - 0.5
}

// Plot implements plot.Plotter.
func (b *blocked) Plot(canvas draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&canvas)
	m := &b.m
	square := func(x0, y0, x1, y1 float64) []vg.Point {
		return []vg.Point{{X: tx(x0), Y: ty(y0)}, {X: tx(x1), Y: ty(y0)}, {X: tx(x1), Y: ty(y1)}, {X: tx(x0), Y: ty(y1)}}
	}
	var blocks [][2]int
	for _, e := range m.Entries {
		if at := [2]int{e[0] / m.BlockRows, e[1] / m.BlockColumns}; !slices.Contains(blocks, at) {
			blocks = append(blocks, at)
		}
	}
	corner := func(at [2]int) (x0, y0, x1, y1 float64) {
		r, c := at[0]*m.BlockRows, at[1]*m.BlockColumns
		return float64(c) - 0.5, float64(r) - 0.5, float64(min(c+m.BlockColumns, m.Cols)) - 0.5, float64(min(r+m.BlockRows, m.Rows)) - 0.5
	}
	for _, at := range blocks {
		canvas.FillPolygon(color.RGBA{0xe8, 0xe8, 0xe8, 0xff}, square(corner(at)))
	}
	style := p.X.Tick.Label
	style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
	for i, e := range m.Entries {
		x, y := float64(e[1]), float64(e[0])
		canvas.FillPolygon(paletteAt(5), square(x-0.46, y-0.46, x+0.46, y+0.46))
		if len(m.Labels) > 0 {
			canvas.FillText(style, vg.Point{X: tx(x), Y: ty(y)}, m.Labels[i])
		}
	}
	line := plotter.DefaultLineStyle
	line.Width, line.Color = vg.Points(1.5), color.Black
	for _, at := range blocks {
		s := square(corner(at))
		canvas.StrokeLines(line, append(s, s[0]))
	}
}

var (
	_ plot.Plotter    = (*blocked)(nil)
	_ plot.DataRanger = (*blocked)(nil)
)
