// Package simd multiplies a matrix in blocked compressed sparse rows by a vector,
// with vector instructions: a kernel for each block size from 1×1 to 8×8, of the
// type of presage/datasets/programs/spmv/kernels, whose scalar ones stand in on
// processors without AVX2 and FMA. A test writes the assembly (assembly_test.go). In a
// block of r×c
//
//	c = 1     lanes are rows; an element of x is in all of them
//	c = 2     lanes are two rows of two; two elements of x are in both halves
//	c ≥ 3     lanes are columns; each row has a sum of four lanes
//
// and the sums of as many as four blocks are held apart, as a sum must wait for the
// one before. Sums are therefore in another order than in the scalar kernels, and
// results differ in the last bits.
package simd

//go:generate go test . -run TestAssemblyIsGenerated -update

import (
	"runtime"

	"presage/datasets/programs/spmv/kernels"
)

// Available reports whether this processor has the vectors of the kernels: AVX2 and
// FMA of amd64.
func Available() bool { return available }

// Sized returns the kernel for blocks of r×c: of vectors if they are Available, else
// the scalar one. It panics unless both lie between 1 and kernels.Largest.
func Sized(r, c int) kernels.Kernel {
	scalar := kernels.Sized(r, c) // checks r and c
	if !available {
		return scalar
	}
	return vector(r, c)
}

// Read loads every byte of values and columns into registers and does nothing with
// them: what a product must do at least.
func Read(values []float64, columns []int32) {
	if available {
		readVector(values, columns)
		return
	}
	sum, or := 0.0, int32(0)
	for _, v := range values {
		sum += v
	}
	for _, c := range columns {
		or |= c
	}
	runtime.KeepAlive([2]any{sum, or}) // or the loops would be removed
}
