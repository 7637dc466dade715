// Npbcg is the kernel CG of the NAS Parallel Benchmarks: the largest eigenvalue
// of a large sparse symmetric matrix with a random pattern, by the inverse power
// method, each step of which solves a system of equations by 25 steps of
// conjugate gradients. Nearly all of it are products of the matrix with a vector
// that is reached through random indices. Serial, deterministic, our own writing
// from the published specification (RNR-94-007) and the parameters in NPB 2 and 3.
//
//	makea ─┬─ sprnvc, vecset   sparse random vectors
//	       └─ sparse           the sum of their outer products, in rows
//	iterate ─┬─ conjGrad ─┬─ matvec      q = A p, row by row
//	         │            ├─ dot
//	         │            ├─ advance     z += alpha p, r -= alpha q
//	         │            └─ direction   p = r + beta p
//	         └─ dot, scale    zeta, x = z / |z|
//
// # What is checked
//
// For a class, with its number of iterations: zeta against NAS's, to 1e-10. At all
// sizes: A is symmetric, bit by bit, and negative definite on all search directions;
// the residual x - A z, computed anew, is as small as conjugate gradients took it to
// be; the steps took, with Σ alpha r·r, all of the energy x·z
// (Hestenes and Stiefel 1952, theorem 6:1); and zeta, which must never fall, lies where Rayleigh quotients say: with B = A +
// shift I and unit vectors x before and y = A⁻¹x / |A⁻¹x| after an iteration
//
//	x·Bx <= zeta <= y·By <= largest sum of a row of B
//
// by the inequalities of Jensen, of Cauchy and Schwarz, and Gershgorin's circles.
// The last line of output is "verification: successful", or "verification:
// FAILED" with the reason and exit status 1.
//
// # Ranks
//
// With -ranks, the run is that of one rank among several that share the rows: its
// rows, its parts of the vectors, search directions that are whole. What other ranks
// would send is zero (alone), so that it solves the system of its own rows and
// columns; of the checks, those of the residual and the energy remain.
//
// # Not modelled
//
// The original solves once more, untimed, before it starts. It adds up equal
// entries of the matrix in another order, of which zeta shows nothing. Its ranks have
// blocks of rows and columns, and share the product of each row.
package main

import (
	"cmp"
	"fmt"
	"io"
	"os"

	"presage/datasets/programs/internal/program"
)

func main() {
	program.Begin() // everything is allocated before the matrix is made
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its surroundings as arguments. It returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err != nil {
		return program.Refuse(stderr, "npbcg", err)
	}

	p := allocate(o)
	makea(&p.matrix, p.generator, p.shift)
	iterate(p)
	found := examine(p)
	if !o.quiet {
		report(stdout, p, found)
	}
	return program.Conclude(stdout, verify(p, found))
}

// options are the problem's parameters as the command line gives them.
type options struct {
	class      string  // "S", "W", "A", or none
	n          int     // rows
	nonzer     int     // elements of a random vector, but for the last
	shift      float64 // above the largest eigenvalue
	iterations int
	ranks      int  // that share the rows; of 1, the whole
	rank       int  // which of them this run is
	quiet      bool // print nothing but the verification
}

// classes are NAS's problem sizes.
var classes = map[string]options{
	"S": {n: 1400, nonzer: 7, shift: 10, iterations: 15},
	"W": {n: 7000, nonzer: 8, shift: 12, iterations: 15},
	"A": {n: 14000, nonzer: 11, shift: 20, iterations: 15},
}

func defaults() options { return options{n: 4000, nonzer: 8, iterations: 15, ranks: 1} }

// parse reads and checks the command line.
func parse(args []string, stderr io.Writer) (options, error) {
	o := defaults()
	f := program.NewFlags("npbcg", &o.quiet)
	f.StringVar(&o.class, "class", o.class, "NAS problem `class` S, W or A, which sets n, nonzer, shift and, unless given, iterations")
	f.IntVar(&o.n, "n", o.n, "`rows` of the matrix, 100 to 1000000")
	f.IntVar(&o.nonzer, "nonzer", o.nonzer, "random `elements` of each vector, 1 to 20; a row of the matrix has some (nonzer+1)² entries")
	f.Float64Var(&o.shift, "shift", o.shift, "what is taken from the diagonal, above the largest eigenvalue, at most 1000; if 0, 2 + (nonzer+1)²/6")
	f.IntVar(&o.iterations, "iterations", o.iterations, "iterations of the power method, 1 to 10000")
	f.IntVar(&o.ranks, "ranks", o.ranks, "run the share of one of so many `ranks`, alone, 1 to 64")
	f.IntVar(&o.rank, "rank", o.rank, "which of the ranks, from 0")
	if err := f.Read(args, stderr); err != nil {
		return o, err
	}
	if o.class != "" {
		if err := o.setClass(f); err != nil {
			return o, err
		}
	}
	if o.shift == 0 {
		o.shift = 2 + float64((o.nonzer+1)*(o.nonzer+1))/6
	}
	return o, o.check()
}

// setClass sets what the class sets, and refuses flags that were given for it.
func (o *options) setClass(f program.Flags) error {
	if err := f.Class(o.class, "n", "nonzer", "shift"); err != nil {
		return err
	}
	c := classes[o.class]
	o.n, o.nonzer, o.shift = c.n, c.nonzer, c.shift
	if !f.Given("iterations") {
		o.iterations = c.iterations
	}
	return nil
}

// check reports the first parameter that is out of range.
func (o options) check() error {
	if err := cmp.Or(
		program.Within("n", o.n, 100, 1000000),
		program.Within("nonzer", o.nonzer, 1, 20),
		program.Within("iterations", o.iterations, 1, 10000),
	); err != nil {
		return err
	}
	if !(o.shift > 0 && o.shift <= 1000) { // also refuses NaN
		return fmt.Errorf("-shift %g: want a number above 0, at most 1000", o.shift)
	}
	return o.checkRanks()
}
