package fit

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestAheadOfNoise continues noisy values that grow a little faster than the size to four
// times the largest: with Options.Ahead the worst tenth of the errors is far smaller, and
// functions that meet the values are the same.
func TestAheadOfNoise(t *testing.T) {
	basis, err := ParseBasis("1, n, n^2, n^3")
	if err != nil {
		t.Fatal(err)
	}
	var points []Point
	for _, n := range []float64{1200, 1500, 1900, 2500, 3200, 4000} {
		points = append(points, Point{"n": n})
	}
	d, err := NewDesign(basis, points, nil)
	if err != nil {
		t.Fatal(err)
	}
	far := Point{"n": 16000}
	at := func(y []float64, ahead float64) float64 {
		f, err := d.Fit(y, Options{Weighting: Relative, Shape: Shape{NonNegative: true, Trend: TrendOfData, Curvature: OneCurvature}, Cancellation: 1, Ahead: ahead})
		if err != nil {
			t.Fatal(err)
		}
		return f.Eval(far)
	}
	r := rand.New(rand.NewPCG(2, 9))
	truth := func(n float64) float64 { return 30 * math.Pow(n, 1.05) }
	const trials = 200
	beyond := map[float64]int{}
	for range trials {
		var y []float64
		for _, p := range points {
			y = append(y, truth(p["n"])*(1+0.03*r.NormFloat64()))
		}
		for _, ahead := range []float64{0, 1} {
			if off := math.Abs(math.Log(at(y, ahead) / truth(far["n"]))); off > math.Log(1.5) {
				beyond[ahead]++
			}
		}
	}
	t.Logf("off by half and more: %d of %d errors, %d with Ahead", beyond[0], trials, beyond[1])
	if beyond[1] > beyond[0]/3 {
		t.Errorf("off by half and more: %d of %d, with Ahead %d", beyond[0], trials, beyond[1])
	}
	for _, exact := range []func(n float64) float64{
		func(n float64) float64 { return 5*n + 1e-6*n*n*n },
		func(n float64) float64 { return 700 + 0.01*n*n },
	} {
		var y []float64
		for _, p := range points {
			y = append(y, exact(p["n"]))
		}
		if got, want := at(y, 1), exact(far["n"]); math.Abs(got/want-1) > 1e-6 {
			t.Errorf("%g ahead, want %g", got, want)
		}
	}
}

// TestFittedIsLeastSquares compares a multiple of a function with the fit of its values as
// the only term: residuals, leave-one-out error and spread are the same.
func TestFittedIsLeastSquares(t *testing.T) {
	basis, err := ParseBasis("n^2")
	if err != nil {
		t.Fatal(err)
	}
	points := []Point{{"n": 1}, {"n": 2}, {"n": 3}, {"n": 5}, {"n": 8}}
	y, w := []float64{2.5, 7, 21, 48, 140}, []float64{1, 0.5, 0.2, 0.1, 0.02}
	d, err := NewDesign(basis, points, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := d.Fit(y, Options{Weights: w})
	if err != nil {
		t.Fatal(err)
	}
	of := Func{Terms: want.Terms, Coefficients: []float64{7}}
	got := of.Fitted(points, y, w)
	near := func(name string, got, want float64) {
		if math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("%s %g, want %g", name, got, want)
		}
	}
	near("coefficient", got.Coefficients[0], want.Coefficients[0])
	near("leave-one-out error", got.LOO, want.LOO)
	near("error", got.RMS, want.RMS)
	a, b := got.Spread.Rivals[0], want.Spread.Rivals[0]
	near("freedom", a.Freedom, b.Freedom)
	near("heaviest", got.Spread.Heaviest, want.Spread.Heaviest)
	for i := range y {
		near("influence", a.Influence[i], b.Influence[i])
		near("error of a point", math.Abs(a.Errors[i]), math.Abs(b.Errors[i]))
	}
}

// TestSpreadOr demands that rivals of two spreads have the values that they had, and half
// the probability.
func TestSpreadOr(t *testing.T) {
	points := []Point{{"n": 1}, {"n": 2}, {"n": 3}, {"n": 5}, {"n": 8}, {"n": 9}}
	y := []float64{3, 5, 12, 30, 60, 90}
	of := func(text string) Func {
		b, err := ParseBasis(text)
		if err != nil {
			t.Fatal(err)
		}
		d, err := NewDesign(b, points, nil)
		if err != nil {
			t.Fatal(err)
		}
		f, err := d.Fit(y, Options{Weighting: Relative})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f, g := of("n, n^2"), of("1, n^2, n^3")
	both := f.Spread.Or(g.Spread)
	at, sum, k := Point{"n": 20}, 0.0, 0
	for _, s := range []Spread{f.Spread, g.Spread} {
		for i := range s.Rivals {
			v, change := s.Rivals[i].At(nil, s.Values(at))
			w, moved := both.Rivals[k].At(nil, both.Values(at))
			if math.Abs(v-w) > 1e-9*math.Abs(v) {
				t.Errorf("rival %d: %g, was %g", k, w, v)
			}
			for p := range change {
				if math.Abs(change[p]-moved[p]) > 1e-9*math.Abs(change[p]) {
					t.Errorf("rival %d, point %d: influence %g, was %g", k, p, moved[p], change[p])
				}
			}
			sum += both.Rivals[k].Probability
			k++
		}
	}
	if k != len(both.Rivals) || math.Abs(sum-1) > 1e-9 {
		t.Errorf("%d of %d rivals have a probability of %g", k, len(both.Rivals), sum)
	}
}

// TestAheadHasRemainders demands that terms of remainders have those of the points ahead,
// too: four times any size is a multiple of a larger power of two than the size is.
func TestAheadHasRemainders(t *testing.T) {
	basis, err := ParseBasis("n, n*gcd(8*n, 64)/64")
	if err != nil {
		t.Fatal(err)
	}
	var points []Point
	for n := 10.0; n <= 40; n += 3 {
		points = append(points, Point{"n": n})
	}
	d, err := NewDesign(basis, points, nil)
	if err != nil {
		t.Fatal(err)
	}
	shares := make(map[float64]int)
	for _, ahead := range d.ahead {
		if n := ahead[0]; n < 120 || n > 160 {
			t.Errorf("looks ahead at %g", n)
		}
		shares[ahead[1]/ahead[0]]++
	}
	if len(shares) < 4 {
		t.Errorf("shares of a line ahead: %v, want those of 1, 2, 4 and 8 elements", shares)
	}
}

// TestWithout fits to fewer points, which is to fit to a design of these.
func TestWithout(t *testing.T) {
	basis, err := ParseBasis("1, n, n^2")
	if err != nil {
		t.Fatal(err)
	}
	points := []Point{{"n": 2}, {"n": 9}, {"n": 3}, {"n": 5}, {"n": 7}}
	d, err := NewDesign(basis, points, nil)
	if err != nil {
		t.Fatal(err)
	}
	fewer, err := d.Without(1, 4)
	if err != nil {
		t.Fatal(err)
	}
	if iv := fewer.Domain()["n"]; iv != (Interval{2, 5}) {
		t.Errorf("domain %v", iv)
	}
	g, err := fewer.Fit([]float64{4, 9, 25}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if v := g.Eval(d.Point(1)); math.Abs(v-81) > 1e-9 {
		t.Errorf("%v: %g at 9", &g, v)
	}
	if again, err := d.Without(1, 4); again != fewer || err != nil {
		t.Errorf("made twice: %v", err)
	}
}
