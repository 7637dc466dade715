// Sources makes up text and has the standard library take it apart: Go files
// (parsed, type-checked, formatted), JSON documents (encoded, decoded), or lines
// of a log (matched with regular expressions, rendered with templates). Its code
// is what matters: 250 to 400 KB of instructions are executed, in routines that
// run in turn, each for a short while, so that caches of instructions miss. It is
// our own writing, made to be profiled.
//
//	goFile         type-checked, formatted, and parsed and formatted again
//	  └─ writer    makes up a file whose declarations and types are right
//	document       encoded, decoded into any and into structs, indented
//	lines.next     matched with all patterns and one of its own, rendered
//
// -n is the number of Go files (of three functions), documents or lines.
// Memory is never given back: a billion instructions leave about 100 MB.
//
// # What is checked
//
// Go files: each has what was written into it (functions, loops, calls...), no
// error of type, the same tokens after formatting as before, and formatting again
// changes nothing. Documents: decoding gives the values that were encoded, and
// encoding those the same text. Lines: exactly the pattern of its kind matches,
// the submatches are the fields that the line was made of, and a template makes
// the line from them. The last line of output is "verification: successful", or
// "verification: FAILED" with the reason and exit status 1.
package main

import (
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"presage/datasets/programs/internal/program"
)

// An input makes up one file, document or line, takes it apart and checks the
// result. It returns a text that the result has gone into, and how many parts
// (nodes, values, fields) it was taken into.
type input func(r *random) (text string, parts int, err error)

func main() {
	program.Begin() // the collector would add loops of its own to a profile
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its surroundings as arguments. It returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	var quiet bool
	flags := program.NewLoudFlags("sources", stderr, &quiet, "print the verdict only")
	n := flags.Int("n", 8, "Go files, documents or lines, 1 to 1000000")
	name := flags.String("input", "go", "go, json or expressions")
	err := flags.Parse(args)
	if err == nil && (*n < 1 || *n > 1e6 || flags.NArg() > 0) {
		err = program.ErrFlags
	}
	var take input
	if err == nil {
		take, err = find(*name)
	}
	if err != nil {
		return program.Refuse(stderr, "sources", err)
	}
	return process(take, *name, *n, quiet, stdout)
}

func find(name string) (input, error) {
	switch name {
	case "go":
		return goFile, nil
	case "json":
		return document, nil
	case "expressions":
		return newLines().next, nil
	}
	return nil, fmt.Errorf("there is no input %q; use go, json or expressions", name)
}

// process takes n texts of an input, and reports. It returns the exit status.
func process(take input, name string, n int, quiet bool, stdout io.Writer) int {
	r := &random{state: 0x9e3779b97f4a7c15}
	letters, parts, sum := 0, 0, uint32(0)
	for i := range n {
		text, p, err := take(r)
		if err != nil {
			return program.Conclude(stdout, fmt.Errorf("text %d of input %s: %w", i+1, name, err))
		}
		letters, parts = letters+len(text), parts+p
		sum = crc32.Update(sum, crc32.IEEETable, []byte(text))
	}
	if !quiet {
		fmt.Fprintf(stdout, "sources: input %s, n %d\n", name, n)
		fmt.Fprintf(stdout, "bytes %d, parts %d, checksum %08x\n", letters, parts, sum)
	}
	return program.Conclude(stdout, nil)
}
