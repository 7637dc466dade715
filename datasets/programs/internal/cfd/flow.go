package cfd

// Flow has the arrays of BT and of SP's newer structure, whose leftmost index,
// the fastest, is the component: u(5, i, j, k), and one value a point for what
// is derived from it. Points are numbered as Cell says.
type Flow struct {
	Coefficients
	J, K int // points from one j, one k to the next

	U, RHS, Forcing []float64

	RhoI, Us, Vs, Ws, Square, Qs []float64 // 1/ρ, velocity, q, q/ρ
}

// NewFlow allocates the arrays for meshes of up to most points along an edge,
// with planes of them along k.
func NewFlow(c Coefficients, most, planes int) Flow {
	edge := Pad(most)
	points := edge * edge * planes
	array := func(components int) []float64 { return make([]float64, components*points) }
	return Flow{
		Coefficients: c,
		J:            edge, K: edge * edge,
		U: array(5), RHS: array(5), Forcing: array(5),
		RhoI: array(1), Us: array(1), Vs: array(1), Ws: array(1), Square: array(1), Qs: array(1),
	}
}

// Cell returns the number of a point.
func (f *Flow) Cell(i, j, k int) int { return k*f.K + j*f.J + i }

// At returns the components at the point numbered cell.
func At(a []float64, cell int) *[5]float64 { return (*[5]float64)(a[5*cell : 5*cell+5]) }

// Components returns a as a field.
func (f *Flow) Components(a []float64) Field {
	return Field{Data: a, M: 1, I: 5, J: 5 * f.J, K: 5 * f.K}
}

// FluxX adds to the right-hand side what L_x has without the fourth difference,
// at all inner i of the lines from j0 to j1 and k0 to k1 (exclusive).
//
//go:noinline
func (f *Flow) FluxX(j0, j1, k0, k1 int) {
	u, rhs := f.U, f.RHS
	us := f.Us
	vs, ws, qs, square, rho := f.Vs[:len(us)], f.Ws[:len(us)], f.Qs[:len(us)], f.Square[:len(us)], f.RhoI[:len(us)]
	t2, con2, con3, con4, con5 := f.T2, f.Con2, f.Con3, f.Con4, f.Con5
	d := dxy * f.T1
	for k := k0; k < k1; k++ {
		for j := j0; j < j1; j++ {
			first := f.Cell(1, j, k)
			for c := first; c < first+f.N-2; c++ {
				p, z := c+1, c-1
				r := At(rhs, c)
				uc, up, um := At(u, c), At(u, p), At(u, z)
				w, wp, wm := us[c], us[p], us[z]
				r[0] += d*(up[0]-2*uc[0]+um[0]) - t2*(up[1]-um[1])
				r[1] += d*(up[1]-2*uc[1]+um[1]) + con2*Con43*(wp-2*w+wm) -
					t2*(up[1]*wp-um[1]*wm+C2*(up[4]-square[p]-um[4]+square[z]))
				r[2] += d*(up[2]-2*uc[2]+um[2]) + con2*(vs[p]-2*vs[c]+vs[z]) - t2*(up[2]*wp-um[2]*wm)
				r[3] += d*(up[3]-2*uc[3]+um[3]) + con2*(ws[p]-2*ws[c]+ws[z]) - t2*(up[3]*wp-um[3]*wm)
				r[4] += d*(up[4]-2*uc[4]+um[4]) + con3*(qs[p]-2*qs[c]+qs[z]) + con4*(wp*wp-2*w*w+wm*wm) +
					con5*(up[4]*rho[p]-2*uc[4]*rho[c]+um[4]*rho[z]) -
					t2*((C1*up[4]-C2*square[p])*wp-(C1*um[4]-C2*square[z])*wm)
			}
		}
	}
}

// FluxY is FluxX for L_y.
//
//go:noinline
func (f *Flow) FluxY(j0, j1, k0, k1 int) {
	u, rhs := f.U, f.RHS
	us := f.Us
	vs, ws, qs, square, rho := f.Vs[:len(us)], f.Ws[:len(us)], f.Qs[:len(us)], f.Square[:len(us)], f.RhoI[:len(us)]
	t2, con2, con3, con4, con5 := f.T2, f.Con2, f.Con3, f.Con4, f.Con5
	d := dxy * f.T1
	for k := k0; k < k1; k++ {
		for j := j0; j < j1; j++ {
			first := f.Cell(1, j, k)
			for c := first; c < first+f.N-2; c++ {
				p, z := c+f.J, c-f.J
				r := At(rhs, c)
				uc, up, um := At(u, c), At(u, p), At(u, z)
				w, wp, wm := vs[c], vs[p], vs[z]
				r[0] += d*(up[0]-2*uc[0]+um[0]) - t2*(up[2]-um[2])
				r[1] += d*(up[1]-2*uc[1]+um[1]) + con2*(us[p]-2*us[c]+us[z]) - t2*(up[1]*wp-um[1]*wm)
				r[2] += d*(up[2]-2*uc[2]+um[2]) + con2*Con43*(wp-2*w+wm) -
					t2*(up[2]*wp-um[2]*wm+C2*(up[4]-square[p]-um[4]+square[z]))
				r[3] += d*(up[3]-2*uc[3]+um[3]) + con2*(ws[p]-2*ws[c]+ws[z]) - t2*(up[3]*wp-um[3]*wm)
				r[4] += d*(up[4]-2*uc[4]+um[4]) + con3*(qs[p]-2*qs[c]+qs[z]) + con4*(wp*wp-2*w*w+wm*wm) +
					con5*(up[4]*rho[p]-2*uc[4]*rho[c]+um[4]*rho[z]) -
					t2*((C1*up[4]-C2*square[p])*wp-(C1*um[4]-C2*square[z])*wm)
			}
		}
	}
}

// FluxZ is FluxX for L_z.
//
//go:noinline
func (f *Flow) FluxZ(j0, j1, k0, k1 int) {
	u, rhs := f.U, f.RHS
	us := f.Us
	vs, ws, qs, square, rho := f.Vs[:len(us)], f.Ws[:len(us)], f.Qs[:len(us)], f.Square[:len(us)], f.RhoI[:len(us)]
	t2, con2, con3, con4, con5 := f.T2, f.Con2, f.Con3, f.Con4, f.Con5
	d := dz * f.T1
	for k := k0; k < k1; k++ {
		for j := j0; j < j1; j++ {
			first := f.Cell(1, j, k)
			for c := first; c < first+f.N-2; c++ {
				p, z := c+f.K, c-f.K
				r := At(rhs, c)
				uc, up, um := At(u, c), At(u, p), At(u, z)
				w, wp, wm := ws[c], ws[p], ws[z]
				r[0] += d*(up[0]-2*uc[0]+um[0]) - t2*(up[3]-um[3])
				r[1] += d*(up[1]-2*uc[1]+um[1]) + con2*(us[p]-2*us[c]+us[z]) - t2*(up[1]*wp-um[1]*wm)
				r[2] += d*(up[2]-2*uc[2]+um[2]) + con2*(vs[p]-2*vs[c]+vs[z]) - t2*(up[2]*wp-um[2]*wm)
				r[3] += d*(up[3]-2*uc[3]+um[3]) + con2*Con43*(wp-2*w+wm) -
					t2*(up[3]*wp-um[3]*wm+C2*(up[4]-square[p]-um[4]+square[z]))
				r[4] += d*(up[4]-2*uc[4]+um[4]) + con3*(qs[p]-2*qs[c]+qs[z]) + con4*(wp*wp-2*w*w+wm*wm) +
					con5*(up[4]*rho[p]-2*uc[4]*rho[c]+um[4]*rho[z]) -
					t2*((C1*up[4]-C2*square[p])*wp-(C1*um[4]-C2*square[z])*wm)
			}
		}
	}
}
