package host

import "unsafe"

// words is memory that stays in the first-level cache.
type words [streamOps]uint64

// loadStream adds up words; on amd64 each line is one instruction that loads and
// adds, on arm64 two.
//
//go:noinline
func loadStream(w *words, rounds int) uint64 {
	var s0, s1, s2, s3, s4, s5, s6, s7 uint64
	for range rounds {
		s0 += w[0]
		s1 += w[1]
		s2 += w[2]
		s3 += w[3]
		s4 += w[4]
		s5 += w[5]
		s6 += w[6]
		s7 += w[7]
		s0 += w[8]
		s1 += w[9]
		s2 += w[10]
		s3 += w[11]
		s4 += w[12]
		s5 += w[13]
		s6 += w[14]
		s7 += w[15]
		s0 += w[16]
		s1 += w[17]
		s2 += w[18]
		s3 += w[19]
		s4 += w[20]
		s5 += w[21]
		s6 += w[22]
		s7 += w[23]
	}
	return s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7
}

// storeStream writes all words.
//
//go:noinline
func storeStream(w *words, x uint64, rounds int) {
	for range rounds {
		w[0] = x
		w[1] = x
		w[2] = x
		w[3] = x
		w[4] = x
		w[5] = x
		w[6] = x
		w[7] = x
		w[8] = x
		w[9] = x
		w[10] = x
		w[11] = x
		w[12] = x
		w[13] = x
		w[14] = x
		w[15] = x
		w[16] = x
		w[17] = x
		w[18] = x
		w[19] = x
		w[20] = x
		w[21] = x
		w[22] = x
		w[23] = x
	}
}

// branchStream is conditional branches that are never taken, each after a
// comparison of its own. It stays one long function with a result for each
// branch: calls would add branches, and compilers merge comparisons that lead to
// the same place.
//
//go:noinline
func branchStream(x uint64, rounds int) uint64 {
	for range rounds {
		if x == 1001 {
			return 0
		}
		if x == 1003 {
			return 1
		}
		if x == 1005 {
			return 2
		}
		if x == 1007 {
			return 3
		}
		if x == 1009 {
			return 4
		}
		if x == 1011 {
			return 5
		}
		if x == 1013 {
			return 6
		}
		if x == 1015 {
			return 7
		}
		if x == 1017 {
			return 8
		}
		if x == 1019 {
			return 9
		}
		if x == 1021 {
			return 10
		}
		if x == 1023 {
			return 11
		}
		if x == 1025 {
			return 12
		}
		if x == 1027 {
			return 13
		}
		if x == 1029 {
			return 14
		}
		if x == 1031 {
			return 15
		}
		if x == 1033 {
			return 16
		}
		if x == 1035 {
			return 17
		}
		if x == 1037 {
			return 18
		}
		if x == 1039 {
			return 19
		}
		if x == 1041 {
			return 20
		}
		if x == 1043 {
			return 21
		}
		if x == 1045 {
			return 22
		}
		if x == 1047 {
			return 23
		}
	}
	return x
}

// mixOps is the number of instructions in a round of mixStream, without the two
// or three of its loop.
const mixOps = 12 * 8

// mixStream is a mix of independent instructions for many units: integer and
// floating-point additions, multiplications, stores.
//
//go:noinline
func mixStream(w *words, y uint64, f float64, rounds int) float64 {
	a0, a1, a2, a3 := y, y+1, y+2, y+3
	e0, e1, e2, e3, e4, e5 := f, f+1, f+2, f+3, f+4, f+5
	g0, g1, g2, g3 := f, f+1, f+2, f+3
	for range rounds {
		a0 += y
		a1 += y
		a2 += y
		a3 += y
		e0 += f
		e1 += f
		g0 *= f
		w[0] = y
		a0 ^= y
		a1 ^= y
		a2 ^= y
		a3 ^= y
		e2 += f
		e3 += f
		g1 *= f
		w[1] = y
		a0 += y
		a1 += y
		a2 += y
		a3 += y
		e4 += f
		e5 += f
		g2 *= f
		w[2] = y
		a0 ^= y
		a1 ^= y
		a2 ^= y
		a3 ^= y
		e0 += f
		e1 += f
		g3 *= f
		w[3] = y
		a0 += y
		a1 += y
		a2 += y
		a3 += y
		e2 += f
		e3 += f
		g0 *= f
		w[4] = y
		a0 ^= y
		a1 ^= y
		a2 ^= y
		a3 ^= y
		e4 += f
		e5 += f
		g1 *= f
		w[5] = y
		a0 += y
		a1 += y
		a2 += y
		a3 += y
		e0 += f
		e1 += f
		g2 *= f
		w[6] = y
		a0 ^= y
		a1 ^= y
		a2 ^= y
		a3 ^= y
		e2 += f
		e3 += f
		g3 *= f
		w[7] = y
		a0 += y
		a1 += y
		a2 += y
		a3 += y
		e4 += f
		e5 += f
		g0 *= f
		w[8] = y
		a0 ^= y
		a1 ^= y
		a2 ^= y
		a3 ^= y
		e0 += f
		e1 += f
		g1 *= f
		w[9] = y
		a0 += y
		a1 += y
		a2 += y
		a3 += y
		e2 += f
		e3 += f
		g2 *= f
		w[10] = y
		a0 ^= y
		a1 ^= y
		a2 ^= y
		a3 ^= y
		e4 += f
		e5 += f
		g3 *= f
		w[11] = y
	}
	return float64(a0+a1+a2+a3) + e0 + e1 + e2 + e3 + e4 + e5 + g0 + g1 + g2 + g3
}

// fillerOps is the number of instructions in a round of filler in overlap: 16
// additions, the count, and a comparison and branch that cores fuse.
const fillerOps = 18

// overlap loads from two chains in turn, uses each result at once, and puts
// rounds of filler, independent of the loads, between them. An out-of-order
// core has both loads in flight at once as long as its window holds a load and
// the filler after it; an in-order core waits at the first use.
//
// Half of the filler writes integer registers and half floating-point ones, so
// that renaming runs out of one kind only at twice the number.
//
//go:noinline
func overlap(p, q unsafe.Pointer, y uint64, f float64, filler, rounds int) (unsafe.Pointer, unsafe.Pointer, float64) {
	var u uint64
	c0, c1, c2, c3 := y, y+1, y+2, y+3 // distinct, or the compiler would merge them
	e0, e1, e2, e3, e4, e5, e6, e7 := f, f+1, f+2, f+3, f+4, f+5, f+6, f+7
	for range rounds {
		p = *(*unsafe.Pointer)(p)
		u += uint64(uintptr(p))
		for range filler {
			c0 += y
			e0 += f
			c1 += y
			e1 += f
			c2 += y
			e2 += f
			c3 += y
			e3 += f
			c0 ^= y
			e4 += f
			c1 ^= y
			e5 += f
			c2 ^= y
			e6 += f
			c3 ^= y
			e7 += f
		}
		q = *(*unsafe.Pointer)(q)
		u += uint64(uintptr(q))
		for range filler {
			c0 += y
			e0 += f
			c1 += y
			e1 += f
			c2 += y
			e2 += f
			c3 += y
			e3 += f
			c0 ^= y
			e4 += f
			c1 ^= y
			e5 += f
			c2 ^= y
			e6 += f
			c3 ^= y
			e7 += f
		}
	}
	return p, q, float64(u+c0+c1+c2+c3) + e0 + e1 + e2 + e3 + e4 + e5 + e6 + e7
}

// guess executes one branch per round with the direction of a random bit, or,
// with mask 0, of a constant: one side for each value of invert. Both sides are
// loads, so that the compiler does not use a conditional move. Bits are
// generated on the fly (xorshift: Marsaglia, 2003), so that no predictor can
// learn them.
//
//go:noinline
func guess(w *words, seed, mask, invert uint64, rounds int) uint64 {
	var a, b uint64
	for range rounds {
		seed ^= seed << 13
		seed ^= seed >> 7
		seed ^= seed << 17
		if seed&mask != invert {
			a += w[0]
		} else {
			b += w[1]
		}
	}
	return a ^ b
}
