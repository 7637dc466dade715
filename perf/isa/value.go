package isa

import "fmt"

// Operator is how a value is computed from integer registers.
type Operator uint8

// The operators. Left is Value.A; right is Value.B, or Value.Imm if B is NoReg.
const (
	Opaque Operator = iota // not described, or not from integer registers alone

	Add
	Subtract
	And
	Or
	Xor
	ShiftLeft            // by the low bits of right
	ShiftRight           // logical
	ShiftRightArithmetic // of a signed number
	Times                // low half of the product
	Quotient             // signed, towards zero
	QuotientUnsigned
	Remainder // signed
	RemainderUnsigned
	ScaledAdd  // left shifted by Imm, plus B (0 if NoReg), plus Disp
	SignExtend // the low Imm bits of left, as a signed number
	ZeroExtend // the low Imm bits of left, as an unsigned number

	// Comparisons: 1 if it holds, else 0; the conditions of branches.
	Equal
	NotEqual
	Less
	LessUnsigned
	GreaterEqual
	GreaterEqualUnsigned

	operators
)

var operatorNames = [operators]string{
	Opaque: "?", Add: "+", Subtract: "-", And: "&", Or: "|", Xor: "^",
	ShiftLeft: "<<", ShiftRight: ">>u", ShiftRightArithmetic: ">>", Times: "*",
	Quotient: "/", QuotientUnsigned: "/u", Remainder: "%", RemainderUnsigned: "%u",
	ScaledAdd: "scaled+", SignExtend: "sext", ZeroExtend: "zext",
	Equal: "==", NotEqual: "!=", Less: "<", LessUnsigned: "<u", GreaterEqual: ">=", GreaterEqualUnsigned: ">=u",
}

func (o Operator) String() string {
	if o < operators {
		return operatorNames[o]
	}
	return fmt.Sprintf("Operator(%d)", uint8(o))
}

// Value describes an integer that an instruction computes:
//
//   - for an instruction that defines integer registers, their new content,
//     unless Inst.Result gives another value,
//   - for one that stores an integer, the value whose low Mem.Size bytes are
//     stored. One that both stores and defines stores its Value,
//   - for a Branch, the condition under which it is taken,
//   - for an IndirectJump, Return or Call without constant target, the target
//     (rounded down to Target.Align), not the address that a call saves.
//
// A and B are integer registers, or Loaded; a register that is always zero is
// NoReg.
//
// Flags hold what was compared: after a Subtract the difference of its sides, as
// a number that cannot overflow, and after any other operation the value
// computed. So after a comparison of a and b, the branch that is taken if a < b,
// unsigned, has the value flags < 0, LessUnsigned.
type Value struct {
	Op Operator
	A  Reg // NoReg: 0
	B  Reg // NoReg: Imm

	// Word: computed from the low 32 bits of the operands, and the low 32 bits
	// of the result sign-extended.
	Word bool

	// ZeroHigh: if Word, the low 32 bits of the result are zero-extended instead.
	ZeroHigh bool

	// LowA: A stands for its low 32 bits, zero-extended.
	LowA bool

	// Narrow, if not 0, is 8 or 16: like Word, but for so many bits.
	Narrow uint8

	Imm  int64
	Disp int64 // of a ScaledAdd
}

// Bits returns how many low bits of its operands a value is computed from: 8, 16,
// 32 or 64.
func (v Value) Bits() int64 {
	switch {
	case v.Narrow != 0:
		return int64(v.Narrow)
	case v.Word:
		return 32
	}
	return 64
}

// Constant returns the value if it depends on no register.
func (v Value) Constant() (int64, bool) {
	if v.Op == Opaque || v.A != NoReg || v.B != NoReg {
		return 0, false
	}
	return v.Eval(0, 0), true
}

// Copy returns the register whose content the value is, if it is a plain copy.
func (v Value) Copy() (Reg, bool) {
	switch {
	case v.Op != Add || v.Word || v.LowA:
		return NoReg, false
	case v.A == NoReg && v.B != NoReg:
		return v.B, true
	case v.A != NoReg && v.B == NoReg && v.Imm == 0:
		return v.A, true
	}
	return NoReg, false
}

// Eval computes the value from the contents of A and B, ignoring that of a NoReg.
// It panics on an Opaque value. Division by zero and the width of shift amounts
// follow RISC-V (Unprivileged manual, sections 2.4 and 13.2): a quotient by zero
// has all bits set, and a remainder by zero is the dividend.
func (v Value) Eval(a, b int64) int64 {
	if v.A == NoReg {
		a = 0
	}
	if v.Op == ScaledAdd {
		if v.B == NoReg {
			b = 0
		}
	} else if v.B == NoReg {
		b = v.Imm
	}
	if v.LowA {
		a = int64(uint32(a))
	}
	switch {
	case v.Narrow != 0:
		n := 64 - v.Narrow
		return v.double(a<<n>>n, b<<n>>n) << n >> n
	case v.Word && v.ZeroHigh:
		return int64(uint32(v.word(int32(a), int32(b))))
	case v.Word:
		return int64(int32(v.word(int32(a), int32(b))))
	}
	return v.double(a, b)
}

func (v Value) double(a, b int64) int64 {
	switch v.Op {
	case Add:
		return a + b
	case Subtract:
		return a - b
	case And:
		return a & b
	case Or:
		return a | b
	case Xor:
		return a ^ b
	case ShiftLeft:
		return a << (b & 63)
	case ShiftRight:
		return int64(uint64(a) >> (b & 63))
	case ShiftRightArithmetic:
		return a >> (b & 63)
	case Times:
		return a * b
	case Quotient, QuotientUnsigned, Remainder, RemainderUnsigned:
		return v.divide(a, b)
	case ScaledAdd:
		return a<<v.Imm + b + v.Disp
	case SignExtend:
		return a << (64 - v.Imm) >> (64 - v.Imm)
	case ZeroExtend:
		return int64(uint64(a) << (64 - v.Imm) >> (64 - v.Imm))
	}
	return v.compare(a, b)
}

// word computes the operations whose result differs for 32-bit operands; for all
// others the caller drops the upper half.
func (v Value) word(a, b int32) int64 {
	switch v.Op {
	case ShiftLeft:
		return int64(a) << (b & 31)
	case ShiftRight:
		return int64(uint32(a) >> (b & 31))
	case ShiftRightArithmetic:
		return int64(a >> (b & 31))
	case QuotientUnsigned, RemainderUnsigned:
		return v.divide(int64(uint32(a)), int64(uint32(b)))
	}
	return v.double(int64(a), int64(b))
}

func (v Value) divide(a, b int64) int64 {
	switch {
	case b == 0 && (v.Op == Quotient || v.Op == QuotientUnsigned):
		return -1
	case b == 0:
		return a
	case v.Op == QuotientUnsigned:
		return int64(uint64(a) / uint64(b))
	case v.Op == RemainderUnsigned:
		return int64(uint64(a) % uint64(b))
	case v.Op == Quotient:
		return a / b // the most negative number by -1 is itself, in Go too
	}
	return a % b
}

func (v Value) compare(a, b int64) int64 {
	var holds bool
	switch v.Op {
	case Equal:
		holds = a == b
	case NotEqual:
		holds = a != b
	case Less:
		holds = a < b
	case LessUnsigned:
		holds = uint64(a) < uint64(b)
	case GreaterEqual:
		holds = a >= b
	case GreaterEqualUnsigned:
		holds = uint64(a) >= uint64(b)
	default:
		panic("isa: Eval of a value that is " + v.Op.String())
	}
	if holds {
		return 1
	}
	return 0
}
