package fit

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

func line(ns ...float64) []Point {
	out := make([]Point, len(ns))
	for i, n := range ns {
		out[i] = Point{"n": n}
	}
	return out
}

func mustDesign(t testing.TB, basis string, points []Point) *Design {
	t.Helper()
	b, err := ParseBasis(basis)
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDesign(b, points, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func values(points []Point, f func(n float64) float64) []float64 {
	out := make([]float64, len(points))
	for i, p := range points {
		out[i] = f(p["n"])
	}
	return out
}

// TestFitRecoversTerms demands recovery of the terms that generated the data,
// all of them and no others. A search for a single term cannot find the second
// case.
func TestFitRecoversTerms(t *testing.T) {
	points := line(8, 14, 20, 26, 32, 40)
	const basis = "1, sqrt(n), n, n*log(n), n^2, n^3"
	for _, c := range []struct {
		name string
		f    func(n float64) float64
		want string
	}{
		{"constant", func(float64) float64 { return 7 }, "7"},
		{"0.001n³+0.5n²+20", func(n float64) float64 { return 0.001*n*n*n + 0.5*n*n + 20 }, "20 + 0.5 n^2 + 0.001 n^3"},
		{"2+3√n", func(n float64) float64 { return 2 + 3*math.Sqrt(n) }, "2 + 3 sqrt(n)"},
		{"n log n", func(n float64) float64 { return 5 + 0.3*n*math.Log(n) }, "5 + 0.3 n*log(n)"},
		{"huge", func(n float64) float64 { return 1e7*n*n*n - 4e7*n }, "-4e+07 n + 1e+07 n^3"},
		{"tiny", func(n float64) float64 { return 1e-9 * n }, "1e-09 n"},
	} {
		d := mustDesign(t, basis, points)
		for _, w := range []Weighting{Uniform, Relative} {
			f, err := d.Fit(values(points, c.f), Options{Weighting: w})
			if err != nil {
				t.Fatal(err)
			}
			if f.String() != c.want {
				t.Errorf("%s, weighting %d: %s, want %s (LOO %g)", c.name, w, &f, c.want, f.LOO)
			}
			if f.R2 < 1-1e-9 || f.RMS > 1e-9*norm2(values(points, c.f)) {
				t.Errorf("%s: R2 %g, RMS %g", c.name, f.R2, f.RMS)
			}
		}
	}
}

// TestFitSpansTwelveDecades fits counts from 1 to 1e12 in one series: relative
// weights preserve the small ones.
func TestFitSpansTwelveDecades(t *testing.T) {
	points := line(1, 10, 100, 1000, 1e4)
	d := mustDesign(t, "1, n, n^2, n^3", points)
	y := values(points, func(n float64) float64 { return n * n * n })
	f, err := d.Fit(y, Options{Weighting: Relative, AllTerms: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range points {
		if math.Abs(f.Eval(p)-y[i]) > 1e-9*y[i] {
			t.Errorf("at %v: %g, want %g", p, f.Eval(p), y[i])
		}
	}
}

// TestLeaveOneOutIsRefitting demands that the closed form of the leave-one-out
// error equals refitting without each point.
func TestLeaveOneOutIsRefitting(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		n := 5 + r.IntN(6)
		points := make([]Point, n)
		y, w := make([]float64, n), make([]float64, n)
		for i := range points {
			points[i] = Point{"n": float64(5+4*i) + r.Float64()}
			y[i], w[i] = r.NormFloat64()*10, 0.5+r.Float64()
		}
		d := mustDesign(t, "1, n, n^2", points)
		f, err := d.Fit(y, Options{AllTerms: true, Weights: w})
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for i := range points {
			sub := mustDesign(t, "1, n, n^2", append(slices.Clone(points[:i]), points[i+1:]...))
			g, err := sub.Fit(without(y, i), Options{AllTerms: true, Weights: without(w, i)})
			if err != nil {
				t.Fatal(err)
			}
			sum += math.Pow(w[i]*(y[i]-g.Eval(points[i])), 2)
		}
		if want := math.Sqrt(sum / float64(n)); math.Abs(f.LOO-want) > 1e-8*want {
			t.Fatalf("LOO %g, refitting %g", f.LOO, want)
		}
	}
}

// TestLeastSquaresAgainstGonum compares with gonum's QR on the same
// least-squares problems.
func TestLeastSquaresAgainstGonum(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	points := line(3, 7, 8, 12, 20, 33, 50)
	d := mustDesign(t, "1, n, n*log(n), n^2", points)
	for range 50 {
		y := make([]float64, len(points))
		x := mat.NewDense(len(points), 4, nil)
		for i := range points {
			y[i] = r.NormFloat64()
			for j := range 4 {
				x.Set(i, j, d.columns[j][i])
			}
		}
		f, err := d.Fit(y, Options{AllTerms: true})
		if err != nil {
			t.Fatal(err)
		}
		var want mat.VecDense
		if err := want.SolveVec(x, mat.NewVecDense(len(y), y)); err != nil {
			t.Fatal(err)
		}
		for j, c := range f.Coefficients {
			if math.Abs(c-want.AtVec(j)) > 1e-8*(1e-3+math.Abs(want.AtVec(j))) {
				t.Fatalf("coefficients %v, gonum %v", f.Coefficients, want.RawVector().Data)
			}
		}
	}
}

// TestFitIgnoresNoise demands that noise does not buy terms: for data with 5%
// noise around a line, the model seldom has more than two terms.
func TestFitIgnoresNoise(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	points := line(8, 12, 16, 20, 24, 28, 32, 40)
	d := mustDesign(t, "1, n, n^2, n^3", points)
	large, worst := 0, 0.0
	for range 200 {
		y := values(points, func(n float64) float64 { return (100 + 10*n) * (1 + 0.05*r.NormFloat64()) })
		f, err := d.Fit(y, Options{Weighting: Relative, Shape: Shape{NonNegative: true, Trend: Rising, Curvature: OneCurvature}})
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Terms) > 2 {
			large++
		}
		worst = max(worst, math.Abs(f.Eval(Point{"n": 80})/900-1))
	}
	t.Logf("%d of 200 models have more than two terms; worst error at twice the largest point %.0f%%", large, 100*worst)
	if large > 40 || worst > 3 {
		t.Errorf("%d of 200 models have more than two terms; worst error %g", large, worst)
	}
}

func TestShapeHolds(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	points := line(8, 14, 20, 26, 32, 40)
	d := mustDesign(t, "1, n, n^2, n^3", points)
	active := 0
	for range 300 {
		y := values(points, func(n float64) float64 { return math.Max(0, 30+r.NormFloat64()*20+n*r.Float64()) })
		f, err := d.Fit(y, Options{AllTerms: true, Shape: Shape{NonNegative: true, Trend: Rising, Curvature: Concave}})
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(f.Warnings, func(w Warning) bool { return w.Doubt == ActiveConstraint }) {
			active++
		}
		size := 0.0
		for _, v := range y {
			size += v
		}
		last, slope := 0.0, math.Inf(1)
		for i := range 200 {
			x := 8 * math.Pow(40, float64(i)/199)
			v := f.Eval(Point{"n": x})
			h := x * 1e-3
			s := (f.Eval(Point{"n": x + h}) - f.Eval(Point{"n": x - h})) / (2 * h)
			// The shape is enforced at 15 places; between them a thousandth of the data.s
			// size is allowed, and of the slopes five hundredths.
			if v < -1e-3*size || v < last-1e-3*size || s > slope+5e-2*size/x {
				t.Fatalf("%s at %g: value %g after %g, slope %g after %g", &f, x, v, last, s, slope)
			}
			last, slope = v, s
		}
	}
	if active < 30 {
		t.Errorf("only %d of 300 fits had an active constraint", active)
	}
}

// TestFitIsEquivariant demands that rescaled data give rescaled coefficients.
func TestFitIsEquivariant(t *testing.T) {
	points := line(8, 14, 20, 26, 32)
	d := mustDesign(t, "1, n, n^2", points)
	y := []float64{3, 9, 11, 30, 31}
	opt := Options{Weighting: Relative, Shape: Shape{NonNegative: true, Trend: TrendOfData, Curvature: OneCurvature}}
	f, err := d.Fit(y, opt)
	if err != nil {
		t.Fatal(err)
	}
	larger := slices.Clone(y)
	floats.Scale(1024, larger)
	g, err := d.Fit(larger, opt)
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Coefficients {
		if math.Abs(g.Coefficients[i]-1024*f.Coefficients[i]) > 1e-6*math.Abs(g.Coefficients[i]) {
			t.Fatalf("%s, times 1024: %s", &f, &g)
		}
	}
}

func TestTwoParameters(t *testing.T) {
	var points []Point
	var y []float64
	for _, n := range []float64{8, 16, 24, 32} {
		for _, m := range []float64{2, 4, 8} {
			points = append(points, Point{"n": n, "m": m})
			y = append(y, 5+2*n*n*m)
		}
	}
	d, err := NewDesign(Monomials(3, "m", "n"), points, nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := d.Fit(y, Options{Weighting: Relative, Shape: Shape{NonNegative: true, Trend: Rising}})
	if err != nil {
		t.Fatal(err)
	}
	if f.String() != "5 + 2 m*n^2" {
		t.Errorf("model %s", &f)
	}
}

func TestDoubtsAndErrors(t *testing.T) {
	points := line(8, 16)
	d := mustDesign(t, "1, n, 2*n", points)
	f, err := d.Fit([]float64{1, 2}, Options{AllTerms: true})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range f.Warnings {
		got = append(got, string(w.Doubt))
	}
	if s := strings.Join(got, ","); s != "few points,rank deficient" {
		t.Errorf("warnings %q", s)
	}
	if w := f.Check(Point{"n": 129}); len(w) != 1 || w[0].Doubt != Extrapolated {
		t.Errorf("extrapolation to 129: %v", w)
	}
	if w := f.Check(Point{"n": 128}); len(w) != 0 {
		t.Errorf("extrapolation to 128: %v", w)
	}
	if _, err := d.Fit([]float64{1, math.NaN()}, Options{}); !errors.Is(err, ErrData) {
		t.Errorf("NaN: %v", err)
	}
	b, err := ParseBasis("log(n)")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewDesign(b, line(0, 1), nil); !errors.Is(err, ErrData) || !strings.Contains(err.Error(), "log(n) is -Inf at point 0") {
		t.Errorf("log 0: %v", err)
	}
	if _, err := NewDesign(b, []Point{{"m": 1}}, nil); !errors.Is(err, ErrData) {
		t.Errorf("missing parameter: %v", err)
	}
	zero, err := d.Fit([]float64{0, 0}, Options{})
	if err != nil || zero.Eval(Point{}) != 0 || zero.String() != "0" {
		t.Errorf("zeros: %s, %v", &zero, err)
	}
	one := mustDesign(t, "1, n", line(10))
	g, err := one.Fit([]float64{5}, Options{})
	if err != nil || g.String() != "5" || len(g.Warnings) == 0 {
		t.Errorf("one point: %s, %v, %v", &g, g.Warnings, err)
	}
}

// TestShapedLeaveOneOutIsRefitting demands the same under a shape, where each
// point's refit is a quadratic programme.
func TestShapedLeaveOneOutIsRefitting(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 28))
	basis, err := ParseBasis("1, n, n^2")
	if err != nil {
		t.Fatal(err)
	}
	points := line(5, 9, 14, 18, 25, 31)
	reach := Reach{"n": {5, 100}}
	opt := Options{AllTerms: true, Shape: Shape{NonNegative: true, Trend: Rising, Curvature: OneCurvature}}
	fitted := func(points []Point, y []float64) Func {
		d, err := NewDesign(basis, points, reach)
		if err != nil {
			t.Fatal(err)
		}
		f, err := d.Fit(y, opt)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	bound := 0
	for range 100 {
		y := values(points, func(n float64) float64 { return n + 20*r.NormFloat64() })
		f := fitted(points, y)
		if len(f.Warnings) == 0 {
			continue // not bound: the other test's case
		}
		bound++
		sum := 0.0
		for i := range points {
			g := fitted(slices.Concat(points[:i], points[i+1:]), without(y, i))
			sum += math.Pow(y[i]-g.Eval(points[i]), 2)
		}
		if want := math.Sqrt(sum / float64(len(y))); math.Abs(f.LOO-want) > 1e-6*want {
			t.Fatalf("LOO %g, refitting %g", f.LOO, want)
		}
	}
	if bound < 50 {
		t.Errorf("only %d fits were bound by their shape", bound)
	}
}

func without(v []float64, i int) []float64 { return slices.Concat(v[:i], v[i+1:]) }

// TestFitsDoNotDisturbEachOther demands that a search whose memory other fits
// have used finds the same as a new one, bit by bit, and that LeaveOneOut is
// the LOO of the fit.
func TestFitsDoNotDisturbEachOther(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	points := line(8, 14, 20, 26, 32, 40, 50)
	shapes := []Shape{{}, {NonNegative: true, Trend: TrendOfData, Curvature: OneCurvature}, {Trend: Falling}}
	used := mustDesign(t, "1, n, n^2, n^3", points)
	for range 200 {
		y := values(points, func(n float64) float64 { return 50 + n*n*r.Float64() + 900*r.NormFloat64() })
		opt := Options{Shape: shapes[r.IntN(len(shapes))], AllTerms: r.IntN(4) == 0, MaxTerms: r.IntN(4)}
		got, err := used.Fit(y, opt)
		want, wantErr := mustDesign(t, "1, n, n^2, n^3", points).Fit(y, opt)
		if (err == nil) != (wantErr == nil) || !slices.Equal(got.Coefficients, want.Coefficients) || got.LOO != want.LOO {
			t.Fatalf("%v: got %v, LOO %g, %v; alone %v, LOO %g, %v", opt, &got, got.LOO, err, &want, want.LOO, wantErr)
		}
		if loo, err := used.LeaveOneOut(y, opt); err == nil && loo != got.LOO {
			t.Fatalf("%v: LeaveOneOut %g, LOO %g", opt, loo, got.LOO)
		}
	}
}

func TestBeamFindsWhatExhaustionFinds(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	r := rand.New(rand.NewPCG(11, 12))
	var points []Point
	for i := range 20 {
		points = append(points, Point{"n": float64(4 + 3*i)})
	}
	d := mustDesign(t, "1, n^0.5, n, n*log(n), n^1.5, n^2, n^2*log(n), n^2.5, n^3", points)
	for range 20 {
		y := values(points, func(n float64) float64 { return 100 + 3*n*n + 20*r.NormFloat64() })
		w, err := weights(y, Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := new(search)
		s.begin(d, y, w, Options{MaxTerms: 3})
		all, beam := s.preferred(s.exhaustive()), s.preferred(s.beam())
		if !slices.Equal(all.terms, beam.terms) {
			t.Errorf("exhaustive %v (%g), beam %v (%g)", all.terms, all.loo, beam.terms, beam.loo)
		}
	}
}

func BenchmarkFit(b *testing.B) {
	points := line(8, 14, 20, 26, 32, 40)
	d := mustDesign(b, "1, n, n^2, n^3", points)
	y := []float64{512.3, 2751, 7999, 17600, 32790, 63998}
	for _, c := range []struct {
		name  string
		shape Shape
		y     []float64
	}{
		{"free", Shape{}, y},
		{"shape=met", Shape{NonNegative: true, Trend: Rising, Curvature: OneCurvature}, y},
		{"shape=active", Shape{NonNegative: true, Trend: Rising, Curvature: OneCurvature}, []float64{40, 20, 60, 50, 90, 70}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := d.Fit(c.y, Options{Weighting: Relative, Shape: c.shape}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestTrends(t *testing.T) {
	points := line(8, 14, 20, 26, 32, 40)
	d := mustDesign(t, "1, n, n^2, 1/n", points)
	y := []float64{900, 700, 640, 560, 580, 550}
	for _, c := range []struct {
		trend Trend
		sign  float64
	}{{Falling, -1}, {TrendOfData, -1}, {Rising, 1}} {
		f, err := d.Fit(y, Options{AllTerms: true, Shape: Shape{Trend: c.trend}})
		if err != nil {
			t.Fatal(err)
		}
		last := f.Eval(Point{"n": 8})
		for x := 9.0; x <= 320; x++ {
			v := f.Eval(Point{"n": x})
			if (v-last)*c.sign < -1 {
				t.Fatalf("trend %d: %s goes from %g to %g at %g", c.trend, &f, last, v, x)
			}
			last = v
		}
		if c.trend != Rising && f.Eval(Point{"n": 8})-last < 200 {
			t.Errorf("trend %d: %s falls by %g only", c.trend, &f, f.Eval(Point{"n": 8})-last)
		}
		if flat := f.Eval(Point{"n": 8}) - last; c.trend == Rising && math.Abs(flat) > 1 {
			t.Errorf("rising fit of falling data should be flat, falls by %g", flat)
		}
	}
}

func TestOneCurvatureIsTheBetterOne(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	points := line(8, 14, 20, 26, 32, 40)
	d := mustDesign(t, "1, n, n^2, n^3", points)
	convex := 0
	for range 50 {
		y := values(points, func(n float64) float64 { return 10*n + 60*r.NormFloat64() })
		var rms [3]float64
		for i, c := range []Curvature{Convex, Concave, OneCurvature} {
			f, err := d.Fit(y, Options{AllTerms: true, Shape: Shape{Curvature: c}})
			if err != nil {
				t.Fatal(err)
			}
			rms[i] = f.RMS
		}
		if want := min(rms[0], rms[1]); math.Abs(rms[2]-want) > 1e-9*want {
			t.Fatalf("RMS convex %g, concave %g, either %g", rms[0], rms[1], rms[2])
		}
		if rms[0] < rms[1] {
			convex++
		}
	}
	if convex < 10 || convex > 40 {
		t.Errorf("%d of 50 samples are convex", convex)
	}
}

func TestSimplicity(t *testing.T) {
	order := [][]int{{0}, {1}, {3}, {0, 1}, {0, 2}, {1, 2}, {0, 3}, {0, 1, 2}}
	for i := range order {
		for k := range order {
			got := bySimplicity(candidate{terms: order[i]}, candidate{terms: order[k]})
			if (got < 0) != (i < k) || (got == 0) != (i == k) {
				t.Errorf("terms %v and %v: %d", order[i], order[k], got)
			}
		}
	}
}
