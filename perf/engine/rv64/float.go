package rv64

import (
	"math"

	"presage/perf/engine/rv64/softfloat"
)

// Floating point. The interpreter computes with the host's hardware, which rounds
// to nearest even, and uses the result unchanged if
//
//   - thread.fast is set: the dynamic rounding mode is nearest even and the
//     inexact flag is already raised, so exactness need not be determined, and
//   - the result is normal and not the smallest normal number, which rules out
//     overflow, underflow, division by zero and an invalid operation.
//
// Otherwise it calls the methods below. They handle the common cases (exact
// zeros; inexactness, determined from the residual) in hardware too and leave the
// rest to softfloat. A program's first rounded result raises inexact, which
// stays raised, so nearly all operations take the fast path.

const (
	boxed = 0xffffffff00000000 // upper half of a register that holds a binary32
	signD = uint64(1) << 63
	signS = uint64(1) << 31

	exactD = 1 << 53          // integers up to this magnitude are exact in binary64
	maxW   = float64(1 << 31) // exclusive bound of 32-bit conversions

	rmNearestEven = 0
	rmTowardZero  = 1
	rmDown        = 2
	rmUp          = 3
	rmNearestAway = 4
	rmLast        = rmNearestAway // 5 and 6 are reserved, and 7 in frm
	rmDynamic     = 7

	// tiny is far enough above the subnormal range that a residual of a
	// product or quotient with this magnitude is exact.
	tiny = 0x1p-900
)

// unbox returns the binary32 in a register, or the canonical NaN if it is not
// properly NaN-boxed.
func unbox(v uint64) uint64 {
	if v>>32 != boxed>>32 {
		return uint64(softfloat.NaN32)
	}
	return v & 0xffffffff
}

// raise accrues exception flags, unless the instruction turned out to be illegal.
func (t *thread) raise(f softfloat.Flags) {
	if t.badRounding {
		return
	}
	t.fflags |= f
	t.fast = t.frm == rmNearestEven && t.fflags&softfloat.Inexact != 0
}

// mode returns an op's effective rounding mode. A reserved dynamic mode makes
// the instruction illegal.
func (t *thread) mode(o *op) softfloat.Mode {
	rm := o.rm
	if rm == rmDynamic {
		rm = t.frm
		if rm > uint8(softfloat.NearestAway) {
			t.badRounding = true
		}
	}
	return softfloat.Mode(rm)
}

// normalD reports whether a binary64 is normal and not the smallest normal
// number.
func normalD(v float64) bool { return math.Float64bits(v)>>52&0x7ff-2 < 0x7fd }

func normalS(v float32) bool { return math.Float32bits(v)>>23&0xff-2 < 0xfd }

// inexactIf raises inexact if c holds: the residual is nonzero.
func (t *thread) inexactIf(c bool) {
	if c {
		t.raise(softfloat.Inexact)
	}
}

func (t *thread) soft64(v uint64, f softfloat.Flags) uint64 {
	if f != 0 {
		t.raise(f)
	}
	return v
}

func (t *thread) soft32(v uint32, f softfloat.Flags) uint64 {
	if f != 0 {
		t.raise(f)
	}
	return boxed | uint64(v)
}

func (t *thread) addD(o *op) uint64 { return t.addBits(t.x[o.rs1], t.x[o.rs2], t.mode(o)) }

func (t *thread) subD(o *op) uint64 { return t.addBits(t.x[o.rs1], t.x[o.rs2]^signD, t.mode(o)) }

func (t *thread) addBits(x, y uint64, m softfloat.Mode) uint64 {
	a, b := math.Float64frombits(x), math.Float64frombits(y)
	if s := a + b; m == softfloat.NearestEven && (s == 0 || normalD(s)) {
		// Knuth's two-sum: the exact error of s (TAOCP 2, 4.2.2, theorem B).
		v := s - a
		t.inexactIf((a-(s-v))+(b-v) != 0)
		return math.Float64bits(s)
	}
	return t.soft64(softfloat.Add64(x, y, m))
}

func (t *thread) mulD(o *op) uint64 {
	x, y, m := t.x[o.rs1], t.x[o.rs2], t.mode(o)
	a, b := math.Float64frombits(x), math.Float64frombits(y)
	p := a * b
	switch {
	case m != softfloat.NearestEven:
	case p == 0 && (a == 0 || b == 0):
		return math.Float64bits(p)
	case normalD(p) && math.Abs(p) > tiny:
		t.inexactIf(math.FMA(a, b, -p) != 0)
		return math.Float64bits(p)
	}
	return t.soft64(softfloat.Mul64(x, y, m))
}

func (t *thread) divD(o *op) uint64 {
	x, y, m := t.x[o.rs1], t.x[o.rs2], t.mode(o)
	a, b := math.Float64frombits(x), math.Float64frombits(y)
	q := a / b
	switch {
	case m != softfloat.NearestEven:
	case a == 0 && q == 0 && !math.IsInf(b, 0):
		return math.Float64bits(q)
	case normalD(q) && normalD(b) && math.Abs(a) > tiny:
		t.inexactIf(math.FMA(-q, b, a) != 0)
		return math.Float64bits(q)
	}
	return t.soft64(softfloat.Div64(x, y, m))
}

func (t *thread) sqrtD(o *op) uint64 {
	x, m := t.x[o.rs1], t.mode(o)
	a := math.Float64frombits(x)
	if q := math.Sqrt(a); m == softfloat.NearestEven && a > tiny && normalD(q) {
		t.inexactIf(math.FMA(-q, q, a) != 0)
		return math.Float64bits(q)
	}
	return t.soft64(softfloat.Sqrt64(x, m))
}

// fmaSigns returns whether fused op c negates the product and the addend.
func fmaSigns(c code) (product, addend bool) {
	switch c {
	case opFmsubD, opFmsubS:
		return false, true
	case opFnmsubD, opFnmsubS:
		return true, false
	case opFnmaddD, opFnmaddS:
		return true, true
	}
	return false, false
}

// arithmetic returns the arithmetic operation of o, which an opRounded holds in
// imm and any other op in code.
func arithmetic(o *op) code {
	if o.code == opRounded {
		return code(o.imm)
	}
	return o.code
}

func (t *thread) fmaD(o *op) uint64 {
	x, y, z, m := t.x[o.rs1], t.x[o.rs2], t.x[o.rs3], t.mode(o)
	product, addend := fmaSigns(arithmetic(o))
	if product {
		x ^= signD
	}
	if addend {
		z ^= signD
	}
	a, b, c := math.Float64frombits(x), math.Float64frombits(y), math.Float64frombits(z)
	v := math.FMA(a, b, c)
	if m == softfloat.NearestEven && (v == 0 && c == 0 && (a == 0 || b == 0) || normalD(v) && t.fflags&softfloat.Inexact != 0) {
		return math.Float64bits(v)
	}
	return t.soft64(softfloat.FMA64(x, y, z, m))
}

func (t *thread) addS(o *op) uint64 {
	return t.addBitsS(uint32(unbox(t.x[o.rs1])), uint32(unbox(t.x[o.rs2])), t.mode(o))
}

func (t *thread) subS(o *op) uint64 {
	return t.addBitsS(uint32(unbox(t.x[o.rs1])), uint32(unbox(t.x[o.rs2]))^1<<31, t.mode(o))
}

func (t *thread) addBitsS(x, y uint32, m softfloat.Mode) uint64 {
	a, b := math.Float32frombits(x), math.Float32frombits(y)
	if s := a + b; m == softfloat.NearestEven && (s == 0 || normalS(s)) {
		v := s - a
		t.inexactIf((a-(s-v))+(b-v) != 0)
		return boxed | uint64(math.Float32bits(s))
	}
	return t.soft32(softfloat.Add32(x, y, m))
}

func (t *thread) mulS(o *op) uint64 {
	x, y, m := uint32(unbox(t.x[o.rs1])), uint32(unbox(t.x[o.rs2])), t.mode(o)
	a, b := math.Float32frombits(x), math.Float32frombits(y)
	p := a * b
	if m == softfloat.NearestEven && (normalS(p) || p == 0 && (a == 0 || b == 0)) {
		t.inexactIf(float64(a)*float64(b) != float64(p)) // the product of two 24-bit significands is exact
		return boxed | uint64(math.Float32bits(p))
	}
	return t.soft32(softfloat.Mul32(x, y, m))
}

func (t *thread) divS(o *op) uint64 {
	x, y, m := uint32(unbox(t.x[o.rs1])), uint32(unbox(t.x[o.rs2])), t.mode(o)
	a, b := math.Float32frombits(x), math.Float32frombits(y)
	if q := a / b; m == softfloat.NearestEven && normalS(q) {
		t.inexactIf(float64(q)*float64(b) != float64(a))
		return boxed | uint64(math.Float32bits(q))
	}
	return t.soft32(softfloat.Div32(x, y, m))
}

func (t *thread) sqrtS(o *op) uint64 {
	x, m := uint32(unbox(t.x[o.rs1])), t.mode(o)
	a := math.Float32frombits(x)
	// A binary64 root has more than 2·24 + 2 bits, so double rounding is
	// harmless.
	if q := float32(math.Sqrt(float64(a))); m == softfloat.NearestEven && normalS(q) {
		t.inexactIf(float64(q)*float64(q) != float64(a))
		return boxed | uint64(math.Float32bits(q))
	}
	return t.soft32(softfloat.Sqrt32(x, m))
}

func (t *thread) fmaS(o *op) uint64 {
	x, y, z := uint32(unbox(t.x[o.rs1])), uint32(unbox(t.x[o.rs2])), uint32(unbox(t.x[o.rs3]))
	m := t.mode(o)
	product, addend := fmaSigns(arithmetic(o))
	if product {
		x ^= 1 << 31
	}
	if addend {
		z ^= 1 << 31
	}
	a, b, c := math.Float32frombits(x), math.Float32frombits(y), math.Float32frombits(z)
	v := fma32(a, b, c)
	if m == softfloat.NearestEven && (v == 0 && c == 0 && (a == 0 || b == 0) || normalS(v) && t.fflags&softfloat.Inexact != 0) {
		return boxed | uint64(math.Float32bits(v))
	}
	return t.soft32(softfloat.FMA32(x, y, z, m))
}

// fma32 returns a·b + c with one rounding. The product is exact in binary64; the
// sum is rounded to odd there (the lowest bit is sticky), so that the second
// rounding is correct (Boldo and Melquiond, "Emulation of FMA and correctly
// rounded sums: proved algorithms using rounding to odd", 2008).
func fma32(a, b, c float32) float32 {
	p, d := float64(a)*float64(b), float64(c)
	s := p + d
	v := s - p
	e := (p - (s - v)) + (d - v)
	if e != 0 {
		u := math.Float64bits(s)
		if u&1 == 0 {
			if (e > 0) == (s > 0) {
				u++
			} else {
				u--
			}
			s = math.Float64frombits(u)
		}
	}
	return float32(s)
}

// rounded returns the result of an arithmetic op in its rounding mode.
func (t *thread) rounded(o *op) uint64 {
	switch arithmetic(o) {
	case opFaddD:
		return t.addD(o)
	case opFsubD:
		return t.subD(o)
	case opFmulD:
		return t.mulD(o)
	case opFdivD:
		return t.divD(o)
	case opFsqrtD:
		return t.sqrtD(o)
	case opFaddS:
		return t.addS(o)
	case opFsubS:
		return t.subS(o)
	case opFmulS:
		return t.mulS(o)
	case opFdivS:
		return t.divS(o)
	case opFsqrtS:
		return t.sqrtS(o)
	case opFcvtSD:
		return t.fcvtSD(o)
	case opFmaddS, opFmsubS, opFnmsubS, opFnmaddS:
		return t.fmaS(o)
	}
	return t.fmaD(o)
}
