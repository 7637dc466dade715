package amd64

import "presage/perf/isa"

// Registers of the isa.Target beyond the general ones, which have their numbers.
const (
	flagsReg isa.Reg = 16
	fsBase   isa.Reg = 17 // the address of the segment fs: the thread pointer
	gsBase   isa.Reg = 18

	vectorReg isa.Reg = isa.F0      // zmm0 to zmm31
	mmxReg    isa.Reg = isa.F0 + 32 // mm0 to mm7
	x87Reg    isa.Reg = isa.F0 + 40 // the register stack as a whole
	anyReg    isa.Reg = isa.F0 + 41 // an address that isa.Mem cannot describe
	maskReg   isa.Reg = isa.S0      // k0 to k7
)

// Target returns x86-64 with the calling conventions of Linux programs.
func Target() *isa.Target { return &target }

// TargetOf returns the instruction set of a 64-bit ELF file; x86-64 has no
// e_flags.
func TargetOf(uint32) (*isa.Target, error) { return &target, nil }

func regs(list ...Reg) []isa.Reg {
	out := make([]isa.Reg, len(list))
	for i, r := range list {
		out[i] = isa.Reg(r)
	}
	return out
}

func setOf(list ...Reg) isa.RegSet { return isa.SetOf(regs(list...)...) }

var target = isa.Target{
	Name:       "amd64",
	Extensions: "x86-64 up to AVX-512 with FP16, and AMX",
	NewDecoder: func() isa.Decoder { return NewLifter() },
	MaxLength:  MaxLength,
	Align:      1,

	// The lower half of the addresses with 4-level paging (Linux,
	// Documentation/arch/x86/x86_64/mm.rst).
	AddressLimit: 1 << 47,

	IntegerNames: []string{
		"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
		"flags", "fs", "gs",
	},
	FloatNames: []string{
		"zmm0", "zmm1", "zmm2", "zmm3", "zmm4", "zmm5", "zmm6", "zmm7", "zmm8", "zmm9", "zmm10", "zmm11", "zmm12", "zmm13", "zmm14", "zmm15",
		"zmm16", "zmm17", "zmm18", "zmm19", "zmm20", "zmm21", "zmm22", "zmm23", "zmm24", "zmm25", "zmm26", "zmm27", "zmm28", "zmm29", "zmm30", "zmm31",
		"mm0", "mm1", "mm2", "mm3", "mm4", "mm5", "mm6", "mm7", "st", "address",
	},
	Zero: isa.NoReg, StackPointer: isa.Reg(RSP), ThreadPointer: fsBase, GlobalPointer: isa.NoReg, FramePointer: isa.NoReg, ReturnAddress: isa.NoReg,
	Flags: isa.SetOf(flagsReg),

	// System V ABI, AMD64 architecture processor supplement, figure 3.4.
	C: isa.Convention{
		Arguments:   regs(RDI, RSI, RDX, RCX, R8, R9),
		Results:     regs(RAX, RDX),
		Preserved:   setOf(RSP, RBX, RBP, R12, R13, R14, R15) | isa.SetOf(fsBase, gsBase),
		CalleeSaved: setOf(RBX, RBP, R12, R13, R14, R15),
	},

	// Go's ABIInternal, section "amd64 architecture": the stack pointer, the
	// frame pointer, and g in r14.
	Go: isa.Convention{
		Arguments:   regs(RAX, RBX, RCX, RDI, RSI, R8, R9, R10, R11),
		Results:     regs(RAX, RBX, RCX, RDI, RSI, R8, R9, R10, R11),
		Preserved:   setOf(RSP, RBP, R14) | isa.SetOf(fsBase, gsBase),
		CalleeSaved: setOf(RBP),
		// cmd/compile/internal/ssa/_gen/AMD64Ops.go, LoweredWB.
		Helpers: []isa.Helper{{Prefix: "runtime.gcWriteBarrier", Changes: setOf(R11).With(flagsReg)}},
	},
	SystemCall: setOf(RAX, RCX, R11).With(flagsReg), // Linux preserves the others
}
