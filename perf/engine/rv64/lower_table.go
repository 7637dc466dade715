package rv64

import (
	"sync"

	rv "golang.org/x/arch/riscv64/riscv64asm"
)

// form is the operand format of an operation: the instruction word fields it
// uses.
type form uint8

const (
	formR      form = iota + 1 // rd, rs1, rs2
	formR1                     // rd, rs1
	formI                      // rd, rs1, imm
	formShift                  // rd, rs1, shamt6
	formShift5                 // rd, rs1, shamt5
	formLoad                   // rd, imm(rs1)
	formStore                  // rs2, imm(rs1)
	formBranch                 // rs1, rs2, offset
	formFR                     // fd, fs1, fs2
	formFR1                    // fd, fs1
	formFR4                    // fd, fs1, fs2, fs3
	formFCmp                   // rd, fs1, fs2
	formToX                    // rd, fs1
	formFromX                  // fd, rs1
	formFLoad                  // fd, imm(rs1)
	formFStore                 // fs2, imm(rs1)
	formAtomic                 // rd, rs2, (rs1)
	formCsr
	formNone
)

// lowering is a rule for turning an instruction into an operation.
type lowering struct {
	code code
	form form
	kind int32 // of opAtomic and opFloat
	size uint8 // of opAtomic: log2 of the bytes
	rm   bool  // the instruction has a rounding mode field
}

// lowerings returns the table from decoded instructions to operations. LUI, AUIPC,
// JAL, JALR and FENCE are not in it: lower handles them itself. All runs share it.
var lowerings = sync.OnceValue(makeLowerings)

func makeLowerings() map[rv.Op]lowering {
	t := map[rv.Op]lowering{
		rv.ADDI: {code: opAddi, form: formI}, rv.SLTI: {code: opSlti, form: formI},
		rv.SLTIU: {code: opSltiu, form: formI}, rv.XORI: {code: opXori, form: formI},
		rv.ORI: {code: opOri, form: formI}, rv.ANDI: {code: opAndi, form: formI},
		rv.SLLI: {code: opSlli, form: formShift}, rv.SRLI: {code: opSrli, form: formShift},
		rv.SRAI: {code: opSrai, form: formShift}, rv.ADDIW: {code: opAddiw, form: formI},
		rv.SLLIW: {code: opSlliw, form: formShift5}, rv.SRLIW: {code: opSrliw, form: formShift5},
		rv.SRAIW: {code: opSraiw, form: formShift5}, rv.SLLI_UW: {code: opSlliUw, form: formShift},
		rv.RORI: {code: opRori, form: formShift}, rv.RORIW: {code: opRoriw, form: formShift5},
		rv.BCLRI: {code: opBclri, form: formShift}, rv.BEXTI: {code: opBexti, form: formShift},
		rv.BINVI: {code: opBinvi, form: formShift}, rv.BSETI: {code: opBseti, form: formShift},

		rv.LB: {code: opLb, form: formLoad}, rv.LH: {code: opLh, form: formLoad},
		rv.LW: {code: opLw, form: formLoad}, rv.LD: {code: opLd, form: formLoad},
		rv.LBU: {code: opLbu, form: formLoad}, rv.LHU: {code: opLhu, form: formLoad},
		rv.LWU: {code: opLwu, form: formLoad},
		rv.SB:  {code: opSb, form: formStore}, rv.SH: {code: opSh, form: formStore},
		rv.SW: {code: opSw, form: formStore}, rv.SD: {code: opSd, form: formStore},
		rv.FLW: {code: opFlw, form: formFLoad}, rv.FLD: {code: opLd, form: formFLoad},
		rv.FSW: {code: opSw, form: formFStore}, rv.FSD: {code: opSd, form: formFStore},

		rv.BEQ: {code: opBeq, form: formBranch}, rv.BNE: {code: opBne, form: formBranch},
		rv.BLT: {code: opBlt, form: formBranch}, rv.BGE: {code: opBge, form: formBranch},
		rv.BLTU: {code: opBltu, form: formBranch}, rv.BGEU: {code: opBgeu, form: formBranch},

		rv.FSGNJ_D: {code: opFsgnjD, form: formFR}, rv.FSGNJN_D: {code: opFsgnjnD, form: formFR},
		rv.FSGNJX_D: {code: opFsgnjxD, form: formFR}, rv.FSGNJ_S: {code: opFsgnjS, form: formFR},
		rv.FSGNJN_S: {code: opFsgnjnS, form: formFR}, rv.FSGNJX_S: {code: opFsgnjxS, form: formFR},
		rv.FEQ_D: {code: opFeqD, form: formFCmp}, rv.FLT_D: {code: opFltD, form: formFCmp},
		rv.FLE_D: {code: opFleD, form: formFCmp}, rv.FEQ_S: {code: opFeqS, form: formFCmp},
		rv.FLT_S: {code: opFltS, form: formFCmp}, rv.FLE_S: {code: opFleS, form: formFCmp},
		rv.FMV_X_D: {code: opMv, form: formToX}, rv.FMV_D_X: {code: opMv, form: formFromX},
		rv.FMV_X_W: {code: opFmvXW, form: formToX}, rv.FMV_W_X: {code: opFmvWX, form: formFromX},

		rv.ECALL: {code: opEcall, form: formNone}, rv.EBREAK: {code: opEbreak, form: formNone},
		rv.FENCE_I: {code: opFenceI, form: formNone},
	}
	addRegister(t)
	addFloat(t)
	addAtomic(t)
	for i, o := range []rv.Op{rv.CSRRW, rv.CSRRS, rv.CSRRC, rv.CSRRWI, rv.CSRRSI, rv.CSRRCI} {
		t[o] = lowering{code: opCsr, form: formCsr, kind: int32(i)}
	}
	return t
}

func addRegister(t map[rv.Op]lowering) {
	for o, c := range map[rv.Op]code{
		rv.ADD: opAdd, rv.SUB: opSub, rv.SLL: opSll, rv.SLT: opSlt, rv.SLTU: opSltu, rv.XOR: opXor,
		rv.SRL: opSrl, rv.SRA: opSra, rv.OR: opOr, rv.AND: opAnd,
		rv.ADDW: opAddw, rv.SUBW: opSubw, rv.SLLW: opSllw, rv.SRLW: opSrlw, rv.SRAW: opSraw,
		rv.MUL: opMul, rv.MULH: opMulh, rv.MULHSU: opMulhsu, rv.MULHU: opMulhu,
		rv.DIV: opDiv, rv.DIVU: opDivu, rv.REM: opRem, rv.REMU: opRemu,
		rv.MULW: opMulw, rv.DIVW: opDivw, rv.DIVUW: opDivuw, rv.REMW: opRemw, rv.REMUW: opRemuw,
		rv.ADD_UW: opAddUw, rv.SH1ADD: opSh1add, rv.SH2ADD: opSh2add, rv.SH3ADD: opSh3add,
		rv.SH1ADD_UW: opSh1addUw, rv.SH2ADD_UW: opSh2addUw, rv.SH3ADD_UW: opSh3addUw,
		rv.ANDN: opAndn, rv.ORN: opOrn, rv.XNOR: opXnor,
		rv.MAX: opMax, rv.MAXU: opMaxu, rv.MIN: opMin, rv.MINU: opMinu,
		rv.ROL: opRol, rv.ROLW: opRolw, rv.ROR: opRor, rv.RORW: opRorw,
		rv.BCLR: opBclr, rv.BEXT: opBext, rv.BINV: opBinv, rv.BSET: opBset,
		rv.CZERO_EQZ: opCzeroEqz, rv.CZERO_NEZ: opCzeroNez,
		rv.CLMUL: opClmul, rv.CLMULH: opClmulh, rv.CLMULR: opClmulr,
	} {
		t[o] = lowering{code: c, form: formR}
	}
	for o, c := range map[rv.Op]code{
		rv.CLZ: opClz, rv.CTZ: opCtz, rv.CPOP: opCpop, rv.CLZW: opClzw, rv.CTZW: opCtzw, rv.CPOPW: opCpopw,
		rv.SEXT_B: opSextB, rv.SEXT_H: opSextH, rv.ZEXT_H: opZextH, rv.ORC_B: opOrcB, rv.REV8: opRev8,
	} {
		t[o] = lowering{code: c, form: formR1}
	}
}

func addFloat(t map[rv.Op]lowering) {
	for o, c := range map[rv.Op]code{
		rv.FADD_D: opFaddD, rv.FSUB_D: opFsubD, rv.FMUL_D: opFmulD, rv.FDIV_D: opFdivD,
		rv.FADD_S: opFaddS, rv.FSUB_S: opFsubS, rv.FMUL_S: opFmulS, rv.FDIV_S: opFdivS,
	} {
		t[o] = lowering{code: c, form: formFR, rm: true}
	}
	for o, c := range map[rv.Op]code{
		rv.FMADD_D: opFmaddD, rv.FMSUB_D: opFmsubD, rv.FNMSUB_D: opFnmsubD, rv.FNMADD_D: opFnmaddD,
		rv.FMADD_S: opFmaddS, rv.FMSUB_S: opFmsubS, rv.FNMSUB_S: opFnmsubS, rv.FNMADD_S: opFnmaddS,
	} {
		t[o] = lowering{code: c, form: formFR4, rm: true}
	}
	t[rv.FSQRT_D] = lowering{code: opFsqrtD, form: formFR1, rm: true}
	t[rv.FSQRT_S] = lowering{code: opFsqrtS, form: formFR1, rm: true}
	t[rv.FCVT_D_S] = lowering{code: opFcvtDS, form: formFR1, rm: true}
	t[rv.FCVT_S_D] = lowering{code: opFcvtSD, form: formFR1, rm: true}
	t[rv.FCVT_D_W] = lowering{code: opFcvtDW, form: formFromX, rm: true}
	t[rv.FCVT_D_L] = lowering{code: opFcvtDL, form: formFromX, rm: true}
	t[rv.FCVT_W_D] = lowering{code: opFcvtWD, form: formToX, rm: true}
	t[rv.FCVT_L_D] = lowering{code: opFcvtLD, form: formToX, rm: true}
	for o, k := range map[rv.Op]floatKind{
		rv.FMIN_D: floatMinD, rv.FMAX_D: floatMaxD, rv.FMIN_S: floatMinS, rv.FMAX_S: floatMaxS,
	} {
		t[o] = lowering{code: opFloat, form: formFR, kind: int32(k)}
	}
	t[rv.FCLASS_D] = lowering{code: opFloat, form: formToX, kind: int32(floatClassD)}
	t[rv.FCLASS_S] = lowering{code: opFloat, form: formToX, kind: int32(floatClassS)}
	for o, k := range map[rv.Op]floatKind{
		rv.FCVT_WU_D: floatCvtWuD, rv.FCVT_LU_D: floatCvtLuD, rv.FCVT_W_S: floatCvtWS,
		rv.FCVT_WU_S: floatCvtWuS, rv.FCVT_L_S: floatCvtLS, rv.FCVT_LU_S: floatCvtLuS,
	} {
		t[o] = lowering{code: opFloat, form: formToX, kind: int32(k), rm: true}
	}
	for o, k := range map[rv.Op]floatKind{
		rv.FCVT_D_WU: floatCvtDWu, rv.FCVT_D_LU: floatCvtDLu, rv.FCVT_S_W: floatCvtSW,
		rv.FCVT_S_WU: floatCvtSWu, rv.FCVT_S_L: floatCvtSL, rv.FCVT_S_LU: floatCvtSLu,
	} {
		t[o] = lowering{code: opFloat, form: formFromX, kind: int32(k), rm: true}
	}
}

// addAtomic adds the atomics to the table. It relies on the decoder's order of
// names: plain, .aq, .aqrl, .rl, with the D variants before the W ones. Ordering
// bits are ignored, as guest threads take turns.
func addAtomic(t map[rv.Op]lowering) {
	for o, k := range map[rv.Op]atomicKind{
		rv.LR_W: atomicLR, rv.SC_W: atomicSC, rv.AMOSWAP_W: atomicSwap, rv.AMOADD_W: atomicAdd,
		rv.AMOXOR_W: atomicXor, rv.AMOAND_W: atomicAnd, rv.AMOOR_W: atomicOr, rv.AMOMIN_W: atomicMin,
		rv.AMOMAX_W: atomicMax, rv.AMOMINU_W: atomicMinu, rv.AMOMAXU_W: atomicMaxu,
	} {
		for i := range rv.Op(4) {
			t[o+i] = lowering{code: opAtomic, form: formAtomic, kind: int32(k), size: 2}
			t[o-4+i] = lowering{code: opAtomic, form: formAtomic, kind: int32(k), size: 3}
		}
	}
}
