package main

import "presage/datasets/programs/internal/cfd"

// txinvr multiplies the right-hand side by T_x⁻¹.
//
//go:noinline
func (p *linewise) txinvr() {
	for k := 1; k < p.N-1; k++ {
		for j := 1; j < p.N-1; j++ {
			first := p.Cell(1, j, k)
			for c := first; c < first+p.N-2; c++ {
				r := cfd.At(p.RHS, c)
				rho, u, v, w, a := p.RhoI[c], p.Us[c], p.Vs[c], p.Ws[c], p.speed[c]
				r0, r1, r2, r3, r4 := r[0], r[1], r[2], r[3], r[4]
				t1 := cfd.C2 / (a * a) * (p.Qs[c]*r0 - u*r1 - v*r2 - w*r3 + r4)
				t2 := root * rho * (u*r0 - r1)
				t3 := root * rho * a * t1
				r[0], r[1], r[2], r[3], r[4] = r0-t1, -rho*(w*r0-r3), rho*(v*r0-r2), t3-t2, t3+t2
			}
		}
	}
}

// ninvr multiplies the right-hand side by T_y⁻¹ T_x.
//
//go:noinline
func (p *linewise) ninvr() {
	for k := 1; k < p.N-1; k++ {
		for j := 1; j < p.N-1; j++ {
			first := p.Cell(1, j, k)
			for c := first; c < first+p.N-2; c++ {
				r := cfd.At(p.RHS, c)
				r0, r1, r2, r3, r4 := r[0], r[1], r[2], r[3], r[4]
				t1, t2 := root*r2, 0.5*(r3+r4)
				r[0], r[1], r[2], r[3], r[4] = -r1, r0, root*(r3-r4), t2-t1, t2+t1
			}
		}
	}
}

// pinvr multiplies the right-hand side by T_z⁻¹ T_y.
//
//go:noinline
func (p *linewise) pinvr() {
	for k := 1; k < p.N-1; k++ {
		for j := 1; j < p.N-1; j++ {
			first := p.Cell(1, j, k)
			for c := first; c < first+p.N-2; c++ {
				r := cfd.At(p.RHS, c)
				r0, r1, r2, r3, r4 := r[0], r[1], r[2], r[3], r[4]
				t1, t2 := root*r0, 0.5*(r3+r4)
				r[0], r[1], r[2], r[3], r[4] = root*(r3-r4), -r2, r1, t2-t1, t2+t1
			}
		}
	}
}

// tzetar multiplies the right-hand side by T_z.
//
//go:noinline
func (p *linewise) tzetar() {
	for k := 1; k < p.N-1; k++ {
		for j := 1; j < p.N-1; j++ {
			first := p.Cell(1, j, k)
			for c := first; c < first+p.N-2; c++ {
				r := cfd.At(p.RHS, c)
				u, v, w, a, rho := p.Us[c], p.Vs[c], p.Ws[c], p.speed[c], p.U[5*c]
				r0, r1, r2, r3, r4 := r[0], r[1], r[2], r[3], r[4]
				t1 := root * rho / a * (r3 + r4)
				t2 := r2 + t1
				t3 := root * rho * (r3 - r4)
				r[0], r[1], r[2], r[3] = t2, u*t2-rho*r1, v*t2+rho*r0, w*t2+t3
				r[4] = rho*(v*r0-u*r1) + p.Qs[c]*t2 + a*a/cfd.C2*t1 + w*t3
			}
		}
	}
}
