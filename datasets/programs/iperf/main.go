// Iperf adds 1 to every element of an n x n array of doubles, once: the kernel
// that Hsu and Kremer explain the times of (A Framework for Qualitative
// Performance Prediction, Rutgers LCSR-TR363, 1998, Figure 3), in three versions
// that stand for their compiler's levels -none, -O3 and -depend -fast.
//
//	naive          rows of an array that lies column by column, so at a stride of
//	               8 n bytes; each index is worked out, checked and called for
//	optimised      the same order; the index moves on by n
//	interchanged   the loops interchanged: column by column, at a stride of 8 bytes,
//	               four elements at a time
//
// and as loops that a compiler is left alone with:
//
//	ij, ji         the kernel as it stands in Figure 3, and interchanged
//	copy           b(i) = a(i), n elements
//	stencil        each element of b the sum of that of a and its four neighbours
//
// It is our own writing, made to be traced and taken apart: each version is one
// routine, kernel in name, that touches nothing but the arrays. With -time the
// time of the call is printed, in seconds.
//
// # What is checked
//
// Every element is exactly 1 more than it was, or what its neighbours add up to.
// The last line of output is
// "verification: successful", or "verification: FAILED" with the reason and exit
// status 1.
package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"presage/datasets/programs/internal/program"
)

func main() {
	program.Begin() // the array is the only memory
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its surroundings as arguments. It returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err != nil {
		return program.Refuse(stderr, "iperf", err)
	}
	v := variants[o.variant]
	a, b := v.arrays(o.n)
	start := time.Now()
	v.run(b, a, o.n)
	seconds := time.Since(start).Seconds()
	if !o.quiet {
		fmt.Fprintf(stdout, "iperf: n %d, variant %s, %d elements\n", o.n, o.variant, len(a))
		fmt.Fprintf(stdout, "corners: %g %g %g %g\n", a[0], a[o.n-1], a[len(a)-o.n], a[len(a)-1])
	}
	if o.time {
		fmt.Fprintf(stdout, "kernel_sec: %.9f\n", seconds)
	}
	return program.Conclude(stdout, v.verify(b, a, o.n))
}

// maxN keeps the array, 8 n² bytes, below 2 GB.
const maxN = 16000

type options struct {
	n       int
	variant string
	time    bool
	quiet   bool
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	f := program.NewLoudFlags("iperf", stderr, &o.quiet, "print the verification only")
	f.IntVar(&o.n, "n", 100, "rows and columns of the array")
	f.StringVar(&o.variant, "variant", "naive", variantNames)
	f.BoolVar(&o.time, "time", false, "print how long the kernel took")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	_, known := variants[o.variant]
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.n < 1 || o.n > maxN:
		return o, fmt.Errorf("-n %d: want 1 to %d", o.n, maxN)
	case !known:
		return o, fmt.Errorf("-variant %q: want %s", o.variant, variantNames)
	}
	return o, nil
}
