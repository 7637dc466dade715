package main

import (
	"fmt"
	"io"
	"math"
	"slices"

	"presage/datasets/programs/internal/npb"
)

// nasTolerance is NAS's, relative to zeta.
const nasTolerance = 1e-10

// quotientTolerance is relative to the shift. Sums of up to 10⁶ rounded terms
// and what is left of the residuals stand behind it.
const quotientTolerance = 1e-10

// residualTolerance is relative to the right-hand side, and to x·z. Each step adds
// some roundings of r and z to the difference of the two residuals.
const residualTolerance = 1e-11

// findings are the measured departures from what must hold.
type findings struct {
	asymmetricIn int       // a row with an entry that its mirror image differs from, or -1
	residual     float64   // the most that |x - A z| differs from the norm carried along, relative to |x|
	energy       float64   // the most that Σ alpha r·r differs from x·z, relative to it
	before       float64   // Rayleigh quotient x·Bx of the first x
	after        float64   // and of the last
	rowSum       float64   // largest of the rows of B
	fell         float64   // the most that zeta fell in an iteration
	reference    []float64 // NAS's zeta, if it has one for this problem
}

// examine measures the departures. It uses q as work space.
//
//go:noinline
func examine(p *problem) findings {
	if p.ranks > 1 {
		return examineShare(p)
	}
	f := findings{asymmetricIn: asymmetric(&p.matrix)}
	if p.iterations == classes[p.class].iterations {
		f.reference = npb.Reference("CG", p.class, "zeta")
	}
	total := 0.0
	for i := range p.n {
		sum := p.shift // entries of B are not negative
		for _, a := range p.matrix.a[p.matrix.rowstr[i]:p.matrix.rowstr[i+1]] {
			sum += a
		}
		f.rowSum = max(f.rowSum, sum)
		total += sum
	}
	f.before = total / float64(p.n)
	matvec(p.q, &p.matrix, p.x)
	f.after = p.shift + dot(p.x, p.q)/dot(p.x, p.x)
	for i := 2; i < len(p.zeta); i++ { // the first zeta is not of a unit vector
		f.fell = max(f.fell, p.zeta[i-1]-p.zeta[i])
	}
	length := math.Sqrt(float64(p.n)) // of the first x
	for i, rnorm := range p.rnorm {
		f.residual = larger(f.residual, math.Abs(rnorm-p.rho[i])/length)
		length = 1
		f.energy = larger(f.energy, math.Abs(p.work[i]-1))
	}
	return f
}

// asymmetric returns the first row with an entry (row, column) that differs from
// the entry (column, row), or -1.
//
//go:noinline
func asymmetric(m *csr) int {
	for row := range len(m.rowstr) - 1 {
		for k := m.rowstr[row]; k < m.rowstr[row+1]; k++ {
			column := m.colidx[k]
			lo := m.rowstr[column]
			at, ok := slices.BinarySearch(m.colidx[lo:m.rowstr[column+1]], int32(row))
			if !ok || m.a[int(lo)+at] != m.a[k] {
				return row
			}
		}
	}
	return -1
}

// larger returns the larger of two numbers, NaN if one is.
func larger(a, b float64) float64 {
	if b > a || math.IsNaN(b) {
		return b
	}
	return a
}

// verify returns the first law that the result breaks. Comparisons are written so
// that NaN breaks them.
func verify(p *problem, f findings) error {
	zeta, tolerance := p.zeta[len(p.zeta)-1], quotientTolerance*p.shift
	switch {
	case f.asymmetricIn >= 0:
		return fmt.Errorf("the matrix is not symmetric: row %d has an entry that differs from its mirror image", f.asymmetricIn)
	case !(p.mostCurved < 0):
		return fmt.Errorf("the matrix is not negative definite: -shift %g must be above its largest eigenvalue; give a larger one", p.shift)
	case !(f.residual <= residualTolerance):
		return fmt.Errorf("the residual carried along differs from x - A z by %.3g, more than rounding (%g)", f.residual, residualTolerance)
	case !(f.energy <= residualTolerance):
		return fmt.Errorf("the energy that the steps took differs by %.3g from x·z, more than rounding (%g)", f.energy, residualTolerance)
	case p.ranks > 1: // the rest is of the whole matrix
		return nil
	case !(f.fell <= tolerance):
		return fmt.Errorf("zeta fell by %.3g, which the inverse power method does not let it", f.fell)
	case !(f.before <= f.after+tolerance):
		return fmt.Errorf("the Rayleigh quotient is %.12g, less than that of the first vector (%.12g)", f.after, f.before)
	case len(p.zeta) > 1 && !(zeta <= f.after+tolerance):
		return fmt.Errorf("zeta is %.12g, more than the Rayleigh quotient after it (%.12g)", zeta, f.after)
	case !(f.after <= f.rowSum+tolerance):
		return fmt.Errorf("the Rayleigh quotient is %.12g, more than any sum of a row (%.12g)", f.after, f.rowSum)
	}
	if f.reference == nil {
		return nil
	}
	return npb.Compare("zeta", []float64{zeta}, f.reference, nasTolerance)
}

// report prints the problem and what was found, in few enough digits that it does
// not matter whether the machine rounds x*y + z once or twice.
//
//go:noinline
func report(w io.Writer, p *problem, f findings) {
	if p.ranks > 1 {
		reportShare(w, p, f)
		return
	}
	fmt.Fprintf(w, "npbcg: n %d, nonzer %d, shift %g, entries %d, iterations %d\n", p.n, p.nonzer, p.shift, len(p.matrix.a), p.iterations)
	for it, zeta := range p.zeta {
		fmt.Fprintf(w, "iteration %d: zeta %.10f\n", it+1, zeta)
	}
	fmt.Fprintf(w, "matrix: symmetric %t, largest sum of a row %.9f\n", f.asymmetricIn < 0, f.rowSum)
	fmt.Fprintf(w, "Rayleigh quotient: first %.9f, last %.9f\n", f.before, f.after)
	fmt.Fprintf(w, "residual: as carried along %t, energy %t\n", f.residual <= residualTolerance, f.energy <= residualTolerance)
	if f.reference != nil {
		fmt.Fprintf(w, "class %s: NAS's zeta is %.10f\n", p.class, f.reference[0])
	}
}
