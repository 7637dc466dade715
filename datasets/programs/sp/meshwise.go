package main

import (
	"math"

	"presage/datasets/programs/internal/cfd"
)

// meshwise is SP structured as in NPB 2.3: the component is the rightmost index
// and the matrices are those of all lines.
type meshwise struct {
	cfd.Coefficients
	j, k   int // points from one j, one k to the next
	points int // points of an array, from one component to the next

	u, rhs, forcing []float64 // (i, j, k, 5)
	lhs             []float64 // (i, j, k, 15): matrices for w, w + a, w - a

	rhoI, us, vs, ws, square, qs []float64 // as in cfd.Flow
	speed, ainv                  []float64 // speed of sound and its inverse

	cv, rho []float64 // (n): normal velocity and viscosity along a line
}

func newMeshwise(c cfd.Coefficients, most int) *meshwise {
	edge := cfd.Pad(most)
	points := edge * edge * edge
	array := func(components int) []float64 { return make([]float64, components*points) }
	p := &meshwise{
		Coefficients: c,
		j:            edge, k: edge * edge, points: points,
		u: array(5), rhs: array(5), forcing: array(5), lhs: array(15),
		rhoI: array(1), us: array(1), vs: array(1), ws: array(1), square: array(1), qs: array(1),
		speed: array(1), ainv: array(1),
		cv: make([]float64, most), rho: make([]float64, most),
	}
	p.lhsInit()
	return p
}

func (p *meshwise) cell(i, j, k int) int { return k*p.k + j*p.j + i }

// component returns component m of an array.
func (p *meshwise) component(a []float64, m int) []float64 { return a[m*p.points:][:p.points] }

// Fields returns the arrays that are set up and checked.
func (p *meshwise) Fields() (u, forcing, rhs cfd.Field) {
	field := func(a []float64) cfd.Field { return cfd.Field{Data: a, M: p.points, I: 1, J: p.j, K: p.k} }
	return field(p.u), field(p.forcing), field(p.rhs)
}

// lhsInit makes every row of the matrices the identity. At the ends of lines it
// stays so.
func (p *meshwise) lhsInit() {
	for _, m := range [...]int{2, 7, 12} {
		diagonal := p.component(p.lhs, m)
		for c := range diagonal {
			diagonal[c] = 1
		}
	}
}

// Step does one time step: adi.
func (p *meshwise) Step() { p.adi() }

func (p *meshwise) adi() {
	p.computeRHS()
	p.txinvr()
	p.lhsX()
	p.xSolve()
	p.ninvr()
	p.lhsY()
	p.ySolve()
	p.pinvr()
	p.lhsZ()
	p.zSolve()
	p.tzetar()
	p.add()
}

// add adds the update to the state, component by component.
//
//go:noinline
func (p *meshwise) add() {
	w := p.N - 2
	for m := range 5 {
		u, rhs := p.component(p.u, m), p.component(p.rhs, m)
		for k := 1; k < p.N-1; k++ {
			for j := 1; j < p.N-1; j++ {
				c := p.cell(1, j, k)
				to, from := u[c:][:w], rhs[c:][:w]
				for i := range to {
					to[i] += from[i]
				}
			}
		}
	}
}

// primitives sets what is derived from the state, at all points.
//
//go:noinline
func (p *meshwise) primitives() {
	u0, u1, u2, u3, u4 := p.component(p.u, 0), p.component(p.u, 1), p.component(p.u, 2), p.component(p.u, 3), p.component(p.u, 4)
	points := p.points
	rho, us, vs, ws, square, qs := p.rhoI[:points], p.us[:points], p.vs[:points], p.ws[:points], p.square[:points], p.qs[:points]
	speed, ainv := p.speed[:points], p.ainv[:points]
	for k := range p.N {
		for j := range p.N {
			first := p.cell(0, j, k)
			for c := first; c < first+p.N; c++ {
				inverse := 1 / u0[c]
				rho[c] = inverse
				us[c] = u1[c] * inverse
				vs[c] = u2[c] * inverse
				ws[c] = u3[c] * inverse
				square[c] = 0.5 * (u1[c]*u1[c] + u2[c]*u2[c] + u3[c]*u3[c]) * inverse
				qs[c] = square[c] * inverse
				a := math.Sqrt(cfd.C1 * cfd.C2 * inverse * (u4[c] - square[c]))
				speed[c] = a
				ainv[c] = 1 / a
			}
		}
	}
}
