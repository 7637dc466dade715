package host

import "golang.org/x/sys/cpu"

// On amd64 the compiler puts a test for the instruction, and a call for when it
// is missing, around each fused multiply-add, and so keeps nothing in registers
// across it. Hence these in assembly, with the meaning that they have elsewhere
// (fused_other.go).

// hasFused reports whether the processor has VFMADD231SD.
func hasFused() bool { return cpu.X86.HasFMA }

// fusedChain goes through the operand that is added to, as a sum of products
// does; some cores take that one later than the factors.
//
//go:noescape
func fusedChain(x, y, z float64, rounds int) float64

//go:noescape
func fusedStream(x, y, z float64, rounds int) float64

// mulFusedMix does multiplications and fused multiply-adds by turns.
//
//go:noescape
func mulFusedMix(x, y, z float64, rounds int) float64

// addFusedMix does additions and fused multiply-adds by turns.
//
//go:noescape
func addFusedMix(x, y, z float64, rounds int) float64
