package iperf

import (
	"testing"

	"presage/perf/fit"
)

// TestTimedTakesTheMedian: of an even number of sizes, the time of an iteration is the
// mean of the middle two.
func TestTimedTakesTheMedian(t *testing.T) {
	k, err := FindKernel("increment-ij")
	if err != nil {
		t.Fatal(err)
	}
	var times []Measurement
	for i, each := range []float64{1, 2, 4, 64} { // seconds an iteration
		p := fit.Point{"n": float64(10 * (i + 1))}
		nest, err := k.At(p)
		if err != nil {
			t.Fatal(err)
		}
		times = append(times, Measurement{Point: p, Time: each * nest.Iterations(len(nest.Trips)-1)})
		s, err := timed(&System{}, k, times)
		if err != nil {
			t.Fatal(err)
		}
		if want := []float64{1, 1.5, 2, 3}[i]; s.IterationSeconds != want {
			t.Errorf("%d sizes: %g s, want %g", i+1, s.IterationSeconds, want)
		}
	}
	known := &System{IterationSeconds: 7}
	if s, err := timed(known, k, times); err != nil || s != known {
		t.Errorf("%v, %v: the time is known", s, err)
	}
}
