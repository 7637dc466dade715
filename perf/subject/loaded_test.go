//go:build linux && amd64

package subject

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"presage/perf/engine"
	"presage/perf/engine/native"
	"presage/perf/internal/oracle"
	"presage/perf/objfile"
	"presage/perf/store"
	"presage/perf/trace"
)

const ownLibrary = `
double numbers[1000];
double work(long n) {
	double sum = 0;
	for (long i = 0; i < n; i++)
		sum += numbers[i % 1000] + EXTRA;
	return sum;
}
`

const ownProgram = `
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
double work(long);
int main(int argc, char **argv) {
	long n = atol(argv[1]);
	printf("%g\n", work(n) + sin(n));
	return 0;
}
`

// builder builds a program with a shared library of its own.
type builder struct{ gcc, dir string }

func (b *builder) path(name string) string { return filepath.Join(b.dir, name) }

func (b *builder) compile(t *testing.T, source string, args ...string) {
	t.Helper()
	cmd := exec.Command(b.gcc, append([]string{"-g", "-O1", "-x", "c", "-"}, args...)...)
	cmd.Stdin = strings.NewReader(source)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func (b *builder) library(t *testing.T, extra string) {
	t.Helper()
	b.compile(t, ownLibrary, "-DEXTRA="+extra, "-fPIC", "-shared", "-o", b.path("libown.so"))
}

func dynamicProgram(t *testing.T) (*Program, *builder) {
	t.Helper()
	b := &builder{oracle.Need(t, "gcc"), t.TempDir()}
	b.library(t, "0")
	b.compile(t, ownProgram, "-o", b.path("program"), "-x", "none", b.path("libown.so"), "-lm")
	p, err := Open(b.path("program"))
	if err != nil {
		t.Fatal(err)
	}
	return p, b
}

// recorder counts the accesses of routines.
type recorder struct {
	plan *trace.Plan
	refs []uint64
}

func (r *recorder) Observe(b *trace.Batch) {
	for _, a := range b.Accesses {
		r.refs[a.Ref()]++
	}
}

// pieces counts the accesses of all but the first piece of operands of 128 bytes and
// more: the dynamic linker saves vector registers in such.
type pieces struct {
	refs  []trace.Ref
	later uint64
}

func (p *pieces) Observe(b *trace.Batch) {
	for _, a := range b.Accesses {
		if r := p.refs[a.Ref()]; r.Operand > 0 && p.refs[a.Ref()-1].Size == 128 {
			p.later++
		}
	}
}

// loadedAt returns the program as a run with n loads it, and the run's accesses by
// routine.
func loadedAt(t *testing.T, p *Program, n string, st *store.Store) (*Program, *Result, map[string]uint64) {
	t.Helper()
	opt := RunOptions{Args: n, Store: st}
	at, err := p.At(t.Context(), nil, opt)
	loaded, in := at.Program, at.Inputs
	if errors.Is(err, native.ErrPtrace) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	plan, err := loaded.Plan()
	if err != nil {
		t.Fatal(err)
	}
	rec := &recorder{plan, make([]uint64, len(plan.Refs))}
	res, err := loaded.Run(t.Context(), Request{Inputs: in, Plan: plan, Collectors: []trace.Collector{rec}})
	if err != nil {
		t.Fatal(err)
	}
	by := make(map[string]uint64)
	for i, n := range rec.refs {
		by[loaded.ScopeOf(ByRoutine, Ref(i))] += n
	}
	return loaded, res, by
}

// TestLoaded records a program with its libraries, and compares with the engine's
// own plan of all that is executed.
func TestLoaded(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	p, b := dynamicProgram(t)
	st := store.Open(t.TempDir())
	loaded, res, by := loadedAt(t, p, "5000", st)
	if len(res.Warnings) != 0 {
		t.Errorf("warnings %q", res.Warnings)
	}
	d, err := native.Engine{}.Discover(t.Context(), p.File, engine.Request{Args: []string{"5000"}})
	if err != nil {
		t.Fatal(err)
	}
	pieces := &pieces{refs: d.Plan.Refs}
	out, err := native.Engine{}.Run(t.Context(), p.File, engine.Request{Args: []string{"5000"}, Plan: d.Plan, Sink: trace.NewDirect(pieces)})
	if err != nil {
		t.Fatal(err)
	}
	if res.Accesses+pieces.later != out.Accesses || res.Instructions != out.Instructions || pieces.later > out.Accesses/100 {
		t.Errorf("%d accesses of %d instructions, want %d, without %d, of %d", res.Accesses, res.Instructions, out.Accesses, pieces.later, out.Instructions)
	}
	if by["libown.so!work"] < 5000 || by["main"] == 0 {
		t.Errorf("work has %d accesses, main %d", by["libown.so!work"], by["main"])
	}
	for _, library := range []string{"libc.so.6!", "ld-linux-x86-64.so.2!", "libm.so.6!"} {
		if !slices.ContainsFunc(loaded.File.Routines, func(r objfile.Routine) bool { return strings.HasPrefix(r.Name, library) }) {
			t.Errorf("no routine of %s", library)
		}
	}
	r := loaded.References()[firstOf(t, loaded, "libown.so!work")]
	if r.File == "" || r.Line < 4 || r.Line > 7 || !r.InGraph {
		t.Errorf("a reference of work is at %s:%d, in a graph: %t", r.File, r.Line, r.InGraph)
	}
	if again, _, _ := loadedAt(t, p, "700", st); again != loaded {
		t.Error("another size has another program")
	}
	if loaded.Alone() != p {
		t.Error("the program alone is not the program")
	}

	b.library(t, "1") // the stored list is stale now
	changed, err := p.At(t.Context(), nil, RunOptions{Args: "5000", Store: st})
	other, in := changed.Program, changed.Inputs
	if err != nil || other == loaded || other.File.SHA256 == loaded.File.SHA256 || in.Program != other.File.SHA256 {
		t.Errorf("a library was changed, and the program is the same; %v", err)
	}
	if err := os.Remove(b.path("libown.so")); err != nil {
		t.Fatal(err)
	}
	if _, err := p.At(t.Context(), nil, RunOptions{Args: "5000", Store: st}); err != nil {
		t.Errorf("a program that cannot start: %v", err) // it is the run that fails, and says so
	}
}

func firstOf(t *testing.T, p *Program, routine string) int {
	t.Helper()
	refs := p.References()
	for i := range refs {
		if refs[i].Routine == routine && len(refs[i].Strides) > 0 {
			return i
		}
	}
	t.Fatalf("no reference of %s in a loop", routine)
	return 0
}

// TestRemoteLoaded: the run of a program with libraries is done elsewhere as it would
// be here, and not at all with other libraries.
func TestRemoteLoaded(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	p, b := dynamicProgram(t)
	st := store.Open(t.TempDir())
	loaded, _, _ := loadedAt(t, p, "700", st)
	at, err := p.At(t.Context(), nil, RunOptions{Args: "700", Store: st})
	if err != nil {
		t.Fatal(err)
	}
	r, err := loaded.Remote(st, at.Inputs, nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	there := func() (*Program, *Remote, error) {
		r := new(Remote)
		if err := json.Unmarshal(text, r); err != nil {
			t.Fatal(err)
		}
		prog, err := r.Open(st)
		return prog, r, err
	}
	prog, remote, err := there()
	if err != nil {
		t.Fatal(err)
	}
	if prog == loaded || prog.File.SHA256 != loaded.File.SHA256 {
		t.Errorf("%s, want %s", prog.File.SHA256, loaded.File.SHA256)
	}
	run := func(p *Program, in Inputs) uint64 {
		plan, err := p.Plan()
		if err != nil {
			t.Fatal(err)
		}
		res, err := p.Run(t.Context(), Request{Inputs: in, Plan: plan})
		if err != nil {
			t.Fatal(err)
		}
		return res.Accesses
	}
	if here, there := run(loaded, at.Inputs), run(prog, remote.Inputs); here != there || here == 0 {
		t.Errorf("%d accesses here, %d there", here, there)
	}
	b.library(t, "1")
	if _, _, err := there(); err == nil || !strings.Contains(err.Error(), "libown.so is not that of the job") {
		t.Errorf("another library: %v", err)
	}
	if err := os.Remove(b.path("libown.so")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := there(); err == nil || !strings.Contains(err.Error(), "has to be on this machine") {
		t.Errorf("no library: %v", err)
	}
}

// TestLoadedStatic checks that a program without libraries is not run to find some.
func TestLoadedStatic(t *testing.T) {
	b := &builder{oracle.Need(t, "gcc"), t.TempDir()}
	b.compile(t, "int main(void) { for (;;) ; }", "-static", "-o", b.path("endless"))
	p, err := Open(b.path("endless"))
	if err != nil {
		t.Fatal(err)
	}
	at, err := p.At(t.Context(), nil, RunOptions{Store: store.Open(t.TempDir())})
	loaded, in := at.Program, at.Inputs
	if loaded != p || in.Program != p.File.SHA256 || err != nil {
		t.Errorf("%v, %v, %v", loaded, in, err)
	}
}
