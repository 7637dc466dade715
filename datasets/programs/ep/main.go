// Ep is the kernel "embarrassingly parallel" of the NAS Parallel Benchmarks: it
// makes pairs of Gaussian deviates from uniform random numbers and counts them in
// square annuli. Hardly any memory is used: it is made of multiplications,
// logarithms, square roots and a branch that no predictor learns. Serial,
// deterministic, our own writing from the published specification (RNR-94-007).
//
//	tabulate ─┬─ npb.Skip     to the first number of the block
//	          ├─ npb.Vranlc   the block's numbers
//	          └─ gaussian     deviates, sums, counts
//
// # The problem
//
// From the uniform numbers r of the NAS sequence with seed 271828183, in pairs,
//
//	x = 2 r(2j-1) - 1,  y = 2 r(2j) - 1,  t = x² + y²
//
// Where t <= 1 (pi/4 of the pairs), X = x √(-2 ln t / t) and Y, likewise, are
// independent deviates of the normal distribution (Marsaglia's polar method).
// Wanted are the sums of X and of Y, and for l = 0..9 how many pairs have
// l <= max(|X|, |Y|) < l+1. Numbers are made in blocks of 2¹⁶ pairs, for each of
// which the sequence is entered anew, as parallel versions must.
//
// # What is checked
//
// For a class, the sums against NAS's, to 1e-8. At all sizes: as many pairs are
// counted as were accepted, and that number, the ten counts and the two sums are
// what probability wants them to be, within six standard deviations. The last
// line of output is "verification: successful", or "verification: FAILED" with the
// reason and exit status 1.
//
// # Not modelled
//
// The original multiplies the random numbers' halves in floating point; here they
// are whole numbers.
package main

import (
	"io"
	"os"

	"presage/datasets/programs/internal/program"
)

func main() {
	program.Begin() // everything is allocated before the first block
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its surroundings as arguments. It returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err != nil {
		return program.Refuse(stderr, "ep", err)
	}

	p := allocate(o)
	tabulate(p)
	if !o.quiet {
		report(stdout, p)
	}
	return program.Conclude(stdout, verify(p))
}

// options are the problem's parameters as the command line gives them.
type options struct {
	class string // "S", "W", "A", or none
	n     int    // log2 of the number of pairs
	quiet bool   // print nothing but the verification
}

// classes are NAS's problem sizes.
var classes = map[string]options{"S": {n: 24}, "W": {n: 25}, "A": {n: 28}}

func defaults() options { return options{n: 20} }

// parse reads and checks the command line.
func parse(args []string, stderr io.Writer) (options, error) {
	o := defaults()
	f := program.NewFlags("ep", &o.quiet)
	f.StringVar(&o.class, "class", o.class, "NAS problem `class` S, W or A, which sets n")
	f.IntVar(&o.n, "n", o.n, "log2 of the number of pairs, 8 to 36")
	if err := f.Read(args, stderr); err != nil {
		return o, err
	}
	if o.class != "" {
		if err := f.Class(o.class, "n"); err != nil {
			return o, err
		}
		o.n = classes[o.class].n
	}
	return o, program.Within("n", o.n, 8, 36)
}
