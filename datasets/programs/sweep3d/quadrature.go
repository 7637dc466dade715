package main

const (
	angles  = 6 // ordinates in an octant: S6 has N(N+2)/8
	octants = 8
	moments = 4 // flux moments: φ and the three components of J
)

// The level-symmetric S6 set, derived here. In each octant the squares of the
// cosines take three levels a, a+d, a+2d with d = (1-3a)/2, which puts every
// ordinate on the unit sphere; three ordinates (1,1,3 and permutations) have
// weight w1, three (1,2,2 and permutations) w2, as fractions of an octant. The
// three unknowns a, w1, w2 follow from the even moments
//
//	3 w1 + 3 w2 = 1,  <mu⁴> = 1/5,  <mu⁶> = 1/7
//
// (<mu²> = 1/3 holds by symmetry). All other moments up to degree 7 follow, so
// that the set integrates them exactly.
const (
	level1 = 0.26663540151670472033
	level2 = 0.68150772653654692740
	level3 = 0.92618093551748910756
	w1     = 0.17612613086338343378
	w2     = 0.15720720246994989955
)

// quadrature is the set of ordinates: the cosines of the six angles of the
// octant where all are positive, and everything that sweeps need from them.
type quadrature struct {
	mu, eta, xi [angles]float64 // direction cosines along i, j, k
	w           [angles]float64 // weights: 1/8 in sum, 1 over the sphere

	// pn holds the basis functions of the flux moments: 1 and the signed
	// cosines along i, j, k, by octant and angle.
	pn [octants][angles][moments]float64
}

// levelSymmetricS6 returns the S6 quadrature.
func levelSymmetricS6() quadrature {
	q := quadrature{
		mu:  [angles]float64{level1, level1, level1, level2, level2, level3},
		eta: [angles]float64{level1, level2, level3, level1, level2, level1},
		xi:  [angles]float64{level3, level2, level1, level2, level1, level1},
		w:   [angles]float64{w1, w2, w1, w2, w2, w1},
	}
	for m := range q.w {
		q.w[m] /= octants
	}
	for iq := range octants {
		d := octant(iq)
		for m := range angles {
			q.pn[iq][m] = [moments]float64{
				1,
				float64(d.i2) * q.mu[m],
				float64(d.j2) * q.eta[m],
				float64(d.k2) * q.xi[m],
			}
		}
	}
	return q
}

// direction says which way an octant's ordinates travel: +1 or -1 along each
// axis. The names are those of the loop increments in the original.
type direction struct {
	iq         int // the octant, 0 to 7
	i2, j2, k2 int
}

// octant returns the directions of octant iq. Octants come in pairs that share
// the i and j directions: the first sweeps down in k, the second up again.
func octant(iq int) direction {
	sign := func(bit int) int { return 2*(iq>>bit&1) - 1 }
	return direction{iq: iq, i2: sign(2), j2: sign(1), k2: sign(0)}
}
