package main

import "presage/datasets/programs/internal/cfd"

// lhsX forms the matrices of all lines along x; lhsLine has the formula. The part
// without the fourth difference comes line by line; then there are passes for
// the first two rows, the ones between and the last two, and one that adds the
// speed of sound for the other two matrices.
//
//go:noinline
func (p *meshwise) lhsX() {
	const s = 1
	n := p.N
	t1, t2, d := p.Dt*p.T1, p.Dt*p.T2, cfd.D(0)
	l1, l2, l3, l4, l5 := p.component(p.lhs, 0), p.component(p.lhs, 1), p.component(p.lhs, 2), p.component(p.lhs, 3), p.component(p.lhs, 4)
	cv, rho := p.cv[:n], p.rho[:n]
	for k := 1; k < n-1; k++ {
		for j := 1; j < n-1; j++ {
			line := p.cell(0, j, k)
			for x := range n {
				c := line + x*s
				cv[x], rho[x] = p.us[c], viscosity(d, p.rhoI[c])
			}
			for x := 1; x < n-1; x++ {
				c := line + x*s
				l1[c] = 0
				l2[c] = -t2*cv[x-1] - t1*rho[x-1]
				l3[c] = 1 + 2*t1*rho[x]
				l4[c] = t2*cv[x+1] - t1*rho[x+1]
				l5[c] = 0
			}
		}
	}
	p.lhsDissipationX()
	p.lhsAcousticX()
}

// lhsDissipationX adds the fourth difference, in its passes.
//
//go:noinline
func (p *meshwise) lhsDissipationX() {
	const s = 1
	n := p.N
	l1, l2, l3, l4, l5 := p.component(p.lhs, 0), p.component(p.lhs, 1), p.component(p.lhs, 2), p.component(p.lhs, 3), p.component(p.lhs, 4)
	e1 := p.Dt * cfd.Dssp
	e4, e5, e6 := 4*e1, 5*e1, 6*e1
	for k := 1; k < n-1; k++ {
		for j := 1; j < n-1; j++ {
			c := p.cell(1, j, k)
			l3[c] += e5
			l4[c] -= e4
			l5[c] += e1
			c += s
			l2[c] -= e4
			l3[c] += e6
			l4[c] -= e4
			l5[c] += e1
		}
	}
	for k := 1; k < n-1; k++ {
		for j := 1; j < n-1; j++ {
			for i := 3; i < n-3; i++ {
				c := p.cell(i, j, k)
				l1[c] += e1
				l2[c] -= e4
				l3[c] += e6
				l4[c] -= e4
				l5[c] += e1
			}
		}
	}
	for k := 1; k < n-1; k++ {
		for j := 1; j < n-1; j++ {
			c := p.cell(n-3, j, k)
			l1[c] += e1
			l2[c] -= e4
			l3[c] += e6
			l4[c] -= e4
			c += s
			l1[c] += e1
			l2[c] -= e4
			l3[c] += e5
		}
	}
}

// lhsAcousticX forms the matrices for w + a and w - a from that for w.
//
//go:noinline
func (p *meshwise) lhsAcousticX() {
	const s = 1
	n := p.N
	l1, l2, l3, l4, l5 := p.component(p.lhs, 0), p.component(p.lhs, 1), p.component(p.lhs, 2), p.component(p.lhs, 3), p.component(p.lhs, 4)
	p1, p2, p3, p4, p5 := p.component(p.lhs, 5), p.component(p.lhs, 6), p.component(p.lhs, 7), p.component(p.lhs, 8), p.component(p.lhs, 9)
	m1, m2, m3, m4, m5 := p.component(p.lhs, 10), p.component(p.lhs, 11), p.component(p.lhs, 12), p.component(p.lhs, 13), p.component(p.lhs, 14)
	t2, speed := p.Dt*p.T2, p.speed[:p.points]
	for k := 1; k < n-1; k++ {
		for j := 1; j < n-1; j++ {
			for i := 1; i < n-1; i++ {
				c := p.cell(i, j, k)
				a, b := t2*speed[c-s], t2*speed[c+s]
				p1[c], m1[c] = l1[c], l1[c]
				p2[c], m2[c] = l2[c]-a, l2[c]+a
				p3[c], m3[c] = l3[c], l3[c]
				p4[c], m4[c] = l4[c]+b, l4[c]-b
				p5[c], m5[c] = l5[c], l5[c]
			}
		}
	}
}

// lhsY is lhsX along y.
//
//go:noinline
func (p *meshwise) lhsY() {
	n, s := p.N, p.j
	t1, t2, d := p.Dt*p.T1, p.Dt*p.T2, cfd.D(1)
	l1, l2, l3, l4, l5 := p.component(p.lhs, 0), p.component(p.lhs, 1), p.component(p.lhs, 2), p.component(p.lhs, 3), p.component(p.lhs, 4)
	cv, rho := p.cv[:n], p.rho[:n]
	for k := 1; k < n-1; k++ {
		for i := 1; i < n-1; i++ {
			line := p.cell(i, 0, k)
			for x := range n {
				c := line + x*s
				cv[x], rho[x] = p.vs[c], viscosity(d, p.rhoI[c])
			}
			for x := 1; x < n-1; x++ {
				c := line + x*s
				l1[c] = 0
				l2[c] = -t2*cv[x-1] - t1*rho[x-1]
				l3[c] = 1 + 2*t1*rho[x]
				l4[c] = t2*cv[x+1] - t1*rho[x+1]
				l5[c] = 0
			}
		}
	}
	p.lhsDissipationY()
	p.lhsAcousticY()
}

// lhsDissipationY adds the fourth difference, in its passes.
//
//go:noinline
func (p *meshwise) lhsDissipationY() {
	n, s := p.N, p.j
	l1, l2, l3, l4, l5 := p.component(p.lhs, 0), p.component(p.lhs, 1), p.component(p.lhs, 2), p.component(p.lhs, 3), p.component(p.lhs, 4)
	e1 := p.Dt * cfd.Dssp
	e4, e5, e6 := 4*e1, 5*e1, 6*e1
	for k := 1; k < n-1; k++ {
		for i := 1; i < n-1; i++ {
			c := p.cell(i, 1, k)
			l3[c] += e5
			l4[c] -= e4
			l5[c] += e1
			c += s
			l2[c] -= e4
			l3[c] += e6
			l4[c] -= e4
			l5[c] += e1
		}
	}
	for k := 1; k < n-1; k++ {
		for j := 3; j < n-3; j++ {
			for i := 1; i < n-1; i++ {
				c := p.cell(i, j, k)
				l1[c] += e1
				l2[c] -= e4
				l3[c] += e6
				l4[c] -= e4
				l5[c] += e1
			}
		}
	}
	for k := 1; k < n-1; k++ {
		for i := 1; i < n-1; i++ {
			c := p.cell(i, n-3, k)
			l1[c] += e1
			l2[c] -= e4
			l3[c] += e6
			l4[c] -= e4
			c += s
			l1[c] += e1
			l2[c] -= e4
			l3[c] += e5
		}
	}
}

// lhsAcousticY forms the matrices for w + a and w - a from that for w.
//
//go:noinline
func (p *meshwise) lhsAcousticY() {
	n, s := p.N, p.j
	l1, l2, l3, l4, l5 := p.component(p.lhs, 0), p.component(p.lhs, 1), p.component(p.lhs, 2), p.component(p.lhs, 3), p.component(p.lhs, 4)
	p1, p2, p3, p4, p5 := p.component(p.lhs, 5), p.component(p.lhs, 6), p.component(p.lhs, 7), p.component(p.lhs, 8), p.component(p.lhs, 9)
	m1, m2, m3, m4, m5 := p.component(p.lhs, 10), p.component(p.lhs, 11), p.component(p.lhs, 12), p.component(p.lhs, 13), p.component(p.lhs, 14)
	t2, speed := p.Dt*p.T2, p.speed[:p.points]
	for k := 1; k < n-1; k++ {
		for j := 1; j < n-1; j++ {
			for i := 1; i < n-1; i++ {
				c := p.cell(i, j, k)
				a, b := t2*speed[c-s], t2*speed[c+s]
				p1[c], m1[c] = l1[c], l1[c]
				p2[c], m2[c] = l2[c]-a, l2[c]+a
				p3[c], m3[c] = l3[c], l3[c]
				p4[c], m4[c] = l4[c]+b, l4[c]-b
				p5[c], m5[c] = l5[c], l5[c]
			}
		}
	}
}

// lhsZ is lhsX along z.
//
//go:noinline
func (p *meshwise) lhsZ() {
	n, s := p.N, p.k
	t1, t2, d := p.Dt*p.T1, p.Dt*p.T2, cfd.D(2)
	l1, l2, l3, l4, l5 := p.component(p.lhs, 0), p.component(p.lhs, 1), p.component(p.lhs, 2), p.component(p.lhs, 3), p.component(p.lhs, 4)
	cv, rho := p.cv[:n], p.rho[:n]
	for j := 1; j < n-1; j++ {
		for i := 1; i < n-1; i++ {
			line := p.cell(i, j, 0)
			for x := range n {
				c := line + x*s
				cv[x], rho[x] = p.ws[c], viscosity(d, p.rhoI[c])
			}
			for x := 1; x < n-1; x++ {
				c := line + x*s
				l1[c] = 0
				l2[c] = -t2*cv[x-1] - t1*rho[x-1]
				l3[c] = 1 + 2*t1*rho[x]
				l4[c] = t2*cv[x+1] - t1*rho[x+1]
				l5[c] = 0
			}
		}
	}
	p.lhsDissipationZ()
	p.lhsAcousticZ()
}

// lhsDissipationZ adds the fourth difference, in its passes.
//
//go:noinline
func (p *meshwise) lhsDissipationZ() {
	n, s := p.N, p.k
	l1, l2, l3, l4, l5 := p.component(p.lhs, 0), p.component(p.lhs, 1), p.component(p.lhs, 2), p.component(p.lhs, 3), p.component(p.lhs, 4)
	e1 := p.Dt * cfd.Dssp
	e4, e5, e6 := 4*e1, 5*e1, 6*e1
	for j := 1; j < n-1; j++ {
		for i := 1; i < n-1; i++ {
			c := p.cell(i, j, 1)
			l3[c] += e5
			l4[c] -= e4
			l5[c] += e1
			c += s
			l2[c] -= e4
			l3[c] += e6
			l4[c] -= e4
			l5[c] += e1
		}
	}
	for k := 3; k < n-3; k++ {
		for j := 1; j < n-1; j++ {
			for i := 1; i < n-1; i++ {
				c := p.cell(i, j, k)
				l1[c] += e1
				l2[c] -= e4
				l3[c] += e6
				l4[c] -= e4
				l5[c] += e1
			}
		}
	}
	for j := 1; j < n-1; j++ {
		for i := 1; i < n-1; i++ {
			c := p.cell(i, j, n-3)
			l1[c] += e1
			l2[c] -= e4
			l3[c] += e6
			l4[c] -= e4
			c += s
			l1[c] += e1
			l2[c] -= e4
			l3[c] += e5
		}
	}
}

// lhsAcousticZ forms the matrices for w + a and w - a from that for w.
//
//go:noinline
func (p *meshwise) lhsAcousticZ() {
	n, s := p.N, p.k
	l1, l2, l3, l4, l5 := p.component(p.lhs, 0), p.component(p.lhs, 1), p.component(p.lhs, 2), p.component(p.lhs, 3), p.component(p.lhs, 4)
	p1, p2, p3, p4, p5 := p.component(p.lhs, 5), p.component(p.lhs, 6), p.component(p.lhs, 7), p.component(p.lhs, 8), p.component(p.lhs, 9)
	m1, m2, m3, m4, m5 := p.component(p.lhs, 10), p.component(p.lhs, 11), p.component(p.lhs, 12), p.component(p.lhs, 13), p.component(p.lhs, 14)
	t2, speed := p.Dt*p.T2, p.speed[:p.points]
	for k := 1; k < n-1; k++ {
		for j := 1; j < n-1; j++ {
			for i := 1; i < n-1; i++ {
				c := p.cell(i, j, k)
				a, b := t2*speed[c-s], t2*speed[c+s]
				p1[c], m1[c] = l1[c], l1[c]
				p2[c], m2[c] = l2[c]-a, l2[c]+a
				p3[c], m3[c] = l3[c], l3[c]
				p4[c], m4[c] = l4[c]+b, l4[c]-b
				p5[c], m5[c] = l5[c], l5[c]
			}
		}
	}
}
