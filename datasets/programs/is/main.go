// Is is the kernel "integer sort" of the NAS Parallel Benchmarks: it ranks keys by
// counting them. There is no arithmetic to speak of: each key is a load from, and
// a store to, a random place of an array. Serial, deterministic, our own writing
// from the published specification (RNR-94-007) and the parameters in NPB 2 and 3.
//
//	createSeq    the keys
//	rank         iterated: changes two keys, counts all, adds up the counts
//	fullVerify   puts each key where its rank says
//
// # The problem
//
// A key is the sum of four numbers of the NAS sequence times a quarter of the
// number of different keys, cut to a whole number: about normally distributed.
// The rank of a key is the number of keys below it. Before ranking number i = 1..,
// key i becomes i, and key i + 10 becomes the number of different keys minus i
// (i + iterations if these are more than ten), so that no two rankings are equal.
//
// # What is checked
//
// For a class, up to the tenth ranking: in each, the ranks of five keys are NAS's
// (partial verification). At all sizes: in each ranking, all keys are counted, and
// five keys, counted one by one, have the rank found; and at the end, the keys put
// where their ranks say ascend, and are the same keys as before. The last line of
// output is "verification: successful", or "verification: FAILED" with the reason
// and exit status 1.
//
// # Not modelled
//
// The buckets into which NPB 3 may divide keys first.
package main

import (
	"cmp"
	"fmt"
	"io"
	"os"

	"presage/datasets/programs/internal/program"
)

func main() {
	program.Begin() // everything is allocated before the first ranking
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its surroundings as arguments. It returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if err != nil {
		return program.Refuse(stderr, "is", err)
	}

	p := allocate(o)
	createSeq(p.key, o.keys)
	iterate(p)
	found := fullVerify(p)
	if !o.quiet {
		report(stdout, p, found)
	}
	return program.Conclude(stdout, verify(p, found))
}

// options are the problem's parameters as the command line gives them.
type options struct {
	class      string // "S", "W", "A", or none
	n          int    // log2 of the number of keys
	keys       int    // log2 of the number of different keys
	iterations int
	quiet      bool // print nothing but the verification
}

// classes are NAS's problem sizes.
var classes = map[string]options{
	"S": {n: 16, keys: 11, iterations: 10},
	"W": {n: 20, keys: 16, iterations: 10},
	"A": {n: 23, keys: 19, iterations: 10},
}

func defaults() options { return options{n: 18, iterations: 10} }

// parse reads and checks the command line.
func parse(args []string, stderr io.Writer) (options, error) {
	o := defaults()
	f := program.NewFlags("is", &o.quiet)
	f.StringVar(&o.class, "class", o.class, "NAS problem `class` S, W or A, which sets n, keys and, unless given, iterations")
	f.IntVar(&o.n, "n", o.n, "log2 of the number of keys, 8 to 28")
	f.IntVar(&o.keys, "keys", o.keys, "log2 of the number of different keys, 4 to 28; if 0, n - 4")
	f.IntVar(&o.iterations, "iterations", o.iterations, "rankings, 1 to 100")
	if err := f.Read(args, stderr); err != nil {
		return o, err
	}
	if o.class != "" {
		if err := o.setClass(f); err != nil {
			return o, err
		}
	}
	if o.keys == 0 {
		o.keys = o.n - 4
	}
	return o, o.check()
}

// setClass sets what the class sets, and refuses flags that were given for it.
func (o *options) setClass(f program.Flags) error {
	if err := f.Class(o.class, "n", "keys"); err != nil {
		return err
	}
	c := classes[o.class]
	o.n, o.keys = c.n, c.keys
	if !f.Given("iterations") {
		o.iterations = c.iterations
	}
	return nil
}

// check reports the first parameter that is out of range.
func (o options) check() error {
	if err := cmp.Or(
		program.Within("n", o.n, 8, 28),
		program.Within("keys", o.keys, 4, 28),
		program.Within("iterations", o.iterations, 1, 100),
	); err != nil {
		return err
	}
	if o.iterations >= 1<<o.keys {
		return fmt.Errorf("-iterations %d: want less than the 2^%d different keys", o.iterations, o.keys)
	}
	return nil
}
