package replay

import "math"

const (
	// nearlyMet is by what share a function may miss each value that it nearly meets.
	nearlyMet = 0.03
	// highestNear is its highest power: data have three dimensions at most.
	highestNear = 3
	// leastNear is the number of sizes that it takes.
	leastNear = 4
)

// reach returns a bound of the addresses that are drawn. Where no function meets those of
// the runs, it grows as one that is near them.
func (in *Instance) reach(series int32) int64 {
	v := in.values[series]
	if v.Spare == 0 {
		if at, ok := in.prog.Series[series].nearly(in.N); ok {
			return at
		}
	}
	return v.At
}

// nearly returns the value of a function that is near all values, though it meets them
// nowhere: where data decide, a gather reaches nearly, but not quite, as far as a mesh of n²
// elements does. It is a multiple of a power of the size or, if there
// is none, of two subsequent powers: few parameters, since the function is taken far
// beyond the sizes. Of least squares of relative errors.
func (s *Series) nearly(n int64) (int64, bool) {
	if len(s.Sizes) < leastNear {
		return 0, false
	}
	for terms := 1; terms <= 2; terms++ {
		for power := terms - 1; power <= highestNear; power++ {
			a, b, ok := s.leastSquares(power, terms)
			if !ok || !s.meets(a, b, power) {
				continue
			}
			if at := powers(a, b, power, float64(n)); math.Abs(at) < 1<<62 {
				return int64(math.Round(at)), true
			}
		}
	}
	return 0, false
}

// powers returns a·x^p + b·x^(p-1).
func powers(a, b float64, p int, x float64) float64 {
	return a*math.Pow(x, float64(p)) + b*math.Pow(x, float64(p-1))
}

// leastSquares returns a and b, or a alone of one term, for which powers is nearest to the
// values in relative terms; false if there are none, or a value is 0.
func (s *Series) leastSquares(power, terms int) (a, b float64, ok bool) {
	var uu, uv, vv, u1, v1 float64 // sums of products of both terms and 1, divided by the values
	for i, size := range s.Sizes {
		y := float64(s.Values[i])
		if y == 0 {
			return 0, 0, false
		}
		u, v := powers(1, 0, power, float64(size))/y, powers(0, 1, power, float64(size))/y
		uu, uv, vv, u1, v1 = uu+u*u, uv+u*v, vv+v*v, u1+u, v1+v
	}
	if terms == 1 {
		return u1 / uu, 0, uu > 0
	}
	det := uu*vv - uv*uv
	return (u1*vv - v1*uv) / det, (v1*uu - u1*uv) / det, det > 1e-12*uu*vv
}

// meets reports whether a·x^p + b·x^(p-1) is near all values.
func (s *Series) meets(a, b float64, power int) bool {
	for i, size := range s.Sizes {
		y := float64(s.Values[i])
		if !(math.Abs(powers(a, b, power, float64(size))-y) <= nearlyMet*math.Abs(y)) {
			return false
		}
	}
	return true
}
