package rv64

import (
	"errors"

	"presage/perf/isa"
)

// Integer registers by their ABI names (RISC-V ELF psABI, "Integer Register
// Convention").
const (
	ra isa.Reg = 1
	sp isa.Reg = 2
	gp isa.Reg = 3
	tp isa.Reg = 4
	s0 isa.Reg = 8 // also the frame pointer
	a0 isa.Reg = 10
)

// Target returns RV64 with the calling conventions of Linux programs.
func Target() *isa.Target { return &target }

// flagRVE is the e_flags bit of code that uses only 16 registers (RISC-V psABI,
// "ELF object files").
const flagRVE = 1 << 3

// TargetOf returns the instruction set of a 64-bit ELF file with these e_flags.
func TargetOf(flags uint32) (*isa.Target, error) {
	if flags&flagRVE != 0 {
		return nil, errors.New("built for RVE, the embedded base with 16 registers; Presage runs RV64GC")
	}
	return &target, nil
}

var target = isa.Target{
	Name:       "riscv64",
	Extensions: "RV64GC and Zba, Zbb, Zbc, Zbs",
	NewDecoder: func() isa.Decoder { return NewDecoder() },
	MaxLength:  4,
	Align:      2,

	AddressPairs: true,

	// The lower half of the Sv39 address space, which is what Linux gives a
	// program (RISC-V privileged specification, section "Sv39").
	AddressLimit: 1 << 38,

	IntegerNames: []string{
		"zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5",
		"a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
	},
	FloatNames: []string{
		"ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "fs0", "fs1", "fa0", "fa1", "fa2", "fa3", "fa4", "fa5",
		"fa6", "fa7", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11",
	},
	Zero: 0, StackPointer: sp, ThreadPointer: tp, GlobalPointer: gp, FramePointer: s0, ReturnAddress: ra,

	// The psABI: sp, gp, tp, s0 to s11.
	C: isa.Convention{
		Arguments:   []isa.Reg{10, 11, 12, 13, 14, 15, 16, 17},
		Results:     []isa.Reg{10, 11},
		Preserved:   isa.SetOf(sp, gp, tp) | calleeSaved,
		CalleeSaved: calleeSaved.With(ra),
	},

	// Go's ABIInternal, section "riscv64 architecture": the stack pointer, and
	// g in x27; tp is not used, and gp is an ordinary register.
	Go: isa.Convention{
		Arguments:   []isa.Reg{10, 11, 12, 13, 14, 15, 16, 17, 8, 9, 18, 19, 20, 21, 22, 23},
		Results:     []isa.Reg{10, 11, 12, 13, 14, 15, 16, 17, 8, 9, 18, 19, 20, 21, 22, 23},
		Preserved:   isa.SetOf(sp, tp, 27),
		CalleeSaved: isa.SetOf(ra),
		// cmd/compile/internal/ssa/_gen/RISCV64Ops.go, LoweredWB.
		Helpers: []isa.Helper{{Prefix: "runtime.gcWriteBarrier", Changes: isa.SetOf(ra, 24, 31)}},
	},
	SystemCall: isa.SetOf(a0), // Linux preserves the others
}

// calleeSaved are s0 to s11.
var calleeSaved = isa.SetOf(s0, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27)
