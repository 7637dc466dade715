package cfg

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/objfile"
)

// assembled is a program assembled from text, and the names of its labels.
type assembled struct {
	*Program
	labels map[uint64]string
	at     map[string]uint64
}

// assemble builds a program from RISC-V assembly. It records every label that
// does not begin with ".L"; .type and .size define the routines.
func assemble(t testing.TB, text string, flags ...string) *assembled {
	t.Helper()
	file := build(t, "riscv64-linux-gnu-gcc", "program.s", text, append([]string{"-nostdlib", "-march=rv64gc", "-Wl,--no-relax"}, flags...)...)
	a := &assembled{Program: analyze(t, file), labels: make(map[uint64]string), at: make(map[string]uint64)}
	ef, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer ef.Close()
	syms, err := ef.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range syms {
		if s.Section == elf.SHN_UNDEF || s.Section >= elf.SHN_LORESERVE || strings.HasPrefix(s.Name, "$") || elf.ST_TYPE(s.Info) == elf.STT_SECTION {
			continue
		}
		a.labels[s.Value] = s.Name
		a.at[s.Name] = s.Value
	}
	return a
}

// routine returns the text of a function with all its symbol directives.
func routine(name, body string) string {
	return fmt.Sprintf("\n.globl %[1]s\n.type %[1]s, @function\n%[1]s:\n%[2]s\n.size %[1]s, .-%[1]s\n", name, body)
}

// build compiles a static executable and returns its path.
func build(t testing.TB, compiler, name, text string, flags ...string) string {
	t.Helper()
	compiler = oracle.Need(t, compiler)
	dir := t.TempDir()
	in, out := filepath.Join(dir, name), filepath.Join(dir, "a.out")
	if err := os.WriteFile(in, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-static", "-o", out, in}, flags...)
	if text, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, text)
	}
	return out
}

func open(t testing.TB, path string) *objfile.File {
	t.Helper()
	f, err := objfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func analyze(t testing.TB, path string) *Program {
	t.Helper()
	return Analyze(open(t, path))
}

// analyzed returns what analyze does, once for all tests, which must not change it.
func (p program) analyzed(t testing.TB) *Program {
	t.Helper()
	path := p.path(t)
	built.Lock()
	defer built.Unlock()
	if built.programs[path] == nil {
		built.programs[path] = analyze(t, path)
	}
	return built.programs[path]
}

// named returns the routine of that name.
func named(t testing.TB, p *Program, name string) *Routine {
	t.Helper()
	for _, r := range p.Routines {
		if r.Name == name {
			return r
		}
	}
	t.Fatalf("no routine %s", name)
	return nil
}

// name returns the name of a place: its label, or the preceding label and an
// offset.
func (a *assembled) name(pc uint64) string {
	for back := uint64(0); back < 256; back++ {
		if label, ok := a.labels[pc-back]; ok {
			if back == 0 {
				return label
			}
			return fmt.Sprintf("%s+%d", label, back)
		}
	}
	return fmt.Sprintf("%#x", pc)
}

// draw writes a routine's graph as text, a block a line:
//
//	label: kind→label kind→label (exit) <dominator loop-header
func (a *assembled) draw(r *Routine) string {
	var w strings.Builder
	for i := range r.Blocks {
		b := &r.Blocks[i]
		fmt.Fprintf(&w, "%s:", a.name(b.PC()))
		for _, e := range b.Succs {
			fmt.Fprintf(&w, " %v→%s", r.Edges[e].Kind, a.name(r.Blocks[r.Edges[e].To].PC()))
		}
		if b.Exit != Stays {
			fmt.Fprintf(&w, " (%v)", b.Exit)
		}
		if b.Dominator >= 0 {
			fmt.Fprintf(&w, " <%s", a.name(r.Blocks[b.Dominator].PC()))
		}
		for l := b.Loop; l >= 0; l = r.Loops[l].Parent {
			fmt.Fprintf(&w, " @%s", a.name(r.Blocks[r.Loops[l].Header].PC()))
			if r.Loops[l].Irreducible {
				w.WriteString("!")
			}
		}
		w.WriteString("\n")
	}
	for _, g := range r.Gaps {
		fmt.Fprintf(&w, "gap %s..%d\n", a.name(g.From), g.To-g.From)
	}
	return w.String()
}

// same compares a drawing with the expected one.
func same(t *testing.T, got, want string) {
	t.Helper()
	lines := func(s string) (list []string) {
		for line := range strings.Lines(s) {
			if line = strings.TrimSpace(line); line != "" {
				list = append(list, line)
			}
		}
		return list
	}
	if g, w := lines(got), lines(want); !slices.Equal(g, w) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(g, "\n"), strings.Join(w, "\n"))
	}
}

// program is a real program that several tests use.
type program struct {
	name, compiler, file, text string
	flags                      []string
}

var programs = []program{
	{"c0", "riscv64-linux-gnu-gcc", "p.c", switches, []string{"-O0"}},
	{"c2", "riscv64-linux-gnu-gcc", "p.c", switches, []string{"-O2"}},
	{"c3", "riscv64-linux-gnu-gcc", "p.c", switches, []string{"-O3"}},
	{"fortran", "riscv64-linux-gnu-gfortran", "p.f90", sums, []string{"-O2"}},
	{"go", "go", "p.go", gopher, nil},
}

var built struct {
	sync.Mutex
	files    map[string]string
	programs map[string]*Program // by file
	dir      string
}

// path builds a program once for all tests.
func (p program) path(t testing.TB) string {
	t.Helper()
	compiler := p.compiler
	if compiler != "go" {
		oracle.Need(t, compiler)
	}
	built.Lock()
	defer built.Unlock()
	if path := built.files[p.name]; path != "" {
		return path
	}
	dir := filepath.Join(built.dir, p.name)
	in, out := filepath.Join(dir, p.file), filepath.Join(dir, "a.out")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in, []byte(p.text), 0o644); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-static", "-g", "-o", out, in}, p.flags...)
	if compiler == "go" {
		args = []string{"build", "-o", out, in}
	}
	cmd := exec.Command(compiler, args...)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=riscv64", "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, text)
	}
	built.files[p.name] = out
	return out
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "cfg")
	if err != nil {
		panic(err)
	}
	built.dir, built.files, built.programs = dir, make(map[string]string), make(map[string]*Program)
	debug.SetGCPercent(400) // programs are analyzed and dropped by the dozen
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

const switches = `
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define CASES(A) \
	case A: return y + 3; case A + 1: return y * 7; case A + 2: return y - 9; case A + 3: return y / 3; \
	case A + 4: return y % 5; case A + 5: return y ^ 3; case A + 6: return y << 2; case A + 7: puts("hi"); return 1

__attribute__((noinline)) int fromZero(int x, int y) { switch (x) { CASES(0); default: return -1; } }
__attribute__((noinline)) int fromHundred(unsigned char x, int y) { switch (x) { CASES(100); } return 7; }
__attribute__((noinline)) int negative(long x, int y) { switch (x) { CASES(-20); } return 8; }
__attribute__((noinline)) int masked(long c, int y) {
	int s = 0;
	while (y--) {
		switch (c & 7) {
		case 0: s += 3; break; case 1: s *= 7; break; case 2: s -= y; break; case 3: s /= 3; break;
		case 4: s %= 5; break; case 5: s ^= 3; break; case 6: s <<= 2; break; case 7: puts("yo"); break;
		}
		c = c * 5 + s;
	}
	return s;
}
__attribute__((noinline)) int field(const struct { long a; short kind; } *p, int y) { switch (p->kind) { CASES(3); } return p->a; }
__attribute__((noinline)) int run(const char *p) {
	static const void *const step[] = {&&add, &&five, &&triple, &&stop};
	int s = 0;
	goto *step[*p & 3];
add: s++; p++; goto *step[*p & 3];
five: s += 5; p++; goto *step[*p & 3];
triple: s *= 3; p++; goto *step[*p & 3];
stop: return s;
}
__attribute__((noinline)) int byPointer(int (*f)(int, int), int x) { return f(x + 1, x); }
__attribute__((noinline, noreturn)) void leave(int x) { if (x == 12345) abort(); exit(0); }
static jmp_buf again;
int main(int n, char **v) {
	struct { long a; short kind; } f = {5, 0};
	int s = 0;
	if (setjmp(again) == 0) s = byPointer(fromZero, n);
	for (int i = 0; i < 12; i++) {
		f.kind = i;
		s += fromZero(i, n * i) + fromHundred(98 + i, i) + negative(i - 22, i) + masked(i, i + 3) + field((const void *)&f, i);
	}
	printf("%d %d %s %g\n", s, run("\1\2\0\1\3"), v[0] ? "x" : "y", s / 3.0);
	static volatile int jumped;
	if (!jumped) { jumped = 1; longjmp(again, 1); }
	leave(n);
}
`

const sums = `
program sums
  integer :: i, j
  real(8) :: a(40, 40), s
  do j = 1, 40
    do i = 1, 40
      a(i, j) = i * 0.5d0 + j
    end do
  end do
  s = 0
  do j = 2, 39
    do i = 2, 39
      s = s + a(i - 1, j) * a(i, j + 1) - a(i, j)
    end do
  end do
  print *, s
end program
`

const gopher = `
package main

import ("errors"; "fmt"; "os"; "sort"; "strings")

type shape interface{ area() float64 }
type square struct{ a float64 }
type disc struct{ r float64 }

func (s square) area() float64 { return s.a * s.a }
func (d disc) area() float64   { return 3 * d.r * d.r }

//go:noinline
func pick(k int) (s string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	list := []string{"a", "b", "c"}
	switch k {
	case 0: return "zero", nil
	case 1: return "one", nil
	case 2: return "two", nil
	case 3: return "three", nil
	case 4: return "four", nil
	case 5: panic("five")
	case 6: return "", errors.New("six")
	case 7: return "seven", nil
	}
	return list[k], nil
}

func main() {
	var total float64
	for i, s := range []shape{square{2}, disc{1}, square{3}} {
		total += float64(i) * s.area()
	}
	done := make(chan string)
	go func() {
		var out []string
		for k := range 10 {
			s, err := pick(k)
			out = append(out, fmt.Sprint(s, err))
		}
		sort.Strings(out)
		done <- strings.Join(out, ";")
	}()
	fmt.Println(total, <-done)
	os.Exit(len(os.Args) - 1)
}
`
