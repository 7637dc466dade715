package figure

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"presage/perf/frame"
)

// roofRow has the columns that Roofline draws.
type roofRow struct {
	Scope string  `frame:"scope"`
	Level string  `frame:"level"`
	X     float64 `frame:"pred_flops_per_byte"`
	Y     float64 `frame:"pred_flops_per_cycle"`
	Core  float64 `frame:"core_flops_per_cycle"`
	Rate  float64 `frame:"level_bytes_per_cycle"`
	Size  float64 `frame:"pred_cycles"`
}

// TestRoofline: a panel for each level with its ceilings, one legend with all scopes,
// also those that the first level does not draw.
func TestRoofline(t *testing.T) {
	rows := []roofRow{
		{"inner", "L1", 0.1, 0.5, 4, 24, 100},
		{"outer", "L1", math.NaN(), 0.2, 4, 24, 10},
		{"inner", "memory", 10, 0.5, 4, math.NaN(), 100},
		{"outer", "memory", 1, 0.2, 4, math.NaN(), 10},
		{"inner", "memory", 20, 0.7, 4, math.NaN(), 200},
	}
	f, err := Roofline(frame.Of(rows), RooflineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.panels) != 2 || f.panels[0].Title.Text != "L1 (no bytes, not drawn: 1)" || f.panels[1].Title.Text != "memory" {
		t.Fatalf("%d panels, %q", len(f.panels), f.panels[0].Title.Text)
	}
	var names []string
	for _, e := range f.panels[0].Legend.entries {
		names = append(names, e.text)
	}
	if got := strings.Join(names, ", "); got != "the core's ceiling, the level's ceiling, inner, outer" || len(f.panels[1].Legend.entries) != 0 {
		t.Errorf("legend %q", got)
	}
	p := f.panels[0]
	if !(p.X.Min < -1 && p.X.Max > math.Log10(4./24) && p.Y.Min < math.Log10(0.2) && p.Y.Max > math.Log10(4)) {
		t.Errorf("axes from %g to %g and %g to %g leave out what is drawn", p.X.Min, p.X.Max, p.Y.Min, p.Y.Max)
	}
	png, err := f.PNG(12, 5)
	if err != nil || !bytes.HasPrefix(png, []byte("\x89PNG")) {
		t.Errorf("%d bytes, error %v", len(png), err)
	}
	rows[0].Y = 0
	if _, err := Roofline(frame.Of(rows), RooflineOptions{}); err == nil || !strings.Contains(err.Error(), "row 1") {
		t.Errorf("a scope without operations: %v", err)
	}
	if _, err := Roofline(frame.Of(rows[:0]), RooflineOptions{}); err == nil {
		t.Error("no rows: no error")
	}
	if _, err := Roofline(frame.Of(rows), RooflineOptions{By: "loop"}); err == nil {
		t.Error("a column that is not there: no error")
	}
}
