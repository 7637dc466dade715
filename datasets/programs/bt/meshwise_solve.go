package main

import "presage/datasets/programs/internal/cfd"

// lhsX forms the matrix of all lines along x, a line at a time; see lhsLine.
//
//go:noinline
func (p *meshwise) lhsX() {
	const s = 1
	n := p.N
	t1, t2 := p.Dt*p.T1, p.Dt*p.T2
	t1d := t1 * cfd.D(0)
	for k := 1; k < n-1; k++ {
		for j := 1; j < n-1; j++ {
			line := p.Cell(0, j, k)
			for c := line; c < line+n; c++ {
				u := cfd.At(p.U, c)
				rhoI := 1 / u[0]
				square := 0.5 * (u[1]*u[1] + u[2]*u[2] + u[3]*u[3]) * rhoI
				jacobianX(blockAt(p.fjac, c), blockAt(p.njac, c), u, rhoI, square*rhoI, square)
			}
			for c := line + 1; c < line+n-1; c++ {
				f0, f2 := blockAt(p.fjac, c-s), blockAt(p.fjac, c+s)
				g0, g1, g2 := blockAt(p.njac, c-s), blockAt(p.njac, c), blockAt(p.njac, c+s)
				a, b, cc := blockAt(p.lhs, 3*c+before), blockAt(p.lhs, 3*c+self), blockAt(p.lhs, 3*c+after)
				for e := range a {
					a[e] = -t2*f0[e] - t1*g0[e]
					b[e] = 2 * t1 * g1[e]
					cc[e] = t2*f2[e] - t1*g2[e]
				}
				for e := 0; e < len(a); e += 6 {
					a[e] -= t1d
					b[e] += 1 + 2*t1d
					cc[e] -= t1d
				}
			}
		}
	}
}

// xSolveCell eliminates forward: the first points of all lines, all others but
// the last ones in the order of memory, and the last ones.
//
//go:noinline
func (p *meshwise) xSolveCell() {
	const s = 1
	n, rhs, lhs := p.N, p.RHS, p.lhs
	for k := 1; k < n-1; k++ {
		for j := 1; j < n-1; j++ {
			c := p.Cell(0, j, k)
			binvcrhs(blockAt(lhs, 3*c+self), blockAt(lhs, 3*c+after), cfd.At(rhs, c))
		}
	}
	for k := 1; k < n-1; k++ {
		for j := 1; j < n-1; j++ {
			for i := 1; i < n-1; i++ {
				c := p.Cell(i, j, k)
				matvecSub(blockAt(lhs, 3*c+before), cfd.At(rhs, c-s), cfd.At(rhs, c))
				matmulSub(blockAt(lhs, 3*c+before), blockAt(lhs, 3*(c-s)+after), blockAt(lhs, 3*c+self))
				binvcrhs(blockAt(lhs, 3*c+self), blockAt(lhs, 3*c+after), cfd.At(rhs, c))
			}
		}
	}
	for k := 1; k < n-1; k++ {
		for j := 1; j < n-1; j++ {
			c := p.Cell(n-1, j, k)
			matvecSub(blockAt(lhs, 3*c+before), cfd.At(rhs, c-s), cfd.At(rhs, c))
			matmulSub(blockAt(lhs, 3*c+before), blockAt(lhs, 3*(c-s)+after), blockAt(lhs, 3*c+self))
			binvrhs(blockAt(lhs, 3*c+self), cfd.At(rhs, c))
		}
	}
}

// xBacksubstitute substitutes backwards along x, in the order of memory otherwise.
//
//go:noinline
func (p *meshwise) xBacksubstitute() {
	const s = 1
	n, rhs, lhs := p.N, p.RHS, p.lhs
	for k := 1; k < n-1; k++ {
		for j := 1; j < n-1; j++ {
			for i := n - 2; i >= 0; i-- {
				c := p.Cell(i, j, k)
				a, x, r := blockAt(lhs, 3*c+after), cfd.At(rhs, c+s), cfd.At(rhs, c)
				for m := range r {
					r[m] = r[m] - a[m]*x[0] - a[m+5]*x[1] - a[m+10]*x[2] - a[m+15]*x[3] - a[m+20]*x[4]
				}
			}
		}
	}
}

// lhsY is lhsX along y, in two passes over the mesh: Jacobians, then blocks.
//
//go:noinline
func (p *meshwise) lhsY() {
	n, s := p.N, p.J
	t1, t2 := p.Dt*p.T1, p.Dt*p.T2
	t1d := t1 * cfd.D(1)
	for k := 1; k < n-1; k++ {
		for j := range n {
			for i := 1; i < n-1; i++ {
				c := p.Cell(i, j, k)
				u := cfd.At(p.U, c)
				rhoI := 1 / u[0]
				square := 0.5 * (u[1]*u[1] + u[2]*u[2] + u[3]*u[3]) * rhoI
				jacobianY(blockAt(p.fjac, c), blockAt(p.njac, c), u, rhoI, square*rhoI, square)
			}
		}
	}
	for k := 1; k < n-1; k++ {
		for j := 1; j < n-1; j++ {
			for i := 1; i < n-1; i++ {
				c := p.Cell(i, j, k)
				f0, f2 := blockAt(p.fjac, c-s), blockAt(p.fjac, c+s)
				g0, g1, g2 := blockAt(p.njac, c-s), blockAt(p.njac, c), blockAt(p.njac, c+s)
				a, b, cc := blockAt(p.lhs, 3*c+before), blockAt(p.lhs, 3*c+self), blockAt(p.lhs, 3*c+after)
				for e := range a {
					a[e] = -t2*f0[e] - t1*g0[e]
					b[e] = 2 * t1 * g1[e]
					cc[e] = t2*f2[e] - t1*g2[e]
				}
				for e := 0; e < len(a); e += 6 {
					a[e] -= t1d
					b[e] += 1 + 2*t1d
					cc[e] -= t1d
				}
			}
		}
	}
}

// ySolveCell eliminates forward: the first points of all lines, all others but
// the last ones in the order of memory, and the last ones.
//
//go:noinline
func (p *meshwise) ySolveCell() {
	n, s, rhs, lhs := p.N, p.J, p.RHS, p.lhs
	for k := 1; k < n-1; k++ {
		for i := 1; i < n-1; i++ {
			c := p.Cell(i, 0, k)
			binvcrhs(blockAt(lhs, 3*c+self), blockAt(lhs, 3*c+after), cfd.At(rhs, c))
		}
	}
	for k := 1; k < n-1; k++ {
		for j := 1; j < n-1; j++ {
			for i := 1; i < n-1; i++ {
				c := p.Cell(i, j, k)
				matvecSub(blockAt(lhs, 3*c+before), cfd.At(rhs, c-s), cfd.At(rhs, c))
				matmulSub(blockAt(lhs, 3*c+before), blockAt(lhs, 3*(c-s)+after), blockAt(lhs, 3*c+self))
				binvcrhs(blockAt(lhs, 3*c+self), blockAt(lhs, 3*c+after), cfd.At(rhs, c))
			}
		}
	}
	for k := 1; k < n-1; k++ {
		for i := 1; i < n-1; i++ {
			c := p.Cell(i, n-1, k)
			matvecSub(blockAt(lhs, 3*c+before), cfd.At(rhs, c-s), cfd.At(rhs, c))
			matmulSub(blockAt(lhs, 3*c+before), blockAt(lhs, 3*(c-s)+after), blockAt(lhs, 3*c+self))
			binvrhs(blockAt(lhs, 3*c+self), cfd.At(rhs, c))
		}
	}
}

// yBacksubstitute substitutes backwards along y, in the order of memory otherwise.
//
//go:noinline
func (p *meshwise) yBacksubstitute() {
	n, s, rhs, lhs := p.N, p.J, p.RHS, p.lhs
	for k := 1; k < n-1; k++ {
		for j := n - 2; j >= 0; j-- {
			for i := 1; i < n-1; i++ {
				c := p.Cell(i, j, k)
				a, x, r := blockAt(lhs, 3*c+after), cfd.At(rhs, c+s), cfd.At(rhs, c)
				for m := range r {
					r[m] = r[m] - a[m]*x[0] - a[m+5]*x[1] - a[m+10]*x[2] - a[m+15]*x[3] - a[m+20]*x[4]
				}
			}
		}
	}
}

// lhsZ is lhsX along z, in two passes over the mesh: Jacobians, then blocks.
//
//go:noinline
func (p *meshwise) lhsZ() {
	n, s := p.N, p.K
	t1, t2 := p.Dt*p.T1, p.Dt*p.T2
	t1d := t1 * cfd.D(2)
	for k := range n {
		for j := 1; j < n-1; j++ {
			for i := 1; i < n-1; i++ {
				c := p.Cell(i, j, k)
				u := cfd.At(p.U, c)
				rhoI := 1 / u[0]
				square := 0.5 * (u[1]*u[1] + u[2]*u[2] + u[3]*u[3]) * rhoI
				jacobianZ(blockAt(p.fjac, c), blockAt(p.njac, c), u, rhoI, square*rhoI, square)
			}
		}
	}
	for k := 1; k < n-1; k++ {
		for j := 1; j < n-1; j++ {
			for i := 1; i < n-1; i++ {
				c := p.Cell(i, j, k)
				f0, f2 := blockAt(p.fjac, c-s), blockAt(p.fjac, c+s)
				g0, g1, g2 := blockAt(p.njac, c-s), blockAt(p.njac, c), blockAt(p.njac, c+s)
				a, b, cc := blockAt(p.lhs, 3*c+before), blockAt(p.lhs, 3*c+self), blockAt(p.lhs, 3*c+after)
				for e := range a {
					a[e] = -t2*f0[e] - t1*g0[e]
					b[e] = 2 * t1 * g1[e]
					cc[e] = t2*f2[e] - t1*g2[e]
				}
				for e := 0; e < len(a); e += 6 {
					a[e] -= t1d
					b[e] += 1 + 2*t1d
					cc[e] -= t1d
				}
			}
		}
	}
}

// zSolveCell eliminates forward: the first points of all lines, all others but
// the last ones in the order of memory, and the last ones.
//
//go:noinline
func (p *meshwise) zSolveCell() {
	n, s, rhs, lhs := p.N, p.K, p.RHS, p.lhs
	for j := 1; j < n-1; j++ {
		for i := 1; i < n-1; i++ {
			c := p.Cell(i, j, 0)
			binvcrhs(blockAt(lhs, 3*c+self), blockAt(lhs, 3*c+after), cfd.At(rhs, c))
		}
	}
	for k := 1; k < n-1; k++ {
		for j := 1; j < n-1; j++ {
			for i := 1; i < n-1; i++ {
				c := p.Cell(i, j, k)
				matvecSub(blockAt(lhs, 3*c+before), cfd.At(rhs, c-s), cfd.At(rhs, c))
				matmulSub(blockAt(lhs, 3*c+before), blockAt(lhs, 3*(c-s)+after), blockAt(lhs, 3*c+self))
				binvcrhs(blockAt(lhs, 3*c+self), blockAt(lhs, 3*c+after), cfd.At(rhs, c))
			}
		}
	}
	for j := 1; j < n-1; j++ {
		for i := 1; i < n-1; i++ {
			c := p.Cell(i, j, n-1)
			matvecSub(blockAt(lhs, 3*c+before), cfd.At(rhs, c-s), cfd.At(rhs, c))
			matmulSub(blockAt(lhs, 3*c+before), blockAt(lhs, 3*(c-s)+after), blockAt(lhs, 3*c+self))
			binvrhs(blockAt(lhs, 3*c+self), cfd.At(rhs, c))
		}
	}
}

// zBacksubstitute substitutes backwards along z, in the order of memory otherwise.
//
//go:noinline
func (p *meshwise) zBacksubstitute() {
	n, s, rhs, lhs := p.N, p.K, p.RHS, p.lhs
	for k := n - 2; k >= 0; k-- {
		for j := 1; j < n-1; j++ {
			for i := 1; i < n-1; i++ {
				c := p.Cell(i, j, k)
				a, x, r := blockAt(lhs, 3*c+after), cfd.At(rhs, c+s), cfd.At(rhs, c)
				for m := range r {
					r[m] = r[m] - a[m]*x[0] - a[m+5]*x[1] - a[m+10]*x[2] - a[m+15]*x[3] - a[m+20]*x[4]
				}
			}
		}
	}
}
