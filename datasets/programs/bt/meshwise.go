package main

import "presage/datasets/programs/internal/cfd"

// meshwise is BT structured as in NPB 2.3: Jacobians and blocks of all points.
type meshwise struct {
	cfd.Flow             // but Forcing is (i, j, k, 5)
	fjac, njac []float64 // (5, 5, i, j, k)
	lhs        []float64 // (5, 5, 3, i, j, k)
}

func newMeshwise(c cfd.Coefficients, most int) *meshwise {
	edge := cfd.Pad(most)
	p := &meshwise{
		Flow: cfd.NewFlow(c, most, edge),
		fjac: make([]float64, 25*edge*edge*most),
		njac: make([]float64, 25*edge*edge*most),
		lhs:  make([]float64, 75*edge*edge*edge),
	}
	p.lhsInit()
	return p
}

// Fields returns the arrays that are set up and checked.
func (p *meshwise) Fields() (u, forcing, rhs cfd.Field) {
	return p.Components(p.U), cfd.Field{Data: p.Forcing, M: len(p.Forcing) / 5, I: 1, J: p.J, K: p.K}, p.Components(p.RHS)
}

// lhsInit makes every row of the matrix the identity. At the ends of lines it
// stays so.
func (p *meshwise) lhsInit() {
	for k := range p.N {
		for j := range p.N {
			for i := range p.N {
				identity(p.lhs, p.Cell(i, j, k))
			}
		}
	}
}

// Step does one time step: adi.
func (p *meshwise) Step() { p.adi() }

func (p *meshwise) adi() {
	p.computeRHS()
	p.lhsX()
	p.xSolveCell()
	p.xBacksubstitute()
	p.lhsY()
	p.ySolveCell()
	p.yBacksubstitute()
	p.lhsZ()
	p.zSolveCell()
	p.zBacksubstitute()
	p.add()
}

// computeRHS sets the right-hand side to Δt (Σ L_d u + forcing), in passes over
// the whole mesh. The points next to the boundary have passes of their own.
//
//go:noinline
func (p *meshwise) computeRHS() {
	primitives(&p.Flow)
	p.copyForcing()
	n, last := p.N, p.N-1
	passes := [...][2]int{{1, 2}, {2, 3}, {3, n - 3}, {n - 3, n - 2}, {n - 2, n - 1}}
	p.FluxX(1, last, 1, last)
	for _, i := range passes {
		p.DissipateX(i[0], i[1], 1, last, 1, last)
	}
	p.FluxY(1, last, 1, last)
	for _, j := range passes {
		p.DissipateY(j[0], j[1], 1, last)
	}
	p.FluxZ(1, last, 1, last)
	for _, k := range passes {
		p.DissipateZ(1, last, k[0], k[1])
	}
	p.scaleByDt()
}

// copyForcing sets the right-hand side to the forcing, point by point.
//
//go:noinline
func (p *meshwise) copyForcing() {
	points := len(p.Forcing) / 5
	f0, f1, f2, f3, f4 := p.Forcing[:points], p.Forcing[points:][:points], p.Forcing[2*points:][:points], p.Forcing[3*points:][:points], p.Forcing[4*points:][:points]
	for k := range p.N {
		for j := range p.N {
			line := p.Cell(0, j, k)
			for c := line; c < line+p.N; c++ {
				r := cfd.At(p.RHS, c)
				r[0], r[1], r[2], r[3], r[4] = f0[c], f1[c], f2[c], f3[c], f4[c]
			}
		}
	}
}

// scaleByDt multiplies the right-hand side by the time step, line by line and
// in these component by component.
//
//go:noinline
func (p *meshwise) scaleByDt() {
	for k := 1; k < p.N-1; k++ {
		for j := 1; j < p.N-1; j++ {
			line := p.RHS[5*p.Cell(1, j, k):][:5*(p.N-2)]
			for m := range 5 {
				for e := m; e < len(line); e += 5 {
					line[e] *= p.Dt
				}
			}
		}
	}
}

// add adds the update to the state, in a pass for each component.
//
//go:noinline
func (p *meshwise) add() {
	w := 5 * (p.N - 2)
	for m := range 5 {
		for k := 1; k < p.N-1; k++ {
			for j := 1; j < p.N-1; j++ {
				at := 5 * p.Cell(1, j, k)
				u, r := p.U[at:][:w], p.RHS[at:][:w]
				for e := m; e < len(u); e += 5 {
					u[e] += r[e]
				}
			}
		}
	}
}
