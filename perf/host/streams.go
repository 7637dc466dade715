package host

import "math"

// Streams are independent operations: integerStreams or floatStreams chains
// side by side. They reveal a throughput of at most chains / latency: 8 integer
// additions per cycle, 3 floating-point operations with a latency of 4. More
// would not fit in the registers of amd64.
const (
	integerStreams = 8
	floatStreams   = 12
)

//go:noinline
func addStream(x, y uint64, rounds int) uint64 {
	x0, x1, x2, x3, x4, x5, x6, x7 := x, x+1, x+2, x+3, x+4, x+5, x+6, x+7
	for range rounds {
		x0 += y
		x1 += y
		x2 += y
		x3 += y
		x4 += y
		x5 += y
		x6 += y
		x7 += y
		x0 ^= y
		x1 ^= y
		x2 ^= y
		x3 ^= y
		x4 ^= y
		x5 ^= y
		x6 ^= y
		x7 ^= y
		x0 += y
		x1 += y
		x2 += y
		x3 += y
		x4 += y
		x5 += y
		x6 += y
		x7 += y
		x0 ^= y
		x1 ^= y
		x2 ^= y
		x3 ^= y
		x4 ^= y
		x5 ^= y
		x6 ^= y
		x7 ^= y
		x0 += y
		x1 += y
		x2 += y
		x3 += y
		x4 += y
		x5 += y
		x6 += y
		x7 += y
		x0 ^= y
		x1 ^= y
		x2 ^= y
		x3 ^= y
		x4 ^= y
		x5 ^= y
		x6 ^= y
		x7 ^= y
		x0 += y
		x1 += y
		x2 += y
		x3 += y
		x4 += y
		x5 += y
		x6 += y
		x7 += y
		x0 ^= y
		x1 ^= y
		x2 ^= y
		x3 ^= y
		x4 ^= y
		x5 ^= y
		x6 ^= y
		x7 ^= y
		x0 += y
		x1 += y
		x2 += y
		x3 += y
		x4 += y
		x5 += y
		x6 += y
		x7 += y
		x0 ^= y
		x1 ^= y
		x2 ^= y
		x3 ^= y
		x4 ^= y
		x5 ^= y
		x6 ^= y
		x7 ^= y
		x0 += y
		x1 += y
		x2 += y
		x3 += y
		x4 += y
		x5 += y
		x6 += y
		x7 += y
		x0 ^= y
		x1 ^= y
		x2 ^= y
		x3 ^= y
		x4 ^= y
		x5 ^= y
		x6 ^= y
		x7 ^= y
	}
	return x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7
}

//go:noinline
func mulStream(x, y uint64, rounds int) uint64 {
	x0, x1, x2, x3, x4, x5, x6, x7 := x, x+1, x+2, x+3, x+4, x+5, x+6, x+7
	for range rounds {
		x0 *= y
		x1 *= y
		x2 *= y
		x3 *= y
		x4 *= y
		x5 *= y
		x6 *= y
		x7 *= y
		x0 *= y
		x1 *= y
		x2 *= y
		x3 *= y
		x4 *= y
		x5 *= y
		x6 *= y
		x7 *= y
		x0 *= y
		x1 *= y
		x2 *= y
		x3 *= y
		x4 *= y
		x5 *= y
		x6 *= y
		x7 *= y
		x0 *= y
		x1 *= y
		x2 *= y
		x3 *= y
		x4 *= y
		x5 *= y
		x6 *= y
		x7 *= y
		x0 *= y
		x1 *= y
		x2 *= y
		x3 *= y
		x4 *= y
		x5 *= y
		x6 *= y
		x7 *= y
		x0 *= y
		x1 *= y
		x2 *= y
		x3 *= y
		x4 *= y
		x5 *= y
		x6 *= y
		x7 *= y
		x0 *= y
		x1 *= y
		x2 *= y
		x3 *= y
		x4 *= y
		x5 *= y
		x6 *= y
		x7 *= y
		x0 *= y
		x1 *= y
		x2 *= y
		x3 *= y
		x4 *= y
		x5 *= y
		x6 *= y
		x7 *= y
		x0 *= y
		x1 *= y
		x2 *= y
		x3 *= y
		x4 *= y
		x5 *= y
		x6 *= y
		x7 *= y
		x0 *= y
		x1 *= y
		x2 *= y
		x3 *= y
		x4 *= y
		x5 *= y
		x6 *= y
		x7 *= y
		x0 *= y
		x1 *= y
		x2 *= y
		x3 *= y
		x4 *= y
		x5 *= y
		x6 *= y
		x7 *= y
		x0 *= y
		x1 *= y
		x2 *= y
		x3 *= y
		x4 *= y
		x5 *= y
		x6 *= y
		x7 *= y
	}
	return x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7
}

//go:noinline
func divStream(x, y uint64, rounds int) uint64 {
	x0, x1, x2, x3, x4, x5, x6, x7 := x, x+1, x+2, x+3, x+4, x+5, x+6, x+7
	for range rounds {
		x0 = y / x0
		x1 = y / x1
		x2 = y / x2
		x3 = y / x3
		x4 = y / x4
		x5 = y / x5
		x6 = y / x6
		x7 = y / x7
		x0 = y / x0
		x1 = y / x1
		x2 = y / x2
		x3 = y / x3
		x4 = y / x4
		x5 = y / x5
		x6 = y / x6
		x7 = y / x7
		x0 = y / x0
		x1 = y / x1
		x2 = y / x2
		x3 = y / x3
		x4 = y / x4
		x5 = y / x5
		x6 = y / x6
		x7 = y / x7
	}
	return x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7
}

//go:noinline
func floatAddStream(x, y float64, rounds int) float64 {
	x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11 := x, x+1, x+2, x+3, x+4, x+5, x+6, x+7, x+8, x+9, x+10, x+11
	for range rounds {
		x0 += y
		x1 += y
		x2 += y
		x3 += y
		x4 += y
		x5 += y
		x6 += y
		x7 += y
		x8 += y
		x9 += y
		x10 += y
		x11 += y
		x0 += y
		x1 += y
		x2 += y
		x3 += y
		x4 += y
		x5 += y
		x6 += y
		x7 += y
		x8 += y
		x9 += y
		x10 += y
		x11 += y
	}
	return x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 + x10 + x11
}

//go:noinline
func floatMulStream(x, y float64, rounds int) float64 {
	x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11 := x, x+1, x+2, x+3, x+4, x+5, x+6, x+7, x+8, x+9, x+10, x+11
	for range rounds {
		x0 *= y
		x1 *= y
		x2 *= y
		x3 *= y
		x4 *= y
		x5 *= y
		x6 *= y
		x7 *= y
		x8 *= y
		x9 *= y
		x10 *= y
		x11 *= y
		x0 *= y
		x1 *= y
		x2 *= y
		x3 *= y
		x4 *= y
		x5 *= y
		x6 *= y
		x7 *= y
		x8 *= y
		x9 *= y
		x10 *= y
		x11 *= y
	}
	return x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 + x10 + x11
}

//go:noinline
func floatDivStream(x, y float64, rounds int) float64 {
	x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11 := x, x+1, x+2, x+3, x+4, x+5, x+6, x+7, x+8, x+9, x+10, x+11
	for range rounds {
		x0 = y / x0
		x1 = y / x1
		x2 = y / x2
		x3 = y / x3
		x4 = y / x4
		x5 = y / x5
		x6 = y / x6
		x7 = y / x7
		x8 = y / x8
		x9 = y / x9
		x10 = y / x10
		x11 = y / x11
		x0 = y / x0
		x1 = y / x1
		x2 = y / x2
		x3 = y / x3
		x4 = y / x4
		x5 = y / x5
		x6 = y / x6
		x7 = y / x7
		x8 = y / x8
		x9 = y / x9
		x10 = y / x10
		x11 = y / x11
	}
	return x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 + x10 + x11
}

// sqrtStream takes the roots of constant numbers and sums the results, in fewer
// registers.
//
//go:noinline
func sqrtStream(x, y float64, rounds int) float64 {
	var s0, s1, s2, s3 float64
	for range rounds {
		x += y
		s0 += math.Sqrt(x)
		x += y
		s1 += math.Sqrt(x)
		x += y
		s2 += math.Sqrt(x)
		x += y
		s3 += math.Sqrt(x)
		x += y
		s0 += math.Sqrt(x)
		x += y
		s1 += math.Sqrt(x)
		x += y
		s2 += math.Sqrt(x)
		x += y
		s3 += math.Sqrt(x)
		x += y
		s0 += math.Sqrt(x)
		x += y
		s1 += math.Sqrt(x)
		x += y
		s2 += math.Sqrt(x)
		x += y
		s3 += math.Sqrt(x)
		x += y
		s0 += math.Sqrt(x)
		x += y
		s1 += math.Sqrt(x)
		x += y
		s2 += math.Sqrt(x)
		x += y
		s3 += math.Sqrt(x)
		x += y
		s0 += math.Sqrt(x)
		x += y
		s1 += math.Sqrt(x)
		x += y
		s2 += math.Sqrt(x)
		x += y
		s3 += math.Sqrt(x)
		x += y
		s0 += math.Sqrt(x)
		x += y
		s1 += math.Sqrt(x)
		x += y
		s2 += math.Sqrt(x)
		x += y
		s3 += math.Sqrt(x)
	}
	return s0 + s1 + s2 + s3
}
