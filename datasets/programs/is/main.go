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
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
)

// Exit statuses.
const (
	exitOK     = 0
	exitFailed = 1 // the program's checks of its own result failed
	exitUsage  = 2
)

func main() {
	// Everything is allocated before the first ranking; a collection would find
	// nothing to free and would only add its own memory accesses.
	debug.SetGCPercent(-1)
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main with its surroundings as arguments. It returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err != nil {
		fmt.Fprintf(stderr, "is: %v\n", err)
		return exitUsage
	}

	p := allocate(o)
	createSeq(p.key, o.keys)
	iterate(p)
	found := fullVerify(p)
	if !o.quiet {
		report(stdout, p, found)
	}
	return conclude(stdout, p, found)
}

// conclude prints the verdict and returns the exit status.
func conclude(stdout io.Writer, p *problem, found findings) int {
	if err := verify(p, found); err != nil {
		fmt.Fprintf(stdout, "verification: FAILED: %v\n", err)
		return exitFailed
	}
	fmt.Fprintln(stdout, "verification: successful")
	return exitOK
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
	f := flag.NewFlagSet("is", flag.ContinueOnError)
	f.SetOutput(io.Discard) // run prints the error, once
	f.StringVar(&o.class, "class", o.class, "NAS problem `class` S, W or A, which sets n, keys and, unless given, iterations")
	f.IntVar(&o.n, "n", o.n, "log2 of the number of keys, 8 to 28")
	f.IntVar(&o.keys, "keys", o.keys, "log2 of the number of different keys, 4 to 28; if 0, n - 4")
	f.IntVar(&o.iterations, "iterations", o.iterations, "rankings, 1 to 100")
	f.BoolVar(&o.quiet, "quiet", o.quiet, "print nothing but the verification")

	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		f.SetOutput(stderr)
		fmt.Fprintln(stderr, "usage: is [flags]")
		f.PrintDefaults()
	}
	if err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q: all parameters are flags, see -help", f.Arg(0))
	}
	if o.class != "" {
		given := map[string]bool{}
		f.Visit(func(f *flag.Flag) { given[f.Name] = true })
		if err := o.setClass(given); err != nil {
			return o, err
		}
	}
	if o.keys == 0 {
		o.keys = o.n - 4
	}
	return o, o.check()
}

// setClass sets what the class sets, and refuses flags that were given for it.
func (o *options) setClass(given map[string]bool) error {
	c, ok := classes[o.class]
	if !ok {
		return fmt.Errorf("-class %q: want S, W or A", o.class)
	}
	for _, name := range []string{"n", "keys"} {
		if given[name] {
			return fmt.Errorf("-%s: class %s sets it; give one or the other", name, o.class)
		}
	}
	o.n, o.keys = c.n, c.keys
	if !given["iterations"] {
		o.iterations = c.iterations
	}
	return nil
}

// check reports the first parameter that is out of range.
func (o options) check() error {
	for _, v := range []struct {
		name          string
		value, lo, hi int
	}{
		{"n", o.n, 8, 28},
		{"keys", o.keys, 4, 28},
		{"iterations", o.iterations, 1, 100},
	} {
		if v.value < v.lo || v.value > v.hi {
			return fmt.Errorf("-%s %d: want an integer from %d to %d", v.name, v.value, v.lo, v.hi)
		}
	}
	if o.iterations >= 1<<o.keys {
		return fmt.Errorf("-iterations %d: want less than the 2^%d different keys", o.iterations, o.keys)
	}
	return nil
}
