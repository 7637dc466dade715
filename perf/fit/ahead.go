package fit

import (
	"math"

	"presage/perf/leastsquares"
)

// aheadOf is how many times the largest parameters lie ahead of the points.
const aheadOf = 4

// lookAhead sets the values of the terms ahead: where the points lie if all are moved
// until the largest parameters are aheadOf times what they are. A single point there would
// not do for terms of remainders: four times a size is a multiple of more blocks than the
// size is. Where a term is not finite, none has any.
func (d *Design) lookAhead(points []Point) {
	for _, at := range points {
		p := Point{}
		for name, iv := range d.domain {
			p[name] = at[name] + iv.Hi*(aheadOf-1)
		}
		row := make([]float64, len(d.basis.Terms))
		for j, t := range d.basis.Terms {
			if row[j] = t.Eval(p); !finite(row[j]) {
				d.ahead = nil
				return
			}
		}
		d.ahead = append(d.ahead, row)
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
	mean := 0.0
	for _, ahead := range s.d.ahead {
		value := 0.0
		for k, j := range terms {
			x[k] = ahead[j] / s.scale[j]
			value += coef[k] * x[k]
		}
		if !(value > 0) {
			return math.MaxFloat32
		}
		mean += f.Variance(x[:len(terms)]) / square(value) / float64(len(s.d.ahead))
	}
	unit := square(norm2(s.y)) / float64(len(s.y)) // of the weighted data
	return math.Pow(1+mean*unit, s.opt.Ahead/2)
}
