//go:build linux && amd64

package native

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/objfile"
)

// open opens an executable.
func open(t testing.TB, path string) *objfile.File {
	t.Helper()
	f, err := objfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// compile builds a C program with gcc.
func compile(t testing.TB, source string, flags ...string) *objfile.File {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("gcc is not installed")
	}
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
