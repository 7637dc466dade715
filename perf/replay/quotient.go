package replay

import (
	"math"
	"math/big"
	"math/bits"
)

// quotient is a rational number in lowest terms. Nearly all that elimination among the
// coordinates of loops meets fits into 64 bits; what does not is kept in wide.
type quotient struct {
	num, den int64 // den > 0
	wide     *big.Rat
}

func integer(n int64) quotient { return quotient{num: n, den: 1} }

func (x quotient) zero() bool { return x.wide == nil && x.num == 0 }

// ratio returns num/den in lowest terms; den must not be 0.
func ratio(num, den int64) quotient {
	if den == 1 {
		return integer(num)
	}
	if num == math.MinInt64 || den == math.MinInt64 {
		return narrow(big.NewRat(num, den))
	}
	if den < 0 {
		num, den = -num, -den
	}
	if g := gcd(num, den); g > 1 {
		num, den = num/g, den/g
	}
	return quotient{num: num, den: den}
}

// narrow returns x, which it keeps if it does not fit.
func narrow(x *big.Rat) quotient {
	if x.Num().IsInt64() && x.Denom().IsInt64() {
		return quotient{num: x.Num().Int64(), den: x.Denom().Int64()}
	}
	return quotient{wide: x}
}

func (x quotient) rat() *big.Rat {
	if x.wide != nil {
		return x.wide
	}
	return big.NewRat(x.num, x.den)
}

// less returns x - f·o.
func (x quotient) less(f, o quotient) quotient {
	if x.wide == nil && f.wide == nil && o.wide == nil {
		n, ok1 := product(f.num, o.num)
		d, ok2 := product(f.den, o.den)
		a, ok3 := product(x.num, d)
		b, ok4 := product(n, x.den)
		d, ok5 := product(d, x.den)
		if s := a - b; ok1 && ok2 && ok3 && ok4 && ok5 && (s < a) == (b > 0) {
			return ratio(s, d)
		}
	}
	return narrow(new(big.Rat).Sub(x.rat(), new(big.Rat).Mul(f.rat(), o.rat())))
}

// over returns x/f; f must not be 0.
func (x quotient) over(f quotient) quotient {
	if x.wide == nil && f.wide == nil {
		n, ok1 := product(x.num, f.den)
		d, ok2 := product(x.den, f.num)
		if ok1 && ok2 {
			return ratio(n, d)
		}
	}
	return narrow(new(big.Rat).Quo(x.rat(), f.rat()))
}

// times returns x·n if that is an integer of at most most, up or down.
func (x quotient) times(n, most int64) (int64, bool) {
	if x.wide != nil {
		return 0, false // its terms are beyond 64 bits, and x·n is no integer or large
	}
	g := gcd(n, x.den)
	p, ok := product(x.num, n/g)
	return p, ok && x.den == g && -most <= p && p <= most
}

// product returns a·b, and whether it fits.
func product(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	return a * b, hi == 0 && lo <= math.MaxInt64
}

func magnitude(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}

// gcd returns the greatest common divisor; that of 0 and 0 is 0.
func gcd(a, b int64) int64 {
	x, y := magnitude(a), magnitude(b)
	for y != 0 {
		x, y = y, x%y
	}
	return int64(x)
}
