package predict

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mathext"

	"presage/perf/fit"
)

// deviates holds the random numbers of all draws, shared by all functions of a
// model, in pairs of a draw and its mirror image (antithetic). A draw is a
// world in which the data had other errors:
//
//	value = value of a rival + τ·Σ_i a_i·Σ_j G_ij·e_j/√n
//
// with a_i the influence of point i at the size, e_j the modified residuals of
// the rival (fit.Spread), G a matrix of standard normal numbers and τ =
// √(ν/χ²_ν), which gives the deviation Student's t distribution with the
// freedom of the residuals. For given terms that is the exact predictive
// distribution of least squares. As all functions share G, two with influences
// a, b and residuals e, f have the covariance (a·b)(e·f)/n: errors at one size
// are correlated between functions as their residuals are, and errors at
// different sizes are independent, as in seemingly unrelated regressions
// (Zellner, JASA 57, 1962).
type deviates struct {
	pairs, sizes int
	normal       []float64 // G of each pair, (sizes+1)×sizes; the last row is for the value itself
	rival        []float64 // uniform: which rival
	scale        []float64 // uniform: which τ
	byFreedom    sync.Map  // of []float64 by degrees of freedom: τ of each pair
}

// kind is what deviates depend on.
type kind struct {
	pairs, sizes int
	seed         uint64
}

// known are the deviates of the kinds that have been asked for: every size, level and
// cache of a curve has the same, and the quantiles of τ take longer than the draws.
var known sync.Map

// deviatesOf returns the deviates of a kind.
func deviatesOf(k kind) *deviates {
	d, ok := known.Load(k)
	if !ok {
		d, _ = known.LoadOrStore(k, newDeviates(k))
	}
	return d.(*deviates)
}

func newDeviates(k kind) *deviates {
	pairs, sizes := k.pairs, k.sizes
	r := rand.New(rand.NewPCG(k.seed, uint64(sizes)))
	d := &deviates{pairs: pairs, sizes: sizes}
	d.normal = make([]float64, pairs*(sizes+1)*sizes)
	for i := range d.normal {
		d.normal[i] = r.NormFloat64()
	}
	d.rival, d.scale = stratified(r, pairs), stratified(r, pairs)
	return d
}

// stratified returns one uniform number from each of n equal parts of [0, 1), in
// random order.
func stratified(r *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i, k := range r.Perm(n) {
		out[i] = (float64(k) + r.Float64()) / float64(n)
	}
	return out
}

// draws returns the number of draws.
func (d *deviates) draws() int { return 2 * d.pairs }

// taus returns √(ν/χ²_ν) of each pair.
func (d *deviates) taus(freedom int) []float64 {
	if known, ok := d.byFreedom.Load(freedom); ok {
		return known.([]float64)
	}
	half := float64(freedom) / 2
	out := make([]float64, d.pairs)
	for b, u := range d.scale {
		out[b] = math.Sqrt(half / mathext.GammaIncRegInv(half, u))
	}
	d.byFreedom.Store(freedom, out)
	return out
}

// wholeFreedom rounds degrees of freedom down, which widens an interval.
func wholeFreedom(r *fit.Rival) int { return max(1, int(r.Freedom+1e-9)) }

// outcome is a rival's value at a size.
type outcome struct {
	value, below float64   // below: probability of lower outcomes, and of this
	weights      []float64 // of the normal numbers
	taus         []float64
}

// sampler draws values of functions.
type sampler struct {
	*deviates
	change   []float64
	outcomes []outcome
}

// draw sets dst to values of f at p, none negative, and reports whether they
// differ. Rivals are taken by ascending value with one uniform number for all
// functions, so sums of functions spread at least as much as if each were drawn
// by itself. A function fitted to only some of the sizes is taken to lack the
// first ones.
func (s *sampler) draw(dst []float64, f *fit.Func, p fit.Point) bool {
	if !f.Spread.Known() {
		v := math.Max(0, f.Eval(p))
		for i := range dst {
			dst[i] = v
		}
		return false
	}
	s.evaluate(&f.Spread, p)
	row := (s.sizes + 1) * s.sizes
	for b := range s.pairs {
		g, u := s.normal[b*row:(b+1)*row], s.rival[b]
		o := s.at(u)
		off := floats.Dot(o.weights, g)
		dst[2*b] = max(0, o.value+o.taus[b]*off)
		if mirrored := s.at(1 - u); mirrored != o {
			o, off = mirrored, floats.Dot(mirrored.weights, g)
		}
		dst[2*b+1] = max(0, o.value-o.taus[b]*off)
	}
	return true
}

// at returns the outcome whose share of the probability contains u.
func (s *sampler) at(u float64) *outcome {
	for i := range s.outcomes {
		if u < s.outcomes[i].below {
			return &s.outcomes[i]
		}
	}
	return &s.outcomes[len(s.outcomes)-1]
}

// evaluate sets the outcomes of a function at p.
func (s *sampler) evaluate(spread *fit.Spread, p fit.Point) {
	x := spread.Values(p)
	s.outcomes = slices.Grow(s.outcomes[:0], len(spread.Rivals))[:len(spread.Rivals)]
	for i := range spread.Rivals {
		r, o := &spread.Rivals[i], &s.outcomes[i]
		o.value, s.change = r.At(s.change, x)
		o.below, o.taus = r.Probability, s.taus(wholeFreedom(r))
		s.weigh(o, r, math.Abs(o.value)/spread.Heaviest)
	}
	slices.SortStableFunc(s.outcomes, func(a, b outcome) int { return cmp.Compare(a.value, b.value) })
	sum := 0.0
	for i := range s.outcomes {
		sum += s.outcomes[i].below
		s.outcomes[i].below = sum
	}
}

// weigh sets the contribution of each normal number to the value: a_i·e_j/√n,
// and in the last row the error of the value itself, as a further observation.
func (s *sampler) weigh(o *outcome, r *fit.Rival, observation float64) {
	o.weights = slices.Grow(o.weights[:0], (s.sizes+1)*s.sizes)[:(s.sizes+1)*s.sizes]
	clear(o.weights)
	n := len(r.Errors)
	from := s.sizes - n
	root := math.Sqrt(float64(n))
	for i := range n + 1 {
		a := observation
		if i < n {
			a = s.change[i]
		}
		row := o.weights[(from+i)*s.sizes+from:]
		for j, e := range r.Errors {
			row[j] = a * e / root
		}
	}
}
