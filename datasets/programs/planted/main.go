// Planted is a program with four problems of memory, each in a part of its own, and
// without them: what a diagnosis is held against.
//
//	sumField      sums a matrix that is stored by rows, column by column
//	moveParticles uses two of the eight fields of each particle
//	blendLayers   reads twelve layers that begin at the same place of each way of a cache
//	countHits     lets four threads count in neighbouring words
//
// -mend takes the problems away one after the other: 1 sums row by row, 2 also keeps the
// two fields in arrays of their own, 3 also moves the layers apart, 4 also gives each
// counter a cache line. Whatever is mended, the result is the same.
//
// # What is checked
//
// Each part against what it sums by formula: all values are small whole numbers, so that
// sums are exact in doubles. The last line of output is "verification: successful", or
// "verification: FAILED" with the reason and exit status 1.
package main

import (
	"fmt"
	"io"
	"os"

	"presage/datasets/programs/internal/program"
)

func main() {
	program.Begin() // everything is allocated before it is used
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// options are the program's arguments.
type options struct {
	n, mend int
	quiet   bool
}

// Limits of the arguments.
const (
	mostN    = 4096
	mostMend = 4
)

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	f := program.NewLoudFlags("planted", stderr, &o.quiet, "print the verification alone")
	f.IntVar(&o.n, "n", 200, "rows of the matrix; other parts have 8n and n elements")
	f.IntVar(&o.mend, "mend", 0, "problems that are taken away, 0 to 4")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.n < 1 || o.n > mostN:
		return o, fmt.Errorf("-n %d: want 1 to %d", o.n, mostN)
	case o.mend < 0 || o.mend > mostMend:
		return o, fmt.Errorf("-mend %d: want 0 to %d", o.mend, mostMend)
	}
	return o, nil
}

// run is main with its surroundings as arguments. It returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err != nil {
		return program.Refuse(stderr, "planted", err)
	}
	r := results{
		field:     sumField(newField(o.n), o.n, o.mend >= 1),
		particles: newParticles(o.n*perRow, o.mend >= 2).move(),
		layers:    newLayers(o.n*perRow, o.mend >= 3).blend(),
		hits:      countHits(o.n, o.mend >= 4),
	}
	if !o.quiet {
		fmt.Fprintf(stdout, "planted: n %d, mended %d: %v\n", o.n, o.mend, r)
	}
	return program.Conclude(stdout, r.verify(o.n))
}
