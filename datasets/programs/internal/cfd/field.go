package cfd

import "math"

// Pad returns the extent of an array over n mesh points: the next odd number,
// as NAS pads its arrays so that lines do not fall onto the same cache sets.
func Pad(n int) int { return n/2*2 + 1 }

// Field is five variables on the mesh: component m (from 0) at the point
// (i, j, k) is Data[m M + i I + j J + k K].
type Field struct {
	Data       []float64
	M, I, J, K int
}

// stride returns the distance between points next to each other on an axis.
func (f Field) stride(axis int) int { return [3]int{f.I, f.J, f.K}[axis] }

func (f Field) set(at int, u *[5]float64) {
	for m := range u {
		f.Data[at+m*f.M] = u[m]
	}
}

// each calls do with every point of the mesh, its coordinates and its place.
func (c *Coefficients) each(f Field, do func(at int, i, j, k int)) {
	for k := range c.N {
		for j := range c.N {
			for i := range c.N {
				do(i*f.I+j*f.J+k*f.K, i, j, k)
			}
		}
	}
}

// SetExact sets u to the exact solution everywhere.
func (c *Coefficients) SetExact(u Field) {
	c.each(u, func(at, i, j, k int) {
		var e [5]float64
		c.exact(&e, i, j, k)
		u.set(at, &e)
	})
}

// Initialize sets u to the initial state: the exact solution on the boundary
// and, inside, the transfinite interpolation of its values on the six faces,
// with P_d the linear interpolation along an axis between two of them,
//
//	u = P_x + P_y + P_z - P_x P_y - P_x P_z - P_y P_z + P_x P_y P_z
//
// (products of values, as NAS has it).
func (c *Coefficients) Initialize(u Field) {
	c.each(u, func(at, i, j, k int) {
		var e [5]float64
		if c.inside(i) && c.inside(j) && c.inside(k) {
			c.interpolate(&e, i, j, k)
		} else {
			c.exact(&e, i, j, k)
		}
		u.set(at, &e)
	})
}

func (c *Coefficients) inside(i int) bool { return i > 0 && i < c.N-1 }

func (c *Coefficients) interpolate(u *[5]float64, i, j, k int) {
	n := c.N - 1
	var west, east, south, north, bottom, top [5]float64
	c.exact(&west, 0, j, k)
	c.exact(&east, n, j, k)
	c.exact(&south, i, 0, k)
	c.exact(&north, i, n, k)
	c.exact(&bottom, i, j, 0)
	c.exact(&top, i, j, n)
	x, y, z := c.along(i), c.along(j), c.along(k)
	for m := range u {
		a := x*east[m] + (1-x)*west[m]
		b := y*north[m] + (1-y)*south[m]
		d := z*top[m] + (1-z)*bottom[m]
		u[m] = a + b + d - a*b - a*d - b*d + a*b*d
	}
}

// BoundaryIsExact tells whether u still has the exact values on the boundary,
// bit by bit.
func (c *Coefficients) BoundaryIsExact(u Field) bool {
	same := true
	c.each(u, func(at, i, j, k int) {
		if c.inside(i) && c.inside(j) && c.inside(k) {
			return
		}
		var e [5]float64
		c.exact(&e, i, j, k)
		for m := range e {
			same = same && u.Data[at+m*u.M] == e[m]
		}
	})
	return same
}

// ErrorNorm returns the RMS of u minus the exact solution, for each component.
// As NAS does, it divides by the number of inner points.
func (c *Coefficients) ErrorNorm(u Field) (rms [5]float64) {
	c.each(u, func(at, i, j, k int) {
		var e [5]float64
		c.exact(&e, i, j, k)
		for m := range e {
			d := u.Data[at+m*u.M] - e[m]
			rms[m] += d * d
		}
	})
	return c.root(rms)
}

// Norm returns the RMS of f over the inner points, for each component.
func (c *Coefficients) Norm(f Field) (rms [5]float64) {
	c.each(f, func(at, i, j, k int) {
		if !c.inside(i) || !c.inside(j) || !c.inside(k) {
			return
		}
		for m := range rms {
			d := f.Data[at+m*f.M]
			rms[m] += d * d
		}
	})
	return c.root(rms)
}

func (c *Coefficients) root(sum [5]float64) [5]float64 {
	inner := float64(c.N - 2)
	for m := range sum {
		sum[m] = math.Sqrt(sum[m] / (inner * inner * inner))
	}
	return sum
}
