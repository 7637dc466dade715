package fit

import (
	"math"
)

// shapedIfFree returns c with its coefficients if the least-squares solution
// obeys the shape as it is, and c as it was if not.
func (s *search) shapedIfFree(c candidate) candidate {
	coef := s.factor(c.terms).solve()
	if len(s.alternatives) == 0 || s.obeys(c.terms, coef) {
		c.coef = coef
	}
	return c
}

func (s *search) obeys(terms []int, coef []float64) bool {
	plain := s.unscale(terms, coef)
	for _, restrictions := range s.alternatives {
		if satisfied(restrictions, terms, plain) {
			return true
		}
	}
	return false
}

// shaped returns c with the coefficients and the leave-one-out error of the
// restricted fit.
func (s *search) shaped(c candidate) candidate {
	if f := s.shapedIfFree(c); f.coef != nil {
		return f
	}
	coef := s.restricted(c.terms, -1)
	c.coef, c.bound = coef, true
	if coef == nil {
		c.loo = math.Inf(1)
		return c
	}
	sum := 0.0
	for i := range s.y {
		e := s.y[i]
		if out := s.restricted(c.terms, i); out != nil {
			for k, j := range c.terms {
				e -= out[k] * s.columns[j][i]
			}
		}
		sum += e * e
	}
	c.loo = math.Sqrt(sum / float64(len(s.y)))
	return c
}

// restricted solves least squares over the given terms under the shape, with
// point skip left out (-1 for none), as a quadratic programme in the
// coefficients: with X = QR, |Xc − y|² has G = RᵀR, so that R⁻¹ is the J of
// the dual method and no product XᵀX, which would square the condition number,
// is formed. The alternative of least residual wins, the first of equals.
func (s *search) restricted(terms []int, skip int) []float64 {
	y := s.y
	columns := make([][]float64, len(terms))
	for k, j := range terms {
		columns[k] = s.columns[j]
	}
	if skip >= 0 {
		y = without(y, skip)
		for k := range columns {
			columns[k] = without(columns[k], skip)
		}
	}
	f := newQR(y, len(terms))
	for _, col := range columns {
		if !f.push(col) {
			return nil // the remaining points do not determine the terms
		}
	}
	var best []float64
	least := math.Inf(1)
	for _, restrictions := range s.alternatives {
		coef := s.underRestrictions(f, terms, restrictions)
		if coef == nil {
			continue
		}
		sum := 0.0
		for i := range y {
			e := y[i]
			for k := range columns {
				e -= coef[k] * columns[k][i]
			}
			sum += e * e
		}
		if sum < least*(1-1e-12) {
			best, least = coef, sum
		}
	}
	return best
}

func (s *search) underRestrictions(f *qr, terms []int, restrictions []signedRows) []float64 {
	p := newProgramme(len(terms))
	copy(p.x, f.solve())
	copy(p.j, f.inverse())
	for _, family := range restrictions {
		for _, row := range family.rows {
			r := make([]float64, len(terms))
			for k, j := range terms {
				r[k] = family.sign * row[j] / s.scale[j]
			}
			p.constrain(r, 0)
		}
	}
	if p.solve() != nil {
		return nil
	}
	return p.x
}

func without(v []float64, i int) []float64 {
	out := make([]float64, 0, len(v)-1)
	return append(append(out, v[:i]...), v[i+1:]...)
}

func (s *search) unscale(terms []int, coef []float64) []float64 {
	out := make([]float64, len(coef))
	for k, j := range terms {
		out[k] = coef[k] / s.scale[j]
	}
	return out
}

// finish turns the chosen candidate into a Func with its diagnostics.
func (s *search) finish(c candidate, y, w []float64) Func {
	q := s.factor(c.terms)
	coef := c.coef
	if coef == nil {
		coef = q.solve()
	}
	f := Func{LOO: c.loo, Condition: q.condition(), Domain: s.d.domain}
	if !finite(f.LOO) {
		f.LOO = math.MaxFloat64
	}
	for k, v := range s.unscale(c.terms, coef) {
		j := c.terms[k]
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
		rss += math.Pow(w[i]*f.Residuals[i], 2)
	}
	f.RMS = math.Sqrt(rss / float64(len(y)))
	f.R2 = explained(y, w, rss)
	f.Warnings = s.doubts(c, f)
	return f
}

// explained returns 1 − rss/tss, with tss about the weighted mean; 1 if the
// data do not vary and are met.
func explained(y, w []float64, rss float64) float64 {
	sw, sy, size := 0.0, 0.0, 0.0
	for i := range y {
		sw += w[i] * w[i]
		sy += w[i] * w[i] * y[i]
		size += math.Pow(w[i]*y[i], 2)
	}
	tss := 0.0
	for i := range y {
		tss += math.Pow(w[i]*(y[i]-sy/sw), 2)
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
