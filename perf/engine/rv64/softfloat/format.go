// Package softfloat computes IEEE 754 binary32 and binary64 operations exactly as
// RISC-V defines them: operands and results are bit patterns, the rounding mode is
// an argument, and the exceptions raised are a result. It is the engine's slow
// path, and the reference against which the fast path is tested.
//
// Every operation unpacks its operands into sign, exponent and a normalised
// 64-bit significand, computes with 128 bits and one sticky bit, and rounds
// once. NaN results are canonical. Tininess is detected after rounding, as
// RISC-V requires ("F" chapter of the unprivileged specification, 20191213,
// section 11.2).
package softfloat

import "math/bits"

// Flags are accrued exceptions, with the bit positions of fflags.
type Flags uint8

// The exceptions.
const (
	Inexact Flags = 1 << iota
	Underflow
	Overflow
	DivideByZero
	Invalid
)

// Mode is a rounding mode, with the encoding of frm.
type Mode uint8

// The rounding modes.
const (
	NearestEven Mode = iota
	TowardZero
	Down
	Up
	NearestAway
)

// Canonical NaNs.
const (
	NaN32 uint32 = 0x7fc00000
	NaN64 uint64 = 0x7ff8000000000000
)

// format describes a binary interchange format: its precision (significand bits
// including the hidden one) and exponent bounds.
type format struct {
	prec, expBits uint
	emin, emax    int
}

var (
	binary32 = format{prec: 24, expBits: 8, emin: -126, emax: 127}
	binary64 = format{prec: 53, expBits: 11, emin: -1022, emax: 1023}
)

type class uint8

const (
	finite class = iota // not zero
	zero
	inf
	quiet
	signalling
)

// number is an unpacked operand. A finite one is sig/2^63 · 2^exp with bit 63
// of sig set.
type number struct {
	class class
	neg   bool
	exp   int
	sig   uint64
}

func (n number) nan() bool { return n.class >= quiet }

func (f format) unpack(b uint64) number {
	frac := f.prec - 1
	sig := b & (1<<frac - 1)
	e := int(b >> frac & (1<<f.expBits - 1))
	n := number{neg: b>>(frac+f.expBits)&1 != 0}
	switch {
	case e == 1<<f.expBits-1 && sig == 0:
		n.class = inf
	case e == 1<<f.expBits-1:
		n.class = signalling
		if sig>>(frac-1) != 0 {
			n.class = quiet
		}
	case e == 0 && sig == 0:
		n.class = zero
	case e == 0:
		shift := bits.LeadingZeros64(sig)
		n.sig = sig << shift
		n.exp = f.emin + 63 - int(frac) - shift
	default:
		n.sig = (sig | 1<<frac) << (63 - frac)
		n.exp = e - f.emax
	}
	return n
}

func (f format) sign(neg bool) uint64 {
	if neg {
		return 1 << (f.prec - 1 + f.expBits)
	}
	return 0
}

func (f format) zero(neg bool) uint64 { return f.sign(neg) }

func (f format) inf(neg bool) uint64 {
	return f.sign(neg) | (1<<f.expBits-1)<<(f.prec-1)
}

func (f format) nan() uint64 { return f.inf(false) | 1<<(f.prec-2) }

// invalid returns the result of an invalid operation: the canonical NaN.
func (f format) invalid() (uint64, Flags) { return f.nan(), Invalid }

// propagate returns the result of an operation with a NaN among its operands.
func (f format) propagate(operands ...number) (uint64, Flags) {
	for _, n := range operands {
		if n.class == signalling {
			return f.nan(), Invalid
		}
	}
	return f.nan(), 0
}

// roundUp reports whether a magnitude is rounded away from zero, given the parity
// of the lowest bit kept and how the discarded part compares with half of it.
func roundUp(m Mode, neg, odd, overHalf, half, any bool) bool {
	switch m {
	case NearestEven:
		return overHalf || half && odd
	case NearestAway:
		return overHalf || half
	case Down:
		return neg && any
	case Up:
		return !neg && any
	}
	return false
}

// shiftRound rounds away the low s bits of sig, with sticky for nonzero bits below
// them, and reports whether the result is inexact.
func shiftRound(m Mode, neg bool, sig uint64, s uint, sticky bool) (kept uint64, inexact bool) {
	var rest, halfBit uint64
	switch {
	case s == 0:
		rest, halfBit, kept = 0, 0, sig
		if !sticky {
			return kept, false
		}
		// Less than half a unit in the last place: only directed modes round up.
		if roundUp(m, neg, kept&1 != 0, false, false, true) {
			kept++
		}
		return kept, true
	case s < 64:
		kept, rest, halfBit = sig>>s, sig&(1<<s-1), 1<<(s-1)
	case s == 64:
		kept, rest, halfBit = 0, sig, 1<<63
	default:
		sticky = sticky || sig != 0
		kept, rest, halfBit = 0, 0, 1
	}
	overHalf := rest > halfBit || rest == halfBit && sticky
	half := rest == halfBit && !sticky
	inexact = rest != 0 || sticky
	if roundUp(m, neg, kept&1 != 0, overHalf, half, inexact) {
		kept++
	}
	return kept, inexact
}

// pack rounds sig/2^63 · 2^exp to the format. Bit 63 of sig is set; sticky means
// that there are nonzero bits below sig.
func (f format) pack(m Mode, neg bool, exp int, sig uint64, sticky bool) (uint64, Flags) {
	drop := 64 - f.prec
	if exp < f.emin {
		return f.packSubnormal(m, neg, exp, sig, sticky)
	}
	kept, inexact := shiftRound(m, neg, sig, drop, sticky)
	if kept>>f.prec != 0 {
		kept >>= 1
		exp++
	}
	if exp > f.emax {
		return f.overflow(m, neg)
	}
	r := f.sign(neg) | uint64(exp+f.emax)<<(f.prec-1) | kept&(1<<(f.prec-1)-1)
	if inexact {
		return r, Inexact
	}
	return r, 0
}

func (f format) packSubnormal(m Mode, neg bool, exp int, sig uint64, sticky bool) (uint64, Flags) {
	drop := 64 - f.prec
	kept, inexact := shiftRound(m, neg, sig, drop+uint(min(f.emin-exp, 128)), sticky)
	// A carry into the hidden bit makes the exponent field 1: no special case.
	r := f.sign(neg) | kept
	if !inexact {
		return r, 0
	}
	tiny := true
	if exp == f.emin-1 {
		full, _ := shiftRound(m, neg, sig, drop, sticky)
		tiny = full>>f.prec == 0
	}
	if tiny {
		return r, Inexact | Underflow
	}
	return r, Inexact
}

func (f format) overflow(m Mode, neg bool) (uint64, Flags) {
	r := f.inf(neg)
	if m == TowardZero || m == Down && !neg || m == Up && neg {
		r-- // the largest finite number
	}
	return r, Overflow | Inexact
}

// shiftJam shifts the 128-bit hi:lo right by s; bits shifted out are or-ed into
// the lowest bit.
func shiftJam(hi, lo uint64, s uint) (uint64, uint64) {
	switch {
	case s == 0:
		return hi, lo
	case s < 64:
		lost := lo << (64 - s)
		lo = hi<<(64-s) | lo>>s
		if lost != 0 {
			lo |= 1
		}
		return hi >> s, lo
	case s < 128:
		lost := lo
		if s > 64 {
			lost |= hi << (128 - s)
		}
		lo = hi >> (s - 64)
		if lost != 0 {
			lo |= 1
		}
		return 0, lo
	}
	if hi|lo != 0 {
		return 0, 1
	}
	return 0, 0
}

// wide is a finite magnitude (hi:lo)/2^127 · 2^exp with a sign.
type wide struct {
	neg    bool
	exp    int
	hi, lo uint64
}

// addWide adds two nonzero magnitudes with signs and rounds.
func (f format) addWide(m Mode, a, b wide) (uint64, Flags) {
	// One bit of head room for the carry; the operands' lowest bits are zero
	// (at most 106 of 128 bits are significant).
	a.hi, a.lo = shiftJam(a.hi, a.lo, 1)
	b.hi, b.lo = shiftJam(b.hi, b.lo, 1)
	if a.exp < b.exp || a.exp == b.exp && (a.hi < b.hi || a.hi == b.hi && a.lo < b.lo) {
		a, b = b, a
	}
	b.hi, b.lo = shiftJam(b.hi, b.lo, uint(a.exp-b.exp))
	var hi, lo, c uint64
	if a.neg == b.neg {
		lo, c = bits.Add64(a.lo, b.lo, 0)
		hi, _ = bits.Add64(a.hi, b.hi, c)
	} else {
		lo, c = bits.Sub64(a.lo, b.lo, 0)
		hi, _ = bits.Sub64(a.hi, b.hi, c)
	}
	neg := a.neg
	if hi|lo == 0 {
		return f.zero(m == Down), 0
	}
	exp := a.exp + 1
	return f.packWide(m, neg, exp, hi, lo)
}

func (f format) packWide(m Mode, neg bool, exp int, hi, lo uint64) (uint64, Flags) {
	if hi == 0 {
		hi, lo = lo, 0
		exp -= 64
	}
	if s := uint(bits.LeadingZeros64(hi)); s > 0 {
		hi = hi<<s | lo>>(64-s)
		lo <<= s
		exp -= int(s)
	}
	return f.pack(m, neg, exp, hi, lo != 0)
}

func (f format) add(m Mode, a, b number) (uint64, Flags) {
	switch {
	case a.nan() || b.nan():
		return f.propagate(a, b)
	case a.class == inf && b.class == inf && a.neg != b.neg:
		return f.invalid()
	case a.class == inf:
		return f.inf(a.neg), 0
	case b.class == inf:
		return f.inf(b.neg), 0
	case a.class == zero && b.class == zero:
		if a.neg == b.neg {
			return f.zero(a.neg), 0
		}
		return f.zero(m == Down), 0
	case a.class == zero:
		return f.pack(m, b.neg, b.exp, b.sig, false)
	case b.class == zero:
		return f.pack(m, a.neg, a.exp, a.sig, false)
	}
	return f.addWide(m, wide{a.neg, a.exp, a.sig, 0}, wide{b.neg, b.exp, b.sig, 0})
}

func (f format) mul(m Mode, a, b number) (uint64, Flags) {
	neg := a.neg != b.neg
	switch {
	case a.nan() || b.nan():
		return f.propagate(a, b)
	case a.class == inf && b.class == zero, a.class == zero && b.class == inf:
		return f.invalid()
	case a.class == inf || b.class == inf:
		return f.inf(neg), 0
	case a.class == zero || b.class == zero:
		return f.zero(neg), 0
	}
	hi, lo := bits.Mul64(a.sig, b.sig)
	return f.packWide(m, neg, a.exp+b.exp+1, hi, lo)
}

func (f format) div(m Mode, a, b number) (uint64, Flags) {
	neg := a.neg != b.neg
	switch {
	case a.nan() || b.nan():
		return f.propagate(a, b)
	case a.class == inf && b.class == inf, a.class == zero && b.class == zero:
		return f.invalid()
	case a.class == inf:
		return f.inf(neg), 0
	case b.class == inf, a.class == zero:
		return f.zero(neg), 0
	case b.class == zero:
		return f.inf(neg), DivideByZero
	}
	// (a/2)·2^64 / b is in (2^62, 2^64): a.sig>>1 < 2^63 <= b.sig.
	q, rem := bits.Div64(a.sig>>1, a.sig<<63, b.sig)
	exp := a.exp - b.exp
	if q>>63 == 0 {
		// One more quotient bit keeps 64 of them; the remainder doubles.
		carry := rem >> 63
		rem <<= 1
		q <<= 1
		if carry != 0 || rem >= b.sig {
			rem -= b.sig
			q |= 1
		}
		exp--
	}
	return f.pack(m, neg, exp, q, rem != 0)
}

func (f format) sqrt(m Mode, a number) (uint64, Flags) {
	switch {
	case a.nan():
		return f.propagate(a)
	case a.class == zero:
		return f.zero(a.neg), 0
	case a.neg:
		return f.invalid()
	case a.class == inf:
		return f.inf(false), 0
	}
	// sig·2^63 (even exponent) or sig·2^64 (odd) has a 64-bit root with the
	// top bit set.
	hi, lo := a.sig>>1, a.sig<<63
	exp := a.exp
	if exp&1 != 0 {
		hi, lo = a.sig, 0
		exp--
	}
	root, exact := sqrt128(hi, lo)
	return f.pack(m, false, exp/2, root, !exact)
}

// sqrt128 returns the integer square root of hi:lo, bit by bit.
func sqrt128(hi, lo uint64) (root uint64, exact bool) {
	for bit := uint64(1) << 63; bit != 0; bit >>= 1 {
		try := root | bit
		h, l := bits.Mul64(try, try)
		if h < hi || h == hi && l <= lo {
			root = try
		}
	}
	h, l := bits.Mul64(root, root)
	return root, h == hi && l == lo
}

// fma computes a·b + c with one rounding.
func (f format) fma(m Mode, a, b, c number) (uint64, Flags) {
	neg := a.neg != b.neg
	if a.class == inf && b.class == zero || a.class == zero && b.class == inf {
		return f.invalid() // even when c is a quiet NaN
	}
	switch {
	case a.nan() || b.nan() || c.nan():
		return f.propagate(a, b, c)
	case a.class == inf || b.class == inf:
		if c.class == inf && c.neg != neg {
			return f.invalid()
		}
		return f.inf(neg), 0
	case c.class == inf:
		return f.inf(c.neg), 0
	case a.class == zero || b.class == zero:
		if c.class == zero {
			if c.neg == neg {
				return f.zero(neg), 0
			}
			return f.zero(m == Down), 0
		}
		return f.pack(m, c.neg, c.exp, c.sig, false)
	}
	hi, lo := bits.Mul64(a.sig, b.sig)
	exp := a.exp + b.exp + 1
	if hi>>63 == 0 {
		hi, lo = hi<<1|lo>>63, lo<<1
		exp--
	}
	if c.class == zero {
		return f.packWide(m, neg, exp, hi, lo)
	}
	return f.addWide(m, wide{neg, exp, hi, lo}, wide{c.neg, c.exp, c.sig, 0})
}
