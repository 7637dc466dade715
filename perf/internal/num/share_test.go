package num

import (
	"math"
	"testing"
)

func TestRatios(t *testing.T) {
	for _, c := range []struct{ got, want float64 }{
		{Ratio(1, 4), 0.25},
		{Ratio(3, 0), 0},
		{RelErr(110, 100), 0.1},
		{RelErr(0, 0), 0},
		{RelErr(1, 0), math.Inf(1)},
		{RelErr(-1, 0), math.Inf(-1)},
		{RelErr(0, 4), -1},
	} {
		if math.Abs(c.got-c.want) > 1e-15 && c.got != c.want {
			t.Errorf("got %g, want %g", c.got, c.want)
		}
	}
	if v := RelErr(math.NaN(), 1); !math.IsNaN(v) {
		t.Errorf("error of a missing value: %g", v)
	}
	for share, want := range map[float64]string{0.0001: "less than 0.1%", 0.1234: "12.3%", 1: "100.0%"} {
		if got := Percent(share); got != want {
			t.Errorf("%g: %s, want %s", share, got, want)
		}
	}
}
