// Package targets knows the instruction sets that programs are analysed for: the
// machine of an ELF file goes in, its isa.Target comes out. A new instruction set
// is added here, and nowhere else.
package targets

import (
	"debug/elf"

	"presage/perf/isa"
	"presage/perf/isa/rv64"
)

// Machine is an ELF machine for which programs can be analysed.
type Machine struct {
	Family string // of processors, for people

	// Target returns the instruction set of a 64-bit little-endian Linux
	// executable by its e_flags, or why it is not supported.
	Target func(flags uint32) (*isa.Target, error)
}

// Of returns what is known of an ELF machine; ok is false if it is not
// supported.
func Of(m elf.Machine) (machine Machine, ok bool) {
	switch m {
	case elf.EM_RISCV:
		return Machine{Family: "RISC-V", Target: rv64.TargetOf}, true
	}
	return Machine{}, false
}
