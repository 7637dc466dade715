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
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
)

// Exit statuses.
const (
	exitOK     = 0
	exitFailed = 1 // the program's checks of its own result failed
	exitUsage  = 2
)

func main() {
	// Everything is allocated before the matrix is made; a collection would find
	// nothing to free and would only add its own memory accesses.
	debug.SetGCPercent(-1)
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its surroundings as arguments. It returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err != nil {
		fmt.Fprintf(stderr, "npbcg: %v\n", err)
		return exitUsage
	}

	p := allocate(o)
	makea(&p.matrix, p.generator, p.shift)
	iterate(p)
	found := examine(p)
	if !o.quiet {
		report(stdout, p, found)
	}
	return conclude(stdout, p, found)
}

// conclude prints the verdict and returns the exit status.
func conclude(stdout io.Writer, p *problem, found findings) int {
	if err := verify(p, found); err != nil {
		fmt.Fprintf(stdout, "verification: FAILED: %v\n", err)
		return exitFailed
	}
	fmt.Fprintln(stdout, "verification: successful")
	return exitOK
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
	f := flag.NewFlagSet("npbcg", flag.ContinueOnError)
	f.SetOutput(io.Discard) // run prints the error, once
	f.StringVar(&o.class, "class", o.class, "NAS problem `class` S, W or A, which sets n, nonzer, shift and, unless given, iterations")
	f.IntVar(&o.n, "n", o.n, "`rows` of the matrix, 100 to 1000000")
	f.IntVar(&o.nonzer, "nonzer", o.nonzer, "random `elements` of each vector, 1 to 20; a row of the matrix has some (nonzer+1)² entries")
	f.Float64Var(&o.shift, "shift", o.shift, "what is taken from the diagonal, above the largest eigenvalue, at most 1000; if 0, 2 + (nonzer+1)²/6")
	f.IntVar(&o.iterations, "iterations", o.iterations, "iterations of the power method, 1 to 10000")
	f.IntVar(&o.ranks, "ranks", o.ranks, "run the share of one of so many `ranks`, alone, 1 to 64")
	f.IntVar(&o.rank, "rank", o.rank, "which of the ranks, from 0")
	f.BoolVar(&o.quiet, "quiet", o.quiet, "print nothing but the verification")

	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		f.SetOutput(stderr)
		fmt.Fprintln(stderr, "usage: npbcg [flags]")
		f.PrintDefaults()
	}
	if err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q: all parameters are flags, see -help", f.Arg(0))
	}
	if o.class != "" {
		given := map[string]bool{}
		f.Visit(func(f *flag.Flag) { given[f.Name] = true })
		if err := o.setClass(given); err != nil {
			return o, err
		}
	}
	if o.shift == 0 {
		o.shift = 2 + float64((o.nonzer+1)*(o.nonzer+1))/6
	}
	return o, o.check()
}

// setClass sets what the class sets, and refuses flags that were given for it.
func (o *options) setClass(given map[string]bool) error {
	c, ok := classes[o.class]
	if !ok {
		return fmt.Errorf("-class %q: want S, W or A", o.class)
	}
	for _, name := range []string{"n", "nonzer", "shift"} {
		if given[name] {
			return fmt.Errorf("-%s: class %s sets it; give one or the other", name, o.class)
		}
	}
	o.n, o.nonzer, o.shift = c.n, c.nonzer, c.shift
	if !given["iterations"] {
		o.iterations = c.iterations
	}
	return nil
}

// check reports the first parameter that is out of range.
func (o options) check() error {
	for _, v := range []struct {
		name          string
		value, lo, hi int
	}{
		{"n", o.n, 100, 1000000},
		{"nonzer", o.nonzer, 1, 20},
		{"iterations", o.iterations, 1, 10000},
	} {
		if v.value < v.lo || v.value > v.hi {
			return fmt.Errorf("-%s %d: want an integer from %d to %d", v.name, v.value, v.lo, v.hi)
		}
	}
	if !(o.shift > 0 && o.shift <= 1000) { // also refuses NaN
		return fmt.Errorf("-shift %g: want a number above 0, at most 1000", o.shift)
	}
	return o.checkRanks()
}
