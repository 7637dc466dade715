//go:build linux && amd64

package rv64

import (
	"unsafe"

	"presage/perf/engine/rv64/amd64asm"
)

// Translated floating-point code runs with MXCSR rounding to nearest even, except
// around single instructions with another static mode (inMode), and with all
// exceptions masked. MXCSR's sticky flags are then the flags that RISC-V accrues
// (both detect tininess after rounding); jit.enter transfers them. Two things
// differ: RISC-V's NaN results are canonical (see pending), and its binary32 operands
// must be NaN-boxed. An operand that is not boxed is left to the interpreter. A vaddss
// copies the upper half of its first operand, the box, to the result.

const (
	scratchX = amd64asm.Reg(0)
	scratchY = amd64asm.Reg(1)
)

// float returns a vector register that holds a guest register's value: the pinned
// one, or else scratch, which it loads.
func (e *emitter) float(g uint8, scratch amd64asm.Reg) amd64asm.Reg {
	if h := e.pins[g]; h != unpinned {
		return amd64asm.Reg(h)
	}
	e.Ins(amd64asm.Movq, scratch, slot(g))
	return scratch
}

// commitFloat sets guest register g to the value of vector register x.
func (e *emitter) commitFloat(g uint8, x amd64asm.Reg) {
	e.pending.remove(g)
	p := e.pins[g]
	if p == unpinned {
		e.Ins(amd64asm.MovqStore, x, slot(g))
		return
	}
	e.dirty[g] = true
	e.moveFloat(amd64asm.Reg(p), x)
}

func (e *emitter) moveFloat(to, from amd64asm.Reg) {
	if to != from {
		e.Ins(amd64asm.Movaps, to, amd64asm.R(from))
	}
}

// targetFloat returns the vector register to compute guest register g in.
func (e *emitter) targetFloat(g uint8) amd64asm.Reg {
	if h := e.pins[g]; h != unpinned {
		return amd64asm.Reg(h)
	}
	return scratchX
}

// needBox bails out to the interpreter at op i unless all regs hold boxed
// binary32 values.
func (e *emitter) needBox(i int, regs ...uint8) {
	for _, g := range regs {
		if e.isBoxed[g] {
			continue
		}
		e.isBoxed[g] = true
		if h := e.pins[g]; h != unpinned {
			e.Ins(amd64asm.MovqFrom, amd64asm.Reg(h), amd64asm.R(amd64asm.RAX))
		} else {
			e.Ins(amd64asm.Mov, amd64asm.RAX, slot(g))
		}
		e.Shift(amd64asm.ShrI, true, amd64asm.RAX, 32)
		e.Imm(amd64asm.CmpI, false, amd64asm.R(amd64asm.RAX), -1)
		e.Jcc(amd64asm.NE, e.bail(i))
	}
}

// canonical replaces a NaN in x by the canonical one.
func (e *emitter) canonical(x amd64asm.Reg, single bool) {
	test, nan := amd64asm.Ucomisd, e.j.constants.nanD
	if single {
		test, nan = amd64asm.Ucomiss, e.j.constants.nanS
	}
	fix, done := e.NewLabel(), e.NewLabel()
	e.Ins(test, x, amd64asm.R(x))
	e.Jcc(amd64asm.P, fix)
	e.Bind(done)
	e.cold = append(e.cold, func() {
		e.Bind(fix)
		e.Ins(amd64asm.Movq, x, amd64asm.At(nan))
		e.Jmp(done)
	})
}

// floatingPoint emits an op of the F and D extensions; i is its index.
func (e *emitter) floatingPoint(o *op, i int) {
	switch c := o.code; {
	case c >= opFaddD && c <= opFdivD:
		e.arithmetic(o, floatOpcodes[c-opFaddD], false)
	case c >= opFaddS && c <= opFdivS:
		e.needBox(i, o.rs1, o.rs2)
		e.arithmetic(o, floatOpcodes[c-opFaddS], true)
	case c == opFsqrtD || c == opFsqrtS:
		e.sqrt(o, i)
	case c >= opFmaddD && c <= opFnmaddD:
		e.fma(o, fmaOpcodes[c-opFmaddD], false, i)
	case c >= opFmaddS && c <= opFnmaddS:
		e.needBox(i, o.rs1, o.rs2, o.rs3)
		e.fma(o, fmaOpcodes[c-opFmaddS], true, i)
	case c >= opFsgnjD && c <= opFsgnjxD:
		e.sign(o, o.code-opFsgnjD, e.j.constants.signD, e.j.constants.absD)
		e.isBoxed[o.rd] = false
	case c >= opFsgnjS && c <= opFsgnjxS:
		e.needBox(i, o.rs1, o.rs2)
		e.sign(o, o.code-opFsgnjS, e.j.constants.signS, e.j.constants.absS)
		e.isBoxed[o.rd] = true
	case c >= opFeqD && c <= opFleS:
		e.floatCompare(o, i)
	case c == opFloat && floatKind(o.imm) <= floatMaxS:
		e.minMax(o, i)
	case c == opFloat && floatKind(o.imm) <= floatClassS:
		e.classify(o, i)
	case c == opRounded:
		r := *o
		r.code = code(o.imm)
		e.floatingPoint(&r, i)
	default:
		e.convert(o, i)
	}
}

// inMode emits ins so that it executes in the rounding mode of op o. Flags already
// raised stay raised.
func (e *emitter) inMode(o *op, ins func()) {
	if o.nearestEven() {
		ins()
		return
	}
	// RISC-V's encoding is nearest, towards zero, down, up; MXCSR's, from bit
	// 13, is nearest, down, up, towards zero.
	mode := map[uint8]int32{rmTowardZero: 3, rmDown: 1, rmUp: 2}[o.rm] << 13
	mxcsr := frame(unsafe.Offsetof(jitFrame{}.mxcsr))
	e.StoreMXCSR(mxcsr)
	e.Imm(amd64asm.OrI, false, mxcsr, mode)
	e.LoadMXCSR(mxcsr)
	ins()
	e.StoreMXCSR(mxcsr)
	e.Imm(amd64asm.AndI, false, mxcsr, ^(3 << 13))
	e.LoadMXCSR(mxcsr)
}

var (
	floatOpcodes = [...]byte{amd64asm.FAdd, amd64asm.FSub, amd64asm.FMul, amd64asm.FDiv}
	// In the order of the ops from opFmaddD on. RISC-V's fnmsub negates only
	// the product, fnmadd the whole sum.
	fmaOpcodes = [...]byte{amd64asm.FMAdd, amd64asm.FMSub, amd64asm.FNMAdd, amd64asm.FNMSub}
)

// arithmetic sets rd = rs1 o rs2.
func (e *emitter) arithmetic(o *op, opcode byte, single bool) {
	d, x := e.targetFloat(o.rd), e.float(o.rs1, scratchX)
	e.inMode(o, func() { e.Ins(amd64asm.Arithmetic3(opcode, x, single), d, e.rm(o.rs2)) })
	e.result(o.rd, d, single)
}

// result sets rd to the result of arithmetic in x.
func (e *emitter) result(rd uint8, x amd64asm.Reg, single bool) {
	later := !single && e.pins[rd] != unpinned
	if !later {
		e.canonical(x, single)
	}
	e.commitFloat(rd, x)
	e.isBoxed[rd] = single
	if later {
		e.pending.add(rd)
	}
}

func (e *emitter) sqrt(o *op, i int) {
	single := o.code == opFsqrtS
	if single {
		e.needBox(i, o.rs1)
	}
	d := e.targetFloat(o.rd)
	e.moveFloat(d, e.float(o.rs1, d))
	e.inMode(o, func() { e.Ins(amd64asm.Arithmetic(amd64asm.FSqrt, single), d, amd64asm.R(d)) })
	e.result(o.rd, d, single)
}

// fma sets rd = ±(rs1·rs2) ± rs3. A NaN result is left to the interpreter, with the
// operands as they were: for ∞·0 plus a quiet NaN, RISC-V raises invalid and the host
// does not.
func (e *emitter) fma(o *op, opcode byte, single bool, i int) {
	d := e.targetFloat(o.rd)
	replaced := d != scratchX && (o.rd == o.rs1 || o.rd == o.rs2 || o.rd == o.rs3)
	if replaced {
		e.moveFloat(scratchX, d) // for the interpreter
	}
	var ins amd64asm.Op
	var rm amd64asm.Operand
	switch {
	case replaced && o.rd == o.rs1:
		ins, rm = amd64asm.FMA213(opcode, e.float(o.rs2, scratchY), single), e.rm(o.rs3)
	case replaced && o.rd == o.rs2:
		ins, rm = amd64asm.FMA213(opcode, e.float(o.rs1, scratchY), single), e.rm(o.rs3)
	default:
		ins, rm = amd64asm.FMA(opcode, e.float(o.rs1, scratchY), single), e.rm(o.rs2)
		e.moveFloat(d, e.float(o.rs3, d))
	}
	e.inMode(o, func() { e.Ins(ins, d, rm) })
	test := amd64asm.Ucomisd
	if single {
		test = amd64asm.Ucomiss
	}
	e.Ins(test, d, amd64asm.R(d))
	e.Jcc(amd64asm.P, e.unless(i, replaced, d))
	e.commitFloat(o.rd, d)
	e.isBoxed[o.rd] = single
}

// unless returns the label of code that hands op i to the interpreter, after it has
// restored a register that scratchX has the value of, if that is necessary.
func (e *emitter) unless(i int, restore bool, d amd64asm.Reg) amd64asm.Label {
	bail := e.bail(i)
	if !restore {
		return bail
	}
	l := e.NewLabel()
	e.cold = append(e.cold, func() {
		e.Bind(l)
		e.moveFloat(d, scratchX)
		e.Jmp(bail)
	})
	return l
}

// sign emits sign injection: the sign of rs2 (kind 0), its complement (1), or the
// exclusive or of both operands' signs (2).
func (e *emitter) sign(o *op, kind code, sign, abs int) {
	switch {
	case o.rs1 == o.rs2 && kind == 0:
		e.moveFloat(scratchX, e.float(o.rs1, scratchX))
	case o.rs1 == o.rs2 && kind == 1: // fneg
		e.moveFloat(scratchX, e.float(o.rs1, scratchX))
		e.Ins(amd64asm.Xorps, scratchX, amd64asm.At(sign))
	case o.rs1 == o.rs2: // fabs
		e.moveFloat(scratchX, e.float(o.rs1, scratchX))
		e.Ins(amd64asm.Andps, scratchX, amd64asm.At(abs))
	default:
		e.moveFloat(scratchY, e.float(o.rs2, scratchY))
		if kind == 1 {
			e.Ins(amd64asm.Andnps, scratchY, amd64asm.At(sign))
		} else {
			e.Ins(amd64asm.Andps, scratchY, amd64asm.At(sign))
		}
		e.moveFloat(scratchX, e.float(o.rs1, scratchX))
		if kind == 2 {
			e.Ins(amd64asm.Xorps, scratchX, amd64asm.R(scratchY))
		} else {
			e.Ins(amd64asm.Andps, scratchX, amd64asm.At(abs))
			e.Ins(amd64asm.Orps, scratchX, amd64asm.R(scratchY))
		}
	}
	e.commitFloat(o.rd, scratchX)
}

// floatCompare emits feq, flt and fle. UCOMIS raises invalid only for a signalling
// NaN, as feq requires; COMIS raises it for any NaN, as flt and fle require. An
// unordered result sets the zero, parity and carry flags.
func (e *emitter) floatCompare(o *op, i int) {
	quiet, loud := amd64asm.Ucomisd, amd64asm.Comisd
	c := o.code
	if c >= opFeqS {
		quiet, loud = amd64asm.Ucomiss, amd64asm.Comiss
		c -= opFeqS - opFeqD
		e.needBox(i, o.rs1, o.rs2)
	}
	switch c {
	case opFeqD:
		e.Ins(quiet, e.float(o.rs1, scratchX), e.rm(o.rs2))
		e.Set(amd64asm.NP, amd64asm.RCX)
		e.Set(amd64asm.E, amd64asm.RAX)
		e.Ins(amd64asm.And, amd64asm.RAX, amd64asm.R(amd64asm.RCX))
		d := e.target(o.rd, amd64asm.RAX)
		e.Ins(amd64asm.Movzx8, d, amd64asm.R(amd64asm.RAX))
		e.commit(o.rd, d)
	case opFltD:
		e.Ins(loud, e.float(o.rs2, scratchX), e.rm(o.rs1))
		e.set(o.rd, amd64asm.A)
	default:
		e.Ins(loud, e.float(o.rs2, scratchX), e.rm(o.rs1))
		e.set(o.rd, amd64asm.AE)
	}
}

// minMax emits fmin and fmax. If the operands are equal, they may still be zeros of
// opposite sign, so the minimum is the bitwise or of the patterns and the maximum
// the and. NaNs are left to the interpreter.
func (e *emitter) minMax(o *op, i int) {
	k := floatKind(o.imm)
	single, larger := k == floatMinS || k == floatMaxS, k == floatMaxD || k == floatMaxS
	test, equal := amd64asm.Ucomisd, amd64asm.Orps
	if single {
		test = amd64asm.Ucomiss
		e.needBox(i, o.rs1, o.rs2)
	}
	keep := amd64asm.B
	if larger {
		keep, equal = amd64asm.A, amd64asm.Andps
	}
	e.moveFloat(scratchX, e.float(o.rs1, scratchX))
	y := e.float(o.rs2, scratchY)
	same, done := e.NewLabel(), e.NewLabel()
	e.Ins(test, scratchX, amd64asm.R(y))
	e.Jcc(amd64asm.P, e.bail(i))
	e.Jcc(amd64asm.E, same)
	e.Jcc(keep, done)
	e.moveFloat(scratchX, y)
	e.Bind(done)
	e.commitFloat(o.rd, scratchX)
	e.isBoxed[o.rd] = single
	e.cold = append(e.cold, func() {
		e.Bind(same)
		e.Ins(equal, scratchX, amd64asm.R(y))
		e.Jmp(done)
	})
}
