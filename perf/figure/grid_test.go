package figure

import (
	"bytes"
	"image/png"
	"strings"
	"testing"

	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"
)

func cellFrame() dataframe.DataFrame {
	return dataframe.New(
		series.New([]int{1, 1, 2, 2}, series.Int, "r"),
		series.New([]int{1, 2, 1, 2}, series.Int, "c"),
		series.New([]float64{10, 20, 30, 40}, series.Float, "a"),
		series.New([]float64{11, 19, 31, 44}, series.Float, "b"),
		series.New([]string{"p", "p", "q", "q"}, series.String, "g"),
	)
}

// pixel returns the colour at shares of a figure's width and height, from the top
// left, in 8-bit parts.
func pixel(t *testing.T, f *Figure, w, h, x, y float64) [3]int {
	t.Helper()
	data, err := f.PNG(w, h)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	r, g, b, _ := img.At(int(x*float64(img.Bounds().Dx())), int(y*float64(img.Bounds().Dy()))).RGBA()
	return [3]int{int(r >> 8), int(g >> 8), int(b >> 8)}
}

// TestGrid demands that the least cell is the darkest and the largest in any
// panel the lightest, each at its row and column.
func TestGrid(t *testing.T) {
	f, err := Grid(cellFrame(), GridOptions{X: "c", Y: "r", Panels: []string{"a", "b"}, XLabel: "columns", YLabel: "rows", Scale: "Mflop/s", Text: []string{"a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Panels()) != 2 || !strings.Contains(f.Description(), "Drawn: 10; 18.5; 27; 35.5; 44 Mflop/s.") {
		t.Fatalf("%d panels, described as %q", len(f.Panels()), f.Description())
	}
	one, err := Grid(cellFrame(), GridOptions{X: "c", Y: "r", Panels: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	lowLeft, highRight := pixel(t, one, 4, 4, 0.3, 0.7), pixel(t, one, 4, 4, 0.8, 0.3)
	darkest, lightest := heightColor(0, 1), heightColor(1, 1)
	if lowLeft != [3]int{int(darkest.R), int(darkest.G), int(darkest.B)} || highRight != [3]int{int(lightest.R), int(lightest.G), int(lightest.B)} {
		t.Errorf("the cell (1, 1) is %v, (2, 2) %v", lowLeft, highRight)
	}
	down, err := Grid(cellFrame(), GridOptions{X: "c", Y: "r", Panels: []string{"a"}, YDown: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := pixel(t, down, 4, 4, 0.8, 0.7); got != highRight {
		t.Errorf("with rows from the top, (2, 2) is %v, want %v", got, highRight)
	}
}

func TestBarsAndBoxes(t *testing.T) {
	bars, err := Bars(cellFrame(), BarsOptions{Names: "a", Columns: []Curve{{Column: "a"}, {Column: "b", Label: "second"}}, YLabel: "Mflop/s"})
	if err != nil {
		t.Fatal(err)
	}
	if p := bars.Panels()[0]; p.Y.Min != 0 || p.Y.Max < 44 {
		t.Errorf("the axis goes from %g to %g", p.Y.Min, p.Y.Max)
	}
	boxes, err := Boxes(cellFrame(), BoxesOptions{By: "g", Columns: []Curve{{Column: "a"}, {Column: "b", Label: "second"}}, Top: 50, Goal: 25})
	if err != nil {
		t.Fatal(err)
	}
	both := Beside(bars, boxes)
	if len(both.Panels()) != 3 {
		t.Fatalf("%d panels", len(both.Panels()))
	}
	if a, b := both.Panels()[1].Title.Text, both.Panels()[2].Title.Text; a != "a" || b != "second" {
		t.Errorf("the boxes are titled %q and %q", a, b)
	}
	if p := both.Panels()[1]; p.Y.Max != 50 || p.Y.Min != 0 {
		t.Errorf("the boxes' axis goes from %g to %g", p.Y.Min, p.Y.Max)
	}
	if _, err := both.PNG(12, 4); err != nil {
		t.Fatal(err)
	}
}

// TestBlocked demands that an entry is blue, a zero in a stored block grey, and
// everything not stored white.
func TestBlocked(t *testing.T) {
	m := BlockedMatrix{Rows: 4, Cols: 4, BlockRows: 2, BlockColumns: 2, Entries: [][2]int{{0, 0}}, Labels: []string{""}}
	f, err := Blocked(m)
	if err != nil {
		t.Fatal(err)
	}
	// The panel begins at about a tenth; centres of the cells lie within.
	at := func(row, col float64) [3]int { return pixel(t, f, 5, 5, 0.16+0.21*col, 0.14+0.185*row) }
	blue := paletteAt(5)
	if got := at(0, 0); got != [3]int{int(blue.R), int(blue.G), int(blue.B)} {
		t.Errorf("the entry is %v", got)
	}
	if got := at(1, 1); got != [3]int{0xe8, 0xe8, 0xe8} {
		t.Errorf("the filled zero is %v", got)
	}
	if got := at(3, 3); got != [3]int{0xff, 0xff, 0xff} {
		t.Errorf("what is not stored is %v", got)
	}
}

func TestShapesRefuse(t *testing.T) {
	df := cellFrame()
	for what, err := range map[string]error{
		"grid without panels":  second(Grid(df, GridOptions{X: "c", Y: "r"})),
		"grid without column":  second(Grid(df, GridOptions{X: "c", Y: "nothing", Panels: []string{"a"}})),
		"grid of titles":       second(Grid(df, GridOptions{X: "c", Y: "r", Panels: []string{"a"}, Titles: []string{"1", "2"}})),
		"bars without bars":    second(Bars(df, BarsOptions{Names: "g"})),
		"bars on each other":   second(Bars(df, BarsOptions{Names: "g", Values: "a"})),
		"bars without column":  second(Bars(df, BarsOptions{Names: "g", Columns: []Curve{{Column: "z"}}})),
		"boxes without column": second(Boxes(df, BoxesOptions{By: "g"})),
		"entry outside":        second(Blocked(BlockedMatrix{Rows: 2, Cols: 2, BlockRows: 1, BlockColumns: 1, Entries: [][2]int{{2, 0}}})),
		"no rows":              second(Blocked(BlockedMatrix{Cols: 2, BlockRows: 1, BlockColumns: 1})),
		"labels":               second(Blocked(BlockedMatrix{Rows: 2, Cols: 2, BlockRows: 1, BlockColumns: 1, Labels: []string{"x"}})),
	} {
		if err == nil {
			t.Errorf("%s is accepted", what)
		}
	}
}

func second(_ *Figure, err error) error { return err }
