// Package targets maps the machine of an ELF file to its isa.Target. It lists the
// supported instruction sets: a new one is added here, and nowhere else.
package targets

import (
	"debug/elf"

	"presage/perf/isa"
	"presage/perf/isa/amd64"
	"presage/perf/isa/rv64"
)

// Machine is an ELF machine for which programs can be analysed.
type Machine struct {
	Family string // of processors, for people

	// Target returns the instruction set of a 64-bit little-endian Linux
	// executable with these e_flags, or an error if it is not supported.
	Target func(flags uint32) (*isa.Target, error)

	// Dynamic says that dynamically linked programs and shared libraries are
	// taken, too. Relative is the type of a relocation that stores its addend,
	// Symbolic are those that store the address of a symbol.
	Dynamic  bool
	Relative uint32
	Symbolic []uint32
}

// Of returns the description of an ELF machine; ok is false if it is not
// supported.
func Of(m elf.Machine) (machine Machine, ok bool) {
	switch m {
	case elf.EM_RISCV:
		return Machine{Family: "RISC-V", Target: rv64.TargetOf}, true
	case elf.EM_X86_64:
		return Machine{
			Family: "x86-64", Target: amd64.TargetOf, Dynamic: true,
			Relative: uint32(elf.R_X86_64_RELATIVE),
			Symbolic: []uint32{uint32(elf.R_X86_64_64), uint32(elf.R_X86_64_GLOB_DAT), uint32(elf.R_X86_64_JMP_SLOT)},
		}, true
	}
	return Machine{}, false
}
