// Shortest looks for shortest paths between cells of a grid whose cells cost
// differently to enter, by A* search with a binary heap: pointer-like accesses in
// no order, compares and branches that depend on data. It is our own writing of
// the algorithm of Hart, Nilsson and Raphael (1968), made to be profiled.
//
//	search            takes the cheapest cell from the heap and settles it
//	  ├─ pop, push    the heap, with entries that are out of date left in it
//	  └─ relax        the four cells next to it
//
// The grid has -n x -n cells, wrapped in walls. Maps: open (all cells cost 1 or
// 2), hills (1 to 64, smooth), maze (walls with gaps). With -greedy 0 the search
// is Dijkstra's: no estimate of what is left.
//
// # What is checked
//
// The proof of optimality of every path, from the definition: costs along the
// path add up; every settled cell's neighbours cost no more than by way of it;
// no cell left in the heap promises less than the path costs. The last line of
// output is "verification: successful", or "verification: FAILED" with the reason
// and exit status 1.
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
	flags := program.NewLoudFlags("shortest", stderr, &quiet, "print the verdict only")
	n := flags.Int("n", 128, "cells along an edge, 4 to 4096")
	searches := flags.Int("searches", 4, "paths to look for, 1 to 1000")
	kind := flags.String("map", "hills", "open, hills or maze")
	greedy := flags.Int("greedy", 1, "1: A*; 0: Dijkstra's algorithm")
	err := flags.Parse(args)
	switch {
	case err == nil && (*n < 4 || *n > 4096 || *searches < 1 || *searches > 1000 || *greedy < 0 || *greedy > 1 || flags.NArg() > 0):
		err = program.ErrFlags
	case err == nil && *kind != "open" && *kind != "hills" && *kind != "maze":
		err = fmt.Errorf("there is no map %q; use open, hills or maze", *kind)
	}
	if err != nil {
		return program.Refuse(stderr, "shortest", err)
	}
	g := newGrid(*n, *kind, *greedy)
	if !quiet {
		fmt.Fprintf(stdout, "shortest: map %s, n %d, searches %d, greedy %d\n", *kind, *n, *searches, *greedy)
	}
	for i := range *searches {
		from, to := g.freeCell(), g.freeCell()
		found := g.search(from, to)
		if !quiet {
			fmt.Fprintf(stdout, "search %d: cost %d, settled %d, pushed %d\n", i+1, g.cost[to], g.settled, g.pushed)
		}
		if err := g.verify(from, to, found); err != nil {
			return program.Conclude(stdout, fmt.Errorf("search %d: %w", i+1, err))
		}
	}
	return program.Conclude(stdout, nil)
}
