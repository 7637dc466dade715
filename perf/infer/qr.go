package infer

import "math"

// dependence is the length that a column may have left, relative to its own,
// after projecting out the columns before it, below which it counts as
// dependent on them: the default of R's lm.
const dependence = 1e-7

// factorise makes the QR factorisation of a tall matrix given by columns, which
// it overwrites, by Householder reflections. It reveals the rank in the way of
// LINPACK's dqrdc2, which R's lm rests on: columns are taken in their order,
// and one that depends on those before it is set aside. So terms that matter
// more must come first, and what is set aside is what comes later; pivoting
// for the largest remaining length (Golub and Businger) would keep an arbitrary
// one of them.
//
// It returns the indices of the columns that were kept and those set aside, and
// replaces y by Qᵀy. Column kept[c] then holds column c of R in its first c+1
// elements.
func factorise(columns [][]float64, y []float64) (kept, aside []int) {
	rows := len(y)
	full := make([]float64, len(columns))
	for j, x := range columns {
		full[j] = norm(x)
	}
	for j, x := range columns {
		k := len(kept)
		if k == rows {
			aside = append(aside, j)
			continue
		}
		left := norm(x[k:])
		if !(left > dependence*full[j]) {
			aside = append(aside, j)
			continue
		}
		// The reflection that takes x[k:] to -sign(x[k]) left e₀ is
		// I - v vᵀ/v₀ with v = x/left·sign + e₀ (v₀ > 0).
		if x[k] < 0 {
			left = -left
		}
		for i := k; i < rows; i++ {
			x[i] /= left
		}
		x[k]++
		for _, next := range columns[j+1:] {
			mirror(x, next, k)
		}
		mirror(x, y, k)
		x[k] = -left
		kept = append(kept, j)
	}
	return kept, aside
}

// mirror applies the reflection of v from element k on to x.
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

// backward solves Rβ = Qᵀy for the columns kept.
func backward(columns [][]float64, kept []int, qty []float64) []float64 {
	n := len(kept)
	beta := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		s := qty[i]
		for j := i + 1; j < n; j++ {
			s -= columns[kept[j]][i] * beta[j]
		}
		beta[i] = s / columns[kept[i]][i]
	}
	return beta
}

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
