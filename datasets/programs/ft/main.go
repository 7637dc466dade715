// Ft is the kernel FT of the NAS Parallel Benchmarks: it solves the diffusion
// equation on a periodic mesh by three-dimensional fast Fourier transforms. These go
// through the mesh along one dimension after the other, in blocks of lines that are
// copied out and back. Serial, deterministic, our own writing from the published
// specification (RNR-94-007) and the structure of NPB 2 and 3.
//
//	initialize ─┬─ computeIndexmap            what a step of time leaves of each wave
//	            ├─ computeInitialConditions
//	            └─ fftInit                    roots of unity
//	iterate ─┬─ fft ─── cffts1, cffts2, cffts3 ─── cfftz ─── fftz2
//	         ├─ evolve                        a step of time
//	         └─ checksum
//
// # The problem
//
// The initial field consists of numbers of the NAS sequence, real and imaginary
// part of each element in turn, i fastest. It is transformed; then, for each step t =
// 1, 2..., element k of the transform is multiplied by exp(-4 alpha pi² |k|²), alpha =
// 10⁻⁶, and transformed back, and 1024 elements are added up.
//
// # What is checked
//
// For a class, as many checksums as were made against NAS's, to 1e-12. At all
// sizes: the forward transform keeps the energy (Parseval); two elements of the
// transform, at the end, are what sums over the whole initial field, and one
// exponential function, make of them; and two elements of the field at the end are
// sums over that transform. The last line of output is "verification: successful", or
// "verification: FAILED" with the reason and exit status 1.
//
// # Not modelled
//
// The original goes through all once, untimed, before it starts.
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
	// Everything is allocated before the first transform; a collection would find
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
		fmt.Fprintf(stderr, "ft: %v\n", err)
		return exitUsage
	}

	p := allocate(o)
	initialize(p)
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
	nx, ny, nz int    // mesh points along each edge
	iterations int
	quiet      bool // print nothing but the verification
}

// classes are NAS's problem sizes.
var classes = map[string]options{
	"S": {nx: 64, ny: 64, nz: 64, iterations: 6},
	"W": {nx: 128, ny: 128, nz: 32, iterations: 6},
	"A": {nx: 256, ny: 256, nz: 128, iterations: 6},
}

func defaults() options { return options{nx: 32, iterations: 6} }

// parse reads and checks the command line.
func parse(args []string, stderr io.Writer) (options, error) {
	o := defaults()
	f := flag.NewFlagSet("ft", flag.ContinueOnError)
	f.SetOutput(io.Discard) // run prints the error, once
	f.StringVar(&o.class, "class", o.class, "NAS problem `class` S, W or A, which sets n, ny, nz and, unless given, iterations")
	f.IntVar(&o.nx, "n", o.nx, "mesh `points` along i, a power of two from 2 to 512")
	f.IntVar(&o.ny, "ny", o.ny, "mesh `points` along j, a power of two from 2 to 512; if 0, n")
	f.IntVar(&o.nz, "nz", o.nz, "mesh `points` along k, a power of two from 2 to 512; if 0, ny")
	f.IntVar(&o.iterations, "iterations", o.iterations, "steps of time, 1 to 1000")
	f.BoolVar(&o.quiet, "quiet", o.quiet, "print nothing but the verification")

	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		f.SetOutput(stderr)
		fmt.Fprintln(stderr, "usage: ft [flags]")
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
	if o.ny == 0 {
		o.ny = o.nx
	}
	if o.nz == 0 {
		o.nz = o.ny
	}
	return o, o.check()
}

// setClass sets what the class sets, and refuses flags that were given for it.
func (o *options) setClass(given map[string]bool) error {
	c, ok := classes[o.class]
	if !ok {
		return fmt.Errorf("-class %q: want S, W or A", o.class)
	}
	for _, name := range []string{"n", "ny", "nz"} {
		if given[name] {
			return fmt.Errorf("-%s: class %s sets it; give one or the other", name, o.class)
		}
	}
	o.nx, o.ny, o.nz = c.nx, c.ny, c.nz
	if !given["iterations"] {
		o.iterations = c.iterations
	}
	return nil
}

// check reports the first parameter that is out of range.
func (o options) check() error {
	for _, v := range []struct {
		name  string
		value int
	}{{"n", o.nx}, {"ny", o.ny}, {"nz", o.nz}} {
		if v.value < 2 || v.value > 512 || v.value&(v.value-1) != 0 {
			return fmt.Errorf("-%s %d: want a power of two from 2 to 512", v.name, v.value)
		}
	}
	if o.iterations < 1 || o.iterations > 1000 {
		return fmt.Errorf("-iterations %d: want an integer from 1 to 1000", o.iterations)
	}
	return nil
}
