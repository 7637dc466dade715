package misses

import (
	"testing"

	"presage/perf/fit"
	"presage/perf/scaling"
)

func TestFitsBadly(t *testing.T) {
	for doubt, want := range map[fit.Doubt]bool{
		scaling.PoorFit: true, scaling.Pieces: true, scaling.Uneven: true, scaling.HeldConstant: true,
		fit.ActiveConstraint: false, scaling.TotalsDisagree: false,
	} {
		f := fit.Func{Warnings: []fit.Warning{{Doubt: fit.IllConditioned}, {Doubt: doubt}}}
		if fitsBadly(&f) != want {
			t.Errorf("%s: %v, want %v", doubt, !want, want)
		}
	}
}
