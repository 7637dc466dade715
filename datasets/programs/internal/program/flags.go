package program

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// Flags are the flags of a program.
type Flags struct{ *flag.FlagSet }

// NewFlags returns flags that hold -quiet, for a command line that Read reads.
// Errors are not printed, since Refuse does.
func NewFlags(name string, quiet *bool) Flags {
	return flags(name, io.Discard, quiet, "print nothing but the verification")
}

// NewLoudFlags returns flags that hold -quiet with a text of its own, for a
// command line that Parse reads: it prints errors, with the usage of all flags, to
// stderr as package flag does.
func NewLoudFlags(name string, stderr io.Writer, quiet *bool, usage string) Flags {
	return flags(name, stderr, quiet, usage)
}

func flags(name string, output io.Writer, quiet *bool, usage string) Flags {
	f := Flags{flag.NewFlagSet(name, flag.ContinueOnError)}
	f.SetOutput(output)
	f.BoolVar(quiet, "quiet", false, usage)
	return f
}

// ErrFlags is the error of programs that do not tell which flag is wrong.
var ErrFlags = errors.New("flags out of range, or arguments that are none; see -help")

// Read parses a command line of flags alone. Help goes to stderr.
func (f Flags) Read(args []string, stderr io.Writer) error {
	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		f.SetOutput(stderr)
		fmt.Fprintf(stderr, "usage: %s [flags]\n", f.Name())
		f.PrintDefaults()
	}
	if err == nil && f.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q: all parameters are flags, see -help", f.Arg(0))
	}
	return err
}

// Given reports whether the command line sets a flag.
func (f Flags) Given(name string) bool {
	given := false
	f.Visit(func(set *flag.Flag) { given = given || set.Name == name })
	return given
}

// Class reports an error if class is none of NAS's S, W and A, or if the command
// line sets one of the flags that a class sets.
func (f Flags) Class(class string, sets ...string) error {
	if class != "S" && class != "W" && class != "A" {
		return fmt.Errorf("-class %q: want S, W or A", class)
	}
	for _, name := range sets {
		if f.Given(name) {
			return fmt.Errorf("-%s: class %s sets it; give one or the other", name, class)
		}
	}
	return nil
}

// Within reports the value of a flag that is out of range.
func Within(name string, value, lo, hi int) error {
	if value < lo || value > hi {
		return fmt.Errorf("-%s %d: want an integer from %d to %d", name, value, lo, hi)
	}
	return nil
}
