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
	// Everything is allocated before the first block; a collection would find
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
		fmt.Fprintf(stderr, "ep: %v\n", err)
		return exitUsage
	}

	p := allocate(o)
	tabulate(p)
	if !o.quiet {
		report(stdout, p)
	}
	return conclude(stdout, p)
}

// conclude prints the verdict and returns the exit status.
func conclude(stdout io.Writer, p *problem) int {
	if err := verify(p); err != nil {
		fmt.Fprintf(stdout, "verification: FAILED: %v\n", err)
		return exitFailed
	}
	fmt.Fprintln(stdout, "verification: successful")
	return exitOK
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
	f := flag.NewFlagSet("ep", flag.ContinueOnError)
	f.SetOutput(io.Discard) // run prints the error, once
	f.StringVar(&o.class, "class", o.class, "NAS problem `class` S, W or A, which sets n")
	f.IntVar(&o.n, "n", o.n, "log2 of the number of pairs, 8 to 36")
	f.BoolVar(&o.quiet, "quiet", o.quiet, "print nothing but the verification")

	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		f.SetOutput(stderr)
		fmt.Fprintln(stderr, "usage: ep [flags]")
		f.PrintDefaults()
	}
	if err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q: all parameters are flags, see -help", f.Arg(0))
	}
	if o.class != "" {
		c, ok := classes[o.class]
		if !ok {
			return o, fmt.Errorf("-class %q: want S, W or A", o.class)
		}
		f.Visit(func(f *flag.Flag) {
			if f.Name == "n" {
				err = fmt.Errorf("-%s: class %s sets it; give one or the other", f.Name, o.class)
			}
		})
		o.n = c.n
	}
	if err == nil && (o.n < 8 || o.n > 36) {
		err = fmt.Errorf("-n %d: want an integer from 8 to 36", o.n)
	}
	return o, err
}
