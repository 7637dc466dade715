// Lu solves the steady compressible Navier-Stokes equations in a cube, with a
// forcing by which a polynomial is their exact solution, by symmetric successive
// over-relaxation (SSOR): the application benchmark LU of the NAS Parallel
// Benchmarks, which RNR-94-007 specifies. It is our own writing, with the
// discretisation, the routines and the data layout of the serial sources of NPB
// 3.0, made to be profiled: serial, deterministic, all memory allocated before the
// first step.
//
//	ssor, in each step ─┬─ scale        residual times the time step
//	                    ├─ jacld, blts  front by front: blocks, lower solve
//	                    ├─ jacu, buts   front by front, backwards: upper solve
//	                    ├─ add          correction added to the solution
//	                    └─ rhs          new residual
//	                        ├─ primitives
//	                        └─ rhsx, rhsy, rhsz
//
// A front is a plane k = const of the mesh, as in NAS's LU, or with -order
// hyperplane the points with the same i + j + k, as in LU-HP, which are reached
// through a list. Blocks are kept for one front only, in arrays of the size of a
// plane. Both orders obey the same dependences: their results are the same.
//
// # The problem
//
// The mesh has n points along each edge of the unit cube, n-2 of them inside. On
// the faces the solution is exact; inside, iterations start from an interpolation
// between the faces. NAS's classes set n, the number of steps, and their length.
// NAS's later versions do a step before the clock starts and then set the problem
// up again; version 3.0 and this program do not.
//
// # What is checked
//
// Where n, steps and their length are a NAS class: the norms of the residual and
// of the error and the surface integral of the pressure, against NAS's reference
// values to 1e-8. Always: the solution is finite, exact on the faces, and nearer
// to the exact one than at the start; the residual is that of the solution, by
// another way of computing it, at up to 4096 points; and a front of the lower and
// of the upper sweep solves the equations that its blocks stand for. The last line
// of output is "verification: successful", or "verification: FAILED" with the
// reason and exit status 1.
//
// # Not modelled
//
// Meshes with different numbers of points along the axes, norms every so many
// steps, timers, and the end of iterations when the residual is small.
package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"presage/datasets/programs/internal/npb"
	"presage/datasets/programs/internal/program"
)

func main() {
	program.Begin() // everything is allocated before the first step
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its surroundings as arguments. It returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err != nil {
		return program.Refuse(stderr, "lu", err)
	}

	p := allocate(o)
	initialize(p)
	ssor(p)
	found := examine(p)
	class := o.classed()
	if !o.quiet {
		report(stdout, p, o, found, class)
	}
	return program.Conclude(stdout, verify(p, found, class))
}

// Orders of the points in a sweep.
const (
	plane      = "plane"
	hyperplane = "hyperplane"
)

// The sizes that the benchmark is run at: the smallest on which each line has four
// points next to its ends and more, and the paper's largest mesh.
const (
	smallest = 10
	largest  = 200
)

// options are the problem's parameters as the command line gives them.
type options struct {
	n          int     // mesh points along each edge
	max        int     // mesh points along each edge that arrays have room for
	iterations int     // time steps
	dt         float64 // length of one
	order      string  // plane or hyperplane
	quiet      bool    // print nothing but the verification
}

// defaults have the steps of Marin and Mellor-Crummey 2004, section 3, and the
// time step of NAS's classes A to C, which converges on every mesh.
func defaults() options { return options{n: 12, iterations: 50, dt: 2, order: plane} }

// parse reads and checks the command line.
func parse(args []string, stderr io.Writer) (options, error) {
	o := defaults()
	classes := classNames()
	f := program.NewFlags("lu", &o.quiet)
	f.IntVar(&o.n, "n", o.n, "mesh `points` along each edge, 10 to 200")
	f.IntVar(&o.max, "max", o.max, "mesh `points` along each edge that the arrays have room for, n to 200 (default n)")
	f.IntVar(&o.iterations, "iterations", o.iterations, "time `steps`, 1 to 10000")
	f.Float64Var(&o.dt, "dt", o.dt, "length of a time step, 1e-6 to 10")
	class := f.String("class", "", "n, iterations and dt of a NAS `class`, "+strings.Join(classes, ", ")+", where they are not given")
	f.StringVar(&o.order, "order", o.order, "`order` of the points in a sweep: plane, or hyperplane as in LU-HP")
	if err := f.Read(args, stderr); err != nil {
		return o, err
	}
	if f.Given("class") {
		if !slices.Contains(classes, *class) {
			return o, fmt.Errorf("-class %s: want one of %s", *class, strings.Join(classes, ", "))
		}
		o.fill(*class, f)
	}
	if !f.Given("max") {
		o.max = o.n
	}
	return o, o.check()
}

// fill sets what a class sets and the command line does not.
func (o *options) fill(class string, f program.Flags) {
	c, _ := npb.Find(benchmark, class)
	if !f.Given("n") {
		o.n = c.N
	}
	if !f.Given("iterations") {
		o.iterations = c.Steps
	}
	if !f.Given("dt") {
		o.dt = c.Dt
	}
}

// check reports the first parameter that is out of range.
func (o options) check() error {
	if err := cmp.Or(
		program.Within("n", o.n, smallest, largest),
		program.Within("max", o.max, o.n, largest),
		program.Within("iterations", o.iterations, 1, 10000),
	); err != nil {
		return err
	}
	if !(o.dt >= 1e-6 && o.dt <= 10) { // also refuses NaN
		return fmt.Errorf("-dt %g: want a number from 1e-6 to 10", o.dt)
	}
	if o.order != plane && o.order != hyperplane {
		return fmt.Errorf("-order %s: want %s or %s", o.order, plane, hyperplane)
	}
	return nil
}

const benchmark = "LU"

// classNames returns the NAS classes that fit the arrays.
func classNames() []string {
	var names []string
	for _, c := range npb.Classes(benchmark) {
		if c.N <= largest {
			names = append(names, c.Name)
		}
	}
	return names
}

// classed returns the NAS class that the parameters are, or "".
func (o options) classed() string {
	for _, c := range npb.Classes(benchmark) {
		if c.N == o.n && c.Steps == o.iterations && c.Dt == o.dt {
			return c.Name
		}
	}
	return ""
}
