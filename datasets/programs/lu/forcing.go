package main

// erhs sets the forcing: what the discrete operator makes of the exact solution.
// It uses rsd as work space.
//
//go:noinline
func erhs(p *problem) {
	n := p.n
	for k := range n {
		for j := range n {
			for i := range n {
				p.rsd[p.at(i, j, k)] = p.exact(i, j, k)
			}
		}
	}
	for k := 1; k < n-1; k++ {
		for j := 1; j < n-1; j++ {
			for i := 1; i < n-1; i++ {
				p.frct[p.at(i, j, k)] = p.operator(p.rsd, i, j, k)
			}
		}
	}
}

// operator returns the discrete operator of rhs, without the forcing, applied to u
// at a point inside. It is written point by point and the same for all directions,
// so that it can judge rhs, which goes line by line.
//
//go:noinline
func (p *problem) operator(u []vec, i, j, k int) vec {
	var r vec
	at := p.at(i, j, k)
	for axis, along := range [3]struct {
		position, stride int
		d                float64
	}{{i, 1, dxi}, {j, p.row, deta}, {k, p.plane, dzeta}} {
		before, here, after := &u[at-along.stride], &u[at], &u[at+along.stride]
		fl, fh := convective(before, axis), convective(after, axis)
		gl, gh := p.viscous(before, here, axis), p.viscous(here, after, axis)
		for m := range r {
			r[m] += -p.t2*(fh[m]-fl[m]) + c34*p.t3*(gh[m]-gl[m]) + along.d*p.t1*(before[m]-2*here[m]+after[m])
		}
		for o, weight := range p.fourth(along.position) {
			if weight != 0 { // else outside, perhaps
				s := &u[at+(o-2)*along.stride]
				for m := range r {
					r[m] -= dssp * weight * s[m]
				}
			}
		}
	}
	return r
}

// convective returns the flux of mass, momenta and energy along an axis.
func convective(s *vec, axis int) vec {
	w := s[1+axis] / s[0]
	pressure := c2 * (s[4] - (s[1]*s[1]+s[2]*s[2]+s[3]*s[3])/(2*s[0]))
	f := vec{s[1+axis], s[1] * w, s[2] * w, s[3] * w, (s[4] + pressure) * w}
	f[1+axis] += pressure
	return f
}

// viscous returns the viscous flux between two points next to each other along an
// axis, without its coefficient c3 c4.
func (p *problem) viscous(lo, hi *vec, axis int) vec {
	var g vec
	for m := 1; m < 4; m++ {
		l, h := lo[m]/lo[0], hi[m]/hi[0]
		g[m] = p.t3 * (h - l)
		g[4] += p.t3 * kinetic * (h*h - l*l)
		if m == 1+axis {
			g[m] *= r43
			g[4] += p.t3 * stress * (h*h - l*l)
		}
	}
	g[4] += p.t3 * heat * (hi[4]/hi[0] - lo[4]/lo[0])
	return g
}

// fourth returns the weights of the fourth difference at a position on a line, of
// the points from two before to two after. Next to a face it does not use the
// points on it or beyond.
func (p *problem) fourth(position int) [5]float64 {
	switch position {
	case 1:
		return [5]float64{0, 0, 5, -4, 1}
	case 2:
		return [5]float64{0, -4, 6, -4, 1}
	case p.n - 3:
		return [5]float64{1, -4, 6, -4, 0}
	case p.n - 2:
		return [5]float64{1, -4, 5, 0, 0}
	}
	return [5]float64{1, -4, 6, -4, 1}
}
