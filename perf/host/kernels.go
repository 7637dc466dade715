package host

import "math"

// The kernels below each do one thing so often that the loop around it does not
// show. The compiler cannot leave any of it out: it neither knows the operands
// nor reorders floating-point operations, and every result is returned. On
// amd64 and arm64 each line is one instruction of the kind that is measured,
// except where said otherwise.

// Operations in a round of a chain (latency) and of a stream (throughput). A loop
// over integer streams also moves some of them between registers.
const (
	chainOps         = 16
	streamOps        = 24
	integerStreamOps = 96
)

// addChain adds and takes exclusive ors by turns, which cost the same: two
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

// divChain divides y by what the last division gave: with x*x near y, quotients
// stay where they are and have half as many bits as y. Beside each division
// stands a comparison of the divisor with 0, which the chain does not wait for.
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

// sqrtChain adds before each root, or the roots would run to 1, which some
// units are quick about: the latency of an addition is to be taken off.
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
