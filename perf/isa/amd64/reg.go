package amd64

import "fmt"

// Reg is an architectural register, whatever part of it an instruction uses.
type Reg uint8

// The registers. Vector registers are V0 to V0+31 (zmm0 to zmm31, of which xmm
// and ymm are parts), mask registers K0 to K0+7, MMX registers MM0 to MM0+7.
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
	RIP

	V0    Reg = 32
	K0    Reg = 64
	MM0   Reg = 72
	ST0   Reg = 80 // x87 stack, relative to its top
	ES    Reg = 88 // then CS, SS, DS, FS, GS
	FS    Reg = 92
	GS    Reg = 93
	CR0   Reg = 96
	DR0   Reg = 112
	TMM0  Reg = 128
	BND0  Reg = 136
	NoReg Reg = 255
)

var generalNames = [17]string{"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip"}

// General reports whether r is one of the 16 general registers.
func (r Reg) General() bool { return r < 16 }

// Vector reports whether r is a vector register.
func (r Reg) Vector() bool { return r >= V0 && r < V0+32 }

// Mask reports whether r is a mask register.
func (r Reg) Mask() bool { return r >= K0 && r < K0+8 }

// String names the whole register: rax, zmm3, k1.
func (r Reg) String() string {
	switch {
	case r <= RIP:
		return generalNames[r]
	case r.Vector():
		return fmt.Sprintf("zmm%d", r-V0)
	case r.Mask():
		return fmt.Sprintf("k%d", r-K0)
	case r >= MM0 && r < ST0:
		return fmt.Sprintf("mm%d", r-MM0)
	case r >= ST0 && r < ES:
		return fmt.Sprintf("st(%d)", r-ST0)
	case r >= ES && r < ES+6:
		return [...]string{"es", "cs", "ss", "ds", "fs", "gs"}[r-ES]
	case r >= CR0 && r < DR0:
		return fmt.Sprintf("cr%d", r-CR0)
	case r >= DR0 && r < TMM0:
		return fmt.Sprintf("dr%d", r-DR0)
	case r >= TMM0 && r < BND0:
		return fmt.Sprintf("tmm%d", r-TMM0)
	case r >= BND0 && r < BND0+4:
		return fmt.Sprintf("bnd%d", r-BND0)
	}
	return "none"
}

// Flags is a set of status flags.
type Flags uint8

// The flags. Others stands for all system flags.
const (
	Carry Flags = 1 << iota
	Parity
	Adjust
	Zero
	Sign
	Overflow
	Direction
	Others
)

const flagLetters = "CPAZSODX"

// String lists the flags by letter, as in CPAZSO.
func (f Flags) String() string {
	text := []byte{}
	for i := range len(flagLetters) {
		if f>>i&1 != 0 {
			text = append(text, flagLetters[i])
		}
	}
	return string(text)
}

// Regs is a set of registers.
type Regs struct {
	General uint16 // bit n: general register n
	Vector  uint32 // bit n: zmm n
	Mask    uint8  // bit n: k n
	MMX     uint8  // bit n: mm n
	X87     bool   // any part of the x87 stack
}

// Has reports whether r is in s; false for registers that a Regs does not hold.
func (s Regs) Has(r Reg) bool {
	switch {
	case r.General():
		return s.General>>r&1 != 0
	case r.Vector():
		return s.Vector>>(r-V0)&1 != 0
	case r.Mask():
		return s.Mask>>(r-K0)&1 != 0
	case r >= MM0 && r < ST0:
		return s.MMX>>(r-MM0)&1 != 0
	case r >= ST0 && r < ES:
		return s.X87
	}
	return false
}

func (s *Regs) add(r Reg) {
	switch {
	case r.General():
		s.General |= 1 << r
	case r.Vector():
		s.Vector |= 1 << (r - V0)
	case r.Mask():
		s.Mask |= 1 << (r - K0)
	case r >= MM0 && r < ST0:
		s.MMX |= 1 << (r - MM0)
	case r >= ST0 && r < ES:
		s.X87 = true
	}
}
