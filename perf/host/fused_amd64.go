package host

import "golang.org/x/sys/cpu"

// On amd64 the compiler surrounds each fused multiply-add with a test for the
// instruction, and a call for when it is missing, and keeps nothing in
// registers across it. So these are in assembly, equivalent to fused_other.go.

// hasFused reports whether the processor has VFMADD231SD.
func hasFused() bool { return cpu.X86.HasFMA }

// fusedChain is a chain through the addend, as in a sum of products; some cores
// need it later than the factors.
//
//go:noescape
func fusedChain(x, y, z float64, rounds int) float64

//go:noescape
func fusedStream(x, y, z float64, rounds int) float64

// mulFusedMix alternates multiplications and fused multiply-adds.
//
//go:noescape
func mulFusedMix(x, y, z float64, rounds int) float64

// addFusedMix alternates additions and fused multiply-adds.
//
//go:noescape
func addFusedMix(x, y, z float64, rounds int) float64
