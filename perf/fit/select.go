package fit

import (
	"cmp"
	"math"
	"slices"

	"presage/perf/leastsquares"
)

// exhaustiveLimit is the largest number of subsets of the basis that are all
// tried. Beyond it, a beam search extends the beamWidth best subsets of each
// size by every term.
const (
	exhaustiveLimit = 20000
	beamWidth       = 48
)

// shapedLimit bounds the number of subsets solved as quadratic programmes
// because their least-squares solution violates the shape; the best come first.
const shapedLimit = 6

// dependence is the length below which a unit column counts as dependent on the
// columns before it, once these are projected out.
const dependence = 1e-9

// exactLOO is the leave-one-out error, relative to the data, below which
// differences are rounding.
const exactLOO = 1e-9

// search looks for the best subset of the terms.
type search struct {
	d            *Design
	opt          Options
	maxTerms     int
	y            []float64   // weighted
	columns      [][]float64 // weighted and scaled to unit length
	scale        []float64   // lengths before scaling; 0: the term is zero at all points
	sizes        []float64   // sums of the columns' absolute values
	size         float64     // of y's
	alternatives [][]signedRows
	floor        float64 // leave-one-out error that counts as exact

	// Memory reused from fit to fit.
	buf        []float64 // backs y, columns and scale
	candidates []candidate
	queue      queue
	met        []candidate          // those with the shape enforced
	terms      []int                // backs the candidates' terms
	walk       leastsquares.Growing // of the subset that exhaustive has reached
	one        leastsquares.Growing // of a subset by itself
	part       leastsquares.Growing // of a subset with a point left out
	coef       []float64
	residual   []float64   // of a contender
	near       []candidate // that may be rivals
	restricted restricted
}

// candidate is a subset of the terms, ascending, with its leave-one-out error.
type candidate struct {
	terms []int
	loo   float64
	score float64   // decides the choice: loo, raised by cancellation
	coef  []float64 // in scaled columns, set once shape constraints are met
	bound bool      // a constraint is active
}

// begin resets s to a search for a fit of y with weights w.
func (s *search) begin(d *Design, y, w []float64, opt Options) {
	s.d, s.opt, s.maxTerms = d, opt, opt.MaxTerms
	s.candidates, s.met, s.terms, s.columns, s.alternatives = s.candidates[:0], s.met[:0], s.terms[:0], s.columns[:0], nil
	if s.maxTerms <= 0 {
		s.maxTerms = DefaultMaxTerms
	}
	// With as many terms as points, nothing would be left to judge the terms
	// by.
	s.maxTerms = max(1, min(s.maxTerms, len(d.columns), d.points-1))
	if opt.AllTerms {
		s.maxTerms = min(len(d.columns), d.points)
	}
	s.buf = resized(s.buf, len(y)*(1+len(d.columns))+2*len(d.columns))
	buf := s.buf
	take := func(k int) []float64 { v := buf[:k:k]; buf = buf[k:]; return v }
	s.y, s.scale, s.sizes = take(len(y)), take(len(d.columns)), take(len(d.columns))
	for i := range y {
		s.y[i] = y[i] * w[i]
	}
	s.size = norm1(s.y)
	s.floor = exactLOO * norm2(s.y) / math.Sqrt(float64(len(y)))
	for j, col := range d.columns {
		c := take(len(col))
		for i := range col {
			c[i] = col[i] * w[i]
		}
		length := norm2(c)
		if length > 0 {
			for i := range c {
				c[i] /= length
			}
		}
		s.sizes[j] = norm1(c)
		s.columns = append(s.columns, c)
		s.scale[j] = length
	}
	if opt.Shape.restricts() {
		s.alternatives = d.shape.alternatives(opt.Shape, y)
	}
}

// keep returns a copy of terms that lives as long as the search.
func (s *search) keep(terms []int) []int {
	at := len(s.terms)
	s.terms = append(s.terms, terms...)
	return s.terms[at:len(s.terms):len(s.terms)]
}

// choose returns the best candidate.
func (s *search) choose() candidate {
	if s.opt.AllTerms {
		f := &s.walk
		f.Begin(s.y, s.maxTerms, dependence)
		c := candidate{}
		for j, col := range s.columns {
			if s.scale[j] > 0 && f.Push(col) {
				c.terms = append(c.terms, j)
			}
		}
		c.loo = f.LeaveOneOut()
		c.score = c.loo
		return s.shaped(c, math.Inf(1))
	}
	if subsets(len(s.columns), s.maxTerms) <= exhaustiveLimit {
		s.candidates = s.exhaustive()
	} else {
		s.candidates = s.beam()
	}
	if s.alternatives == nil {
		return s.preferred(s.candidates)
	}
	return s.preferredShaped(s.candidates)
}

// subsets returns the number of non-empty subsets of n of at most k, capped.
func subsets(n, k int) int {
	total, c := 0, 1
	for i := 1; i <= k; i++ {
		c = c * (n - i + 1) / i
		total += c
		if total > exhaustiveLimit {
			return total
		}
	}
	return total
}

// exhaustive scores all independent subsets, depth first: each step adds one
// column to the factorisation of the subset before.
func (s *search) exhaustive() []candidate {
	s.walk.Begin(s.y, s.maxTerms, dependence)
	var terms [MaxTerms]int
	s.visit(terms[:0], 0)
	return s.candidates
}

// visit scores the extensions of terms by terms from the from-th on.
func (s *search) visit(terms []int, from int) {
	for j := from; j < len(s.columns); j++ {
		if s.scale[j] == 0 || !s.walk.Push(s.columns[j]) {
			continue
		}
		longer := append(terms, j)
		s.candidates = append(s.candidates, s.scored(s.keep(longer), &s.walk))
		if len(longer) < s.maxTerms {
			s.visit(longer, j+1)
		}
		s.walk.Pop()
	}
}

// beam scores the extensions of the best subsets of each size.
func (s *search) beam() []candidate {
	var out []candidate
	level := []candidate{{}}
	for range s.maxTerms {
		var next []candidate
		for _, c := range level {
			f := s.factor(c.terms)
			for j := range s.columns {
				if slices.Contains(c.terms, j) || s.scale[j] == 0 || !f.Push(s.columns[j]) {
					continue
				}
				longer := s.scored(append(slices.Clone(c.terms), j), f)
				slices.Sort(longer.terms)
				next = append(next, longer)
				f.Pop()
			}
		}
		slices.SortStableFunc(next, func(a, b candidate) int { return slices.Compare(a.terms, b.terms) })
		next = slices.CompactFunc(next, func(a, b candidate) bool { return slices.Equal(a.terms, b.terms) })
		slices.SortStableFunc(next, byError)
		out = append(out, next...)
		level = next[:min(beamWidth, len(next))]
	}
	return out
}

func (s *search) factor(terms []int) *leastsquares.Growing {
	f := &s.one
	f.Begin(s.y, max(s.maxTerms, len(terms)), dependence)
	for _, j := range terms {
		f.Push(s.columns[j])
	}
	return f
}

// penalty returns the factor by which cancellation raises the error of a sum of
// terms: the sum of their absolute values over the points, relative to that of
// the data, to the power Options.Cancellation; at least 1.
func (s *search) penalty(terms []int, coef []float64) float64 {
	if s.opt.Cancellation <= 0 || s.size == 0 {
		return 1
	}
	sum := 0.0
	for k, j := range terms {
		sum += math.Abs(coef[k]) * s.sizes[j]
	}
	return math.Pow(math.Max(1, sum/s.size), s.opt.Cancellation)
}

// scored returns the candidate of terms, in the order of f's columns.
func (s *search) scored(terms []int, f *leastsquares.Growing) candidate {
	c := candidate{terms: terms, loo: f.LeaveOneOut()}
	c.score = c.loo
	if s.opt.Cancellation > 0 || s.opt.Ahead > 0 {
		s.coef = resized(s.coef, f.Columns())
		c.score *= s.penalty(terms, f.SolveTo(s.coef)) * s.amplified(terms, s.coef, f)
	}
	return c
}

// byError orders by score, then fewer terms, then earlier terms.
func byError(a, b candidate) int {
	if by := cmp.Compare(a.score, b.score); by != 0 {
		return by
	}
	return bySimplicity(a, b)
}

// bySimplicity orders by the number of terms, then by their places in the
// basis, the last term first: of n + n^2 and 1 + n^3 the former is simpler.
func bySimplicity(a, b candidate) int {
	if len(a.terms) != len(b.terms) {
		return cmp.Compare(len(a.terms), len(b.terms))
	}
	for i := len(a.terms) - 1; i >= 0; i-- {
		if a.terms[i] != b.terms[i] {
			return cmp.Compare(a.terms[i], b.terms[i])
		}
	}
	return 0
}

// acceptable returns the error up to which a simpler candidate is preferred to
// one with error best.
func (s *search) acceptable(best float64) float64 {
	slack := s.opt.Slack
	switch {
	case slack == 0:
		slack = DefaultSlack
	case slack < 0:
		slack = 0
	}
	return best*(1+slack) + s.floor
}

// preferred returns the simplest of the candidates with nearly the least error.
func (s *search) preferred(all []candidate) candidate {
	best := math.Inf(1)
	for _, c := range all {
		best = math.Min(best, c.score)
	}
	limit := s.acceptable(best)
	var chosen candidate
	for _, c := range all {
		if c.score <= limit && (chosen.terms == nil || bySimplicity(c, chosen) < 0) {
			chosen = c
		}
	}
	return chosen
}

// preferredShaped is preferred among solutions that obey the shape. It visits
// subsets by ascending unrestricted error and, since a restriction seldom
// lowers the error, stops once that exceeds what would be accepted.
func (s *search) preferredShaped(all []candidate) candidate {
	s.queue.begin(all)
	best, solved := math.Inf(1), 0
	for s.queue.Len() > 0 {
		c := s.queue.next()
		if c.score > s.acceptable(best) {
			break
		}
		f := s.shapedIfFree(c)
		if f.coef == nil {
			if solved == shapedLimit {
				continue
			}
			solved++
			f = s.shaped(c, s.acceptable(best))
		}
		s.met = append(s.met, f)
		best = math.Min(best, f.score)
	}
	return s.preferred(s.met)
}

// resized returns v with length n, reusing its memory if that suffices; the
// values are arbitrary.
func resized(v []float64, n int) []float64 {
	if cap(v) < n {
		return make([]float64, n)
	}
	return v[:n]
}
