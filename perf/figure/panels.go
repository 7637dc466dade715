// Package figure draws tables as plots: curves over problem size,
// reuse-distance histograms with cuts at cache sizes, distributions, grids and
// the other shapes of its functions. A Figure becomes a PNG for a notebook cell
// or a file.
package figure

import (
	"bytes"
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Figure is one or more plots side by side.
type Figure struct {
	panels []*plot.Plot
}

// Panels returns the figure's plots, from left to right, to change titles,
// axes or legends before it is drawn.
func (f *Figure) Panels() []*plot.Plot { return f.panels }

// resolution of PNG files in dots per inch: text stays readable when a notebook
// scales a wide figure down to its column.
const resolution = 144

// maxPixels bounds a PNG, so that a wrong unit does not exhaust memory.
const maxPixels = 64 << 20

// PNG draws the figure at a width and height in inches.
func (f *Figure) PNG(width, height float64) ([]byte, error) {
	if !(width > 0 && height > 0) || width*height*resolution*resolution > maxPixels {
		return nil, fmt.Errorf("figure: size %g x %g inches: both must be positive and the area at most %d square inches",
			width, height, maxPixels/(resolution*resolution))
	}
	c := vgimg.NewWith(vgimg.UseWH(vg.Length(width)*vg.Inch, vg.Length(height)*vg.Inch), vgimg.UseDPI(resolution))
	tiles := draw.Tiles{
		Rows: 1, Cols: len(f.panels),
		PadX: vg.Millimeter * 6, PadTop: vg.Millimeter * 2, PadBottom: vg.Millimeter * 2,
		PadLeft: vg.Millimeter * 2, PadRight: vg.Millimeter * 4,
	}
	canvases := plot.Align([][]*plot.Plot{f.panels}, tiles, draw.New(c))
	for i, p := range f.panels {
		p.Draw(canvases[0][i])
	}
	var b bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: c}).WriteTo(&b); err != nil {
		return nil, fmt.Errorf("figure: %w", err)
	}
	return b.Bytes(), nil
}

// newPlot returns an empty plot in the house style.
func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.TextStyle.Font.Size = font.Points(12)
	p.Title.Padding = vg.Points(4)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font.Size = font.Points(11)
		a.Tick.Label.Font.Size = font.Points(10)
	}
	p.Legend.TextStyle.Font.Size = font.Points(10)
	p.Legend.Padding = vg.Points(2)
	return p
}

// Beside returns the panels of several figures as one figure, from left to right.
func Beside(figures ...*Figure) *Figure {
	f := new(Figure)
	for _, g := range figures {
		f.panels = append(f.panels, g.panels...)
	}
	return f
}
