package infer

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// invented returns a table whose response is a product of powers, with noise.
func invented(rows int, noise float64, seed uint64) *Table {
	rng := rand.New(rand.NewPCG(seed, 1))
	t := &Table{Names: []string{"a", "b", "c"}, Columns: make([][]float64, 3)}
	for range rows {
		a, b, c := 1+9*rng.Float64(), 1+9*rng.Float64(), rng.Float64()
		for v, x := range []float64{a, b, c} {
			t.Columns[v] = append(t.Columns[v], x)
		}
		t.Response = append(t.Response, math.Exp(0.5*math.Log(a)*math.Log(b)-0.3*c+noise*rng.NormFloat64()))
	}
	return t
}

// TestRidgeIsTheFit: normal equations and QR agree on the same terms and penalty.
func TestRidgeIsTheFit(t *testing.T) {
	table, spec := invented(400, 0.05, 1), Everything(3, 2)
	for _, scaling := range []Scaling{{Log: true}, {Power: 1}} {
		opt := FitOptions{Scaling: scaling, Ridge: 2}
		direct, err := Ridge(table.Balanced(), spec, opt)
		if err != nil {
			t.Fatal(err)
		}
		exact, err := Fit(table.Balanced(), spec, opt)
		if err != nil {
			t.Fatal(err)
		}
		if len(direct.Terms) != len(exact.Terms) || len(direct.Terms) != 1+3*6+3*4 {
			t.Fatalf("%d terms and %d", len(direct.Terms), len(exact.Terms))
		}
		for j, b := range direct.Coefficients {
			if math.Abs(b-exact.Coefficients[j]) > 1e-8 {
				t.Errorf("%+v: coefficient %d is %g, by QR %g", scaling, j, b, exact.Coefficients[j])
			}
		}
		// Its residuals are those of the rows, without the penalty.
		if !(direct.R2 > 0.9) || !(direct.ResidualError > 0) {
			t.Errorf("%+v: R² %g, residual error %g", scaling, direct.R2, direct.ResidualError)
		}
	}
}

// TestRidgePredicts finds a product again that it was not told of, and keeps to the
// range of what it saw.
func TestRidgePredicts(t *testing.T) {
	train := invented(600, 0.02, 2)
	m, err := Ridge(train, Everything(3, 2), FitOptions{Scaling: Scaling{Log: true}, Ridge: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := Ridge(train, Spec{Genes: []Gene{Linear, Linear, Linear}}, FitOptions{Scaling: Scaling{Log: true}, Ridge: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	fresh := invented(200, 0, 3)
	predicted, err := m.Predict(fresh)
	if err != nil {
		t.Fatal(err)
	}
	linear, err := plain.Predict(fresh)
	if err != nil {
		t.Fatal(err)
	}
	// The noise is 2%, and logarithms of a and b are no polynomials of these.
	a, without := Judge(predicted, fresh.Response), Judge(linear, fresh.Response)
	if a.Median > 0.03 || a.Correlation < 0.99 || without.Median < 3*a.Median {
		t.Errorf("%+v; without products %+v", a, without)
	}
	far := &Table{Names: fresh.Names, Columns: [][]float64{{1e6}, {1e6}, {0}}, Response: []float64{math.NaN()}}
	if predicted, err = m.Predict(far); err != nil || predicted[0] != m.Most && predicted[0] != m.Least {
		t.Errorf("far outside: %v, %v; want %g or %g", predicted, err, m.Least, m.Most)
	}
	for _, opt := range []FitOptions{{}, {Ridge: -1}, {Ridge: math.NaN()}} {
		if _, err := Ridge(fresh, Everything(3, 1), opt); err == nil || !strings.Contains(err.Error(), "ridge") {
			t.Errorf("%+v: %v", opt, err)
		}
	}
	if _, err := Ridge(fresh, Everything(2, 1), FitOptions{Ridge: 1}); err == nil {
		t.Error("a spec for other variables: no error")
	}
}
