package figure

import (
	"bytes"
	"image/png"
	"math"
	"strings"
	"testing"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/frame"
)

type similarityRow struct {
	X          float64 `frame:"x_instructions"`
	Y          float64 `frame:"y_instructions"`
	Difference float64 `frame:"difference"`
}

type intervalRow struct {
	Start   float64 `frame:"start_instructions"`
	Cluster int     `frame:"cluster"`
	Point   bool    `frame:"point"`
}

type blockRow struct {
	Program string  `frame:"program"`
	Share   float64 `frame:"share"`
	Full    float64 `frame:"full_hit_ratio"`
	Some    float64 `frame:"simpoint_hit_ratio"`
}

type errorRow struct {
	Program string  `frame:"program"`
	Points  float64 `frame:"points"`
	Diff    float64 `frame:"diff"`
}

// colors counts the pixels of each colour in a PNG.
func colors(t *testing.T, f *Figure) map[[3]uint8]int {
	t.Helper()
	data, err := f.PNG(5, 5)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	count := make(map[[3]uint8]int)
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			r, g, b, _ := img.At(x, y).RGBA()
			count[[3]uint8{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8)}]++
		}
	}
	return count
}

// TestSimilarity draws two phases of half a run each: half of the square is
// dark, half is light.
func TestSimilarity(t *testing.T) {
	var rows []similarityRow
	for x := range 4 {
		for y := range 4 {
			d := 0.0
			if x/2 != y/2 {
				d = 1
			}
			rows = append(rows, similarityRow{float64(x) * 1e9, float64(y) * 1e9, d})
		}
	}
	f, err := Similarity(frame.Of(rows), "two phases")
	if err != nil {
		t.Fatal(err)
	}
	c := colors(t, f)
	dark, light := c[[3]uint8{0x44, 0x01, 0x54}], c[[3]uint8{0xfd, 0xe7, 0x25}]
	if dark < 50_000 || math.Abs(float64(dark-light)) > 0.02*float64(dark) {
		t.Errorf("%d dark pixels, %d light ones", dark, light)
	}
	for name, df := range map[string]dataframe.DataFrame{
		"two at least":     frame.Of(rows[:1]),
		"only among the y": frame.Of(append(rows, similarityRow{0, 7e9, 0})),
		"no column":        frame.Of([]blockRow{{}}),
	} {
		if _, err := Similarity(df, ""); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestInstructionUnits demands axes in a unit that suits them.
func TestInstructionUnits(t *testing.T) {
	for _, c := range []struct {
		end  float64
		want string
		unit float64
	}{
		{6.3e9, "instructions executed (billions)", 1e9},
		{2.2e6, "instructions executed (millions)", 1e6},
		{5000, "instructions executed (thousands)", 1e3},
		{0, "instructions executed", 1},
	} {
		if label, unit := executed(c.end); label != c.want || unit != c.unit {
			t.Errorf("%g: %q, %g", c.end, label, unit)
		}
	}
}

func TestThreeDigits(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.25: "0.25", 44: "44", 2821: "2820", 12742: "12.7k", 5e6: "5M", -1234: "-1230", 0.0012345: "0.00123"} {
		if got := threeDigits(v); got != want {
			t.Errorf("%g: %q, want %q", v, got, want)
		}
	}
}

func TestTimeline(t *testing.T) {
	f, err := Timeline(frame.Of([]intervalRow{{0, 0, true}, {1e9, 0, false}, {2e9, 1, true}, {3e9, 1, false}}), "two clusters")
	if err != nil {
		t.Fatal(err)
	}
	c := colors(t, f)
	for i := range 2 {
		p := paletteAt(i)
		if n := c[[3]uint8{p.R, p.G, p.B}]; n < 20 {
			t.Errorf("cluster %d has %d pixels", i, n)
		}
	}
	if _, err := Timeline(frame.Of([]blockRow{{}}), ""); err == nil {
		t.Error("a frame of other columns: no error")
	}
	if _, err := Timeline(frame.Of([]intervalRow{}), ""); err == nil {
		t.Error("no intervals: no error")
	}
}

func TestBlockDifferences(t *testing.T) {
	df := frame.Of([]blockRow{{"a", 0.75, 0.9, 0.902}, {"a", 0.25, 0.9, 1}, {"b", 1, 1, 1}})
	opt := BlockDifferencesOptions{Samples: []Curve{{Column: "simpoint_hit_ratio", Label: "SimPoint"}}}
	f, err := BlockDifferences(df, opt)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Panels()) != 2 || f.Panels()[0].Title.Text != "a" {
		t.Errorf("%d panels", len(f.Panels()))
	}
	if _, err := f.PNG(8, 4); err != nil {
		t.Error(err)
	}
	got := steps([]float64{0.75, 0.25}, []float64{0.902, 1}, []float64{0.9, 0.9}, 1.03)
	want := [][2]float64{{0, 0.2}, {0.75, 0.2}, {0.75, 1.03}, {1, 1.03}}
	for i, w := range want {
		if math.Abs(got[i].X-w[0]) > 1e-12 || math.Abs(got[i].Y-w[1]) > 1e-12 {
			t.Errorf("corner %d is %v, want %v", i, got[i], w)
		}
	}
	if _, err := BlockDifferences(df, BlockDifferencesOptions{}); err == nil {
		t.Error("no samples: no error")
	}
	opt.Full = "no_such_column"
	if _, err := BlockDifferences(df, opt); err == nil {
		t.Error("no reference: no error")
	}
}

func TestErrors(t *testing.T) {
	df := frame.Of([]errorRow{{"a", 1, -1}, {"a", 10, 0}, {"b", 1, 0.1}, {"b", 10, 0.01}})
	opt := ErrorsOptions{X: "points", Y: "diff", Line: "program", Least: 1e-4}
	f, err := Errors(df, opt)
	if err != nil {
		t.Fatal(err)
	}
	p := f.Panels()[0]
	if math.Abs(p.Y.Min+4) > 1e-9 || p.Y.Max != 0 || p.X.Min != 0 || p.X.Max != 1 {
		t.Errorf("axes from %g to %g and %g to %g", p.X.Min, p.X.Max, p.Y.Min, p.Y.Max)
	}
	if _, err := f.PNG(5, 4); err != nil {
		t.Error(err)
	}
	opt.Least = 0
	if _, err := Errors(df, opt); err == nil {
		t.Error("a logarithmic axis from 0: no error")
	}
}
