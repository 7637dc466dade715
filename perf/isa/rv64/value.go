package rv64

import (
	asm "golang.org/x/arch/riscv64/riscv64asm"

	"presage/perf/isa"
)

// form is how an operation computes its value from operands in the usual
// positions: the first source, and the second source or an immediate.
type form struct {
	op   isa.Operator
	word bool // on 32 bits
	low  bool // the first source is its low 32 bits, zero-extended
	imm  int64
}

// forms lists the operations whose integer result is described. The upper halves
// of products and the single-bit operations, which never form addresses, are
// not.
var forms = map[asm.Op]form{
	asm.ADD: {op: isa.Add}, asm.ADDI: {op: isa.Add}, asm.ADDW: {op: isa.Add, word: true}, asm.ADDIW: {op: isa.Add, word: true},
	asm.SUB: {op: isa.Subtract}, asm.SUBW: {op: isa.Subtract, word: true},
	asm.AND: {op: isa.And}, asm.ANDI: {op: isa.And}, asm.OR: {op: isa.Or}, asm.ORI: {op: isa.Or}, asm.XOR: {op: isa.Xor}, asm.XORI: {op: isa.Xor},
	asm.SLL: {op: isa.ShiftLeft}, asm.SLLI: {op: isa.ShiftLeft}, asm.SLLW: {op: isa.ShiftLeft, word: true}, asm.SLLIW: {op: isa.ShiftLeft, word: true},
	asm.SRL: {op: isa.ShiftRight}, asm.SRLI: {op: isa.ShiftRight}, asm.SRLW: {op: isa.ShiftRight, word: true}, asm.SRLIW: {op: isa.ShiftRight, word: true},
	asm.SRA: {op: isa.ShiftRightArithmetic}, asm.SRAI: {op: isa.ShiftRightArithmetic},
	asm.SRAW: {op: isa.ShiftRightArithmetic, word: true}, asm.SRAIW: {op: isa.ShiftRightArithmetic, word: true},
	asm.SLT: {op: isa.Less}, asm.SLTI: {op: isa.Less}, asm.SLTU: {op: isa.LessUnsigned}, asm.SLTIU: {op: isa.LessUnsigned},

	asm.MUL: {op: isa.Times}, asm.MULW: {op: isa.Times, word: true},
	asm.DIV: {op: isa.Quotient}, asm.DIVW: {op: isa.Quotient, word: true},
	asm.DIVU: {op: isa.QuotientUnsigned}, asm.DIVUW: {op: isa.QuotientUnsigned, word: true},
	asm.REM: {op: isa.Remainder}, asm.REMW: {op: isa.Remainder, word: true},
	asm.REMU: {op: isa.RemainderUnsigned}, asm.REMUW: {op: isa.RemainderUnsigned, word: true},

	asm.SH1ADD: {op: isa.ScaledAdd, imm: 1}, asm.SH2ADD: {op: isa.ScaledAdd, imm: 2}, asm.SH3ADD: {op: isa.ScaledAdd, imm: 3},
	asm.ADD_UW:    {op: isa.ScaledAdd, low: true},
	asm.SH1ADD_UW: {op: isa.ScaledAdd, low: true, imm: 1}, asm.SH2ADD_UW: {op: isa.ScaledAdd, low: true, imm: 2}, asm.SH3ADD_UW: {op: isa.ScaledAdd, low: true, imm: 3},
	asm.SLLI_UW: {op: isa.ShiftLeft, low: true},
	asm.SEXT_B:  {op: isa.SignExtend, imm: 8}, asm.SEXT_H: {op: isa.SignExtend, imm: 16}, asm.ZEXT_H: {op: isa.ZeroExtend, imm: 16},

	asm.BEQ: {op: isa.Equal}, asm.BNE: {op: isa.NotEqual}, asm.BLT: {op: isa.Less}, asm.BGE: {op: isa.GreaterEqual},
	asm.BLTU: {op: isa.LessUnsigned}, asm.BGEU: {op: isa.GreaterEqualUnsigned},
}

// value describes what the instruction computes (see isa.Value). LUI and AUIPC
// become constants.
func value(in *isa.Inst, raw asm.Inst) isa.Value {
	none := isa.Value{A: isa.NoReg, B: isa.NoReg}
	switch raw.Op {
	case asm.LUI:
		return isa.Value{Op: isa.Add, A: isa.NoReg, B: isa.NoReg, Imm: upper(raw)}
	case asm.AUIPC:
		return isa.Value{Op: isa.Add, A: isa.NoReg, B: isa.NoReg, Imm: int64(in.PC) + upper(raw)}
	case asm.JALR:
		offset := raw.Args[1].(asm.RegOffset)
		return isa.Value{Op: isa.Add, A: register(offset.OfsReg), B: isa.NoReg, Imm: int64(offset.Ofs.Imm)}
	}
	if in.Class == isa.Store {
		return isa.Value{Op: isa.Add, A: register(raw.Args[0]), B: isa.NoReg}
	}
	f, ok := forms[raw.Op]
	if !ok {
		return none
	}
	v := isa.Value{Op: f.op, Word: f.word, LowA: f.low, Imm: f.imm, A: register(raw.Args[1]), B: isa.NoReg}
	second := raw.Args[2]
	if in.Class == isa.Branch {
		v.A, second = register(raw.Args[0]), raw.Args[1]
	}
	switch arg := second.(type) {
	case asm.Reg:
		v.B = register(arg)
	case asm.Simm:
		v.Imm = int64(arg.Imm)
	case asm.Uimm:
		v.Imm = int64(arg.Imm)
	}
	return v
}

// upper returns the immediate of a LUI or AUIPC: the upper 20 bits of a word,
// sign-extended.
func upper(raw asm.Inst) int64 {
	return int64(int32(raw.Args[1].(asm.Uimm).Imm << 12))
}
