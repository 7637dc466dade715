package cfd

import (
	"errors"
	"fmt"
	"io"
	"math"

	"presage/datasets/programs/internal/npb"
	"presage/datasets/programs/internal/program"
)

// A Solver is a program's arrays and its time step.
type Solver interface {
	// Fields returns the state, the forcing and the right-hand side. The latter
	// is free between steps.
	Fields() (u, forcing, rhs Field)

	// Step advances the state by one time step. It allocates nothing.
	Step()
}

// Run is a program's main with its surroundings as arguments: it reads the
// command line, sets up the problem in what allocate returns, does the steps,
// and checks and prints the result. It returns the exit status.
//
// NAS does one step before those that it times and initialises again. That step
// leaves nothing behind that the result depends on, and is left out.
func Run(name, benchmark string, args []string, stdout, stderr io.Writer, allocate func(*Options, Coefficients) Solver) int {
	o, err := parse(name, benchmark, args, stderr)
	if err != nil {
		return program.Refuse(stderr, name, err)
	}

	c := NewCoefficients(o.N, o.Dt)
	s := allocate(o, c)
	u, forcing, rhs := s.Fields()
	c.Forcing(forcing, rhs)
	c.Initialize(u)
	before := c.examine(u, forcing, rhs)
	for range o.Iterations {
		s.Step()
	}
	after := c.examine(u, forcing, rhs)

	if !o.Quiet {
		report(stdout, name, o, before, after)
	}
	return program.Conclude(stdout, verify(o, before, after))
}

// findings is what a state is judged by: RMS norms by component, and whether
// the boundary still has the exact values.
type findings struct {
	residual, error [5]float64
	boundary        bool
}

func (c *Coefficients) examine(u, forcing, rhs Field) findings {
	c.Residual(rhs, u, forcing)
	return findings{residual: c.Norm(rhs), error: c.ErrorNorm(u), boundary: c.BoundaryIsExact(u)}
}

// verify checks that the boundary is untouched, that the steps have brought the
// state nearer to the steady one, and, where NAS has values, that all norms are
// as NAS has them.
func verify(o *Options, before, after findings) error {
	if !after.boundary {
		return errors.New("values on the boundary have changed")
	}
	for _, v := range []struct {
		what, quantity string
		from, to       [5]float64
	}{
		{"RMS norm of the residual", "residual_rms_norm", before.residual, after.residual},
		{"RMS norm of the error", "error_rms_norm", before.error, after.error},
	} {
		if !(total(v.to) < total(v.from)) { // also refuses NaN
			return fmt.Errorf("%s over all components has gone from %.6e to %.6e: want it lower", v.what, total(v.from), total(v.to))
		}
		if !o.verified() {
			continue
		}
		want := npb.Reference(o.Benchmark, o.Class.Name, v.quantity)
		if err := npb.Compare(v.what, v.to[:], want, npb.Tolerance); err != nil {
			return err
		}
	}
	return nil
}

func total(rms [5]float64) float64 {
	sum := 0.0
	for _, v := range rms {
		sum += v * v
	}
	return math.Sqrt(sum)
}

// report prints the parameters and the norms, to fewer digits than the sum of
// the machines' rounding differences could change.
func report(w io.Writer, name string, o *Options, before, after findings) {
	fmt.Fprintf(w, "%s: n %d, dt %.6g, steps %d, structure %s, arrays for n %d\n", name, o.N, o.Dt, o.Iterations, o.Structure, o.Max)
	norms := func(name string, v [5]float64) {
		fmt.Fprintf(w, "%-8s", name)
		for _, x := range v {
			fmt.Fprintf(w, " %.6e", x)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "initial: residual %.6e, error %.6e over all components\n", total(before.residual), total(before.error))
	norms("residual", after.residual)
	norms("error", after.error)
	switch {
	case o.verified():
		fmt.Fprintf(w, "class %s: compared with NAS's values to a relative %g\n", o.Class.Name, npb.Tolerance)
	case o.Class.Name != "":
		fmt.Fprintf(w, "class %s: NAS has values after %d steps only\n", o.Class.Name, o.Class.Steps)
	default:
		fmt.Fprintln(w, "no class: NAS has no values")
	}
}
