package figure

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"strings"
	"testing"

	"presage/perf/frame"
)

type missRow struct {
	N     float64 `frame:"n"`
	Level string  `frame:"level"`
	Pred  float64 `frame:"pred_misses_per_cell"`
	Sim   float64 `frame:"sim_misses_per_cell"`
}

func missOptions() CurvesOptions {
	return CurvesOptions{
		X: "n", Panel: "level", XLabel: "mesh size n (cells a side)", YLabel: "misses per cell and iteration",
		Curves: []Curve{
			{Column: "pred_misses_per_cell", Label: "predicted"},
			{Column: "sim_misses_per_cell", Label: "simulated", Mark: Points},
		},
		Training: [2]float64{20, 40},
	}
}

func missRows() []missRow {
	var rows []missRow
	for n := 10.0; n <= 100; n += 10 {
		sim := math.NaN()
		if n == 60 || n == 80 {
			sim = 3 * n
		}
		rows = append(rows, missRow{n, "L1", 3 * n, sim}, missRow{n, "L2", 5000, math.NaN()})
	}
	return rows
}

func render(t *testing.T, f *Figure) image.Image {
	t.Helper()
	data, err := f.PNG(9, 3.5)
	if err != nil {
		t.Fatal(err)
	}
	if dir := os.Getenv("PRESAGE_FIGURES"); dir != "" { // to look at them
		if err := os.WriteFile(dir+"/"+strings.ReplaceAll(t.Name(), "/", "-")+f.Panels()[0].Title.Text+".png", data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// count returns the number of pixels of nearly the colour.
func count(img image.Image, c color.RGBA) int {
	n := 0
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
			r, g, b, _ := img.At(x, y).RGBA()
			if near(r, c.R) && near(g, c.G) && near(b, c.B) {
				n++
			}
		}
	}
	return n
}

func near(v uint32, want uint8) bool { return math.Abs(float64(v>>8)-float64(want)) <= 2 }

func TestCurvesDrawsEveryCurve(t *testing.T) {
	f, err := Curves(frame.Of(missRows()), missOptions())
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Panels()) != 2 || f.Panels()[0].Title.Text != "L1" || f.Panels()[1].Title.Text != "L2" {
		t.Fatalf("%d panels", len(f.Panels()))
	}
	if lo, hi := f.Panels()[0].Y.Min, f.Panels()[0].Y.Max; lo != 0 || hi <= 300 || hi > 480 {
		t.Errorf("L1's y axis runs from %g to %g", lo, hi)
	}
	img := render(t, f)
	for i := range 2 {
		if n := count(img, palette[i]); n < 100 {
			t.Errorf("curve %d has %d pixels of its colour", i, n)
		}
	}
	plain := missOptions()
	plain.Curves = plain.Curves[:1]
	if f, err = Curves(frame.Of(missRows()), plain); err != nil {
		t.Fatal(err)
	}
	f.Panels()[0].Title.Text = "L1 alone"
	if n := count(render(t, f), palette[1]); n != 0 {
		t.Errorf("a curve that was not asked for has %d pixels", n)
	}
}

// TestCurvesDrawBounds demands bars between bounds, which the axis reaches, at the points
// that have both.
func TestCurvesDrawBounds(t *testing.T) {
	type row struct {
		N    float64 `frame:"n"`
		Sim  float64 `frame:"sim"`
		Low  float64 `frame:"low"`
		High float64 `frame:"high"`
	}
	df := frame.Of([]row{{10, 100, 50, 150}, {20, 200, 100, 900}, {30, 300, math.NaN(), math.NaN()}})
	opt := CurvesOptions{X: "n", Curves: []Curve{{Column: "sim", Mark: Points}}}
	without, err := Curves(df, opt)
	if err != nil {
		t.Fatal(err)
	}
	opt.Curves[0].Low, opt.Curves[0].High = "low", "high"
	with, err := Curves(df, opt)
	if err != nil {
		t.Fatal(err)
	}
	if hi := with.Panels()[0].Y.Max; hi < 900 {
		t.Errorf("the axis ends at %g, below the bound of 900", hi)
	}
	if few, more := count(render(t, without), palette[0]), count(render(t, with), palette[0]); more < few+100 {
		t.Errorf("%d pixels without bars, %d with them", few, more)
	}
	opt.Curves[0].High = ""
	if _, err := Curves(df, opt); err == nil {
		t.Error("a lower bound without an upper one, and no error")
	}
}

func TestCurvesErrors(t *testing.T) {
	df := frame.Of(missRows())
	for want, change := range map[string]func(*CurvesOptions){
		`no column "size"`:   func(o *CurvesOptions) { o.X = "size" },
		`no column "cache"`:  func(o *CurvesOptions) { o.Panel = "cache" },
		`no column "misses"`: func(o *CurvesOptions) { o.Curves[0].Column = "misses" },
		"no curves":          func(o *CurvesOptions) { o.Curves = nil },
		"holds text":         func(o *CurvesOptions) { o.Curves[0].Column = "level" },
	} {
		opt := missOptions()
		change(&opt)
		if _, err := Curves(df, opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	if _, err := Curves(frame.Of([]missRow{}), missOptions()); err == nil {
		t.Error("an empty frame: no error")
	}
}

type binRow struct {
	N        float64 `frame:"n"`
	Lo       uint64  `frame:"lo_blocks"`
	Hi       uint64  `frame:"hi_blocks"`
	Accesses uint64  `frame:"accesses"`
}

func TestHistogram(t *testing.T) {
	df := frame.Of([]binRow{
		{20, 0, 1, 75},
		{20, 1000, 1004, 20},
		{20, 4, 5, 5},
		{40, 0, 1, 75},
		{40, 4000, 4016, 25},
	})
	f, err := Histogram(df, HistogramOptions{
		Title: "flux load at main.go:120", By: "n",
		Cuts: []Cut{{"L1: 1024 blocks", 1024}, {"L2: 65536 blocks", 65536}},
	})
	if err != nil {
		t.Fatal(err)
	}
	img := render(t, f)
	for i := range 2 {
		if n := count(img, palette[i]); n < 100 {
			t.Errorf("curve %d has %d pixels of its colour", i, n)
		}
	}
	if hi := f.Panels()[0].Y.Max; hi <= math.Log10(65536) {
		t.Errorf("the largest cut is off the axis, which ends at %g", hi)
	}
	if _, err := Histogram(df, HistogramOptions{Cuts: []Cut{{"bad", 0}}}); err == nil {
		t.Error("a cut at 0: no error")
	}
	if _, err := Histogram(frame.Of(missRows()), HistogramOptions{}); err == nil {
		t.Error("no bins: no error")
	}
}

func TestCorners(t *testing.T) {
	bins, err := binsOf(frame.Of([]binRow{{20, 7, 8, 1}, {20, 3, 4, 0}, {20, 0, 1, 3}}))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		axis distanceAxis
		want [][2]float64
	}{
		{distanceAxis{log: true}, [][2]float64{{0, 0}, {0.75, 0}, {0.75, math.Log10(8)}, {1, math.Log10(8)}}},
		{distanceAxis{}, [][2]float64{{0, 0}, {0.75, 0}, {0.75, 7}, {1, 7}}},
	} {
		corners := cornersOf(stairOf(bins, c.axis))
		if len(corners) != len(c.want) {
			t.Fatalf("got %v", corners)
		}
		for i, w := range c.want {
			if corners[i].X != w[0] || corners[i].Y != w[1] {
				t.Errorf("corner %d is %v, want %v", i, corners[i], w)
			}
		}
	}
}

type sourceRow struct {
	Source   string  `frame:"source"`
	Lo       float64 `frame:"lo_blocks"`
	Hi       float64 `frame:"hi_blocks"`
	Accesses float64 `frame:"accesses"`
}

// TestHistogramBothAxes draws the two panels of Figure 5 of the 2004 paper: 74%
// hits in 1024 blocks, 96% in 256k blocks, distances up to six orders of
// magnitude above the first.
func TestHistogramBothAxes(t *testing.T) {
	df := frame.Of([]sourceRow{
		{"collected", 3, 4, 74},
		{"collected", 2e4, 2e4 + 1, 22},
		{"collected", 9e8, 9e8 + 1, 4},
		{"predicted", 3, 4, 74},
		{"predicted", 2e4, 2e4 + 1, 22},
		{"predicted", 9e8, 9e8 + 1, 4},
	})
	opt := HistogramOptions{By: "source", Axis: BothAxes, Cuts: []Cut{{"L1", 1024}, {"L2", 256 << 10}}}
	f, err := Histogram(df, opt)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Panels()) != 2 {
		t.Fatalf("%d panels", len(f.Panels()))
	}
	if linear, log := f.Panels()[0].Y.Max, f.Panels()[1].Y.Max; linear < 9e8 || linear > 1.2e9 || log < 9 || log > 11 {
		t.Errorf("axes end at %g and %g", linear, log)
	}
	if label := f.Panels()[0].Y.Label.Text; label != "reuse distance (blocks)" {
		t.Errorf("the linear axis is labelled %q", label)
	}
	// Equal curves: the second is dashed, so that the first shows through.
	img := render(t, f)
	for i := range 2 {
		if n := count(img, palette[i]); n < 200 {
			t.Errorf("curve %d has %d pixels of its colour", i, n)
		}
	}
	opt.Axis = BothAxes + 1
	if _, err := Histogram(df, opt); err == nil {
		t.Error("an axis that is none: no error")
	}
	for want, row := range map[string]sourceRow{
		"row 0 of the histogram has -1 accesses":  {"a", 0, 1, -1},
		"row 0 of the histogram has NaN accesses": {"a", 0, 1, math.NaN()},
		"from 5 up to but not including 5":        {"a", 5, 5, 1},
		"from -3 up to":                           {"a", -3, 5, 1},
		"including +Inf":                          {"a", 0, math.Inf(1), 1},
		"where source is a":                       {"a", 2, 1, 1},
	} {
		if _, err := Histogram(frame.Of([]sourceRow{row}), HistogramOptions{By: "source"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestLinearTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{20, 100, "20 30 40 50 60 70 80 90 100"},
		{0, 15.4, "0 2 4 6 8 10 12 14"},
		{0, 670, "0 100 200 300 400 500 600"},
		{0, 1, "0 0.2 0.4 0.6 0.8 1"},
		{0, 3.9e-7, "0 5e-08 1e-07 1.5e-07 2e-07 2.5e-07 3e-07 3.5e-07"},
		{-1, 1, "-1 -0.5 0 0.5 1"},
	} {
		var labels []string
		for _, tick := range (linearTicks{}).Ticks(c.lo, c.hi) {
			labels = append(labels, tick.Label)
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("%g to %g: %s, want %s", c.lo, c.hi, got, c.want)
		}
	}
}

func TestPNGSize(t *testing.T) {
	f, err := Curves(frame.Of(missRows()), missOptions())
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range [][2]float64{{0, 3}, {3, -1}, {math.NaN(), 3}, {1e6, 1e6}} {
		if _, err := f.PNG(size[0], size[1]); err == nil {
			t.Errorf("%v inches: no error", size)
		}
	}
}
