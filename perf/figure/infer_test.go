package figure

import (
	"bytes"
	"image/png"
	"math"
	"slices"
	"strings"
	"testing"

	"presage/perf/frame"
)

type inferRow struct {
	Panel string  `frame:"panel"`
	Name  string  `frame:"name"`
	Other string  `frame:"other"`
	X     float64 `frame:"x"`
	Y     float64 `frame:"y"`
}

func inferRows() []inferRow {
	var rows []inferRow
	for i := range 60 {
		rows = append(rows, inferRow{[]string{"one", "two"}[i%2], []string{"a", "b", "c"}[i%3], []string{"c", "a", "b"}[i%3], float64(i), 2*float64(i) + float64(i%5)})
	}
	return rows
}

// Every figure is drawn, has as many panels as it should, and is not blank.
func TestInferFiguresAreDrawn(t *testing.T) {
	df := frame.Of(inferRows())
	names := []string{"a", "b", "c"}
	for what, c := range map[string]struct {
		draw   func() (*Figure, error)
		panels int
	}{
		"boxes": {func() (*Figure, error) { return Boxes(df, BoxesOptions{Values: "x", By: "name", Panel: "panel"}) }, 2},
		"scatter": {func() (*Figure, error) {
			return Scatter(df, ScatterOptions{X: "x", Y: "y", By: "name", Panel: "panel"})
		}, 2},
		"distribution": {func() (*Figure, error) {
			return Distribution(df, DistributionOptions{Values: "x", Panel: "panel", Common: true})
		}, 2},
		"bars": {func() (*Figure, error) {
			return Bars(frame.Of(inferRows()[:6]), BarsOptions{Values: "x", Names: "name", By: "panel"})
		}, 1},
		"matrix": {func() (*Figure, error) {
			return Matrix(df, MatrixOptions{X: "name", Y: "other", Values: "x", Names: names, Lines: []int{1}})
		}, 1},
	} {
		f, err := c.draw()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if len(f.Panels()) != c.panels {
			t.Errorf("%s: %d panels, want %d", what, len(f.Panels()), c.panels)
		}
		data, err := f.PNG(6, 3)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		img, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		colours := make(map[any]bool)
		for x := range img.Bounds().Dx() {
			colours[img.At(x, img.Bounds().Dy()/2)] = true
		}
		if len(colours) < 4 {
			t.Errorf("%s: %d colours across the middle", what, len(colours))
		}
	}
}

func TestScatterTellsTheCorrelation(t *testing.T) {
	f, err := Scatter(frame.Of(inferRows()), ScatterOptions{X: "x", Y: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if title := f.Panels()[0].Title.Text; !strings.Contains(title, "1.000") {
		t.Errorf("title %q", title)
	}
}

// What Top hides is said.
func TestBoxesSayWhatTheyHide(t *testing.T) {
	f, err := Boxes(frame.Of(inferRows()), BoxesOptions{Values: "x", By: "name", Top: 49.5})
	if err != nil {
		t.Fatal(err)
	}
	if title := f.Panels()[0].Title.Text; !strings.Contains(title, "beyond the axis: 10") {
		t.Errorf("title %q", title)
	}
}

func TestBinsHoldEveryValue(t *testing.T) {
	bins := binned([]float64{0, 0.1, 0.5, 0.999, 1}, 0, 1, 2)
	var got []float64
	for _, b := range bins {
		got = append(got, b.Weight)
	}
	if !slices.Equal(got, []float64{2, 3}) {
		t.Errorf("counts %v", got)
	}
}

func TestInferFiguresRefuse(t *testing.T) {
	rows := inferRows()[:3]
	rows[1].X = math.NaN()
	if _, err := Boxes(frame.Of(rows), BoxesOptions{Values: "x", By: "name"}); err == nil || !strings.Contains(err.Error(), "row 1") {
		t.Errorf("a missing value: %v", err)
	}
	if _, err := Matrix(frame.Of(inferRows()), MatrixOptions{X: "name", Y: "other", Values: "x", Names: []string{"a"}}); err == nil {
		t.Error("a name that is none of the matrix, and no error")
	}
	if _, err := Bars(frame.Of(inferRows()), BarsOptions{Values: "z", Names: "name"}); err == nil {
		t.Error("a column that there is not, and no error")
	}
}
