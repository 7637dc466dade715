package main

import (
	"math"

	"presage/datasets/programs/internal/cfd"
)

// linewise is SP structured as in NPB 3.0: the matrices of one line.
type linewise struct {
	cfd.Flow
	speed []float64 // speed of sound

	cv, rho         []float64 // (n): normal velocity and viscosity along the line
	lhs, plus, less []float64 // (5, n): the matrices for w, w + a and w - a
	rtmp            []float64 // (5, n): right-hand side of a line along z
}

func newLinewise(c cfd.Coefficients, most int) *linewise {
	f := cfd.NewFlow(c, most, most)
	line := func(components int) []float64 { return make([]float64, components*(most+1)) }
	return &linewise{
		Flow:  f,
		speed: make([]float64, len(f.RhoI)),
		cv:    line(1), rho: line(1),
		lhs: line(5), plus: line(5), less: line(5), rtmp: line(5),
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
	p.txinvr()
	p.xSolve()
	p.ninvr()
	p.ySolve()
	p.pinvr()
	p.zSolve()
	p.tzetar()
	p.Add()
}

// computeRHS sets the right-hand side to Δt (Σ L_d u + forcing). Along x a line
// gets all its terms before the next one, along y a plane.
//
//go:noinline
func (p *linewise) computeRHS() {
	p.primitives()
	p.CopyForcing()
	last := p.N - 1
	for k := 1; k < last; k++ {
		for j := 1; j < last; j++ {
			p.FluxX(j, j+1, k, k+1)
			p.DissipateX(1, last, j, j+1, k, k+1)
		}
	}
	for k := 1; k < last; k++ {
		p.FluxY(1, last, k, k+1)
		p.DissipateY(1, last, k, k+1)
	}
	p.FluxZ(1, last, 1, last)
	p.DissipateZ(1, last, 1, last)
	p.ScaleByDt()
}

// primitives sets what is derived from the state, at all points.
//
//go:noinline
func (p *linewise) primitives() {
	rho := p.RhoI
	us, vs, ws, square, qs := p.Us[:len(rho)], p.Vs[:len(rho)], p.Ws[:len(rho)], p.Square[:len(rho)], p.Qs[:len(rho)]
	speed := p.speed[:len(rho)]
	for k := range p.N {
		for j := range p.N {
			first := p.Cell(0, j, k)
			for c := first; c < first+p.N; c++ {
				u := cfd.At(p.U, c)
				inverse := 1 / u[0]
				rho[c] = inverse
				us[c] = u[1] * inverse
				vs[c] = u[2] * inverse
				ws[c] = u[3] * inverse
				square[c] = 0.5 * (u[1]*u[1] + u[2]*u[2] + u[3]*u[3]) * inverse
				qs[c] = square[c] * inverse
				speed[c] = math.Sqrt(cfd.C1 * cfd.C2 * inverse * (u[4] - square[c]))
			}
		}
	}
}

// row is the five coefficients of a row of a pentadiagonal matrix: two before
// the diagonal, the diagonal, two after it.
type row = [5]float64

func identity(r *row) { *r = row{2: 1} }

// lhsLine forms the matrix for the eigenvalue w from cv and rho. With t2 =
// Δt/2h, t1 = Δt/h², row i is
//
//	0,  -t2 w(i-1) - t1 ν(i-1),  1 + 2 t1 ν(i),  t2 w(i+1) - t1 ν(i+1),  0
//
// plus Δt ε times the fourth difference, which is one-sided in the first and
// the last two rows; those of the boundary points are the identity.
//
//go:noinline
func (p *linewise) lhsLine() {
	n := p.N
	t1, t2 := p.Dt*p.T1, p.Dt*p.T2
	e1, e4, e5, e6 := p.Dt*cfd.Dssp, 4*p.Dt*cfd.Dssp, 5*p.Dt*cfd.Dssp, 6*p.Dt*cfd.Dssp
	cv, rho := p.cv[:n], p.rho[:n]
	for _, at := range [...]int{0, n - 1} {
		identity(cfd.At(p.lhs, at))
		identity(cfd.At(p.plus, at))
		identity(cfd.At(p.less, at))
	}
	for i := 1; i < n-1; i++ {
		l := cfd.At(p.lhs, i)
		l[0] = 0
		l[1] = -t2*cv[i-1] - t1*rho[i-1]
		l[2] = 1 + 2*t1*rho[i]
		l[3] = t2*cv[i+1] - t1*rho[i+1]
		l[4] = 0
	}
	add := func(i int, a, b, c, d, e float64) {
		l := cfd.At(p.lhs, i)
		l[0] += a
		l[1] += b
		l[2] += c
		l[3] += d
		l[4] += e
	}
	add(1, 0, 0, e5, -e4, e1)
	add(2, 0, -e4, e6, -e4, e1)
	for i := 3; i < n-3; i++ {
		l := cfd.At(p.lhs, i)
		l[0] += e1
		l[1] -= e4
		l[2] += e6
		l[3] -= e4
		l[4] += e1
	}
	add(n-3, e1, -e4, e6, -e4, 0)
	add(n-2, e1, -e4, e5, 0, 0)
}

// acoustic forms a row of the matrix for w + a from that for w, or, with negative
// speeds, that for w - a. The speeds of sound are those at the points before and
// after, times Δt/2h.
func acoustic(to, l *row, aBefore, aAfter float64) {
	to[0], to[1], to[2], to[3], to[4] = l[0], l[1]-aBefore, l[2], l[3]+aAfter, l[4]
}

// pivot scales a row to 1 on the diagonal and takes it out of the row after it.
// The right-hand side is to be multiplied by scale, and then taken from the one
// after it times g.
func pivot(l, l1 *row) (scale, g float64) {
	scale = 1 / l[2]
	l[3] *= scale
	l[4] *= scale
	g = l1[1]
	l1[2] -= g * l[3]
	l1[3] -= g * l[4]
	return scale, g
}

// takeOut takes a row that pivot has scaled out of the second row after it. The
// right-hand side is to be taken from that one's times g.
func takeOut(l, l2 *row) (g float64) {
	g = l2[0]
	l2[1] -= g * l[3]
	l2[2] -= g * l[4]
	return g
}
