package main

// A step solves a linear system for the correction of the solution. Its matrix is
// that of the differences of rhs without the fourth-order ones, taken at the
// solution of the step before: I - dt ∂rsd/∂u. A point's blocks in it are, with
// A = ∂f/∂u of the convective flux along a direction and N = ∂g/∂u of the viscous,
//
//	point before along the direction   -dt (A/2h + (N + d)/h²)  at that point
//	point after                         dt (A/2h - (N + d)/h²)  at that point
//	itself                             1 + 2 dt Σ (N + d)/h²    over directions
//
// N here has the factor c3 c4 in it. At a point where the velocity is v, the
// inverse density r, the energy and the kinetic energy over the density e and q,
// and for the direction of velocity component w:
//
//	    ⎛ 0                 1 at w                                             ⎞
//	A = ⎜ -v w + c2 q at w  w on the diagonal, v in w's column, -c2 v in its   ⎟
//	    ⎜                   row (together (2 - c2) w), then c2 at w            ⎟
//	    ⎝ (2 c2 q - c1 e) w c1 e - c2 (q + w²) at w, else -c2 v w, then c1 w   ⎠
//
//	    ⎛ 0                                                                    ⎞
//	N = ⎜ -µ r v   µ r on the diagonal, µ being c3 c4, and 4/3 of that for w   ⎟
//	    ⎝ -r (Σ (µ - κ) v² + κ e)  (µ - κ) r v, then κ r; κ = c1 c3 c4 c5      ⎠

// factors are the coefficients of one direction's blocks.
type factors struct {
	a      float64 // of A: dt/2h, with its sign
	mu     float64 // dt c3 c4/h²
	mu43   float64 // 4/3 of mu
	kappa  float64 // dt c1 c3 c4 c5/h²
	excess float64 // mu - kappa
	along  float64 // mu43 - kappa
	d      float64 // dt d/h²
}

// coefficients returns those of a direction with second-order dissipation d. sign
// is -1 for the points before, 1 for those after.
func (p *problem) coefficients(d, sign float64) factors {
	t := p.dt * p.t1
	return factors{
		a: sign * p.dt * p.t2, mu: t * c34, mu43: r43 * t * c34, kappa: t * c1345,
		excess: t * (c34 - c1345), along: t * (r43*c34 - c1345), d: t * d,
	}
}

// diagonal are the coefficients of a point's own block: sums over the directions.
type diagonal struct{ one, mu, kappa, excess float64 }

// own returns the coefficients of a point's own block. As the mesh has the same
// width along all directions, so have the three momenta the same viscosity.
func (p *problem) own() diagonal {
	t := 2 * p.dt * p.t1
	return diagonal{
		one: 1 + t*(dxi+deta+dzeta), mu: t * (2 + r43) * c34,
		kappa: 3 * t * c1345, excess: t * ((2+r43)*c34 - 3*c1345),
	}
}

// jacld forms the blocks of a patch of a front that the lower sweep needs: those of
// the points themselves and of the neighbours before them.
//
//go:noinline
func jacld(p *problem, at patch) {
	fz, fy, fx := p.coefficients(dzeta, -1), p.coefficients(deta, -1), p.coefficients(dxi, -1)
	own := p.own()
	u, rhoi, qs := p.u, p.rhoi, p.qs
	for ; at.rows > 0; at = at.after(p) {
		cell := at.cell
		a, b := p.a[at.block:][:at.columns], p.b[at.block:][:at.columns]
		c, d := p.c[at.block:][:at.columns], p.d[at.block:][:at.columns]
		for i := range d {
			s, r := &u[cell], rhoi[cell]
			v1, v2, v3, e, q := s[1]*r, s[2]*r, s[3]*r, s[4]*r, 0.0
			mr, er := own.mu*r, own.excess*r
			m := &d[i]
			m.row(0, own.one, 0, 0, 0, 0)
			m.row(1, -mr*v1, own.one+mr, 0, 0, 0)
			m.row(2, -mr*v2, 0, own.one+mr, 0, 0)
			m.row(3, -mr*v3, 0, 0, own.one+mr, 0)
			m.row(4, -er*(v1*v1+v2*v2+v3*v3)-own.kappa*r*e, er*v1, er*v2, er*v3, own.one+own.kappa*r)

			near := cell - p.plane
			s, r = &u[near], rhoi[near]
			v1, v2, v3, e, q = s[1]*r, s[2]*r, s[3]*r, s[4]*r, qs[near]*r
			mr, er = fz.mu*r, fz.excess*r
			aw := fz.a * v3
			m = &a[i]
			m.row(0, -fz.d, 0, 0, fz.a, 0)
			m.row(1, mr*v1-aw*v1, aw-mr-fz.d, 0, fz.a*v1, 0)
			m.row(2, mr*v2-aw*v2, 0, aw-mr-fz.d, fz.a*v2, 0)
			m.row(3, fz.a*c2*q-aw*v3+fz.mu43*r*v3, -fz.a*c2*v1, -fz.a*c2*v2, (2-c2)*aw-fz.mu43*r-fz.d, fz.a*c2)
			m.row(4,
				(2*c2*q-c1*e)*aw+er*(v1*v1+v2*v2)+fz.along*r*v3*v3+fz.kappa*r*e,
				-(c2*aw+er)*v1,
				-(c2*aw+er)*v2,
				fz.a*(c1*e-c2*(q+v3*v3))-fz.along*r*v3,
				c1*aw-fz.kappa*r-fz.d)

			near = cell - p.row
			s, r = &u[near], rhoi[near]
			v1, v2, v3, e, q = s[1]*r, s[2]*r, s[3]*r, s[4]*r, qs[near]*r
			mr, er = fy.mu*r, fy.excess*r
			aw = fy.a * v2
			m = &b[i]
			m.row(0, -fy.d, 0, fy.a, 0, 0)
			m.row(1, mr*v1-aw*v1, aw-mr-fy.d, fy.a*v1, 0, 0)
			m.row(2, fy.a*c2*q-aw*v2+fy.mu43*r*v2, -fy.a*c2*v1, (2-c2)*aw-fy.mu43*r-fy.d, -fy.a*c2*v3, fy.a*c2)
			m.row(3, mr*v3-aw*v3, 0, fy.a*v3, aw-mr-fy.d, 0)
			m.row(4,
				(2*c2*q-c1*e)*aw+er*(v1*v1+v3*v3)+fy.along*r*v2*v2+fy.kappa*r*e,
				-(c2*aw+er)*v1,
				fy.a*(c1*e-c2*(q+v2*v2))-fy.along*r*v2,
				-(c2*aw+er)*v3,
				c1*aw-fy.kappa*r-fy.d)

			near = cell - 1
			s, r = &u[near], rhoi[near]
			v1, v2, v3, e, q = s[1]*r, s[2]*r, s[3]*r, s[4]*r, qs[near]*r
			mr, er = fx.mu*r, fx.excess*r
			aw = fx.a * v1
			m = &c[i]
			m.row(0, -fx.d, fx.a, 0, 0, 0)
			m.row(1, fx.a*c2*q-aw*v1+fx.mu43*r*v1, (2-c2)*aw-fx.mu43*r-fx.d, -fx.a*c2*v2, -fx.a*c2*v3, fx.a*c2)
			m.row(2, mr*v2-aw*v2, fx.a*v2, aw-mr-fx.d, 0, 0)
			m.row(3, mr*v3-aw*v3, fx.a*v3, 0, aw-mr-fx.d, 0)
			m.row(4,
				(2*c2*q-c1*e)*aw+er*(v2*v2+v3*v3)+fx.along*r*v1*v1+fx.kappa*r*e,
				fx.a*(c1*e-c2*(q+v1*v1))-fx.along*r*v1,
				-(c2*aw+er)*v2,
				-(c2*aw+er)*v3,
				c1*aw-fx.kappa*r-fx.d)
			cell++
		}
	}
}

// jacu forms the blocks of a patch of a front that the upper sweep needs: those of
// the points themselves and of the neighbours after them.
//
//go:noinline
func jacu(p *problem, at patch) {
	fz, fy, fx := p.coefficients(dzeta, 1), p.coefficients(deta, 1), p.coefficients(dxi, 1)
	own := p.own()
	u, rhoi, qs := p.u, p.rhoi, p.qs
	for ; at.rows > 0; at = at.after(p) {
		cell := at.cell
		a, b := p.a[at.block:][:at.columns], p.b[at.block:][:at.columns]
		c, d := p.c[at.block:][:at.columns], p.d[at.block:][:at.columns]
		for i := range d {
			s, r := &u[cell], rhoi[cell]
			v1, v2, v3, e, q := s[1]*r, s[2]*r, s[3]*r, s[4]*r, 0.0
			mr, er := own.mu*r, own.excess*r
			m := &d[i]
			m.row(0, own.one, 0, 0, 0, 0)
			m.row(1, -mr*v1, own.one+mr, 0, 0, 0)
			m.row(2, -mr*v2, 0, own.one+mr, 0, 0)
			m.row(3, -mr*v3, 0, 0, own.one+mr, 0)
			m.row(4, -er*(v1*v1+v2*v2+v3*v3)-own.kappa*r*e, er*v1, er*v2, er*v3, own.one+own.kappa*r)

			near := cell + p.plane
			s, r = &u[near], rhoi[near]
			v1, v2, v3, e, q = s[1]*r, s[2]*r, s[3]*r, s[4]*r, qs[near]*r
			mr, er = fz.mu*r, fz.excess*r
			aw := fz.a * v3
			m = &a[i]
			m.row(0, -fz.d, 0, 0, fz.a, 0)
			m.row(1, mr*v1-aw*v1, aw-mr-fz.d, 0, fz.a*v1, 0)
			m.row(2, mr*v2-aw*v2, 0, aw-mr-fz.d, fz.a*v2, 0)
			m.row(3, fz.a*c2*q-aw*v3+fz.mu43*r*v3, -fz.a*c2*v1, -fz.a*c2*v2, (2-c2)*aw-fz.mu43*r-fz.d, fz.a*c2)
			m.row(4,
				(2*c2*q-c1*e)*aw+er*(v1*v1+v2*v2)+fz.along*r*v3*v3+fz.kappa*r*e,
				-(c2*aw+er)*v1,
				-(c2*aw+er)*v2,
				fz.a*(c1*e-c2*(q+v3*v3))-fz.along*r*v3,
				c1*aw-fz.kappa*r-fz.d)

			near = cell + p.row
			s, r = &u[near], rhoi[near]
			v1, v2, v3, e, q = s[1]*r, s[2]*r, s[3]*r, s[4]*r, qs[near]*r
			mr, er = fy.mu*r, fy.excess*r
			aw = fy.a * v2
			m = &b[i]
			m.row(0, -fy.d, 0, fy.a, 0, 0)
			m.row(1, mr*v1-aw*v1, aw-mr-fy.d, fy.a*v1, 0, 0)
			m.row(2, fy.a*c2*q-aw*v2+fy.mu43*r*v2, -fy.a*c2*v1, (2-c2)*aw-fy.mu43*r-fy.d, -fy.a*c2*v3, fy.a*c2)
			m.row(3, mr*v3-aw*v3, 0, fy.a*v3, aw-mr-fy.d, 0)
			m.row(4,
				(2*c2*q-c1*e)*aw+er*(v1*v1+v3*v3)+fy.along*r*v2*v2+fy.kappa*r*e,
				-(c2*aw+er)*v1,
				fy.a*(c1*e-c2*(q+v2*v2))-fy.along*r*v2,
				-(c2*aw+er)*v3,
				c1*aw-fy.kappa*r-fy.d)

			near = cell + 1
			s, r = &u[near], rhoi[near]
			v1, v2, v3, e, q = s[1]*r, s[2]*r, s[3]*r, s[4]*r, qs[near]*r
			mr, er = fx.mu*r, fx.excess*r
			aw = fx.a * v1
			m = &c[i]
			m.row(0, -fx.d, fx.a, 0, 0, 0)
			m.row(1, fx.a*c2*q-aw*v1+fx.mu43*r*v1, (2-c2)*aw-fx.mu43*r-fx.d, -fx.a*c2*v2, -fx.a*c2*v3, fx.a*c2)
			m.row(2, mr*v2-aw*v2, fx.a*v2, aw-mr-fx.d, 0, 0)
			m.row(3, mr*v3-aw*v3, fx.a*v3, 0, aw-mr-fx.d, 0)
			m.row(4,
				(2*c2*q-c1*e)*aw+er*(v2*v2+v3*v3)+fx.along*r*v1*v1+fx.kappa*r*e,
				fx.a*(c1*e-c2*(q+v1*v1))-fx.along*r*v1,
				-(c2*aw+er)*v2,
				-(c2*aw+er)*v3,
				c1*aw-fx.kappa*r-fx.d)
			cell++
		}
	}
}
