// Package isa describes instructions as generic RISC ones, after Marin and
// Mellor-Crummey, "Cross-Architecture Performance Predictions for Scientific
// Applications Using Parameterized Models" (SIGMETRICS 2004), sections 2.3.1
// and 2.4: what an instruction is to a scheduler (its class), to data flow
// (the registers it defines and uses, the memory it accesses) and to control
// flow (where it may go). Decoders for real instruction sets give these.
//
// What an integer instruction computes is described too, as far as addresses and
// loop counts are made of it: see Value.
//
// Not modelled: control and status registers, among them the floating-point
// rounding mode and exception flags, and the contents of vector registers.
package isa

import (
	"fmt"
	"strings"
)

// Class is what kind of work an instruction is.
type Class uint8

// The classes.
const (
	Illegal  Class = iota // not an instruction, or one that is defined to trap
	Nop                   // no effect
	ALU                   // integer: add, subtract, logic, constants, moves, bit counts
	Shift                 // integer shift or rotate
	Compare               // integer comparison whose result is a value
	Multiply              // integer
	Divide                // integer divide or remainder

	FPAdd      // floating-point add or subtract
	FPMultiply // floating-point multiply
	FPDivide   // floating-point divide
	FPSqrt     // floating-point square root
	FPFused    // floating-point multiply-add, in all signs
	FPConvert  // between floating-point formats, or to or from integers
	FPMove     // floating-point move, sign, minimum, maximum, comparison, classification; moves to or from integer registers

	Load    // to an integer register
	FPLoad  // to a floating-point register
	Store   // from an integer register
	FPStore // from a floating-point register
	Atomic  // load-reserved, store-conditional, read-modify-write

	Branch       // conditional, within a routine
	Jump         // unconditional, to a constant target
	IndirectJump // unconditional, to the target in a register; not a return
	Call         // saves the address of the next instruction
	Return       // to the address in a link register

	SystemCall
	Breakpoint // a trap that a debugger or an assertion asked for
	Fence      // memory ordering and cache control
	CSR        // reads or writes a control and status register
	Vector     // any vector instruction; its memory accesses are not described

	classes
)

var classNames = [classes]string{
	Illegal: "illegal", Nop: "nop", ALU: "alu", Shift: "shift", Compare: "compare", Multiply: "multiply", Divide: "divide",
	FPAdd: "fp add", FPMultiply: "fp multiply", FPDivide: "fp divide", FPSqrt: "fp sqrt", FPFused: "fp fused",
	FPConvert: "fp convert", FPMove: "fp move",
	Load: "load", FPLoad: "fp load", Store: "store", FPStore: "fp store", Atomic: "atomic",
	Branch: "branch", Jump: "jump", IndirectJump: "indirect jump", Call: "call", Return: "return",
	SystemCall: "system call", Breakpoint: "breakpoint", Fence: "fence", CSR: "csr", Vector: "vector",
}

func (c Class) String() string {
	if c < classes {
		return classNames[c]
	}
	return fmt.Sprintf("Class(%d)", uint8(c))
}

// Classes returns all classes, in order.
func Classes() []Class {
	all := make([]Class, classes)
	for i := range all {
		all[i] = Class(i)
	}
	return all
}

// EndsBlock reports whether an instruction of this class ends a basic block:
// what comes after it in memory need not come after it in time.
func (c Class) EndsBlock() bool {
	switch c {
	case Branch, Jump, IndirectJump, Call, Return, SystemCall, Breakpoint, Illegal:
		return true
	}
	return false
}

// FallsThrough reports whether execution may go on after an instruction of
// this class with the next one in memory; after a call, once it returns.
func (c Class) FallsThrough() bool {
	switch c {
	case Jump, IndirectJump, Return, Breakpoint, Illegal:
		return false
	}
	return true
}

// Reg is a register: 0 to 31 are the integer ones, 32 to 63 the floating-point
// ones. A register that is always zero is never a def, a use or a base.
type Reg uint8

// NoReg is the absence of a register.
const NoReg Reg = 255

// F0 is the first floating-point register.
const F0 Reg = 32

// Float reports whether r is a floating-point register.
func (r Reg) Float() bool { return r >= F0 && r < F0+32 }

func (r Reg) String() string {
	switch {
	case r < F0:
		return fmt.Sprintf("x%d", uint8(r))
	case r.Float():
		return fmt.Sprintf("f%d", uint8(r-F0))
	case r == NoReg:
		return "none"
	}
	return fmt.Sprintf("Reg(%d)", uint8(r))
}

// MemKind says what an instruction does to memory.
type MemKind uint8

// The kinds of memory access.
const (
	NoMem MemKind = iota
	MemLoad
	MemStore
	MemReadModifyWrite
)

// Mem is a memory operand: Size bytes at the address in Base plus Disp.
type Mem struct {
	Kind  MemKind // NoMem: the instruction has none, and the rest is zero
	Size  uint8   // bytes, a power of two
	Float bool    // the datum goes to or comes from a floating-point register
	Base  Reg     // NoReg: Disp alone is the address
	Disp  int64
}

// Inst is a decoded instruction.
type Inst struct {
	PC    uint64
	Len   uint8 // bytes
	Class Class
	Raw   uint32 // encoding, in the low Len bytes
	Op    string // mnemonic, as the decoder names it

	Mem   Mem
	Value Value

	// Target is where a Branch, Jump or Call goes if it is a constant.
	Target    uint64
	HasTarget bool

	nDefs, nUses uint8
	defs         [1]Reg
	uses         [3]Reg
}

// Decoder decodes the instruction at the beginning of code, whose address is pc.
// With an error the Inst is of the class Illegal, and its Len says how many
// bytes to skip. A Decoder need not be safe for concurrent use.
type Decoder interface {
	Decode(code []byte, pc uint64) (Inst, error)
}

// Next returns the address of the instruction that follows in memory.
func (i *Inst) Next() uint64 { return i.PC + uint64(i.Len) }

// Defs returns the registers that i writes. The slice is part of i.
func (i *Inst) Defs() []Reg { return i.defs[:i.nDefs] }

// Uses returns the registers that i reads, each once, the base of its memory
// operand among them. The slice is part of i.
func (i *Inst) Uses() []Reg { return i.uses[:i.nUses] }

// AddDef is for decoders: it records that i writes r. NoReg is left out. It
// panics if there is no room.
func (i *Inst) AddDef(r Reg) {
	if r != NoReg {
		i.defs[i.nDefs] = r
		i.nDefs++
	}
}

// AddUse is for decoders: it records that i reads r, as AddDef does.
func (i *Inst) AddUse(r Reg) {
	if r == NoReg {
		return
	}
	for _, u := range i.Uses() {
		if u == r {
			return
		}
	}
	i.uses[i.nUses] = r
	i.nUses++
}

// String describes i generically: mnemonic, defs, memory operand, uses, target.
func (i *Inst) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%#x: %s", i.PC, i.Op)
	if i.nDefs > 0 {
		fmt.Fprintf(&b, " %v =", i.Defs())
	}
	if i.nUses > 0 {
		fmt.Fprintf(&b, " %v", i.Uses())
	}
	if m := i.Mem; m.Kind != NoMem {
		fmt.Fprintf(&b, " mem%d[%d", 8*int(m.Size), m.Disp)
		if m.Base != NoReg {
			fmt.Fprintf(&b, "+%v", m.Base)
		}
		b.WriteByte(']')
	}
	if i.HasTarget {
		fmt.Fprintf(&b, " -> %#x", i.Target)
	}
	return b.String()
}
