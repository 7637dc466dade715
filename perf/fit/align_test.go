package fit

import (
	"math"
	"testing"
)

func TestGCD(t *testing.T) {
	for _, c := range []struct{ a, b, want float64 }{
		{12, 18, 6}, {400, 128, 16}, {7, 0, 7}, {0, 0, 0}, {-12, 18, 6}, {1 << 53, 6, 2}, {5, 5, 5},
	} {
		if got := gcd(c.a, c.b); got != c.want {
			t.Errorf("gcd(%g, %g) = %g, want %g", c.a, c.b, got, c.want)
		}
	}
	for _, bad := range []float64{2.5, math.NaN(), math.Inf(1), 1 << 54} {
		if got := gcd(bad, 8); got != 0 {
			t.Errorf("gcd(%g, 8) = %g, want 0", bad, got)
		}
	}
}

// TestShapeLeavesAlignmentOut fits rows of n doubles in lines of 128 bytes: the
// number of lines falls where n becomes a multiple of 16, although its trend
// rises. A term that describes this must not conflict with the shape.
func TestShapeLeavesAlignmentOut(t *testing.T) {
	points := line(20, 26, 30, 32, 34, 40, 46)
	lines := func(n float64) float64 { return n * n * (n/16 + 1 - gcd(8*n, 128)/128) }
	y := values(points, lines)
	if y[3] > y[2] {
		t.Fatal("the data do not fall")
	}
	d := mustDesign(t, "1, n, n^2, n^3, n^2*gcd(8*n, 128)/128", points)
	f, err := d.Fit(y, Options{Weighting: Relative, Shape: Shape{NonNegative: true, Trend: TrendOfData, Curvature: OneCurvature}})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []float64{48, 75, 160} {
		p := Point{"n": n}
		if got, want := f.Eval(p), lines(n); math.Abs(got-want) > 1e-6*want {
			t.Errorf("n = %g: %g, want %g (%s)", n, got, want, &f)
		}
	}
}

// TestCancellationCounts fits Sweep3D's counts at these sizes: lines that
// return late, about 24 n³ + 380 n² (1 − g), and a few that do not. A constant
// and a line that cancel each other predict left-out points better than the
// true terms, but are off by a fifth at twice the size.
func TestCancellationCounts(t *testing.T) {
	points := line(20, 23, 26, 29, 32, 35, 38, 41, 44, 47, 50)
	y := []float64{261130, 413661, 550539, 755769, 605554, 1259931, 1515094, 1873330, 2173449, 2709603, 3146913}
	d := mustDesign(t, "1, n, n^2, n^3, n*gcd(8*n, 128)/128, n^2*gcd(8*n, 128)/128", points)
	fit := func(cancellation float64) Func {
		w := make([]float64, len(y))
		for i := range y {
			w[i] = points[i]["n"] / y[i]
		}
		f, err := d.Fit(y, Options{Weights: w, Cancellation: cancellation})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	without, with := fit(0), fit(1)
	if with.LOO <= without.LOO {
		t.Errorf("LOO %g with cancellation counted (%s), %g without (%s): no test of a choice", with.LOO, &with, without.LOO, &without)
	}
	p := Point{"n": 100}
	const physical = 18.6e6 + 380e4*(1-0.25) // 18.6 n³: of the sum, those in this bin
	if got := with.Eval(p); math.Abs(got-physical) > 0.15*physical {
		t.Errorf("with cancellation counted: %g at n = 100, want about %g (%s)", got, physical, &with)
	}
	if got := without.Eval(p); math.Abs(got-physical) < 0.2*physical {
		t.Errorf("without: %g at n = 100 (%s): no test of a choice", got, &without)
	}
	// A polynomial that has opposite signs by right is found all the same.
	exact := values(points, func(n float64) float64 { return (n - 2) * (n - 2) * (n - 1) })
	f, err := d.Fit(exact, Options{Weighting: Relative, Cancellation: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Eval(p); math.Abs(got-98*98*99) > 1e-3 {
		t.Errorf("(n-2)²(n-1) is %g at 100 (%s)", got, &f)
	}
}
