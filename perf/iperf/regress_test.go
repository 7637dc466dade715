package iperf

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func column(name string, values ...float64) Column {
	return Column{Model: &Model{Name: name, Terms: make([]Formula, 1)}, Values: values}
}

// normal solves the normal equations by elimination: slow, obvious, and good for
// well-conditioned problems.
func normal(columns []Column, y []float64, method Method) []float64 {
	k := len(columns)
	a := make([][]float64, k)
	for i := range a {
		a[i] = make([]float64, k+1)
		for r := range y {
			w := 1.0
			if method == WLS {
				w = 1 / (y[r] * y[r])
			}
			for j := range columns {
				a[i][j] += w * columns[i].Values[r] * columns[j].Values[r]
			}
			a[i][k] += w * columns[i].Values[r] * y[r]
		}
	}
	for i := range k {
		p := i
		for r := i; r < k; r++ {
			if math.Abs(a[r][i]) > math.Abs(a[p][i]) {
				p = r
			}
		}
		a[i], a[p] = a[p], a[i]
		for r := range k {
			if r != i {
				f := a[r][i] / a[i][i]
				for c := i; c <= k; c++ {
					a[r][c] -= f * a[i][c]
				}
			}
		}
	}
	out := make([]float64, k)
	for i := range out {
		out[i] = a[i][k] / a[i][i]
	}
	return out
}

func TestRegressAgainstNormalEquations(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		rows := 6 + r.IntN(20)
		var columns []Column
		for range 1 + r.IntN(4) {
			c := column("c")
			for range rows {
				c.Values = append(c.Values, r.NormFloat64()*100)
			}
			columns = append(columns, c)
		}
		var y []float64
		for range rows {
			y = append(y, 0.5+r.Float64())
		}
		for _, method := range []Method{OLS, WLS} {
			got, collinear := regress(columns, y, method)
			if len(collinear) > 0 {
				t.Fatalf("random columns are said to be collinear: %v", collinear)
			}
			for i, want := range normal(columns, y, method) {
				if math.Abs(got[i]-want) > 1e-8*math.Max(math.Abs(want), 1e-3) {
					t.Errorf("%v: coefficients %v, want %g at %d", method, got, want, i)
				}
			}
		}
	}
}

// A column that others make up is reported with their names, and the fit is that
// without it.
func TestCollinearColumnsAreReported(t *testing.T) {
	a := column("a", 1, 2, 3, 4, 5, 6)
	b := column("b", 1, 4, 9, 16, 25, 36)
	both := column("both")
	for i := range a.Values {
		both.Values = append(both.Values, 3*a.Values[i]-2*b.Values[i])
	}
	zero := column("zero", 0, 0, 0, 0, 0, 0)
	y := []float64{3, 8, 13, 21, 32, 43}
	want, _ := regress([]Column{a, b}, y, OLS)
	got, collinear := regress([]Column{a, zero, b, both}, y, OLS)
	if got[1] != 0 || got[3] != 0 || math.Abs(got[0]-want[0]) > 1e-12 || math.Abs(got[2]-want[1]) > 1e-12 {
		t.Errorf("coefficients %v, want %v for the first and third", got, want)
	}
	if len(collinear) != 2 || collinear[0].Column != "zero" || collinear[1].Column != "both" || !slices.Equal(collinear[1].Of, []string{"a", "b"}) {
		t.Errorf("collinear: %v", collinear)
	}
	if !strings.Contains(collinear[1].String(), "combination of a, b") {
		t.Error(collinear[1])
	}
}

func TestMoreColumnsThanRows(t *testing.T) {
	columns := []Column{column("a", 1, 2), column("b", 3, 5), column("c", 7, 1)}
	coef, collinear := regress(columns, []float64{4, 7}, OLS)
	if len(collinear) != 1 || math.Abs(coef[0]+3*coef[1]-4) > 1e-9 {
		t.Errorf("coefficients %v, collinear %v", coef, collinear)
	}
}

// D by its definition, tried one by one with the departure for strides below a
// block, and the approximation by its own.
func TestDistances(t *testing.T) {
	for _, l := range []int64{8, 32, 128} {
		for _, sets := range []int64{1, 2, 16, 128} {
			for s := int64(1); s < 3000; s += 7 {
				want := int64(1)
				for ; (s*want/l)%sets != 0 || s*want < l; want++ {
				}
				if got := exactDistance(s, l, sets); got != float64(want) {
					t.Fatalf("stride %d, blocks of %d, %d sets: D = %g, want %d", s, l, sets, got, want)
				}
				approx := int64(1)
				for ; s*approx%(l*sets) != 0; approx++ {
				}
				if got := gcdDistance(s, l, sets); got != float64(approx) {
					t.Fatalf("stride %d, blocks of %d, %d sets: approximate D = %g, want %d", s, l, sets, got, approx)
				}
			}
		}
	}
	if !math.IsInf(exactDistance(0, 32, 4), 1) || !math.IsInf(gcdDistance(0, 32, 4), 1) {
		t.Error("an address that stays meets itself as another")
	}
}

func TestWaves(t *testing.T) {
	var alternating, long []float64
	for i := range 40 {
		alternating = append(alternating, float64(i%2*2-1))
		long = append(long, float64(i/20*2-1))
	}
	if runs, chance := waves(alternating); runs != 40 || chance < 0.999 {
		t.Errorf("alternating signs: %d runs, probability %g", runs, chance)
	}
	if runs, chance := waves(long); runs != 2 || chance > 1e-6 {
		t.Errorf("two halves: %d runs, probability %g", runs, chance)
	}
}
