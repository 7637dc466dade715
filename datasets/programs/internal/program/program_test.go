package program

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"strings"
	"testing"
)

// read has a program with -n and -class take a command line, as programs do.
func read(t *testing.T, line string) (quiet bool, errs string, err error) {
	t.Helper()
	var stderr bytes.Buffer
	f := NewFlags("p", &quiet)
	n := f.Int("n", 4, "`points`, 2 to 9")
	class := f.String("class", "", "")
	err = f.Read(strings.Fields(line), &stderr)
	if err == nil && *class != "" {
		err = f.Class(*class, "n")
	}
	if err == nil {
		err = Within("n", *n, 2, 9)
	}
	given := ""
	f.Visit(func(set *flag.Flag) { given += set.Name + " " })
	for _, name := range []string{"n", "class", "quiet"} {
		if f.Given(name) != strings.Contains(given, name+" ") {
			t.Errorf("%q: Given(%q) is %v", line, name, f.Given(name))
		}
	}
	return quiet, stderr.String(), err
}

func TestCommandLines(t *testing.T) {
	for _, c := range []struct {
		line  string
		quiet bool
		want  string // the error
	}{
		{line: ""},
		{line: "-n 2"},
		{line: "-n 9 -quiet", quiet: true},
		{line: "-class S"},
		{line: "-n 1", want: "-n 1: want an integer from 2 to 9"},
		{line: "-n 10", want: "-n 10: want an integer from 2 to 9"},
		{line: "-n 3 4", want: `unexpected argument "4": all parameters are flags, see -help`},
		{line: "-m 3", want: "flag provided but not defined: -m"},
		{line: "-class B", want: `-class "B": want S, W or A`},
		{line: "-class W -n 4", want: "-n: class W sets it; give one or the other"},
	} {
		quiet, errs, err := read(t, c.line)
		if quiet != c.quiet || errs != "" || (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%q: quiet %v, error %v, printed %q", c.line, quiet, err, errs)
		}
		if err == nil {
			continue
		}
		var stderr bytes.Buffer
		if status := Refuse(&stderr, "p", err); status != Usage || stderr.String() != "p: "+c.want+"\n" {
			t.Errorf("%q: status %d, %q", c.line, status, &stderr)
		}
	}
}

func TestHelp(t *testing.T) {
	_, errs, err := read(t, "-help")
	want := "usage: p [flags]\n  -class string\n    \t\n  -n points\n    \tpoints, 2 to 9 (default 4)\n  -quiet\n    \tprint nothing but the verification\n"
	var stderr bytes.Buffer
	if status := Refuse(&stderr, "p", err); status != OK || stderr.Len() > 0 || errs != want {
		t.Errorf("status %d, %q, help %q", status, &stderr, errs)
	}
}

// Errors and help as package flag prints them.
func TestLoudFlags(t *testing.T) {
	const usage = "Usage of p:\n  -quiet\n    \tthe verdict only\n"
	for line, want := range map[string]string{"-quiet": "", "-m": "flag provided but not defined: -m\n" + usage, "-h": usage} {
		var stderr bytes.Buffer
		var quiet bool
		err := NewLoudFlags("p", &stderr, &quiet, "the verdict only").Parse(strings.Fields(line))
		if (err == nil) != (want == "") || quiet != (line == "-quiet") || stderr.String() != want {
			t.Errorf("%s: quiet %v, error %v, printed %q", line, quiet, err, &stderr)
		}
		if line == "-h" && Refuse(io.Discard, "p", err) != OK {
			t.Errorf("%s is refused", line)
		}
	}
}

func TestConclude(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		want   string
	}{
		{nil, OK, "verification: successful\n"},
		{errors.New("sum 3, want 4"), Failed, "verification: FAILED: sum 3, want 4\n"},
	} {
		var out bytes.Buffer
		if status := Conclude(&out, c.err); status != c.status || out.String() != c.want {
			t.Errorf("%v: status %d, %q", c.err, status, &out)
		}
	}
}
