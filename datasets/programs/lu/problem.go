package main

// Gas constants, numbered as NAS does: c1 = γ, c2 = γ - 1, c3 c4 the
// viscosity, c1 c5 the ratio of heat conduction to it.
const (
	c1 = 1.4
	c2 = 0.4
	c3 = 0.1
	c4 = 1.0
	c5 = 1.4

	c34   = c3 * c4
	c1345 = c1 * c3 * c4 * c5
	r43   = 4.0 / 3
)

// The second-order dissipation along ξ, η and ζ, the same for all five components,
// and the fourth-order one, a quarter of the largest of them.
const (
	dxi   = 0.75
	deta  = 0.75
	dzeta = 1.0
	dssp  = dzeta / 4
)

// omega is the factor of over-relaxation.
const omega = 1.2

// vec is the state at a mesh point: density, three momenta, energy.
type vec [5]float64

// block is a 5 x 5 matrix, the row index fastest.
type block [25]float64

// row sets row m.
func (b *block) row(m int, e0, e1, e2, e3, e4 float64) {
	b[m], b[m+5], b[m+10], b[m+15], b[m+20] = e0, e1, e2, e3, e4
}

// problem holds the mesh, the arrays on it, and what the solution is judged by.
// The mesh point (i, j, k), counted from 0, is element i + row j + plane k of the
// arrays on the mesh, so that i is fastest, as in the Fortran original.
type problem struct {
	n          int // mesh points along an edge
	row, plane int // elements from a point to its neighbours along j and k
	steps      int
	dt         float64 // length of a (pseudo-) time step

	t1, t2, t3 float64 // 1/h², 1/2h, 1/h, h being the mesh width in a unit cube

	u    []vec     // the solution
	rsd  []vec     // residual; in a step dt times it, then the correction
	frct []vec     // forcing that makes the exact solution a steady state
	rhoi []float64 // 1/density
	qs   []float64 // kinetic energy, (u1² + u2² + u3²)/2u0

	// The blocks of a front, which couple a point with its neighbours along ζ, η
	// and ξ (a, b, c) and with itself (d), and the front's right-hand side.
	a, b, c, d []block
	tv         []vec
	fronts     fronts

	flux       []vec     // along a line of points
	phi1, phi2 []float64 // pressure on two opposite faces
	before     []vec     // a front before a sweep, kept for the check of it

	started, ended results
}

// results are what NAS judges a solution by.
type results struct {
	residual vec     // RMS norms of rsd
	error    vec     // RMS norms of the difference from the exact solution
	integral float64 // of the pressure over the faces of a box inside
}

// leading is the leading dimension that NAS gives an array for n points: the next
// odd number, so that rows do not fall on few sets of a cache.
func leading(n int) int { return n/2*2 + 1 }

// allocate returns a problem with all the memory that it will ever use: arrays for
// o.max points along an edge, of which o.n are used.
func allocate(o options) *problem {
	ld := leading(o.max)
	mesh, front := ld*ld*o.max, ld*o.max
	p := &problem{
		n: o.n, row: ld, plane: ld * ld, steps: o.iterations, dt: o.dt,
		u: make([]vec, mesh), rsd: make([]vec, mesh), frct: make([]vec, mesh),
		rhoi: make([]float64, mesh), qs: make([]float64, mesh),
		a: make([]block, front), b: make([]block, front), c: make([]block, front), d: make([]block, front),
		tv: make([]vec, front), before: make([]vec, front),
		flux: make([]vec, o.max),
		phi1: make([]float64, front), phi2: make([]float64, front),
	}
	p.fronts = planes(p)
	if o.order == hyperplane {
		p.fronts = hyperplanes(p)
	}
	return p
}

// at returns the element of mesh point (i, j, k).
func (p *problem) at(i, j, k int) int { return i + p.row*j + p.plane*k }

// setcoeff sets the coefficients that depend on the mesh width.
func setcoeff(p *problem) {
	intervals := float64(p.n - 1)
	p.t1, p.t2, p.t3 = intervals*intervals, intervals/2, intervals
}

// initialize sets the problem up: boundary and initial values, and the forcing.
//
//go:noinline
func initialize(p *problem) {
	setcoeff(p)
	setbv(p)
	setiv(p)
	erhs(p)
}

// position is the coordinate of a mesh point in the unit cube.
func (p *problem) position(i int) float64 { return float64(i) / float64(p.n-1) }

// setbv sets the boundary values: the exact solution, on all six faces.
//
//go:noinline
func setbv(p *problem) {
	last := p.n - 1
	for b := range p.n {
		for a := range p.n {
			for _, face := range [2]int{0, last} {
				p.u[p.at(a, b, face)] = p.exact(a, b, face)
				p.u[p.at(a, face, b)] = p.exact(a, face, b)
				p.u[p.at(face, a, b)] = p.exact(face, a, b)
			}
		}
	}
}

// setiv sets the initial values inside by transfinite interpolation between the
// faces: with Px, Py, Pz the linear interpolations along the axes,
//
//	u = Px + Py + Pz - Px Py - Py Pz - Pz Px + Px Py Pz
//
// where a product is that of the interpolated numbers, component by component, as
// NAS takes it, and not of the operators.
//
//go:noinline
func setiv(p *problem) {
	last := p.n - 1
	for k := 1; k < last; k++ {
		z := p.position(k)
		for j := 1; j < last; j++ {
			y := p.position(j)
			west, east := p.exact(0, j, k), p.exact(last, j, k)
			for i := 1; i < last; i++ {
				x := p.position(i)
				south, north := p.exact(i, 0, k), p.exact(i, last, k)
				bottom, top := p.exact(i, j, 0), p.exact(i, j, last)
				u := &p.u[p.at(i, j, k)]
				for m := range u {
					px := (1-x)*west[m] + x*east[m]
					py := (1-y)*south[m] + y*north[m]
					pz := (1-z)*bottom[m] + z*top[m]
					u[m] = px + py + pz - px*py - py*pz - pz*px + px*py*pz
				}
			}
		}
	}
}
