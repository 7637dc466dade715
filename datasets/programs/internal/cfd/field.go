package cfd

import (
	"math"

	"presage/datasets/programs/internal/npb"
)

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

// along returns a mesh point's coordinate. The last one is 1 exactly.
func (c *Coefficients) along(i int) float64 { return float64(i) / float64(c.N-1) }

// SetExact sets u to the exact solution everywhere.
func (c *Coefficients) SetExact(u Field) {
	c.each(u, func(at, i, j, k int) {
		var e [5]float64
		npb.Exact(&e, c.along(i), c.along(j), c.along(k))
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
		x := [3]float64{c.along(i), c.along(j), c.along(k)}
		var e [5]float64
		if c.inside(i) && c.inside(j) && c.inside(k) {
			e = interpolate(x)
		} else {
			npb.Exact(&e, x[0], x[1], x[2])
		}
		u.set(at, &e)
	})
}

func (c *Coefficients) inside(i int) bool { return i > 0 && i < c.N-1 }

func interpolate(x [3]float64) (u [5]float64) {
	var p [3][5]float64
	for axis, v := range x {
		var low, high [5]float64
		y := x
		y[axis] = 0
		npb.Exact(&low, y[0], y[1], y[2])
		y[axis] = 1
		npb.Exact(&high, y[0], y[1], y[2])
		for m := range low {
			p[axis][m] = v*high[m] + (1-v)*low[m]
		}
	}
	for m := range u {
		a, b, d := p[0][m], p[1][m], p[2][m]
		u[m] = a + b + d - a*b - a*d - b*d + a*b*d
	}
	return u
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
		npb.Exact(&e, c.along(i), c.along(j), c.along(k))
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
		npb.Exact(&e, c.along(i), c.along(j), c.along(k))
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
