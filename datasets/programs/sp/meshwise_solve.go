package main

// xSolve solves the five systems of all lines along x, in passes over the mesh:
// forward elimination of the first three together, then of the fourth and the
// fifth, each followed by a pass over the last two rows, then the back
// substitution of one after the other.
//
//go:noinline
func (p *meshwise) xSolve() {
	p.xForwardThree()
	p.xForward(3, 5)
	p.xForward(4, 10)
	for m := range 5 {
		p.xEnd(m, 5*max(0, m-2))
	}
	for m := range 5 {
		p.xBack(m, 5*max(0, m-2))
	}
}

// xEnd starts the back substitution of a component, in the last point but one.
//
//go:noinline
func (p *meshwise) xEnd(m, first int) {
	const s = 1
	n := p.N
	l4, r := p.component(p.lhs, first+3), p.component(p.rhs, m)
	for k := 1; k < n-1; k++ {
		for j := 1; j < n-1; j++ {
			c := p.cell(n-2, j, k)
			r[c] -= l4[c] * r[c+s]
		}
	}
}

// xBack substitutes backwards in the system of a component.
//
//go:noinline
func (p *meshwise) xBack(m, first int) {
	const s = 1
	n := p.N
	l4, l5, r := p.component(p.lhs, first+3), p.component(p.lhs, first+4), p.component(p.rhs, m)
	for k := 1; k < n-1; k++ {
		for j := 1; j < n-1; j++ {
			for i := n - 3; i >= 0; i-- {
				c := p.cell(i, j, k)
				r[c] = r[c] - l4[c]*r[c+s] - l5[c]*r[c+2*s]
			}
		}
	}
}

// ySolve is xSolve along y.
//
//go:noinline
func (p *meshwise) ySolve() {
	p.yForwardThree()
	p.yForward(3, 5)
	p.yForward(4, 10)
	for m := range 5 {
		p.yEnd(m, 5*max(0, m-2))
	}
	for m := range 5 {
		p.yBack(m, 5*max(0, m-2))
	}
}

// yEnd starts the back substitution of a component, in the last point but one.
//
//go:noinline
func (p *meshwise) yEnd(m, first int) {
	n, s := p.N, p.j
	l4, r := p.component(p.lhs, first+3), p.component(p.rhs, m)
	for k := 1; k < n-1; k++ {
		for i := 1; i < n-1; i++ {
			c := p.cell(i, n-2, k)
			r[c] -= l4[c] * r[c+s]
		}
	}
}

// yBack substitutes backwards in the system of a component.
//
//go:noinline
func (p *meshwise) yBack(m, first int) {
	n, s := p.N, p.j
	l4, l5, r := p.component(p.lhs, first+3), p.component(p.lhs, first+4), p.component(p.rhs, m)
	for k := 1; k < n-1; k++ {
		for j := n - 3; j >= 0; j-- {
			for i := 1; i < n-1; i++ {
				c := p.cell(i, j, k)
				r[c] = r[c] - l4[c]*r[c+s] - l5[c]*r[c+2*s]
			}
		}
	}
}

// zSolve is xSolve along z.
//
//go:noinline
func (p *meshwise) zSolve() {
	p.zForwardThree()
	p.zForward(3, 5)
	p.zForward(4, 10)
	for m := range 5 {
		p.zEnd(m, 5*max(0, m-2))
	}
	for m := range 5 {
		p.zBack(m, 5*max(0, m-2))
	}
}

// zEnd starts the back substitution of a component, in the last point but one.
//
//go:noinline
func (p *meshwise) zEnd(m, first int) {
	n, s := p.N, p.k
	l4, r := p.component(p.lhs, first+3), p.component(p.rhs, m)
	for j := 1; j < n-1; j++ {
		for i := 1; i < n-1; i++ {
			c := p.cell(i, j, n-2)
			r[c] -= l4[c] * r[c+s]
		}
	}
}

// zBack substitutes backwards in the system of a component.
//
//go:noinline
func (p *meshwise) zBack(m, first int) {
	n, s := p.N, p.k
	l4, l5, r := p.component(p.lhs, first+3), p.component(p.lhs, first+4), p.component(p.rhs, m)
	for k := n - 3; k >= 0; k-- {
		for j := 1; j < n-1; j++ {
			for i := 1; i < n-1; i++ {
				c := p.cell(i, j, k)
				r[c] = r[c] - l4[c]*r[c+s] - l5[c]*r[c+2*s]
			}
		}
	}
}
