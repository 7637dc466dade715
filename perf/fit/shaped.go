package fit

import (
	"math"
	"slices"
)

// restricted is the quadratic programme of a subset of the terms under the
// shape: one programme for each alternative. Solutions with a point left out
// share the constraints.
type restricted struct {
	programmes []programme
	columns    [MaxTerms][]float64 // of the subset, without the point left out
	left       []float64           // backs columns and the rest of y
	best       []float64
}

// shapedIfFree returns c with its coefficients if the least-squares solution
// already obeys the shape, and c unchanged if not.
func (s *search) shapedIfFree(c candidate) candidate {
	f := s.factor(c.terms)
	s.coef = resized(s.coef, f.Columns())
	coef := f.SolveTo(s.coef)
	if len(s.alternatives) == 0 || s.obeys(c.terms, coef) {
		c.coef = slices.Clone(coef)
	}
	return c
}

func (s *search) obeys(terms []int, coef []float64) bool {
	var plain [MaxTerms]float64
	for k, j := range terms {
		plain[k] = coef[k] / s.scale[j]
	}
	for _, restrictions := range s.alternatives {
		if satisfied(restrictions, terms, plain[:]) {
			return true
		}
	}
	return false
}

// shaped returns c with the coefficients and leave-one-out error of the
// restricted fit. It stops summing once the score exceeds limit, so larger
// scores are inexact.
func (s *search) shaped(c candidate, limit float64) candidate {
	if f := s.shapedIfFree(c); f.coef != nil {
		return f
	}
	s.restrict(c.terms)
	coef := s.solveWithout(c.terms, -1)
	c.coef, c.bound = slices.Clone(coef), true
	if coef == nil {
		c.loo, c.score = math.Inf(1), math.Inf(1)
		return c
	}
	penalty := s.penalty(c.terms, c.coef) * s.amplified(c.terms, c.coef, s.factor(c.terms))
	limit /= penalty
	sum := 0.0
	most := limit * limit * float64(len(s.y)) * (1 + 1e-9)
	for i := range s.y {
		e := s.y[i]
		if out := s.solveWithout(c.terms, i); out != nil {
			for k, j := range c.terms {
				e -= out[k] * s.columns[j][i]
			}
		}
		sum += e * e
		if sum > most {
			break
		}
	}
	c.loo = math.Sqrt(sum / float64(len(s.y)))
	c.score = c.loo * penalty
	return c
}

// restrict sets up the programmes of a subset of the terms.
func (s *search) restrict(terms []int) {
	r := &s.restricted
	for len(r.programmes) < len(s.alternatives) {
		r.programmes = append(r.programmes, programme{})
	}
	for a, families := range s.alternatives {
		p := &r.programmes[a]
		p.begin(len(terms))
		for _, family := range families {
			for _, row := range family.rows {
				at := len(p.rows)
				for _, j := range terms {
					p.rows = append(p.rows, family.sign*row[j]/s.scale[j])
				}
				p.scaleLast(at, 0)
			}
		}
	}
}

// solveWithout solves least squares over the terms of restrict under the shape,
// leaving out point skip (-1 for none), as a quadratic programme in the
// coefficients: with X = QR, |Xc − y|² has G = RᵀR, so R⁻¹ is the J of the dual
// method, and XᵀX, which would square the condition number, is never formed.
// The alternative with the least residual wins, the first of equals. The next
// call overwrites the result, which is nil if there is no solution.
func (s *search) solveWithout(terms []int, skip int) []float64 {
	r := &s.restricted
	n := len(s.y)
	r.left = resized(r.left, n*(len(terms)+1))
	copyWithout := func(at int, v []float64) []float64 {
		if skip < 0 {
			return v
		}
		return append(append(r.left[at*n:at*n:(at+1)*n], v[:skip]...), v[skip+1:]...)
	}
	y := copyWithout(len(terms), s.y)
	f := &s.part
	f.Begin(y, len(terms), dependence)
	for k, j := range terms {
		r.columns[k] = copyWithout(k, s.columns[j])
		if !f.Push(r.columns[k]) {
			return nil // the remaining points do not determine the terms
		}
	}
	found, least := false, math.Inf(1)
	r.best = resized(r.best, len(terms))
	for a := range s.alternatives {
		p := &r.programmes[a]
		p.restart()
		f.SolveTo(p.x)
		clear(p.j)
		f.InverseTo(p.j)
		if p.solve() != nil {
			continue
		}
		sum := 0.0
		for i := range y {
			e := y[i]
			for k := range terms {
				e -= p.x[k] * r.columns[k][i]
			}
			sum += e * e
		}
		if sum < least*(1-1e-12) {
			copy(r.best, p.x)
			found, least = true, sum
		}
	}
	if !found {
		return nil
	}
	return r.best
}

// finish turns the chosen candidate into a Func with its diagnostics.
func (s *search) finish(c candidate, y, w []float64) Func {
	q := s.factor(c.terms)
	coef := c.coef
	if coef == nil {
		coef = q.Solve()
	}
	f := Func{LOO: capped(c.loo), Condition: q.Condition(), Domain: s.d.domain}
	for k, j := range c.terms {
		v := coef[k] / s.scale[j]
		if v == 0 {
			continue
		}
		f.Terms = append(f.Terms, s.d.basis.Terms[j])
		f.Coefficients = append(f.Coefficients, v)
	}
	f.Residuals = make([]float64, len(y))
	rss := 0.0
	for i := range y {
		fitted := 0.0
		for k, j := range c.terms {
			fitted += coef[k] / s.scale[j] * s.d.columns[j][i]
		}
		f.Residuals[i] = y[i] - fitted
		rss += square(w[i] * f.Residuals[i])
	}
	f.RMS = math.Sqrt(rss / float64(len(y)))
	f.R2 = explained(y, w, rss)
	if !s.opt.NoSpread {
		f.Spread = s.spread(c, coef)
	}
	f.Warnings = s.doubts(c, f)
	return f
}

func square(v float64) float64 { return v * v }

// explained returns 1 − rss/tss, with tss about the weighted mean, or 1 for
// constant data that the fit meets.
func explained(y, w []float64, rss float64) float64 {
	sw, sy, size := 0.0, 0.0, 0.0
	for i := range y {
		sw += w[i] * w[i]
		sy += w[i] * w[i] * y[i]
		size += square(w[i] * y[i])
	}
	tss := 0.0
	for i := range y {
		tss += square(w[i] * (y[i] - sy/sw))
	}
	if tss <= 1e-24*size {
		if rss <= 1e-18*size {
			return 1
		}
		return 0
	}
	return 1 - rss/tss
}

func (s *search) doubts(c candidate, f Func) []Warning {
	var out []Warning
	if s.d.points < 3 || len(c.terms) >= s.d.points {
		out = append(out, warn(FewPoints, "%d terms from %d points", len(c.terms), s.d.points))
	}
	if len(c.terms) == 0 {
		out = append(out, warn(RankDeficient, "every term of the basis is zero at all points"))
	}
	if s.opt.AllTerms && len(c.terms) < len(s.columns) {
		out = append(out, warn(RankDeficient, "%d points determine %d of %d terms", s.d.points, len(c.terms), len(s.columns)))
	}
	if f.Condition > ConditionLimit {
		out = append(out, warn(IllConditioned, "condition number %.2g, above %.0g", f.Condition, float64(ConditionLimit)))
	}
	if c.bound {
		out = append(out, warn(ActiveConstraint, "the shape changes the least-squares solution"))
	}
	return out
}
