//go:build linux && amd64

package objfile_test

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/objfile"
)

const librarySource = `int numbers[100];
static int first(int x) { return x + 1; }
static int second(int x) { return x - 1; }
int (*const choices[])(int) = {first, second};
int chosen(int x) {
	return choices[x & 1](x) + numbers[x % 100];
}
`

// library builds a shared library with debugging information.
func library(t *testing.T, flags ...string) *objfile.File {
	t.Helper()
	gcc := oracle.Need(t, "gcc")
	dir := t.TempDir()
	source, path := filepath.Join(dir, "own.c"), filepath.Join(dir, "libown.so")
	if err := os.WriteFile(source, []byte(librarySource), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(gcc, append(flags, "-g", "-O1", "-fPIC", "-shared", "-o", path, source)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := objfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestJoin(t *testing.T) {
	const base = 1 << 36
	for name, flags := range map[string][]string{
		"relocations": nil, "packed relocations": {"-Wl,-z,pack-relative-relocs"},
	} {
		t.Run(name, func(t *testing.T) {
			main, _ := nativeFile(t, "-g")
			lib := library(t, flags...)
			f, err := objfile.Join(main, []objfile.Module{{Name: "libown.so", Path: lib.Path, Base: base, File: lib}})
			if err != nil {
				t.Fatal(err)
			}
			if f.Path != main.Path || f.Entry != main.Entry || f.SHA256 == main.SHA256 || len(f.Modules) != 1 {
				t.Errorf("path %s, entry %#x, hash %s, %d modules", f.Path, f.Entry, f.SHA256, len(f.Modules))
			}
			checkJoinedRoutines(t, f, main, 0, "")
			checkJoinedRoutines(t, f, lib, base, "libown.so!")
			at := find(f, "libown.so!chosen")
			if !slices.Equal(f.Bytes(at.Addr, at.Size), lib.Bytes(at.Addr-base, at.Size)) {
				t.Error("other code")
			}
			checkPointers(t, f, base)
			vars, err := f.Variables()
			if err != nil || !slices.ContainsFunc(vars, func(v objfile.Variable) bool {
				return v.Name == "libown.so!numbers" && v.Size == 400 && v.Addr > base
			}) {
				t.Errorf("variables %v, %v", vars, err)
			}
			places := f.Places(at.Addr, at.End())
			if len(places) == 0 || places[0].From != at.Addr || places[len(places)-1].To != at.End() {
				t.Errorf("places %+v of [%#x,%#x)", places, at.Addr, at.End())
			}
		})
	}
}

// checkJoinedRoutines compares the routines of a part with those of its file.
func checkJoinedRoutines(t *testing.T, joined, f *objfile.File, base uint64, prefix string) {
	t.Helper()
	for _, r := range f.Routines {
		got := joined.RoutineAt(base + r.Addr)
		if got == nil || got.Name != prefix+r.Name || got.Addr != base+r.Addr || got.Size != r.Size {
			t.Errorf("%s is %+v", r.Name, got)
			continue
		}
		want, ok := f.LineAt(r.Addr)
		if line, also := joined.LineAt(base + r.Addr); line != want || also != ok {
			t.Errorf("%s is at %v, alone at %v", r.Name, line, want)
		}
		want, ok = f.DeclaredAt(r.Addr)
		if line, also := joined.DeclaredAt(base + r.Addr); line != want || also != ok {
			t.Errorf("%s is declared at %v, alone at %v", r.Name, line, want)
		}
	}
}

// checkPointers checks that the table of routines holds joined addresses.
func checkPointers(t *testing.T, f *objfile.File, base uint64) {
	t.Helper()
	symbols := map[string]bool{}
	for _, s := range f.Sections {
		if s.Addr < base || !strings.HasPrefix(s.Name, ".data.rel.ro") {
			continue
		}
		for at := s.Addr; at+8 <= s.Addr+s.Size; at += 8 {
			if r := f.RoutineAt(binary.LittleEndian.Uint64(f.Bytes(at, 8))); r != nil {
				symbols[r.Name] = true
			}
		}
	}
	if !symbols["libown.so!first"] || !symbols["libown.so!second"] {
		t.Errorf("the table leads to %v", symbols)
	}
}

func TestJoinRefuses(t *testing.T) {
	main, _ := nativeFile(t)
	lib := library(t)
	at := func(base uint64) objfile.Module {
		return objfile.Module{Name: "libown.so", Base: base, File: lib}
	}
	joined, err := objfile.Join(main, []objfile.Module{at(1 << 36)})
	if err != nil {
		t.Fatal(err)
	}
	if same, err := objfile.Join(main, nil); same != main || err != nil {
		t.Errorf("no modules: %v, %v", same, err)
	}
	foreign, err := objfile.Open("../subject/testdata/sized.elf") // for riscv64
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		main    *objfile.File
		modules []objfile.Module
	}{
		{"over the executable", main, []objfile.Module{at(0x1000)}},
		{"over another", main, []objfile.Module{at(1 << 36), at(1<<36 + 0x1000)}},
		{"too high", main, []objfile.Module{at(1<<47 - 0x1000)}},
		{"beyond all addresses", main, []objfile.Module{at(1<<64 - 0x1000)}},
		{"for another machine", main, []objfile.Module{{Name: "sized", Base: 1 << 36, File: foreign}}},
		{"joined again", joined, []objfile.Module{at(1 << 37)}},
		{"a joined module", main, []objfile.Module{{Name: "joined", Base: 1 << 38, File: joined}}},
	} {
		if f, err := objfile.Join(c.main, c.modules); err == nil || f != nil {
			t.Errorf("%s: no error", c.name)
		}
	}
	other, err := objfile.Join(main, []objfile.Module{at(1 << 37)})
	if err != nil || other.SHA256 == joined.SHA256 {
		t.Errorf("another base has the hash %s, %v", joined.SHA256, err)
	}
}
