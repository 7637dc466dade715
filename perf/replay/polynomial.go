package replay

import (
	"math/big"
	"slices"
)

// maxDegree is the largest degree of the polynomials that coefficients and executions
// may be: a cube of data is gone through as often as it is long.
const maxDegree = 4

// Series are the values of a coefficient at the sizes at which it is known, which
// ascend.
type Series struct {
	Sizes  []int64
	Values []int64
	Steps  []int64 // of a bound: the tiles that its value, in eighths, may be a number of
	Limits []Limit // of a bound, at other sizes
}

// Limit says that a value at a size is not less, or not greater, than another.
type Limit struct {
	Size, Value int64
	Greatest    bool // not greater
}

// Value is what a Series gives at a size.
type Value struct {
	At      int64
	Degree  int // of the polynomial
	Modulus int // the polynomial goes through the sizes of this residue class; 1: through all
	Spare   int // sizes beyond those that determine the polynomial; 0: the value is a guess
}

// spareSizes is the number of spare sizes from which on a value counts as exact.
const spareSizes = 2

// Exact reports whether enough spare sizes confirm the value.
func (v Value) Exact() bool { return v.Spare >= spareSizes }

// At returns the value of the simplest function at n: the polynomial of least degree
// that goes through all sizes, or else through those of n's residue class modulo 2, 4
// or 8, with enough sizes to spare; failing that, of a bound, the number of steps that
// all agree on; failing that, a quasi-polynomial; failing that, the polynomial with most to spare; failing that, the value that is known at n, or that of the nearest sizes' straight line.
func (s *Series) At(n int64) Value {
	var best Value
	for m := int64(1); m <= 8; m *= 2 {
		v, ok := s.modulo(n, m)
		if ok && v.Exact() {
			return v
		}
		if ok && v.Spare > best.Spare {
			best = v
		}
	}
	if v, ok := s.stepped(n); ok && v.Exact() {
		return v
	}
	if v, ok := s.quasi(n); ok {
		return v
	}
	if best.Spare > 0 {
		return best
	}
	if i, ok := slices.BinarySearch(s.Sizes, n); ok {
		return Value{At: s.Values[i], Modulus: 1}
	}
	return s.guess(n)
}

// modulo returns the value of the polynomial through the sizes of n's class.
func (s *Series) modulo(n, m int64) (Value, bool) {
	var x, y []int64
	for i, size := range s.Sizes {
		if (size-n)%m == 0 {
			x, y = append(x, size), append(y, s.Values[i])
		}
	}
	fits := degrees(x, y)
	for degree := 0; degree <= maxDegree && degree+2 <= len(x); degree++ {
		if !fits[degree] {
			continue
		}
		if degree == 0 { // all values alike, which needs no fraction, and is the most frequent
			if slices.Min(y) == slices.Max(y) {
				return Value{At: y[0], Modulus: int(m), Spare: len(x) - 1}, true
			}
			continue
		}
		p := newton(x[:degree+1], y[:degree+1])
		if !p.through(x[degree+1:], y[degree+1:]) {
			continue
		}
		at := p.at(n)
		if !at.IsInt() || !at.Num().IsInt64() {
			continue
		}
		return Value{At: at.Num().Int64(), Degree: degree, Modulus: int(m), Spare: len(x) - degree - 1}, true
	}
	return Value{}, false
}

// guess returns the value of the line through the last two sizes, or a constant.
func (s *Series) guess(n int64) Value {
	k := len(s.Sizes)
	if k == 0 {
		return Value{}
	}
	v := Value{At: s.Values[k-1], Degree: 1, Modulus: 1}
	if k > 1 {
		x0, x1 := float64(s.Sizes[k-2]), float64(s.Sizes[k-1])
		y0, y1 := float64(s.Values[k-2]), float64(s.Values[k-1])
		v.At = int64(y1 + (y1-y0)*(float64(n)-x1)/(x1-x0))
	}
	return v
}

// polynomial is one in Newton's form: c₀ + c₁(x-x₀) + c₂(x-x₀)(x-x₁) + …
type polynomial struct {
	nodes []int64
	coef  []*big.Rat
}

// newton returns the polynomial through points with different x, by divided
// differences.
func newton(x, y []int64) polynomial {
	c := make([]*big.Rat, len(x))
	for i := range y {
		c[i] = big.NewRat(y[i], 1)
	}
	for k := 1; k < len(x); k++ {
		for i := len(x) - 1; i >= k; i-- {
			c[i].Sub(c[i], c[i-1])
			c[i].Quo(c[i], big.NewRat(x[i]-x[i-k], 1))
		}
	}
	return polynomial{x, c}
}

// at evaluates by Horner's scheme.
func (p polynomial) at(x int64) *big.Rat {
	sum := new(big.Rat)
	for i := len(p.coef) - 1; i >= 0; i-- {
		sum.Mul(sum, big.NewRat(x-p.nodes[i], 1))
		sum.Add(sum, p.coef[i])
	}
	return sum
}

// through reports whether p goes through all points.
func (p polynomial) through(x, y []int64) bool {
	for i := range x {
		if p.at(x[i]).Cmp(big.NewRat(y[i], 1)) != 0 {
			return false
		}
	}
	return true
}
