package figure

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"presage/perf/frame"
)

type logRow struct {
	X float64 `frame:"x"`
	Y float64 `frame:"y"`
}

// TestLogCurves demands that the plot holds logarithms, and that lines are at
// their values.
func TestLogCurves(t *testing.T) {
	df := frame.Of([]logRow{{1, 10}, {64, 1000}, {128, math.NaN()}})
	opt := LogCurvesOptions{Title: "t", X: "x", Curves: []Curve{{Column: "y"}}, Lines: []Upright{{X: 8, Label: "eight"}, {X: 8, Label: "also", Dashed: true}}}
	fig, err := LogCurves(df, opt)
	if err != nil {
		t.Fatal(err)
	}
	p := fig.Panels()[0]
	if p.Title.Text != "t" || p.X.Min > 0 || p.X.Max < 6 || p.Y.Max < 3*0.9 {
		t.Errorf("title %q, x from %g to %g, y to %g", p.Title.Text, p.X.Min, p.X.Max, p.Y.Max)
	}
	if _, err := fig.PNG(6, 4); err != nil {
		t.Error(err)
	}
	for _, bad := range []LogCurvesOptions{
		{X: "x", Curves: []Curve{{Column: "z"}}},
		{X: "z", Curves: []Curve{{Column: "y"}}},
		{X: "x", Curves: opt.Curves, Lines: []Upright{{X: 0}}},
	} {
		if _, err := LogCurves(df, bad); err == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
	if _, err := LogCurves(frame.Of([]logRow{{1, 1}, {2, 0}}), opt); err == nil || !strings.Contains(err.Error(), "y is 0 in row 2") {
		t.Errorf("a logarithm of 0: %v", err)
	}
}

// TestLogCurvesBelowOne demands that the axis holds small values, and ends near them.
func TestLogCurvesBelowOne(t *testing.T) {
	for _, c := range []struct{ least, most, lo, hi float64 }{
		{0.013, 0.06, 0.01, 0.1},
		{0.02, 0.05, 0.02, 0.05},
		{0.3, 30, 0.2, 50},
		{2000, 4e6, 2000, 5e6},
		{7, 7, 5, 10},
		{5, 5, 2, 10},
	} {
		fig, err := LogCurves(frame.Of([]logRow{{1, c.least}, {64, c.most}}), LogCurvesOptions{X: "x", Curves: []Curve{{Column: "y"}}})
		if err != nil {
			t.Fatal(err)
		}
		y := fig.Panels()[0].Y
		if math.Abs(y.Min-math.Log10(c.lo)) > 1e-9 || math.Abs(y.Max-math.Log10(c.hi)) > 1e-9 {
			t.Errorf("%g to %g: axis from %g to %g, want %g to %g", c.least, c.most, math.Pow(10, y.Min), math.Pow(10, y.Max), c.lo, c.hi)
		}
	}
}

func TestLogTicks(t *testing.T) {
	var across, up []string
	for _, tick := range (doublings{func(n uint64) string { return strings.Repeat("x", int(n>>12)) }}).Ticks(11, 18) {
		across = append(across, tick.Label)
	}
	for _, tick := range (oneTwoFive{}).Ticks(0.4, 2.1) {
		up = append(up, tick.Label)
	}
	if got := strings.Join(across, "|"); got != "|x|||"+strings.Repeat("x", 8)+"|||"+strings.Repeat("x", 64) {
		t.Errorf("across %q", got)
	}
	few := doublings{func(n uint64) string { return fmt.Sprint(n) }}.Ticks(-1.5, 2.5)
	if len(few) != 4 || few[0].Label != "1/2" || few[1].Label != "1" || few[3].Label != "4" {
		t.Errorf("few: %v", few)
	}
	if got := strings.Join(up, " "); got != "5 10 20 50 100" {
		t.Errorf("up %q", got)
	}
}
