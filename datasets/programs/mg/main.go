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
	"fmt"
	"io"
	"os"

	"presage/datasets/programs/internal/program"
)

func main() {
	program.Begin() // everything is allocated before the first cycle
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its surroundings as arguments. It returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err != nil {
		return program.Refuse(stderr, "mg", err)
	}

	p := allocate(o)
	zran3(p)
	iterate(p)
	found := examine(p)
	if !o.quiet {
		report(stdout, p, found)
	}
	return program.Conclude(stdout, verify(p, found))
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
	f := program.NewFlags("mg", &o.quiet)
	f.StringVar(&o.class, "class", o.class, "NAS problem `class` S, W or A, which sets n and, unless given, iterations")
	f.IntVar(&o.n, "n", o.n, "mesh `points` along each edge, a power of two from 4 to 512")
	f.IntVar(&o.iterations, "iterations", o.iterations, "V-cycles, 1 to 1000")
	if err := f.Read(args, stderr); err != nil {
		return o, err
	}
	if o.class != "" {
		if err := o.setClass(f); err != nil {
			return o, err
		}
	}
	return o, o.check()
}

// setClass sets what the class sets, and refuses flags that were given for it.
func (o *options) setClass(f program.Flags) error {
	if err := f.Class(o.class, "n"); err != nil {
		return err
	}
	c := classes[o.class]
	o.n = c.n
	if !f.Given("iterations") {
		o.iterations = c.iterations
	}
	return nil
}

// check reports the first parameter that is out of range.
func (o options) check() error {
	if o.n < 4 || o.n > 512 || o.n&(o.n-1) != 0 {
		return fmt.Errorf("-n %d: want a power of two from 4 to 512", o.n)
	}
	return program.Within("iterations", o.iterations, 1, 1000)
}
