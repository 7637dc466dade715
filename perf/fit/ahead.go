package fit

import (
	"math"

	"presage/perf/leastsquares"
)

// aheadOf is how many times the largest parameters lie ahead of the points.
const aheadOf = 4

// lookAhead sets the values of the terms ahead; where one is not finite, none has any.
func (d *Design) lookAhead() {
	p := Point{}
	for name, iv := range d.domain {
		p[name] = iv.Hi * aheadOf
	}
	for _, t := range d.basis.Terms {
		v := t.Eval(p)
		if !finite(v) {
			d.ahead = nil
			return
		}
		d.ahead = append(d.ahead, v)
	}
}

// amplified returns the factor by which Options.Ahead raises the error of a sum of
// terms, whose factorisation is f and whose coefficients are of scaled columns:
//
//	√(1 + x(p)ᵀ(XᵀW²X)⁻¹x(p) / ŷ(p)²)
//
// with p ahead and weights that make the weighted data about one.
func (s *search) amplified(terms []int, coef []float64, f *leastsquares.Growing) float64 {
	if s.opt.Ahead <= 0 || s.d.ahead == nil || f.Columns() != len(terms) {
		return 1
	}
	var x [MaxTerms]float64
	value := 0.0
	for k, j := range terms {
		x[k] = s.d.ahead[j] / s.scale[j]
		value += coef[k] * x[k]
	}
	if !(value > 0) {
		return math.MaxFloat32
	}
	variance := f.Variance(x[:len(terms)])
	unit := square(norm2(s.y)) / float64(len(s.y)) // of the weighted data
	return math.Pow(1+variance*unit/square(value), s.opt.Ahead/2)
}
