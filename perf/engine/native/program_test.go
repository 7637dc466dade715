//go:build linux && amd64

package native

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"presage/perf/engine"
	"presage/perf/internal/oracle"
	"presage/perf/objfile"
)

// traceable runs the smallest program that there is, once.
var traceable = sync.OnceValue(func() error {
	f, err := objfile.Open("/usr/bin/true")
	if err != nil {
		return nil // the test itself will tell
	}
	_, err = Engine{}.Run(context.Background(), f, engine.Request{})
	return err
})

// open opens an executable. It skips the test where processes may not be traced.
func open(t testing.TB, path string) *objfile.File {
	t.Helper()
	if err := traceable(); errors.Is(err, ErrPtrace) {
		t.Skip(err)
	}
	f, err := objfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// compile builds a C program with gcc.
func compile(t testing.TB, source string, flags ...string) *objfile.File {
	t.Helper()
	gcc := oracle.Need(t, "gcc")
	dir := t.TempDir()
	in, out := filepath.Join(dir, "program.c"), filepath.Join(dir, "program")
	if err := os.WriteFile(in, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command(gcc, append(flags, "-o", out, in)...).CombinedOutput(); err != nil {
		t.Fatalf("gcc %s: %v\n%s", strings.Join(flags, " "), err, text)
	}
	return open(t, out)
}

// compileTo builds a C++ program or library with g++.
func compileTo(t testing.TB, out string, flags ...string) {
	t.Helper()
	if text, err := exec.Command(oracle.Need(t, "g++"), append(flags, "-o", out)...).CombinedOutput(); err != nil {
		t.Fatalf("g++ %s: %v\n%s", strings.Join(flags, " "), err, text)
	}
}
