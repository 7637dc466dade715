package access

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/internal/oracle"
	"presage/perf/objfile"
	"presage/perf/trace"
)

const goSource = `package main

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

func buildGo(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	src, exe := filepath.Join(dir, "sum.go"), filepath.Join(dir, "a.exe")
	write(t, src, goSource)
	cmd := exec.Command("go", "build", "-o", exe, src)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=riscv64", "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exe
}

func assemble(t *testing.T, source string) *objfile.File {
	t.Helper()
	gcc := oracle.Need(t, "riscv64-linux-gnu-gcc")
	dir := t.TempDir()
	src, exe := filepath.Join(dir, "a.s"), filepath.Join(dir, "a.exe")
	write(t, src, source)
	if out, err := exec.Command(gcc, "-g", "-march=rv64gc", "-static", "-nostdlib", "-o", exe, src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return open(t, exe)
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, path string) *objfile.File {
	t.Helper()
	f, err := objfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

const asmSource = `	.globl _start
	.type _start, @function
_start:
	ld a0, 8(sp)
	addi a1, a0, 1
	fsw fa0, 0(a0)
	.size _start, . - _start
	sb a0, 0(a1)
	.type inner, @function
inner:
	amoadd.d a0, a1, (a2)
	.4byte 0xffffffff
	c.lw a0, 4(a1)
	lr.w a0, (a1)
	sc.w a0, a1, (a2)
	.4byte 0x02057407
	.size inner, . - inner
`

// TestFind checks each kind of reference, one between routines, and that
// undecodable words are skipped, counted and reported.
func TestFind(t *testing.T) {
	f := assemble(t, asmSource)
	refs := Find(f)
	base := trace.PC(f.Entry)
	file := refs.All[0].File
	if filepath.Base(file) != "a.s" {
		t.Errorf("source file %q", file)
	}
	want := []Reference{
		{PC: base, Size: 8, Kind: trace.Load, Float: false, Routine: "_start", File: file, Line: 4},
		{PC: base + 6, Size: 4, Kind: trace.Store, Float: true, Routine: "_start", File: file, Line: 6},
		{PC: base + 10, Size: 1, Kind: trace.Store, Float: false, Routine: ".text", File: file, Line: 8},
		{PC: base + 14, Size: 8, Kind: trace.ReadModifyWrite, Float: false, Routine: "inner", File: file, Line: 11},
		{PC: base + 22, Size: 4, Kind: trace.Load, Float: false, Routine: "inner", File: file, Line: 13},
		{PC: base + 24, Size: 4, Kind: trace.Load, Float: false, Routine: "inner", File: file, Line: 14},
		{PC: base + 28, Size: 4, Kind: trace.Store, Float: false, Routine: "inner", File: file, Line: 15},
	}
	if d := cmp.Diff(want, refs.All); d != "" {
		t.Error(d)
	}
	if refs.Instructions != 9 {
		t.Errorf("%d instructions, want 9", refs.Instructions)
	}
	if got, want := refs.All[1].String(), fmt.Sprintf("_start (a.s:6) fp store of 4 B at %#x", uint64(base+6)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(refs.Warnings) != 2 || !errors.Is(refs.Warnings[0], ErrUndecoded) || !errors.Is(refs.Warnings[1], ErrVector) {
		t.Fatalf("warnings %v", refs.Warnings)
	}
	if got, want := refs.Warnings[0].Error(), fmt.Sprintf("1 undecoded instructions, the first at pc %#x in inner", f.Entry+18); !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPlan(t *testing.T) {
	refs := Find(open(t, buildGo(t)))
	plan, err := refs.Plan()
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Check(); err != nil {
		t.Fatal(err)
	}
	if len(plan.Refs) != len(refs.All) || len(plan.Refs) < 10_000 {
		t.Errorf("%d planned of %d references", len(plan.Refs), len(refs.All))
	}
	for i, r := range plan.Refs {
		if ref := refs.All[i]; r.PC != ref.PC || r.Size != ref.Size || r.Kind != ref.Kind || r.Float != ref.Float || r.Group != trace.GroupID(i) {
			t.Fatalf("reference %d: planned %+v, found %+v", i, r, ref)
		}
	}
	many := References{All: make([]Reference, trace.MaxRefs+1)}
	if _, err := many.Plan(); !errors.Is(err, ErrTooMany) {
		t.Errorf("got %v, want ErrTooMany", err)
	}
}

// TestSumLoop finds the one load of the loop in sum, by its source line.
func TestSumLoop(t *testing.T) {
	found := 0
	for _, r := range Find(open(t, buildGo(t))).All {
		if r.Routine == "main.sum" && r.Float && r.Kind == trace.Load && r.Size == 8 && filepath.Base(r.File) == "sum.go" && r.Line == 7 {
			found++
		}
	}
	if found == 0 {
		t.Error("no load of 8 bytes at sum.go:7")
	}
}

// TestAgainstObjdump compares the addresses of all references with those that
// objdump's text shows to have a memory operand.
func TestAgainstObjdump(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	objdump := oracle.Need(t, "riscv64-linux-gnu-objdump")
	exe := buildGo(t)
	out, err := exec.Command(objdump, "-d", "-M", "no-aliases,numeric", exe).Output()
	if err != nil {
		t.Fatal(err)
	}
	reference := regexp.MustCompile(`^ *([0-9a-f]+):\t[0-9a-f]+ *\t(?:c\.)?(?:f?[ls][bhwd]u?(?:sp)?|(?:lr|sc|amo\w+)\.[wd][.a-z]*)\t`)
	var want, got []string
	for line := range strings.Lines(string(out)) {
		if m := reference.FindStringSubmatch(line); m != nil {
			want = append(want, m[1])
		}
	}
	for _, r := range Find(open(t, exe)).All {
		got = append(got, fmt.Sprintf("%x", uint64(r.PC)))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%d references, want %d\n%.2000s", len(got), len(want), d)
	}
}

func BenchmarkFind(b *testing.B) {
	exe := buildGo(b)
	for b.Loop() {
		refs := Find(open(b, exe))
		b.ReportMetric(float64(len(refs.All)), "refs")
		b.ReportMetric(float64(refs.Instructions), "insts")
	}
}
