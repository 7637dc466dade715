package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"presage/datasets/programs/internal/program"
)

// runString runs the program with the fields of line as arguments.
func runString(line string) (stdout, stderr string, status int) {
	var out, problems bytes.Buffer
	status = run(strings.Fields(line), &out, &problems)
	return out.String(), problems.String(), status
}

func TestVerifies(t *testing.T) {
	for _, line := range []string{"-input go -n 40", "-input json -n 100", "-input expressions -n 500"} {
		out, problems, status := runString(line)
		if status != program.OK || problems != "" || !strings.HasSuffix(out, "verification: successful\n") {
			t.Errorf("%s: status %d\n%s%s", line, status, out, problems)
		}
		if again, _, _ := runString(line); again != out {
			t.Errorf("%s: a second run prints\n%sthe first\n%s", line, again, out)
		}
		if quiet, _, _ := runString(line + " -quiet"); quiet != "verification: successful\n" {
			t.Errorf("%s -quiet prints\n%s", line, quiet)
		}
	}
}

func TestRefusesArguments(t *testing.T) {
	for line, want := range map[string]string{
		"-n 0": "out of range", "-n 1000001": "out of range", "-input go more": "out of range",
		"-input xml": "use go, json or expressions", "-files 3": "not defined",
	} {
		out, problems, status := runString(line)
		if status != program.Usage || out != "" || !strings.Contains(problems, want) {
			t.Errorf("%s: status %d, want %d and %q\n%s%s", line, status, program.Usage, want, out, problems)
		}
	}
	if _, _, status := runString("-help"); status != program.OK {
		t.Errorf("-help: status %d", status)
	}
}

// Each of these inputs is broken in one place, which the check has to find.
func TestGoIsChecked(t *testing.T) {
	source, written := newWriter(&random{state: 1}).file()
	if _, _, err := checkGo(source, written); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, replaced, want string }{
		{"package p", "package ", "expected"},
		{"\ntotal:=a\n", "\ntotal:=a\nunused:=a\n", "declared and not used"},
		{"\ntotal:=a\n", "\ntotal:=a + undeclared\n", "undefined"},
		{"\ntotal:=a\n", "\ntotal:=a\nif a < b {}\n", "was made of"},
		{"\ntotal:=a\n", "\ntotal:=((a))\n", "nodes"},
	} {
		broken := bytes.Replace(source, []byte(c.old), []byte(c.replaced), 1)
		if _, _, err := checkGo(broken, written); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q for %q: error %v, want one with %q", c.replaced, c.old, err, c.want)
		}
	}
	if err := sameTokens([]byte("a + b\n"), []byte("a+c;")); err == nil {
		t.Error("a + b and a+c have the same tokens")
	}
	if err := sameTokens([]byte("a + b\n"), []byte("a+b;")); err != nil {
		t.Error(err)
	}
}

func TestDocumentsAreChecked(t *testing.T) {
	text, tokens, err := roundTrip(map[string]any{"a": []any{1.5, nil, true}, "b": "<"})
	if want := `{"a":[1.5,null,true],"b":"\u003c"}`; text != want || tokens != 10 || err != nil {
		t.Errorf("%s of %d tokens (%v), want %s of 10", text, tokens, err, want)
	}
	for _, doc := range []any{1, "\xff", []any{int8(3)}, map[string]any{"x": []string{}}} {
		if _, _, err := roundTrip(doc); err == nil {
			t.Errorf("%#v is not what decoding gives, and that is not found", doc)
		}
	}
	if _, err := typedTrip(&order{ID: 1<<53 + 1}); err == nil {
		t.Error("a number that float64 cannot hold comes back by way of any")
	}
	if _, err := relaid([]byte(`{"a": 1}`)); err == nil {
		t.Error("a text that is not compact is not told from its compacted one")
	}
}

func TestLinesAreChecked(t *testing.T) {
	l := newLines()
	fields := map[string]string{
		"date": "2001-02-03", "time": "04:05:06.25", "host": "opal7",
		"level": "error", "message": "no river", "file": "a/b.go", "row": "12", "code": "E00AF",
	}
	const line = "2001-02-03T04:05:06.25Z opal7 error: no river at a/b.go:12 [E00AF]"
	if got, err := l.render(1, fields); got != line || err != nil {
		t.Fatalf("the template makes %q (%v), want %q", got, err, line)
	}
	if parts, err := l.check(1, line, fields); parts != len(fields) || err != nil {
		t.Fatalf("%d fields (%v), want %d", parts, err, len(fields))
	}
	for i, broken := range []string{
		strings.Replace(line, "12", "13", 1),      // another field
		strings.Replace(line, "error", "eror", 1), // no match
		strings.Replace(line, "25Z", "25", 1),     // matches, and the template makes another line
	} {
		if _, err := l.check(1, broken, fields); err == nil {
			t.Errorf("line %d is taken for what the fields make: %s", i, broken)
		}
	}
	if _, err := l.check(0, line, fields); err == nil {
		t.Error("a line of one kind is taken for one of another")
	}
}

func TestFailureIsReported(t *testing.T) {
	calls := 0
	broken := func(*random) (string, int, error) {
		if calls++; calls == 3 {
			return "", 0, fmt.Errorf("no good")
		}
		return "a", 1, nil
	}
	var out bytes.Buffer
	if status := process(broken, "go", 5, true, &out); status != program.Failed || out.String() != "verification: FAILED: text 3 of input go: no good\n" {
		t.Errorf("status %d\n%s", status, out.String())
	}
}
