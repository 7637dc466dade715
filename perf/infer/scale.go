package infer

import (
	"fmt"
	"math"
	"slices"
)

// Scale transforms a variable for a model: raised to a power that stabilises
// its variance, and mapped linearly so that the training rows fill [-1, 1].
type Scale struct {
	Name string

	// Power is the exponent on the ladder of powers, 1/n (2012, section 3.1); 0
	// stands for the logarithm. A variable with values below 0 has 1.
	Power float64

	// Lo and Hi are the least and largest value of the powered variable. If
	// they are equal the variable is constant and has no terms.
	Lo, Hi float64

	// Knots are the inflections a, b, c of the piecewise cubic, in [-1, 1]: the
	// quartiles of the distinct values; fewer where quartiles coincide.
	Knots []float64
}

// ladder is the powers tried, the plainest first.
var ladder = []float64{1, 1. / 2, 1. / 3, 1. / 4, 1. / 5, 0}

// plainer is the relative reduction of skewness that a power further down the
// ladder must bring to be preferred.
const plainer = 0.05

// NewScale chooses the power that leaves the least skewness, as the ladder of
// powers of statistics packages does, and the inflections.
func NewScale(name string, values []float64) Scale { return newScale(name, values, ladder) }

// newScale chooses among some powers, the plainest first.
func newScale(name string, values []float64, powers []float64) Scale {
	s := Scale{Name: name, Power: powers[0]}
	if slices.Min(values) >= 0 {
		best := math.Abs(skewness(values))
		powered := make([]float64, len(values))
		for _, p := range powers[1:] {
			if p == 0 && slices.Min(values) == 0 {
				continue // no logarithm
			}
			for i, x := range values {
				powered[i] = power(x, p)
			}
			if skew := math.Abs(skewness(powered)); skew < best*(1-plainer) {
				best, s.Power = skew, p
			}
		}
	}
	distinct := make([]float64, len(values))
	for i, x := range values {
		distinct[i] = power(x, s.Power)
	}
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	s.Lo, s.Hi = distinct[0], distinct[len(distinct)-1]
	if s.Constant() {
		return s
	}
	for _, q := range []float64{0.25, 0.5, 0.75} {
		at := q * float64(len(distinct)-1)
		i := int(at)
		x := distinct[i] + (at-float64(i))*(distinct[min(i+1, len(distinct)-1)]-distinct[i])
		k := s.unit(x)
		if len(s.Knots) == 0 || k > s.Knots[len(s.Knots)-1] {
			s.Knots = append(s.Knots, k)
		}
	}
	return s
}

// Constant reports whether the variable has only one value.
func (s *Scale) Constant() bool { return s.Lo == s.Hi }

// Unit returns the scaled value of x: from -1 to 1 within the range of the
// training rows. It returns an error for a root of a negative x or the
// logarithm of an x that is not positive.
func (s *Scale) Unit(x float64) (float64, error) {
	if s.Power != 1 && x < 0 || s.Power == 0 && x == 0 || !finite(x) {
		return 0, fmt.Errorf("infer: %w: %s is %g, which has no power %g; the rows that the model was made from had none such", ErrData, s.Name, x, s.Power)
	}
	if s.Constant() {
		return 0, nil
	}
	return s.unit(power(x, s.Power)), nil
}

func (s *Scale) unit(powered float64) float64 { return 2*(powered-s.Lo)/(s.Hi-s.Lo) - 1 }

func power(x, p float64) float64 {
	switch p {
	case 0:
		return math.Log(x)
	case 1:
		return x
	case 1. / 2:
		return math.Sqrt(x)
	case 1. / 3:
		return math.Cbrt(x)
	}
	return math.Pow(x, p)
}

// skewness returns the third standardised moment; 0 for constant values.
func skewness(values []float64) float64 {
	n := float64(len(values))
	mean := 0.0
	for _, x := range values {
		mean += x / n
	}
	var m2, m3 float64
	for _, x := range values {
		d := x - mean
		m2 += d * d / n
		m3 += d * d * d / n
	}
	if m2 <= 1e-24*mean*mean || m2 == 0 {
		return 0
	}
	return m3 / math.Pow(m2, 1.5)
}
