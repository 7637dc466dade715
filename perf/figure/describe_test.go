package figure

import (
	"strings"
	"testing"

	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"
)

// TestDescription: a figure says what it shows, in its own words where it has some.
func TestDescription(t *testing.T) {
	df := dataframe.New(
		series.New([]float64{1, 2, 1, 2}, series.Float, "n"),
		series.New([]float64{3, 4, 5, 6}, series.Float, "y"),
		series.New([]float64{3, 4, 5, 6}, series.Float, "z"),
		series.New([]string{"L1", "L1", "L2", "L2"}, series.String, "level"),
	)
	f, err := Curves(df, CurvesOptions{
		X: "n", Panel: "level", XLabel: "mesh size n", YLabel: "misses",
		Curves: []Curve{{Column: "y", Label: "predicted"}, {Column: "z", Label: "simulated", Mark: Points}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := f.Description(), "2 panels. misses over mesh size n. Drawn: predicted; simulated. Titles: L1; L2."; got != want {
		t.Errorf("description %q, want %q", got, want)
	}
	svg, err := f.SVG(8, 4)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(svg), "<desc>2 panels. misses") {
		t.Error("the SVG has no description")
	}
	f.Alt = "Two curves."
	if got := f.Description(); got != "Two curves." {
		t.Errorf("description %q, want Alt", got)
	}
	if got := new(Figure).Description(); got != "" {
		t.Errorf("an empty figure is described as %q", got)
	}
}
