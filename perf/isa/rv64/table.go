package rv64

import (
	asm "golang.org/x/arch/riscv64/riscv64asm"

	"presage/perf/isa"
)

// operation is the part of an instruction that follows from its mnemonic alone.
type operation struct {
	class isa.Class
	mem   isa.MemKind
	size  uint8 // of the memory operand, bytes
}

// operations lists the instructions of RV64GC (I, M, A, F, D, C, Zicsr,
// Zifencei) and of Zba, Zbb, Zbc, Zbs, Zicond and Zicbom/Zicboz, by the
// decoder's name, which for a compressed instruction is that of its expansion.
// An operation that is not listed has the class isa.Illegal.
var operations = [...]operation{
	asm.ADD: {class: isa.ALU}, asm.ADDI: {class: isa.ALU}, asm.ADDIW: {class: isa.ALU}, asm.ADDW: {class: isa.ALU},
	asm.AND: {class: isa.ALU}, asm.ANDI: {class: isa.ALU}, asm.AUIPC: {class: isa.ALU}, asm.LUI: {class: isa.ALU},
	asm.OR: {class: isa.ALU}, asm.ORI: {class: isa.ALU}, asm.SUB: {class: isa.ALU}, asm.SUBW: {class: isa.ALU},
	asm.XOR: {class: isa.ALU}, asm.XORI: {class: isa.ALU},
	asm.SLT: {class: isa.Compare}, asm.SLTI: {class: isa.Compare}, asm.SLTIU: {class: isa.Compare}, asm.SLTU: {class: isa.Compare},
	asm.SLL: {class: isa.Shift}, asm.SLLI: {class: isa.Shift}, asm.SLLIW: {class: isa.Shift}, asm.SLLW: {class: isa.Shift},
	asm.SRA: {class: isa.Shift}, asm.SRAI: {class: isa.Shift}, asm.SRAIW: {class: isa.Shift}, asm.SRAW: {class: isa.Shift},
	asm.SRL: {class: isa.Shift}, asm.SRLI: {class: isa.Shift}, asm.SRLIW: {class: isa.Shift}, asm.SRLW: {class: isa.Shift},

	asm.BEQ: {class: isa.Branch}, asm.BNE: {class: isa.Branch}, asm.BLT: {class: isa.Branch}, asm.BLTU: {class: isa.Branch},
	asm.BGE: {class: isa.Branch}, asm.BGEU: {class: isa.Branch},
	asm.JAL: {class: isa.Jump}, asm.JALR: {class: isa.IndirectJump}, // or calls, or a return: see transfer
	asm.ECALL: {class: isa.SystemCall}, asm.EBREAK: {class: isa.Breakpoint},
	asm.FENCE: {class: isa.Fence}, asm.FENCE_I: {class: isa.Fence},
	asm.CBO_CLEAN: {class: isa.Fence}, asm.CBO_FLUSH: {class: isa.Fence}, asm.CBO_INVAL: {class: isa.Fence}, asm.CBO_ZERO: {class: isa.Fence},
	asm.CSRRC: {class: isa.CSR}, asm.CSRRCI: {class: isa.CSR}, asm.CSRRS: {class: isa.CSR}, asm.CSRRSI: {class: isa.CSR},
	asm.CSRRW: {class: isa.CSR}, asm.CSRRWI: {class: isa.CSR},

	asm.LB: {isa.Load, isa.MemLoad, 1}, asm.LBU: {isa.Load, isa.MemLoad, 1},
	asm.LH: {isa.Load, isa.MemLoad, 2}, asm.LHU: {isa.Load, isa.MemLoad, 2},
	asm.LW: {isa.Load, isa.MemLoad, 4}, asm.LWU: {isa.Load, isa.MemLoad, 4}, asm.LD: {isa.Load, isa.MemLoad, 8},
	asm.SB: {isa.Store, isa.MemStore, 1}, asm.SH: {isa.Store, isa.MemStore, 2},
	asm.SW: {isa.Store, isa.MemStore, 4}, asm.SD: {isa.Store, isa.MemStore, 8},
	asm.FLW: {isa.FPLoad, isa.MemLoad, 4}, asm.FLD: {isa.FPLoad, isa.MemLoad, 8},
	asm.FSW: {isa.FPStore, isa.MemStore, 4}, asm.FSD: {isa.FPStore, isa.MemStore, 8},

	asm.MUL: {class: isa.Multiply}, asm.MULH: {class: isa.Multiply}, asm.MULHSU: {class: isa.Multiply},
	asm.MULHU: {class: isa.Multiply}, asm.MULW: {class: isa.Multiply},
	asm.DIV: {class: isa.Divide}, asm.DIVU: {class: isa.Divide}, asm.DIVUW: {class: isa.Divide}, asm.DIVW: {class: isa.Divide},
	asm.REM: {class: isa.Divide}, asm.REMU: {class: isa.Divide}, asm.REMUW: {class: isa.Divide}, asm.REMW: {class: isa.Divide},

	asm.FADD_S: {class: isa.FPAdd}, asm.FADD_D: {class: isa.FPAdd}, asm.FSUB_S: {class: isa.FPAdd}, asm.FSUB_D: {class: isa.FPAdd},
	asm.FMUL_S: {class: isa.FPMultiply}, asm.FMUL_D: {class: isa.FPMultiply},
	asm.FDIV_S: {class: isa.FPDivide}, asm.FDIV_D: {class: isa.FPDivide},
	asm.FSQRT_S: {class: isa.FPSqrt}, asm.FSQRT_D: {class: isa.FPSqrt},
	asm.FMADD_S: {class: isa.FPFused}, asm.FMADD_D: {class: isa.FPFused}, asm.FMSUB_S: {class: isa.FPFused}, asm.FMSUB_D: {class: isa.FPFused},
	asm.FNMADD_S: {class: isa.FPFused}, asm.FNMADD_D: {class: isa.FPFused}, asm.FNMSUB_S: {class: isa.FPFused}, asm.FNMSUB_D: {class: isa.FPFused},
	asm.FCVT_D_L: {class: isa.FPConvert}, asm.FCVT_D_LU: {class: isa.FPConvert}, asm.FCVT_D_S: {class: isa.FPConvert},
	asm.FCVT_D_W: {class: isa.FPConvert}, asm.FCVT_D_WU: {class: isa.FPConvert},
	asm.FCVT_L_D: {class: isa.FPConvert}, asm.FCVT_L_S: {class: isa.FPConvert}, asm.FCVT_LU_D: {class: isa.FPConvert}, asm.FCVT_LU_S: {class: isa.FPConvert},
	asm.FCVT_S_D: {class: isa.FPConvert}, asm.FCVT_S_L: {class: isa.FPConvert}, asm.FCVT_S_LU: {class: isa.FPConvert},
	asm.FCVT_S_W: {class: isa.FPConvert}, asm.FCVT_S_WU: {class: isa.FPConvert},
	asm.FCVT_W_D: {class: isa.FPConvert}, asm.FCVT_W_S: {class: isa.FPConvert}, asm.FCVT_WU_D: {class: isa.FPConvert}, asm.FCVT_WU_S: {class: isa.FPConvert},
	asm.FSGNJ_S: {class: isa.FPMove}, asm.FSGNJ_D: {class: isa.FPMove}, asm.FSGNJN_S: {class: isa.FPMove}, asm.FSGNJN_D: {class: isa.FPMove},
	asm.FSGNJX_S: {class: isa.FPMove}, asm.FSGNJX_D: {class: isa.FPMove},
	asm.FMIN_S: {class: isa.FPMove}, asm.FMIN_D: {class: isa.FPMove}, asm.FMAX_S: {class: isa.FPMove}, asm.FMAX_D: {class: isa.FPMove},
	asm.FEQ_S: {class: isa.FPMove}, asm.FEQ_D: {class: isa.FPMove}, asm.FLT_S: {class: isa.FPMove}, asm.FLT_D: {class: isa.FPMove},
	asm.FLE_S: {class: isa.FPMove}, asm.FLE_D: {class: isa.FPMove}, asm.FCLASS_S: {class: isa.FPMove}, asm.FCLASS_D: {class: isa.FPMove},
	asm.FMV_X_W: {class: isa.FPMove}, asm.FMV_X_D: {class: isa.FPMove}, asm.FMV_W_X: {class: isa.FPMove}, asm.FMV_D_X: {class: isa.FPMove},

	// Zba, Zbb, Zbc, Zbs, Zicond.
	asm.ADD_UW: {class: isa.ALU}, asm.SH1ADD: {class: isa.ALU}, asm.SH1ADD_UW: {class: isa.ALU}, asm.SH2ADD: {class: isa.ALU},
	asm.SH2ADD_UW: {class: isa.ALU}, asm.SH3ADD: {class: isa.ALU}, asm.SH3ADD_UW: {class: isa.ALU}, asm.SLLI_UW: {class: isa.Shift},
	asm.ANDN: {class: isa.ALU}, asm.ORN: {class: isa.ALU}, asm.XNOR: {class: isa.ALU}, asm.CLZ: {class: isa.ALU}, asm.CLZW: {class: isa.ALU},
	asm.CTZ: {class: isa.ALU}, asm.CTZW: {class: isa.ALU}, asm.CPOP: {class: isa.ALU}, asm.CPOPW: {class: isa.ALU},
	asm.MAX: {class: isa.ALU}, asm.MAXU: {class: isa.ALU}, asm.MIN: {class: isa.ALU}, asm.MINU: {class: isa.ALU},
	asm.SEXT_B: {class: isa.ALU}, asm.SEXT_H: {class: isa.ALU}, asm.ZEXT_H: {class: isa.ALU}, asm.ORC_B: {class: isa.ALU}, asm.REV8: {class: isa.ALU},
	asm.ROL: {class: isa.Shift}, asm.ROLW: {class: isa.Shift}, asm.ROR: {class: isa.Shift}, asm.RORI: {class: isa.Shift},
	asm.RORIW: {class: isa.Shift}, asm.RORW: {class: isa.Shift},
	asm.CLMUL: {class: isa.Multiply}, asm.CLMULH: {class: isa.Multiply}, asm.CLMULR: {class: isa.Multiply},
	asm.BCLR: {class: isa.ALU}, asm.BCLRI: {class: isa.ALU}, asm.BEXT: {class: isa.ALU}, asm.BEXTI: {class: isa.ALU},
	asm.BINV: {class: isa.ALU}, asm.BINVI: {class: isa.ALU}, asm.BSET: {class: isa.ALU}, asm.BSETI: {class: isa.ALU},
	asm.CZERO_EQZ: {class: isa.ALU}, asm.CZERO_NEZ: {class: isa.ALU},
}
