//go:build !amd64

package host

import "math"

// hasFused reports that math.FMA is an instruction, as it is on arm64.
func hasFused() bool { return true }

// fusedChain is a chain through the addend, as in a sum of products; some cores
// need it later than the factors.
//
//go:noinline
func fusedChain(x, y, z float64, rounds int) float64 {
	for range rounds {
		x = math.FMA(y, z, x)
		x = math.FMA(y, z, x)
		x = math.FMA(y, z, x)
		x = math.FMA(y, z, x)
		x = math.FMA(y, z, x)
		x = math.FMA(y, z, x)
		x = math.FMA(y, z, x)
		x = math.FMA(y, z, x)
		x = math.FMA(y, z, x)
		x = math.FMA(y, z, x)
		x = math.FMA(y, z, x)
		x = math.FMA(y, z, x)
		x = math.FMA(y, z, x)
		x = math.FMA(y, z, x)
		x = math.FMA(y, z, x)
		x = math.FMA(y, z, x)
	}
	return x
}

//go:noinline
func fusedStream(x, y, z float64, rounds int) float64 {
	x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11 := x, x+1, x+2, x+3, x+4, x+5, x+6, x+7, x+8, x+9, x+10, x+11
	for range rounds {
		x0 = math.FMA(y, z, x0)
		x1 = math.FMA(y, z, x1)
		x2 = math.FMA(y, z, x2)
		x3 = math.FMA(y, z, x3)
		x4 = math.FMA(y, z, x4)
		x5 = math.FMA(y, z, x5)
		x6 = math.FMA(y, z, x6)
		x7 = math.FMA(y, z, x7)
		x8 = math.FMA(y, z, x8)
		x9 = math.FMA(y, z, x9)
		x10 = math.FMA(y, z, x10)
		x11 = math.FMA(y, z, x11)
		x0 = math.FMA(y, z, x0)
		x1 = math.FMA(y, z, x1)
		x2 = math.FMA(y, z, x2)
		x3 = math.FMA(y, z, x3)
		x4 = math.FMA(y, z, x4)
		x5 = math.FMA(y, z, x5)
		x6 = math.FMA(y, z, x6)
		x7 = math.FMA(y, z, x7)
		x8 = math.FMA(y, z, x8)
		x9 = math.FMA(y, z, x9)
		x10 = math.FMA(y, z, x10)
		x11 = math.FMA(y, z, x11)
	}
	return x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 + x10 + x11
}

// mulFusedMix alternates multiplications and fused multiply-adds.
//
//go:noinline
func mulFusedMix(x, y, z float64, rounds int) float64 {
	a0, a1, a2, a3, a4, a5 := x, x+1, x+2, x+3, x+4, x+5
	b0, b1, b2, b3, b4, b5 := x+6, x+7, x+8, x+9, x+10, x+11
	for range rounds {
		a0 *= y
		b0 = math.FMA(y, z, b0)
		a1 *= y
		b1 = math.FMA(y, z, b1)
		a2 *= y
		b2 = math.FMA(y, z, b2)
		a3 *= y
		b3 = math.FMA(y, z, b3)
		a4 *= y
		b4 = math.FMA(y, z, b4)
		a5 *= y
		b5 = math.FMA(y, z, b5)
		a0 *= y
		b0 = math.FMA(y, z, b0)
		a1 *= y
		b1 = math.FMA(y, z, b1)
		a2 *= y
		b2 = math.FMA(y, z, b2)
		a3 *= y
		b3 = math.FMA(y, z, b3)
		a4 *= y
		b4 = math.FMA(y, z, b4)
		a5 *= y
		b5 = math.FMA(y, z, b5)
	}
	return a0 + a1 + a2 + a3 + a4 + a5 + b0 + b1 + b2 + b3 + b4 + b5
}

// addFusedMix alternates additions and fused multiply-adds.
//
//go:noinline
func addFusedMix(x, y, z float64, rounds int) float64 {
	a0, a1, a2, a3, a4, a5 := x, x+1, x+2, x+3, x+4, x+5
	b0, b1, b2, b3, b4, b5 := x+6, x+7, x+8, x+9, x+10, x+11
	for range rounds {
		a0 += y
		b0 = math.FMA(y, z, b0)
		a1 += y
		b1 = math.FMA(y, z, b1)
		a2 += y
		b2 = math.FMA(y, z, b2)
		a3 += y
		b3 = math.FMA(y, z, b3)
		a4 += y
		b4 = math.FMA(y, z, b4)
		a5 += y
		b5 = math.FMA(y, z, b5)
		a0 += y
		b0 = math.FMA(y, z, b0)
		a1 += y
		b1 = math.FMA(y, z, b1)
		a2 += y
		b2 = math.FMA(y, z, b2)
		a3 += y
		b3 = math.FMA(y, z, b3)
		a4 += y
		b4 = math.FMA(y, z, b4)
		a5 += y
		b5 = math.FMA(y, z, b5)
	}
	return a0 + a1 + a2 + a3 + a4 + a5 + b0 + b1 + b2 + b3 + b4 + b5
}
