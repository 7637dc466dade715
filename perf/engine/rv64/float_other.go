package rv64

import (
	"math"

	"presage/perf/engine/rv64/softfloat"
)

// unordered is the result of a comparison with a NaN: false, and invalid for
// a signalling comparison or operand.
func (t *thread) unordered(x, y uint64, signals bool) uint64 {
	if signals || signallingD(x) || signallingD(y) {
		t.raise(softfloat.Invalid)
	}
	return 0
}

func (t *thread) unorderedS(x, y uint64, signals bool) uint64 {
	if signals || signallingS(unbox(x)) || signallingS(unbox(y)) {
		t.raise(softfloat.Invalid)
	}
	return 0
}

func signallingD(v uint64) bool {
	return v&^signD > 0x7ff0000000000000 && v>>51&1 == 0
}

func signallingS(v uint64) bool {
	return v&^signS > 0x7f800000 && v>>22&1 == 0
}

func (t *thread) fcvtDL(o *op) uint64 {
	return t.soft64(softfloat.Int64To64(int64(t.x[o.rs1]), t.mode(o)))
}

func (t *thread) fcvtToInt(o *op) uint64 {
	width := uint(64)
	if o.code == opFcvtWD {
		width = 32
	}
	return t.soft64(softfloat.ToInt64(t.x[o.rs1], t.mode(o), width, true))
}

func (t *thread) fcvtDS(v uint64) uint64 {
	return t.soft64(softfloat.From32(uint32(unbox(v))))
}

func (t *thread) fcvtSD(o *op) uint64 {
	x, m := t.x[o.rs1], t.mode(o)
	d := math.Float64frombits(x)
	if s := float32(d); m == softfloat.NearestEven && (normalS(s) || d == 0) {
		t.inexactIf(float64(s) != d)
		return boxed | uint64(math.Float32bits(s))
	}
	return t.soft32(softfloat.From64(x, m))
}

// floatOp executes a floating-point operation that has no case of its own in
// exec.
func (t *thread) floatOp(o *op) {
	x, y := t.x[o.rs1], t.x[o.rs2]
	s := uint32(unbox(x))
	var v uint64
	switch k := floatKind(o.imm); k {
	case floatMinD, floatMaxD:
		v = t.minMaxD(x, y, k == floatMaxD)
	case floatMinS, floatMaxS:
		v = boxed | t.minMaxS(unbox(x), unbox(y), k == floatMaxS)
	case floatClassD:
		v = classify(x>>63 != 0, x>>52&0x7ff, 0x7ff, x&(1<<52-1), x>>51&1 != 0)
	case floatClassS:
		v = classify(s>>31 != 0, uint64(s>>23&0xff), 0xff, uint64(s&(1<<23-1)), s>>22&1 != 0)
	case floatCvtWuD:
		v = t.soft64(softfloat.ToInt64(x, t.mode(o), 32, false))
	case floatCvtLuD:
		v = t.soft64(softfloat.ToInt64(x, t.mode(o), 64, false))
	case floatCvtDWu:
		t.mode(o) // the mode does not affect the result, but must be valid
		v = math.Float64bits(float64(uint32(x)))
	case floatCvtDLu:
		v = t.soft64(softfloat.Uint64To64(x, t.mode(o)))
	case floatCvtWS:
		v = t.soft64(softfloat.ToInt32(s, t.mode(o), 32, true))
	case floatCvtWuS:
		v = t.soft64(softfloat.ToInt32(s, t.mode(o), 32, false))
	case floatCvtLS:
		v = t.soft64(softfloat.ToInt32(s, t.mode(o), 64, true))
	case floatCvtLuS:
		v = t.soft64(softfloat.ToInt32(s, t.mode(o), 64, false))
	case floatCvtSW:
		v = t.soft32(softfloat.Int64To32(int64(int32(x)), t.mode(o)))
	case floatCvtSWu:
		v = t.soft32(softfloat.Uint64To32(uint64(uint32(x)), t.mode(o)))
	case floatCvtSL:
		v = t.soft32(softfloat.Int64To32(int64(x), t.mode(o)))
	case floatCvtSLu:
		v = t.soft32(softfloat.Uint64To32(x, t.mode(o)))
	}
	if !t.badRounding {
		t.x[o.rd] = v
	}
}

// minMaxD returns the minimum or maximum as IEEE 754-201x minimumNumber does:
// -0 < +0, and a number wins over a NaN.
func (t *thread) minMaxD(x, y uint64, larger bool) uint64 {
	if signallingD(x) || signallingD(y) {
		t.raise(softfloat.Invalid)
	}
	nanX, nanY := x&^signD > 0x7ff<<52, y&^signD > 0x7ff<<52
	switch {
	case nanX && nanY:
		return softfloat.NaN64
	case nanX:
		return y
	case nanY:
		return x
	}
	if less := order(x, 63) < order(y, 63); less != larger {
		return x
	}
	return y
}

func (t *thread) minMaxS(x, y uint64, larger bool) uint64 {
	if signallingS(x) || signallingS(y) {
		t.raise(softfloat.Invalid)
	}
	nanX, nanY := x&^signS > 0xff<<23, y&^signS > 0xff<<23
	switch {
	case nanX && nanY:
		return uint64(softfloat.NaN32)
	case nanX:
		return y
	case nanY:
		return x
	}
	if less := order(x, 31) < order(y, 31); less != larger {
		return x
	}
	return y
}

// order maps the bit pattern of a number other than NaN to an integer, preserving
// the order, with -0 below +0.
func order(v uint64, sign uint) int64 {
	if v>>sign != 0 {
		return -int64(v&^(1<<sign)) - 1
	}
	return int64(v)
}

// classify returns fclass's mask (specification 20191213, table 11.5).
func classify(neg bool, exp, maxExp, frac uint64, quiet bool) uint64 {
	pick := func(negative, positive uint) uint64 {
		if neg {
			return 1 << negative
		}
		return 1 << positive
	}
	switch {
	case exp == maxExp && frac != 0 && quiet:
		return 1 << 9
	case exp == maxExp && frac != 0:
		return 1 << 8
	case exp == maxExp:
		return pick(0, 7)
	case exp == 0 && frac == 0:
		return pick(3, 4)
	case exp == 0:
		return pick(2, 5)
	}
	return pick(1, 6)
}
