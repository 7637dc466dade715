package objfile_test

import (
	"bufio"
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/objfile"
)

const goProgram = `package main

import "fmt"

//go:noinline
func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

func main() { fmt.Println(sum(make([]float64, 100))) }
`

const cProgram = `#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double grid[64][64];

__attribute__((noinline)) static double relax(int n) {
	double s = 0;
	for (int i = 1; i < n - 1; i++)
		for (int j = 1; j < n - 1; j++)
			s += grid[i][j] = sqrt(grid[i - 1][j] + grid[i][j + 1]);
	return s;
}

int main(int argc, char **argv) {
	printf("%g\n", relax(argc > 1 ? atoi(argv[1]) : 64));
	return 0;
}
`

// asmProgram needs no C library: Debian's has no start-up file for static
// position-independent executables.
const asmProgram = `	.globl _start
	.type _start, @function
_start:	li a7, 93
	ecall
	.size _start, . - _start
`

func buildGo(t *testing.T, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "main.go"), goProgram)
	exe := filepath.Join(dir, "go.exe")
	cmd := exec.Command("go", append(append([]string{"build", "-o", exe}, flags...), "main.go")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=riscv64", "CGO_ENABLED=0", "GOFLAGS=", "GO111MODULE=off")
	run(t, cmd)
	return exe
}

func buildC(t *testing.T, name, source string, flags ...string) string {
	t.Helper()
	gcc := oracle.Need(t, "riscv64-linux-gnu-gcc")
	dir := t.TempDir()
	write(t, filepath.Join(dir, name), source)
	exe := filepath.Join(dir, "c.exe")
	cmd := exec.Command(gcc, append(append([]string{"-O2", "-g"}, flags...), "-o", exe, name, "-lm")...)
	cmd.Dir = dir
	run(t, cmd)
	return exe
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, stderr.Bytes())
	}
	return string(out)
}

func open(t *testing.T, path string) *objfile.File {
	t.Helper()
	f, err := objfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// executables builds one executable with each compiler.
var executables = []struct {
	name  string
	build func(t *testing.T) string
}{
	{"go", func(t *testing.T) string { return buildGo(t) }},
	{"gcc", func(t *testing.T) string { return buildC(t, "relax.c", cProgram, "-static") }},
	{"gcc -gdwarf-4", func(t *testing.T) string {
		return buildC(t, "relax.c", cProgram, "-static", "-gdwarf-4", "-gz")
	}},
}

// TestRoutinesAgainstNM compares with nm: each function symbol with a size is
// a routine, or another name of one, or an entry point inside one; and each
// routine is one of nm's symbols.
func TestRoutinesAgainstNM(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	nm := oracle.Need(t, "riscv64-linux-gnu-nm")
	for _, c := range executables {
		t.Run(c.name, func(t *testing.T) {
			exe := c.build(t)
			f := open(t, exe)
			named := make(map[string]bool)
			sized := 0
			for line := range strings.Lines(run(t, exec.Command(nm, "-S", exe))) {
				addr, size, kind, symbol := nmSymbol(t, strings.TrimSpace(line))
				if !strings.Contains("tTWi", kind) {
					continue
				}
				named[fmt.Sprintf("%#x %s", addr, symbol)] = true
				if size == 0 {
					continue
				}
				sized++
				r := f.RoutineAt(addr)
				if r == nil {
					t.Fatalf("no routine at %s", line)
				}
				if r.Addr == addr && r.Size != size || r.End() < addr+size {
					t.Errorf("%s has %d bytes; routine %v", strings.TrimSpace(line), size, r)
				}
			}
			for i, r := range f.Routines {
				if sec := sectionNames(f); !named[fmt.Sprintf("%#x %s", r.Addr, r.Name)] && !sec[r.Name] {
					t.Errorf("nm does not know %s at %#x", r.Name, r.Addr)
				}
				if i > 0 && r.Addr < f.Routines[i-1].End() {
					t.Errorf("%s overlaps %s", r.Name, f.Routines[i-1].Name)
				}
			}
			if sized < 500 {
				t.Errorf("only %d symbols compared", sized)
			}
		})
	}
}

// nmSymbol parses a line of nm -S. The size may be missing; the name may
// contain spaces.
func nmSymbol(t *testing.T, line string) (addr, size uint64, kind, name string) {
	t.Helper()
	first, rest, _ := strings.Cut(line, " ")
	if _, err := strconv.ParseUint(first, 16, 64); err != nil {
		return 0, 0, "undefined", line
	}
	kind, name, _ = strings.Cut(rest, " ")
	if len(kind) > 1 {
		size = hex(t, kind)
		kind, name, _ = strings.Cut(name, " ")
	}
	return hex(t, first), size, kind, name
}

func sectionNames(f *objfile.File) map[string]bool {
	names := make(map[string]bool)
	for _, s := range f.Sections {
		names[s.Name] = true
	}
	return names
}

func hex(t *testing.T, s string) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestLinesAgainstAddr2line compares the lines of 2,000 addresses in routines.
func TestLinesAgainstAddr2line(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	addr2line := oracle.Need(t, "riscv64-linux-gnu-addr2line")
	for _, c := range executables[1:] { // binutils 2.40 finds nothing in Go's; see TestLinesAgainstDebugDWARF
		t.Run(c.name, func(t *testing.T) {
			exe := c.build(t)
			f := open(t, exe)
			rng := rand.New(rand.NewPCG(1, 2))
			var pcs []uint64
			for _, r := range f.Routines {
				if _, ok := f.LineAt(r.Addr); ok || rng.IntN(10) == 0 {
					pcs = append(pcs, r.Addr+rng.Uint64N(r.Size)&^1)
				}
			}
			for len(pcs) < 2000 {
				pcs = append(pcs, pcs[rng.IntN(len(pcs))]&^15+rng.Uint64N(16)&^1)
			}
			cmd := exec.Command(addr2line, "-e", exe)
			var in bytes.Buffer
			for _, pc := range pcs {
				fmt.Fprintf(&in, "%#x\n", pc)
			}
			cmd.Stdin = &in
			known := 0
			out := bufio.NewScanner(strings.NewReader(run(t, cmd)))
			for _, pc := range pcs {
				out.Scan()
				want, _, _ := strings.Cut(out.Text(), " ") // without " (discriminator 3)"
				got := "??:0"
				if l, ok := f.LineAt(pc); ok {
					got = fmt.Sprintf("%s:%d", l.File, l.Line)
					known++
				}
				if strings.HasSuffix(want, ":?") || strings.HasSuffix(want, ":0") {
					want = "??:0"
				}
				if !sameLine(c.name, got, want) {
					t.Errorf("pc %#x: %s, addr2line %s", pc, got, want)
				}
			}
			if err := f.LinesErr(); err != nil || known < 10 {
				t.Errorf("%d known lines, %v", known, err)
			}
		})
	}
}

// sameLine compares with addr2line's answer. Before DWARF 5 the compiler's
// directory is not in the line table, so that got is relative.
func sameLine(name, got, want string) bool {
	return got == want || name == "gcc -gdwarf-4" && strings.HasSuffix(want, "/"+got)
}

// TestLinesAgainstDebugDWARF compares every row that debug/dwarf decodes.
func TestLinesAgainstDebugDWARF(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, c := range executables {
		t.Run(c.name, func(t *testing.T) {
			exe := c.build(t)
			f := open(t, exe)
			ef, err := elf.Open(exe)
			if err != nil {
				t.Fatal(err)
			}
			defer ef.Close()
			d, err := ef.DWARF()
			if err != nil {
				t.Fatal(err)
			}
			compared := 0
			r := d.Reader()
			for e, err := r.Next(); e != nil && err == nil; e, err = r.Next() {
				if e.Tag == dwarf.TagCompileUnit {
					compared += compareUnit(t, c.name, f, d, e)
				}
				r.SkipChildren()
			}
			if compared < 10 {
				t.Errorf("only %d rows compared", compared)
			}
		})
	}
}

func compareUnit(t *testing.T, name string, f *objfile.File, d *dwarf.Data, unit *dwarf.Entry) (compared int) {
	t.Helper()
	lr, err := d.LineReader(unit)
	if err != nil || lr == nil {
		return 0
	}
	var prev, e dwarf.LineEntry
	for have := false; ; have = true {
		if err := lr.Next(&e); errors.Is(err, io.EOF) {
			return compared
		} else if err != nil {
			t.Fatal(err)
		}
		if have && !prev.EndSequence && e.Address > prev.Address && prev.Line > 0 {
			for _, pc := range []uint64{prev.Address, e.Address - 1} {
				l, ok := f.LineAt(pc)
				want := fmt.Sprintf("%s:%d", filepath.Clean(prev.File.Name), prev.Line)
				if got := fmt.Sprintf("%s:%d", l.File, l.Line); !ok || !sameLine(name, got, want) {
					t.Fatalf("pc %#x: %s, want %s", pc, got, want)
				}
				compared++
			}
		}
		prev = e
	}
}

func TestRefusedRealFiles(t *testing.T) {
	for _, c := range []struct {
		name  string
		flags []string
		kind  error
		text  string
	}{
		{"dynamic", nil, objfile.ErrDynamic, "dynamically linked (interpreter /lib/ld-linux-riscv64-lp64d.so.1): link with -static"},
		{"object file", []string{"-c"}, objfile.ErrKind, "this is an object file"},
		{"shared library", []string{"-shared", "-fPIC"}, objfile.ErrDynamic, "shared library"},
	} {
		t.Run(c.name, func(t *testing.T) {
			exe := buildC(t, "relax.c", cProgram, c.flags...)
			_, err := objfile.Open(exe)
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.text) || !strings.HasPrefix(err.Error(), exe+": ") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestStaticPIE(t *testing.T) {
	f := open(t, buildC(t, "start.s", asmProgram, "-pie", "-Wl,--no-dynamic-linker", "-nostdlib"))
	if !f.PIE || f.RoutineAt(f.Entry) == nil || f.RoutineAt(f.Entry).Name != "_start" {
		t.Errorf("PIE %v, routines %v", f.PIE, f.Routines)
	}
}

// TestStripped compares a stripped executable with the whole one.
func TestStripped(t *testing.T) {
	t.Run("go", func(t *testing.T) {
		whole, stripped := open(t, buildGo(t)), open(t, buildGo(t, "-ldflags=-s -w"))
		for _, r := range whole.Routines {
			if r.Name == "runtime.etext" {
				continue // marks the end of the code
			}
			s := stripped.RoutineAt(r.Addr)
			if s == nil || s.Addr != r.Addr || s.Name != r.Name && s.Name+".abi0" != r.Name {
				t.Errorf("%v became %v", r, s)
			}
		}
		if n := len(stripped.Routines); n < 1000 {
			t.Errorf("%d routines", n)
		}
	})
	t.Run("gcc", func(t *testing.T) {
		f := open(t, buildC(t, "relax.c", cProgram, "-static", "-s"))
		if r := f.RoutineAt(f.Entry); r == nil || r.Name != ".text" {
			t.Errorf("routine at the entry is %v", r)
		}
	})
}

func TestSame(t *testing.T) {
	exe := buildGo(t)
	a, b := open(t, exe), open(t, exe)
	if a.SHA256 != b.SHA256 || len(a.SHA256) != 64 || fmt.Sprint(a.Routines, a.Sections) != fmt.Sprint(b.Routines, b.Sections) {
		t.Error("two readings of a file differ")
	}
}

func BenchmarkOpen(b *testing.B) {
	exe, err := goForBenchmark(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	for _, lines := range []bool{false, true} {
		b.Run(fmt.Sprintf("lines=%v", lines), func(b *testing.B) {
			for b.Loop() {
				f, err := objfile.Open(exe)
				if err != nil {
					b.Fatal(err)
				}
				if lines {
					f.LineAt(f.Entry)
				}
			}
		})
	}
}

func goForBenchmark(dir string) (string, error) {
	src, exe := filepath.Join(dir, "main.go"), filepath.Join(dir, "go.exe")
	if err := os.WriteFile(src, []byte(goProgram), 0o644); err != nil {
		return "", err
	}
	cmd := exec.Command("go", "build", "-o", exe, src)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=riscv64", "CGO_ENABLED=0")
	return exe, cmd.Run()
}
