package fit

import (
	"math"
	"slices"
)

// Fitted returns the multiple of f that is nearest to y at some points, by least squares
// with weights. Of its Spread, f itself counts as certain.
func (f *Func) Fitted(points []Point, y, w []float64) Func {
	x := make([]float64, len(y)) // f, weighted
	xx, xy, heaviest := 0.0, 0.0, 0.0
	for i, p := range points {
		x[i] = f.Eval(p) * w[i]
		xx += x[i] * x[i]
		xy += x[i] * y[i] * w[i]
		heaviest = math.Max(heaviest, math.Abs(y[i]*w[i]))
	}
	c := 0.0
	if xx > 0 {
		c = xy / xx
	}
	times := func(c float64) []float64 {
		out := slices.Clone(f.Coefficients)
		for j := range out {
			out[j] *= c
		}
		return out
	}
	out := Func{Terms: f.Terms, Coefficients: times(c), Domain: f.Domain, Condition: 1, Residuals: make([]float64, len(y))}
	only := Rival{Probability: 1, Coefficients: out.Coefficients, Errors: make([]float64, len(y)), Freedom: float64(len(y) - 1)}
	rss, loo := 0.0, 0.0
	for i := range y {
		e, leverage := y[i]*w[i]-c*x[i], x[i]*x[i]/xx
		out.Residuals[i] = e / w[i]
		rss += e * e
		loo += square(e / (1 - leverage))
		only.Errors[i] = e / math.Sqrt(1-leverage)
		only.Influence = append(only.Influence, times(x[i]/xx)...)
	}
	n := float64(len(y))
	out.RMS, out.LOO, out.R2 = math.Sqrt(rss/n), capped(math.Sqrt(loo/n)), explained(y, w, rss)
	out.Spread = Spread{Terms: f.Terms, Rivals: []Rival{only}, Heaviest: heaviest}
	return out
}

// Or returns a spread in which the rivals of both are as likely, those of s first. Both
// are of the same points and weights.
func (s Spread) Or(other Spread) Spread {
	if !s.Known() || !other.Known() {
		return s
	}
	out := Spread{Terms: slices.Clone(s.Terms), Heaviest: s.Heaviest}
	place := make([]int, len(other.Terms))
	for j, t := range other.Terms {
		place[j] = slices.IndexFunc(out.Terms, func(u Term) bool { return u.String() == t.String() })
		if place[j] < 0 {
			place[j] = len(out.Terms)
			out.Terms = append(out.Terms, t)
		}
	}
	own := make([]int, len(s.Terms))
	for j := range own {
		own[j] = j
	}
	for _, r := range s.Rivals {
		out.Rivals = append(out.Rivals, r.over(len(out.Terms), own))
	}
	for _, r := range other.Rivals {
		out.Rivals = append(out.Rivals, r.over(len(out.Terms), place))
	}
	return out
}

// over returns a rival half as likely, over so many terms, of which term j becomes the
// place[j]-th.
func (r Rival) over(terms int, place []int) Rival {
	r.Probability /= 2
	coef, influence := make([]float64, terms), make([]float64, terms*len(r.Errors))
	for j, at := range place {
		coef[at] = r.Coefficients[j]
		for i := range r.Errors {
			influence[i*terms+at] = r.Influence[i*len(place)+j]
		}
	}
	r.Coefficients, r.Influence = coef, influence
	return r
}
