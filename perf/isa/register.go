package isa

import "fmt"

// Reg is a register. The numbering by kind is the same in every instruction set,
// so that code that only needs a register's kind needs no Target:
//
//	0 to 63     integer registers, and the flags that comparisons set
//	64 to 127   floating-point and vector registers
//	128 to 191  all others (masks, segments); their contents are not analysed
//
// A register that is always zero is never a def, a use or part of an address.
type Reg uint8

const (
	// F0 is the first floating-point register.
	F0 Reg = 64
	// S0 is the first register of the third kind.
	S0 Reg = 128

	registersEnd Reg = 192

	// Loaded stands in a Value for the content of the instruction's first
	// memory operand before the instruction executes.
	Loaded Reg = 254
	// NoReg is the absence of a register.
	NoReg Reg = 255
)

// Integer reports whether r is an integer register.
func (r Reg) Integer() bool { return r < F0 }

// Float reports whether r is a floating-point register.
func (r Reg) Float() bool { return r >= F0 && r < S0 }

// String names r by its kind and number; Target.RegisterName has the name that
// assemblers use.
func (r Reg) String() string {
	switch {
	case r.Integer():
		return fmt.Sprintf("x%d", uint8(r))
	case r.Float():
		return fmt.Sprintf("f%d", uint8(r-F0))
	case r < registersEnd:
		return fmt.Sprintf("s%d", uint8(r-S0))
	case r == Loaded:
		return "loaded"
	case r == NoReg:
		return "none"
	}
	return fmt.Sprintf("Reg(%d)", uint8(r))
}

// RegSet is a set of integer registers.
type RegSet uint64

// SetOf returns the set of the integer registers in list.
func SetOf(list ...Reg) RegSet {
	var s RegSet
	for _, r := range list {
		s = s.With(r)
	}
	return s
}

// Has reports whether r is an integer register in s.
func (s RegSet) Has(r Reg) bool { return r < F0 && s>>r&1 != 0 }

// With returns s with r added, if r is an integer register.
func (s RegSet) With(r Reg) RegSet {
	if r < F0 {
		s |= 1 << r
	}
	return s
}
