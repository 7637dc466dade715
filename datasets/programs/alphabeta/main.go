// Alphabeta plays Reversi (Othello) against itself by alpha-beta search: short
// loops along the lines of a board, branches that depend on data, recursion, a
// table of positions. It is our own writing of the algorithm as Knuth and Moore
// analysed it (1975), made to be profiled.
//
//	play
//	  └─ search           best value within a window, from the table or by moves
//	      ├─ moves        squares that turn discs, best first
//	      ├─ move, undo   discs turned, hash kept
//	      └─ evaluate     corners, edges, freedom to move
//
// -moves moves are made, each found by a search -depth deep, beginning with
// -opening moves made at random. The table has 2^-table entries.
//
// # What is checked
//
// The value of each search, against a search without window, table and order of
// moves, three moves deep at most; the position after the game is undone move by
// move to the one before it. The last line of output is "verification:
// successful", or "verification: FAILED" with the reason and exit status 1.
package main

import (
	"fmt"
	"io"
	"os"

	"presage/datasets/programs/internal/program"
)

func main() {
	program.Begin() // all memory is allocated once
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its surroundings as arguments. It returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	var quiet bool
	flags := program.NewLoudFlags("alphabeta", stderr, &quiet, "print the verdict only")
	depth := flags.Int("depth", 5, "moves that a search looks ahead, 1 to 20")
	count := flags.Int("moves", 6, "moves made, 1 to 60")
	opening := flags.Int("opening", 6, "random moves before, 0 to 50")
	table := flags.Int("table", 14, "log2 of the entries of the table, 1 to 24")
	err := flags.Parse(args)
	if err == nil && (*depth < 1 || *depth > 20 || *count < 1 || *count > 60 || *opening < 0 || *opening > 50 || *table < 1 || *table > 24 || flags.NArg() > 0) {
		err = program.ErrFlags
	}
	if err != nil {
		return program.Refuse(stderr, "alphabeta", err)
	}
	g := newGame(*table)
	g.open(*opening)
	if !quiet {
		fmt.Fprintf(stdout, "alphabeta: depth %d, moves %d, opening %d, table 2^%d\n", *depth, *count, *opening, *table)
	}
	return program.Conclude(stdout, g.play(*count, *depth, stdout, quiet))
}
