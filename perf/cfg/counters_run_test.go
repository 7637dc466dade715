package cfg

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"presage/perf/engine"
	"presage/perf/engine/rv64"
	"presage/perf/internal/oracle"
	"presage/perf/isa"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// subject is a program to run.
type subject struct {
	name   string
	tool   string
	flags  []string
	source string
	args   []string
	stdin  string
}

const guests = "../engine/rv64/testdata/"

// subjects returns programs that cover every kind of control transfer: Go with
// goroutines, panics, recovered faults and os.Exit below several calls; C with
// longjmp, threads and signals; C++ with exceptions; numeric codes at three
// levels of optimisation; recursion in most.
func subjects() []subject {
	gcc := func(name, tool, source string, flags ...string) subject {
		return subject{name: name, tool: "riscv64-linux-gnu-" + tool, flags: append([]string{"-static", "-pthread"}, flags...), source: guests + source, stdin: "one two three two\nfour\n", args: []string{"x"}}
	}
	list := []subject{
		{name: "sweep3d", tool: "go", source: "../../datasets/programs/sweep3d", args: []string{"-n", "12", "-iterations", "2"}},
		{name: "goflow", tool: "go", source: guests + "goflow"},
		{name: "gomix", tool: "go", source: guests + "gomix", stdin: "one two\n", args: []string{"a"}},
		gcc("c-flow", "gcc", "c/flow.c", "-O2"),
		gcc("cpp-flow", "g++", "cpp/flow.cc", "-O2"),
		gcc("cpp-mix", "g++", "cpp/mix.cc", "-O2"),
		{name: "c-pie", tool: "riscv64-linux-gnu-gcc", flags: []string{"-static-pie", "-Wl,--no-dynamic-linker", "-O2", "-nostdlib", "-nostartfiles"}, source: guests + "c/pie.c"},
	}
	for _, level := range []string{"-O1", "-O2", "-O3"} {
		c := gcc("c-mix"+level, "gcc", "c/mix.c", level)
		f := gcc("fortran-mix"+level, "gfortran", "fortran/mix.f90", level)
		f.stdin = "1 2.5\n20 -3e2\n"
		k := gcc("kernels"+level, "gcc", "", level)
		k.source, k.args = "testdata/kernels.c", []string{"20"}
		list = append(list, c, f, k)
	}
	return list
}

func (s subject) open(t testing.TB) *objfile.File {
	t.Helper()
	oracle.Need(t, s.tool)
	path := filepath.Join(t.TempDir(), s.name)
	args := append(slices.Clone(s.flags), "-o", path, s.source)
	if s.tool == "go" {
		args = []string{"build", "-o", path, s.source}
	} else {
		args = append(args, "-lm")
	}
	cmd := exec.Command(s.tool, args...)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=riscv64", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	f, err := objfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (s subject) run(t testing.TB, f *objfile.File, plan *trace.Plan, sink trace.Sink) *engine.Outcome {
	t.Helper()
	r, err := rv64.Engine{}.Run(t.Context(), f, engine.Request{Args: s.args, Stdin: strings.NewReader(s.stdin), Plan: plan, Sink: sink})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// foreseen analyses a program until its run leads nowhere unforeseen.
func (s subject) foreseen(t testing.TB, f *objfile.File) *Program {
	t.Helper()
	p := Analyze(f)
	for range 8 {
		c := PlaceCounters(p)
		flow := s.run(t, f, &trace.Plan{Flow: c.Plan}, nil).Flow
		if len(c.unforeseen(flow)) == 0 {
			return p
		}
		p = p.Complete(flow)
	}
	t.Fatalf("%s: after 8 runs there still is unforeseen code", s.name)
	return nil
}

// tally counts block executions one by one.
type tally struct {
	counts []uint64
	batch  trace.Batch
}

func (s *tally) Exchange(full *trace.Batch) *trace.Batch {
	if full != nil {
		for _, b := range full.Blocks {
			s.counts[b]++
		}
	}
	s.batch.Reset()
	return &s.batch
}

func TestCountersOfRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, s := range subjects() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			f := s.open(t)
			p := s.foreseen(t, f)

			tree, all := PlaceCounters(p), countEverything(p)
			run := s.run(t, f, &trace.Plan{Flow: tree.Plan}, nil)
			got, err := tree.Recover(run.Flow)
			if err != nil {
				t.Fatal(err)
			}
			fullRun := s.run(t, f, &trace.Plan{Flow: all.Plan}, nil)
			want, err := all.Recover(fullRun.Flow)
			if err != nil {
				t.Fatal(err)
			}
			plan := new(trace.Plan)
			for _, r := range p.Routines {
				for b := range r.Blocks {
					plan.Blocks = append(plan.Blocks, trace.Block{PC: trace.PC(r.Blocks[b].PC()), Instructions: uint32(len(r.Blocks[b].Insts))})
				}
			}
			recorded := &tally{counts: make([]uint64, len(plan.Blocks)), batch: trace.Batch{Accesses: make([]trace.Access, 0, trace.BatchAccesses)}}
			s.run(t, f, plan, recorded)

			k := 0
			steps, instructions := 0, uint64(0)
			var buf []uint64
			for i, r := range p.Routines {
				got, want := &got.Routines[i], &want.Routines[i]
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s: from the tree\n%+v, counted fully\n%+v", r.Name, got, want)
				}
				balanced(t, r, got)
				steps += len(got.Steps)
				for b := range r.Blocks {
					if n := recorded.counts[k]; n != got.Blocks[b] {
						t.Errorf("%s: block at %#x executed %d times, recorded %d", r.Name, r.Blocks[b].PC(), got.Blocks[b], n)
					}
					k++
					buf = got.Insts(buf, r, b)
					instructions += sum(buf)
				}
				if t.Failed() {
					t.FailNow()
				}
			}
			// The engine does not count instructions that fault; those that
			// return from signals' handlers are in no routine.
			var faults, returns uint64
			for _, b := range run.Flow.Breaks {
				switch r := p.RoutineAt(uint64(b.PC)); {
				case b.Broke == 0:
				case r == nil:
					returns += b.Broke
				default:
					b1, i := r.BlockAt(uint64(b.PC))
					if r.Blocks[b1].Insts[i].Class != isa.SystemCall {
						faults += b.Broke
					}
				}
			}
			const trampoline, loadGP = 2, 3 // instructions
			outside := trampoline * returns
			for _, e := range tree.events(run.Flow) {
				if uint64(e.PC) < p.Routines[len(p.Routines)-1].Addr && p.RoutineAt(uint64(e.PC)) == nil {
					outside += loadGP * e.foreign()
				}
			}
			if run.Instructions != instructions-faults+outside {
				t.Errorf("%d instructions executed, %d in blocks, %d of them faulted, %d outside", run.Instructions, instructions, faults, outside)
			}
			t.Logf("%d instructions, %d faults, %d returns from handlers, %d partial executions, warnings %v", instructions, faults, returns, steps, got.Warnings)
			t.Logf("%+v", tree.Savings(run.Flow, got))
			t.Logf("everything: %+v", all.Savings(fullRun.Flow, want))
		})
	}
}
