package main

import "presage/datasets/programs/internal/cfd"

// viscous are the coefficients of the viscous Jacobian: of velocities across
// the axis and along it, and what is left of them in the energy equation.
const (
	across       = cfd.C3C4
	along        = cfd.Con43 * cfd.C3C4
	energyAcross = across - cfd.C1345
	energyAlong  = along - cfd.C1345
)

// jacobianX sets f to ∂F_x/∂u and g to the viscous Jacobian at a point, from the
// state u, 1/ρ, |v|²/2 and q = ρ|v|²/2. With velocities v, w = v_x, e = E/ρ:
//
//	∂F/∂ρ  = (0, c2 |v|²/2 - w², -w v_y, -w v_z, (2 c2 |v|²/2 - c1 e) w)
//	∂F/∂m_x = (1, (2-c2) w, v_y, v_z, c1 e - c2 (|v|²/2 + w²))
//	∂F/∂m_t = (0, -c2 v_t, w in row t, -c2 w v_t)
//	∂F/∂E  = (0, c2, 0, 0, c1 w)
//
// The viscous one is that of (0, κ v_m, ½ Σ κ_m v_m² + c1 c5 (e - |v|²/2)) c3 c4.
//
//go:noinline
func jacobianX(f, g *block, u *[5]float64, rhoI, qs, square float64) {
	w, y, z := u[1]*rhoI, u[2]*rhoI, u[3]*rhoI
	e := u[4] * rhoI
	f[0], f[1], f[2], f[3], f[4] = 0, cfd.C2*qs-w*w, -w*y, -w*z, (2*cfd.C2*square-cfd.C1*u[4])*(w*rhoI)
	f[5], f[6], f[7], f[8], f[9] = 1, (2-cfd.C2)*w, y, z, cfd.C1*e-cfd.C2*(qs+w*w)
	f[10], f[11], f[12], f[13], f[14] = 0, -cfd.C2*y, w, 0, -cfd.C2*(w*y)
	f[15], f[16], f[17], f[18], f[19] = 0, -cfd.C2*z, 0, w, -cfd.C2*(w*z)
	f[20], f[21], f[22], f[23], f[24] = 0, cfd.C2, 0, 0, cfd.C1*w

	g[0], g[1], g[2], g[3] = 0, -along*rhoI*w, -across*rhoI*y, -across*rhoI*z
	g[4] = -rhoI * (energyAlong*w*w + energyAcross*(y*y+z*z) + cfd.C1345*e)
	g[5], g[6], g[7], g[8], g[9] = 0, along*rhoI, 0, 0, energyAlong*rhoI*w
	g[10], g[11], g[12], g[13], g[14] = 0, 0, across*rhoI, 0, energyAcross*rhoI*y
	g[15], g[16], g[17], g[18], g[19] = 0, 0, 0, across*rhoI, energyAcross*rhoI*z
	g[20], g[21], g[22], g[23], g[24] = 0, 0, 0, 0, cfd.C1345*rhoI
}

// jacobianY is jacobianX for the y axis.
//
//go:noinline
func jacobianY(f, g *block, u *[5]float64, rhoI, qs, square float64) {
	x, w, z := u[1]*rhoI, u[2]*rhoI, u[3]*rhoI
	e := u[4] * rhoI
	f[0], f[1], f[2], f[3], f[4] = 0, -w*x, cfd.C2*qs-w*w, -w*z, (2*cfd.C2*square-cfd.C1*u[4])*(w*rhoI)
	f[5], f[6], f[7], f[8], f[9] = 0, w, -cfd.C2*x, 0, -cfd.C2*(w*x)
	f[10], f[11], f[12], f[13], f[14] = 1, x, (2-cfd.C2)*w, z, cfd.C1*e-cfd.C2*(qs+w*w)
	f[15], f[16], f[17], f[18], f[19] = 0, 0, -cfd.C2*z, w, -cfd.C2*(w*z)
	f[20], f[21], f[22], f[23], f[24] = 0, 0, cfd.C2, 0, cfd.C1*w

	g[0], g[1], g[2], g[3] = 0, -across*rhoI*x, -along*rhoI*w, -across*rhoI*z
	g[4] = -rhoI * (energyAlong*w*w + energyAcross*(x*x+z*z) + cfd.C1345*e)
	g[5], g[6], g[7], g[8], g[9] = 0, across*rhoI, 0, 0, energyAcross*rhoI*x
	g[10], g[11], g[12], g[13], g[14] = 0, 0, along*rhoI, 0, energyAlong*rhoI*w
	g[15], g[16], g[17], g[18], g[19] = 0, 0, 0, across*rhoI, energyAcross*rhoI*z
	g[20], g[21], g[22], g[23], g[24] = 0, 0, 0, 0, cfd.C1345*rhoI
}

// jacobianZ is jacobianX for the z axis.
//
//go:noinline
func jacobianZ(f, g *block, u *[5]float64, rhoI, qs, square float64) {
	x, y, w := u[1]*rhoI, u[2]*rhoI, u[3]*rhoI
	e := u[4] * rhoI
	f[0], f[1], f[2], f[3], f[4] = 0, -w*x, -w*y, cfd.C2*qs-w*w, (2*cfd.C2*square-cfd.C1*u[4])*(w*rhoI)
	f[5], f[6], f[7], f[8], f[9] = 0, w, 0, -cfd.C2*x, -cfd.C2*(w*x)
	f[10], f[11], f[12], f[13], f[14] = 0, 0, w, -cfd.C2*y, -cfd.C2*(w*y)
	f[15], f[16], f[17], f[18], f[19] = 1, x, y, (2-cfd.C2)*w, cfd.C1*e-cfd.C2*(qs+w*w)
	f[20], f[21], f[22], f[23], f[24] = 0, 0, 0, cfd.C2, cfd.C1*w

	g[0], g[1], g[2], g[3] = 0, -across*rhoI*x, -across*rhoI*y, -along*rhoI*w
	g[4] = -rhoI * (energyAlong*w*w + energyAcross*(x*x+y*y) + cfd.C1345*e)
	g[5], g[6], g[7], g[8], g[9] = 0, across*rhoI, 0, 0, energyAcross*rhoI*x
	g[10], g[11], g[12], g[13], g[14] = 0, 0, across*rhoI, 0, energyAcross*rhoI*y
	g[15], g[16], g[17], g[18], g[19] = 0, 0, 0, along*rhoI, energyAlong*rhoI*w
	g[20], g[21], g[22], g[23], g[24] = 0, 0, 0, 0, cfd.C1345*rhoI
}
