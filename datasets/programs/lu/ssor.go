package main

import "math"

// ssor takes the steps: in each, with D + L + U the matrix of jacobian.go, dt rsd
// is solved for by one sweep of symmetric successive over-relaxation, (D + ωL) D⁻¹
// (D + ωU), and the solution moves by what comes out over ω (2 - ω).
//
//go:noinline
func ssor(p *problem) {
	rhs(p)
	p.started = results{residual: l2norm(p), error: errorNorm(p)}
	for range p.steps {
		scale(p)
		for f := range p.fronts.count {
			lower(p, f)
		}
		for f := p.fronts.count - 1; f >= 0; f-- {
			upper(p, f)
		}
		add(p)
		rhs(p)
	}
	p.ended = results{residual: l2norm(p), error: errorNorm(p), integral: pintgr(p)}
}

// inside returns the first element of the points inside on the line (j, k), and
// the element after the last.
func (p *problem) inside(j, k int) (first, end int) {
	line := p.at(0, j, k)
	return line + 1, line + p.n - 1
}

// scale multiplies the residual with the time step.
//
//go:noinline
func scale(p *problem) {
	dt := p.dt
	for k := 1; k < p.n-1; k++ {
		for j := 1; j < p.n-1; j++ {
			first, end := p.inside(j, k)
			rsd := p.rsd[first:end]
			for i := range rsd {
				r := &rsd[i]
				r[0], r[1], r[2], r[3], r[4] = dt*r[0], dt*r[1], dt*r[2], dt*r[3], dt*r[4]
			}
		}
	}
}

// add moves the solution by the correction.
//
//go:noinline
func add(p *problem) {
	const t = 1 / (omega * (2 - omega))
	for k := 1; k < p.n-1; k++ {
		for j := 1; j < p.n-1; j++ {
			first, end := p.inside(j, k)
			u, rsd := p.u[first:end], p.rsd[first:end]
			rsd = rsd[:len(u)]
			for i := range u {
				s, r := &u[i], &rsd[i]
				s[0] += t * r[0]
				s[1] += t * r[1]
				s[2] += t * r[2]
				s[3] += t * r[3]
				s[4] += t * r[4]
			}
		}
	}
}

// l2norm returns the root mean squares of the residual's components inside.
//
//go:noinline
func l2norm(p *problem) vec {
	var sum vec
	for k := 1; k < p.n-1; k++ {
		for j := 1; j < p.n-1; j++ {
			first, end := p.inside(j, k)
			for i := first; i < end; i++ {
				r := &p.rsd[i]
				for m := range sum {
					sum[m] += r[m] * r[m]
				}
			}
		}
	}
	return p.rms(sum)
}

// rms returns the root mean squares over the points inside from sums of squares.
func (p *problem) rms(sum vec) vec {
	inside := float64(p.n - 2)
	for m := range sum {
		sum[m] = math.Sqrt(sum[m] / (inside * inside * inside))
	}
	return sum
}

// errorNorm returns the root mean squares of the components of the difference
// between the solution and the exact one inside. It is the routine error of NAS.
//
//go:noinline
func errorNorm(p *problem) vec {
	var sum vec
	for k := 1; k < p.n-1; k++ {
		for j := 1; j < p.n-1; j++ {
			for i := 1; i < p.n-1; i++ {
				u, exact := &p.u[p.at(i, j, k)], p.exact(i, j, k)
				for m := range sum {
					sum[m] += (u[m] - exact[m]) * (u[m] - exact[m])
				}
			}
		}
	}
	return p.rms(sum)
}

// pintgr returns the integral of the pressure over the faces of a box inside the
// mesh, by the trapezoidal rule: in points counted from 0, it is 1 to n-2 along ξ,
// 1 to n-3 along η and 2 to n-2 along ζ.
//
//go:noinline
func pintgr(p *problem) float64 {
	i1, i2, j1, j2, k1, k2 := 1, p.n-2, 1, p.n-3, 2, p.n-2
	sum := p.faces(i1, i2, j1, j2, func(face []float64, end bool) {
		for j := j1; j <= j2; j++ {
			for i := i1; i <= i2; i++ {
				face[i+p.row*j] = p.pressure(i, j, pick(end, k1, k2))
			}
		}
	})
	sum += p.faces(i1, i2, k1, k2, func(face []float64, end bool) {
		for k := k1; k <= k2; k++ {
			for i := i1; i <= i2; i++ {
				face[i+p.row*k] = p.pressure(i, pick(end, j1, j2), k)
			}
		}
	})
	sum += p.faces(j1, j2, k1, k2, func(face []float64, end bool) {
		for k := k1; k <= k2; k++ {
			for j := j1; j <= j2; j++ {
				face[j+p.row*k] = p.pressure(pick(end, i1, i2), j, k)
			}
		}
	})
	h := 1 / p.t3
	return 0.25 * h * h * sum
}

func pick(second bool, a, b int) int {
	if second {
		return b
	}
	return a
}

// pressure is that of a point, γ - 1 times the internal energy.
func (p *problem) pressure(i, j, k int) float64 {
	s := &p.u[p.at(i, j, k)]
	return c2 * (s[4] - 0.5*(s[1]*s[1]+s[2]*s[2]+s[3]*s[3])/s[0])
}

// faces lets fill set the pressure on two opposite faces and sums up, over their
// squares of four points, the pressure at the corners.
func (p *problem) faces(a1, a2, b1, b2 int, fill func(face []float64, end bool)) float64 {
	fill(p.phi1, false)
	fill(p.phi2, true)
	sum := 0.0
	for b := b1; b < b2; b++ {
		for a := a1; a < a2; a++ {
			c := a + p.row*b
			for _, face := range [2][]float64{p.phi1, p.phi2} {
				sum += face[c] + face[c+1] + face[c+p.row] + face[c+p.row+1]
			}
		}
	}
	return sum
}
