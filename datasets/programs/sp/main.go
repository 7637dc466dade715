// Sp is NAS's SP: Navier-Stokes equations by implicit time steps, in which each
// axis is diagonalised into scalar pentadiagonal systems, five for each line of
// the mesh. It is our own writing, made to be
// profiled: serial, deterministic, all memory allocated before the first step.
// Package cfd says what is solved, and has what SP shares with BT.
//
//	adi ─┬─ computeRHS
//	     ├─ txinvr                 T_x⁻¹: into eigenvectors of ∂F_x/∂u
//	     ├─ xSolve ── ninvr        five pentadiagonal systems a line; T_y⁻¹ T_x
//	     ├─ ySolve ── pinvr        likewise; T_z⁻¹ T_y
//	     ├─ zSolve ── tzetar       likewise; T_z: back to the conserved variables
//	     └─ add
//
// The eigenvalues of ∂F_d/∂u are w (three times), w + a and w - a, with the
// normal velocity w and the speed of sound a; the first three systems have the
// same matrix. Viscosity is in the diagonal approximation max(…)/h².
//
// # Two structures
//
// With -structure 3.0 arrays are (5, i, j, k), matrices are formed for one line
// (5, n) and it is solved before the next is looked at; a line along z is solved
// in a copy. With 2.3 arrays are (i, j, k, 5), matrices (i, j, k, 15) for the
// whole mesh, and each part of the elimination passes over all of it; 1/a is an
// array, too. Both do the same arithmetic but for the rounding.
//
// # What is checked
//
// With -class, NAS's own verification: the norms of residual and error to 1e-8.
// In any run: exact values on the boundary, and norms that are finite and lower
// than in the beginning. The last line of output is "verification: successful",
// or "verification: FAILED" with the reason and exit status 1.
package main

import (
	"math"
	"os"

	"presage/datasets/programs/internal/cfd"
	"presage/datasets/programs/internal/program"
)

func main() {
	program.Begin() // everything is allocated before the first step
	os.Exit(cfd.Run("sp", "SP", os.Args[1:], os.Stdout, os.Stderr, allocate))
}

// allocate returns a problem of one of the two structures.
func allocate(o *cfd.Options, c cfd.Coefficients) cfd.Solver {
	if o.Structure == cfd.Structure23 {
		return newMeshwise(c, o.Max)
	}
	return newLinewise(c, o.Max)
}

// root is sqrt(1/2), which normalises the eigenvectors of w + a and w - a.
const root = math.Sqrt2 / 2

// viscosity bounds what the viscous terms and the second-difference dissipation
// d have on the diagonal, from 1/ρ.
func viscosity(d, rhoI float64) float64 {
	r := cfd.C3C4 * rhoI
	return max(d+cfd.Con43*r, d+cfd.C1C5*r, d+r, d)
}
