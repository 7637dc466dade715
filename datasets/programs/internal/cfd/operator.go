package cfd

// Forcing sets forcing to -Σ L_d of the exact solution inside and to 0 on the
// boundary. It overwrites scratch.
func (c *Coefficients) Forcing(forcing, scratch Field) {
	c.SetExact(scratch)
	clear(forcing.Data)
	c.Apply(forcing, scratch, -1)
}

// Residual sets dst to Σ L_d u + forcing inside and to 0 on the boundary.
func (c *Coefficients) Residual(dst, u, forcing Field) {
	c.each(dst, func(at, i, j, k int) {
		from := i*forcing.I + j*forcing.J + k*forcing.K
		for m := range 5 {
			dst.Data[at+m*dst.M] = forcing.Data[from+m*forcing.M]
		}
	})
	c.Apply(dst, u, 1)
}

// Apply adds factor Σ L_d u to dst at all inner points. It goes along one line
// of the mesh at a time, in any layout: the plain way to evaluate the operator,
// used before and after the time steps, and what the programs' own right-hand
// sides are tested against.
func (c *Coefficients) Apply(dst, u Field, factor float64) {
	l := line{u: make([][5]float64, c.N), f: make([][5]float64, c.N), g: make([][5]float64, c.N)}
	for axis := range 3 {
		a, b := (axis+1)%3, (axis+2)%3
		for p := 1; p < c.N-1; p++ {
			for q := 1; q < c.N-1; q++ {
				from := p*u.stride(a) + q*u.stride(b)
				for x := range c.N {
					for m := range 5 {
						l.u[x][m] = u.Data[from+x*u.stride(axis)+m*u.M]
					}
				}
				c.flux(&l, axis)
				to := p*dst.stride(a) + q*dst.stride(b)
				for x := 1; x < c.N-1; x++ {
					d := c.difference(&l, axis, x)
					for m := range d {
						dst.Data[to+x*dst.stride(axis)+m*dst.M] += factor * d[m]
					}
				}
			}
		}
	}
}

// line is the state, F and G of a line of the mesh.
type line struct{ u, f, g [][5]float64 }

// flux sets F and G of a line along an axis.
func (c *Coefficients) flux(l *line, axis int) {
	for x := range l.u {
		u, f, g := &l.u[x], &l.f[x], &l.g[x]
		v := [3]float64{u[1] / u[0], u[2] / u[0], u[3] / u[0]}
		speed2 := v[0]*v[0] + v[1]*v[1] + v[2]*v[2]
		q := u[0] * speed2 / 2
		w := v[axis]

		f[0] = u[1+axis]
		for d := range v {
			f[1+d] = u[1+d] * w
			g[1+d] = c.Con2 * v[d]
		}
		f[1+axis] += C2 * (u[4] - q)
		g[1+axis] *= Con43
		f[4] = (C1*u[4] - C2*q) * w
		g[4] = c.Con3*speed2/2 + c.Con4*w*w + c.Con5*u[4]/u[0]
	}
}

// difference returns L_d u at the point x of a line.
func (c *Coefficients) difference(l *line, axis, x int) (d [5]float64) {
	for m := range d {
		u := func(at int) float64 { return l.u[at][m] }
		d[m] = D(axis)*c.T1*(u(x+1)-2*u(x)+u(x-1)) +
			(l.g[x+1][m] - 2*l.g[x][m] + l.g[x-1][m]) -
			c.T2*(l.f[x+1][m]-l.f[x-1][m])
		switch {
		case x == 1:
			d[m] -= Dssp * (5*u(1) - 4*u(2) + u(3))
		case x == 2:
			d[m] -= Dssp * (-4*u(1) + 6*u(2) - 4*u(3) + u(4))
		case x == c.N-3:
			d[m] -= Dssp * (u(x-2) - 4*u(x-1) + 6*u(x) - 4*u(x+1))
		case x == c.N-2:
			d[m] -= Dssp * (u(x-2) - 4*u(x-1) + 5*u(x))
		default:
			d[m] -= Dssp * (u(x-2) - 4*u(x-1) + 6*u(x) - 4*u(x+1) + u(x+2))
		}
	}
	return d
}
