package cfd

// DissipateX subtracts ε δ⁴u along x from the right-hand side at the points from
// i0 to i1 (exclusive) of the lines from j0 to j1 and k0 to k1. Away from the
// boundary the five components of a line are one contiguous stretch.
//
//go:noinline
func (f *Flow) DissipateX(i0, i1, j0, j1, k0, k1 int) {
	for k := k0; k < k1; k++ {
		for j := j0; j < j1; j++ {
			line := 5 * f.Cell(0, j, k)
			for i := i0; i < min(i1, 3); i++ {
				Edge(f.RHS, f.U, line+5*i, 5, 5, i)
			}
			low, high := max(i0, 3), min(i1, f.N-3)
			if low < high {
				w := 5 * (high - low)
				at := line + 5*low
				r, c := f.RHS[at:][:w], f.U[at:][:w]
				m2, m1, p1, p2 := f.U[at-10:][:w], f.U[at-5:][:w], f.U[at+5:][:w], f.U[at+10:][:w]
				for e := range r {
					r[e] -= Dssp * (m2[e] - 4*m1[e] + 6*c[e] - 4*p1[e] + p2[e])
				}
			}
			for i := max(i0, f.N-3); i < i1; i++ {
				Edge(f.RHS, f.U, line+5*i, 5, -5, f.N-1-i)
			}
		}
	}
}

// DissipateY is DissipateX along y, for all inner i.
//
//go:noinline
func (f *Flow) DissipateY(j0, j1, k0, k1 int) {
	w, s := 5*(f.N-2), 5*f.J
	for k := k0; k < k1; k++ {
		for j := j0; j < j1; j++ {
			at := 5 * f.Cell(1, j, k)
			switch {
			case j < 3:
				Edge(f.RHS, f.U, at, w, s, j)
			case j >= f.N-3:
				Edge(f.RHS, f.U, at, w, -s, f.N-1-j)
			default:
				r, c := f.RHS[at:][:w], f.U[at:][:w]
				m2, m1, p1, p2 := f.U[at-2*s:][:w], f.U[at-s:][:w], f.U[at+s:][:w], f.U[at+2*s:][:w]
				for e := range r {
					r[e] -= Dssp * (m2[e] - 4*m1[e] + 6*c[e] - 4*p1[e] + p2[e])
				}
			}
		}
	}
}

// DissipateZ is DissipateX along z, for all inner i.
//
//go:noinline
func (f *Flow) DissipateZ(j0, j1, k0, k1 int) {
	w, s := 5*(f.N-2), 5*f.K
	for k := k0; k < k1; k++ {
		for j := j0; j < j1; j++ {
			at := 5 * f.Cell(1, j, k)
			switch {
			case k < 3:
				Edge(f.RHS, f.U, at, w, s, k)
			case k >= f.N-3:
				Edge(f.RHS, f.U, at, w, -s, f.N-1-k)
			default:
				r, c := f.RHS[at:][:w], f.U[at:][:w]
				m2, m1, p1, p2 := f.U[at-2*s:][:w], f.U[at-s:][:w], f.U[at+s:][:w], f.U[at+2*s:][:w]
				for e := range r {
					r[e] -= Dssp * (m2[e] - 4*m1[e] + 6*c[e] - 4*p1[e] + p2[e])
				}
			}
		}
	}
}

// Edge subtracts ε δ⁴u next to the boundary, where it is one-sided, from w
// elements of rhs that start at at. s is the distance to the elements of u that
// are one point further inside, and distance how many points away the boundary
// is, 1 or 2:
//
//	1:  5 u - 4 u(+s) + u(+2s)        2:  -4 u(-s) + 6 u - 4 u(+s) + u(+2s)
//
//go:noinline
func Edge(rhs, u []float64, at, w, s, distance int) {
	r, c := rhs[at:][:w], u[at:][:w]
	p1, p2 := u[at+s:][:w], u[at+2*s:][:w]
	if distance == 1 {
		for e := range r {
			r[e] -= Dssp * (5*c[e] - 4*p1[e] + p2[e])
		}
		return
	}
	m1 := u[at-s:][:w]
	for e := range r {
		r[e] -= Dssp * (-4*m1[e] + 6*c[e] - 4*p1[e] + p2[e])
	}
}

// ScaleByDt multiplies the right-hand side by the time step.
//
//go:noinline
func (f *Flow) ScaleByDt() {
	w := 5 * (f.N - 2)
	for k := 1; k < f.N-1; k++ {
		for j := 1; j < f.N-1; j++ {
			r := f.RHS[5*f.Cell(1, j, k):][:w]
			for e := range r {
				r[e] *= f.Dt
			}
		}
	}
}

// CopyForcing sets the right-hand side to the forcing, on the boundary too.
//
//go:noinline
func (f *Flow) CopyForcing() {
	w := 5 * f.N
	for k := range f.N {
		for j := range f.N {
			at := 5 * f.Cell(0, j, k)
			r, from := f.RHS[at:][:w], f.Forcing[at:][:w]
			for e := range r {
				r[e] = from[e]
			}
		}
	}
}

// Add adds the update, which the solvers leave in the right-hand side, to u.
//
//go:noinline
func (f *Flow) Add() {
	w := 5 * (f.N - 2)
	for k := 1; k < f.N-1; k++ {
		for j := 1; j < f.N-1; j++ {
			at := 5 * f.Cell(1, j, k)
			u, r := f.U[at:][:w], f.RHS[at:][:w]
			for e := range u {
				u[e] += r[e]
			}
		}
	}
}
