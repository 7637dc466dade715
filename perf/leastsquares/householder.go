package leastsquares

import "math"

// DefaultTolerance is the tolerance of R's lm.
const DefaultTolerance = 1e-7

// Solution is a least-squares solution.
type Solution struct {
	// Kept and Aside are the indices of the independent columns and of those
	// that depend on columns before them, ascending.
	Kept, Aside []int

	Coefficients []float64 // of the columns kept
	RSS          float64   // residual sum of squares

	columns [][]float64 // of R, for the columns kept; Qᵀ of a column set aside
}

// Solve returns the coefficients that minimise |Σ βⱼ columns[j] − y|. It
// overwrites columns and y, and Solution refers to them.
//
// The rank is revealed as in LINPACK's dqrdc2, which R's lm rests on: a column
// is set aside if projecting out the columns kept before it leaves no more than
// tolerance of its length, or if there are as many columns kept as rows.
func Solve(columns [][]float64, y []float64, tolerance float64) Solution {
	s := Solution{columns: columns}
	full := make([]float64, len(columns))
	for j, x := range columns {
		full[j] = norm(x)
	}
	for j, x := range columns {
		k := len(s.Kept)
		if k == len(y) {
			s.Aside = append(s.Aside, j)
			continue
		}
		left := norm(x[k:])
		if !(left > tolerance*full[j]) {
			s.Aside = append(s.Aside, j)
			continue
		}
		// The reflection that takes x[k:] to -sign(x[k]) left e₀ is
		// I - v vᵀ/v₀ with v = x/left·sign + e₀ (v₀ > 0).
		if x[k] < 0 {
			left = -left
		}
		for i := k; i < len(y); i++ {
			x[i] /= left
		}
		x[k]++
		for _, next := range columns[j+1:] {
			mirror(x, next, k)
		}
		mirror(x, y, k)
		x[k] = -left
		s.Kept = append(s.Kept, j)
	}
	s.Coefficients = s.backward(len(s.Kept), y)
	for _, v := range y[len(s.Kept):] {
		s.RSS += v * v
	}
	return s
}

// Combination returns the coefficients, in the order of Kept, with which the
// columns kept before column j come nearest to it. j is one of Aside.
func (s *Solution) Combination(j int) []float64 {
	before := 0
	for before < len(s.Kept) && s.Kept[before] < j {
		before++
	}
	return s.backward(before, s.columns[j])
}

// mirror applies the reflection of v to x, from element k on.
func mirror(v, x []float64, k int) {
	v, x = v[k:], x[k:]
	s := 0.0
	for i := range v {
		s += v[i] * x[i]
	}
	s /= v[0]
	for i := range v {
		x[i] -= s * v[i]
	}
}

// backward solves Rβ = Qᵀy for the first n columns kept.
func (s *Solution) backward(n int, qty []float64) []float64 {
	beta := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		b := qty[i]
		for j := i + 1; j < n; j++ {
			b -= s.columns[s.Kept[j]][i] * beta[j]
		}
		beta[i] = b / s.columns[s.Kept[i]][i]
	}
	return beta
}

// norm returns the Euclidean norm of x without overflow or underflow.
func norm(x []float64) float64 {
	scale, sum := 0.0, 1.0
	for _, v := range x {
		if v == 0 {
			continue
		}
		if a := math.Abs(v); a > scale {
			sum = 1 + sum*(scale/a)*(scale/a)
			scale = a
		} else {
			sum += (a / scale) * (a / scale)
		}
	}
	return scale * math.Sqrt(sum)
}
