// Cg solves a sparse, symmetric, positive definite system of equations by the
// method of conjugate gradients. The matrix is the 7-point Laplacian of an n x n x
// n mesh in compressed sparse row (CSR) form, so that the vector it is multiplied
// with is reached through an array of indices. Serial, deterministic, all memory
// allocated before the first iteration. It is our own writing of the method as
// Hestenes and Stiefel published it in 1952, made to be profiled.
//
//	iterate ─┬─ multiply    q = A p, row by row
//	         ├─ dot         p·q, and r·r
//	         ├─ advance     x += alpha p, r -= alpha q
//	         └─ direction   p = r + beta p
//
// # The problem
//
// One unknown for each mesh point (i, j, k), i fastest, with
//
//	(A u)(i,j,k) = 6 u(i,j,k) - the six neighbours of u, 0 outside the mesh
//
// so that a row has 7 entries inside and 4 in a corner: 7n³ - 6n² in all. The
// solution u is known: fixed numbers, uniform in [½, 3/2). The right-hand side b
// comes from it by the stencil above, without the CSR arrays. Iterations start
// from x = 0. They end after -iterations, or before when the residual is below
// 1e-12 of b, which of the default 15 happens only for n = 2 and 3.
//
// # What is checked
//
// The matrix is symmetric, entry by entry, and A u = b. The residual that the
// iterations carry along is b minus the stencil applied to x. The error u - x has
// lost exactly the energy that the steps took out (Hestenes and Stiefel, theorem
// 6:1), and no less than the Chebyshev bound demands with the condition number,
// which is known here. The last line of output is "verification: successful", or
// "verification: FAILED" with the reason and exit status 1.
//
// # Not modelled
//
// Preconditioning, unordered or blocked sparse formats, several right-hand sides.
package main

import (
	"cmp"
	"io"
	"os"

	"presage/datasets/programs/internal/program"
)

func main() {
	program.Begin() // everything is allocated before the first iteration
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its surroundings as arguments. It returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err != nil {
		return program.Refuse(stderr, "cg", err)
	}

	p := allocate(o)
	initialize(p)
	iterate(p)
	found := examine(p)
	if !o.quiet {
		report(stdout, p, found)
	}
	return program.Conclude(stdout, verify(found))
}

// options are the problem's parameters as the command line gives them.
type options struct {
	n          int  // mesh points along each edge
	iterations int  // at most
	quiet      bool // print nothing but the verification
}

func defaults() options { return options{n: 40, iterations: 15} }

// parse reads and checks the command line.
func parse(args []string, stderr io.Writer) (options, error) {
	o := defaults()
	f := program.NewFlags("cg", &o.quiet)
	f.IntVar(&o.n, "n", o.n, "mesh `points` along each edge, 2 to 256")
	f.IntVar(&o.iterations, "iterations", o.iterations, "iterations at most, 1 to 10000; the last is that with a residual below 1e-12")
	if err := f.Read(args, stderr); err != nil {
		return o, err
	}
	return o, o.check()
}

// check reports the first parameter that is out of range.
func (o options) check() error {
	return cmp.Or(
		program.Within("n", o.n, 2, 256),
		program.Within("iterations", o.iterations, 1, 10000),
	)
}
