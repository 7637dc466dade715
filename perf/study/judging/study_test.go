package judging

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"presage/perf/internal/oracle"
	"presage/perf/internal/profiletest"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/progress"
	"presage/perf/store"
	"presage/perf/subject"
	"presage/perf/timing"
)

// walk is a program that takes its size in any way; it fails at sizes above 100.
const walk = `
#include <stdio.h>
#include <stdlib.h>
static double a[400][400];
int main(int argc, char **argv)
{
#ifdef N
	int n = N;
#else
	int n = argc > 1 ? atoi(argv[1]) : 0;
	FILE *f = argc > 1 ? fopen(argv[1], "r") : 0;
	if (f && fscanf(f, "%d", &n) != 1)
		return 3;
#endif
	double sum = 0;
	for (int t = 0; t < 3; t++)
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++)
				sum += a[j][i] += t;
	return n > 100 || sum != 4.0 * n * n;
}
`

// small returns the options of a suite of four programs, the last of which fails at
// the size that is judged.
func small(t *testing.T) Options {
	t.Helper()
	oracle.Need(t, guestPrefix+"gcc")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "walk.c"), []byte(walk), 0o666); err != nil {
		t.Fatal(err)
	}
	fields := ", source: walk.c, kind: kernel, half: open, train: [32, 48, 64], flags: -O1, test: 4, "
	text := "programs:\n" +
		"  - {name: arg" + fields + "size: argument, judge: [96], time: [96]}\n" +
		"  - {name: comp" + fields + "size: compiled, judge: [96], time: [96]}\n" +
		"  - {name: wrong" + fields + "size: argument, judge: [128]}\n" +
		"  - {name: file" + fields + "size: file, judge: [96]}\n"
	path := filepath.Join(dir, "suite.yaml")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := ReadSuite(path)
	if err != nil {
		t.Fatal(err)
	}
	return Options{Dir: s.Dir, Programs: s.Programs, Machines: []*machine.Machine{profiletest.Machine(t, "origin2000")}, Store: store.Open(t.TempDir())}
}

// TestRun judges programs that do the same at sizes from three places, one that fails,
// and one whose time cannot be predicted; what is found of the first is what the
// functions that judging stands for give.
func TestRun(t *testing.T) {
	opt := small(t)
	var tasks []string
	opt.Progress = func(r progress.Report) {
		if !r.Stored && !r.Finished() {
			tasks = append(tasks, r.Task)
		}
	}
	found, err := opt.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	of := make(map[string][]MissRow)
	for _, r := range found.Misses {
		of[r.Program] = append(of[r.Program], r)
	}
	if len(of["arg"]) == 0 || len(of["comp"]) != len(of["arg"]) || len(of["file"]) != len(of["arg"]) || len(of["wrong"]) != 0 {
		t.Fatalf("rows of %v", of)
	}
	compareWithChain(t, opt, of["arg"])
	for i, r := range of["arg"] {
		for _, other := range []MissRow{of["comp"][i], of["file"][i]} {
			// Start-up code differs with the arguments, the walk does not.
			if math.Abs(r.Sim-other.Sim) > 300 || r.Level != other.Level || r.Class != other.Class || r.Level == "L1" && r.Sim < 1000 {
				t.Errorf("%s: %g misses of %s, %g of %s", r.Level, r.Sim, r.Program, other.Sim, other.Program)
			}
		}
	}
	var failed []string
	for _, f := range found.Failed {
		failed = append(failed, f.Program+" "+f.What)
	}
	if got := strings.Join(failed, ", "); got != "comp cycles, wrong misses" || !strings.Contains(found.Failed[1].Error, "exit status 1") {
		t.Errorf("failed: %+v", found.Failed)
	}
	if len(found.Cycles) != 1 || found.Cycles[0].Program != "arg" {
		t.Fatalf("cycles: %+v", found.Cycles)
	}
	compareCycles(t, opt, found.Cycles[0])

	for _, want := range []string{"arg, prediction on origin2000, learning loops", "arg, prediction on origin2000, simulating"} {
		if !slices.ContainsFunc(tasks, func(task string) bool { return strings.HasPrefix(task, want) }) {
			t.Errorf("nothing said of %q in %q", want, tasks)
		}
	}

	// What was found is in the store, but for the run that fails.
	tasks = nil
	opt.Programs = slices.Delete(opt.Programs, 1, 2)
	isComp := func(program string) bool { return program == "comp" }
	found.Misses = slices.DeleteFunc(found.Misses, func(r MissRow) bool { return isComp(r.Program) })
	found.Failed = slices.DeleteFunc(found.Failed, func(f Failure) bool { return isComp(f.Program) })
	again, err := opt.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		if !strings.HasPrefix(task, "wrong, misses on origin2000, n=128") {
			t.Errorf("repeated: %s", task)
		}
	}
	if diff := cmp.Diff(found, again, cmpopts.EquateNaNs()); diff != "" || len(tasks) == 0 {
		t.Errorf("%d tasks; first and second run differ: %s", len(tasks), diff)
	}
}

// compareWithChain holds rows of a program whose size is an argument against
// misses.Validate, and against a simulation at the largest training size.
func compareWithChain(t *testing.T, opt Options, rows []MissRow) {
	t.Helper()
	p := &opt.Programs[0]
	run := subject.RunOptions{Args: "{n}", Store: opt.Store}
	prog, err := kept(t.Context(), opt.Dir, p, p.Name, 0, opt.Store)
	if err != nil {
		t.Fatal(err)
	}
	valid, err := misses.Validate(t.Context(), prog, misses.Validation{
		RunOptions: run, Machines: opt.Machines, Train: points(p.Train), Judge: points(p.Judge), By: []subject.Scope{subject.ByProgram},
	})
	if err != nil {
		t.Fatal(err)
	}
	largest, err := misses.Simulate(t.Context(), prog, opt.Machines[0], points(p.Train[len(p.Train)-1:]), misses.SimulateOptions{RunOptions: run})
	if err != nil {
		t.Fatal(err)
	}
	if len(valid) != len(rows) {
		t.Fatalf("%d rows, Validate has %d", len(rows), len(valid))
	}
	classes := map[string]string{"L1": ClassFewWays, "L2": ClassFewWays, "TLB": ClassTLB}
	for i, r := range rows {
		v, base := valid[i], largest[i].Misses
		if r.Level != v.Level || r.Pred != v.Pred || r.Sim != v.Sim || r.SimFull != v.SimFull || r.PredFull != v.PredFull || r.Err != v.Err || r.ErrModel != v.ErrModel {
			t.Errorf("%+v, Validate has %+v", r, v)
		}
		if want := base * 96 * 96 * 96 / (64 * 64 * 64); largest[i].Level != r.Level || math.Abs(r.Baseline-want) > 1e-9*want || r.Growth != 1.5 {
			t.Errorf("%s: baseline %g, growth %g, want %g", r.Level, r.Baseline, r.Growth, want)
		}
		if !(r.Low <= r.Pred && r.Pred <= r.High) || r.Class != classes[r.Level] {
			t.Errorf("%s: class %q, %g in [%g, %g]", r.Level, r.Class, r.Pred, r.Low, r.High)
		}
		if math.Abs(r.PredAccesses/r.SimAccesses-1) > 0.01 {
			t.Errorf("%s: %g accesses, predicted %g", r.Level, r.SimAccesses, r.PredAccesses)
		}
	}
}

func compareCycles(t *testing.T, opt Options, r CycleRow) {
	t.Helper()
	p := &opt.Programs[0]
	prog, err := kept(t.Context(), opt.Dir, p, p.Name, 0, opt.Store)
	if err != nil {
		t.Fatal(err)
	}
	sim, err := timing.Simulate(t.Context(), prog, opt.Machines[0], points([]int{64, 96}), timing.SimulateOptions{RunOptions: subject.RunOptions{Args: "{n}", Store: opt.Store}})
	if err != nil {
		t.Fatal(err)
	}
	if want := sim[0].Cycles * 3.375; r.Sim != sim[1].Cycles || math.Abs(r.Baseline-want) > 1e-9*want || r.Err != (r.Pred-r.Sim)/r.Sim {
		t.Errorf("%+v, simulated %g and %g", r, sim[0].Cycles, sim[1].Cycles)
	}
}

func TestRunErrors(t *testing.T) {
	opt := small(t)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := opt.Run(stopped); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	bare := *opt.Machines[0]
	bare.Core = machine.Core{}
	without := opt
	without.Machines = []*machine.Machine{&bare}
	if _, err := without.Run(t.Context()); err == nil || !strings.Contains(err.Error(), bare.Name) {
		t.Errorf("a machine without a core: %v", err)
	}
	without.Machines = nil
	if _, err := without.Run(t.Context()); err == nil {
		t.Error("no machine, and no error")
	}
	opt.Programs = opt.Programs[:1]
	opt.Programs[0].Flags = "-no-such-flag"
	found, err := opt.Run(t.Context())
	if err != nil || len(found.Failed) != 1 || !strings.Contains(found.Failed[0].Error, "no-such-flag") {
		t.Errorf("a flag that the compiler refuses: %+v, %v", found, err)
	}
}

// TestCompileIsReproducible compiles a program in two folders.
func TestCompileIsReproducible(t *testing.T) {
	if testing.Short() {
		t.Skip("what it builds and runs is without the race detector")
	}
	var sums []string
	for range 2 {
		opt := small(t)
		opt.Programs[0].Flags = DefaultFlags
		prog, err := kept(t.Context(), opt.Dir, &opt.Programs[0], "walk", 0, opt.Store)
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, prog.File.SHA256)
	}
	if sums[0] != sums[1] {
		t.Error("two folders, two executables")
	}
}

// TestFortranIsReproducible compiles a Fortran program twice: the debug information does
// not record the folder of its modules.
func TestFortranIsReproducible(t *testing.T) {
	if testing.Short() {
		t.Skip("what it builds and runs is without the race detector")
	}
	dir := t.TempDir()
	source := "module sizes\n integer :: n = 3\nend module\nprogram main\n use sizes\n print *, n\nend program\n"
	if err := os.WriteFile(filepath.Join(dir, "main.f90"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	oracle.Need(t, guestPrefix+"gfortran")
	p := Program{Name: "main", Source: "main.f90", Flags: DefaultFlags}
	var sums []string
	for range 2 {
		prog, err := kept(t.Context(), dir, &p, "main", 0, store.Open(t.TempDir()))
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, prog.File.SHA256)
	}
	if sums[0] != sums[1] {
		t.Error("two builds, two executables")
	}
}
