package main

// blts solves the block lower triangular system of a patch: with the blocks of
// jacld, for each point in turn,
//
//	v = d⁻¹ (v - ω (a v(k-1) + b v(j-1) + c v(i-1)))
//
// v being rsd. The part with a goes first, for the whole patch.
//
//go:noinline
func blts(p *problem, at patch) {
	v := p.rsd
	for part := at; part.rows > 0; part = part.after(p) {
		cell := part.cell
		a, tv := p.a[part.block:][:part.columns], p.tv[part.block:][:part.columns]
		for i := range tv {
			s, near, z, t := &v[cell], &v[cell-p.plane], &a[i], &tv[i]
			for m := range t {
				t[m] = s[m] - omega*(z[m]*near[0]+z[m+5]*near[1]+z[m+10]*near[2]+z[m+15]*near[3]+z[m+20]*near[4])
			}
			cell++
		}
	}
	for part := at; part.rows > 0; part = part.after(p) {
		cell := part.cell
		b, c := p.b[part.block:][:part.columns], p.c[part.block:][:part.columns]
		d, tv := p.d[part.block:][:part.columns], p.tv[part.block:][:part.columns]
		for i := range tv {
			vy, vx, y, x, t := &v[cell-p.row], &v[cell-1], &b[i], &c[i], &tv[i]
			for m := range t {
				t[m] -= omega * (y[m]*vy[0] + x[m]*vx[0] +
					y[m+5]*vy[1] + x[m+5]*vx[1] +
					y[m+10]*vy[2] + x[m+10]*vx[2] +
					y[m+15]*vy[3] + x[m+15]*vx[3] +
					y[m+20]*vy[4] + x[m+20]*vx[4])
			}
			own := d[i]
			own.solve(t)
			v[cell] = *t
			cell++
		}
	}
}

// buts solves the block upper triangular system of a patch: with the blocks of
// jacu, for each point in turn, from the last to the first,
//
//	v = v - d⁻¹ ω (a v(k+1) + b v(j+1) + c v(i+1))
//
//go:noinline
func buts(p *problem, at patch) {
	v := p.rsd
	for part := at.last(p); part.rows > 0; part = part.previous(p) {
		a, tv := p.a[part.block:][:part.columns], p.tv[part.block:][:part.columns]
		cell := part.cell + part.columns - 1
		for i := len(tv) - 1; i >= 0; i-- {
			near, z, t := &v[cell+p.plane], &a[i], &tv[i]
			for m := range t {
				t[m] = omega * (z[m]*near[0] + z[m+5]*near[1] + z[m+10]*near[2] + z[m+15]*near[3] + z[m+20]*near[4])
			}
			cell--
		}
	}
	for part := at.last(p); part.rows > 0; part = part.previous(p) {
		b, c := p.b[part.block:][:part.columns], p.c[part.block:][:part.columns]
		d, tv := p.d[part.block:][:part.columns], p.tv[part.block:][:part.columns]
		cell := part.cell + part.columns - 1
		for i := len(tv) - 1; i >= 0; i-- {
			vy, vx, y, x, t := &v[cell+p.row], &v[cell+1], &b[i], &c[i], &tv[i]
			for m := range t {
				t[m] += omega * (y[m]*vy[0] + x[m]*vx[0] +
					y[m+5]*vy[1] + x[m+5]*vx[1] +
					y[m+10]*vy[2] + x[m+10]*vx[2] +
					y[m+15]*vy[3] + x[m+15]*vx[3] +
					y[m+20]*vy[4] + x[m+20]*vx[4])
			}
			own := d[i]
			own.solve(t)
			s := &v[cell]
			for m := range s {
				s[m] -= t[m]
			}
			cell--
		}
	}
}

// solve replaces v by b⁻¹ v, by elimination without pivoting: own blocks are
// dominated by their diagonal. It leaves the triangular factors in b.
//
//go:noinline
func (b *block) solve(v *vec) {
	for q := range 4 {
		inverse := 1 / b[6*q]
		for m := q + 1; m < 5; m++ {
			t := inverse * b[5*q+m]
			for n := q + 1; n < 5; n++ {
				b[5*n+m] -= t * b[5*n+q]
			}
			v[m] -= t * v[q]
		}
	}
	v[4] /= b[24]
	v[3] = (v[3] - b[23]*v[4]) / b[18]
	v[2] = (v[2] - b[17]*v[3] - b[22]*v[4]) / b[12]
	v[1] = (v[1] - b[11]*v[2] - b[16]*v[3] - b[21]*v[4]) / b[6]
	v[0] = (v[0] - b[5]*v[1] - b[10]*v[2] - b[15]*v[3] - b[20]*v[4]) / b[0]
}
