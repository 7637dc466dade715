package isa

// Target is an instruction set, with the conventions of the Linux programs
// compiled for it. It is not modified and may be shared.
type Target struct {
	Name       string // its GOARCH
	Extensions string // what NewDecoder decodes, for people

	// NewDecoder returns a decoder for use by one goroutine at a time.
	NewDecoder func() Decoder

	MaxLength int    // bytes of the longest instruction
	Align     uint64 // bytes, a power of two: instructions and the targets of jumps lie at multiples of it

	// AddressPairs says that forming an address takes two instructions, so that
	// the constant in one of them is not an address.
	AddressPairs bool

	// AddressLimit bounds the addresses that Linux gives a program.
	AddressLimit uint64

	// IntegerNames and FloatNames name the registers from 0 and from F0 on. Their
	// lengths are the numbers of architectural registers.
	IntegerNames, FloatNames []string

	// Zero is always zero. StackPointer and ThreadPointer are the same wherever
	// control enters a routine. GlobalPointer is set once, by start-up code, as
	// the base address of small variables. FramePointer holds the stack pointer
	// at the routine's entry, and ReturnAddress is the register in which calls
	// save the return address. A register that the target lacks is NoReg.
	Zero, StackPointer, ThreadPointer, GlobalPointer, FramePointer, ReturnAddress Reg

	// Flags are the integer registers that hold the result of a comparison:
	// see Value.
	Flags RegSet

	C, Go      Convention
	SystemCall RegSet // changed by a system call
}

// Convention is a calling convention for the integer registers. A call may
// change any floating-point register.
type Convention struct {
	Arguments, Results []Reg  // in order
	Preserved          RegSet // unchanged by a call
	CalleeSaved        RegSet // restored by a routine that changes them, before it returns

	// Helpers are routines with a convention of their own.
	Helpers []Helper
}

// Helper is a routine that changes only some registers.
type Helper struct {
	Prefix  string // of its name
	Changes RegSet
}

// RegisterName returns the name that assemblers give r.
func (t *Target) RegisterName(r Reg) string {
	switch {
	case t == nil:
	case int(r) < len(t.IntegerNames):
		return t.IntegerNames[r]
	case r.Float() && int(r-F0) < len(t.FloatNames):
		return t.FloatNames[r-F0]
	}
	return r.String()
}

// Down returns the last address that is no greater than pc and at which an
// instruction can lie.
func (t *Target) Down(pc uint64) uint64 { return pc &^ (t.Align - 1) }

// Aligned reports whether an instruction can lie at pc.
func (t *Target) Aligned(pc uint64) bool { return pc&(t.Align-1) == 0 }
