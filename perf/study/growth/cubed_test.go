package growth

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"presage/perf/frame"
)

func table(t *testing.T, text string) frame.Table {
	t.Helper()
	df, err := frame.ReadCSV(bytes.NewReader([]byte(text)))
	if err != nil {
		t.Fatal(err)
	}
	return df
}

func TestCubed(t *testing.T) {
	judged := table(t, "n,machine,level,of,sim_misses\n40,a,L1,program,800\n60,a,L1,program,1000\n60,a,L1,routine,500\n40,b,L1,program,0\n")
	const largest = "n,machine,level,sim_misses\n20,a,L1,100\n20,b,L1,7\n"
	both, err := Cubed(judged, table(t, largest))
	if err != nil {
		t.Fatal(err)
	}
	pred, errs := floats(t, both, "pred_misses_n3"), floats(t, both, "rel_err_n3")
	for i, want := range [][2]float64{{800, 0}, {2700, 1.7}, {math.NaN(), math.NaN()}, {56, math.Inf(1)}} {
		if same := func(a, b float64) bool {
			return a == b || math.Abs(a-b) < 1e-9 || math.IsNaN(a) && math.IsNaN(b)
		}; !same(pred[i], want[0]) || !same(errs[i], want[1]) {
			t.Errorf("row %d: %g, %g; want %v", i, pred[i], errs[i], want)
		}
	}
	for want, text := range map[string]string{
		"L1 of b was not simulated": "n,machine,level,sim_misses\n20,a,L1,100\n",
		"more than once":            largest + "30,b,L1,9\n",
		"sim_misses":                "n,machine,level\n20,a,L1\n",
	} {
		if _, err := Cubed(judged, table(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := Cubed(table(t, "n\n1\n"), table(t, largest)); err == nil {
		t.Error("judgements without a machine: no error")
	}
}

func floats(t *testing.T, df frame.Table, column string) []float64 {
	t.Helper()
	values, err := frame.Floats(df, column)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func TestCubedBeyond(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the packages below have tests of their own goroutines")
	}
	times := table(t, "n,machine,sim_cycles\n20,a,10\n40,a,100\n80,a,1000\n60,a,675\n40,b,1\n80,b,8\n")
	errs, err := CubedBeyond(times, "sim_cycles", 40, "machine")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{math.NaN(), math.NaN(), -0.2, -0.5, math.NaN(), 0} {
		if got := errs[i]; math.Abs(got-want) > 1e-12 || math.IsNaN(got) != math.IsNaN(want) {
			t.Errorf("row %d: %g, want %g", i, got, want)
		}
	}
	if _, err := CubedBeyond(times, "sim_cycles", 30, "machine"); err == nil || !strings.Contains(err.Error(), "up to 30") {
		t.Errorf("b has no size up to 30: %v", err)
	}
	if _, err := CubedBeyond(times, "cycles", 30); err == nil {
		t.Error("no such column, and no error")
	}
}
