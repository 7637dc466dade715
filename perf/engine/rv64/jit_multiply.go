//go:build linux && amd64

package rv64

import "presage/perf/engine/rv64/amd64asm"

// multiply emits the "M" extension (see integer.go for its special cases).
func (e *emitter) multiply(o *op) {
	switch o.code {
	case opMul:
		e.binary(amd64asm.IMul2, o.rd, o.rs1, o.rs2, true)
	case opMulw:
		e.word(amd64asm.IMul32, o)
	case opMulh, opMulhu, opMulhsu:
		e.mulHigh(o)
	case opDiv, opRem:
		e.divide(o, true, true, o.code == opRem)
	case opDivu, opRemu:
		e.divide(o, true, false, o.code == opRemu)
	case opDivw, opRemw:
		e.divide(o, false, true, o.code == opRemw)
	case opDivuw, opRemuw:
		e.divide(o, false, false, o.code == opRemuw)
	}
}

func (e *emitter) mulHigh(o *op) {
	e.Ins(amd64asm.Mov, amd64asm.RAX, e.rm(o.rs1))
	g := amd64asm.IMul
	if o.code != opMulh {
		g = amd64asm.Mul
	}
	e.Unary(g, true, e.rm(o.rs2))
	if o.code == opMulhsu {
		// The unsigned product takes a negative rs1 as 2^64 too large.
		e.Ins(amd64asm.Mov, amd64asm.RAX, e.rm(o.rs1))
		e.Shift(amd64asm.SarI, true, amd64asm.RAX, 63)
		e.Ins(amd64asm.And, amd64asm.RAX, e.rm(o.rs2))
		e.Ins(amd64asm.Sub, amd64asm.RDX, amd64asm.R(amd64asm.RAX))
	}
	e.commit(o.rd, amd64asm.RDX)
}

// divide emits a division. Division by 0 gives quotient -1 and the dividend as the
// remainder. Division by -1 negates the dividend and gives remainder 0, without
// IDIV, which would trap on overflow.
func (e *emitter) divide(o *op, wide, signed, remainder bool) {
	zero, minus, done := e.NewLabel(), e.NewLabel(), e.NewLabel()
	mov, test := amd64asm.Mov, amd64asm.Test
	if !wide {
		mov, test = amd64asm.Mov32, amd64asm.Test32
	}
	e.Ins(mov, amd64asm.RCX, e.rm(o.rs2))
	e.Ins(mov, amd64asm.RAX, e.rm(o.rs1))
	e.Ins(test, amd64asm.RCX, amd64asm.R(amd64asm.RCX))
	e.Jcc(amd64asm.E, zero)
	if signed {
		e.Imm(amd64asm.CmpI, wide, amd64asm.R(amd64asm.RCX), -1)
		e.Jcc(amd64asm.E, minus)
		e.SignAX(wide)
		e.Unary(amd64asm.IDiv, wide, amd64asm.R(amd64asm.RCX))
	} else {
		e.Ins(amd64asm.Xor32, amd64asm.RDX, amd64asm.R(amd64asm.RDX))
		e.Unary(amd64asm.Div, wide, amd64asm.R(amd64asm.RCX))
	}
	if remainder {
		e.Ins(amd64asm.Mov, amd64asm.RAX, amd64asm.R(amd64asm.RDX))
	}
	e.Bind(done)
	e.extend(o.rd, amd64asm.RAX, wide)
	e.cold = append(e.cold, func() {
		e.Bind(zero)
		if !remainder {
			e.Const(amd64asm.RAX, ^uint64(0))
		}
		e.Jmp(done)
		e.Bind(minus)
		if remainder {
			e.Ins(amd64asm.Xor32, amd64asm.RAX, amd64asm.R(amd64asm.RAX))
		} else {
			e.Unary(amd64asm.Neg, wide, amd64asm.R(amd64asm.RAX))
		}
		e.Jmp(done)
	})
}
