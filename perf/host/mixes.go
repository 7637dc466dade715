package host

import "math"

// addMulMix alternates additions and multiplications. A pair takes as long as
// the slower of the two if both have units of their own, and as long as both if
// they share units.
//
//go:noinline
func addMulMix(x, y, z float64, rounds int) float64 {
	a0, a1, a2, a3, a4, a5 := x, x+1, x+2, x+3, x+4, x+5
	b0, b1, b2, b3, b4, b5 := x+6, x+7, x+8, x+9, x+10, x+11
	for range rounds {
		a0 += y
		b0 *= y
		a1 += y
		b1 *= y
		a2 += y
		b2 *= y
		a3 += y
		b3 *= y
		a4 += y
		b4 *= y
		a5 += y
		b5 *= y
		a0 += y
		b0 *= y
		a1 += y
		b1 *= y
		a2 += y
		b2 *= y
		a3 += y
		b3 *= y
		a4 += y
		b4 *= y
		a5 += y
		b5 *= y
	}
	return a0 + a1 + a2 + a3 + a4 + a5 + b0 + b1 + b2 + b3 + b4 + b5
}

// divSqrtMix alternates divisions and square roots, with additions that hardly
// delay either.
//
//go:noinline
func divSqrtMix(x, y, z float64, rounds int) float64 {
	a0, a1, a2, a3, a4, a5 := x, x+1, x+2, x+3, x+4, x+5
	var b0, b1, b2, b3 float64
	for range rounds {
		a0 = y / a0
		x += z
		b0 += math.Sqrt(x)
		a1 = y / a1
		x += z
		b1 += math.Sqrt(x)
		a2 = y / a2
		x += z
		b2 += math.Sqrt(x)
		a3 = y / a3
		x += z
		b3 += math.Sqrt(x)
		a4 = y / a4
		x += z
		b0 += math.Sqrt(x)
		a5 = y / a5
		x += z
		b1 += math.Sqrt(x)
		a0 = y / a0
		x += z
		b2 += math.Sqrt(x)
		a1 = y / a1
		x += z
		b3 += math.Sqrt(x)
		a2 = y / a2
		x += z
		b0 += math.Sqrt(x)
		a3 = y / a3
		x += z
		b1 += math.Sqrt(x)
		a4 = y / a4
		x += z
		b2 += math.Sqrt(x)
		a5 = y / a5
		x += z
		b3 += math.Sqrt(x)
	}
	return a0 + a1 + a2 + a3 + a4 + a5 + b0 + b1 + b2 + b3
}
