package leastsquares

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestVarianceAddsUpLeverages compares the variance at each row of the matrix with its
// leverage, xᵢᵀ(XᵀX)⁻¹xᵢ, which Growing keeps by another way, and demands that it grows
// with the square of a row.
func TestVarianceAddsUpLeverages(t *testing.T) {
	const rows, columns = 7, 4
	r := rand.New(rand.NewPCG(4, 4))
	x := make([][]float64, columns)
	for c := range x {
		x[c] = make([]float64, rows)
		for i := range x[c] {
			x[c][i] = r.NormFloat64()
		}
		length := norm2(x[c])
		for i := range x[c] {
			x[c][i] /= length
		}
	}
	var f Growing
	f.Begin(make([]float64, rows), columns, 1e-9)
	for c := range x {
		if !f.Push(x[c]) {
			t.Fatal("dependent")
		}
		for i := range rows {
			row := make([]float64, c+1)
			for k := range row {
				row[k] = x[k][i]
			}
			if got, want := f.Variance(row), f.Leverage()[i]; math.Abs(got-want) > 1e-12 {
				t.Errorf("%d columns, row %d: variance %g, leverage %g", c+1, i, got, want)
			}
			for k := range row {
				row[k] *= 3
			}
			if got, want := f.Variance(row), 9*f.Leverage()[i]; math.Abs(got-want) > 1e-11 {
				t.Errorf("%d columns, three times row %d: variance %g, want %g", c+1, i, got, want)
			}
		}
	}
}
