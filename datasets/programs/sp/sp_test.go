package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"presage/datasets/programs/internal/cfd"
	"presage/datasets/programs/internal/cfdtest"
)

var tested = cfdtest.Program{
	Name: "sp", Benchmark: "SP", Allocate: allocate,
	ComputeRHS: func(s cfd.Solver) { s.(interface{ computeRHS() }).computeRHS() },
}

func TestClassesVerify(t *testing.T)     { cfdtest.Verified(t, tested) }
func TestRightHandSide(t *testing.T)     { cfdtest.RightHandSide(t, tested) }
func TestStructuresAgree(t *testing.T)   { cfdtest.Agreement(t, tested) }
func TestStructuresPrint(t *testing.T)   { cfdtest.Prints(t, tested) }
func TestSteps(t *testing.T)             { cfdtest.Steps(t, tested) }
func TestConverges(t *testing.T)         { cfdtest.Converges(t, tested) }
func TestBrokenResultsFail(t *testing.T) { cfdtest.Fails(t, tested) }

// routines are the parts of a step after the right-hand side.
type routines struct {
	solve                        [3]func()
	txinvr, ninvr, pinvr, tzetar func()
}

func parts(s cfd.Solver) routines {
	if p, ok := s.(*linewise); ok {
		return routines{[3]func(){p.xSolve, p.ySolve, p.zSolve}, p.txinvr, p.ninvr, p.pinvr, p.tzetar}
	}
	p := s.(*meshwise)
	return routines{[3]func(){
		func() { p.lhsX(); p.xSolve() },
		func() { p.lhsY(); p.ySolve() },
		func() { p.lhsZ(); p.zSolve() },
	}, p.txinvr, p.ninvr, p.pinvr, p.tzetar}
}

// disturbed returns a problem off the initial state, with what is derived from
// it, and a random right-hand side.
func disturbed(r *rand.Rand, structure string, n int) (s cfd.Solver, c *cfd.Coefficients) {
	s, c = tested.New(structure, n, n+1, 0.01)
	u, _, rhs := s.Fields()
	cfdtest.Each(c, u, func(at int) { u.Data[at] *= 1 + 0.02*r.NormFloat64() })
	tested.ComputeRHS(s)
	clear(rhs.Data)
	cfdtest.Each(c, rhs, func(at int) { rhs.Data[at] = r.NormFloat64() })
	return s, c
}

func at(f cfd.Field, i, j, k int) (v [5]float64) {
	for m := range v {
		v[m] = f.Data[m*f.M+i*f.I+j*f.J+k*f.K]
	}
	return v
}

// Each solver against Gaussian elimination with pivoting on the dense matrices
// of every line, formed from the state.
func TestSolversAgainstDense(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, structure := range cfdtest.Structures {
		for _, n := range []int{6, 7, 9} {
			for axis := range 3 {
				s, c := disturbed(r, structure, n)
				u, _, rhs := s.Fields()
				before := rhs
				before.Data = append([]float64(nil), rhs.Data...)
				parts(s).solve[axis]()

				for p := 1; p < n-1; p++ {
					for q := 1; q < n-1; q++ {
						point := func(x int) (int, int, int) {
							var i [3]int
							i[axis], i[(axis+1)%3], i[(axis+2)%3] = x, p, q
							return i[0], i[1], i[2]
						}
						for m := range 5 {
							want := dense(c, axis, m,
								func(x int) [5]float64 { i, j, k := point(x); return at(u, i, j, k) },
								func(x int) float64 { i, j, k := point(x); return at(before, i, j, k)[m] })
							for x := range n {
								i, j, k := point(x)
								if got := at(rhs, i, j, k)[m]; math.Abs(got-want[x]) > 1e-11*(1+math.Abs(want[x])) {
									t.Fatalf("%s, n %d, axis %d, component %d at (%d, %d, %d): %v, want %v", structure, n, axis, m+1, i, j, k, got, want[x])
								}
							}
						}
					}
				}
			}
		}
	}
}

// dense solves the system of component m of a line.
func dense(c *cfd.Coefficients, axis, m int, u func(x int) [5]float64, y func(x int) float64) []float64 {
	a := make([][]float64, c.N)
	for x := range a {
		a[x] = make([]float64, c.N+1)
		a[x][x] = 1
		a[x][c.N] = y(x)
	}
	eigenvalue := func(x int) float64 {
		v := u(x)
		pressure := cfd.C2 * (v[4] - (v[1]*v[1]+v[2]*v[2]+v[3]*v[3])/2/v[0])
		sound := math.Sqrt(cfd.C1 * pressure / v[0])
		return v[1+axis]/v[0] + [5]float64{0, 0, 0, sound, -sound}[m]
	}
	viscous := func(x int) float64 { return cfd.D(axis) + cfd.C1C5*cfd.C3C4/u(x)[0] } // c1 c5 > 4/3
	for x := 1; x < c.N-1; x++ {
		a[x][x-1] -= c.Dt * (c.T2*eigenvalue(x-1) + c.T1*viscous(x-1))
		a[x][x] += c.Dt * 2 * c.T1 * viscous(x)
		a[x][x+1] += c.Dt * (c.T2*eigenvalue(x+1) - c.T1*viscous(x+1))
		stencil := [5]float64{1, -4, 6, -4, 1}
		if x == 1 {
			stencil = [5]float64{0, 0, 5, -4, 1}
		}
		if x == 2 {
			stencil[0] = 0
		}
		if x == c.N-3 {
			stencil[4] = 0
		}
		if x == c.N-2 {
			stencil = [5]float64{1, -4, 5, 0, 0}
		}
		for d, v := range stencil {
			if v != 0 {
				a[x][x+d-2] += c.Dt * cfd.Dssp * v
			}
		}
	}
	return cfdtest.Gauss(a)
}

// T_x⁻¹, T_y⁻¹ T_x, T_z⁻¹ T_y and T_z, one after the other, are the identity.
func TestTransformationsCancel(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, structure := range cfdtest.Structures {
		s, c := disturbed(r, structure, 7)
		_, _, rhs := s.Fields()
		before := append([]float64(nil), rhs.Data...)
		p := parts(s)
		p.txinvr()
		p.ninvr()
		p.pinvr()
		p.tzetar()
		cfdtest.Each(c, rhs, func(at int) {
			if math.Abs(rhs.Data[at]-before[at]) > 1e-11 {
				t.Fatalf("%s: element %d is %v, was %v", structure, at, rhs.Data[at], before[at])
			}
		})
	}
}

// Each of the transformations makes its axis' Jacobian diagonal: in the
// eigenvectors, A_d is the eigenvalues. What leads into the eigenvectors of an
// axis is all transformations up to it.
func TestTransformationsDiagonalise(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	const n = 6
	for _, structure := range cfdtest.Structures {
		for axis := range 3 {
			s, c := disturbed(r, structure, n)
			u, _, rhs := s.Fields()
			into := func() {
				p := parts(s)
				for d, step := range []func(){p.txinvr, p.ninvr, p.pinvr} {
					if d <= axis {
						step()
					}
				}
			}
			// The columns of T⁻¹ A against those of Λ T⁻¹, at all points at once.
			for column := range 5 {
				fill := func(v func(u [5]float64) [5]float64) {
					for k := 1; k < n-1; k++ {
						for j := 1; j < n-1; j++ {
							for i := 1; i < n-1; i++ {
								x := v(at(u, i, j, k))
								for m := range x {
									rhs.Data[m*rhs.M+i*rhs.I+j*rhs.J+k*rhs.K] = x[m]
								}
							}
						}
					}
				}
				fill(func(v [5]float64) (unit [5]float64) { unit[column] = 1; return unit })
				into()
				transformed := rhs
				transformed.Data = append([]float64(nil), rhs.Data...)
				fill(func(v [5]float64) [5]float64 { return derivative(v, axis, column) })
				into()
				for k := 1; k < n-1; k++ {
					for j := 1; j < n-1; j++ {
						for i := 1; i < n-1; i++ {
							v, got, unit := at(u, i, j, k), at(rhs, i, j, k), at(transformed, i, j, k)
							w := v[1+axis] / v[0]
							sound := math.Sqrt(cfd.C1 * cfd.C2 * (v[4] - (v[1]*v[1]+v[2]*v[2]+v[3]*v[3])/2/v[0]) / v[0])
							for m, eigenvalue := range []float64{w, w, w, w + sound, w - sound} {
								if want := eigenvalue * unit[m]; math.Abs(got[m]-want) > 1e-6 {
									t.Fatalf("%s, axis %d, column %d at (%d, %d, %d), eigenvector %d: %v, want %v", structure, axis, column+1, i, j, k, m+1, got[m], want)
								}
							}
						}
					}
				}
			}
			_ = c
		}
	}
}

// derivative returns ∂F_axis/∂u_column by central differences.
func derivative(u [5]float64, axis, column int) (d [5]float64) {
	f := func(u [5]float64) (f [5]float64) {
		q := (u[1]*u[1] + u[2]*u[2] + u[3]*u[3]) / 2 / u[0]
		w := u[1+axis] / u[0]
		for m := range 4 {
			f[m] = u[m] * w
		}
		f[1+axis] += cfd.C2 * (u[4] - q)
		f[4] = (cfd.C1*u[4] - cfd.C2*q) * w
		return f
	}
	const h = 1e-5
	up, down := u, u
	up[column] += h
	down[column] -= h
	a, b := f(up), f(down)
	for m := range d {
		d[m] = (a[m] - b[m]) / (2 * h)
	}
	return d
}
