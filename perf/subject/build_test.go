package subject

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/objfile"
)

func TestOpenAndBuildErrors(t *testing.T) {
	if _, err := Open("build_test.go"); !errors.Is(err, objfile.ErrNotELF) {
		t.Errorf("a source: %v", err)
	}
	if _, err := Build(t.Context(), "build_test.go"); err == nil || !strings.Contains(err.Error(), "is a file") {
		t.Errorf("a file: %v", err)
	}
	if _, err := Build(t.Context(), "nowhere"); err == nil {
		t.Error("no folder: no error")
	}
	if _, err := Build(t.Context(), "../store"); err == nil || !strings.Contains(err.Error(), "main package") {
		t.Errorf("a library: %v", err)
	}
	broken := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module broken\n", "main.go": "package main\nfunc main() { x }\n"} {
		if err := os.WriteFile(filepath.Join(broken, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Build(t.Context(), broken); err == nil || !strings.Contains(err.Error(), "undefined: x") {
		t.Errorf("a program that does not compile: %v", err)
	}
}

// What GOFLAGS say of compiler and linker, which notebooks' kernels set, does not change a
// program: it would lose its lines, and its profiles their keys.
func TestBuildIgnoresLinkerFlags(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module small\n", "main.go": "package main\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var files [2][]byte
	for i, flags := range []string{"", "-ldflags=-s -gcflags=all=-dwarf=false"} {
		t.Setenv("GOFLAGS", flags)
		exe := filepath.Join(dir, "exe")
		if err := (GoBuild{Dir: dir, Target: Guest}).Run(t.Context(), exe); err != nil {
			t.Fatal(err)
		}
		var err error
		if files[i], err = os.ReadFile(exe); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Errorf("%d bytes, and %d with GOFLAGS", len(files[0]), len(files[1]))
	}
}
