package softfloat

import "math/bits"

func to32(b uint64, f Flags) (uint32, Flags) { return uint32(b), f }

// Add64 returns a + b.
func Add64(a, b uint64, m Mode) (uint64, Flags) {
	return binary64.add(m, binary64.unpack(a), binary64.unpack(b))
}

// Add32 returns a + b.
func Add32(a, b uint32, m Mode) (uint32, Flags) {
	return to32(binary32.add(m, binary32.unpack(uint64(a)), binary32.unpack(uint64(b))))
}

// Mul64 returns a · b.
func Mul64(a, b uint64, m Mode) (uint64, Flags) {
	return binary64.mul(m, binary64.unpack(a), binary64.unpack(b))
}

// Mul32 returns a · b.
func Mul32(a, b uint32, m Mode) (uint32, Flags) {
	return to32(binary32.mul(m, binary32.unpack(uint64(a)), binary32.unpack(uint64(b))))
}

// Div64 returns a / b.
func Div64(a, b uint64, m Mode) (uint64, Flags) {
	return binary64.div(m, binary64.unpack(a), binary64.unpack(b))
}

// Div32 returns a / b.
func Div32(a, b uint32, m Mode) (uint32, Flags) {
	return to32(binary32.div(m, binary32.unpack(uint64(a)), binary32.unpack(uint64(b))))
}

// Sqrt64 returns the square root of a.
func Sqrt64(a uint64, m Mode) (uint64, Flags) { return binary64.sqrt(m, binary64.unpack(a)) }

// Sqrt32 returns the square root of a.
func Sqrt32(a uint32, m Mode) (uint32, Flags) {
	return to32(binary32.sqrt(m, binary32.unpack(uint64(a))))
}

// FMA64 returns a·b + c with one rounding.
func FMA64(a, b, c uint64, m Mode) (uint64, Flags) {
	return binary64.fma(m, binary64.unpack(a), binary64.unpack(b), binary64.unpack(c))
}

// FMA32 returns a·b + c with one rounding.
func FMA32(a, b, c uint32, m Mode) (uint32, Flags) {
	return to32(binary32.fma(m, binary32.unpack(uint64(a)), binary32.unpack(uint64(b)), binary32.unpack(uint64(c))))
}

// convert rounds a number of another format to f.
func (f format) convert(m Mode, n number) (uint64, Flags) {
	switch n.class {
	case zero:
		return f.zero(n.neg), 0
	case inf:
		return f.inf(n.neg), 0
	case quiet, signalling:
		return f.propagate(n)
	}
	return f.pack(m, n.neg, n.exp, n.sig, false)
}

// From64 narrows a binary64 to a binary32.
func From64(a uint64, m Mode) (uint32, Flags) {
	return to32(binary32.convert(m, binary64.unpack(a)))
}

// From32 widens a binary32 to a binary64, which is exact.
func From32(a uint32) (uint64, Flags) {
	return binary64.convert(NearestEven, binary32.unpack(uint64(a)))
}

func (f format) fromInt(m Mode, neg bool, mag uint64) (uint64, Flags) {
	if mag == 0 {
		return f.zero(false), 0
	}
	s := bits.LeadingZeros64(mag)
	return f.pack(m, neg, 63-s, mag<<s, false)
}

func magnitude(v int64) (bool, uint64) {
	if v < 0 {
		return true, -uint64(v)
	}
	return false, uint64(v)
}

// Int64To64 converts a signed integer to binary64.
func Int64To64(v int64, m Mode) (uint64, Flags) {
	neg, mag := magnitude(v)
	return binary64.fromInt(m, neg, mag)
}

// Uint64To64 converts an unsigned integer to binary64.
func Uint64To64(v uint64, m Mode) (uint64, Flags) { return binary64.fromInt(m, false, v) }

// Int64To32 converts a signed integer to binary32.
func Int64To32(v int64, m Mode) (uint32, Flags) {
	neg, mag := magnitude(v)
	return to32(binary32.fromInt(m, neg, mag))
}

// Uint64To32 converts an unsigned integer to binary32.
func Uint64To32(v uint64, m Mode) (uint32, Flags) { return to32(binary32.fromInt(m, false, v)) }

// toInt rounds to an integer of the given width in bits and saturates: a value out
// of range, an infinity or a NaN (treated as positive) gives the nearest bound and
// raises only Invalid. Results, even unsigned 32-bit ones, are sign-extended from
// their width, as RISC-V registers hold them.
func toInt(m Mode, n number, width uint, signed bool) (uint64, Flags) {
	maxPos, maxNeg := uint64(1)<<(width-1)-1, uint64(1)<<(width-1)
	if !signed {
		maxPos, maxNeg = 1<<(width-1)<<1-1, 0
	}
	saturate := func(neg bool) (uint64, Flags) {
		if neg {
			return extend(-maxNeg, width), Invalid
		}
		return extend(maxPos, width), Invalid
	}
	var mag uint64
	var inexact bool
	switch {
	case n.nan():
		return saturate(false)
	case n.class == inf, n.class == finite && n.exp > 63:
		return saturate(n.neg)
	case n.class == zero:
		return 0, 0
	case n.exp >= -1:
		mag, inexact = shiftRound(m, n.neg, n.sig, uint(63-n.exp), false)
	default:
		mag, inexact = shiftRound(m, n.neg, 1, 2, true) // below a half
	}
	if n.neg && mag > maxNeg || !n.neg && mag > maxPos {
		return saturate(n.neg)
	}
	if n.neg {
		mag = -mag
	}
	if inexact {
		return extend(mag, width), Inexact
	}
	return extend(mag, width), 0
}

func extend(v uint64, width uint) uint64 {
	return uint64(int64(v<<(64-width)) >> (64 - width))
}

// ToInt64 converts a binary64 to an integer of 32 or 64 bits; see toInt.
func ToInt64(a uint64, m Mode, width uint, signed bool) (uint64, Flags) {
	return toInt(m, binary64.unpack(a), width, signed)
}

// ToInt32 converts a binary32 to an integer of 32 or 64 bits; see toInt.
func ToInt32(a uint32, m Mode, width uint, signed bool) (uint64, Flags) {
	return toInt(m, binary32.unpack(uint64(a)), width, signed)
}
