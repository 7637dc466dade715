package misses

import (
	"math"
	"testing"
)

// TestOtherRuns: a model of other runs is left where it foretells its largest run much worse than
// the model of the profiles does its own, and not for a hair's breadth.
func TestOtherRuns(t *testing.T) {
	for _, c := range []struct {
		theirs, ours float64
		want         bool
	}{
		{0.1, 0.2, true},
		{0.28432, 0.28397, true}, // a TLB that holds all that either run touches
		{0, 0, true},
		{0.7, 0.35, false},
		{0.01, 0, false},
		{math.Inf(1), 0.5, false},
		{math.Inf(1), math.Inf(1), false},
	} {
		if got := otherRuns(c.theirs, c.ours); got != c.want {
			t.Errorf("off by %g, the other by %g: %v, want %v", c.theirs, c.ours, got, c.want)
		}
	}
}
