// Bt is NAS's BT: Navier-Stokes equations by implicit time steps, in which each
// axis is a set of block-tridiagonal systems, one for each line of the mesh,
// with 5 x 5 blocks. It is our own writing, made to be profiled: serial,
// deterministic, all memory allocated before the first step. Package cfd says
// what is solved, and has what BT shares with SP.
//
//	adi ─┬─ computeRHS ── FluxX, DissipateX, and for Y and Z
//	     ├─ xSolve ─┬─ Jacobians and blocks of (I - Δt A_x)
//	     │          ├─ matvecSub, matmulSub, binvcrhs, binvrhs   forward
//	     │          └─ back substitution
//	     ├─ ySolve, zSolve
//	     └─ add
//
// # Two structures
//
// With -structure 3.0 a line's Jacobians and blocks are formed in arrays for
// one line, and the line is solved before the next is looked at. With 2.3 there
// are arrays for the whole mesh, and Jacobians, blocks, elimination and back
// substitution each pass over all of it (lhsX, xSolveCell, xBacksubstitute).
// The right-hand side, too, is gone over plane by plane, or in separate passes.
// Both do the same arithmetic but for the rounding of 1/ρ and q.
//
// # What is checked
//
// With -class, NAS's own verification: the norms of residual and error to 1e-8.
// In any run: exact values on the boundary, and norms that are finite and lower
// than in the beginning. The last line of output is "verification: successful",
// or "verification: FAILED" with the reason and exit status 1.
package main

import (
	"os"

	"presage/datasets/programs/internal/cfd"
	"presage/datasets/programs/internal/program"
)

func main() {
	program.Begin() // everything is allocated before the first step
	os.Exit(cfd.Run("bt", "BT", os.Args[1:], os.Stdout, os.Stderr, allocate))
}

// allocate returns a problem of one of the two structures.
func allocate(o *cfd.Options, c cfd.Coefficients) cfd.Solver {
	if o.Structure == cfd.Structure23 {
		return newMeshwise(c, o.Max)
	}
	return newLinewise(c, o.Max)
}

// block is a 5 x 5 matrix, column by column.
type block = [25]float64

// blockAt returns block b of an array of blocks.
func blockAt(a []float64, b int) *block { return (*block)(a[25*b : 25*b+25]) }

// The three blocks of a point in a row of the block-tridiagonal matrix: on the
// point before, on itself, on the one after.
const (
	before = iota
	self
	after
)

// primitives sets what is derived from the state, at all points.
//
//go:noinline
func primitives(f *cfd.Flow) {
	rho := f.RhoI
	us, vs, ws, square, qs := f.Us[:len(rho)], f.Vs[:len(rho)], f.Ws[:len(rho)], f.Square[:len(rho)], f.Qs[:len(rho)]
	for k := range f.N {
		for j := range f.N {
			first := f.Cell(0, j, k)
			for c := first; c < first+f.N; c++ {
				u := cfd.At(f.U, c)
				inverse := 1 / u[0]
				rho[c] = inverse
				us[c] = u[1] * inverse
				vs[c] = u[2] * inverse
				ws[c] = u[3] * inverse
				square[c] = 0.5 * (u[1]*u[1] + u[2]*u[2] + u[3]*u[3]) * inverse
				qs[c] = square[c] * inverse
			}
		}
	}
}
