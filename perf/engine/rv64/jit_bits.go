//go:build linux && amd64

package rv64

import "presage/perf/engine/rv64/amd64asm"

// bits emits Zba, Zbb, Zbs and Zicond.
func (e *emitter) bits(o *op) {
	switch o.code {
	case opSh1add:
		e.scaledAdd(o, 1, false)
	case opSh2add:
		e.scaledAdd(o, 2, false)
	case opSh3add:
		e.scaledAdd(o, 3, false)
	case opAddUw:
		e.scaledAdd(o, 0, true)
	case opSh1addUw:
		e.scaledAdd(o, 1, true)
	case opSh2addUw:
		e.scaledAdd(o, 2, true)
	case opSh3addUw:
		e.scaledAdd(o, 3, true)
	case opSlliUw:
		e.Ins(amd64asm.Mov32, amd64asm.RAX, e.rm(o.rs1))
		e.Shift(amd64asm.ShlI, true, amd64asm.RAX, uint8(o.imm)&63)
		e.commit(o.rd, amd64asm.RAX)
	case opSextB:
		e.Ins(amd64asm.Mov, amd64asm.RAX, e.rm(o.rs1))
		e.Ins(amd64asm.Movsx8, amd64asm.RAX, amd64asm.R(amd64asm.RAX))
		e.commit(o.rd, amd64asm.RAX)
	case opClz:
		e.unary(amd64asm.Lzcnt, o)
	case opCtz:
		e.unary(amd64asm.Tzcnt, o)
	case opCpop:
		e.unary(amd64asm.Popcnt, o)
	case opClzw:
		e.unary(amd64asm.Lzcnt32, o)
	case opCtzw:
		e.unary(amd64asm.Tzcnt32, o)
	case opCpopw:
		e.unary(amd64asm.Popcnt32, o)
	case opSextH:
		e.unary(amd64asm.Movsx16, o)
	case opZextH:
		e.unary(amd64asm.Movzx16, o)
	case opRev8:
		d := e.copyOf(o.rd, o.rs1)
		e.Bswap(d)
		e.commit(o.rd, d)
	case opOrcB:
		e.combine(o)
	case opMax, opMaxu, opMin, opMinu:
		e.extremum(o)
	case opCzeroEqz, opCzeroNez:
		e.zeroIf(o)
	default:
		e.logic(o)
	}
}

// logic emits rotations, logical operations with a complemented operand, and
// single-bit operations.
func (e *emitter) logic(o *op) {
	switch o.code {
	case opAndn:
		n := e.source(o.rs2, amd64asm.RCX)
		d := e.target(o.rd, amd64asm.RAX)
		e.Ins(amd64asm.Andn(n), d, e.rm(o.rs1))
		e.commit(o.rd, d)
	case opOrn, opXnor:
		e.Ins(amd64asm.Mov, amd64asm.RAX, e.rm(o.rs2))
		e.Unary(amd64asm.Not, true, amd64asm.R(amd64asm.RAX))
		f := amd64asm.Or
		if o.code == opXnor {
			f = amd64asm.Xor
		}
		e.Ins(f, amd64asm.RAX, e.rm(o.rs1))
		e.commit(o.rd, amd64asm.RAX)
	case opRol:
		e.rotate(amd64asm.RolI, o, true)
	case opRor:
		e.rotate(amd64asm.RorI, o, true)
	case opRolw:
		e.rotate(amd64asm.RolI, o, false)
	case opRorw:
		e.rotate(amd64asm.RorI, o, false)
	case opRori:
		e.shiftImmediate(amd64asm.RorI, o.rd, o.rs1, uint8(o.imm)&63)
	case opRoriw:
		e.wordShift(amd64asm.RorI, o)
	case opBclr:
		e.bit(amd64asm.Btr, o)
	case opBinv:
		e.bit(amd64asm.Btc, o)
	case opBset:
		e.bit(amd64asm.Bts, o)
	case opBclri:
		e.bitImmediate(amd64asm.Btr, o)
	case opBinvi:
		e.bitImmediate(amd64asm.Btc, o)
	case opBseti:
		e.bitImmediate(amd64asm.Bts, o)
	case opBext, opBexti:
		if o.code == opBext {
			n := e.source(o.rs2, amd64asm.RCX)
			e.Ins(amd64asm.ShiftX(amd64asm.ShrI, n, true), amd64asm.RAX, e.rm(o.rs1))
		} else {
			e.Ins(amd64asm.Mov, amd64asm.RAX, e.rm(o.rs1))
			e.Shift(amd64asm.ShrI, true, amd64asm.RAX, uint8(o.imm)&63)
		}
		e.Imm(amd64asm.AndI, false, amd64asm.R(amd64asm.RAX), 1)
		e.commit(o.rd, amd64asm.RAX)
	default:
		panic("rv64: translator: no code for op")
	}
}

// scaledAdd sets rd = rs1<<scale + rs2, with only the low half of rs1 if word.
func (e *emitter) scaledAdd(o *op, scale uint8, word bool) {
	x := amd64asm.RAX
	if word {
		e.Ins(amd64asm.Mov32, x, e.rm(o.rs1))
	} else {
		x = e.source(o.rs1, amd64asm.RAX)
	}
	y := e.source(o.rs2, amd64asm.RCX)
	d := e.target(o.rd, amd64asm.RAX)
	e.Ins(amd64asm.Lea, d, amd64asm.MX(y, x, scale, 0))
	e.commit(o.rd, d)
}

// unary sets rd = f(rs1).
func (e *emitter) unary(f amd64asm.Op, o *op) {
	d := e.target(o.rd, amd64asm.RAX)
	e.Ins(f, d, e.rm(o.rs1))
	e.commit(o.rd, d)
}

// combine emits orc.b: each byte of rd is 0 if the byte of rs1 is 0, else 0xff.
func (e *emitter) combine(o *op) {
	if s := e.rm(o.rs1); s.InMemory() {
		e.Ins(amd64asm.Movq, scratchX, s)
	} else {
		e.Ins(amd64asm.MovqTo, scratchX, s)
	}
	e.Ins(amd64asm.Xorps, scratchY, amd64asm.R(scratchY))
	e.Ins(amd64asm.Pcmpeqb, scratchX, amd64asm.R(scratchY))
	d := e.target(o.rd, amd64asm.RAX)
	e.Ins(amd64asm.MovqFrom, scratchX, amd64asm.R(d))
	e.Unary(amd64asm.Not, true, amd64asm.R(d))
	e.commit(o.rd, d)
}

func (e *emitter) extremum(o *op) {
	cc := map[code]amd64asm.Cond{opMax: amd64asm.L, opMaxu: amd64asm.B, opMin: amd64asm.G, opMinu: amd64asm.A}[o.code]
	e.Ins(amd64asm.Mov, amd64asm.RAX, e.rm(o.rs1))
	e.Ins(amd64asm.Cmp, amd64asm.RAX, e.rm(o.rs2))
	e.Ins(amd64asm.CMov(cc), amd64asm.RAX, e.rm(o.rs2))
	e.commit(o.rd, amd64asm.RAX)
}

// zeroIf sets rd = rs1, or 0 if rs2 is zero (czero.eqz) or nonzero (czero.nez).
func (e *emitter) zeroIf(o *op) {
	cc := amd64asm.E
	if o.code == opCzeroNez {
		cc = amd64asm.NE
	}
	e.Ins(amd64asm.Mov, amd64asm.RCX, e.rm(o.rs2))
	e.Ins(amd64asm.Mov, amd64asm.RAX, e.rm(o.rs1))
	e.Ins(amd64asm.Xor32, amd64asm.RDX, amd64asm.R(amd64asm.RDX))
	e.Ins(amd64asm.Test, amd64asm.RCX, amd64asm.R(amd64asm.RCX))
	e.Ins(amd64asm.CMov(cc), amd64asm.RAX, amd64asm.R(amd64asm.RDX))
	e.commit(o.rd, amd64asm.RAX)
}

func (e *emitter) rotate(g amd64asm.Group2, o *op, wide bool) {
	e.Ins(amd64asm.Mov, amd64asm.RCX, e.rm(o.rs2))
	e.Ins(amd64asm.Mov, amd64asm.RAX, e.rm(o.rs1))
	e.RotateCL(g, wide, amd64asm.RAX)
	e.extend(o.rd, amd64asm.RAX, wide)
}

// bit applies f to bit rs2 of rs1. The register forms of BTx take the bit number
// modulo 64.
func (e *emitter) bit(f amd64asm.Op, o *op) {
	n := e.source(o.rs2, amd64asm.RCX)
	e.Ins(amd64asm.Mov, amd64asm.RAX, e.rm(o.rs1))
	e.Ins(f, n, amd64asm.R(amd64asm.RAX))
	e.commit(o.rd, amd64asm.RAX)
}

func (e *emitter) bitImmediate(f amd64asm.Op, o *op) {
	e.Const(amd64asm.RCX, uint64(o.imm)&63)
	e.Ins(amd64asm.Mov, amd64asm.RAX, e.rm(o.rs1))
	e.Ins(f, amd64asm.RCX, amd64asm.R(amd64asm.RAX))
	e.commit(o.rd, amd64asm.RAX)
}
