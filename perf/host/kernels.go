package host

import "math"

// Each kernel below repeats one operation often enough to hide the loop around
// it. The compiler cannot omit any of it: it does not know the operands, does
// not reorder floating-point operations, and every result is returned. On amd64
// and arm64 each line is one instruction of the measured kind, except where
// noted.

// Operations in a round of a chain (latency) and of a stream (throughput). A loop
// over integer streams also moves some of them between registers.
const (
	chainOps         = 16
	streamOps        = 24
	integerStreamOps = 96
)

// addChain alternates additions and exclusive ors, which cost the same: two
// additions of y would become one of 2y.
//
//go:noinline
func addChain(x, y uint64, rounds int) uint64 {
	for range rounds {
		x += y
		x ^= y
		x += y
		x ^= y
		x += y
		x ^= y
		x += y
		x ^= y
		x += y
		x ^= y
		x += y
		x ^= y
		x += y
		x ^= y
		x += y
		x ^= y
	}
	return x
}

//go:noinline
func mulChain(x, y uint64, rounds int) uint64 {
	for range rounds {
		x *= y
		x *= y
		x *= y
		x *= y
		x *= y
		x *= y
		x *= y
		x *= y
		x *= y
		x *= y
		x *= y
		x *= y
		x *= y
		x *= y
		x *= y
		x *= y
	}
	return x
}

// divChain divides y by the previous quotient: with x*x near y, quotients stay
// constant and have half as many bits as y. Each division comes with a
// comparison of the divisor with 0, on which the chain does not depend.
//
//go:noinline
func divChain(x, y uint64, rounds int) uint64 {
	for range rounds {
		x = y / x
		x = y / x
		x = y / x
		x = y / x
		x = y / x
		x = y / x
		x = y / x
		x = y / x
		x = y / x
		x = y / x
		x = y / x
		x = y / x
		x = y / x
		x = y / x
		x = y / x
		x = y / x
	}
	return x
}

//go:noinline
func floatAddChain(x, y float64, rounds int) float64 {
	for range rounds {
		x += y
		x += y
		x += y
		x += y
		x += y
		x += y
		x += y
		x += y
		x += y
		x += y
		x += y
		x += y
		x += y
		x += y
		x += y
		x += y
	}
	return x
}

//go:noinline
func floatMulChain(x, y float64, rounds int) float64 {
	for range rounds {
		x *= y
		x *= y
		x *= y
		x *= y
		x *= y
		x *= y
		x *= y
		x *= y
		x *= y
		x *= y
		x *= y
		x *= y
		x *= y
		x *= y
		x *= y
		x *= y
	}
	return x
}

//go:noinline
func floatDivChain(x, y float64, rounds int) float64 {
	for range rounds {
		x = y / x
		x = y / x
		x = y / x
		x = y / x
		x = y / x
		x = y / x
		x = y / x
		x = y / x
		x = y / x
		x = y / x
		x = y / x
		x = y / x
		x = y / x
		x = y / x
		x = y / x
		x = y / x
	}
	return x
}

// sqrtChain adds before each root, as the roots would otherwise converge to 1,
// which some units handle quickly: subtract the latency of an addition.
//
//go:noinline
func sqrtChain(x, y float64, rounds int) float64 {
	for range rounds {
		x = math.Sqrt(x + y)
		x = math.Sqrt(x + y)
		x = math.Sqrt(x + y)
		x = math.Sqrt(x + y)
		x = math.Sqrt(x + y)
		x = math.Sqrt(x + y)
		x = math.Sqrt(x + y)
		x = math.Sqrt(x + y)
		x = math.Sqrt(x + y)
		x = math.Sqrt(x + y)
		x = math.Sqrt(x + y)
		x = math.Sqrt(x + y)
		x = math.Sqrt(x + y)
		x = math.Sqrt(x + y)
		x = math.Sqrt(x + y)
		x = math.Sqrt(x + y)
	}
	return x
}
