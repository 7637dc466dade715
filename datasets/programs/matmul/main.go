// Matmul multiplies two n x n matrices of doubles tile by tile, as programs do
// that want a tile to stay in cache while it is used: serial, deterministic, all
// memory allocated before the multiplication. It is our own writing of loop
// tiling as textbooks describe it, made to be profiled; the study of how tiles
// and caches get along is Lam, Rothberg and Wolf, ASPLOS 1991.
//
//	multiply              the tiles of C, and for each those along k
//	   └─ multiplyTile    tile of C += tile of A x tile of B
//
// Tiles are squares of -block elements on a side; those at the right and lower
// edge are smaller where block does not divide n. The elements of A and B are
// uniform in [½, 1), from a generator with a fixed seed. With -repeat r the
// product is added up r times, so that C = r A B.
//
// # What is checked
//
// C x = r A (B x) for three fixed vectors x (Freivalds' check), row by row, to
// the rounding errors that the sums can make at most: all terms are positive, so
// that this is a relative bound. The last line of output is "verification:
// successful", or "verification: FAILED" with the reason and exit status 1.
//
// # Not modelled
//
// Tiles copied together before use, several levels of tiles, registers held
// across rows (unroll and jam): what a tuned library does beyond tiling.
package main

import (
	"cmp"
	"io"
	"os"

	"presage/datasets/programs/internal/program"
)

func main() {
	program.Begin() // everything is allocated before the multiplication
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its surroundings as arguments. It returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err != nil {
		return program.Refuse(stderr, "matmul", err)
	}

	p := allocate(o)
	initialize(p)
	for range p.repeat {
		multiply(p)
	}
	if !o.quiet {
		report(stdout, p)
	}
	return program.Conclude(stdout, verify(p))
}

// options are the problem's parameters as the command line gives them.
type options struct {
	n      int  // rows and columns
	block  int  // rows and columns of a tile, at most
	repeat int  // multiplications
	quiet  bool // print nothing but the verification
}

// defaults take tiles of which three (6 KB) fit into any first-level cache, and
// as many multiplications as outweigh the start of the program at small n.
func defaults() options { return options{n: 100, block: 16, repeat: 10} }

// parse reads and checks the command line.
func parse(args []string, stderr io.Writer) (options, error) {
	o := defaults()
	f := program.NewFlags("matmul", &o.quiet)
	f.IntVar(&o.n, "n", o.n, "`rows` and columns of each matrix, 1 to 4000")
	f.IntVar(&o.block, "block", o.block, "`rows` and columns of a tile, 1 to 4000; tiles at the edge are smaller if it does not divide n")
	f.IntVar(&o.repeat, "repeat", o.repeat, "`times` the product is computed and added up, 1 to 1000")
	if err := f.Read(args, stderr); err != nil {
		return o, err
	}
	return o, o.check()
}

// check reports the first parameter that is out of range.
func (o options) check() error {
	return cmp.Or(
		program.Within("n", o.n, 1, 4000),
		program.Within("block", o.block, 1, 4000),
		program.Within("repeat", o.repeat, 1, 1000),
	)
}
