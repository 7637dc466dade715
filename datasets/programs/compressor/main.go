// Compressor compresses a text that it makes up, block by block, takes it apart
// again and compares. It is no numerical program: whole numbers, bytes, branches
// that depend on data, and accesses all over a block. Serial, deterministic, our
// own writing from textbook descriptions of the methods.
//
//	write ─ for each block ─┬─ Sorter.Rotations   sort all rotations of the block
//	                        ├─ Sorter.Last        their last letters (Burrows and Wheeler)
//	                        ├─ ToFront            how many other letters since (move to front)
//	                        ├─ encoder.block      as bits, by adaptive arithmetic coding
//	                        ├─ decoder.block ─ FromFront ─ Invert
//	                        └─ compare
//
// # The methods
//
// Package bwt sorts the rotations and moves letters to the front, as for
// blocksort. The numbers that come out, mostly 0, are coded bit by bit, from the
// highest, each bit with a chance of its own that learns (shift by 5) for what is
// known: the bits before it, and whether the two numbers before were 0, 1 or more.
// The coder keeps a range of 32 bits, and carries go into the bytes that were
// written.
//
// # What is checked
//
// Every block: the decoded one is the original, letter by letter; ranks are a
// permutation; the first column is in order; each sixteenth pair of neighbours is
// in order by comparison. At the end: the size is below what coding each letter by
// its frequency would take, and above what the text generator's choices hold. The
// last line of output is "verification: successful", or "verification: FAILED"
// with the reason and exit status 1.
//
// # Not modelled
//
// Files: the text is made up, and the result is kept in memory, or, with -repeat,
// written over.
package main

import (
	"cmp"
	"io"
	"os"

	"presage/datasets/programs/internal/program"
)

func main() {
	program.Begin() // everything is allocated before the first block
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its surroundings as arguments. It returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err != nil {
		return program.Refuse(stderr, "compressor", err)
	}
	p := allocate(o)
	compress(p)
	if !o.quiet {
		report(stdout, p)
	}
	return program.Conclude(stdout, verify(p))
}

// options are the problem's parameters as the command line gives them.
type options struct {
	n     int  // KiB of text
	block int  // KiB of a block
	quiet bool // print nothing but the verification
}

func defaults() options { return options{n: 256, block: 900} }

// parse reads and checks the command line.
func parse(args []string, stderr io.Writer) (options, error) {
	o := defaults()
	f := program.NewFlags("compressor", &o.quiet)
	f.IntVar(&o.n, "n", o.n, "KiB of text, 1 to 1048576")
	f.IntVar(&o.block, "block", o.block, "KiB of a block, 1 to 16384")
	if err := f.Read(args, stderr); err != nil {
		return o, err
	}
	return o, cmp.Or(program.Within("n", o.n, 1, 1<<20), program.Within("block", o.block, 1, 1<<14))
}
