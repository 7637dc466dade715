//go:build linux && amd64

package objfile_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/objfile"
)

const nativeProgram = `#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int one(int x) { return x + 1; }
static int two(int x) { return x * 2; }
int (*const table[])(int) = {one, two};
__attribute__((noinline)) int third(int x) { return table[x & 1](x) + (int)strlen(getenv("HOME") ? "yes" : "no"); }
int main(int argc, char **argv) { printf("%d\n", third(argc)); return 0; }
`

func nativeFile(t *testing.T, flags ...string) (*objfile.File, string) {
	t.Helper()
	gcc := oracle.Need(t, "gcc")
	exe := filepath.Join(t.TempDir(), "native")
	cmd := exec.Command(gcc, append(append([]string{"-x", "c", "-", "-O1", "-o", exe}, flags...), "-lm")...)
	cmd.Stdin = strings.NewReader(nativeProgram)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := objfile.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	return f, exe
}

func find(f *objfile.File, name string) *objfile.Routine {
	for i := range f.Routines {
		if f.Routines[i].Name == name {
			return &f.Routines[i]
		}
	}
	return nil
}

func TestNativeFiles(t *testing.T) {
	for _, c := range []struct {
		name    string
		flags   []string
		dynamic bool
	}{
		{"dynamic", nil, true},
		{"not position-independent", []string{"-no-pie", "-fno-pie"}, true},
		{"bound at once", []string{"-Wl,-z,now"}, true},
		{"with landing pads for jumps", []string{"-fcf-protection=full", "-Wl,-z,ibtplt"}, true},
		{"static", []string{"-static"}, false},
		{"static and position-independent", []string{"-static-pie"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, _ := nativeFile(t, c.flags...)
			if f.Target.Name != "amd64" || (f.Interpreter != "") != c.dynamic {
				t.Errorf("target %s, interpreter %q", f.Target.Name, f.Interpreter)
			}
			if find(f, "main") == nil || find(f, "third") == nil {
				t.Error("no main or third")
			}
			if !c.dynamic {
				return
			}
			imports := make([]string, 0, len(f.Imports))
			for _, name := range f.Imports {
				imports = append(imports, name)
			}
			for _, name := range []string{"printf", "getenv"} {
				if !slices.Contains(imports, name) || find(f, name+"@plt") == nil {
					t.Errorf("no import of %s, or no stub for it, among %q", name, imports)
				}
			}
		})
	}
}

// TestStrippedRoutines compares the routines that .eh_frame describes with those
// of the symbol table.
func TestStrippedRoutines(t *testing.T) {
	whole, exe := nativeFile(t)
	if out, err := exec.Command(oracle.Need(t, "strip"), exe).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := objfile.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"main", "third", "one", "two", "_start"} {
		r := find(whole, name)
		if r == nil {
			t.Fatalf("no %s", name)
		}
		got := f.RoutineAt(r.Addr)
		if got == nil || got.Addr != r.Addr || got.Size != r.Size || !strings.HasPrefix(got.Name, "sub_") {
			t.Errorf("%s at %#x, %d bytes: found %+v", name, r.Addr, r.Size, got)
		}
	}
	if find(f, "printf@plt") == nil {
		t.Error("no stub of printf")
	}
}

// TestRelocatedTable reads a table of pointers in a position-independent program,
// which relocations fill.
func TestRelocatedTable(t *testing.T) {
	f, _ := nativeFile(t)
	one, two := find(f, "one"), find(f, "two")
	if one == nil || two == nil {
		t.Fatal("one or two was inlined")
	}
	found := false
	for _, s := range f.Segments {
		for at := 0; at+16 <= len(s.Data); at += 8 {
			word := func(i int) (v uint64) {
				for k := 7; k >= 0; k-- {
					v = v<<8 | uint64(s.Data[at+8*i+k])
				}
				return v
			}
			found = found || word(0) == one.Addr && word(1) == two.Addr
		}
	}
	if !found {
		t.Error("the table does not hold the routines' addresses")
	}
}

func TestSharedLibrary(t *testing.T) {
	f, _ := nativeFile(t, "-shared", "-fPIC")
	if !f.PIE || find(f, "third") == nil || len(f.Imports) == 0 {
		t.Errorf("%d routines, %d imports", len(f.Routines), len(f.Imports))
	}
}
