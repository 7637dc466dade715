package cfg_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/cfg"
	"presage/perf/internal/oracle"
	"presage/perf/objfile"
)

// source is a file of a program to compile.
type source struct{ name, text string }

// compile builds a static program with a GNU compiler.
func compile(t testing.TB, tool, flags string, files ...source) string {
	t.Helper()
	compiler := oracle.Need(t, "riscv64-linux-gnu-"+tool)
	dir := t.TempDir()
	args := append(strings.Fields(flags), "-static", "-o", "a.exe")
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.name), []byte(f.text), 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, f.name)
	}
	execute(t, dir, compiler, args...)
	return filepath.Join(dir, "a.exe")
}

func execute(t testing.TB, dir, tool string, args ...string) string {
	t.Helper()
	cmd := exec.Command(tool, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=riscv64", "CGO_ENABLED=0", "GOFLAGS=", "GO111MODULE=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, stderr.Bytes())
	}
	return string(out)
}

func compileGo(t testing.TB, text string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	execute(t, dir, "go", append(append([]string{"build", "-o", "a.exe"}, flags...), "main.go")...)
	return filepath.Join(dir, "a.exe")
}

func scopesOf(t testing.TB, exe string) *cfg.ScopeTree {
	t.Helper()
	f, err := objfile.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	return cfg.NewScopeTree(cfg.Analyze(f))
}

// loopsOf lists the paths of the loops in routines, in order.
func loopsOf(tree *cfg.ScopeTree, routines ...string) []string {
	var paths []string
	for _, s := range tree.Scopes {
		name, _, in := strings.Cut(s.Path, "/")
		if in && s.Kind == cfg.LoopScope && slices.Contains(routines, name) {
			paths = append(paths, s.Path)
		}
	}
	return paths
}

// check checks the invariants of every tree.
func check(t *testing.T, tree *cfg.ScopeTree) {
	t.Helper()
	paths := make(map[string]bool)
	for i, s := range tree.Scopes {
		if paths[s.Path] || tree.Find(s.Path) != i {
			t.Errorf("two scopes are %s", s.Path)
		}
		paths[s.Path] = true
		if (s.Parent < 0) != (i == 0) || s.Parent >= i || s.End <= i || s.End > len(tree.Scopes) {
			t.Fatalf("scope %d: %+v", i, s)
		}
		if i > 0 && (!slices.Contains(tree.Scopes[s.Parent].Children, i) || !tree.Contains(s.Parent, i) || tree.Contains(i, s.Parent)) {
			t.Errorf("scope %d is not in its parent: %+v", i, s)
		}
		if len(s.Files) > 0 && s.Source.Known() && s.Files[0] != s.Source.File || s.Source.Last < s.Source.First {
			t.Errorf("%s: source %v of files %v", s.Path, s.Source, s.Files)
		}
	}
	for i, r := range tree.Program.Routines {
		found := make([]int, len(r.Loops)) // scopes that hold a loop
		for at, s := range tree.Scopes {
			if s.Routine == i {
				for _, l := range s.Loops {
					found[l] = at
				}
			}
		}
		for b := range r.Blocks {
			s := tree.Scopes[tree.Of(i, b)]
			if l := r.Blocks[b].Loop; s.Routine != i || l < 0 && s.Kind != cfg.RoutineScope || l >= 0 && found[l] != tree.Of(i, b) {
				t.Fatalf("block %d of %s is in %s", b, r.Name, s.Path)
			}
		}
	}
}

const loopsC = `#include <stdio.h>
#include <stdlib.h>
static inline double dot(const double *a, const double *b, int n) {
	double s = 0;
	for (int i = 0; i < n; i++)
		s += a[i] * b[i];
	return s;
}
__attribute__((noinline)) void mm(double *A, double *B, double *C, int N) {
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			double s = 0;
			for (int k = 0; k < N; k++)
				s += A[i * N + k] * B[k * N + j];
			C[i * N + j] = s;
		}
}
__attribute__((noinline)) double seq(double *a, double *b, int n) {
	for (int i = 0; i < n; i++)
		a[i] = i * 0.5;
	for (int i = 0; i < n; i++)
		b[i] = a[i] + 1;
	double s = dot(a, b, n);
	s += dot(b, b, n - 1);
	while (n > 0) {
		s += a[n - 1];
		for (int i = 0; i < n; i++)
			if (a[i] > s)
				b[i] -= s;
		n /= 2;
	}
	return s;
}
int main(int argc, char **argv) {
	int n = argc > 1 ? atoi(argv[1]) : 20;
	double *a = malloc(8 * n * n), *b = malloc(8 * n * n), *c = malloc(8 * n * n);
	for (int i = 0; i < n * n; i++)
		a[i] = i, b[i] = 1.0 / (i + 1);
	mm(a, b, c, n);
	printf("%g %g\n", c[n * n - 1], seq(a, b, n));
	return 0;
}
`

// TestLoopLines demands the loops' lines in the source, whatever the compiler did.
func TestLoopLines(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	want := []string{
		"mm/loop@k.c:10-15",
		"mm/loop@k.c:10-15/loop@k.c:11-15",
		"mm/loop@k.c:10-15/loop@k.c:11-15/loop@k.c:13-14",
		"seq/loop@k.c:19-20",
		"seq/loop@k.c:21-22",
		"seq/loop(dot)@k.c:5-6",
		"seq/loop(dot)@k.c:5-6#2",
		"seq/loop@k.c:25-30",
		"seq/loop@k.c:25-30/loop@k.c:27-29",
	}
	for _, flags := range []string{"-O1 -g", "-O2 -g", "-O3 -g", "-O2 -g -gdwarf-4", "-O3 -g -march=rv64g"} {
		t.Run(flags, func(t *testing.T) {
			tree := scopesOf(t, compile(t, "gcc", flags, source{"k.c", loopsC}))
			check(t, tree)
			if d := cmp.Diff(want, loopsOf(tree, "mm", "seq")); d != "" {
				t.Error(d)
			}
			s := tree.Scopes[tree.Find("seq/loop(dot)@k.c:5-6#2")]
			if len(s.Inlined) != 1 || s.Inlined[0].Routine != "dot" || s.Inlined[0].Line != 24 {
				t.Errorf("%s came from %+v, not from dot, called at line 24", s.Path, s.Inlined)
			}
			for path, want := range map[string]cfg.Source{"mm": {First: 9, Last: 17}, "seq": {First: 18, Last: 33}} {
				if s := tree.Scopes[tree.Find(path)].Source; s.First != want.First || s.Last != want.Last {
					t.Errorf("%s has the lines %v", path, s)
				}
			}
			if s := tree.Scopes[tree.Find("seq")]; !slices.Equal(s.Inlines, []string{"dot"}) {
				t.Errorf("in seq are %v", s.Inlines)
			}
		})
	}
}

// foldC has loops that gcc -O3 turns into several: with an invariant condition
// (loop unswitching), with a condition on the index (loop splitting) and with a
// stride that it first checks for 1 (loop versioning).
const foldC = `#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) void unswitch(double *a, double *b, int n, int flag) {
	for (int i = 0; i < n; i++) {
		if (flag)
			a[i] = a[i] / b[i] + i;
		else
			b[i] = a[i] * 3 + b[i];
	}
	for (int i = 0; i < n; i++)
		a[i] += 1;
}
__attribute__((noinline)) void split(double *a, double *b, int n, int m) {
	for (int i = 0; i < n; i++)
		if (i < m)
			a[i] += b[i];
		else
			a[i] -= b[i] * a[i];
}
__attribute__((noinline)) void version(double *a, double *b, int n, int stride) {
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			a[j * stride] += b[j * stride] * i;
}
int main(int argc, char **argv) {
	static double a[100], b[100];
	unswitch(a, b, 100, argc);
	split(a, b, 100, argc);
	version(a, b, 50, argc);
	printf("%g\n", a[3]);
	return 0;
}
`

// TestFoldedLoops demands one scope for each loop of the source, and that some
// hold several loops of the code.
func TestFoldedLoops(t *testing.T) {
	tree := scopesOf(t, compile(t, "gcc", "-O3 -g", source{"f.c", foldC}))
	check(t, tree)
	want := []string{
		"unswitch/loop@f.c:4-8",
		"unswitch/loop@f.c:10-11",
		"split/loop@f.c:14-18",
		"version/loop@f.c:21-23",
		"version/loop@f.c:21-23/loop@f.c:22-23",
	}
	if d := cmp.Diff(want, loopsOf(tree, "unswitch", "split", "version")); d != "" {
		t.Error(d)
	}
	folded := 0
	for _, path := range want {
		if at := tree.Find(path); at >= 0 {
			folded += len(tree.Scopes[at].Loops) - 1
		}
	}
	if folded < 3 {
		t.Errorf("%d loops were folded into others, want at least one a routine", folded)
	}
}

// TestStaticNames tells routines of the same name apart.
func TestStaticNames(t *testing.T) {
	work := func(op string) string {
		return "__attribute__((noipa)) static double work(double *a, int n) {\n\tdouble s = 1;\n\tfor (int i = 0; i < n; i++)\n\t\ts " + op + "= a[i];\n\treturn s;\n}\n"
	}
	tree := scopesOf(t, compile(t, "gcc", "-O2 -g",
		source{"a.c", work("+") + "double one(double *a, int n) { return work(a, n); }\n"},
		source{"b.c", work("*") + "double one(double *, int);\nint main(int c, char **v) { static double a[9]; return work(a, c) + one(a, c); }\n"}))
	check(t, tree)
	want := []string{"work@a.c/loop@a.c:3-4", "work@b.c/loop@b.c:3-4"}
	got := loopsOf(tree, "work@a.c", "work@b.c")
	slices.Sort(got) // main comes first in memory
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

const loopsFortran = `subroutine relax(a, n)
  integer, intent(in) :: n
  real(8), intent(inout) :: a(n, n)
  integer :: i, j
  do j = 2, n - 1
    do i = 2, n - 1
      a(i, j) = 0.25d0 * (a(i - 1, j) + a(i + 1, j) &
              + a(i, j - 1) + a(i, j + 1))
    end do
  end do
end subroutine
program p
  real(8) :: a(50, 50)
  a = 1
  call relax(a, 50)
  print *, a(3, 3)
end program
`

const loopsCXX = `#include <algorithm>
#include <cstdio>
#include <vector>
struct grid {
	std::vector<double> v;
	double total() const {
		double s = 0;
		for (double x : v)
			s += x;
		return s;
	}
};
__attribute__((noinline)) double twice(const grid &a, const grid &b, int n) {
	double s = 0;
	for (int i = 0; i < n; i++)
		s += a.total() * i;
	return s + b.total();
}
int main(int argc, char **) {
	grid g{std::vector<double>(argc * 10, 1)};
	std::sort(g.v.begin(), g.v.end());
	std::printf("%g\n", twice(g, g, argc));
}
`

func TestOtherLanguages(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	t.Run("Fortran", func(t *testing.T) {
		tree := scopesOf(t, compile(t, "gfortran", "-O2 -g", source{"r.f90", loopsFortran}))
		check(t, tree)
		// There is no code for the lines of "end do".
		want := []string{"relax_/loop@r.f90:5-8", "relax_/loop@r.f90:5-8/loop@r.f90:6-8"}
		if d := cmp.Diff(want, loopsOf(tree, "relax_")); d != "" {
			t.Error(d)
		}
	})
	t.Run("C++", func(t *testing.T) {
		tree := scopesOf(t, compile(t, "g++", "-O2 -g", source{"g.cc", loopsCXX}))
		check(t, tree)
		const twice = "_Z5twiceRK4gridS1_i"
		want := []string{
			twice + "/loop@g.cc:15-16",
			twice + "/loop@g.cc:15-16/loop(_ZNK4grid5totalEv)@g.cc:8-9",
			twice + "/loop(_ZNK4grid5totalEv)@g.cc:8-9",
		}
		if d := cmp.Diff(want, loopsOf(tree, twice)); d != "" {
			t.Error(d)
		}
	})
}

const loopsGo = `package main

import (
	"fmt"
	"os"
)

func sum(a []float64) (s float64) {
	for _, v := range a {
		s += v
	}
	return s
}

//go:noinline
func work(a [][]float64, b []int) float64 {
	total := 0.0
	for i, row := range a {
		total += sum(row)
		for j := range b {
			b[j] += i
			if b[j] > 100 {
				row[b[j]%len(row)]++
			}
		}
	}
	return total + sum(a[0])
}

func main() {
	a := [][]float64{{1, 2}, {3, 4}}
	fmt.Println(work(a, make([]int, len(os.Args))))
}
`

// TestGoLoops compares a program with DWARF to the same program without it.
func TestGoLoops(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	want := []string{
		"main.work/loop@main.go:18-23",
		"main.work/loop@main.go:18-23/loop(main.sum)@main.go:9-10",
		"main.work/loop@main.go:18-23/loop@main.go:20-23",
		"main.work/loop(main.sum)@main.go:9-10",
	}
	whole := scopesOf(t, compileGo(t, loopsGo))
	for _, c := range []struct {
		name string
		tree *cfg.ScopeTree
	}{
		{"whole", whole},
		{"without DWARF", scopesOf(t, compileGo(t, loopsGo, "-ldflags=-w"))},
		{"stripped", scopesOf(t, compileGo(t, loopsGo, "-ldflags=-s -w"))},
	} {
		check(t, c.tree)
		if d := cmp.Diff(want, loopsOf(c.tree, "main.work")); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

// TestStrippedScopes: fewer facts, no error.
func TestStrippedScopes(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	whole := scopesOf(t, compile(t, "gcc", "-O2", source{"k.c", loopsC}))
	check(t, whole)
	for _, path := range loopsOf(whole, "mm", "seq") {
		if !strings.Contains(path, "/loop+0x") {
			t.Errorf("%s without lines", path)
		}
	}
	if n := len(loopsOf(whole, "mm", "seq")); n != 9 {
		t.Errorf("%d loops, want 9", n)
	}
	check(t, scopesOf(t, compile(t, "gcc", "-O2 -s", source{"k.c", loopsC})))
}

func BenchmarkNewScopeTree(b *testing.B) {
	exe := compileGo(b, loopsGo)
	for _, warm := range []string{"first", "again"} {
		b.Run("lines="+warm, func(b *testing.B) {
			f, err := objfile.Open(exe)
			if err != nil {
				b.Fatal(err)
			}
			p := cfg.Analyze(f)
			for b.Loop() {
				if warm == "first" { // lines and inlining are decoded, too
					if p.File, err = objfile.Open(exe); err != nil {
						b.Fatal(err)
					}
				}
				cfg.NewScopeTree(p)
			}
		})
	}
}
