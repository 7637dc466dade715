//go:build linux && amd64

package rv64

import "presage/perf/engine/rv64/amd64asm"

// Conversions between integers and floating-point numbers. From integers, the
// host has the signed conversions only. To integers, it has signed 64-bit
// conversions that round towards zero and to nearest even. So a number is first
// rounded to an integral value in its own format, without raising a flag; then its
// range is checked, because beyond the range RISC-V saturates and raises invalid
// instead of inexact, which is left to the interpreter; then inexact is raised.

// nearestEven reports whether an op, in translated code, rounds in the mode that
// MXCSR holds.
func (o *op) nearestEven() bool { return o.rm == rmNearestEven || o.rm == rmDynamic }

// toInteger reports whether an op converts to an integer.
func (o *op) toInteger() bool {
	if o.code != opFloat {
		return o.code == opFcvtWD || o.code == opFcvtLD
	}
	switch floatKind(o.imm) {
	case floatCvtWuD, floatCvtLuD, floatCvtWS, floatCvtWuS, floatCvtLS, floatCvtLuS:
		return true
	}
	return false
}

// convert emits conversions and moves of binary32 patterns.
func (e *emitter) convert(o *op, i int) {
	switch o.code {
	case opFcvtDW:
		e.Ins(amd64asm.Xorps, scratchX, amd64asm.R(scratchX)) // break the dependence on the old value
		e.Ins(amd64asm.Cvtsi2sd32, scratchX, e.rm(o.rs1))
		e.commitFloat(o.rd, scratchX)
		e.isBoxed[o.rd] = false
	case opFcvtDL:
		e.fromLong(o, i)
	case opFcvtWD, opFcvtLD:
		e.toInteger(o, i)
	case opFcvtDS:
		e.needBox(i, o.rs1)
		e.Ins(amd64asm.Cvtss2sd, scratchX, e.rm(o.rs1))
		e.canonical(scratchX, false)
		e.commitFloat(o.rd, scratchX)
		e.isBoxed[o.rd] = false
	case opFcvtSD:
		e.moveFloat(scratchX, e.float(o.rs1, scratchX))
		e.inMode(o, func() { e.Ins(amd64asm.Cvtsd2ss, scratchX, amd64asm.R(scratchX)) })
		e.Ins(amd64asm.Orps, scratchX, amd64asm.At(e.j.constants.box))
		e.canonical(scratchX, true)
		e.commitFloat(o.rd, scratchX)
		e.isBoxed[o.rd] = true
	case opFmvXW:
		e.lowHalf(amd64asm.RAX, o.rs1)
		e.extend(o.rd, amd64asm.RAX, false)
	case opFmvWX:
		e.Ins(amd64asm.Mov32, amd64asm.RAX, e.rm(o.rs1))
		e.Ins(amd64asm.MovqTo, scratchX, amd64asm.R(amd64asm.RAX))
		e.Ins(amd64asm.Orps, scratchX, amd64asm.At(e.j.constants.box))
		e.commitFloat(o.rd, scratchX)
		e.isBoxed[o.rd] = true
	case opFloat:
		if o.toInteger() {
			e.toInteger(o, i)
			return
		}
		e.fromInteger(o)
	default:
		panic("rv64: translator: no code for op")
	}
}

// lowHalf sets a host register to the lower half of a float register.
func (e *emitter) lowHalf(to amd64asm.Reg, g uint8) {
	if h := e.pins[g]; h != unpinned {
		e.Ins(amd64asm.MovdFrom, amd64asm.Reg(h), amd64asm.R(to))
		return
	}
	e.Ins(amd64asm.Mov32, to, slot(g))
}

// fromLong emits fcvt.d.l. Programs round to integral values by converting to an
// integer and back in the same static mode; the way back is exact in any mode.
func (e *emitter) fromLong(o *op, i int) {
	convert := func(rm amd64asm.Operand) {
		e.Ins(amd64asm.Xorps, scratchX, amd64asm.R(scratchX))
		e.Ins(amd64asm.Cvtsi2sd, scratchX, rm)
	}
	if o.nearestEven() {
		convert(e.rm(o.rs1))
	} else {
		far, done := e.NewLabel(), e.NewLabel()
		e.Ins(amd64asm.Mov, amd64asm.RAX, e.rm(o.rs1))
		e.Ins(amd64asm.Mov, amd64asm.RCX, amd64asm.R(amd64asm.RAX))
		e.Shift(amd64asm.SarI, true, amd64asm.RCX, 53)
		e.Imm(amd64asm.AddI, true, amd64asm.R(amd64asm.RCX), 1)
		e.Imm(amd64asm.CmpI, true, amd64asm.R(amd64asm.RCX), 1)
		e.Jcc(amd64asm.A, far) // not from -2^53 to 2^53-1
		convert(amd64asm.R(amd64asm.RAX))
		e.Bind(done)
		bail := e.bail(i)
		e.cold = append(e.cold, func() {
			e.Bind(far)
			if o.rm == rmNearestAway {
				e.Jmp(bail)
				return
			}
			e.inMode(o, func() { convert(amd64asm.R(amd64asm.RAX)) })
			e.Jmp(done)
		})
	}
	e.commitFloat(o.rd, scratchX)
	e.isBoxed[o.rd] = false
}

// fromInteger emits the conversions from integers encoded as opFloat.
func (e *emitter) fromInteger(o *op) {
	k := floatKind(o.imm)
	load := map[floatKind]amd64asm.Op{
		floatCvtDWu: amd64asm.Mov32, floatCvtDLu: amd64asm.Mov,
		floatCvtSWu: amd64asm.Mov32, floatCvtSW: amd64asm.Movsxd, floatCvtSL: amd64asm.Mov, floatCvtSLu: amd64asm.Mov,
	}[k]
	convert, add, single := amd64asm.Cvtsi2ss, amd64asm.Arithmetic(amd64asm.FAdd, true), true
	if k == floatCvtDWu || k == floatCvtDLu {
		convert, add, single = amd64asm.Cvtsi2sd, amd64asm.Arithmetic(amd64asm.FAdd, false), false
	}
	e.Ins(load, amd64asm.RAX, e.rm(o.rs1))
	if k == floatCvtDWu {
		r := *o
		r.rm, o = rmNearestEven, &r // it is exact
	}
	e.Ins(amd64asm.Xorps, scratchX, amd64asm.R(scratchX))
	if k == floatCvtDLu || k == floatCvtSLu {
		e.fromUnsignedLong(o, convert, add)
	} else {
		e.inMode(o, func() { e.Ins(convert, scratchX, amd64asm.R(amd64asm.RAX)) })
	}
	if single {
		e.Ins(amd64asm.Orps, scratchX, amd64asm.At(e.j.constants.box))
	}
	e.commitFloat(o.rd, scratchX)
	e.isBoxed[o.rd] = single
}

// fromUnsignedLong converts RAX, unsigned, to XMM0. A value with the top bit set
// is halved before the conversion and doubled after it; the bit shifted out is
// kept as a sticky bit, far below the precision, so that the rounding and its flag
// are unchanged.
func (e *emitter) fromUnsignedLong(o *op, convert, add amd64asm.Op) {
	large, done := e.NewLabel(), e.NewLabel()
	e.Ins(amd64asm.Test, amd64asm.RAX, amd64asm.R(amd64asm.RAX))
	e.Jcc(amd64asm.S, large)
	e.inMode(o, func() { e.Ins(convert, scratchX, amd64asm.R(amd64asm.RAX)) })
	e.Bind(done)
	e.cold = append(e.cold, func() {
		e.Bind(large)
		e.Ins(amd64asm.Mov, amd64asm.RCX, amd64asm.R(amd64asm.RAX))
		e.Imm(amd64asm.AndI, false, amd64asm.R(amd64asm.RCX), 1)
		e.Shift(amd64asm.ShrI, true, amd64asm.RAX, 1)
		e.Ins(amd64asm.Or, amd64asm.RAX, amd64asm.R(amd64asm.RCX))
		e.inMode(o, func() { e.Ins(convert, scratchX, amd64asm.R(amd64asm.RAX)) })
		e.Ins(add, scratchX, amd64asm.R(scratchX))
		e.Jmp(done)
	})
}

// integerRange is the range of an integer type: from least, included if inclusive,
// up to but excluding most. Both are offsets of constants.
type integerRange struct {
	least, most int
	inclusive   bool
	unsigned64  bool
	word        bool
}

func (e *emitter) rangeOf(o *op) integerRange {
	c := &e.j.constants
	k := floatKind(o.imm)
	switch {
	case o.code == opFcvtWD || o.code == opFloat && k == floatCvtWS:
		return integerRange{least: c.minW, most: c.maxW, inclusive: true, word: true}
	case o.code == opFcvtLD || k == floatCvtLS:
		return integerRange{least: c.minL, most: c.maxL, inclusive: true}
	case k == floatCvtWuD || k == floatCvtWuS:
		return integerRange{least: c.minusOne, most: c.maxWu, word: true}
	}
	return integerRange{least: c.minusOne, most: c.maxLu, unsigned64: true}
}

// toInteger emits the conversions to integers.
func (e *emitter) toInteger(o *op, i int) {
	r := e.rangeOf(o)
	var x amd64asm.Reg
	if o.code == opFloat && floatKind(o.imm) >= floatCvtWS {
		// By way of binary64: exact but for a signalling NaN, which raises
		// invalid as it should and is out of range.
		e.needBox(i, o.rs1)
		e.Ins(amd64asm.Cvtss2sd, scratchX, e.rm(o.rs1))
		x = scratchX
	} else {
		x = e.float(o.rs1, scratchX)
	}
	f := amd64asm.Cvttsd2si
	switch {
	case o.rm == rmTowardZero:
		// The bounds hold before rounding too; values between -2^31-1 and
		// -2^31 are left to the interpreter.
	case o.nearestEven() && !r.word && !r.unsigned64:
		f = amd64asm.Cvtsd2si // all numbers near the bounds are integral
	default:
		raise := e.roundIntegral(o, x)
		e.fit(scratchY, r, i)
		raise()
		e.finishInteger(o.rd, scratchY, r, f)
		return
	}
	e.fit(x, r, i)
	e.finishInteger(o.rd, x, r, f)
}

// roundIntegral sets scratchY to x rounded to an integral value in the rounding
// mode of op o, without raising inexact, and returns a function that emits the
// raising of inexact if the value changed. It clobbers scratchX and RDX.
func (e *emitter) roundIntegral(o *op, x amd64asm.Reg) (raise func()) {
	if o.rm == rmNearestAway {
		// The fraction d = x - trunc(x) and 2d are exact; trunc(2d) is the
		// ±1 to add if |d| is a half or more.
		e.RoundSD(scratchY, amd64asm.R(x), amd64asm.RoundZero|amd64asm.RoundQuiet)
		e.moveFloat(scratchX, x)
		e.Ins(amd64asm.Arithmetic(amd64asm.FSub, false), scratchX, amd64asm.R(scratchY))
		e.Ins(amd64asm.MovqFrom, scratchX, amd64asm.R(amd64asm.RDX))
		e.Ins(amd64asm.Arithmetic(amd64asm.FAdd, false), scratchX, amd64asm.R(scratchX))
		e.RoundSD(scratchX, amd64asm.R(scratchX), amd64asm.RoundZero|amd64asm.RoundQuiet)
		e.Ins(amd64asm.Arithmetic(amd64asm.FAdd, false), scratchY, amd64asm.R(scratchX))
		return func() {
			e.Ins(amd64asm.MovqTo, scratchX, amd64asm.R(amd64asm.RDX))
			e.Ins(amd64asm.Cvttsd2si, amd64asm.RDX, amd64asm.R(scratchX))
		}
	}
	mode := map[uint8]amd64asm.Rounding{rmDown: amd64asm.RoundDown, rmUp: amd64asm.RoundUp}[o.rm] // else nearest
	e.RoundSD(scratchY, amd64asm.R(x), mode|amd64asm.RoundQuiet)
	return func() { e.RoundSD(scratchX, amd64asm.R(x), mode) }
}

// fit bails out to the interpreter unless x is in range. A NaN raises invalid
// here and nothing else, as it should.
func (e *emitter) fit(x amd64asm.Reg, r integerRange, i int) {
	e.Ins(amd64asm.Ucomisd, x, amd64asm.At(r.most))
	e.Jcc(amd64asm.AE, e.bail(i))
	e.Ins(amd64asm.Ucomisd, x, amd64asm.At(r.least))
	if r.inclusive {
		e.Jcc(amd64asm.B, e.bail(i)) // also unordered
		return
	}
	e.Jcc(amd64asm.BE, e.bail(i))
}

// finishInteger sets rd to x, which is in range, converted by f.
func (e *emitter) finishInteger(rd uint8, x amd64asm.Reg, r integerRange, f amd64asm.Op) {
	d := e.target(rd, amd64asm.RAX)
	if !r.unsigned64 {
		e.Ins(f, d, amd64asm.R(x))
		e.extend(rd, d, !r.word)
		return
	}
	large, done, half := e.NewLabel(), e.NewLabel(), e.j.constants.maxL
	e.Ins(amd64asm.Ucomisd, x, amd64asm.At(half))
	e.Jcc(amd64asm.AE, large)
	e.Ins(f, d, amd64asm.R(x))
	e.Bind(done)
	e.cold = append(e.cold, func() { // integral, and so is the difference
		e.Bind(large)
		e.moveFloat(scratchX, x)
		e.Ins(amd64asm.Arithmetic(amd64asm.FSub, false), scratchX, amd64asm.At(half))
		e.Ins(f, d, amd64asm.R(scratchX))
		e.Const(amd64asm.RCX, signD)
		e.Ins(amd64asm.Xor, d, amd64asm.R(amd64asm.RCX))
		e.Jmp(done)
	})
	e.commit(rd, d)
}

// classify emits fclass, which sets bit k: 0 to 7 for negative infinity, normal,
// subnormal and zero, then positive zero, subnormal, normal and infinity; 8 for a
// signalling NaN, 9 for a quiet one.
func (e *emitter) classify(o *op, i int) {
	single := floatKind(o.imm) == floatClassS
	normal, infinity, width, quiet := uint64(1)<<52, uint64(0x7ff)<<52, uint8(64), uint8(51)
	if single {
		e.needBox(i, o.rs1)
		normal, infinity, width, quiet = 1<<23, 0xff<<23, 32, 22
	}
	load := func(to amd64asm.Reg) {
		switch h := e.pins[o.rs1]; {
		case single:
			e.lowHalf(to, o.rs1)
		case h != unpinned:
			e.Ins(amd64asm.MovqFrom, amd64asm.Reg(h), amd64asm.R(to))
		default:
			e.Ins(amd64asm.Mov, to, slot(o.rs1))
		}
	}
	load(amd64asm.RAX)
	e.Shift(amd64asm.ShlI, !single, amd64asm.RAX, 1)
	e.Shift(amd64asm.ShrI, !single, amd64asm.RAX, 1)
	nan, done := e.NewLabel(), e.NewLabel()
	e.Const(amd64asm.RCX, infinity)
	e.Ins(amd64asm.Cmp, amd64asm.RAX, amd64asm.R(amd64asm.RCX))
	e.Jcc(amd64asm.A, nan)
	// k is 4 for zero, plus 1 for each bound that the magnitude reaches: subtract
	// -1, and then the comparison's carry.
	e.Const(amd64asm.RDX, 4)
	e.Imm(amd64asm.SbbI, false, amd64asm.R(amd64asm.RDX), -1)
	e.Const(amd64asm.RCX, normal)
	e.Ins(amd64asm.Cmp, amd64asm.RAX, amd64asm.R(amd64asm.RCX))
	e.Imm(amd64asm.SbbI, false, amd64asm.R(amd64asm.RDX), -1)
	e.Imm(amd64asm.CmpI, true, amd64asm.R(amd64asm.RAX), 1)
	e.Imm(amd64asm.SbbI, false, amd64asm.R(amd64asm.RDX), -1)
	// For a negative number k becomes 7-k.
	load(amd64asm.RAX)
	e.Shift(amd64asm.SarI, !single, amd64asm.RAX, width-1)
	e.Imm(amd64asm.AndI, false, amd64asm.R(amd64asm.RAX), 7)
	e.Ins(amd64asm.Xor32, amd64asm.RDX, amd64asm.R(amd64asm.RAX))
	e.Bind(done)
	e.Const(amd64asm.RAX, 1)
	e.Ins(amd64asm.ShiftX(amd64asm.ShlI, amd64asm.RDX, true), amd64asm.RAX, amd64asm.R(amd64asm.RAX))
	e.commit(o.rd, amd64asm.RAX)
	e.cold = append(e.cold, func() {
		e.Bind(nan)
		e.Ins(amd64asm.Mov, amd64asm.RDX, amd64asm.R(amd64asm.RAX))
		e.Shift(amd64asm.ShrI, true, amd64asm.RDX, quiet)
		e.Imm(amd64asm.AndI, false, amd64asm.R(amd64asm.RDX), 1)
		e.Imm(amd64asm.AddI, false, amd64asm.R(amd64asm.RDX), 8)
		e.Jmp(done)
	})
}
