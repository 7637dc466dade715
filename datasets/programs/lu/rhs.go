package main

// rhs computes the residual of the steady equations at all points inside:
//
//	rsd = -(∂E/∂ξ + ∂F/∂η + ∂G/∂ζ) + viscous terms + dissipation - frct
//
// by second-order central differences, direction by direction. In each, along each
// line of points with a spacing of h:
//
//	convective fluxes            f(i),    rsd -= (f(i+1) - f(i-1)) / 2h
//	viscous fluxes               g(i-½),  rsd += c3 c4 (g(i+½) - g(i-½)) / h
//	second-order dissipation              rsd += d (u(i-1) - 2 u(i) + u(i+1)) / h²
//	fourth-order dissipation              rsd -= dssp (1 -4 6 -4 1) u
//
//go:noinline
func rhs(p *problem) {
	primitives(p)
	rhsx(p)
	rhsy(p)
	rhsz(p)
}

// primitives sets the residual to the forcing, and the inverse density and the
// kinetic energy to those of the solution.
//
//go:noinline
func primitives(p *problem) {
	n := p.n
	for k := range n {
		for j := range n {
			line := p.at(0, j, k)
			u := p.u[line:][:n]
			rsd, frct := p.rsd[line:][:n], p.frct[line:][:n]
			rhoi, qs := p.rhoi[line:][:n], p.qs[line:][:n]
			for i := range u {
				r, f := &rsd[i], &frct[i]
				r[0], r[1], r[2], r[3], r[4] = -f[0], -f[1], -f[2], -f[3], -f[4]
				s := &u[i]
				t := 1 / s[0]
				rhoi[i] = t
				qs[i] = 0.5 * (s[1]*s[1] + s[2]*s[2] + s[3]*s[3]) * t
			}
		}
	}
}

// The viscous flux of the energy has a part from the kinetic energy, one from the
// stress along the direction, and one from heat conduction.
const (
	kinetic = 0.5 * (1 - c1*c5)
	stress  = 1.0 / 6
	heat    = c1 * c5
)

// rhsx adds the differences along ξ.
//
//go:noinline
func rhsx(p *problem) {
	n := p.n
	t2, t3 := p.t2, p.t3
	viscous, diffusion := p.t3*c34, dxi*p.t1
	flux := p.flux[:n]
	for k := 1; k < n-1; k++ {
		for j := 1; j < n-1; j++ {
			line := p.at(0, j, k)
			u, rsd := p.u[line:][:n], p.rsd[line:][:n]
			rhoi, qs := p.rhoi[line:][:n], p.qs[line:][:n]

			for i := range u {
				s, f := &u[i], &flux[i]
				w, q := s[1]*rhoi[i], qs[i]
				f[0] = s[1]
				f[1] = s[1]*w + c2*(s[4]-q)
				f[2] = s[2] * w
				f[3] = s[3] * w
				f[4] = (c1*s[4] - c2*q) * w
			}
			for i := 1; i < n-1; i++ {
				r, lo, hi := &rsd[i], &flux[i-1], &flux[i+1]
				for m := range r {
					r[m] -= t2 * (hi[m] - lo[m])
				}
			}
			for i := 1; i < n; i++ {
				lo, hi, f := &u[i-1], &u[i], &flux[i]
				rl, rh := rhoi[i-1], rhoi[i]
				ul, vl, wl := rl*lo[1], rl*lo[2], rl*lo[3]
				uh, vh, wh := rh*hi[1], rh*hi[2], rh*hi[3]
				f[1] = r43 * t3 * (uh - ul)
				f[2] = t3 * (vh - vl)
				f[3] = t3 * (wh - wl)
				f[4] = t3 * (kinetic*((uh*uh+vh*vh+wh*wh)-(ul*ul+vl*vl+wl*wl)) +
					stress*(uh*uh-ul*ul) + heat*(rh*hi[4]-rl*lo[4]))
			}
			for i := 1; i < n-1; i++ {
				r, fl, fh := &rsd[i], &flux[i], &flux[i+1]
				lo, s, hi := &u[i-1], &u[i], &u[i+1]
				r[0] += diffusion * (lo[0] - 2*s[0] + hi[0])
				for m := 1; m < 5; m++ {
					r[m] += viscous*(fh[m]-fl[m]) + diffusion*(lo[m]-2*s[m]+hi[m])
				}
			}

			first, second := &rsd[1], &rsd[2]
			for m := range first {
				first[m] -= dssp * (5*u[1][m] - 4*u[2][m] + u[3][m])
				second[m] -= dssp * (-4*u[1][m] + 6*u[2][m] - 4*u[3][m] + u[4][m])
			}
			for i := 3; i < n-3; i++ {
				r := &rsd[i]
				u0, u1, u2, u3, u4 := &u[i-2], &u[i-1], &u[i], &u[i+1], &u[i+2]
				for m := range r {
					r[m] -= dssp * (u0[m] - 4*u1[m] + 6*u2[m] - 4*u3[m] + u4[m])
				}
			}
			first, second = &rsd[n-2], &rsd[n-3]
			for m := range first {
				second[m] -= dssp * (u[n-5][m] - 4*u[n-4][m] + 6*u[n-3][m] - 4*u[n-2][m])
				first[m] -= dssp * (u[n-4][m] - 4*u[n-3][m] + 5*u[n-2][m])
			}
		}
	}
}

// rhsy adds the differences along η.
//
//go:noinline
func rhsy(p *problem) {
	n, stride := p.n, p.row
	t2, t3 := p.t2, p.t3
	viscous, diffusion := p.t3*c34, deta*p.t1
	u, rsd, rhoi, qs := p.u, p.rsd, p.rhoi, p.qs
	flux := p.flux[:n]
	for k := 1; k < n-1; k++ {
		for i := 1; i < n-1; i++ {
			line := p.at(i, 0, k)

			c := line
			for j := range flux {
				s, f := &u[c], &flux[j]
				w, q := s[2]*rhoi[c], qs[c]
				f[0] = s[2]
				f[1] = s[1] * w
				f[2] = s[2]*w + c2*(s[4]-q)
				f[3] = s[3] * w
				f[4] = (c1*s[4] - c2*q) * w
				c += stride
			}
			c = line + stride
			for j := 1; j < n-1; j++ {
				r, lo, hi := &rsd[c], &flux[j-1], &flux[j+1]
				for m := range r {
					r[m] -= t2 * (hi[m] - lo[m])
				}
				c += stride
			}
			c = line + stride
			for j := 1; j < n; j++ {
				lo, hi, f := &u[c-stride], &u[c], &flux[j]
				rl, rh := rhoi[c-stride], rhoi[c]
				ul, vl, wl := rl*lo[1], rl*lo[2], rl*lo[3]
				uh, vh, wh := rh*hi[1], rh*hi[2], rh*hi[3]
				f[1] = t3 * (uh - ul)
				f[2] = r43 * t3 * (vh - vl)
				f[3] = t3 * (wh - wl)
				f[4] = t3 * (kinetic*((uh*uh+vh*vh+wh*wh)-(ul*ul+vl*vl+wl*wl)) +
					stress*(vh*vh-vl*vl) + heat*(rh*hi[4]-rl*lo[4]))
				c += stride
			}
			c = line + stride
			for j := 1; j < n-1; j++ {
				r, fl, fh := &rsd[c], &flux[j], &flux[j+1]
				lo, s, hi := &u[c-stride], &u[c], &u[c+stride]
				r[0] += diffusion * (lo[0] - 2*s[0] + hi[0])
				for m := 1; m < 5; m++ {
					r[m] += viscous*(fh[m]-fl[m]) + diffusion*(lo[m]-2*s[m]+hi[m])
				}
				c += stride
			}

			c = line + stride
			first, second := &rsd[c], &rsd[c+stride]
			u1, u2, u3, u4 := &u[c], &u[c+stride], &u[c+2*stride], &u[c+3*stride]
			for m := range first {
				first[m] -= dssp * (5*u1[m] - 4*u2[m] + u3[m])
				second[m] -= dssp * (-4*u1[m] + 6*u2[m] - 4*u3[m] + u4[m])
			}
			c = line + 3*stride
			for j := 3; j < n-3; j++ {
				r := &rsd[c]
				u0, u1, u2, u3, u4 := &u[c-2*stride], &u[c-stride], &u[c], &u[c+stride], &u[c+2*stride]
				for m := range r {
					r[m] -= dssp * (u0[m] - 4*u1[m] + 6*u2[m] - 4*u3[m] + u4[m])
				}
				c += stride
			}
			c = line + (n-2)*stride
			first, second = &rsd[c], &rsd[c-stride]
			u1, u2, u3, u4 = &u[c], &u[c-stride], &u[c-2*stride], &u[c-3*stride]
			for m := range first {
				second[m] -= dssp * (u4[m] - 4*u3[m] + 6*u2[m] - 4*u1[m])
				first[m] -= dssp * (u3[m] - 4*u2[m] + 5*u1[m])
			}
		}
	}
}

// rhsz adds the differences along ζ, on lines that cross a plane of the mesh with each step.
//
//go:noinline
func rhsz(p *problem) {
	n, stride := p.n, p.plane
	t2, t3 := p.t2, p.t3
	viscous, diffusion := p.t3*c34, dzeta*p.t1
	u, rsd, rhoi, qs := p.u, p.rsd, p.rhoi, p.qs
	flux := p.flux[:n]
	for j := 1; j < n-1; j++ {
		for i := 1; i < n-1; i++ {
			line := p.at(i, j, 0)

			c := line
			for k := range flux {
				s, f := &u[c], &flux[k]
				w, q := s[3]*rhoi[c], qs[c]
				f[0] = s[3]
				f[1] = s[1] * w
				f[2] = s[2] * w
				f[3] = s[3]*w + c2*(s[4]-q)
				f[4] = (c1*s[4] - c2*q) * w
				c += stride
			}
			c = line + stride
			for k := 1; k < n-1; k++ {
				r, lo, hi := &rsd[c], &flux[k-1], &flux[k+1]
				for m := range r {
					r[m] -= t2 * (hi[m] - lo[m])
				}
				c += stride
			}
			c = line + stride
			for k := 1; k < n; k++ {
				lo, hi, f := &u[c-stride], &u[c], &flux[k]
				rl, rh := rhoi[c-stride], rhoi[c]
				ul, vl, wl := rl*lo[1], rl*lo[2], rl*lo[3]
				uh, vh, wh := rh*hi[1], rh*hi[2], rh*hi[3]
				f[1] = t3 * (uh - ul)
				f[2] = t3 * (vh - vl)
				f[3] = r43 * t3 * (wh - wl)
				f[4] = t3 * (kinetic*((uh*uh+vh*vh+wh*wh)-(ul*ul+vl*vl+wl*wl)) +
					stress*(wh*wh-wl*wl) + heat*(rh*hi[4]-rl*lo[4]))
				c += stride
			}
			c = line + stride
			for k := 1; k < n-1; k++ {
				r, fl, fh := &rsd[c], &flux[k], &flux[k+1]
				lo, s, hi := &u[c-stride], &u[c], &u[c+stride]
				r[0] += diffusion * (lo[0] - 2*s[0] + hi[0])
				for m := 1; m < 5; m++ {
					r[m] += viscous*(fh[m]-fl[m]) + diffusion*(lo[m]-2*s[m]+hi[m])
				}
				c += stride
			}

			c = line + stride
			first, second := &rsd[c], &rsd[c+stride]
			u1, u2, u3, u4 := &u[c], &u[c+stride], &u[c+2*stride], &u[c+3*stride]
			for m := range first {
				first[m] -= dssp * (5*u1[m] - 4*u2[m] + u3[m])
				second[m] -= dssp * (-4*u1[m] + 6*u2[m] - 4*u3[m] + u4[m])
			}
			c = line + 3*stride
			for k := 3; k < n-3; k++ {
				r := &rsd[c]
				u0, u1, u2, u3, u4 := &u[c-2*stride], &u[c-stride], &u[c], &u[c+stride], &u[c+2*stride]
				for m := range r {
					r[m] -= dssp * (u0[m] - 4*u1[m] + 6*u2[m] - 4*u3[m] + u4[m])
				}
				c += stride
			}
			c = line + (n-2)*stride
			first, second = &rsd[c], &rsd[c-stride]
			u1, u2, u3, u4 = &u[c], &u[c-stride], &u[c-2*stride], &u[c-3*stride]
			for m := range first {
				second[m] -= dssp * (u4[m] - 4*u3[m] + 6*u2[m] - 4*u1[m])
				first[m] -= dssp * (u3[m] - 4*u2[m] + 5*u1[m])
			}
		}
	}
}
