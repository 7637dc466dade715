package judging

import (
	"fmt"
	"math"
	"testing"
)

func TestFactor(t *testing.T) {
	// The truth is 0.1, 0.2, ... of the way to an end, by ratios, above and below.
	row := func(program string, way float64) outcome {
		pred, high, low := 9999.0, 39999.0, 624.0 // 4 times and 1/16
		if int(way*10)%2 == 0 {
			return outcome{program: program, pred: pred, low: low, high: high, sim: 1e4*math.Pow(4, way) - 1}
		}
		return outcome{program: program, pred: pred, low: low, high: high, sim: 1e4*math.Pow(1./16, way) - 1}
	}
	var rows []outcome
	for i := range 30 {
		rows = append(rows, row(fmt.Sprint(i), float64(i)/10))
	}
	// The 0.9 (1 + 1/30) quantile of 0, 0.1, ... 2.9.
	if got, want := factor(rows), 0.93*2.9; math.Abs(got-want) > 1e-9 {
		t.Errorf("of 30 programs %g, want %g", got, want)
	}
	for i := range rows {
		rows[i].program = fmt.Sprint(i % 3)
	}
	if got := factor(rows); math.Abs(got-2.9) > 1e-9 {
		t.Errorf("of 3 programs %g, want the largest, 2.9", got)
	}
	none := outcome{program: "none", pred: 1, sim: 2, low: math.NaN(), high: math.NaN()}
	if got := factor([]outcome{none}); !math.IsNaN(got) {
		t.Errorf("without intervals %g", got)
	}
	exact := outcome{program: "exact", pred: 5, sim: 5, low: 5, high: 5}
	if got := factor([]outcome{exact}); got != 0 {
		t.Errorf("of an exact count %g", got)
	}
	if got := held([]outcome{none, exact, rows[0], rows[20]}); math.Abs(got-2./3) > 1e-12 {
		t.Errorf("held %g, want 2/3", got)
	}
}

// TestCalibrated: intervals of each class are about as wide as the rows ask for
// that they were calibrated on, as recorded: programs that may be looked at, of the suite's
// open half and practice.
func TestCalibrated(t *testing.T) {
	practice := suiteOf(t, practicePath)
	for i := range practice.Programs {
		if p := &practice.Programs[i]; p.Half != Open {
			t.Errorf("%s is of the half %q", p.Name, p.Half)
		}
	}
	all := new(Findings)
	for _, name := range []string{"suite-open", "practice"} {
		f, err := Load("../../../datasets/validation/" + name)
		if err != nil {
			t.Fatal(err)
		}
		all.Misses = append(all.Misses, f.Misses...)
	}
	// The factors are to a twentieth, and rows of a few programs more or less move what is asked
	// for by as much.
	const least, most = 0.85, 1 / 0.85
	classes := 0
	for _, s := range all.Summary() {
		if s.Class == ClassCycles {
			continue
		}
		classes++
		if t.Logf("%s: %d rows, factor %.2f", s.Class, s.Rows, s.Factor); !(s.Factor > least && s.Factor < most) {
			t.Errorf("%s: intervals ask for %.2f times their widths", s.Class, s.Factor)
		}
	}
	if classes != 3 {
		t.Errorf("%d classes, want 3", classes)
	}
}
