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

type groupRow struct {
	Panel string  `frame:"panel"`
	Name  string  `frame:"name"`
	Other string  `frame:"other"`
	X     float64 `frame:"x"`
	Y     float64 `frame:"y"`
}

func groupRows() []groupRow {
	var rows []groupRow
	for i := range 60 {
		rows = append(rows, groupRow{[]string{"one", "two"}[i%2], []string{"a", "b", "c"}[i%3], []string{"c", "a", "b"}[i%3], float64(i), 2*float64(i) + float64(i%5)})
	}
	return rows
}

// TestFiguresAreDrawn demands that every figure is drawn, has the right number
// of panels, and is not blank.
func TestFiguresAreDrawn(t *testing.T) {
	df := frame.Of(groupRows())
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
			return Bars(frame.Of(groupRows()[:6]), BarsOptions{Values: "x", Names: "name", By: "panel"})
		}, 1},
		"grid of names": {func() (*Figure, error) {
			return Grid(df, GridOptions{X: "name", Y: "other", Panels: []string{"x"}, Names: names, Lines: []int{1}, FromZero: true})
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
	f, err := Scatter(frame.Of(groupRows()), ScatterOptions{X: "x", Y: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if title := f.Panels()[0].Title.Text; !strings.Contains(title, "1.000") {
		t.Errorf("title %q", title)
	}
}

// TestLogScatter: on logarithmic axes a factor is a distance, y = x³ a line, and 0 has no
// place; over some decades powers of ten have labels, over few 2 and 5 do, too.
func TestLogScatter(t *testing.T) {
	opt := ScatterOptions{X: "x", Y: "y", Log: true}
	for _, most := range []float64{100, 4} {
		f, err := Scatter(frame.Of([]logRow{{1, 1}, {2, 8}, {most, most * most * most}}), opt)
		if err != nil {
			t.Fatal(err)
		}
		p := f.Panels()[0]
		if !strings.Contains(p.Title.Text, "1.000") {
			t.Errorf("y = x³ on logarithmic axes: %s", p.Title.Text)
		}
		if top := 3 * math.Log10(most); p.X.Min != p.Y.Min || p.X.Max != p.Y.Max || !(p.Y.Min < 0 && p.Y.Max > top && p.Y.Max < top+1) {
			t.Errorf("axes from %g and %g to %g and %g", p.X.Min, p.Y.Min, p.X.Max, p.Y.Max)
		}
		var labels []string
		for _, tick := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
			if tick.Label != "" {
				labels = append(labels, tick.Label)
			}
		}
		if two := slices.Contains(labels, "2"); two != (most == 4) || len(labels) < 3 || len(labels) > 7 {
			t.Errorf("up to %g: labels %q", most*most*most, labels)
		}
	}
	if _, err := Scatter(frame.Of([]logRow{{1, 0}}), opt); err == nil || !strings.Contains(err.Error(), "above 0") {
		t.Errorf("0 on a logarithmic axis: %v", err)
	}
}

// TestBoxesSayWhatTheyHide demands a note about the boxes that Top hides.
func TestBoxesSayWhatTheyHide(t *testing.T) {
	f, err := Boxes(frame.Of(groupRows()), BoxesOptions{Values: "x", By: "name", Top: 49.5})
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

func TestFiguresRefuse(t *testing.T) {
	rows := groupRows()[:3]
	rows[1].X = math.NaN()
	if _, err := Boxes(frame.Of(rows), BoxesOptions{Values: "x", By: "name"}); err == nil || !strings.Contains(err.Error(), "row 1") {
		t.Errorf("a missing value: %v", err)
	}
	if _, err := Grid(frame.Of(groupRows()), GridOptions{X: "name", Y: "other", Panels: []string{"x"}, Names: []string{"a"}}); err == nil {
		t.Error("a name that is none of the matrix, and no error")
	}
	if _, err := Bars(frame.Of(groupRows()), BarsOptions{Values: "z", Names: "name"}); err == nil {
		t.Error("a column that there is not, and no error")
	}
}

// TestGridFromZero demands that a grid from 0 is light for 0, dark for the
// largest value, and white where there is no row.
func TestGridFromZero(t *testing.T) {
	rows := []groupRow{{Name: "a", Other: "a", X: 0}, {Name: "b", Other: "b", X: 5}}
	f, err := Grid(frame.Of(rows), GridOptions{X: "name", Y: "other", Panels: []string{"x"}, Names: []string{"a", "b"}, FromZero: true, Scale: "models"})
	if err != nil {
		t.Fatal(err)
	}
	if title := f.Description(); !strings.Contains(title, "Drawn: 0; 1.25; 2.5; 3.75; 5 models.") {
		t.Errorf("title %q", title)
	}
	light, dark := shadeOf(0), shadeOf(1)
	for _, c := range []struct {
		x, y float64
		want [3]int
	}{
		{0.3, 0.7, [3]int{int(light.R), int(light.G), int(light.B)}},
		{0.8, 0.3, [3]int{int(dark.R), int(dark.G), int(dark.B)}},
		{0.8, 0.7, [3]int{0xff, 0xff, 0xff}},
	} {
		if got := pixel(t, f, 4, 4, c.x, c.y); got != c.want {
			t.Errorf("the cell at (%g, %g) is %v, want %v", c.x, c.y, got, c.want)
		}
	}
}
