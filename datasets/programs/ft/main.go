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
	"fmt"
	"io"
	"os"

	"presage/datasets/programs/internal/program"
)

func main() {
	program.Begin() // everything is allocated before the first transform
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its surroundings as arguments. It returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err != nil {
		return program.Refuse(stderr, "ft", err)
	}

	p := allocate(o)
	initialize(p)
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
	f := program.NewFlags("ft", &o.quiet)
	f.StringVar(&o.class, "class", o.class, "NAS problem `class` S, W or A, which sets n, ny, nz and, unless given, iterations")
	f.IntVar(&o.nx, "n", o.nx, "mesh `points` along i, a power of two from 2 to 512")
	f.IntVar(&o.ny, "ny", o.ny, "mesh `points` along j, a power of two from 2 to 512; if 0, n")
	f.IntVar(&o.nz, "nz", o.nz, "mesh `points` along k, a power of two from 2 to 512; if 0, ny")
	f.IntVar(&o.iterations, "iterations", o.iterations, "steps of time, 1 to 1000")
	if err := f.Read(args, stderr); err != nil {
		return o, err
	}
	if o.class != "" {
		if err := o.setClass(f); err != nil {
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
func (o *options) setClass(f program.Flags) error {
	if err := f.Class(o.class, "n", "ny", "nz"); err != nil {
		return err
	}
	c := classes[o.class]
	o.nx, o.ny, o.nz = c.nx, c.ny, c.nz
	if !f.Given("iterations") {
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
	return program.Within("iterations", o.iterations, 1, 1000)
}
