// Package cfd is given a mesh and a time step, and does what NAS's BT and SP
// have in common: the coefficients of their scheme, its initial state, forcing
// and checks, the right-hand side where both keep the same arrays, and the
// command line.
//
// # What is solved
//
// BT and SP march the compressible Navier-Stokes equations, simplified and with
// a forcing term, towards a steady state that is known: u = (ρ, ρv, E) on a
// mesh of n x n x n points over the unit cube, spacing h = 1/(n-1), exact
// values on the boundary. For each axis d, with the normal velocity w = v_d,
// the operator is
//
//	L_d u = D_d δ²u/h² + δ²G_d - (F_d(+1) - F_d(-1))/2h - ε δ⁴u
//
//	F_d = (u_d, u_m w + [m = d] c2 (E - q), (c1 E - c2 q) w),  q = ρ|v|²/2
//	G_d = (0, k κ v_m, k (k3 |v|²/2 + k4 w² + k5 E/ρ)),  κ = 4/3 for m = d, else 1
//
// where δ² and δ⁴ are the undivided second and fourth differences, the latter
// one-sided next to the boundary, and ε = max D/4. Forcing is -Σ L_d of the
// exact solution, so that the steady state of du/dt = Σ L_d u + forcing is the
// exact solution. A step of either program solves
//
//	Π_d (I - Δt A_d) Δu = Δt (Σ L_d u + forcing)
//
// one axis after the other. BT takes A_d as the Jacobian of L_d without the
// fourth difference: block-tridiagonal systems of 5 x 5 blocks. SP diagonalises
// it and keeps the fourth difference: scalar pentadiagonal systems.
//
// Formulas and constants are NAS's (RNR-94-007), looked up in the serial
// sources of NPB 2.3 and 3.0.
package cfd

import "presage/datasets/programs/internal/npb"

// Constants of the gas and of the scheme, named as in NAS's specification.
const (
	C1    = 1.4
	C2    = 0.4
	C3C4  = 0.1
	C1C5  = 1.96
	C1345 = C1C5 * C3C4
	Con43 = 4.0 / 3.0

	dxy, dz = 0.75, 1.0 // second-difference dissipation along x and y, along z

	// Dssp is ε, the coefficient of the fourth difference.
	Dssp = dz / 4
)

// MinPoints is the least number of mesh points along an edge: with fewer, the
// two one-sided fourth differences would meet.
const MinPoints = 6

// D returns the coefficient of the second-difference dissipation along an axis.
// NAS names one for each component; all five are the same.
func D(axis int) float64 {
	if axis == 2 {
		return dz
	}
	return dxy
}

// Coefficients are those that depend on mesh and time step.
type Coefficients struct {
	N  int     // mesh points along an edge
	Dt float64 // time step

	T1, T2 float64 // 1/h², 1/(2h)

	// Viscous terms: k, k k3, k k4, k k5 of the package comment, k = c3 c4/h².
	Con2, Con3, Con4, Con5 float64

	// The exact solution is a sum of functions of one coordinate: its value at
	// the origin, and what each mesh coordinate of each axis adds to that.
	origin [5]float64
	adds   [3][][5]float64
}

// NewCoefficients returns those of a mesh of n points along an edge.
func NewCoefficients(n int, dt float64) Coefficients {
	t3 := float64(n - 1)
	con2 := C3C4 * t3 * t3
	c := Coefficients{
		N: n, Dt: dt,
		T1: t3 * t3, T2: t3 / 2,
		Con2: con2, Con3: con2 * (1 - C1C5), Con4: con2 / 6, Con5: con2 * C1C5,
	}
	npb.Exact(&c.origin, 0, 0, 0)
	for axis := range c.adds {
		c.adds[axis] = make([][5]float64, n)
		for i := range n {
			var x [3]float64
			x[axis] = c.along(i)
			u := &c.adds[axis][i]
			npb.Exact(u, x[0], x[1], x[2])
			for m := range u {
				u[m] -= c.origin[m]
			}
		}
	}
	return c
}

// along returns a mesh point's coordinate. The last one is 1 exactly.
func (c *Coefficients) along(i int) float64 { return float64(i) / float64(c.N-1) }

// exact sets u to the exact solution at a mesh point.
func (c *Coefficients) exact(u *[5]float64, i, j, k int) {
	x, y, z := &c.adds[0][i], &c.adds[1][j], &c.adds[2][k]
	for m := range u {
		u[m] = c.origin[m] + x[m] + y[m] + z[m]
	}
}
