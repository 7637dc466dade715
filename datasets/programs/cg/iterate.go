package main

// converged is the residual, relative to b in the 2-norm, at which iterations
// end. Beyond it the residual carried along goes on to fall, but x gets no better.
const converged = 1e-12

// iterate solves A x = b by conjugate gradients from x = 0 (Hestenes and Stiefel
// 1952, equations 3:1), and keeps a record of the steps:
//
//	r = p = b
//	alpha = r·r / p·Ap,  x += alpha p,  r -= alpha Ap
//	beta = r·r / (r·r before),  p = r + beta p
//
//go:noinline
func iterate(p *problem) {
	clear(p.x)
	copy(p.r, p.b)
	copy(p.p, p.b)
	rr := dot(p.r, p.r)
	enough := converged * converged * rr
	for range p.iterations {
		multiply(p.q, &p.matrix, p.p)
		s := step{alpha: rr / dot(p.p, p.q), before: rr}
		advance(p.x, p.r, p.p, p.q, s.alpha)
		rr = dot(p.r, p.r)
		s.residual = rr
		p.history = append(p.history, s)
		if rr <= enough {
			break
		}
		direction(p.p, p.r, rr/s.before)
	}
}

// multiply sets dst = m v.
//
//go:noinline
func multiply(dst []float64, m *csr, v []float64) {
	column, value := m.column, m.value[:len(m.column)]
	start := m.start[:len(dst)+1]
	e := int(start[0])
	for i := range dst {
		sum := 0.0
		for end := int(start[i+1]); e < end; e++ {
			sum += value[e] * v[column[e]]
		}
		dst[i] = sum
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

// advance takes a step along p: x += alpha p, r -= alpha q.
//
//go:noinline
func advance(x, r, p, q []float64, alpha float64) {
	r, p, q = r[:len(x)], p[:len(x)], q[:len(x)]
	for i := range x {
		x[i] += alpha * p[i]
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
