// Package amd64asm assembles amd64 machine code into bytes, with labels. It covers
// the instructions that the translator of RISC-V code needs.
//
// An instruction is described by an Op (its prefix, opcode map, opcode and
// operand width), and takes a register and a register-or-memory operand, in
// the order of the opcode's "reg, r/m" form unless it is named Store.
package amd64asm

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Reg is the number of a general-purpose or vector register.
type Reg uint8

// The general-purpose registers.
const (
	RAX Reg = iota
	RCX
	RDX
	RBX
	RSP
	RBP
	RSI
	RDI
	R8
	R9
	R10
	R11
	R12
	R13
	R14
	R15
)

// Operand is a register or memory operand.
type Operand struct {
	kind        operandKind
	base, index Reg
	scale       uint8 // log2
	disp        int32
}

type operandKind uint8

const (
	kindReg operandKind = iota
	kindBase
	kindIndex
	kindCode
)

// R returns register r as an operand.
func R(r Reg) Operand { return Operand{kind: kindReg, base: r} }

// M returns the memory operand at base+disp.
func M(base Reg, disp int32) Operand { return Operand{kind: kindBase, base: base, disp: disp} }

// MX returns the memory operand at base + index<<scale + disp. The index must not
// be RSP.
func MX(base, index Reg, scale uint8, disp int32) Operand {
	return Operand{kind: kindIndex, base: base, index: index, scale: scale, disp: disp}
}

// At returns the memory operand at an offset in the code itself, addressed
// relative to the instruction pointer. The instruction must not have an immediate.
func At(offset int) Operand { return Operand{kind: kindCode, disp: int32(offset)} }

// IsReg reports whether o is register r.
func (o Operand) IsReg(r Reg) bool { return o.kind == kindReg && o.base == r }

// InMemory reports whether o is a memory operand.
func (o Operand) InMemory() bool { return o.kind != kindReg }

// Op describes an instruction of the form "reg, r/m".
type Op struct {
	prefix byte // 0, 0x66, 0xf2 or 0xf3
	table  byte // opcode map: 0, 1 (0f), 2 (0f 38) or 3 (0f 3a)
	code   byte // opcode
	wide   bool // 64-bit operands
	bytes  bool // the register is one of the 8-bit registers
	vex    bool // VEX-encoded, with a third operand
	vexOp  Reg  // filled in by Vex
	_      [2]uint8
}

// Cond is a condition code.
type Cond uint8

// The conditions, with their encodings.
const (
	B  Cond = 2 // below, unsigned
	AE Cond = 3
	E  Cond = 4
	NE Cond = 5
	BE Cond = 6
	A  Cond = 7
	S  Cond = 8
	P  Cond = 10 // unordered
	NP Cond = 11
	L  Cond = 12
	GE Cond = 13
	LE Cond = 14
	G  Cond = 15
)

// Not returns the opposite condition.
func (c Cond) Not() Cond { return c ^ 1 }

// Label identifies a position in the code.
type Label int

// Code is machine code under construction. Origin is the offset that its first
// byte will have.
type Code struct {
	Origin int
	Bytes  []byte

	labels []int // offset in Bytes, or -1
	fixups []fixup
}

type fixup struct {
	at    int // of the 4-byte displacement
	label Label
}

// Reset empties c.
func (c *Code) Reset(origin int) {
	c.Origin, c.Bytes, c.labels, c.fixups = origin, c.Bytes[:0], c.labels[:0], c.fixups[:0]
}

// NewLabel returns a label that is not bound yet.
func (c *Code) NewLabel() Label {
	c.labels = append(c.labels, -1)
	return Label(len(c.labels) - 1)
}

// Bind binds a label to the current position.
func (c *Code) Bind(l Label) { c.labels[l] = len(c.Bytes) }

// Offset returns the offset of a bound label, in the same frame as Origin.
func (c *Code) Offset(l Label) int { return c.Origin + c.labels[l] }

// Here returns the offset of the next byte, in the same frame as Origin.
func (c *Code) Here() int { return c.Origin + len(c.Bytes) }

// Finish resolves the jumps to labels. Every label that is a jump target must be
// bound.
func (c *Code) Finish() {
	for _, f := range c.fixups {
		to := c.labels[f.label]
		if to < 0 {
			panic(fmt.Sprintf("amd64asm: label %d is not bound", f.label))
		}
		binary.LittleEndian.PutUint32(c.Bytes[f.at:], uint32(to-f.at-4))
	}
	c.fixups = c.fixups[:0]
}

func (c *Code) byte(b ...byte) { c.Bytes = append(c.Bytes, b...) }

func (c *Code) imm32(v int32) { c.Bytes = binary.LittleEndian.AppendUint32(c.Bytes, uint32(v)) }

// rexBits returns the R, X and B bits of an instruction's prefix.
func rexBits(reg Reg, rm Operand) (r, x, b byte) {
	r = byte(reg >> 3)
	if rm.kind != kindCode {
		b = byte(rm.base >> 3)
	}
	if rm.kind == kindIndex {
		x = byte(rm.index >> 3)
	}
	return r, x, b
}

// Ins appends an instruction.
func (c *Code) Ins(o Op, reg Reg, rm Operand) {
	if o.vex {
		c.vex(o, reg, rm)
		return
	}
	if o.prefix != 0 {
		c.byte(o.prefix)
	}
	r, x, b := rexBits(reg, rm)
	rex := r<<2 | x<<1 | b
	if o.wide {
		rex |= 8
	}
	if rex != 0 || o.bytes && (reg >= RSP || rm.kind == kindReg && rm.base >= RSP) {
		c.byte(0x40 | rex)
	}
	if o.table >= 1 {
		c.byte(0x0f)
	}
	switch o.table {
	case 2:
		c.byte(0x38)
	case 3:
		c.byte(0x3a)
	}
	c.byte(o.code)
	c.modRM(reg, rm)
}

// vex appends a VEX-encoded instruction (Intel SDM volume 2, 2.3.5).
func (c *Code) vex(o Op, reg Reg, rm Operand) {
	r, x, b := rexBits(reg, rm)
	pp := map[byte]byte{0: 0, 0x66: 1, 0xf3: 2, 0xf2: 3}[o.prefix]
	var w byte
	if o.wide {
		w = 0x80
	}
	c.byte(0xc4, (r^1)<<7|(x^1)<<6|(b^1)<<5|o.table, w|byte(^o.vexOp&15)<<3|pp, o.code)
	c.modRM(reg, rm)
}

// modRM appends the operands (Intel SDM volume 2, tables 2-2 and 2-3).
func (c *Code) modRM(reg Reg, rm Operand) {
	mid := byte(reg&7) << 3
	switch rm.kind {
	case kindReg:
		c.byte(0xc0 | mid | byte(rm.base&7))
		return
	case kindCode:
		c.byte(mid | 5)
		c.imm32(rm.disp - int32(c.Here()+4))
		return
	}
	mod, size := byte(0x80), 4
	switch {
	case rm.disp == 0 && rm.base&7 != RBP:
		mod, size = 0, 0
	case rm.disp >= -128 && rm.disp <= 127:
		mod, size = 0x40, 1
	}
	switch {
	case rm.kind == kindIndex:
		c.byte(mod|mid|4, rm.scale<<6|byte(rm.index&7)<<3|byte(rm.base&7))
	case rm.base&7 == RSP:
		c.byte(mod|mid|4, 0x24)
	default:
		c.byte(mod | mid | byte(rm.base&7))
	}
	switch size {
	case 1:
		c.byte(byte(rm.disp))
	case 4:
		c.imm32(rm.disp)
	}
}

// Jmp appends a jump.
func (c *Code) Jmp(l Label) {
	c.byte(0xe9)
	c.distance(l)
}

// Jcc appends a conditional jump.
func (c *Code) Jcc(cc Cond, l Label) {
	c.byte(0x0f, 0x80|byte(cc))
	c.distance(l)
}

func (c *Code) distance(l Label) {
	c.fixups = append(c.fixups, fixup{len(c.Bytes), l})
	c.imm32(0)
}

// JmpAt appends a jump to an offset in the same frame as Origin. It returns the
// offset of the jump's 4-byte displacement, which can be overwritten with that of
// another target; see Distance.
func (c *Code) JmpAt(offset int) int {
	c.byte(0xe9)
	site := c.Here()
	c.imm32(int32(offset - site - 4))
	return site
}

// Distance returns the displacement, to be stored at site, of a jump to offset.
func Distance(site, offset int) uint32 { return uint32(offset - site - 4) }

// JmpTo appends an indirect jump.
func (c *Code) JmpTo(rm Operand) { c.Ins(Op{code: 0xff}, 4, rm) }

// Ret appends a return.
func (c *Code) Ret() { c.byte(0xc3) }

// Group1 is an instruction of opcode group 1: arithmetic with an immediate.
type Group1 Reg

// The group's members, by their encoding.
const (
	AddI Group1 = 0
	OrI  Group1 = 1
	SbbI Group1 = 3
	AndI Group1 = 4
	SubI Group1 = 5
	XorI Group1 = 6
	CmpI Group1 = 7
)

// Imm appends an arithmetic instruction with an immediate, sign-extended.
func (c *Code) Imm(g Group1, wide bool, rm Operand, v int32) {
	if v >= -128 && v <= 127 {
		c.Ins(Op{code: 0x83, wide: wide}, Reg(g), rm)
		c.byte(byte(v))
		return
	}
	c.Ins(Op{code: 0x81, wide: wide}, Reg(g), rm)
	c.imm32(v)
}

// Group2 is an instruction of opcode group 2: a shift or rotation.
type Group2 Reg

// The group's members, by their encoding.
const (
	RolI Group2 = 0
	RorI Group2 = 1
	ShlI Group2 = 4
	ShrI Group2 = 5
	SarI Group2 = 7
)

// Shift appends a shift by an immediate.
func (c *Code) Shift(g Group2, wide bool, r Reg, n uint8) {
	c.Ins(Op{code: 0xc1, wide: wide}, Reg(g), R(r))
	c.byte(n)
}

// RotateCL appends a rotation by CL.
func (c *Code) RotateCL(g Group2, wide bool, r Reg) {
	c.Ins(Op{code: 0xd3, wide: wide}, Reg(g), R(r))
}

// Group3 is an instruction of opcode group 3, with one operand.
type Group3 Reg

// The group's members, by their encoding.
const (
	Not  Group3 = 2
	Neg  Group3 = 3
	Mul  Group3 = 4
	IMul Group3 = 5
	Div  Group3 = 6
	IDiv Group3 = 7
)

// Unary appends an instruction of group 3.
func (c *Code) Unary(g Group3, wide bool, rm Operand) {
	c.Ins(Op{code: 0xf7, wide: wide}, Reg(g), rm)
}

// SignAX appends a sign extension of RAX into RDX, or of EAX into EDX.
func (c *Code) SignAX(wide bool) {
	if wide {
		c.byte(0x48)
	}
	c.byte(0x99)
}

// TestByte appends a test of a byte in memory against a mask.
func (c *Code) TestByte(rm Operand, mask byte) {
	c.Ins(Op{code: 0xf6}, 0, rm)
	c.byte(mask)
}

// Const appends a load of a 64-bit constant, which leaves the flags unchanged.
func (c *Code) Const(r Reg, v uint64) {
	switch {
	case v <= math.MaxUint32:
		c.Ins(Op{code: 0xc7}, 0, R(r))
		c.imm32(int32(uint32(v)))
	case int64(v) >= math.MinInt32 && int64(v) < 0:
		c.Ins(Op{code: 0xc7, wide: true}, 0, R(r))
		c.imm32(int32(v))
	default:
		c.byte(0x48|byte(r>>3), 0xb8|byte(r&7))
		c.Bytes = binary.LittleEndian.AppendUint64(c.Bytes, v)
	}
}

// StoreConst appends a store of 8 bytes: a sign-extended 32-bit constant.
func (c *Code) StoreConst(rm Operand, v int32) {
	c.Ins(Op{code: 0xc7, wide: true}, 0, rm)
	c.imm32(v)
}

// Store32 appends a store of a 4-byte constant.
func (c *Code) Store32(rm Operand, v uint32) {
	c.Ins(Op{code: 0xc7}, 0, rm)
	c.imm32(int32(v))
}

// Store8 appends a store of a constant byte.
func (c *Code) Store8(rm Operand, v byte) {
	c.Ins(Op{code: 0xc6}, 0, rm)
	c.byte(v)
}

// Set appends a setcc of an 8-bit register.
func (c *Code) Set(cc Cond, r Reg) { c.Ins(Op{table: 1, code: 0x90 | byte(cc), bytes: true}, 0, R(r)) }

// CMov returns a conditional 64-bit move.
func CMov(cc Cond) Op { return Op{table: 1, code: 0x40 | byte(cc), wide: true} }
