package main

import "presage/datasets/programs/internal/cfd"

// xSolve solves the five systems of all lines along x.
//
//go:noinline
func (p *linewise) xSolve() {
	const s = 1
	n := p.N
	lhs, plus, less := p.lhs, p.plus, p.less
	t2, d := p.Dt*p.T2, cfd.D(0)
	for k := 1; k < n-1; k++ {
		for j := 1; j < n-1; j++ {
			line := p.Cell(0, j, k)
			for i := range n {
				c := line + i*s
				p.cv[i], p.rho[i] = p.Us[c], viscosity(d, p.RhoI[c])
			}
			p.lhsLine()
			for i := 1; i < n-1; i++ {
				c := line + i*s
				l, a, b := cfd.At(lhs, i), t2*p.speed[c-s], t2*p.speed[c+s]
				acoustic(cfd.At(plus, i), l, a, b)
				acoustic(cfd.At(less, i), l, -a, -b)
			}

			for i := range n - 2 {
				c := line + i*s
				l := cfd.At(lhs, i)
				scale, g1 := pivot(l, cfd.At(lhs, i+1))
				g2 := takeOut(l, cfd.At(lhs, i+2))
				r, r1, r2 := cfd.At(p.RHS, c), cfd.At(p.RHS, c+s), cfd.At(p.RHS, c+2*s)
				for m := range 3 {
					x := scale * r[m]
					r[m] = x
					r1[m] -= g1 * x
					r2[m] -= g2 * x
				}
			}
			for i := range n - 2 {
				c := line + i*s
				r, r1, r2 := cfd.At(p.RHS, c), cfd.At(p.RHS, c+s), cfd.At(p.RHS, c+2*s)
				l := cfd.At(plus, i)
				scale, g1 := pivot(l, cfd.At(plus, i+1))
				g2 := takeOut(l, cfd.At(plus, i+2))
				x := scale * r[3]
				r[3] = x
				r1[3] -= g1 * x
				r2[3] -= g2 * x
				l = cfd.At(less, i)
				scale, g1 = pivot(l, cfd.At(less, i+1))
				g2 = takeOut(l, cfd.At(less, i+2))
				x = scale * r[4]
				r[4] = x
				r1[4] -= g1 * x
				r2[4] -= g2 * x
			}
			p.lastRows(p.RHS, line, s)
			for i := n - 3; i >= 0; i-- {
				c := line + i*s
				r, r1, r2 := cfd.At(p.RHS, c), cfd.At(p.RHS, c+s), cfd.At(p.RHS, c+2*s)
				l, lp, lm := cfd.At(lhs, i), cfd.At(plus, i), cfd.At(less, i)
				for m := range 3 {
					r[m] = r[m] - l[3]*r1[m] - l[4]*r2[m]
				}
				r[3] = r[3] - lp[3]*r1[3] - lp[4]*r2[3]
				r[4] = r[4] - lm[3]*r1[4] - lm[4]*r2[4]
			}
		}
	}
}

// ySolve is xSolve along y.
//
//go:noinline
func (p *linewise) ySolve() {
	n, s := p.N, p.J
	lhs, plus, less := p.lhs, p.plus, p.less
	t2, d := p.Dt*p.T2, cfd.D(1)
	for k := 1; k < n-1; k++ {
		for i := 1; i < n-1; i++ {
			line := p.Cell(i, 0, k)
			for j := range n {
				c := line + j*s
				p.cv[j], p.rho[j] = p.Vs[c], viscosity(d, p.RhoI[c])
			}
			p.lhsLine()
			for j := 1; j < n-1; j++ {
				c := line + j*s
				l, a, b := cfd.At(lhs, j), t2*p.speed[c-s], t2*p.speed[c+s]
				acoustic(cfd.At(plus, j), l, a, b)
				acoustic(cfd.At(less, j), l, -a, -b)
			}

			for j := range n - 2 {
				c := line + j*s
				l := cfd.At(lhs, j)
				scale, g1 := pivot(l, cfd.At(lhs, j+1))
				g2 := takeOut(l, cfd.At(lhs, j+2))
				r, r1, r2 := cfd.At(p.RHS, c), cfd.At(p.RHS, c+s), cfd.At(p.RHS, c+2*s)
				for m := range 3 {
					x := scale * r[m]
					r[m] = x
					r1[m] -= g1 * x
					r2[m] -= g2 * x
				}
			}
			for j := range n - 2 {
				c := line + j*s
				r, r1, r2 := cfd.At(p.RHS, c), cfd.At(p.RHS, c+s), cfd.At(p.RHS, c+2*s)
				l := cfd.At(plus, j)
				scale, g1 := pivot(l, cfd.At(plus, j+1))
				g2 := takeOut(l, cfd.At(plus, j+2))
				x := scale * r[3]
				r[3] = x
				r1[3] -= g1 * x
				r2[3] -= g2 * x
				l = cfd.At(less, j)
				scale, g1 = pivot(l, cfd.At(less, j+1))
				g2 = takeOut(l, cfd.At(less, j+2))
				x = scale * r[4]
				r[4] = x
				r1[4] -= g1 * x
				r2[4] -= g2 * x
			}
			p.lastRows(p.RHS, line, s)
			for j := n - 3; j >= 0; j-- {
				c := line + j*s
				r, r1, r2 := cfd.At(p.RHS, c), cfd.At(p.RHS, c+s), cfd.At(p.RHS, c+2*s)
				l, lp, lm := cfd.At(lhs, j), cfd.At(plus, j), cfd.At(less, j)
				for m := range 3 {
					r[m] = r[m] - l[3]*r1[m] - l[4]*r2[m]
				}
				r[3] = r[3] - lp[3]*r1[3] - lp[4]*r2[3]
				r[4] = r[4] - lm[3]*r1[4] - lm[4]*r2[4]
			}
		}
	}
}

// zSolve is xSolve along z. It solves a line in a copy, which is contiguous.
//
//go:noinline
func (p *linewise) zSolve() {
	n, s := p.N, p.K
	lhs, plus, less := p.lhs, p.plus, p.less
	t2, d := p.Dt*p.T2, cfd.D(2)
	for j := 1; j < n-1; j++ {
		for i := 1; i < n-1; i++ {
			line := p.Cell(i, j, 0)
			for k := range n {
				c := line + k*s
				p.cv[k], p.rho[k] = p.Ws[c], viscosity(d, p.RhoI[c])
			}
			p.lhsLine()
			for k := 1; k < n-1; k++ {
				c := line + k*s
				l, a, b := cfd.At(lhs, k), t2*p.speed[c-s], t2*p.speed[c+s]
				acoustic(cfd.At(plus, k), l, a, b)
				acoustic(cfd.At(less, k), l, -a, -b)
			}

			for k := range n {
				to, from := cfd.At(p.rtmp, k), cfd.At(p.RHS, line+k*s)
				to[0], to[1], to[2], to[3], to[4] = from[0], from[1], from[2], from[3], from[4]
			}
			for k := range n - 2 {
				l := cfd.At(lhs, k)
				scale, g1 := pivot(l, cfd.At(lhs, k+1))
				g2 := takeOut(l, cfd.At(lhs, k+2))
				r, r1, r2 := cfd.At(p.rtmp, k), cfd.At(p.rtmp, k+1), cfd.At(p.rtmp, k+2)
				for m := range 3 {
					x := scale * r[m]
					r[m] = x
					r1[m] -= g1 * x
					r2[m] -= g2 * x
				}
			}
			for k := range n - 2 {
				r, r1, r2 := cfd.At(p.rtmp, k), cfd.At(p.rtmp, k+1), cfd.At(p.rtmp, k+2)
				l := cfd.At(plus, k)
				scale, g1 := pivot(l, cfd.At(plus, k+1))
				g2 := takeOut(l, cfd.At(plus, k+2))
				x := scale * r[3]
				r[3] = x
				r1[3] -= g1 * x
				r2[3] -= g2 * x
				l = cfd.At(less, k)
				scale, g1 = pivot(l, cfd.At(less, k+1))
				g2 = takeOut(l, cfd.At(less, k+2))
				x = scale * r[4]
				r[4] = x
				r1[4] -= g1 * x
				r2[4] -= g2 * x
			}
			p.lastRows(p.rtmp, 0, 1)
			for k := n - 3; k >= 0; k-- {
				r, r1, r2 := cfd.At(p.rtmp, k), cfd.At(p.rtmp, k+1), cfd.At(p.rtmp, k+2)
				l, lp, lm := cfd.At(lhs, k), cfd.At(plus, k), cfd.At(less, k)
				for m := range 3 {
					r[m] = r[m] - l[3]*r1[m] - l[4]*r2[m]
				}
				r[3] = r[3] - lp[3]*r1[3] - lp[4]*r2[3]
				r[4] = r[4] - lm[3]*r1[4] - lm[4]*r2[4]
			}
			for k := range n {
				to, from := cfd.At(p.RHS, line+k*s), cfd.At(p.rtmp, k)
				to[0], to[1], to[2], to[3], to[4] = from[0], from[1], from[2], from[3], from[4]
			}
		}
	}
}

// lastRows eliminates the last two rows of a line's systems, which do not have
// two more rows after them, and starts the back substitution there. Points of
// the line are at r[5 (first + i s)].
//
//go:noinline
func (p *linewise) lastRows(r []float64, first, s int) {
	i := p.N - 2
	r0, r1 := cfd.At(r, first+i*s), cfd.At(r, first+(i+1)*s)
	l, next := cfd.At(p.lhs, i), cfd.At(p.lhs, i+1)
	scale, g := pivot(l, next)
	for m := range 3 {
		r0[m], r1[m] = lastTwo(r0[m], r1[m], scale, g, next[2], l[3])
	}
	l, next = cfd.At(p.plus, i), cfd.At(p.plus, i+1)
	scale, g = pivot(l, next)
	r0[3], r1[3] = lastTwo(r0[3], r1[3], scale, g, next[2], l[3])
	l, next = cfd.At(p.less, i), cfd.At(p.less, i+1)
	scale, g = pivot(l, next)
	r0[4], r1[4] = lastTwo(r0[4], r1[4], scale, g, next[2], l[3])
}

// lastTwo solves for the last two unknowns of a line.
func lastTwo(r0, r1, scale, g, diagonal, above float64) (x0, x1 float64) {
	r0 *= scale
	x1 = (r1 - g*r0) / diagonal
	return r0 - above*x1, x1
}
