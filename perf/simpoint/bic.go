package simpoint

import "math"

// negligible is the share of the points' sum of squares below which the
// remainder is rounding.
const negligible = 1e-26

// bic returns the Bayesian information criterion of a clustering of n points in
// d dimensions, in natural logarithms, the higher the better:
//
//	l - (p/2) ln n,   p = (k-1) + k d + 1
//
// where l is the log likelihood of a mixture of k spherical Gaussians of equal
// variance σ², with each point known to come from its cluster c of weight W(c):
//
//	l = Σ weight · ( ln (W(c)/n) - (d/2) ln (2πσ²) - |x - μ(c)|²/(2σ²) )
//	σ² = Σ weight · |x - μ(c)|² / (d (n-k))
//
// (derived here; it is the criterion that SimPoint takes from x-means, with the
// variance of one coordinate). The last term of l sums to -d(n-k)/2. The score
// is infinite if all points are at the centres of their clusters.
func (c *clustering) bic(p *points) float64 {
	n, d, k := float64(p.n), float64(p.dims), float64(c.k)
	if c.sse <= negligible*p.squares() || n <= k {
		return math.Inf(1)
	}
	variance := c.sse / (d * (n - k))
	l := -n*d/2*math.Log(2*math.Pi*variance) - d*(n-k)/2
	for _, w := range c.weight {
		l += w * math.Log(w/n)
	}
	parameters := (k - 1) + k*d + 1
	return l - parameters/2*math.Log(n)
}

// squares returns the sum of the points' squared lengths.
func (p *points) squares() (sum float64) {
	for i, w := range p.weight {
		for _, x := range p.row(i) {
			sum += w * x * x
		}
	}
	return sum
}
