package main

import "math"

// cgitmax is the number of steps of conjugate gradients to each solution.
const cgitmax = 25

// problem holds the matrix, the vectors and what the iterations found.
type problem struct {
	class      string
	n, nonzer  int
	shift      float64
	iterations int
	share

	matrix    csr
	generator *generator

	x          []float64 // the iterate, of length 1 but for the first
	z          []float64 // solution of A z = x
	p, q, r    []float64 // search direction, A p, residual x - A z
	mostCurved float64   // the largest p·A p / p·p of the last solution

	zeta  []float64 // eigenvalue found by each iteration
	rnorm []float64 // |x - A z| of its solution, recomputed
	rho   []float64 // the same as carried along
	work  []float64 // what its steps took from the energy, relative to x·z, which is all
}

// allocate returns a problem with all the memory that it will ever use.
func allocate(o options) *problem {
	mine := shareOf(o.n, max(o.ranks, 1), o.rank)
	rows := mine.hi - mine.lo
	most := rows * (o.nonzer + 1) * (o.nonzer + 1) // if no two vectors meet twice
	if mine.ranks > 1 {
		most += most / 4 // rows differ
	}
	vector := func() []float64 { return make([]float64, rows) }
	return &problem{
		class: o.class, n: o.n, nonzer: o.nonzer, shift: o.shift, iterations: o.iterations, share: mine,
		matrix:    csr{rowstr: make([]int32, 0, rows+1), colidx: make([]int32, 0, most), a: make([]float64, 0, most)},
		generator: newGenerator(o.n, o.nonzer, mine),
		x:         vector(), z: vector(), p: make([]float64, o.n), q: vector(), r: vector(),
		zeta: make([]float64, 0, o.iterations), rnorm: make([]float64, 0, o.iterations), rho: make([]float64, 0, o.iterations),
		work: make([]float64, 0, o.iterations),
	}
}

// iterate looks for the largest eigenvalue of A + shift I, by the inverse power
// method on A: z = A⁻¹ x, zeta = shift + x·x / x·z, x = z / |z|.
//
// NAS starts from x = (1, ..., 1) and takes 1 for x·x even then.
//
//go:noinline
func iterate(p *problem) {
	if p.ranks > 1 {
		iterateShare(p, alone{})
		return
	}
	for i := range p.x {
		p.x[i] = 1
	}
	for range p.iterations {
		rnorm, rho, energy := conjGrad(p)
		xz := dot(p.x, p.z)
		p.rnorm, p.rho, p.work = append(p.rnorm, rnorm), append(p.rho, math.Sqrt(rho)), append(p.work, energy/xz)
		p.zeta = append(p.zeta, p.shift+1/xz)
		scale(p.x, p.z, 1/math.Sqrt(dot(p.z, p.z)))
	}
}

// conjGrad solves A z = x from z = 0 in cgitmax steps, and returns |x - A z|,
// the square of what it takes that to be, and Σ alpha r·r over the steps.
//
//go:noinline
func conjGrad(p *problem) (rnorm, rho, energy float64) {
	clear(p.z)
	copy(p.r, p.x)
	copy(p.p, p.x)
	rho = dot(p.r, p.r)
	p.mostCurved = math.Inf(-1)
	for range cgitmax {
		matvec(p.q, &p.matrix, p.p)
		d := dot(p.p, p.q)
		p.mostCurved = max(p.mostCurved, d)
		alpha, before := rho/d, rho
		energy += alpha * before
		advance(p.z, p.r, p.p, p.q, alpha)
		rho = dot(p.r, p.r)
		direction(p.p, p.r, rho/before)
	}
	matvec(p.r, &p.matrix, p.z)
	return math.Sqrt(distance(p.x, p.r)), rho, energy
}

// matvec sets dst = m v.
//
//go:noinline
func matvec(dst []float64, m *csr, v []float64) {
	rowstr := m.rowstr[:len(dst)+1]
	first := rowstr[0]
	for i := range dst {
		end := rowstr[i+1]
		column := m.colidx[first:end]
		a := m.a[first:end][:len(column)]
		sum := 0.0
		for k, c := range column {
			sum += a[k] * v[c]
		}
		dst[i], first = sum, end
	}
}

//go:noinline
func dot(a, b []float64) float64 {
	b = b[:len(a)]
	sum := 0.0
	for i, e := range a {
		sum += e * b[i]
	}
	return sum
}

// distance returns |a - b|².
//
//go:noinline
func distance(a, b []float64) float64 {
	b = b[:len(a)]
	sum := 0.0
	for i, e := range a {
		d := e - b[i]
		sum += d * d
	}
	return sum
}

// advance takes a step along p: z += alpha p, r -= alpha q.
//
//go:noinline
func advance(z, r, p, q []float64, alpha float64) {
	r, p, q = r[:len(z)], p[:len(z)], q[:len(z)]
	for i := range z {
		z[i] += alpha * p[i]
		r[i] -= alpha * q[i]
	}
}

// direction sets p = r + beta p.
//
//go:noinline
func direction(p, r []float64, beta float64) {
	r = r[:len(p)]
	for i, e := range p {
		p[i] = r[i] + beta*e
	}
}

// scale sets dst = factor v.
//
//go:noinline
func scale(dst, v []float64, factor float64) {
	v = v[:len(dst)]
	for i, e := range v {
		dst[i] = factor * e
	}
}
