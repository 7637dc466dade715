package main

// xForwardThree eliminates forward in the systems for w.
//
//go:noinline
func (p *meshwise) xForwardThree() {
	const s = 1
	n := p.N
	l1, l2, l3, l4, l5 := p.component(p.lhs, 0), p.component(p.lhs, 1), p.component(p.lhs, 2), p.component(p.lhs, 3), p.component(p.lhs, 4)
	r0, r1, r2 := p.component(p.rhs, 0), p.component(p.rhs, 1), p.component(p.rhs, 2)
	for k := 1; k < n-1; k++ {
		for j := 1; j < n-1; j++ {
			for i := 0; i < n-2; i++ {
				c := p.cell(i, j, k)
				c1, c2 := c+s, c+2*s
				scale := 1 / l3[c]
				x4, x5 := scale*l4[c], scale*l5[c]
				y0, y1, y2 := scale*r0[c], scale*r1[c], scale*r2[c]
				l4[c], l5[c] = x4, x5
				r0[c], r1[c], r2[c] = y0, y1, y2
				g := l2[c1]
				l3[c1] -= g * x4
				l4[c1] -= g * x5
				r0[c1] -= g * y0
				r1[c1] -= g * y1
				r2[c1] -= g * y2
				g = l1[c2]
				l2[c2] -= g * x4
				l3[c2] -= g * x5
				r0[c2] -= g * y0
				r1[c2] -= g * y1
				r2[c2] -= g * y2
			}
		}
	}
	for k := 1; k < n-1; k++ {
		for j := 1; j < n-1; j++ {
			c := p.cell(n-2, j, k)
			c1 := c + s
			scale := 1 / l3[c]
			x4, x5 := scale*l4[c], scale*l5[c]
			y0, y1, y2 := scale*r0[c], scale*r1[c], scale*r2[c]
			l4[c], l5[c] = x4, x5
			r0[c], r1[c], r2[c] = y0, y1, y2
			g := l2[c1]
			l3[c1] -= g * x4
			l4[c1] -= g * x5
			scale = 1 / l3[c1]
			r0[c1] = scale * (r0[c1] - g*y0)
			r1[c1] = scale * (r1[c1] - g*y1)
			r2[c1] = scale * (r2[c1] - g*y2)
		}
	}
}

// xForward eliminates forward in the system of a component, whose matrix begins
// at element first of lhs.
//
//go:noinline
func (p *meshwise) xForward(m, first int) {
	const s = 1
	n := p.N
	l1, l2, l3, l4, l5 := p.component(p.lhs, first), p.component(p.lhs, first+1), p.component(p.lhs, first+2), p.component(p.lhs, first+3), p.component(p.lhs, first+4)
	r := p.component(p.rhs, m)
	for k := 1; k < n-1; k++ {
		for j := 1; j < n-1; j++ {
			for i := 0; i < n-2; i++ {
				c := p.cell(i, j, k)
				c1, c2 := c+s, c+2*s
				scale := 1 / l3[c]
				x4, x5, y := scale*l4[c], scale*l5[c], scale*r[c]
				l4[c], l5[c], r[c] = x4, x5, y
				g := l2[c1]
				l3[c1] -= g * x4
				l4[c1] -= g * x5
				r[c1] -= g * y
				g = l1[c2]
				l2[c2] -= g * x4
				l3[c2] -= g * x5
				r[c2] -= g * y
			}
		}
	}
	for k := 1; k < n-1; k++ {
		for j := 1; j < n-1; j++ {
			c := p.cell(n-2, j, k)
			c1 := c + s
			scale := 1 / l3[c]
			x4, x5, y := scale*l4[c], scale*l5[c], scale*r[c]
			l4[c], l5[c], r[c] = x4, x5, y
			g := l2[c1]
			l3[c1] -= g * x4
			l4[c1] -= g * x5
			r[c1] = (r[c1] - g*y) / l3[c1]
		}
	}
}

// yForwardThree eliminates forward in the systems for w.
//
//go:noinline
func (p *meshwise) yForwardThree() {
	n, s := p.N, p.j
	l1, l2, l3, l4, l5 := p.component(p.lhs, 0), p.component(p.lhs, 1), p.component(p.lhs, 2), p.component(p.lhs, 3), p.component(p.lhs, 4)
	r0, r1, r2 := p.component(p.rhs, 0), p.component(p.rhs, 1), p.component(p.rhs, 2)
	for k := 1; k < n-1; k++ {
		for j := 0; j < n-2; j++ {
			for i := 1; i < n-1; i++ {
				c := p.cell(i, j, k)
				c1, c2 := c+s, c+2*s
				scale := 1 / l3[c]
				x4, x5 := scale*l4[c], scale*l5[c]
				y0, y1, y2 := scale*r0[c], scale*r1[c], scale*r2[c]
				l4[c], l5[c] = x4, x5
				r0[c], r1[c], r2[c] = y0, y1, y2
				g := l2[c1]
				l3[c1] -= g * x4
				l4[c1] -= g * x5
				r0[c1] -= g * y0
				r1[c1] -= g * y1
				r2[c1] -= g * y2
				g = l1[c2]
				l2[c2] -= g * x4
				l3[c2] -= g * x5
				r0[c2] -= g * y0
				r1[c2] -= g * y1
				r2[c2] -= g * y2
			}
		}
	}
	for k := 1; k < n-1; k++ {
		for i := 1; i < n-1; i++ {
			c := p.cell(i, n-2, k)
			c1 := c + s
			scale := 1 / l3[c]
			x4, x5 := scale*l4[c], scale*l5[c]
			y0, y1, y2 := scale*r0[c], scale*r1[c], scale*r2[c]
			l4[c], l5[c] = x4, x5
			r0[c], r1[c], r2[c] = y0, y1, y2
			g := l2[c1]
			l3[c1] -= g * x4
			l4[c1] -= g * x5
			scale = 1 / l3[c1]
			r0[c1] = scale * (r0[c1] - g*y0)
			r1[c1] = scale * (r1[c1] - g*y1)
			r2[c1] = scale * (r2[c1] - g*y2)
		}
	}
}

// yForward eliminates forward in the system of a component, whose matrix begins
// at element first of lhs.
//
//go:noinline
func (p *meshwise) yForward(m, first int) {
	n, s := p.N, p.j
	l1, l2, l3, l4, l5 := p.component(p.lhs, first), p.component(p.lhs, first+1), p.component(p.lhs, first+2), p.component(p.lhs, first+3), p.component(p.lhs, first+4)
	r := p.component(p.rhs, m)
	for k := 1; k < n-1; k++ {
		for j := 0; j < n-2; j++ {
			for i := 1; i < n-1; i++ {
				c := p.cell(i, j, k)
				c1, c2 := c+s, c+2*s
				scale := 1 / l3[c]
				x4, x5, y := scale*l4[c], scale*l5[c], scale*r[c]
				l4[c], l5[c], r[c] = x4, x5, y
				g := l2[c1]
				l3[c1] -= g * x4
				l4[c1] -= g * x5
				r[c1] -= g * y
				g = l1[c2]
				l2[c2] -= g * x4
				l3[c2] -= g * x5
				r[c2] -= g * y
			}
		}
	}
	for k := 1; k < n-1; k++ {
		for i := 1; i < n-1; i++ {
			c := p.cell(i, n-2, k)
			c1 := c + s
			scale := 1 / l3[c]
			x4, x5, y := scale*l4[c], scale*l5[c], scale*r[c]
			l4[c], l5[c], r[c] = x4, x5, y
			g := l2[c1]
			l3[c1] -= g * x4
			l4[c1] -= g * x5
			r[c1] = (r[c1] - g*y) / l3[c1]
		}
	}
}

// zForwardThree eliminates forward in the systems for w.
//
//go:noinline
func (p *meshwise) zForwardThree() {
	n, s := p.N, p.k
	l1, l2, l3, l4, l5 := p.component(p.lhs, 0), p.component(p.lhs, 1), p.component(p.lhs, 2), p.component(p.lhs, 3), p.component(p.lhs, 4)
	r0, r1, r2 := p.component(p.rhs, 0), p.component(p.rhs, 1), p.component(p.rhs, 2)
	for k := 0; k < n-2; k++ {
		for j := 1; j < n-1; j++ {
			for i := 1; i < n-1; i++ {
				c := p.cell(i, j, k)
				c1, c2 := c+s, c+2*s
				scale := 1 / l3[c]
				x4, x5 := scale*l4[c], scale*l5[c]
				y0, y1, y2 := scale*r0[c], scale*r1[c], scale*r2[c]
				l4[c], l5[c] = x4, x5
				r0[c], r1[c], r2[c] = y0, y1, y2
				g := l2[c1]
				l3[c1] -= g * x4
				l4[c1] -= g * x5
				r0[c1] -= g * y0
				r1[c1] -= g * y1
				r2[c1] -= g * y2
				g = l1[c2]
				l2[c2] -= g * x4
				l3[c2] -= g * x5
				r0[c2] -= g * y0
				r1[c2] -= g * y1
				r2[c2] -= g * y2
			}
		}
	}
	for j := 1; j < n-1; j++ {
		for i := 1; i < n-1; i++ {
			c := p.cell(i, j, n-2)
			c1 := c + s
			scale := 1 / l3[c]
			x4, x5 := scale*l4[c], scale*l5[c]
			y0, y1, y2 := scale*r0[c], scale*r1[c], scale*r2[c]
			l4[c], l5[c] = x4, x5
			r0[c], r1[c], r2[c] = y0, y1, y2
			g := l2[c1]
			l3[c1] -= g * x4
			l4[c1] -= g * x5
			scale = 1 / l3[c1]
			r0[c1] = scale * (r0[c1] - g*y0)
			r1[c1] = scale * (r1[c1] - g*y1)
			r2[c1] = scale * (r2[c1] - g*y2)
		}
	}
}

// zForward eliminates forward in the system of a component, whose matrix begins
// at element first of lhs.
//
//go:noinline
func (p *meshwise) zForward(m, first int) {
	n, s := p.N, p.k
	l1, l2, l3, l4, l5 := p.component(p.lhs, first), p.component(p.lhs, first+1), p.component(p.lhs, first+2), p.component(p.lhs, first+3), p.component(p.lhs, first+4)
	r := p.component(p.rhs, m)
	for k := 0; k < n-2; k++ {
		for j := 1; j < n-1; j++ {
			for i := 1; i < n-1; i++ {
				c := p.cell(i, j, k)
				c1, c2 := c+s, c+2*s
				scale := 1 / l3[c]
				x4, x5, y := scale*l4[c], scale*l5[c], scale*r[c]
				l4[c], l5[c], r[c] = x4, x5, y
				g := l2[c1]
				l3[c1] -= g * x4
				l4[c1] -= g * x5
				r[c1] -= g * y
				g = l1[c2]
				l2[c2] -= g * x4
				l3[c2] -= g * x5
				r[c2] -= g * y
			}
		}
	}
	for j := 1; j < n-1; j++ {
		for i := 1; i < n-1; i++ {
			c := p.cell(i, j, n-2)
			c1 := c + s
			scale := 1 / l3[c]
			x4, x5, y := scale*l4[c], scale*l5[c], scale*r[c]
			l4[c], l5[c], r[c] = x4, x5, y
			g := l2[c1]
			l3[c1] -= g * x4
			l4[c1] -= g * x5
			r[c1] = (r[c1] - g*y) / l3[c1]
		}
	}
}
