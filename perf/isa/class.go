// Package isa describes decoded instructions in generic terms, after Marin and
// Mellor-Crummey, "Cross-Architecture Performance Predictions for Scientific
// Applications Using Parameterized Models" (SIGMETRICS 2004), sections 2.3.1
// and 2.4: their class, for a scheduler; the registers they define and use and
// the memory they access, for data-flow analysis; and where control may go next.
// Decoders for real instruction sets produce such descriptions.
//
// What an integer instruction computes is described as far as addresses and loop
// counts depend on it: see Value. A Target is an instruction set with the
// conventions of its programs; analyses take it from the executable and assume
// nothing else about the machine.
//
// Not modelled: control and status registers, among them the floating-point
// rounding mode and exception flags, and the contents of vector registers.
package isa

import "fmt"

// Class is the kind of work that an instruction does.
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
	FPFused    // floating-point multiply-add, any signs
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
	Breakpoint // a trap for a debugger or a failed assertion
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

// EndsBlock reports whether an instruction of this class ends a basic block: the
// next instruction executed need not be the next one in memory.
func (c Class) EndsBlock() bool {
	switch c {
	case Branch, Jump, IndirectJump, Call, Return, SystemCall, Breakpoint, Illegal:
		return true
	}
	return false
}

// FallsThrough reports whether execution may continue with the next instruction
// in memory; after a call, once it returns.
func (c Class) FallsThrough() bool {
	switch c {
	case Jump, IndirectJump, Return, Breakpoint, Illegal:
		return false
	}
	return true
}
