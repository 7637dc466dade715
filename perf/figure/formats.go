package figure

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"math"
	"strings"

	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// resolution of PNG files in dots per inch: text stays readable when a notebook
// scales a wide figure down to its column.
const resolution = 144

// maxPixels bounds a PNG, so that a wrong unit does not exhaust memory.
const maxPixels = 64 << 20

// checkSize returns an error for a width and height in inches that no figure has.
func checkSize(width, height float64) error {
	if !(width > 0 && height > 0) || width*height*resolution*resolution > maxPixels {
		return fmt.Errorf("figure: size %g x %g inches: both must be positive and the area at most %d square inches",
			width, height, maxPixels/(resolution*resolution))
	}
	return nil
}

// PNG draws the figure at a width and height in inches, on white. Panels that would be
// narrower than three inches go to further rows, and the figure is higher; text is never
// smaller than ten pixels where a notebook shows the figure 975 pixels wide. So it is in
// the other formats.
func (f *Figure) PNG(width, height float64) ([]byte, error) {
	if err := checkSize(width, height); err != nil {
		return nil, err
	}
	a := f.arrange(width, height)
	if err := checkSize(a.size()); err != nil {
		return nil, err
	}
	c := vgimg.NewWith(vgimg.UseWH(a.width, a.height), vgimg.UseDPI(int(math.Round(resolution*a.scale))))
	f.draw(draw.New(c), a)
	return written(vgimg.PngCanvas{Canvas: c})
}

// PDF draws the figure at a width and height in inches, with its fonts.
func (f *Figure) PDF(width, height float64) ([]byte, error) {
	if err := checkSize(width, height); err != nil {
		return nil, err
	}
	a := f.arrange(width, height)
	c := vgpdf.New(a.width, a.height)
	f.draw(draw.New(c), a)
	return written(c)
}

// SVG draws the figure at a width and height in inches: a document that is also an
// element of a page. Its title and its Description are there for readers of screens. Lines and text that are black on paper have the colour of the page's text,
// and what is white is transparent, so that the figure suits a dark page.
func (f *Figure) SVG(width, height float64) ([]byte, error) {
	if err := checkSize(width, height); err != nil {
		return nil, err
	}
	a := f.arrange(width, height)
	c := vgsvg.New(a.width, a.height)
	transparent := new(Figure)
	for _, p := range f.panels {
		own := *p.Plot
		own.BackgroundColor = nil
		transparent.panels = append(transparent.panels, &panel{&own, p.Legend})
	}
	transparent.draw(draw.New(c), a)
	data, err := written(c)
	if err != nil {
		return nil, err
	}
	_, drawing, ok := bytes.Cut(data, []byte("<g "))
	if !ok {
		return nil, fmt.Errorf("figure: the SVG library drew nothing")
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" class="presage-figure" role="img" width="%gpt" height="%gpt" viewBox="0 0 %g %g" fill="currentColor"><title>%s</title>`,
		a.scale*float64(a.width), a.scale*float64(a.height), float64(a.width), float64(a.height), html.EscapeString(f.Title()))
	if text := f.Description(); text != "" {
		fmt.Fprintf(&b, "<desc>%s</desc>", html.EscapeString(text))
	}
	b.WriteString("\n<g ")
	b.Write(svgStyles.replace(drawing))
	return b.Bytes(), nil
}

// Title names the figure by the titles of its panels.
func (f *Figure) Title() string {
	var titles []string
	for _, p := range f.panels {
		if t := strings.ReplaceAll(p.Title.Text, "\n", ", "); t != "" {
			titles = append(titles, t)
		}
	}
	if len(titles) == 0 {
		return "figure"
	}
	return strings.Join(titles, "; ")
}

// replacer replaces text in what the SVG library wrote.
type replacer struct{ r *strings.Replacer }

func (r replacer) replace(svg []byte) []byte { return []byte(r.r.Replace(string(svg))) }

// svgStyles makes what is black take the colour of the page, and names fonts that
// are there where Liberation Sans is not.
var svgStyles = replacer{strings.NewReplacer(
	"stroke:#000000", "stroke:currentColor",
	"font-family:Liberation Sans;", "font-family:Liberation Sans,Arial,Helvetica,sans-serif;",
	"font-variant:none;", "",
)}

func written(c io.WriterTo) ([]byte, error) {
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("figure: %w", err)
	}
	return b.Bytes(), nil
}
