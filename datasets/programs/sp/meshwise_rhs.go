package main

import "presage/datasets/programs/internal/cfd"

// computeRHS sets the right-hand side to Δt (Σ L_d u + forcing), in passes over
// the whole mesh; those for the fourth difference and the last one take a
// component at a time.
//
//go:noinline
func (p *meshwise) computeRHS() {
	p.primitives()
	p.copyForcing()
	p.fluxX()
	p.dissipateX()
	p.fluxY()
	p.dissipateY()
	p.fluxZ()
	p.dissipateZ()
	p.scaleByDt()
}

// copyForcing sets the right-hand side to the forcing, on the boundary too.
//
//go:noinline
func (p *meshwise) copyForcing() {
	for m := range 5 {
		rhs, forcing := p.component(p.rhs, m), p.component(p.forcing, m)
		for k := range p.N {
			for j := range p.N {
				c := p.cell(0, j, k)
				copyLine(rhs[c:][:p.N], forcing[c:][:p.N])
			}
		}
	}
}

func copyLine(to, from []float64) {
	from = from[:len(to)]
	for i := range to {
		to[i] = from[i]
	}
}

// scaleByDt multiplies the right-hand side by the time step.
//
//go:noinline
func (p *meshwise) scaleByDt() {
	for m := range 5 {
		rhs := p.component(p.rhs, m)
		for k := 1; k < p.N-1; k++ {
			for j := 1; j < p.N-1; j++ {
				r := rhs[p.cell(1, j, k):][:p.N-2]
				for i := range r {
					r[i] *= p.Dt
				}
			}
		}
	}
}

// fluxX adds to the right-hand side what L_x has without the fourth difference.
//
//go:noinline
func (p *meshwise) fluxX() {
	u0, u1, u2, u3, u4 := p.component(p.u, 0), p.component(p.u, 1), p.component(p.u, 2), p.component(p.u, 3), p.component(p.u, 4)
	r0, r1, r2, r3, r4 := p.component(p.rhs, 0), p.component(p.rhs, 1), p.component(p.rhs, 2), p.component(p.rhs, 3), p.component(p.rhs, 4)
	points := p.points
	us, vs, ws, qs, square, rho := p.us[:points], p.vs[:points], p.ws[:points], p.qs[:points], p.square[:points], p.rhoI[:points]
	t2, con2, con3, con4, con5 := p.T2, p.Con2, p.Con3, p.Con4, p.Con5
	d := cfd.D(0) * p.T1
	n := p.N
	const s = 1
	for k := 1; k < n-1; k++ {
		for j := 1; j < n-1; j++ {
			first := p.cell(1, j, k)
			for c := first; c < first+n-2; c++ {
				p, z := c+s, c-s
				w, wp, wm := us[c], us[p], us[z]
				r0[c] += d*(u0[p]-2*u0[c]+u0[z]) - t2*(u1[p]-u1[z])
				r1[c] += d*(u1[p]-2*u1[c]+u1[z]) + con2*cfd.Con43*(wp-2*w+wm) -
					t2*(u1[p]*wp-u1[z]*wm+cfd.C2*(u4[p]-square[p]-u4[z]+square[z]))
				r2[c] += d*(u2[p]-2*u2[c]+u2[z]) + con2*(vs[p]-2*vs[c]+vs[z]) - t2*(u2[p]*wp-u2[z]*wm)
				r3[c] += d*(u3[p]-2*u3[c]+u3[z]) + con2*(ws[p]-2*ws[c]+ws[z]) - t2*(u3[p]*wp-u3[z]*wm)
				r4[c] += d*(u4[p]-2*u4[c]+u4[z]) + con3*(qs[p]-2*qs[c]+qs[z]) + con4*(wp*wp-2*w*w+wm*wm) +
					con5*(u4[p]*rho[p]-2*u4[c]*rho[c]+u4[z]*rho[z]) -
					t2*((cfd.C1*u4[p]-cfd.C2*square[p])*wp-(cfd.C1*u4[z]-cfd.C2*square[z])*wm)
			}
		}
	}
}

// fluxY adds to the right-hand side what L_y has without the fourth difference.
//
//go:noinline
func (p *meshwise) fluxY() {
	u0, u1, u2, u3, u4 := p.component(p.u, 0), p.component(p.u, 1), p.component(p.u, 2), p.component(p.u, 3), p.component(p.u, 4)
	r0, r1, r2, r3, r4 := p.component(p.rhs, 0), p.component(p.rhs, 1), p.component(p.rhs, 2), p.component(p.rhs, 3), p.component(p.rhs, 4)
	points := p.points
	us, vs, ws, qs, square, rho := p.us[:points], p.vs[:points], p.ws[:points], p.qs[:points], p.square[:points], p.rhoI[:points]
	t2, con2, con3, con4, con5 := p.T2, p.Con2, p.Con3, p.Con4, p.Con5
	d := cfd.D(1) * p.T1
	n, s := p.N, p.j
	for k := 1; k < n-1; k++ {
		for j := 1; j < n-1; j++ {
			first := p.cell(1, j, k)
			for c := first; c < first+n-2; c++ {
				p, z := c+s, c-s
				w, wp, wm := vs[c], vs[p], vs[z]
				r0[c] += d*(u0[p]-2*u0[c]+u0[z]) - t2*(u2[p]-u2[z])
				r1[c] += d*(u1[p]-2*u1[c]+u1[z]) + con2*(us[p]-2*us[c]+us[z]) - t2*(u1[p]*wp-u1[z]*wm)
				r2[c] += d*(u2[p]-2*u2[c]+u2[z]) + con2*cfd.Con43*(wp-2*w+wm) -
					t2*(u2[p]*wp-u2[z]*wm+cfd.C2*(u4[p]-square[p]-u4[z]+square[z]))
				r3[c] += d*(u3[p]-2*u3[c]+u3[z]) + con2*(ws[p]-2*ws[c]+ws[z]) - t2*(u3[p]*wp-u3[z]*wm)
				r4[c] += d*(u4[p]-2*u4[c]+u4[z]) + con3*(qs[p]-2*qs[c]+qs[z]) + con4*(wp*wp-2*w*w+wm*wm) +
					con5*(u4[p]*rho[p]-2*u4[c]*rho[c]+u4[z]*rho[z]) -
					t2*((cfd.C1*u4[p]-cfd.C2*square[p])*wp-(cfd.C1*u4[z]-cfd.C2*square[z])*wm)
			}
		}
	}
}

// fluxZ adds to the right-hand side what L_z has without the fourth difference.
//
//go:noinline
func (p *meshwise) fluxZ() {
	u0, u1, u2, u3, u4 := p.component(p.u, 0), p.component(p.u, 1), p.component(p.u, 2), p.component(p.u, 3), p.component(p.u, 4)
	r0, r1, r2, r3, r4 := p.component(p.rhs, 0), p.component(p.rhs, 1), p.component(p.rhs, 2), p.component(p.rhs, 3), p.component(p.rhs, 4)
	points := p.points
	us, vs, ws, qs, square, rho := p.us[:points], p.vs[:points], p.ws[:points], p.qs[:points], p.square[:points], p.rhoI[:points]
	t2, con2, con3, con4, con5 := p.T2, p.Con2, p.Con3, p.Con4, p.Con5
	d := cfd.D(2) * p.T1
	n, s := p.N, p.k
	for k := 1; k < n-1; k++ {
		for j := 1; j < n-1; j++ {
			first := p.cell(1, j, k)
			for c := first; c < first+n-2; c++ {
				p, z := c+s, c-s
				w, wp, wm := ws[c], ws[p], ws[z]
				r0[c] += d*(u0[p]-2*u0[c]+u0[z]) - t2*(u3[p]-u3[z])
				r1[c] += d*(u1[p]-2*u1[c]+u1[z]) + con2*(us[p]-2*us[c]+us[z]) - t2*(u1[p]*wp-u1[z]*wm)
				r2[c] += d*(u2[p]-2*u2[c]+u2[z]) + con2*(vs[p]-2*vs[c]+vs[z]) - t2*(u2[p]*wp-u2[z]*wm)
				r3[c] += d*(u3[p]-2*u3[c]+u3[z]) + con2*cfd.Con43*(wp-2*w+wm) -
					t2*(u3[p]*wp-u3[z]*wm+cfd.C2*(u4[p]-square[p]-u4[z]+square[z]))
				r4[c] += d*(u4[p]-2*u4[c]+u4[z]) + con3*(qs[p]-2*qs[c]+qs[z]) + con4*(wp*wp-2*w*w+wm*wm) +
					con5*(u4[p]*rho[p]-2*u4[c]*rho[c]+u4[z]*rho[z]) -
					t2*((cfd.C1*u4[p]-cfd.C2*square[p])*wp-(cfd.C1*u4[z]-cfd.C2*square[z])*wm)
			}
		}
	}
}
