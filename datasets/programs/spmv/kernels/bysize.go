// Package kernels multiplies a matrix in blocked compressed sparse rows by a
// vector, with a kernel for each block size from 1×1 to 8×8. The guest program
// of the sparse-matrix study and the package that predicts it share the kernels.
// It imports the standard library only, as the guest must.
package kernels

//go:generate sh -c "go run generate.go >multiply.tmp && mv multiply.tmp multiply.go"

// Largest is the largest number of rows and of columns of a block.
const Largest = 8

// A Kernel adds A·x to y. The blocks of row i of blocks are start[i] to
// start[i+1]; column holds the first matrix column of each block, value its
// values by rows.
//
// Kernels do not check bounds, as kernels in C do not: the caller guarantees
// that start ascends to at most len(column), that value holds a whole block for
// each element of column, y every row of every row of blocks, and x every column
// of every block.
type Kernel func(start, column []int32, value, y, x []float64)

// Sized returns the kernel for blocks of r×c. It panics unless both lie between 1
// and Largest.
func Sized(r, c int) Kernel {
	if r < 1 || r > Largest || c < 1 || c > Largest {
		panic("kernels: block size out of range")
	}
	return all[(r-1)*Largest+c-1]
}
