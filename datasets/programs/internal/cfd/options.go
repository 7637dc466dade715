package cfd

import (
	"cmp"
	"fmt"
	"io"

	"presage/datasets/programs/internal/npb"
	"presage/datasets/programs/internal/program"
)

// maxPoints is the largest mesh edge: that of the studies' own class L.
const maxPoints = 200

// The two code structures, named after the releases of NPB that had them.
const (
	Structure23 = "2.3"
	Structure30 = "3.0"
)

// Options are the problem's parameters as the command line gives them.
type Options struct {
	Benchmark  string    // "BT" or "SP"
	Class      npb.Class // Name is empty if none was asked for
	N          int       // mesh points along an edge
	Max        int       // mesh points along an edge for which arrays are allocated
	Iterations int       // time steps
	Dt         float64   // time step
	Structure  string    // Structure23 or Structure30
	Quiet      bool      // print nothing but the verification
}

// verified tells whether NAS has reference values for these options.
func (o *Options) verified() bool {
	return o.Class.Name != "" && o.Iterations == o.Class.Steps
}

// parse reads and checks the command line of a program.
func parse(name, benchmark string, args []string, stderr io.Writer) (*Options, error) {
	o := &Options{Benchmark: benchmark}
	var class string
	f := program.NewFlags(name, &o.Quiet)
	f.IntVar(&o.N, "n", 24, fmt.Sprintf("mesh `points` along each edge, %d to %d", MinPoints, maxPoints))
	f.StringVar(&class, "class", "", "NAS `class` S, W, A, B or C: sets -n, -dt and -iterations, and compares with NAS's values")
	f.IntVar(&o.Iterations, "iterations", 3, "time `steps`, 1 to 10000; with -class, another number than the class's leaves out the comparison")
	f.Float64Var(&o.Dt, "dt", 0, "time `step`, up to 0.02 (default that of the smallest class with n points; above class C less, as 1/n²)")
	f.IntVar(&o.Max, "max", 0, fmt.Sprintf("mesh `points` along each edge for which arrays are allocated, n to %d (default n)", maxPoints))
	f.StringVar(&o.Structure, "structure", Structure30, "code structure as in NPB `release` 2.3 (work arrays for the whole mesh) or 3.0 (for a line)")
	if err := f.Read(args, stderr); err != nil {
		return nil, err
	}
	if err := o.setClass(class, f); err != nil {
		return nil, err
	}
	if !f.Given("max") {
		o.Max = o.N
	}
	return o, o.check(f.Given("dt"))
}

// setClass takes from the class what the command line does not give.
func (o *Options) setClass(class string, f program.Flags) error {
	if class == "" {
		return nil
	}
	c, ok := npb.Find(o.Benchmark, class)
	if !ok {
		return fmt.Errorf("-class %q: want S, W, A, B or C", class)
	}
	if f.Given("n") || f.Given("dt") {
		return fmt.Errorf("-class %s sets -n and -dt: leave out the one or the others", class)
	}
	o.Class, o.N, o.Dt = c, c.N, c.Dt
	if !f.Given("iterations") {
		o.Iterations = c.Steps
	}
	return nil
}

// check reports the first parameter that is out of range, and sets the time
// step if it was not given.
func (o *Options) check(dtGiven bool) error {
	if err := cmp.Or(
		program.Within("n", o.N, MinPoints, maxPoints),
		program.Within("max", o.Max, o.N, maxPoints),
		program.Within("iterations", o.Iterations, 1, 10000),
	); err != nil {
		return err
	}
	if o.Structure != Structure23 && o.Structure != Structure30 {
		return fmt.Errorf("-structure %q: want %s or %s", o.Structure, Structure23, Structure30)
	}
	if !dtGiven && o.Class.Name == "" {
		o.Dt = timeStep(o.Benchmark, o.N)
	}
	if !(o.Dt > 0 && o.Dt <= 0.02) { // also refuses NaN
		return fmt.Errorf("-dt %g: want a number above 0, up to 0.02", o.Dt)
	}
	return nil
}

// timeStep returns that of the smallest class with n points. Above the largest
// class it falls as the square of the spacing does.
func timeStep(benchmark string, n int) float64 {
	var last npb.Class
	for _, c := range npb.Classes(benchmark) {
		if n <= c.N {
			return c.Dt
		}
		last = c
	}
	r := float64(last.N-1) / float64(n-1)
	return last.Dt * r * r
}
