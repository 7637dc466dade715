package main

import "presage/datasets/programs/internal/cfd"

// dissipateX subtracts ε δ⁴u along x from the right-hand side. For each component
// there are passes over the two points next to the one boundary, over all
// points away from both, and over the two next to the other.
//
//go:noinline
func (p *meshwise) dissipateX() {
	const s = 1
	n := p.N
	for m := range 5 {
		u, rhs := p.component(p.u, m), p.component(p.rhs, m)
		for k := 1; k < n-1; k++ {
			for j := 1; j < n-1; j++ {
				c := p.cell(1, j, k)
				rhs[c] -= cfd.Dssp * (5*u[c] - 4*u[c+s] + u[c+2*s])
			}
		}
		for k := 1; k < n-1; k++ {
			for j := 1; j < n-1; j++ {
				c := p.cell(2, j, k)
				rhs[c] -= cfd.Dssp * (-4*u[c-s] + 6*u[c] - 4*u[c+s] + u[c+2*s])
			}
		}
		for k := 1; k < n-1; k++ {
			for j := 1; j < n-1; j++ {
				c, w := p.cell(3, j, k), n-6
				r, m0 := rhs[c:][:w], u[c:][:w]
				m2, m1, p1, p2 := u[c-2*s:][:w], u[c-s:][:w], u[c+s:][:w], u[c+2*s:][:w]
				for i := range r {
					r[i] -= cfd.Dssp * (m2[i] - 4*m1[i] + 6*m0[i] - 4*p1[i] + p2[i])
				}
			}
		}
		for k := 1; k < n-1; k++ {
			for j := 1; j < n-1; j++ {
				c := p.cell(n-3, j, k)
				rhs[c] -= cfd.Dssp * (-4*u[c+s] + 6*u[c] - 4*u[c-s] + u[c-2*s])
			}
		}
		for k := 1; k < n-1; k++ {
			for j := 1; j < n-1; j++ {
				c := p.cell(n-2, j, k)
				rhs[c] -= cfd.Dssp * (5*u[c] - 4*u[c-s] + u[c-2*s])
			}
		}
	}
}

// dissipateY subtracts ε δ⁴u along y from the right-hand side. For each component
// there are passes over the two points next to the one boundary, over all
// points away from both, and over the two next to the other.
//
//go:noinline
func (p *meshwise) dissipateY() {
	n, s := p.N, p.j
	for m := range 5 {
		u, rhs := p.component(p.u, m), p.component(p.rhs, m)
		for k := 1; k < n-1; k++ {
			cfd.Edge(rhs, u, p.cell(1, 1, k), n-2, s, 1)
		}
		for k := 1; k < n-1; k++ {
			cfd.Edge(rhs, u, p.cell(1, 2, k), n-2, s, 2)
		}
		for k := 1; k < n-1; k++ {
			for j := 3; j < n-3; j++ {
				c, w := p.cell(1, j, k), n-2
				r, m0 := rhs[c:][:w], u[c:][:w]
				m2, m1, p1, p2 := u[c-2*s:][:w], u[c-s:][:w], u[c+s:][:w], u[c+2*s:][:w]
				for i := range r {
					r[i] -= cfd.Dssp * (m2[i] - 4*m1[i] + 6*m0[i] - 4*p1[i] + p2[i])
				}
			}
		}
		for k := 1; k < n-1; k++ {
			cfd.Edge(rhs, u, p.cell(1, n-3, k), n-2, -s, 2)
		}
		for k := 1; k < n-1; k++ {
			cfd.Edge(rhs, u, p.cell(1, n-2, k), n-2, -s, 1)
		}
	}
}

// dissipateZ subtracts ε δ⁴u along z from the right-hand side. For each component
// there are passes over the two points next to the one boundary, over all
// points away from both, and over the two next to the other.
//
//go:noinline
func (p *meshwise) dissipateZ() {
	n, s := p.N, p.k
	for m := range 5 {
		u, rhs := p.component(p.u, m), p.component(p.rhs, m)
		for j := 1; j < n-1; j++ {
			cfd.Edge(rhs, u, p.cell(1, j, 1), n-2, s, 1)
		}
		for j := 1; j < n-1; j++ {
			cfd.Edge(rhs, u, p.cell(1, j, 2), n-2, s, 2)
		}
		for k := 3; k < n-3; k++ {
			for j := 1; j < n-1; j++ {
				c, w := p.cell(1, j, k), n-2
				r, m0 := rhs[c:][:w], u[c:][:w]
				m2, m1, p1, p2 := u[c-2*s:][:w], u[c-s:][:w], u[c+s:][:w], u[c+2*s:][:w]
				for i := range r {
					r[i] -= cfd.Dssp * (m2[i] - 4*m1[i] + 6*m0[i] - 4*p1[i] + p2[i])
				}
			}
		}
		for j := 1; j < n-1; j++ {
			cfd.Edge(rhs, u, p.cell(1, j, n-3), n-2, -s, 2)
		}
		for j := 1; j < n-1; j++ {
			cfd.Edge(rhs, u, p.cell(1, j, n-2), n-2, -s, 1)
		}
	}
}
