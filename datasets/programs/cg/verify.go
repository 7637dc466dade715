package main

import (
	"fmt"
	"io"
	"math"
)

const (
	// matrixTolerance is relative to the largest element of b. Both sides sum up
	// seven terms of at most 9, b/9 being about 1 at the least.
	matrixTolerance = 1e-14

	// residualTolerance is relative to the largest element of b. Each iteration
	// adds some roundings of x and r to the difference between the residual that
	// is carried along and that of x.
	residualTolerance = 1e-12

	// energyTolerance is relative to the energy of the first error. Sums of n³
	// positive terms are off by some 1e-13 at n = 200.
	energyTolerance = 1e-11
)

// findings are the measured departures from what must hold.
type findings struct {
	finite       bool
	asymmetricIn int     // a row with an entry that its mirror image differs from, or -1
	matrix       float64 // largest element of A u - b, relative to the largest of b
	residual     float64 // the same of r - (b - A x)
	energy       float64 // energy lost too much or too little, relative to that of u
	remaining    float64 // energy of the error u - x, relative to that of u
	allowed      float64 // the most that the Chebyshev bound leaves of it
	error        float64 // largest element of u - x
}

// examine measures the departures. It uses p and q as work space.
//
//go:noinline
func examine(p *problem) findings {
	f := findings{finite: true, asymmetricIn: asymmetric(&p.matrix, p.next)}
	scale := 0.0
	for _, e := range p.b {
		scale = max(scale, math.Abs(e))
	}

	multiply(p.q, &p.matrix, p.solution)
	f.matrix = distance(p.q, p.b) / scale

	stencil(p.q, p.x, p.n)
	for i := range p.q {
		p.q[i] = p.b[i] - p.q[i]
	}
	f.residual = distance(p.q, p.r) / scale

	for i, u := range p.solution {
		p.p[i] = u - p.x[i]
		f.error = larger(f.error, math.Abs(p.p[i]))
		f.finite = f.finite && !math.IsNaN(p.x[i]) && !math.IsInf(p.x[i], 0)
	}
	first := dot(p.solution, p.b)
	stencil(p.q, p.p, p.n)
	left := dot(p.p, p.q)
	// In a step the energy of the error falls by alpha r·r: theorem 6:1.
	lost := 0.0
	for _, s := range p.history {
		lost += s.alpha * s.before
	}
	f.energy = math.Abs(first-lost-left) / first
	f.remaining = left / first
	f.allowed = chebyshev(p.n, len(p.history))
	return f
}

// asymmetric returns the first row with an entry (row, column) that differs from
// the entry (column, row), or -1. As columns ascend, going through the rows in
// turn asks for the mirror images in each row in the order in which they stand:
// next remembers how far each row has come.
//
//go:noinline
func asymmetric(m *csr, next []int32) int {
	copy(next, m.start)
	for row := range next {
		for e := m.start[row]; e < m.start[row+1]; e++ {
			other := m.column[e]
			at := next[other]
			if at >= m.start[other+1] || m.column[at] != int32(row) || m.value[at] != m.value[e] {
				return row
			}
			next[other]++
		}
	}
	return -1
}

// distance returns the largest |a - b| of two elements, NaN if there is one.
//
//go:noinline
func distance(a, b []float64) float64 {
	worst := 0.0
	for i, e := range a {
		worst = larger(worst, math.Abs(e-b[i]))
	}
	return worst
}

// larger returns the larger of two numbers, NaN if one is.
func larger(a, b float64) float64 {
	if b > a || math.IsNaN(b) {
		return b
	}
	return a
}

// chebyshev bounds the energy of the error after some steps, relative to that at
// the start: (2 ((√κ - 1) / (√κ + 1))^steps)², never above 1. The eigenvalues of
// A are sums of three of 4 sin²(i pi / (2(n+1))), i = 1..n, so that the condition
// number is κ = cot²(pi / (2(n+1))).
func chebyshev(n, steps int) float64 {
	rootKappa := 1 / math.Tan(math.Pi/(2*float64(n+1)))
	bound := 2 * math.Pow((rootKappa-1)/(rootKappa+1), float64(steps))
	return min(1, bound*bound)
}

// verify returns the first law that the result breaks. Comparisons are written so
// that NaN breaks them.
func verify(f findings) error {
	switch {
	case !f.finite:
		return fmt.Errorf("the solution is not finite")
	case f.asymmetricIn >= 0:
		return fmt.Errorf("the matrix is not symmetric: row %d has an entry that differs from its mirror image", f.asymmetricIn)
	case !(f.matrix <= matrixTolerance):
		return fmt.Errorf("the matrix times the solution differs from the right-hand side by %.3g, more than rounding (%g)", f.matrix, matrixTolerance)
	case !(f.residual <= residualTolerance):
		return fmt.Errorf("the residual carried along differs from that of x by %.3g, more than rounding (%g)", f.residual, residualTolerance)
	case !(f.energy <= energyTolerance):
		return fmt.Errorf("the energy of the error and what the steps took from it differ by %.3g of it, more than rounding (%g)", f.energy, energyTolerance)
	case !(f.remaining <= f.allowed+energyTolerance):
		return fmt.Errorf("%.3g of the error's energy is left, more than conjugate gradients can leave (%.3g)", f.remaining, f.allowed)
	}
	return nil
}

// report prints the problem and what was found, in few enough digits that it does
// not matter whether the machine rounds x*y + z once or twice.
//
//go:noinline
func report(w io.Writer, p *problem, f findings) {
	fmt.Fprintf(w, "cg: n %d, unknowns %d, entries %d, iterations at most %d\n", p.n, p.rows, len(p.matrix.value), p.iterations)
	bb := p.history[0].before
	// Energies that are zero but for rounding may be negative, on one machine.
	energy := 1.0
	total := dot(p.solution, p.b)
	for it, s := range p.history {
		energy -= s.alpha * s.before / total
		fmt.Fprintf(w, "iteration %d: residual %.9f, energy of the error %.9f\n", it+1, math.Sqrt(s.residual/bb), math.Abs(energy))
	}
	sum, squares := 0.0, 0.0
	for _, e := range p.x {
		sum += e
		squares += e * e
	}
	fmt.Fprintf(w, "solution: sum %.9e, norm %.9e, largest error %.9f\n", sum, math.Sqrt(squares), f.error)
	fmt.Fprintf(w, "matrix: symmetric %t, times the solution: %s\n", f.asymmetricIn < 0, within(f.matrix, matrixTolerance))
	fmt.Fprintf(w, "residual: %s\n", within(f.residual, residualTolerance))
	fmt.Fprintf(w, "energy: %s, left %.9f, allowed %.9f\n", within(f.energy, energyTolerance), math.Abs(f.remaining), f.allowed)
}

// within says whether an error is below its tolerance; only if it is not, how
// large it is, as the digits of a rounding error differ between machines.
func within(x, tolerance float64) string {
	if x <= tolerance {
		return fmt.Sprintf("relative error below %g", tolerance)
	}
	return fmt.Sprintf("relative error %.3g, above %g", x, tolerance)
}
