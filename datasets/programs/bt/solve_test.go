package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"presage/datasets/programs/internal/cfd"
	"presage/datasets/programs/internal/cfdtest"
)

// solvers are the solution along each axis, in the two structures.
func solvers(s cfd.Solver) [3]func() {
	if p, ok := s.(*linewise); ok {
		return [3]func(){p.xSolve, p.ySolve, p.zSolve}
	}
	p := s.(*meshwise)
	return [3]func(){
		func() { p.lhsX(); p.xSolveCell(); p.xBacksubstitute() },
		func() { p.lhsY(); p.ySolveCell(); p.yBacksubstitute() },
		func() { p.lhsZ(); p.zSolveCell(); p.zBacksubstitute() },
	}
}

// Each solver against Gaussian elimination with pivoting on the dense matrix of
// every line, formed from differences of the fluxes.
func TestSolversAgainstDense(t *testing.T) {
	const dt = 0.01
	r := rand.New(rand.NewPCG(7, 8))
	for _, structure := range cfdtest.Structures {
		for _, n := range []int{6, 7} {
			for axis := range 3 {
				s, c := tested.New(structure, n, n+1, dt)
				u, _, rhs := s.Fields()
				cfdtest.Each(c, u, func(at int) { u.Data[at] *= 1 + 0.05*r.NormFloat64() })
				tested.ComputeRHS(s) // sets what is derived from the state
				clear(rhs.Data)
				cfdtest.Each(c, rhs, func(at int) { rhs.Data[at] = r.NormFloat64() })
				before := append([]float64(nil), rhs.Data...)
				solvers(s)[axis]()

				strides := [3]int{u.I, u.J, u.K}
				a, b := strides[(axis+1)%3], strides[(axis+2)%3]
				for p := 1; p < n-1; p++ {
					for q := 1; q < n-1; q++ {
						x := dense(c, axis, u.Data[p*a+q*b:], before[p*a+q*b:], strides[axis])
						for e := range x {
							if got := rhs.Data[p*a+q*b+e/5*strides[axis]+e%5]; math.Abs(got-x[e]) > 1e-7 {
								t.Fatalf("%s, n %d, axis %d, line (%d, %d): element %d is %v, want %v", structure, n, axis, p, q, e, got, x[e])
							}
						}
					}
				}
			}
		}
	}
}

// dense solves (I - Δt A) x = y for a line whose points are stride apart.
func dense(c *cfd.Coefficients, axis int, u, y []float64, stride int) []float64 {
	size := 5 * c.N
	a := make([][]float64, size)
	for row := range a {
		a[row] = make([]float64, size+1)
		a[row][row] = 1
		a[row][size] = y[row/5*stride+row%5]
	}
	add := func(i, other int, first, second float64) {
		var at [5]float64
		copy(at[:], u[other*stride:][:5])
		for column := range 5 {
			const h = 1e-5
			up, down := at, at
			up[column] += h
			down[column] -= h
			fUp, gUp := flux(up, axis)
			fDown, gDown := flux(down, axis)
			for m := range 5 {
				a[5*i+m][5*other+column] -= c.Dt * (first*(fUp[m]-fDown[m]) + second*c.T1*(gUp[m]-gDown[m])) / (2 * h)
			}
			a[5*i+column][5*other+column] -= c.Dt * second * c.T1 * cfd.D(axis)
		}
	}
	for i := 1; i < c.N-1; i++ {
		add(i, i-1, c.T2, 1)
		add(i, i, 0, -2)
		add(i, i+1, -c.T2, 1)
	}
	return cfdtest.Gauss(a)
}
