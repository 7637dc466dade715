package main

// Coefficients of the 27-point operators, for a point itself, its neighbours
// across a face, an edge and a corner (RNR-94-007). Those that are 0, a[1] and
// c[3], are left out of the loops.
var (
	// A, the discrete Laplacian.
	a = [4]float64{-8.0 / 3, 0, 1.0 / 6, 1.0 / 12}
	// S, the smoother, near the inverse of A. These are the values for classes S, W
	// and A; NAS has others for larger ones.
	c = [4]float64{-3.0 / 8, 1.0 / 32, -1.0 / 64, 0}
)

// level is one of the meshes: n points along an edge, and beyond each end a copy
// of the point at the other, m = n + 2 in all. Point (i, j, k) is element i + m (j +
// m k); 1..n are the mesh's own.
type level struct {
	m    int
	u, r []float64 // solution or correction, residual
}

// line returns the points (0..m-1, j, k) of a mesh.
func line(v []float64, m, j, k int) []float64 {
	first := m * (j + m*k)
	return v[first : first+m]
}

// iterate solves A u = v from u = 0, by V-cycles.
//
//go:noinline
func iterate(p *problem) {
	top := &p.level[len(p.level)-1]
	clear(top.u)
	p.resid(top.r, top.u, p.v, top.m)
	p.first, _ = norm2u3(top.r, top.m)
	for range p.iterations {
		mg3P(p)
		p.resid(top.r, top.u, p.v, top.m)
	}
	p.last, p.lastMax = norm2u3(top.r, top.m)
}

// mg3P is one V-cycle: it restricts the residual down to the mesh with two points
// along an edge, smooths there, and comes back up, at each level interpolating the
// correction, computing what residual it leaves, and smoothing.
//
//go:noinline
func mg3P(p *problem) {
	last := len(p.level) - 1
	for k := last; k > 0; k-- {
		fine, coarse := &p.level[k], &p.level[k-1]
		p.rprj3(coarse.r, coarse.m, fine.r, fine.m)
	}
	bottom := &p.level[0]
	clear(bottom.u)
	p.psinv(bottom.u, bottom.r, bottom.m)
	for k := 1; k < last; k++ {
		l := &p.level[k]
		clear(l.u)
		p.interp(l.u, l.m, p.level[k-1].u, p.level[k-1].m)
		p.resid(l.r, l.u, l.r, l.m)
		p.psinv(l.u, l.r, l.m)
	}
	top := &p.level[last]
	p.interp(top.u, top.m, p.level[last-1].u, p.level[last-1].m)
	p.resid(top.r, top.u, p.v, top.m)
	p.psinv(top.u, top.r, top.m)
}

// resid sets r = v - A u. r and v may be the same.
//
//go:noinline
func (p *problem) resid(r, u, v []float64, m int) {
	a0, a2, a3 := a[0], a[2], a[3]
	near, far := p.work1[:m], p.work2[:m] // sums of neighbours in the plane of j and k
	for k := 1; k < m-1; k++ {
		for j := 1; j < m-1; j++ {
			s1, s2, s3, s4 := beside(u, m, j, k)
			s1, s2, s3, s4 = s1[:len(near)], s2[:len(near)], s3[:len(near)], s4[:len(near)]
			d1, d2, d3, d4 := opposite(u, m, j, k)
			d1, d2, d3, d4 = d1[:len(near)], d2[:len(near)], d3[:len(near)], d4[:len(near)]
			for i := range near {
				near[i] = s1[i] + s2[i] + s3[i] + s4[i]
				far[i] = d1[i] + d2[i] + d3[i] + d4[i]
			}
			u, v, r := line(u, m, j, k), line(v, m, j, k), line(r, m, j, k)
			for i := 1; i < m-1; i++ {
				r[i] = v[i] - a0*u[i] -
					a2*(far[i]+near[i-1]+near[i+1]) -
					a3*(far[i-1]+far[i+1])
			}
		}
	}
	comm3(r, m)
}

// psinv adds S r to u.
//
//go:noinline
func (p *problem) psinv(u, r []float64, m int) {
	c0, c1, c2 := c[0], c[1], c[2]
	near, far := p.work1[:m], p.work2[:m] // sums of neighbours in the plane of j and k
	for k := 1; k < m-1; k++ {
		for j := 1; j < m-1; j++ {
			s1, s2, s3, s4 := beside(r, m, j, k)
			s1, s2, s3, s4 = s1[:len(near)], s2[:len(near)], s3[:len(near)], s4[:len(near)]
			d1, d2, d3, d4 := opposite(r, m, j, k)
			d1, d2, d3, d4 = d1[:len(near)], d2[:len(near)], d3[:len(near)], d4[:len(near)]
			for i := range near {
				near[i] = s1[i] + s2[i] + s3[i] + s4[i]
				far[i] = d1[i] + d2[i] + d3[i] + d4[i]
			}
			u, r := line(u, m, j, k), line(r, m, j, k)
			for i := 1; i < m-1; i++ {
				u[i] += c0*r[i] +
					c1*(r[i-1]+r[i+1]+near[i]) +
					c2*(far[i]+near[i-1]+near[i+1])
			}
		}
	}
	comm3(u, m)
}

// beside returns the four lines across a face of a line's points, and opposite
// the four across an edge.
//
//go:noinline
func beside(v []float64, m, j, k int) (south, north, down, up []float64) {
	return line(v, m, j-1, k), line(v, m, j+1, k), line(v, m, j, k-1), line(v, m, j, k+1)
}

//go:noinline
func opposite(v []float64, m, j, k int) (southDown, northDown, southUp, northUp []float64) {
	return line(v, m, j-1, k-1), line(v, m, j+1, k-1), line(v, m, j-1, k+1), line(v, m, j+1, k+1)
}

// rprj3 restricts the residual r of a mesh to the next coarser one, s: half of the
// point at the same place, which has twice the index, and a half as much for each
// step away from it.
//
//go:noinline
func (p *problem) rprj3(s []float64, ms int, r []float64, mr int) {
	near, far := p.work1[:mr], p.work2[:mr]
	for k := 1; k < ms-1; k++ {
		for j := 1; j < ms-1; j++ {
			s1, s2, s3, s4 := beside(r, mr, 2*j, 2*k)
			s1, s2, s3, s4 = s1[:len(near)], s2[:len(near)], s3[:len(near)], s4[:len(near)]
			d1, d2, d3, d4 := opposite(r, mr, 2*j, 2*k)
			d1, d2, d3, d4 = d1[:len(near)], d2[:len(near)], d3[:len(near)], d4[:len(near)]
			for i := range near {
				near[i] = s1[i] + s2[i] + s3[i] + s4[i]
				far[i] = d1[i] + d2[i] + d3[i] + d4[i]
			}
			r, s := line(r, mr, 2*j, 2*k), line(s, ms, j, k)
			for i := 1; i < ms-1; i++ {
				at := 2 * i
				s[i] = 0.5*r[at] +
					0.25*(r[at-1]+r[at+1]+near[at]) +
					0.125*(near[at-1]+near[at+1]+far[at]) +
					0.0625*(far[at-1]+far[at+1])
			}
		}
	}
	comm3(s, ms)
}

// interp adds to u the trilinear interpolation of the coarser z, whose point with
// index i is at 2i of u. As z has copies of its ends, so has u afterwards.
//
//go:noinline
func (p *problem) interp(u []float64, mu int, z []float64, mz int) {
	j1, k1, jk := p.work1[:mz], p.work2[:mz], p.work3[:mz] // sums across j, across k, across both
	for k := range mz - 1 {
		for j := range mz - 1 {
			z00, z10 := line(z, mz, j, k)[:len(j1)], line(z, mz, j+1, k)[:len(j1)]
			z01, z11 := line(z, mz, j, k+1)[:len(j1)], line(z, mz, j+1, k+1)[:len(j1)]
			for i := range j1 {
				j1[i] = z10[i] + z00[i]
				k1[i] = z01[i] + z00[i]
				jk[i] = z11[i] + z01[i] + j1[i]
			}
			spread(line(u, mu, 2*j, 2*k), z00, 1)
			spread(line(u, mu, 2*j+1, 2*k), j1, 0.5)
			spread(line(u, mu, 2*j, 2*k+1), k1, 0.5)
			spread(line(u, mu, 2*j+1, 2*k+1), jk, 0.25)
		}
	}
}

// spread adds factor times the linear interpolation of z to a line.
//
//go:noinline
func spread(u, z []float64, factor float64) {
	u = u[:2*len(z)-2]
	half := factor / 2
	for i := range len(z) - 1 {
		u[2*i] += factor * z[i]
		u[2*i+1] += half * (z[i] + z[i+1])
	}
}

// comm3 copies the points at each end beyond the other, along i, then j, then k:
// the mesh is periodic.
//
//go:noinline
func comm3(v []float64, m int) {
	for k := 1; k < m-1; k++ {
		for j := 1; j < m-1; j++ {
			l := line(v, m, j, k)
			l[0], l[m-1] = l[m-2], l[1]
		}
		copy(line(v, m, 0, k), line(v, m, m-2, k))
		copy(line(v, m, m-1, k), line(v, m, 1, k))
	}
	plane := m * m
	copy(v[:plane], v[(m-2)*plane:(m-1)*plane])
	copy(v[(m-1)*plane:], v[plane:2*plane])
}
