//go:build linux && amd64

package native

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"presage/perf/engine"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// compileAs compiles a program of the test data.
func compileAs(t *testing.T, name string, flags ...string) *objfile.File {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return compile(t, string(source), flags...)
}

// TestExec runs programs that replace themselves, and compares output and status with
// those of plain runs. The programs that ran are named, all their references are
// discovered, and two runs are the same.
func TestExec(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the traced processes, their engine and its threads run in other tests, too")
	}
	replacer, worker := compileAs(t, "exec.c", "-O1", "-pthread"), compileAs(t, "work.c", "-O2", "-static")
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho script \"$@\"\nexec "+worker.Path+" 10\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	shell, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Skip(err)
	}
	for name, c := range map[string]struct {
		program string
		args    []string
		images  []string
	}{
		"env":     {"/usr/bin/env", []string{worker.Path, "20"}, []string{worker.Path}},
		"sh":      {shell, []string{"-c", "echo one; /bin/echo two; exec " + worker.Path + " 20"}, []string{worker.Path}},
		"own":     {replacer.Path, []string{"alone", worker.Path, "20"}, []string{worker.Path}},
		"failing": {replacer.Path, []string{"failing", worker.Path, "20"}, []string{worker.Path}},
		"script":  {replacer.Path, []string{"alone", script, "a b"}, []string{shell, worker.Path}},
		"again":   {replacer.Path, []string{"again", "3"}, []string{replacer.Path, replacer.Path, replacer.Path}},
		"threads": {replacer.Path, []string{"threads", worker.Path, "20"}, []string{worker.Path}},
		"thread":  {replacer.Path, []string{"thread", worker.Path, "20"}, []string{worker.Path}},
	} {
		t.Run(name, func(t *testing.T) {
			f := open(t, c.program)
			input := engine.Request{Args: c.args}
			d, err := Engine{}.Discover(t.Context(), f, input)
			if err != nil {
				t.Fatal(err)
			}
			for _, image := range c.images {
				if !slices.ContainsFunc(d.Modules, func(m engine.Module) bool { return m.Path == image }) && image != c.program {
					t.Errorf("%s is none of the modules %+v", image, d.Modules)
				}
			}
			var runs []*observed
			for _, free := range []bool{false, false, true} {
				o := new(observed)
				r := input
				r.Plan, r.Sink, r.FreeThreads = d.Plan, trace.NewDirect(o), free
				out := sameReplaced(t, f, r)
				unplanned := out.UnplannedRefs != 0 && !free && name != "sh" // when its child ends is chance, and so is how it waits
				if !slices.Equal(out.Images, c.images) || unplanned || uint64(len(o.accesses)) != out.Accesses {
					t.Errorf("%+v, want images %v", *out, c.images)
				}
				runs = append(runs, o)
			}
			if name == "sh" {
				return
			}
			if !runs[0].equal(runs[1]) || !slices.Equal(runs[0].starts, runs[1].starts) {
				t.Error("two runs differ")
			}
		})
	}
}

// sameReplaced runs a program and compares it with a plain run.
func sameReplaced(t *testing.T, f *objfile.File, r engine.Request) *engine.Outcome {
	t.Helper()
	cmd := exec.Command(f.Path, r.Args...)
	cmd.Env = []string{} // not the test's
	plain, err := cmd.Output()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	var output bytes.Buffer
	r.Stdout = &output
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	out, err := Engine{}.Run(ctx, f, r)
	if err != nil || out.ExitCode != cmd.ProcessState.ExitCode() || output.String() != string(plain) {
		t.Fatalf("%v: %+v with output %q, error %v; plain %q, status %d", r.Args, out, &output, err, plain, cmd.ProcessState.ExitCode())
	}
	return out
}

// TestExecAddresses checks that what replaces a program has other addresses in the
// trace, and a place of its own in the plan.
func TestExecAddresses(t *testing.T) {
	replacer, worker := compileAs(t, "exec.c", "-O1", "-pthread"), compileAs(t, "work.c", "-O2", "-static")
	r := engine.Request{Args: []string{"alone", worker.Path, "20"}}
	d, err := Engine{}.Discover(t.Context(), replacer, r)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := Engine{}.Discover(t.Context(), worker, engine.Request{Args: []string{"20"}})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(d.Modules, func(m engine.Module) bool { return m.Path == worker.Path })
	if i < 0 {
		t.Fatalf("modules %+v", d.Modules)
	}
	base := d.Modules[i].Base
	o := new(observed)
	r.Plan, r.Sink = d.Plan, trace.NewDirect(o)
	if _, err := (Engine{}).Run(t.Context(), replacer, r); err != nil {
		t.Fatal(err)
	}
	pages := make(map[uint64]bool) // of the first program
	own := 0
	for _, a := range o.accesses {
		pc := d.Plan.Refs[a.Ref()].PC
		inWorker := pc >= base && pc < base+moduleStride
		switch {
		case inWorker && pages[a.Addr()>>12]:
			t.Fatalf("address %#x is in both programs", a.Addr())
		case inWorker:
			own++
		default:
			pages[a.Addr()>>12] = true
		}
	}
	if own == 0 {
		t.Fatal("nothing is recorded of the second program")
	}
	planned := 0
	for _, ref := range d.Plan.Refs {
		if ref.PC >= base && ref.PC < base+moduleStride {
			planned++
		}
	}
	if n := len(alone.Plan.Refs); planned < n*9/10 || planned > n*11/10 {
		t.Errorf("%d references of the second program, %d when it runs alone", planned, n)
	}
}

// TestExecRefused checks that a program which becomes one that the engine does not run
// ends with an error that names it.
func TestExecRefused(t *testing.T) {
	f := compileAs(t, "exec.c", "-O1", "-pthread")
	other := filepath.Join(t.TempDir(), "other")
	source := `void _start(void) { __asm__ volatile("movl $1, %eax; movl $5, %ebx; int $0x80"); }`
	in := other + ".c"
	if err := os.WriteFile(in, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command("gcc", "-m32", "-nostdlib", "-static", "-ffreestanding", "-o", other, in).CombinedOutput(); err != nil {
		t.Skipf("gcc builds nothing for 32 bits: %v\n%s", err, text)
	}
	if err := exec.Command(other).Run(); err == nil || !strings.Contains(err.Error(), "status 5") {
		t.Skipf("the kernel runs nothing for 32 bits: %v", err)
	}
	_, err := Engine{}.Run(t.Context(), f, engine.Request{Args: []string{"alone", other}})
	if !errors.Is(err, ErrExec) || !strings.Contains(err.Error(), other) {
		t.Errorf("%v", err)
	}
}

// TestProcesses counts the processes that a program starts, which are not recorded,
// whatever the system call, and neither its threads nor what processes start.
func TestProcesses(t *testing.T) {
	f := compileAs(t, "processes.c", "-O1", "-pthread")
	const each = 1000 // stores of a process
	base := uint64(0)
	for _, c := range []struct {
		how  string
		want int
	}{{"", 0}, {"f", 1}, {"v", 1}, {"s", 1}, {"c", 1}, {"q", 1}, {"g", 1}, {"t", 0}, {"ftvscg", 5}} {
		for _, free := range []bool{false, true} {
			input := engine.Request{Args: []string{"1000", c.how}, FreeThreads: free}
			found, err := Engine{}.Discover(t.Context(), f, input)
			if err != nil {
				t.Fatal(err)
			}
			r := input
			r.Plan, r.Sink = found.Plan, trace.NewDirect()
			out, err := Engine{}.Run(t.Context(), f, r)
			if err != nil {
				t.Fatal(err)
			}
			if out.ExitCode != 0 || out.Processes != c.want || found.Outcome.Processes != c.want || (out.Unrecorded() == "") != (c.want == 0) {
				t.Errorf("%q, free %v: %d processes, %d in the run before, %q, exit status %d, want %d", c.how, free, out.Processes, found.Outcome.Processes, out.Unrecorded(), out.ExitCode, c.want)
			}
			if base == 0 {
				base = out.Accesses
			}
			if c.how == "f" && out.Accesses > base+10*each {
				t.Errorf("%d accesses, %d without another process, whose own %d should be missing", out.Accesses, base, 10*each)
			}
		}
	}
}

// TestSignalsAroundCalls: a signal that comes while the engine has stopped a thread is
// delivered before the system call that it makes next, which the kernel has not made then;
// one that comes when a call is done, after what the engine has to do then; and calls that
// wait are made again where the handler asks for it.
func TestSignalsAroundCalls(t *testing.T) {
	children, disturbed := compileAs(t, "children.c", "-O1", "-pthread"), compileAs(t, "disturbed.c", "-O1")
	for _, c := range []struct {
		name string
		f    *objfile.File
		args []string
		want string
	}{
		{"alone", children, []string{"200"}, "200 processes, 0 lost, signals\n"},
		{"busy", children, []string{"200", "busy"}, "200 processes, 0 lost, signals\n"},
		{"idle", children, []string{"200", "idle"}, "200 processes, 0 lost, signals\n"},
		{"disturbed", disturbed, []string{"1000"}, "1000 turns, sum 3000, signals\n"},
	} {
		for _, free := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s free=%v", c.name, free), func(t *testing.T) {
				t.Parallel() // the more processes there are, the more signals come at other times
				ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
				defer stop()
				input := engine.Request{Args: c.args, FreeThreads: free}
				found, err := Engine{}.Discover(ctx, c.f, input)
				if err != nil {
					t.Fatal(err)
				}
				for _, plan := range []*trace.Plan{nil, found.Plan} {
					var text bytes.Buffer
					r := input
					if r.Stdout = &text; plan != nil {
						r.Plan, r.Sink = plan, trace.NewDirect()
					}
					out, err := Engine{}.Run(ctx, c.f, r)
					if err != nil {
						t.Fatal(err)
					}
					if out.ExitCode != 0 || text.String() != c.want {
						t.Errorf("recorded %v: exit status %d, %q, want %q", plan != nil, out.ExitCode, text.String(), c.want)
					}
				}
			})
		}
	}
}
