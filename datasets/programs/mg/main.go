// Mg is the kernel MG of the NAS Parallel Benchmarks: V-cycles of a multigrid
// method for Poisson's equation on a periodic cube. Four operators with 27 points
// each go through meshes of n³, (n/2)³, ... 2³ points. Serial, deterministic, our own
// writing from the published specification (RNR-94-007) and the parameters in NPB 2
// and 3.
//
//	zran3     the right-hand side
//	iterate ─┬─ mg3P ─┬─ rprj3    restricts the residual to the next coarser mesh
//	         │        ├─ interp   adds the interpolated correction
//	         │        ├─ resid    r = v - A u
//	         │        └─ psinv    u += S r
//	         ├─ resid
//	         └─ norm2u3
//
// # The problem
//
// A u = v, where v is 1 at ten points, -1 at ten others, and 0 elsewhere: numbers
// of the NAS sequence are drawn for all points, and the ten largest and smallest
// taken. u starts from 0.
//
// # What is checked
//
// For a class, with its number of iterations: the norm of the residual against
// NAS's, to 1e-8. At all sizes: that norm falls by half in each iteration at least,
// down to rounding; the residual is v - A u, calculated anew from the definition of
// A at up to 4096 points; it adds up to 0, as charges do and A u must. The last line
// of output is "verification: successful", or "verification: FAILED" with the
// reason and exit status 1.
//
// # Not modelled
//
// The original makes one cycle, untimed, before it starts. Its smoother for class
// B and larger has other coefficients.
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
	// Everything is allocated before the first cycle; a collection would find
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
		fmt.Fprintf(stderr, "mg: %v\n", err)
		return exitUsage
	}

	p := allocate(o)
	zran3(p)
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
	class      string // "S", "W", "A", or none
	n          int    // points along an edge of the finest mesh
	iterations int
	quiet      bool // print nothing but the verification
}

// classes are NAS's problem sizes.
var classes = map[string]options{
	"S": {n: 32, iterations: 4},
	"W": {n: 128, iterations: 4},
	"A": {n: 256, iterations: 4},
}

func defaults() options { return options{n: 64, iterations: 4} }

// parse reads and checks the command line.
func parse(args []string, stderr io.Writer) (options, error) {
	o := defaults()
	f := flag.NewFlagSet("mg", flag.ContinueOnError)
	f.SetOutput(io.Discard) // run prints the error, once
	f.StringVar(&o.class, "class", o.class, "NAS problem `class` S, W or A, which sets n and, unless given, iterations")
	f.IntVar(&o.n, "n", o.n, "mesh `points` along each edge, a power of two from 4 to 512")
	f.IntVar(&o.iterations, "iterations", o.iterations, "V-cycles, 1 to 1000")
	f.BoolVar(&o.quiet, "quiet", o.quiet, "print nothing but the verification")

	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		f.SetOutput(stderr)
		fmt.Fprintln(stderr, "usage: mg [flags]")
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
	return o, o.check()
}

// setClass sets what the class sets, and refuses flags that were given for it.
func (o *options) setClass(given map[string]bool) error {
	c, ok := classes[o.class]
	if !ok {
		return fmt.Errorf("-class %q: want S, W or A", o.class)
	}
	if given["n"] {
		return fmt.Errorf("-n: class %s sets it; give one or the other", o.class)
	}
	o.n = c.n
	if !given["iterations"] {
		o.iterations = c.iterations
	}
	return nil
}

// check reports the first parameter that is out of range.
func (o options) check() error {
	if o.n < 4 || o.n > 512 || o.n&(o.n-1) != 0 {
		return fmt.Errorf("-n %d: want a power of two from 4 to 512", o.n)
	}
	if o.iterations < 1 || o.iterations > 1000 {
		return fmt.Errorf("-iterations %d: want an integer from 1 to 1000", o.iterations)
	}
	return nil
}
