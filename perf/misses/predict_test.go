package misses

import (
	"presage/perf/fit"
	"presage/perf/scaling"
	"testing"
)

func TestFitsBadly(t *testing.T) {
	for doubt, want := range map[fit.Doubt]bool{
		scaling.PoorFit: true, scaling.Pieces: true, scaling.HeldConstant: true,
		fit.ActiveConstraint: false, scaling.TotalsDisagree: false,
	} {
		f := fit.Func{Warnings: []fit.Warning{{Doubt: fit.IllConditioned}, {Doubt: doubt}}}
		if fitsBadly(&f) != want {
			t.Errorf("%s: %v, want %v", doubt, !want, want)
		}
	}
}
