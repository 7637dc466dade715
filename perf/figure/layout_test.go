package figure

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"
	"gonum.org/v1/plot/vg"

	"presage/perf/frame"
)

// gallery returns a figure of each kind that has a legend, panels, or labels of its
// own.
func gallery(t *testing.T) map[string]*Figure {
	t.Helper()
	must := func(f *Figure, err error) *Figure {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	groups, misses := frame.Of(groupRows()), frame.Of(missRows())
	many := missOptions()
	for i := range 9 {
		many.Curves = append(many.Curves, Curve{Column: "pred_misses_per_cell", Label: fmt.Sprintf("a curve with a rather long name, number %d", i)})
	}
	var levels []missRow
	for _, level := range []string{"L1", "L2", "L3", "TLB", "second TLB"} {
		for n := 10.0; n <= 100; n += 10 {
			levels = append(levels, missRow{n, level, 1e5 * n, 1e5*n + 1})
		}
	}
	return map[string]*Figure{
		"curves":       must(Curves(misses, missOptions())),
		"many curves":  must(Curves(misses, many)),
		"five levels":  must(Curves(frame.Of(levels), missOptions())),
		"log curves":   must(LogCurves(misses, LogCurvesOptions{X: "n", YLabel: "misses", Curves: []Curve{{Column: "pred_misses_per_cell"}}, Lines: []Upright{{X: 32, Label: "L1"}}})),
		"histogram":    must(Histogram(frame.Of(sweepRows()), HistogramOptions{By: "n", Cuts: []Cut{{"L1", 64}}})),
		"surface":      must(Surface(frame.Of(sweepLike("", 8, 16, 24, 32)), SurfaceOptions{Size: "n", Cuts: []Cut{{"L1 of some machine", 600}}})),
		"agreement":    must(Agreement(misses, AgreementOptions{Reference: "sim_misses_per_cell", Predicted: "pred_misses_per_cell", By: "level", Band: 0.1})),
		"scatter":      must(Scatter(groups, ScatterOptions{X: "x", Y: "y", By: "name", Panel: "panel"})),
		"boxes":        must(Boxes(groups, BoxesOptions{Values: "x", By: "name", Panel: "panel"})),
		"bars":         must(Bars(frame.Of(groupRows()[:6]), BarsOptions{Values: "x", Names: "name", By: "panel"})),
		"distribution": must(Distribution(groups, DistributionOptions{Values: "x", Panel: "panel", Common: true})),
		"grid":         must(Grid(cellFrame(), GridOptions{X: "c", Y: "r", Panels: []string{"a", "b"}, Scale: "Mflop/s", Text: []string{"a", "b"}})),
		"beside":       Beside(must(Curves(misses, missOptions())), must(Histogram(frame.Of(sweepRows()), HistogramOptions{By: "n"}))),
	}
}

// sweepRows is a histogram at two sizes.
func sweepRows() []surfaceRow {
	var rows []surfaceRow
	for _, n := range []float64{8, 16} {
		for d := range 20 {
			rows = append(rows, surfaceRow{"", "p", n, n * float64(d), n*float64(d) + 1, float64(20 - d)})
		}
	}
	return rows
}

var (
	fontSize = regexp.MustCompile(`font-size:([0-9.]+)px`)
	viewBox  = regexp.MustCompile(`width="([0-9.e+]+)pt" height="[0-9.e+]+pt" viewBox="0 0 ([0-9.e+]+) ([0-9.e+]+)"`)
)

// TestTextIsReadable computes how large text is where a notebook shows a figure in
// 975 pixels at most, for figures of any width: never below ten.
func TestTextIsReadable(t *testing.T) {
	for name, f := range gallery(t) {
		for _, width := range []float64{4, 6.5, 13, 20, 30} {
			svg, err := f.SVG(width, 4)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			box := viewBox.FindSubmatch(svg)
			if box == nil {
				t.Fatalf("%s: no size in %.200s", name, svg)
			}
			of := func(i int) float64 { v, _ := strconv.ParseFloat(string(box[i]), 64); return v }
			if math.Abs(of(1)-72*width) > 0.01 {
				t.Errorf("%s, %g inches: it is %g points wide", name, width, of(1))
			}
			shown := min(notebookPx, of(1)*96/72) // pixels
			sizes := fontSize.FindAllSubmatch(svg, -1)
			if len(sizes) == 0 {
				t.Errorf("%s: no text", name)
			}
			for _, m := range sizes {
				size, err := strconv.ParseFloat(string(m[1]), 64)
				if px := size * shown / of(2); err != nil || px < 10-1e-6 {
					t.Errorf("%s, %g inches: text of %.1f px", name, width, px)
					break
				}
			}
		}
	}
}

// TestNothingIsClipped: a drawing that reaches its edge is likely to go on beyond it.
func TestNothingIsClipped(t *testing.T) {
	for name, f := range gallery(t) {
		for _, width := range []float64{5, 13} {
			data, err := f.PNG(width, 4)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			img, err := png.Decode(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			white := color.RGBAModel.Convert(color.White)
			w, h := img.Bounds().Dx(), img.Bounds().Dy()
			for x := range w {
				if color.RGBAModel.Convert(img.At(x, 0)) != white || color.RGBAModel.Convert(img.At(x, h-1)) != white {
					t.Errorf("%s, %g inches wide: drawn to the upper or lower edge at %d of %d", name, width, x, w)
					break
				}
			}
			for y := range h {
				if color.RGBAModel.Convert(img.At(0, y)) != white || color.RGBAModel.Convert(img.At(w-1, y)) != white {
					t.Errorf("%s, %g inches wide: drawn to the left or right edge at %d of %d", name, width, y, h)
					break
				}
			}
		}
	}
}

// TestPanelsWrap: panels narrower than three inches stand in rows, and those of a row
// are as wide as those of another.
func TestPanelsWrap(t *testing.T) {
	five := gallery(t)["five levels"]
	for _, c := range []struct {
		width         float64
		rows, columns int
	}{{4, 5, 1}, {6.5, 3, 2}, {10, 2, 3}, {13.5, 2, 3}, {15, 2, 3}, {30, 2, 3}} {
		a := five.arrange(c.width, 4)
		if a.rows != c.rows || a.columns != c.columns {
			t.Errorf("%g inches: %d rows of %d", c.width, a.rows, a.columns)
		}
		if w, h := a.size(); math.Abs(w-c.width) > 1e-9 || a.rows == 1 && h != 4 {
			t.Errorf("%g x 4 inches become %g x %g", c.width, w, h)
		}
	}
	if a := five.arrange(13, 4); five.inRow(3, a).Y.Label.Text == "" || five.inRow(1, a).Y.Label.Text != "" {
		t.Error("the label of the axis does not stand at the head of each row")
	}
}

// A legend keeps all entries within its width, where they do not overlap.
func TestLegendFlows(t *testing.T) {
	var l legend
	for i := range 9 {
		l.Add(strings.Repeat("n", 3+i))
		l.Add("nnn") // said already
	}
	for _, width := range []vg.Length{60, 150, 400} {
		all, height := l.flow(width)
		if len(all) != 9 {
			t.Fatalf("%d entries", len(all))
		}
		for i := 1; i < len(all); i++ {
			a, b := all[i-1], all[i]
			if b.y == a.y && b.x < a.x+legendStyle().Width(a.text) || b.y < a.y || b.y >= height || b.x > 0 && b.x+legendStyle().Width(b.text) > width {
				t.Errorf("%q at %g, %g after %q at %g, %g", b.text, b.x, b.y, a.text, a.x, a.y)
			}
		}
	}
	if _, none := new(legend).flow(100); none != 0 {
		t.Errorf("an empty legend takes %g", none)
	}
}

// An SVG is XML, named, and has no black that a dark page would hide, nor white that
// would hide it.
func TestSVG(t *testing.T) {
	f := gallery(t)["curves"]
	f.Panels()[0].Title.Text = "a < b"
	f.Alt = `rises, "steeply"`
	svg, err := f.SVG(9, 3.5)
	if err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(bytes.NewReader(svg))
	texts := make(map[string]string)
	name := ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			name = e.Name.Local
		case xml.CharData:
			texts[name] += string(e)
		}
	}
	if !strings.HasPrefix(texts["title"], "a < b") || !strings.HasPrefix(texts["desc"], f.Alt) {
		t.Errorf("titled %q, described %q", texts["title"], texts["desc"])
	}
	for _, bad := range []string{"#000000", "#FFFFFF", "#ffffff", "Serif"} {
		if bytes.Contains(svg, []byte(bad)) {
			t.Errorf("it has %s", bad)
		}
	}
	if !bytes.Contains(svg, []byte(`fill="currentColor"`)) || !bytes.Contains(svg, []byte("sans-serif")) {
		t.Error("neither the page's colour nor a font that is everywhere")
	}
	pdf, err := f.PDF(9, 3.5)
	if err != nil || !bytes.HasPrefix(pdf, []byte("%PDF-")) || !bytes.Contains(pdf, []byte("%%EOF")) {
		t.Errorf("%d bytes of PDF: %v", len(pdf), err)
	}
}

// Labels of an axis are all in one unit, those of a logarithmic one each in its own.
func TestTickUnits(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{0, 2.2e6, "0 0.5M 1M 1.5M 2M"},
		{0, 5e5, "0 100k 200k 300k 400k 500k"},
		{0, 8000, "0 1000 2000 3000 4000 5000 6000 7000 8000"},
		{-3e5, 3e5, "-300k -200k -100k 0 100k 200k 300k"},
		{0, 4, "0 1 2 3 4"},
	} {
		var got []string
		for _, tick := range (linearTicks{}).Ticks(c.lo, c.hi) {
			got = append(got, tick.Label)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%g to %g: %v, want %s", c.lo, c.hi, got, c.want)
		}
	}
	for v, want := range map[float64]string{0.01: "0.01", 100: "100", 1000: "1k", 2e4: "20k", math.Pow(10, 6): "1M", 5e9: "5G", 1e12: "1T", 1e18: "1e+18"} {
		if got := amount(v); got != want {
			t.Errorf("%g is written %s, want %s", v, got, want)
		}
	}
}

// TestLegendsOnce: panels that explain the same marks in the same words have one legend;
// the same words for other marks do not.
func TestLegendsOnce(t *testing.T) {
	df := dataframe.New(series.New([]float64{1, 2}, series.Float, "n"), series.New([]float64{3, 4}, series.Float, "y"), series.New([]float64{5, 4}, series.Float, "z"))
	curve := func(column string, mark Mark) *Figure {
		f, err := Curves(df, CurvesOptions{X: "n", Curves: []Curve{{Column: column, Label: "misses", Mark: mark}}})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for name, c := range map[string]struct {
		with *Figure
		once bool
	}{
		"other data":  {curve("z", Line), true},
		"other marks": {curve("z", Points), false},
		"no legend":   {&Figure{panels: []*panel{newPlot("", "", "")}}, true},
	} {
		if got := Beside(curve("y", Line), c.with).commonLegend(); (got != nil) != c.once || c.once && len(got.entries) != 1 {
			t.Errorf("%s: one legend for all: %v, want %v", name, got != nil, c.once)
		}
	}
}
