package figure

import (
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

func TestLogTicks(t *testing.T) {
	var across, up []string
	for _, tick := range (doublings{func(n uint64) string { return strings.Repeat("x", int(n>>12)) }}).Ticks(11, 16) {
		across = append(across, tick.Label)
	}
	for _, tick := range (oneTwoFive{}).Ticks(0.4, 2.1) {
		up = append(up, tick.Label)
	}
	if got := strings.Join(across, "|"); got != "|x|||xxxxxxxx|" {
		t.Errorf("across %q", got)
	}
	if got := strings.Join(up, " "); got != "5 10 20 50 100" {
		t.Errorf("up %q", got)
	}
}
