// Package figure draws tables as plots: panels of curves over problem size, and
// reuse-distance histograms with cuts at cache sizes. A Figure becomes a PNG
// for a notebook cell or a file.
package figure

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"strconv"

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

// maxPixels bounds a PNG, so that a slip in a unit does not fill the memory.
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

// palette is Okabe and Ito's (2008): told apart by people with any kind of
// colour vision.
var palette = []color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, // blue
	{0xd5, 0x5e, 0x00, 0xff}, // vermillion
	{0x00, 0x9e, 0x73, 0xff}, // bluish green
	{0xcc, 0x79, 0xa7, 0xff}, // reddish purple
	{0xe6, 0x9f, 0x00, 0xff}, // orange
	{0x56, 0xb4, 0xe9, 0xff}, // sky blue
	{0x00, 0x00, 0x00, 0xff}, // black
}

func paletteAt(i int) color.RGBA { return palette[i%len(palette)] }

// decades ticks an axis of decimal logarithms at whole powers of ten, labelled
// with the powers, at most eight of them.
type decades struct{}

// Ticks implements plot.Ticker.
func (decades) Ticks(lo, hi float64) []plot.Tick {
	stride := math.Max(1, math.Ceil((hi-lo)/8))
	var ticks []plot.Tick
	for e := math.Ceil(lo); e <= hi; e++ {
		label := ""
		if math.Mod(e, stride) == 0 {
			label = fmt.Sprintf("%g", math.Pow(10, e))
		}
		ticks = append(ticks, plot.Tick{Value: e, Label: label})
	}
	return ticks
}

// linearTicks are four to nine ticks at multiples of 1, 2 or 5 times a power of
// ten, each with a label.
type linearTicks struct{}

// Ticks implements plot.Ticker.
func (linearTicks) Ticks(lo, hi float64) []plot.Tick {
	if !(hi > lo) || math.IsInf(hi-lo, 0) {
		return plot.DefaultTicks{}.Ticks(lo, hi)
	}
	step := math.Pow(10, math.Floor(math.Log10(hi-lo)))
	for _, finer := range []float64{2, 2.5, 2} { // to 1/2, 1/5, 1/10 of the power
		if (hi-lo)/step >= 4 {
			break
		}
		step /= finer
	}
	var ticks []plot.Tick
	for i := math.Ceil(lo / step); i*step <= hi; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: strconv.FormatFloat(i*step, 'g', 6, 64)})
	}
	return ticks
}
