// Blocksort compresses blocks of bytes as block-sorting compressors do: the
// Burrows-Wheeler transformation, move-to-front, runs of zeros, a Huffman code;
// and expands them again. It is our own writing after Burrows and Wheeler (SRC
// report 124, 1994), made to be profiled.
//
//	compress
//	  ├─ bwt.Sorter     rotations sorted by prefixes of 1, 2, 4, … bytes
//	  ├─ bwt.ToFront    move-to-front
//	  ├─ runs           of zeros, in binary
//	  └─ encode         canonical Huffman code, bits
//	expand              all of it backward
//
// What comes before the code is package bwt, which compressor has, too; the runs,
// the code and the inputs are its own.
//
// There are -blocks blocks of -n bytes. Inputs: text (words drawn by rank), runs
// (long repeats), noise (random bytes).
//
// # What is checked
//
// Expanding gives the input again. The last line of output is "verification:
// successful", or "verification: FAILED" with the reason and exit status 1.
package main

import (
	"bytes"
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
	flags := program.NewLoudFlags("blocksort", stderr, &quiet, "print the verdict only")
	n := flags.Int("n", 50000, "bytes of a block, 2 to 16777216")
	blocks := flags.Int("blocks", 2, "blocks, 1 to 1000")
	input := flags.String("input", "text", "text, runs or noise")
	err := flags.Parse(args)
	switch {
	case err == nil && (*n < 2 || *n > 1<<24 || *blocks < 1 || *blocks > 1000 || flags.NArg() > 0):
		err = program.ErrFlags
	case err == nil && *input != "text" && *input != "runs" && *input != "noise":
		err = fmt.Errorf("there is no input %q; use text, runs or noise", *input)
	}
	if err != nil {
		return program.Refuse(stderr, "blocksort", err)
	}
	if !quiet {
		fmt.Fprintf(stdout, "blocksort: input %s, %d blocks of %d bytes\n", *input, *blocks, *n)
	}
	p := newPacker(*n)
	source := newSource(*input)
	for i := range *blocks {
		source.fill(p.block)
		p.compress()
		if !quiet {
			fmt.Fprintf(stdout, "block %d: %d symbols, %d bits, rotation %d\n", i+1, len(p.symbols), p.bits.n, p.first)
		}
		if err := p.expand(); err != nil {
			return program.Conclude(stdout, fmt.Errorf("block %d: %w", i+1, err))
		}
		if !bytes.Equal(p.expanded, p.block) {
			return program.Conclude(stdout, fmt.Errorf("block %d comes back as another", i+1))
		}
	}
	return program.Conclude(stdout, nil)
}
