package main

import "presage/datasets/programs/internal/cfd"

// linewise is BT structured as in NPB 3.0: Jacobians and blocks of one line.
type linewise struct {
	cfd.Flow
	fjac, njac []float64 // (5, 5, n): Jacobians along the line
	lhs        []float64 // (5, 5, 3, n): the block-tridiagonal matrix
}

func newLinewise(c cfd.Coefficients, most int) *linewise {
	return &linewise{
		Flow: cfd.NewFlow(c, most, most),
		fjac: make([]float64, 25*(most+1)),
		njac: make([]float64, 25*(most+1)),
		lhs:  make([]float64, 75*(most+1)),
	}
}

// Fields returns the arrays that are set up and checked.
func (p *linewise) Fields() (u, forcing, rhs cfd.Field) {
	return p.Components(p.U), p.Components(p.Forcing), p.Components(p.RHS)
}

// Step does one time step: adi.
func (p *linewise) Step() { p.adi() }

func (p *linewise) adi() {
	p.computeRHS()
	p.xSolve()
	p.ySolve()
	p.zSolve()
	p.Add()
}

// computeRHS sets the right-hand side to Δt (Σ L_d u + forcing). Along x and y
// a plane gets all its terms before the next one.
//
//go:noinline
func (p *linewise) computeRHS() {
	primitives(&p.Flow)
	p.CopyForcing()
	last := p.N - 1
	for k := 1; k < last; k++ {
		p.FluxX(1, last, k, k+1)
		p.DissipateX(1, last, 1, last, k, k+1)
	}
	for k := 1; k < last; k++ {
		p.FluxY(1, last, k, k+1)
		p.DissipateY(1, last, k, k+1)
	}
	p.FluxZ(1, last, 1, last)
	p.DissipateZ(1, last, 1, last)
	p.ScaleByDt()
}

// lhsLine forms the matrix of a line from its Jacobians. Row i is
//
//	-Δt/2h f(i-1) - Δt/h² (g(i-1) + D),  I + 2 Δt/h² (g(i) + D),
//	 Δt/2h f(i+1) - Δt/h² (g(i+1) + D)
//
// inside and the identity at both ends.
//
//go:noinline
func (p *linewise) lhsLine(d float64) {
	n := p.N
	t1, t2 := p.Dt*p.T1, p.Dt*p.T2
	identity(p.lhs, 0)
	identity(p.lhs, n-1)
	for i := 1; i < n-1; i++ {
		f0, f2 := blockAt(p.fjac, i-1), blockAt(p.fjac, i+1)
		g0, g1, g2 := blockAt(p.njac, i-1), blockAt(p.njac, i), blockAt(p.njac, i+1)
		a, b, c := blockAt(p.lhs, 3*i+before), blockAt(p.lhs, 3*i+self), blockAt(p.lhs, 3*i+after)
		for e := range a {
			a[e] = -t2*f0[e] - t1*g0[e]
			b[e] = 2 * t1 * g1[e]
			c[e] = t2*f2[e] - t1*g2[e]
		}
		for e := 0; e < len(a); e += 6 {
			a[e] -= t1 * d
			b[e] += 1 + 2*t1*d
			c[e] -= t1 * d
		}
	}
}

// identity makes the row of a point the identity.
func identity(lhs []float64, point int) {
	clear(lhs[75*point:][:75])
	b := blockAt(lhs, 3*point+self)
	for e := 0; e < len(b); e += 6 {
		b[e] = 1
	}
}

// xSolve solves (I - Δt A_x) for all lines along x.
//
//go:noinline
func (p *linewise) xSolve() {
	n, rhs, lhs := p.N, p.RHS, p.lhs
	for k := 1; k < n-1; k++ {
		for j := 1; j < n-1; j++ {
			line := p.Cell(0, j, k)
			for i := range n {
				c := line + i
				jacobianX(blockAt(p.fjac, i), blockAt(p.njac, i), cfd.At(p.U, c), p.RhoI[c], p.Qs[c], p.Square[c])
			}
			p.lhsLine(cfd.D(0))

			binvcrhs(blockAt(lhs, self), blockAt(lhs, after), cfd.At(rhs, line))
			for i := 1; i < n-1; i++ {
				c := line + i
				matvecSub(blockAt(lhs, 3*i+before), cfd.At(rhs, c-1), cfd.At(rhs, c))
				matmulSub(blockAt(lhs, 3*i+before), blockAt(lhs, 3*i-3+after), blockAt(lhs, 3*i+self))
				binvcrhs(blockAt(lhs, 3*i+self), blockAt(lhs, 3*i+after), cfd.At(rhs, c))
			}
			end, i := line+n-1, n-1
			matvecSub(blockAt(lhs, 3*i+before), cfd.At(rhs, end-1), cfd.At(rhs, end))
			matmulSub(blockAt(lhs, 3*i+before), blockAt(lhs, 3*i-3+after), blockAt(lhs, 3*i+self))
			binvrhs(blockAt(lhs, 3*i+self), cfd.At(rhs, end))

			for i := n - 2; i >= 0; i-- {
				a, x, r := blockAt(lhs, 3*i+after), cfd.At(rhs, line+i+1), cfd.At(rhs, line+i)
				for m := range r {
					r[m] = r[m] - a[m]*x[0] - a[m+5]*x[1] - a[m+10]*x[2] - a[m+15]*x[3] - a[m+20]*x[4]
				}
			}
		}
	}
}

// ySolve is xSolve along y.
//
//go:noinline
func (p *linewise) ySolve() {
	n, rhs, lhs, s := p.N, p.RHS, p.lhs, p.J
	for k := 1; k < n-1; k++ {
		for i := 1; i < n-1; i++ {
			line := p.Cell(i, 0, k)
			for j := range n {
				c := line + j*s
				jacobianY(blockAt(p.fjac, j), blockAt(p.njac, j), cfd.At(p.U, c), p.RhoI[c], p.Qs[c], p.Square[c])
			}
			p.lhsLine(cfd.D(1))

			binvcrhs(blockAt(lhs, self), blockAt(lhs, after), cfd.At(rhs, line))
			for j := 1; j < n-1; j++ {
				c := line + j*s
				matvecSub(blockAt(lhs, 3*j+before), cfd.At(rhs, c-s), cfd.At(rhs, c))
				matmulSub(blockAt(lhs, 3*j+before), blockAt(lhs, 3*j-3+after), blockAt(lhs, 3*j+self))
				binvcrhs(blockAt(lhs, 3*j+self), blockAt(lhs, 3*j+after), cfd.At(rhs, c))
			}
			end, j := line+(n-1)*s, n-1
			matvecSub(blockAt(lhs, 3*j+before), cfd.At(rhs, end-s), cfd.At(rhs, end))
			matmulSub(blockAt(lhs, 3*j+before), blockAt(lhs, 3*j-3+after), blockAt(lhs, 3*j+self))
			binvrhs(blockAt(lhs, 3*j+self), cfd.At(rhs, end))

			for j := n - 2; j >= 0; j-- {
				a, x, r := blockAt(lhs, 3*j+after), cfd.At(rhs, line+(j+1)*s), cfd.At(rhs, line+j*s)
				for m := range r {
					r[m] = r[m] - a[m]*x[0] - a[m+5]*x[1] - a[m+10]*x[2] - a[m+15]*x[3] - a[m+20]*x[4]
				}
			}
		}
	}
}

// zSolve is xSolve along z. As in NPB, it works out 1/ρ again.
//
//go:noinline
func (p *linewise) zSolve() {
	n, rhs, lhs, s := p.N, p.RHS, p.lhs, p.K
	for j := 1; j < n-1; j++ {
		for i := 1; i < n-1; i++ {
			line := p.Cell(i, j, 0)
			for k := range n {
				c := line + k*s
				u := cfd.At(p.U, c)
				jacobianZ(blockAt(p.fjac, k), blockAt(p.njac, k), u, 1/u[0], p.Qs[c], p.Square[c])
			}
			p.lhsLine(cfd.D(2))

			binvcrhs(blockAt(lhs, self), blockAt(lhs, after), cfd.At(rhs, line))
			for k := 1; k < n-1; k++ {
				c := line + k*s
				matvecSub(blockAt(lhs, 3*k+before), cfd.At(rhs, c-s), cfd.At(rhs, c))
				matmulSub(blockAt(lhs, 3*k+before), blockAt(lhs, 3*k-3+after), blockAt(lhs, 3*k+self))
				binvcrhs(blockAt(lhs, 3*k+self), blockAt(lhs, 3*k+after), cfd.At(rhs, c))
			}
			end, k := line+(n-1)*s, n-1
			matvecSub(blockAt(lhs, 3*k+before), cfd.At(rhs, end-s), cfd.At(rhs, end))
			matmulSub(blockAt(lhs, 3*k+before), blockAt(lhs, 3*k-3+after), blockAt(lhs, 3*k+self))
			binvrhs(blockAt(lhs, 3*k+self), cfd.At(rhs, end))

			for k := n - 2; k >= 0; k-- {
				a, x, r := blockAt(lhs, 3*k+after), cfd.At(rhs, line+(k+1)*s), cfd.At(rhs, line+k*s)
				for m := range r {
					r[m] = r[m] - a[m]*x[0] - a[m+5]*x[1] - a[m+10]*x[2] - a[m+15]*x[3] - a[m+20]*x[4]
				}
			}
		}
	}
}
