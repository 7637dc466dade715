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
	var d [5]float64
	for axis := range 3 {
		a, b := (axis+1)%3, (axis+2)%3
		step, dstStep := u.stride(axis), dst.stride(axis)
		for p := 1; p < c.N-1; p++ {
			for q := 1; q < c.N-1; q++ {
				from := p*u.stride(a) + q*u.stride(b)
				for x := range l.u {
					to := &l.u[x]
					for m := range to {
						to[m] = u.Data[from+m*u.M]
					}
					from += step
				}
				c.flux(&l, axis)
				to := p*dst.stride(a) + q*dst.stride(b)
				for x := 1; x < c.N-1; x++ {
					to += dstStep
					c.difference(&d, &l, axis, x)
					for m := range d {
						dst.Data[to+m*dst.M] += factor * d[m]
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
		inverse := 1 / u[0]
		v := [3]float64{u[1] * inverse, u[2] * inverse, u[3] * inverse}
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
		g[4] = c.Con3*speed2/2 + c.Con4*w*w + c.Con5*u[4]*inverse
	}
}

// difference sets d to L_d u at the point x of a line.
func (c *Coefficients) difference(d *[5]float64, l *line, axis, x int) {
	u, um, up := &l.u[x], &l.u[x-1], &l.u[x+1]
	g, gm, gp := &l.g[x], &l.g[x-1], &l.g[x+1]
	fm, fp := &l.f[x-1], &l.f[x+1]
	l.fourth(d, x)
	d1, t2 := D(axis)*c.T1, c.T2
	for m := range d {
		d[m] = d1*(up[m]-2*u[m]+um[m]) + (gp[m] - 2*g[m] + gm[m]) - t2*(fp[m]-fm[m]) - Dssp*d[m]
	}
}

// fourth sets d to δ⁴u at the point x of a line.
func (l *line) fourth(d *[5]float64, x int) {
	n := len(l.u)
	u, um, up := &l.u[x], &l.u[x-1], &l.u[x+1]
	switch x {
	case 1:
		for m := range d {
			d[m] = 5*u[m] - 4*up[m] + l.u[x+2][m]
		}
	case 2:
		for m := range d {
			d[m] = -4*um[m] + 6*u[m] - 4*up[m] + l.u[x+2][m]
		}
	case n - 3:
		for m := range d {
			d[m] = l.u[x-2][m] - 4*um[m] + 6*u[m] - 4*up[m]
		}
	case n - 2:
		for m := range d {
			d[m] = l.u[x-2][m] - 4*um[m] + 5*u[m]
		}
	default:
		um2, up2 := &l.u[x-2], &l.u[x+2]
		for m := range d {
			d[m] = um2[m] - 4*um[m] + 6*u[m] - 4*up[m] + up2[m]
		}
	}
}
