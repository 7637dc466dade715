package cfdtest

import "math"

// Gauss solves the system of an augmented matrix with partial pivoting.
func Gauss(a [][]float64) []float64 {
	n := len(a)
	for p := range n {
		for row := p + 1; row < n; row++ {
			if math.Abs(a[row][p]) > math.Abs(a[p][p]) {
				a[p], a[row] = a[row], a[p]
			}
		}
		for row := p + 1; row < n; row++ {
			f := a[row][p] / a[p][p]
			for column := p; column <= n; column++ {
				a[row][column] -= f * a[p][column]
			}
		}
	}
	x := make([]float64, n)
	for row := n - 1; row >= 0; row-- {
		x[row] = a[row][n]
		for column := row + 1; column < n; column++ {
			x[row] -= a[row][column] * x[column]
		}
		x[row] /= a[row][row]
	}
	return x
}
