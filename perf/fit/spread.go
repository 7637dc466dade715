package fit

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Spread quantifies how far a fitted function may be off: which other functions
// fit the same data, and what errors of the data do to each. The zero Spread
// belongs to a function that meets its data exactly, or that was not fitted.
//
// Each rival is a subset of the basis with its least-squares solution. Its
// probability is that of pseudo-Bayesian model averaging with leave-one-out
// errors, where the errors of few points are themselves taken for a sample
// (pseudo-BMA+ of Yao, Vehtari, Simpson and Gelman, "Using stacking to average
// Bayesian predictive distributions", Bayesian Analysis 13, 2018, section 3.4):
// with leave-one-out residuals r_mi and weights α of a Bayesian bootstrap over
// the n points,
//
//	P(m) = E_α[ s_m^(−n) / Σ_l s_l^(−n) ],   s_m² = κ_m²·Σ_i α_i·r_mi²
//
// where κ_m is the factor by which Options.Cancellation raises a rival's error.
//
// Most of the error of an extrapolation comes from the choice of terms: taking
// the chosen terms for granted, 90% intervals held 28% to 80% of the truths up
// to four times beyond six noisy points; with rivals they hold 74% to 91%, 86%
// on average (TestCoverageWithChosenTerms).
type Spread struct {
	// Terms of all rivals; a rival without a term has zeros there.
	Terms []Term
	// Rivals begin with the chosen function.
	Rivals []Rival
	// Heaviest is the largest product of a weight and its value. With weights
	// relative to the values, a weighted residual of 1 is a relative error of
	// 1/Heaviest in the values that weigh most.
	Heaviest float64
}

// Rival is one of the functions compatible with the data. With a_i its change
// at p for a unit of weighted data at point i,
//
//	a_i = Σ_j Influence[i·k+j]·Terms[j](p),   Var f(p) = σ²·Σ a_i²,   σ² = Σ Errors[i]²/n.
//
// For weighted least squares that is σ²·x(p)ᵀ(XᵀW²X)⁻¹x(p), which grows with
// extrapolation as the terms do, and σ² is an unbiased estimate of the variance
// of a weighted residual. Both follow from the solutions c₋ᵢ without point i,
// which also exist under a shape:
//
//	influence of point i = (c − c₋ᵢ)/rᵢ,   Errors[i]² = eᵢ·rᵢ,   1−hᵢ = eᵢ/rᵢ
//
// with eᵢ the weighted residual and rᵢ the weighted leave-one-out residual:
// eᵢ/√(1−hᵢ) is the modified residual of Davison and Hinkley, Bootstrap Methods
// and their Application, 1997, section 6.2. Under an active shape the influence
// is a secant in place of a derivative (derived here).
type Rival struct {
	Probability  float64   // of all rivals, they sum to 1
	Coefficients []float64 // one for each of Spread.Terms
	// Influence has, for each point, the change of each coefficient per unit of
	// weighted data.
	Influence []float64
	// Errors are the modified residuals, weighted.
	Errors []float64
	// Freedom is the degrees of freedom of their variance: points minus terms,
	// more under an active shape.
	Freedom float64
}

const (
	// exactSpread is the ratio of errors to data below which a function counts
	// as exact, its errors being rounding.
	exactSpread = 1e-10

	// rivalLimit is the largest leave-one-out error of a rival, relative to
	// that of the chosen function. At six points its probability is then below
	// 1/64.
	rivalLimit = 2

	// maxRivals is the number of rivals kept, out of the rivalsTried with the
	// least leave-one-out errors; none has a probability below leastRival.
	maxRivals   = 6
	rivalsTried = 12
	leastRival  = 0.02

	// resamples is the number of Bayesian bootstraps that a probability
	// averages over.
	resamples = 32
)

// Known reports whether s has any rivals.
func (s *Spread) Known() bool { return len(s.Rivals) > 0 }

// Values returns the values at p of s.Terms.
func (s *Spread) Values(p Point) []float64 {
	x := make([]float64, len(s.Terms))
	for j, t := range s.Terms {
		x[j] = t.Eval(p)
	}
	return x
}

// At returns the value of r where its terms have the values x, and its change
// per unit of weighted data at each point, in dst, resized.
func (r *Rival) At(dst, x []float64) (value float64, change []float64) {
	change = resized(dst, len(r.Errors))
	for i := range change {
		change[i] = dot(r.Influence[i*len(x):(i+1)*len(x)], x)
	}
	return dot(r.Coefficients, x), change
}

// contender is a candidate with the parts of its Rival: coefficients and
// influences of its own terms, in scaled columns.
type contender struct {
	candidate
	coef, change []float64
	errors       []float64
	squares      []float64 // of the leave-one-out residuals, raised as the score is
	freedom      float64
	probability  float64
}

// spread returns the Spread of the chosen candidate, with coefficients coef in
// scaled columns, and of its rivals among the others tried.
func (s *search) spread(chosen candidate, coef []float64) Spread {
	chosen.coef = coef
	first, ok := s.contend(chosen)
	if !ok {
		return Spread{}
	}
	all := append(make([]contender, 0, rivalsTried), first)
	for _, c := range s.challengers(chosen) {
		if len(all) == rivalsTried {
			break
		}
		if r, ok := s.contend(c); ok {
			all = append(all, r)
		}
	}
	for _, r := range all {
		if r.loo > 0 {
			scale(r.squares, square(r.score/r.loo))
		}
	}
	s.d.judge(all)
	// The chosen one stays first.
	slices.SortStableFunc(all[1:], func(a, b contender) int { return cmp.Compare(b.probability, a.probability) })
	kept := all[:1]
	for _, r := range all[1:] {
		if len(kept) < maxRivals && r.probability >= leastRival {
			kept = append(kept, r)
		}
	}
	return s.rivals(kept)
}

// challengers returns the candidates other than the chosen one that obey the
// shape, unrestricted or as already solved, by ascending error.
func (s *search) challengers(chosen candidate) []candidate {
	limit := rivalLimit*chosen.score + s.floor
	out := s.near[:0]
	for _, c := range s.candidates {
		if c.score <= limit && !slices.Equal(c.terms, chosen.terms) {
			out = append(out, c)
		}
	}
	s.near = out
	slices.SortStableFunc(out, byError)
	out = out[:min(len(out), 2*rivalsTried)]
	met := out[:0]
	for _, c := range out {
		if i := slices.IndexFunc(s.met, func(m candidate) bool { return slices.Equal(m.terms, c.terms) }); i >= 0 {
			c = s.met[i]
		} else {
			c = s.shapedIfFree(c)
		}
		if c.coef != nil && c.score <= limit {
			met = append(met, c)
		}
	}
	return met
}

// contend computes the parts of a candidate's Rival. It fails if the candidate
// meets the data exactly, or if a point alone determines a coefficient, so that
// nothing is left to judge it by.
func (s *search) contend(c candidate) (contender, bool) {
	n, k := len(s.y), len(c.terms)
	r := contender{candidate: c, coef: c.coef, freedom: float64(n - k)}
	if n <= k {
		return r, false
	}
	r.errors, r.squares = make([]float64, n), make([]float64, n)
	residual := append(s.residual[:0], s.y...)
	s.residual = residual
	for a, j := range c.terms {
		for i := range residual {
			residual[i] -= c.coef[a] * s.columns[j][i]
		}
	}
	if norm2(residual) <= exactSpread*norm2(s.y) {
		return r, false
	}
	r.change = s.changes(c)
	if c.bound {
		return r, s.leaveOut(&r, residual)
	}
	lev := s.factor(c.terms).Leverage()
	for i := range residual {
		free := 1 - lev[i]
		if free < 1e-10 {
			return r, false
		}
		r.errors[i] = residual[i] / math.Sqrt(free)
		r.squares[i] = square(residual[i] / free)
	}
	return r, true
}

// changes returns the influences of an unrestricted solution, in scaled
// columns: the columns of R⁻¹Qᵀ.
func (s *search) changes(c candidate) []float64 {
	q := s.factor(c.terms)
	n, k := q.Rows(), q.Columns()
	inverse := q.Inverse()
	out := make([]float64, n*k)
	for b := range k {
		column := q.Q(b)
		for i := range n {
			for a := 0; a <= b; a++ {
				out[i*k+a] += inverse[a*k+b] * column[i]
			}
		}
	}
	return out
}

// leaveOut computes the influences, errors and freedom of a restricted
// solution. It fails if leaving out some point leaves no solution.
func (s *search) leaveOut(r *contender, residual []float64) bool {
	n, k := len(residual), len(r.terms)
	s.restrict(r.terms)
	freedom := 0.0
	for i := range n {
		coef := s.solveWithout(r.terms, i)
		if coef == nil {
			return false
		}
		e, left := residual[i], s.y[i]
		for a, j := range r.terms {
			left -= coef[a] * s.columns[j][i]
		}
		r.squares[i] = left * left
		// Leaving a point out never brings the solution nearer to it. Where
		// rounding suggests so, the point has no residual either way, and keeps
		// its influence without the shape.
		if e*left <= 0 || math.Abs(left) <= exactSpread*norm2(s.y) {
			freedom += float64(n-k) / float64(n)
			continue
		}
		r.errors[i] = math.Copysign(math.Sqrt(e*left), left)
		freedom += math.Min(1, e/left)
		for a := range k {
			r.change[i*k+a] = (r.coef[a] - coef[a]) / left
		}
	}
	r.freedom = math.Max(freedom, float64(n-k))
	return true
}

// scale multiplies v by k.
func scale(v []float64, k float64) {
	for i := range v {
		v[i] *= k
	}
}

// judge sets the probabilities of all contenders.
func (d *Design) judge(all []contender) {
	if len(all) == 1 { // its probability is 1, unless nothing tells
		if dot(d.resampled[:d.points], all[0].squares) > 0 {
			all[0].probability = 1
		}
		return
	}
	total := 0.0
	worth := make([]float64, len(all))
	for b := range resamples {
		alpha := d.resampled[b*d.points : (b+1)*d.points]
		least := math.Inf(1)
		for m := range all {
			worth[m] = dot(alpha, all[m].squares)
			least = math.Min(least, worth[m])
		}
		if least == 0 {
			continue
		}
		sum := 0.0
		for m := range worth {
			worth[m] = math.Pow(least/worth[m], float64(d.points)/2)
			sum += worth[m]
		}
		for m := range worth {
			all[m].probability += worth[m] / sum
		}
		total++
	}
	for m := range all {
		all[m].probability /= math.Max(total, 1)
	}
}

// resample returns the weights of the points in each Bayesian bootstrap: the
// gaps between uniform random numbers (Rubin, The Bayesian Bootstrap, Annals of
// Statistics 9, 1981). They depend only on the number of points.
func resample(points int) []float64 {
	r := rand.New(rand.NewPCG(uint64(points), 0))
	out := make([]float64, 0, resamples*points)
	for range resamples {
		at, sum := len(out), 0.0
		for range points {
			v := r.ExpFloat64()
			sum += v
			out = append(out, v)
		}
		for i := at; i < len(out); i++ {
			out[i] /= sum
		}
	}
	return out
}

// rivals turns contenders into a Spread over the union of their terms.
func (s *search) rivals(kept []contender) Spread {
	union := make([]int, 0, len(kept)*len(s.d.basis.Terms))
	sum := 0.0
	for _, r := range kept {
		union = append(union, r.terms...)
		sum += r.probability
	}
	slices.Sort(union)
	union = slices.Compact(union)
	out := Spread{Terms: make([]Term, 0, len(union)), Rivals: make([]Rival, 0, len(kept))}
	for _, j := range union {
		out.Terms = append(out.Terms, s.d.basis.Terms[j])
	}
	for i := range s.y {
		out.Heaviest = math.Max(out.Heaviest, math.Abs(s.y[i]))
	}
	n, width := len(s.y), len(union)
	numbers := make([]float64, len(kept)*(n+1)*width)
	for _, r := range kept {
		own := numbers[: (n+1)*width : (n+1)*width]
		numbers = numbers[(n+1)*width:]
		rival := Rival{
			Probability: r.probability / sum, Freedom: r.freedom, Errors: r.errors,
			Coefficients: own[:width:width], Influence: own[width:],
		}
		for a, j := range r.terms {
			to, _ := slices.BinarySearch(union, j)
			rival.Coefficients[to] = r.coef[a] / s.scale[j]
			for i := range n {
				rival.Influence[i*width+to] = r.change[i*len(r.terms)+a] / s.scale[j]
			}
		}
		out.Rivals = append(out.Rivals, rival)
	}
	return out
}
