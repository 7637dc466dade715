package figure

import (
	"strings"
	"testing"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/frame"
)

type sizeRow struct {
	Stage string `frame:"aggregation"`
	Size  int    `frame:"references"`
	N     int    `frame:"groups"`
}

func TestGroupSizes(t *testing.T) {
	// The totals of BT in the 2005 paper, section 2.2: more than six thousand
	// references, 447 groups, 329 after aggregation across loops.
	df := frame.Of([]sizeRow{{"none", 1, 6000}, {"loop", 1, 300}, {"loop", 38, 147}, {"source loop", 1, 200}, {"source loop", 45, 129}})
	f, err := GroupSizes(df, "BT")
	if err != nil {
		t.Fatal(err)
	}
	p := f.Panels()[0]
	if p.X.Max != 4 || p.Y.Max != 2 || p.X.Min != 0 || p.Y.Min != 0 {
		t.Errorf("axes [%g, %g] x [%g, %g]", p.X.Min, p.X.Max, p.Y.Min, p.Y.Max)
	}
	// Each stage's colour is somewhere.
	img := render(t, f)
	for i := range 3 {
		if count(img, paletteAt(i)) == 0 {
			t.Errorf("stage %d is not drawn", i)
		}
	}
	if _, err := GroupSizes(dataframe.DataFrame{}, ""); err == nil {
		t.Error("a frame without columns was drawn")
	}
}

type mixRow struct {
	Scope string `frame:"scope"`
	Class string `frame:"class"`
	Group string `frame:"group"`
	N     int    `frame:"executed_instructions"`
}

func TestMix(t *testing.T) {
	df := frame.Of([]mixRow{
		{"main.f/loop@f.go:3-9", "alu", "integer", 50},
		{"main.f/loop@f.go:3-9", "shift", "integer", 25},
		{"main.f/loop@f.go:3-9", "load", "load", 25},
		{"idle", "load", "load", 0},
		{strings.Repeat("very", 20) + "long", "store", "store", 1},
	})
	f, err := Mix(df, "executed_instructions", "mix", 5)
	if err != nil {
		t.Fatal(err)
	}
	img := render(t, f)
	areas := make([]int, 3)
	for i := range areas {
		areas[i] = count(img, paletteAt(i))
	}
	// Three quarters of one bar, a quarter of it, and a whole one. The legend
	// adds the same to each, a little.
	if r := float64(areas[0]) / float64(areas[2]); r < 0.7 || r > 0.8 {
		t.Errorf("areas %v: integer and store are as %g, not 0.75", areas, r)
	}
	if r := float64(areas[1]) / float64(areas[2]); r < 0.22 || r > 0.32 {
		t.Errorf("areas %v: load and store are as %g, not 0.25", areas, r)
	}
	if _, err := Mix(df, "nothing", "", 5); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("a missing column: %v", err)
	}
}
