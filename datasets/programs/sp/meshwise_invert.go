package main

import "presage/datasets/programs/internal/cfd"

// txinvr multiplies the right-hand side by T_x⁻¹.
//
//go:noinline
func (p *meshwise) txinvr() {
	rhs0, rhs1, rhs2, rhs3, rhs4 := p.component(p.rhs, 0), p.component(p.rhs, 1), p.component(p.rhs, 2), p.component(p.rhs, 3), p.component(p.rhs, 4)
	points := p.points
	rhos, us, vs, ws, qs, speed, ainv := p.rhoI[:points], p.us[:points], p.vs[:points], p.ws[:points], p.qs[:points], p.speed[:points], p.ainv[:points]
	for k := 1; k < p.N-1; k++ {
		for j := 1; j < p.N-1; j++ {
			first := p.cell(1, j, k)
			for c := first; c < first+p.N-2; c++ {
				r0, r1, r2, r3, r4 := rhs0[c], rhs1[c], rhs2[c], rhs3[c], rhs4[c]
				rho, u, v, w := rhos[c], us[c], vs[c], ws[c]
				t1 := cfd.C2 * (ainv[c] * ainv[c]) * (qs[c]*r0 - u*r1 - v*r2 - w*r3 + r4)
				t2 := root * rho * (u*r0 - r1)
				t3 := root * rho * speed[c] * t1
				rhs0[c], rhs1[c], rhs2[c], rhs3[c], rhs4[c] = r0-t1, -rho*(w*r0-r3), rho*(v*r0-r2), t3-t2, t3+t2
			}
		}
	}
}

// ninvr multiplies the right-hand side by T_y⁻¹ T_x.
//
//go:noinline
func (p *meshwise) ninvr() {
	rhs0, rhs1, rhs2, rhs3, rhs4 := p.component(p.rhs, 0), p.component(p.rhs, 1), p.component(p.rhs, 2), p.component(p.rhs, 3), p.component(p.rhs, 4)
	for k := 1; k < p.N-1; k++ {
		for j := 1; j < p.N-1; j++ {
			first := p.cell(1, j, k)
			for c := first; c < first+p.N-2; c++ {
				r0, r1, r2, r3, r4 := rhs0[c], rhs1[c], rhs2[c], rhs3[c], rhs4[c]
				t1, t2 := root*r2, 0.5*(r3+r4)
				rhs0[c], rhs1[c], rhs2[c], rhs3[c], rhs4[c] = -r1, r0, root*(r3-r4), t2-t1, t2+t1
			}
		}
	}
}

// pinvr multiplies the right-hand side by T_z⁻¹ T_y.
//
//go:noinline
func (p *meshwise) pinvr() {
	rhs0, rhs1, rhs2, rhs3, rhs4 := p.component(p.rhs, 0), p.component(p.rhs, 1), p.component(p.rhs, 2), p.component(p.rhs, 3), p.component(p.rhs, 4)
	for k := 1; k < p.N-1; k++ {
		for j := 1; j < p.N-1; j++ {
			first := p.cell(1, j, k)
			for c := first; c < first+p.N-2; c++ {
				r0, r1, r2, r3, r4 := rhs0[c], rhs1[c], rhs2[c], rhs3[c], rhs4[c]
				t1, t2 := root*r0, 0.5*(r3+r4)
				rhs0[c], rhs1[c], rhs2[c], rhs3[c], rhs4[c] = root*(r3-r4), -r2, r1, t2-t1, t2+t1
			}
		}
	}
}

// tzetar multiplies the right-hand side by T_z.
//
//go:noinline
func (p *meshwise) tzetar() {
	rhs0, rhs1, rhs2, rhs3, rhs4 := p.component(p.rhs, 0), p.component(p.rhs, 1), p.component(p.rhs, 2), p.component(p.rhs, 3), p.component(p.rhs, 4)
	points := p.points
	rhos, us, vs, ws, qs, speed, ainv := p.component(p.u, 0), p.us[:points], p.vs[:points], p.ws[:points], p.qs[:points], p.speed[:points], p.ainv[:points]
	for k := 1; k < p.N-1; k++ {
		for j := 1; j < p.N-1; j++ {
			first := p.cell(1, j, k)
			for c := first; c < first+p.N-2; c++ {
				r0, r1, r2, r3, r4 := rhs0[c], rhs1[c], rhs2[c], rhs3[c], rhs4[c]
				rho, u, v, w, a := rhos[c], us[c], vs[c], ws[c], speed[c]
				t1 := root * rho * ainv[c] * (r3 + r4)
				t2 := r2 + t1
				t3 := root * rho * (r3 - r4)
				rhs0[c], rhs1[c], rhs2[c], rhs3[c] = t2, u*t2-rho*r1, v*t2+rho*r0, w*t2+t3
				rhs4[c] = rho*(v*r0-u*r1) + qs[c]*t2 + a*a/cfd.C2*t1 + w*t3
			}
		}
	}
}
