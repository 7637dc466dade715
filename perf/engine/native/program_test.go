//go:build linux && amd64

package native

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/isa"
	"presage/perf/objfile"
)

// open returns the parts of an executable that the engine needs.
func open(t testing.TB, path string) *objfile.File {
	t.Helper()
	ef, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer ef.Close()
	f := &objfile.File{Path: path, Entry: ef.Entry, Target: &isa.Target{Name: "amd64"}}
	for _, p := range ef.Progs {
		if p.Type == elf.PT_LOAD {
			f.Segments = append(f.Segments, objfile.Segment{Addr: p.Vaddr, MemSize: p.Memsz})
		}
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
