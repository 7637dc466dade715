package main

import "math"

// refResult is what the reference finds.
type refResult struct {
	flux   [moments][]float64
	leaked float64
	fixups int
}

// ordinate is one of the 48 directions.
type ordinate struct {
	cos [3]float64
	w   float64
}

// reference solves the same problem the obvious way: no blocks, no wavefronts,
// no moments of the source, every angular flux on every face kept. One ordinate
// after the other, cell after cell in the direction of travel.
func reference(o options, margin int) refResult {
	n := o.n
	var r refResult
	for l := range r.flux {
		r.flux[l] = make([]float64, n*n*n)
	}
	for range o.iterations {
		before := r
		r = refResult{}
		for l := range r.flux {
			r.flux[l] = make([]float64, n*n*n)
		}
		for _, ord := range ordinates() {
			refSweep(o, margin, ord, &before, &r)
		}
	}
	return r
}

func ordinates() []ordinate {
	q := levelSymmetricS6()
	var all []ordinate
	for m := range angles {
		for _, si := range []float64{-1, 1} {
			for _, sj := range []float64{-1, 1} {
				for _, sk := range []float64{-1, 1} {
					all = append(all, ordinate{[3]float64{si * q.mu[m], sj * q.eta[m], sk * q.xi[m]}, q.w[m]})
				}
			}
		}
	}
	return all
}

// refSweep adds one ordinate's part to r, with the source from before.
func refSweep(o options, margin int, ord ordinate, before, r *refResult) {
	n := o.n
	// face[a][f][x][y]: the flux through the faces normal to axis a; f counts
	// faces along a, x and y cells along the other two axes in order.
	var face [3][][][]float64
	for a := range face {
		face[a] = make([][][]float64, n+1)
		for f := range face[a] {
			face[a][f] = make([][]float64, n)
			for x := range face[a][f] {
				face[a][f][x] = make([]float64, n)
			}
		}
	}
	travel := func(step, axis int) int {
		if ord.cos[axis] < 0 {
			return n - 1 - step
		}
		return step
	}
	inside := func(x int) bool { return x >= margin && x < n-margin }
	sigs := o.scattering * o.sigt

	for kk := range n {
		for jj := range n {
			for ii := range n {
				i, j, k := travel(ii, 0), travel(jj, 1), travel(kk, 2)
				c := k*n*n + j*n + i
				q := 0.0
				if inside(i) && inside(j) && inside(k) {
					q = 1
				}
				current := 0.0 // Ω·J
				for a := range 3 {
					current += ord.cos[a] * before.flux[a+1][c]
				}
				q += sigs * (before.flux[0][c] + 3*o.anisotropy*current)

				var in [3]*float64
				var out [3]*float64
				for a, at := range [3][3]int{{i, j, k}, {j, i, k}, {k, i, j}} {
					near, far := at[0], at[0]+1
					if ord.cos[a] < 0 {
						near, far = far, near
					}
					in[a], out[a] = &face[a][near][at[1]][at[2]], &face[a][far][at[1]][at[2]]
				}
				psi, outs, fixed := refCell(q, o.sigt, ord.cos, [3]float64{*in[0], *in[1], *in[2]}, o.fixup)
				for a := range 3 {
					*out[a] = outs[a]
					if travel(n-1, a) == [3]int{i, j, k}[a] {
						r.leaked += ord.w * math.Abs(ord.cos[a]) * outs[a]
					}
				}
				if fixed {
					r.fixups++
				}
				r.flux[0][c] += ord.w * psi
				for a := range 3 {
					r.flux[a+1][c] += ord.w * ord.cos[a] * psi
				}
			}
		}
	}
}

// refCell solves one cell by trying every set of faces to be set to zero, the
// smallest sets first, until one fits: no other face is negative.
func refCell(q, sigt float64, cos, in [3]float64, fix bool) (psi float64, out [3]float64, fixed bool) {
	for _, zero := range [][3]bool{
		{},
		{true, false, false},
		{false, true, false},
		{false, false, true},
		{true, true, false},
		{true, false, true},
		{false, true, true},
		{true, true, true},
	} {
		top, bottom := q, sigt
		for a := range 3 {
			mu := math.Abs(cos[a])
			if zero[a] {
				top += mu * in[a] // mu (0 - in) moved to the right-hand side
			} else {
				top += 2 * mu * in[a] // mu (2 psi - in - in)
				bottom += 2 * mu
			}
		}
		psi = top / bottom
		fits := true
		for a := range 3 {
			out[a] = 2*psi - in[a]
			if zero[a] {
				fits = fits && out[a] < 0
				out[a] = 0
			} else {
				fits = fits && out[a] >= 0
			}
		}
		if fits || !fix {
			return psi, out, zero != [3]bool{}
		}
	}
	panic("no set of faces fits")
}
