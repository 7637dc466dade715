//go:build linux && amd64

package rv64

import "presage/perf/engine/rv64/amd64asm"

// translatable reports whether translated code can execute an op, at least in
// common cases. It leaves the others to the interpreter.
func translatable(o *op) bool {
	switch c := o.code; {
	case c == opRounded || c == opFcvtSD || c == opFloat && floatKind(o.imm) >= floatCvtDLu && !o.toInteger():
		return o.rm != rmNearestAway // the host lacks this mode
	case c == opCsr:
		return o.csrInCode()
	case c >= opClmul && c <= opClmulr:
		return false // rare: cryptography and checksums
	}
	return o.code < opEcall
}

// source returns a host register that holds a guest register's value: the pinned
// one, or else scratch, which it loads. It may change the flags.
func (e *emitter) source(g uint8, scratch amd64asm.Reg) amd64asm.Reg {
	if h := e.pins[g]; h != unpinned {
		return amd64asm.Reg(h)
	}
	if g == 0 {
		e.Ins(amd64asm.Xor32, scratch, amd64asm.R(scratch))
		return scratch
	}
	e.Ins(amd64asm.Mov, scratch, slot(g))
	return scratch
}

// rm returns a guest register as an operand. x0's slot holds 0.
func (e *emitter) rm(g uint8) amd64asm.Operand {
	if h := e.pins[g]; h != unpinned {
		return amd64asm.R(amd64asm.Reg(h))
	}
	return slot(g)
}

// target returns the host register in which to compute a guest register; commit
// must follow.
func (e *emitter) target(g uint8, scratch amd64asm.Reg) amd64asm.Reg {
	if h := e.pins[g]; h != unpinned {
		return amd64asm.Reg(h)
	}
	return scratch
}

// commit sets guest register g to the value of host register h.
func (e *emitter) commit(g uint8, h amd64asm.Reg) {
	delete(e.known, g)
	switch p := e.pins[g]; {
	case g == regSink:
	case p == unpinned:
		e.Ins(amd64asm.Store, h, slot(g))
	default:
		e.dirty[g] = true
		e.move(amd64asm.Reg(p), h)
	}
}

// move copies a host register.
func (e *emitter) move(to, from amd64asm.Reg) {
	if to != from {
		e.Ins(amd64asm.Mov, to, amd64asm.R(from))
	}
}

// constant sets a guest register to a constant.
func (e *emitter) constant(g uint8, v uint64) {
	if g == regSink {
		return
	}
	defer func() { e.known[g] = v }()
	if e.pins[g] == unpinned && int64(v) == int64(int32(v)) {
		e.StoreConst(slot(g), int32(v))
		return
	}
	h := e.target(g, amd64asm.RCX)
	e.Const(h, v)
	e.commit(g, h)
}

// addImmediate sets rd = rs1 + imm.
func (e *emitter) addImmediate(rd, rs1 uint8, imm int32) {
	d := e.target(rd, amd64asm.RAX)
	switch s := e.pins[rs1]; {
	case s == int8(d):
		e.Imm(amd64asm.AddI, true, amd64asm.R(d), imm)
	case s != unpinned:
		e.Ins(amd64asm.Lea, d, amd64asm.M(amd64asm.Reg(s), imm))
	default:
		e.Ins(amd64asm.Mov, d, slot(rs1))
		e.Imm(amd64asm.AddI, true, amd64asm.R(d), imm)
	}
	e.commit(rd, d)
}

// binary sets rd = rs1 o rs2.
func (e *emitter) binary(o amd64asm.Op, rd, rs1, rs2 uint8, commutes bool) {
	d := e.target(rd, amd64asm.RAX)
	if y := e.rm(rs2); y.IsReg(d) && rs1 != rs2 {
		if commutes {
			e.Ins(o, d, e.rm(rs1))
			e.commit(rd, d)
			return
		}
		d = amd64asm.RAX
	}
	if x := e.rm(rs1); !x.IsReg(d) {
		e.Ins(amd64asm.Mov, d, x)
	}
	e.Ins(o, d, e.rm(rs2))
	e.commit(rd, d)
}

// immediate sets rd = rs1 g imm.
func (e *emitter) immediate(g amd64asm.Group1, o *op) {
	d := e.copyOf(o.rd, o.rs1)
	e.Imm(g, true, amd64asm.R(d), o.imm)
	e.commit(o.rd, d)
}

// shiftImmediate sets rd to rs1 shifted.
func (e *emitter) shiftImmediate(g amd64asm.Group2, rd, rs1 uint8, n uint8) {
	d := e.copyOf(rd, rs1)
	e.Shift(g, true, d, n)
	e.commit(rd, d)
}

// copyOf copies rs1 to the host register in which rd is computed, and returns it.
func (e *emitter) copyOf(rd, rs1 uint8) amd64asm.Reg {
	d := e.target(rd, amd64asm.RAX)
	if x := e.rm(rs1); !x.IsReg(d) {
		e.Ins(amd64asm.Mov, d, x)
	}
	return d
}

// shift sets rd to rs1 shifted by rs2, whose upper bits are ignored.
func (e *emitter) shift(g amd64asm.Group2, o *op, wide bool) {
	n := e.source(o.rs2, amd64asm.RCX)
	d := e.target(o.rd, amd64asm.RAX)
	e.Ins(amd64asm.ShiftX(g, n, wide), d, e.rm(o.rs1))
	e.extend(o.rd, d, wide)
}

// extend commits a result: 32 bits, sign-extended, unless wide.
func (e *emitter) extend(rd uint8, d amd64asm.Reg, wide bool) {
	if !wide {
		e.Ins(amd64asm.Movsxd, d, amd64asm.R(d))
	}
	e.commit(rd, d)
}

// word sets rd = rs1 o rs2 in 32 bits, sign-extended.
func (e *emitter) word(o amd64asm.Op, p *op) {
	e.Ins(amd64asm.Mov32, amd64asm.RAX, e.rm(p.rs1))
	e.Ins(o, amd64asm.RAX, e.rm(p.rs2))
	d := e.target(p.rd, amd64asm.RAX)
	e.Ins(amd64asm.Movsxd, d, amd64asm.R(amd64asm.RAX))
	e.commit(p.rd, d)
}

// wordShift sets rd to rs1 shifted by a constant in 32 bits, sign-extended.
func (e *emitter) wordShift(g amd64asm.Group2, p *op) {
	e.Ins(amd64asm.Mov32, amd64asm.RAX, e.rm(p.rs1))
	e.Shift(g, false, amd64asm.RAX, uint8(p.imm)&31)
	d := e.target(p.rd, amd64asm.RAX)
	e.Ins(amd64asm.Movsxd, d, amd64asm.R(amd64asm.RAX))
	e.commit(p.rd, d)
}

// set sets rd to 1 if the flags satisfy a condition, else to 0.
func (e *emitter) set(rd uint8, cc amd64asm.Cond) {
	e.Set(cc, amd64asm.RAX)
	d := e.target(rd, amd64asm.RAX)
	e.Ins(amd64asm.Movzx8, d, amd64asm.R(amd64asm.RAX))
	e.commit(rd, d)
}

// setLess sets rd to 1 if rs1 < imm, else to 0.
func (e *emitter) setLess(o *op, cc amd64asm.Cond) {
	if e.rm(o.rs1).InMemory() {
		e.Ins(amd64asm.Mov, amd64asm.RAX, e.rm(o.rs1))
		e.Imm(amd64asm.CmpI, true, amd64asm.R(amd64asm.RAX), o.imm)
	} else {
		e.Imm(amd64asm.CmpI, true, e.rm(o.rs1), o.imm)
	}
	e.set(o.rd, cc)
}

// mv copies a register, possibly between the integer and floating-point files.
func (e *emitter) mv(o *op) {
	switch d, s := e.pins[o.rd], e.pins[o.rs1]; {
	case o.rd < regFloat && o.rs1 < regFloat:
		h := e.target(o.rd, amd64asm.RAX)
		if s != int8(h) {
			e.Ins(amd64asm.Mov, h, e.rm(o.rs1))
		}
		e.commit(o.rd, h)
	case o.rd < regFloat:
		h := e.target(o.rd, amd64asm.RAX)
		if s != unpinned {
			e.Ins(amd64asm.MovqFrom, amd64asm.Reg(s), amd64asm.R(h))
		} else {
			e.Ins(amd64asm.Mov, h, slot(o.rs1))
		}
		e.commit(o.rd, h)
	case o.rs1 < regFloat:
		e.isBoxed[o.rd] = false
		if d != unpinned {
			e.Ins(amd64asm.MovqTo, amd64asm.Reg(d), e.rm(o.rs1))
			e.dirty[o.rd] = true
			e.pending.remove(o.rd)
			return
		}
		e.Ins(amd64asm.Store, e.source(o.rs1, amd64asm.RAX), slot(o.rd))
	default:
		e.commitFloat(o.rd, e.float(o.rs1, amd64asm.Reg(0)))
		e.isBoxed[o.rd] = e.isBoxed[o.rs1]
	}
}

// op emits an op that does not end its block; i is its index.
func (e *emitter) op(o *op, i int) {
	if !o.anyNaN() {
		e.settleReg(o.rs1)
		e.settleReg(o.rs2)
		e.settleReg(o.rs3)
	}
	switch c := o.code; {
	case c == opCheck:
		e.check(o, i)
	case c >= opLb && c <= opSdT || c >= opShlAddLd && c <= opShlAddLdT:
		e.access(o, i)
	case c == opAtomic || c == opAtomicT:
		e.atomic(o, i)
	case c >= opFaddD && c <= opRounded:
		e.floatingPoint(o, i)
	case c == opCsr:
		e.csr(o)
	case c >= opMul && c <= opRemuw:
		e.multiply(o)
	case c >= opAddUw && c <= opCzeroNez:
		e.bits(o)
	default:
		e.integer(o)
	}
}

func (e *emitter) integer(o *op) {
	switch o.code {
	case opConst:
		e.constant(o.rd, o.constant())
	case opMv:
		e.mv(o)
	case opAddi:
		e.addImmediate(o.rd, o.rs1, o.imm)
	case opSlti:
		e.setLess(o, amd64asm.L)
	case opSltiu:
		e.setLess(o, amd64asm.B)
	case opXori:
		e.immediate(amd64asm.XorI, o)
	case opOri:
		e.immediate(amd64asm.OrI, o)
	case opAndi:
		e.immediate(amd64asm.AndI, o)
	case opSlli:
		e.shiftImmediate(amd64asm.ShlI, o.rd, o.rs1, uint8(o.imm)&63)
	case opSrli:
		e.shiftImmediate(amd64asm.ShrI, o.rd, o.rs1, uint8(o.imm)&63)
	case opSrai:
		e.shiftImmediate(amd64asm.SarI, o.rd, o.rs1, uint8(o.imm)&63)
	case opAdd:
		e.add(o)
	case opSub:
		e.binary(amd64asm.Sub, o.rd, o.rs1, o.rs2, false)
	case opXor:
		e.binary(amd64asm.Xor, o.rd, o.rs1, o.rs2, true)
	case opOr:
		e.binary(amd64asm.Or, o.rd, o.rs1, o.rs2, true)
	case opAnd:
		e.binary(amd64asm.And, o.rd, o.rs1, o.rs2, true)
	case opSll:
		e.shift(amd64asm.ShlI, o, true)
	case opSrl:
		e.shift(amd64asm.ShrI, o, true)
	case opSra:
		e.shift(amd64asm.SarI, o, true)
	case opSlt, opSltu:
		e.compare(o.rs1, o.rs2)
		e.set(o.rd, map[code]amd64asm.Cond{opSlt: amd64asm.L, opSltu: amd64asm.B}[o.code])
	case opAddiw:
		e.Ins(amd64asm.Mov32, amd64asm.RAX, e.rm(o.rs1))
		e.Imm(amd64asm.AddI, false, amd64asm.R(amd64asm.RAX), o.imm)
		d := e.target(o.rd, amd64asm.RAX)
		e.Ins(amd64asm.Movsxd, d, amd64asm.R(amd64asm.RAX))
		e.commit(o.rd, d)
	case opSlliw:
		e.wordShift(amd64asm.ShlI, o)
	case opSrliw:
		e.wordShift(amd64asm.ShrI, o)
	case opSraiw:
		e.wordShift(amd64asm.SarI, o)
	case opAddw:
		e.word(amd64asm.Add32, o)
	case opSubw:
		e.word(amd64asm.Sub32, o)
	case opSllw:
		e.shift(amd64asm.ShlI, o, false)
	case opSrlw:
		e.shift(amd64asm.ShrI, o, false)
	case opSraw:
		e.shift(amd64asm.SarI, o, false)
	case opShlAdd:
		e.shiftAdd(o)
	default:
		panic("rv64: translator: no code for op")
	}
}

// add sets rd = rs1 + rs2, with LEA where that saves a copy.
func (e *emitter) add(o *op) {
	d := e.target(o.rd, amd64asm.RAX)
	x, y := e.pins[o.rs1], e.pins[o.rs2]
	if x != unpinned && y != unpinned && x != int8(d) && y != int8(d) {
		e.Ins(amd64asm.Lea, d, amd64asm.MX(amd64asm.Reg(x), amd64asm.Reg(y), 0, 0))
		e.commit(o.rd, d)
		return
	}
	e.binary(amd64asm.Add, o.rd, o.rs1, o.rs2, true)
}

// shiftAdd emits the fused pair: rs3 = rs1<<imm, rd = rs3 + rs2. Here rs2 is never
// rs3: fuse rejects a pair whose addend is the register that the first instruction
// writes.
func (e *emitter) shiftAdd(o *op) {
	if o.rs3 == o.rd {
		d := amd64asm.RAX
		if uint8(o.imm)&63 <= 3 && e.pins[o.rs1] != unpinned && e.pins[o.rs2] != unpinned {
			d = e.target(o.rd, d) // one instruction
		}
		e.shiftedSum(d, o.rs1, o.rs2, uint8(o.imm)&63)
		e.commit(o.rd, d)
		return
	}
	e.shiftImmediate(amd64asm.ShlI, o.rs3, o.rs1, uint8(o.imm)&63)
	e.add(&op{rd: o.rd, rs1: o.rs3, rs2: o.rs2})
}
