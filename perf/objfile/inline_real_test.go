package objfile_test

import (
	"bufio"
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/objfile"
)

// inlineC has inlined calls that are in loops, nested, of static functions with
// the same name in two units, and split over several ranges.
const inlineC = `#include <stdio.h>
#include <stdlib.h>
struct v { double x, y; };
static inline double dot(const double *a, const double *b, int n) {
	double s = 0;
	for (int i = 0; i < n; i++)
		s += a[i] * b[i];
	return s;
}
static inline double norm(const double *a, int n) {
	if (n < 0)
		abort();
	return dot(a, a, n);
}
__attribute__((noinline)) static double work(double *a, double *b, int n) {
	double s = norm(a, n);
	for (int i = 0; i < 3; i++)
		s += dot(a, b, n - i) + norm(b, n);
	return s;
}
int main(int argc, char **argv) {
	int n = argc > 1 ? atoi(argv[1]) : 64;
	double *a = malloc(8 * n), *b = malloc(8 * n);
	for (int i = 0; i < n; i++)
		a[i] = i, b[i] = norm(a, i);
	printf("%g\n", work(a, b, n));
	return 0;
}
`

const inlineCXX = `#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <string>
#include <vector>
template <class T> struct scaled { T by; T operator()(T x) const { return x * by; } };
int main(int argc, char **argv) {
	std::vector<double> v(100 * argc);
	std::iota(v.begin(), v.end(), 1);
	std::transform(v.begin(), v.end(), v.begin(), scaled<double>{2});
	std::sort(v.begin(), v.end(), [](double a, double b) { return a > b; });
	std::map<std::string, int> m;
	for (int i = 0; i < argc; i++)
		m[argv[i]]++;
	std::printf("%g %zu\n", std::accumulate(v.begin(), v.end(), 0.0), m.size());
}
`

const inlineFortran = `module kernels
contains
  pure real(8) function f(x)
    real(8), intent(in) :: x
    f = x * x + 1
  end function
  subroutine sweep(a, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: a(n)
    integer :: i
    do i = 2, n
      a(i) = a(i) + f(a(i - 1))
    end do
  end subroutine
end module
program p
  use kernels
  real(8) :: a(100)
  a = 0.5
  call sweep(a, 100)
  print *, a(100)
end program
`

// inlineBuilds are programs by the GNU compilers with inlined calls.
var inlineBuilds = []struct{ name, tool, file, source, flags string }{
	{"gcc -O2", "gcc", "in.c", inlineC, "-O2"},
	{"gcc -O3", "gcc", "in.c", inlineC, "-O3"},
	{"gcc -O3 -gdwarf-4", "gcc", "in.c", inlineC, "-O3 -gdwarf-4"},
	{"gcc -O2 -gdwarf-3 -gstrict-dwarf", "gcc", "in.c", inlineC, "-O2 -gdwarf-3 -gstrict-dwarf"},
	{"g++ -O2", "g++", "in.cc", inlineCXX, "-O2"},
	{"g++ -O3 -gz", "g++", "in.cc", inlineCXX, "-O3 -gz"},
	{"gfortran -O3", "gfortran", "in.f90", inlineFortran, "-O3"},
}

func buildGNU(t *testing.T, tool, file, source, flags string) string {
	t.Helper()
	compiler := oracle.Need(t, "riscv64-linux-gnu-"+tool)
	dir := t.TempDir()
	write(t, filepath.Join(dir, file), source)
	exe := filepath.Join(dir, "a.exe")
	args := append(strings.Fields(flags), "-g", "-static", "-o", exe, file)
	cmd := exec.Command(compiler, args...)
	cmd.Dir = dir
	run(t, cmd)
	return exe
}

const (
	// maxWrongFiles: for 20 of 1,400 pcs of the C++ programs, in a prologue,
	// binutils 2.40 names the unit's file with a line of another.
	maxWrongFiles = 50

	// maxDWARFHoles: in 6 of 260,000 pcs Go 1.26's DWARF gives no line, or
	// another one, where its own tables do.
	maxDWARFHoles = 10000
)

// TestInlinesAgainstAddr2line compares the whole chain of calls, names, files
// and lines, at every second pc of the routines that have lines.
func TestInlinesAgainstAddr2line(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	addr2line := oracle.Need(t, "riscv64-linux-gnu-addr2line")
	for _, b := range inlineBuilds {
		t.Run(b.name, func(t *testing.T) {
			exe := buildGNU(t, b.tool, b.file, b.source, b.flags)
			f := open(t, exe)
			var pcs []uint64
			for _, r := range f.Routines {
				if _, ok := f.LineAt(r.Addr); ok {
					for pc := r.Addr; pc < r.End(); pc += 2 {
						pcs = append(pcs, pc)
					}
				}
			}
			cmd := exec.Command(addr2line, "-a", "-i", "-f", "-e", exe)
			var in bytes.Buffer
			for _, pc := range pcs {
				fmt.Fprintf(&in, "%#x\n", pc)
			}
			cmd.Stdin = &in
			answers := strings.Split(run(t, cmd), "\n0x")
			if len(answers) != len(pcs) {
				t.Fatalf("%d answers for %d pcs", len(answers), len(pcs))
			}
			inlined, wrong := 0, 0
			for i, pc := range pcs {
				want := strings.Split(strings.TrimSpace(answers[i]), "\n")[1:]
				got := frames(f, pc)
				inlined += min(len(got)-1, 1)
				if len(got) > 1 && len(want) > 0 && want[0] == f.RoutineAt(pc).Name {
					// binutils 2.40 gives the symbol's name where it does not
					// find that of the innermost call in it.
					want[0], _, _ = strings.Cut(got[0], "\t")
				}
				if !sameFrames(got, want) {
					if wrong++; wrong < 10 {
						t.Logf("pc %#x: %q, addr2line %q", pc, got, want)
					}
				}
			}
			if err := f.InlinesErr(); err != nil || inlined < 10 || wrong > 0 && (b.tool != "g++" || wrong*maxWrongFiles > len(pcs)) {
				t.Errorf("%d of %d pcs differ, %d are inlined, %v", wrong, len(pcs), inlined, err)
			}
		})
	}
}

// frames lists the name and line of each call as addr2line does, innermost
// first, without the last name, which is that of the routine itself.
func frames(f *objfile.File, pc uint64) []string {
	calls := f.InlinedAt(pc)
	line := "??:0"
	if l, ok := f.LineAt(pc); ok {
		line = fmt.Sprintf("%s:%d", l.File, l.Line)
	}
	var list []string
	for i := len(calls) - 1; i >= 0; i-- {
		list = append(list, calls[i].Routine+"\t"+line)
		line = fmt.Sprintf("%s:%d", calls[i].File, calls[i].Line)
	}
	return append(list, line)
}

// sameFrames compares with addr2line's names and lines. Before DWARF 5 the
// compiler's directory is not in the line table.
func sameFrames(got, want []string) bool {
	if len(want) != 2*len(got) {
		return false
	}
	for i, g := range got {
		name, line := want[2*i], want[2*i+1]
		line, _, _ = strings.Cut(line, " ") // without " (discriminator 3)"
		if strings.HasSuffix(line, ":?") || strings.HasSuffix(line, ":0") {
			line = "??:0"
		}
		n, l, inlined := strings.Cut(g, "\t")
		if !inlined {
			n, l = name, g
		}
		if n != name || clean(l) != clean(line) && !strings.HasSuffix(clean(line), "/"+clean(l)) {
			return false
		}
	}
	return true
}

func clean(line string) string {
	file, n, _ := strings.Cut(line, ":")
	return filepath.Clean(file) + ":" + n
}

const inlineGo = `package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

type number interface{ ~int | ~float64 }

func dot[T number](a, b []T) (s T) {
	for i := range a {
		s += a[i] * b[i]
	}
	return s
}

func norm(a []float64) float64 { return dot(a, a) }

//go:noinline
func work(a []float64) float64 {
	s := 0.0
	for range 3 {
		s += norm(a)
	}
	slices.SortFunc(a, func(x, y float64) int { return int(x - y) })
	return s
}

func main() {
	w := bufio.NewWriter(os.Stdout)
	defer w.Flush()
	if len(os.Args) < 2 {
		fmt.Fprintln(w, work([]float64{1, 2, 3}))
		return
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		pc, _ := strconv.ParseUint(strings.TrimSpace(in.Text()), 16, 64)
		f := runtime.FuncForPC(uintptr(pc))
		file, line := f.FileLine(uintptr(pc))
		fmt.Fprintf(w, "%s\t%s:%d\n", f.Name(), file, line)
	}
}
`

func buildInlineGo(t *testing.T, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "main.go"), inlineGo)
	exe := filepath.Join(dir, "go.exe")
	cmd := exec.Command("go", append(append([]string{"build", "-trimpath", "-o", exe}, flags...), "main.go")...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=riscv64", "CGO_ENABLED=0", "GOFLAGS=", "GO111MODULE=off")
	run(t, cmd)
	return exe
}

// TestGoInlinesWithoutDWARF compares the inlined calls of a Go program that
// DWARF records with those of Go's own tables, at every second pc.
func TestGoInlinesWithoutDWARF(t *testing.T) {
	whole, bare := open(t, buildInlineGo(t)), open(t, buildInlineGo(t, "-ldflags=-w"))
	pcs, inlined, wrong := 0, 0, 0
	declared := 0
	for _, r := range whole.Routines {
		want, ok := whole.DeclaredAt(r.Addr)
		if got, _ := bare.DeclaredAt(r.Addr); ok && got != want {
			t.Errorf("%s is declared at %v, DWARF %v", r.Name, got, want)
		} else if ok {
			declared++
		}
		for pc := r.Addr; pc < r.End(); pc += 2 {
			want, got := frames(whole, pc), frames(bare, pc)
			pcs++
			inlined += min(len(want)-1, 1)
			if i := len(got) - 1; len(want) == 1 && want[0] == "??:0" && strings.HasSuffix(got[i], "<autogenerated>:1") {
				continue // the prologue of a wrapper, for which DWARF has nothing
			}
			if strings.Join(want, "\n") != strings.Join(got, "\n") {
				if wrong++; wrong < 30 {
					t.Logf("%s pc %#x: %q, DWARF %q", r.Name, pc, got, want)
				}
			}
		}
	}
	if inlined < 10000 || wrong*maxDWARFHoles > pcs {
		t.Errorf("%d of %d pcs differ, %d are inlined", wrong, pcs, inlined)
	}
	if declared < 1000 {
		t.Errorf("only %d declarations compared", declared)
	}
	for _, f := range []*objfile.File{whole, bare} {
		if f.InlinesErr() != nil || f.LinesErr() != nil {
			t.Error(f.InlinesErr(), f.LinesErr())
		}
	}
}

var typeArguments = regexp.MustCompile(`\[.*\]`)

// TestGoInlinesAgainstRuntime compares the innermost call, by Go's own tables,
// with what the program itself reports.
func TestGoInlinesAgainstRuntime(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	qemu := oracle.Need(t, "qemu-riscv64")
	exe := buildInlineGo(t, "-ldflags=-s -w")
	f := open(t, exe)
	rng := rand.New(rand.NewPCG(3, 4))
	var pcs []uint64
	for _, r := range f.Routines {
		for range 3 {
			pcs = append(pcs, r.Addr+rng.Uint64N(r.Size)&^1)
		}
	}
	cmd := exec.Command(qemu, exe, "frames")
	var in bytes.Buffer
	for _, pc := range pcs {
		fmt.Fprintf(&in, "%x\n", pc)
	}
	cmd.Stdin = &in
	out := bufio.NewScanner(strings.NewReader(run(t, cmd)))
	inlined, wrong := 0, 0
	for _, pc := range pcs {
		out.Scan()
		want := strings.NewReplacer("?:0", "??:0", "·", ".", "./", "").Replace(out.Text())
		got := frames(f, pc)[0]
		if name := f.RoutineAt(pc).Name; len(f.InlinedAt(pc)) == 0 {
			got = name + "\t" + got
		} else {
			inlined++
		}
		got = typeArguments.ReplaceAllString(got, "[...]") // as the runtime abridges them
		if name, line, _ := strings.Cut(want, "\t"); name == "" {
			want = "internal/abi.BoundsDecode\t" + line // the name at offset 0, which the runtime treats as none
		}
		if want != got {
			if wrong++; wrong < 20 {
				t.Logf("%s pc %#x: %q, runtime %q", f.RoutineAt(pc).Name, pc, got, want)
			}
		}
	}
	if inlined < 300 || wrong > 0 {
		t.Errorf("%d of %d pcs differ, %d are inlined", wrong, len(pcs), inlined)
	}
}

// TestInlinesAgainstDebugDWARF looks every inlined call that debug/dwarf finds
// up in the middle of its ranges: in Go's version 5, with indices of addresses
// and of range lists, and in what addr2line takes for other files or for none.
func TestInlinesAgainstDebugDWARF(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, b := range []struct {
		name  string
		build func(t *testing.T) string
		min   int
	}{
		{"go", func(t *testing.T) string { return buildInlineGo(t) }, 1000},
		{"gcc -gdwarf64", func(t *testing.T) string { return buildGNU(t, "gcc", "in.c", inlineC, "-O3 -gdwarf64") }, 5},
		{"gcc -gdwarf64 -gdwarf-4", func(t *testing.T) string {
			return buildGNU(t, "gcc", "in.c", inlineC, "-O3 -gdwarf64 -gdwarf-4")
		}, 5},
		{"gcc -flto", func(t *testing.T) string { return buildGNU(t, "gcc", "in.c", inlineC, "-O3 -flto") }, 5},
		{"g++", func(t *testing.T) string { return buildGNU(t, "g++", "in.cc", inlineCXX, "-O3") }, 50},
	} {
		t.Run(b.name, func(t *testing.T) {
			exe := b.build(t)
			if n := compareCalls(t, open(t, exe), exe); n < b.min {
				t.Errorf("only %d ranges compared", n)
			}
		})
	}
}

func compareCalls(t *testing.T, f *objfile.File, exe string) (compared int) {
	t.Helper()
	ef, err := elf.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer ef.Close()
	d, err := ef.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	r := d.Reader()
	for e, err := r.Next(); e != nil && err == nil; e, err = r.Next() {
		if e.Tag != dwarf.TagInlinedSubroutine {
			continue
		}
		ranges, err := d.Ranges(e)
		if err != nil {
			t.Fatal(err)
		}
		for _, span := range ranges {
			if span[0] == span[1] {
				continue
			}
			compared++
			want := fmt.Sprintf("%s %d", linkageName(t, d, e), e.Val(dwarf.AttrCallLine))
			found := false
			for _, c := range f.InlinedAt((span[0] + span[1]) / 2) {
				found = found || want == fmt.Sprintf("%s %d", c.Routine, c.Line)
			}
			if !found {
				t.Errorf("%#x-%#x: %s is not in %+v", span[0], span[1], want, f.InlinedAt((span[0]+span[1])/2))
			}
		}
	}
	return compared
}

// linkageName returns the name of the routine that an entry is an instance of.
func linkageName(t *testing.T, d *dwarf.Data, e *dwarf.Entry) any {
	t.Helper()
	var name any
	for {
		if l := e.Val(dwarf.AttrLinkageName); l != nil {
			return l
		}
		if name == nil {
			name = e.Val(dwarf.AttrName)
		}
		next, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			next, ok = e.Val(dwarf.AttrSpecification).(dwarf.Offset)
		}
		if !ok {
			return name
		}
		var err error
		if e, err = entryAt(d, next); err != nil {
			t.Fatal(err)
		}
	}
}

func entryAt(d *dwarf.Data, at dwarf.Offset) (*dwarf.Entry, error) {
	r := d.Reader()
	r.Seek(at)
	return r.Next()
}

// TestPlacesAreLinesAndInlines compares Places with LineAt and InlinedAt at each
// instruction.
func TestPlacesAreLinesAndInlines(t *testing.T) {
	f := open(t, buildInlineGo(t))
	for _, r := range f.Routines {
		at := r.Addr
		for _, p := range f.Places(r.Addr, r.End()) {
			if p.From != at || p.To <= p.From {
				t.Fatalf("%s: place %#x-%#x after %#x", r.Name, p.From, p.To, at)
			}
			at = p.To
			for _, pc := range []uint64{p.From, p.To - 1} {
				l, _ := f.LineAt(pc)
				if l != p.Line || fmt.Sprint(f.InlinedAt(pc)) != fmt.Sprint(p.Inlined) {
					t.Fatalf("pc %#x: %+v, want %v %v", pc, p, l, f.InlinedAt(pc))
				}
			}
		}
		if at != r.End() {
			t.Fatalf("%s: places end at %#x of %#x", r.Name, at, r.End())
		}
	}
}
