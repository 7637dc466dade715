//go:build linux && amd64

package native

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"presage/perf/engine"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// run is what a recorder sees of a run.
type observed struct {
	accesses []trace.Access
	blocks   []trace.BlockID
	threads  []int32 // that followed one another
	starts   []uint64
}

func (o *observed) Observe(b *trace.Batch) {
	o.accesses = append(o.accesses, b.Accesses...)
	o.blocks = append(o.blocks, b.Blocks...)
	if n := len(o.threads); n == 0 || o.threads[n-1] != b.Thread {
		o.threads = append(o.threads, b.Thread)
	}
	o.starts = append(o.starts, b.Start)
}

func (o *observed) equal(p *observed) bool {
	return slices.Equal(o.accesses, p.accesses) && slices.Equal(o.blocks, p.blocks) && slices.Equal(o.threads, p.threads)
}

// TestBehaviour compares programs with difficult behaviour with plain runs, and
// their traces with each other: of two runs, and with each iteration of loops
// recorded singly.
func TestBehaviour(t *testing.T) {
	for name, flags := range map[string][]string{
		"signals.c": {"-O1", "-Wno-all"}, "threads.c": {"-O2", "-pthread"}, "code.c": {"-O2"}, "work.c": {"-O3", "-march=native"}, "bench/stencil.c": {"-O3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			behaves(t, compile(t, string(source), flags...), "20")
		})
	}
	t.Run("loaded.cc", func(t *testing.T) {
		t.Parallel()
		library := filepath.Join(t.TempDir(), "loaded.so")
		compileTo(t, library, "-O2", "-shared", "-fPIC", "-DLIBRARY", "testdata/loaded.cc")
		program := filepath.Join(t.TempDir(), "loaded")
		compileTo(t, program, "-O2", "testdata/loaded.cc", "-ldl")
		want := "12: a multiple of three (12)\n13: 19.5\n14: out of range\n15: a multiple of three (15)\n"
		if got := plainly(t, program, []string{"40", library}, ""); !strings.Contains(got.output, want) || !strings.HasSuffix(got.output, "39: 12.5 is too much\n0 left\n") {
			t.Errorf("the program itself: %+v", got)
		}
		found := behaves(t, open(t, program), "40", library)
		if !slices.ContainsFunc(found.Modules, func(m engine.Module) bool { return m.Path == library }) {
			t.Errorf("the library is not among the modules %+v", found.Modules)
		}
	})
}

// behaves compares a program with a plain run, and its traces with each other. It
// returns what a run discovers.
func behaves(t *testing.T, f *objfile.File, args ...string) *engine.Discovery {
	t.Helper()
	sameAsPlain(t, f.Path, args, "")
	input := engine.Request{Args: args}
	d, err := Engine{}.Discover(t.Context(), f, input)
	if err != nil {
		t.Fatal(err)
	}
	var runs []*observed
	for _, e := range []Engine{{}, {}, {singly: true}} {
		o := new(observed)
		r := input
		r.Plan, r.Sink = d.Plan, trace.NewDirect(o)
		out, err := e.Run(t.Context(), f, r)
		if err != nil {
			t.Fatal(err)
		}
		if out.Instructions != d.Outcome.Instructions || out.UnplannedRefs != 0 {
			t.Errorf("%+v, discovered %+v", *out, *d.Outcome)
		}
		runs = append(runs, o)
	}
	if !runs[0].equal(runs[1]) || !slices.Equal(runs[0].starts, runs[1].starts) {
		t.Error("two runs differ")
	}
	if !runs[0].equal(runs[2]) {
		t.Errorf("%d accesses and %d blocks, %d and %d with loops recorded singly", len(runs[0].accesses), len(runs[0].blocks), len(runs[2].accesses), len(runs[2].blocks))
	}
	return d
}

// TestLimits checks the limit of the output, reports of progress, and counts of
// memory.
func TestLimits(t *testing.T) {
	f := compile(t, `
#include <stdio.h>
#include <stdlib.h>
int main(void) {
	volatile unsigned x = 1;
	char *p = malloc(100000), *q = malloc(1 << 20);
	for (int i = 0; i < 40000000; i++) x += i;
	for (int i = 0; i < 100; i++) puts("0123456789");
	return p == q;
}`, "-O1")
	var output bytes.Buffer
	var reports []uint64
	r := engine.Request{Stdout: &output, Progress: func(n uint64) { reports = append(reports, n) }}
	out, err := Engine{}.Run(t.Context(), f, r)
	if err != nil || output.Len() != 1100 || out.Mappings == 0 || out.HeapPeak < 100000 || out.HeapPeak > 1<<20 {
		t.Errorf("%+v with %d bytes of output, error %v", out, output.Len(), err)
	}
	if len(reports) == 0 || !slices.IsSorted(reports) || reports[len(reports)-1] > out.Instructions {
		t.Errorf("progress %v of %d instructions", reports, out.Instructions)
	}
	output.Reset()
	r.OutputLimit = 100
	if _, err := (Engine{}).Run(t.Context(), f, r); !errors.Is(err, engine.ErrOutputLimit) || output.Len() != 100 {
		t.Errorf("%d bytes of output, error %v", output.Len(), err)
	}
}

// TestRepeatable checks that what a program is told by chance and by time is the
// same in every run, and that random numbers follow from the seed.
func TestRepeatable(t *testing.T) {
	f := compile(t, `
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
int main(void) {
	unsigned long r[3];
	if (getrandom(r, 8, 0) != 8 || read(open("/dev/urandom", O_RDONLY), r + 1, 8) != 8) return 1;
	r[2] = *(unsigned long *)getauxval(AT_RANDOM);
	printf("%lx %lx %lx ", r[0], r[1], r[2]);
	struct timespec a, b;
	clock_gettime(CLOCK_REALTIME, &a);
	sleep(3600);
	clock_gettime(CLOCK_REALTIME, &b);
	printf("%d %d %ld %ld %p %p", getpid(), gettid(), a.tv_nsec, b.tv_sec - a.tv_sec, (void *)r, (void *)main);
}`, "-O1")
	var outputs []string
	for _, seed := range []uint64{1, 1, 2} {
		var output bytes.Buffer
		if out, err := (Engine{}).Run(t.Context(), f, engine.Request{Seed: seed, Stdout: &output}); err != nil || out.ExitCode != 0 {
			t.Fatalf("%+v, error %v", out, err)
		}
		outputs = append(outputs, output.String())
	}
	if outputs[0] != outputs[1] || outputs[0] == outputs[2] || !strings.Contains(outputs[0], " 3600 ") {
		t.Errorf("outputs %q, want the first two the same", outputs)
	}
}

// TestCPU shows a program lesser processors.
func TestCPU(t *testing.T) {
	f := compile(t, `
#include <immintrin.h>
int main(void) { return !!__builtin_cpu_supports("avx512f") * 4 + !!__builtin_cpu_supports("avx2") * 2 + !!__builtin_cpu_supports("sse4.2"); }`, "-O1")
	for name, most := range map[string]int{"x86-64-v2": 1, "x86-64-v3": 3, "x86-64-v4": 7} {
		e, err := Engine{}.OnCPU(name)
		if err != nil {
			t.Fatal(err)
		}
		out, err := e.Run(t.Context(), f, engine.Request{})
		if err != nil || out.ExitCode == 0 || out.ExitCode > most {
			t.Errorf("%s: %+v, error %v, want exit status %d at most", name, out, err, most)
		}
		if e.Identity() == (Engine{}).Identity() {
			t.Errorf("%s has the identity of the default", name)
		}
	}
	if _, err := (Engine{}).OnCPU("386"); err == nil {
		t.Error("an unknown processor: no error")
	}
}

// TestCancel checks that a program that waits, and what it has started, ends with the
// run.
func TestCancel(t *testing.T) {
	f := compile(t, `
#include <stdio.h>
#include <unistd.h>
int main(void) {
	if (fork() == 0)
		for (;;) pause();
	printf("%d\n", getppid());
	fflush(stdout);
	for (;;) pause();
}`, "-O1")
	ctx, cancel := context.WithCancel(t.Context())
	var output bytes.Buffer
	done := make(chan error)
	go func() {
		_, err := Engine{}.Run(ctx, f, engine.Request{Stdout: &output})
		done <- err
	}()
	waitUntil(t, func() bool { return len(running(t, f.Path)) == 2 })
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	waitUntil(t, func() bool { return len(running(t, f.Path)) == 0 })
}

// helper is the environment variable that makes the test's executable run a program.
const helper = "PRESAGE_NATIVE_PROGRAM"

// TestKilled checks that a program does not outlive an engine that is killed.
func TestKilled(t *testing.T) {
	if path := os.Getenv(helper); path != "" {
		Engine{}.Run(t.Context(), open(t, path), engine.Request{})
		return
	}
	f := compile(t, "int main(void) { for (;;) ; }", "-O0")
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
	cmd.Env = append(os.Environ(), helper+"="+f.Path)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, func() bool { return len(running(t, f.Path)) == 1 })
	cmd.Process.Signal(syscall.SIGKILL)
	cmd.Wait()
	waitUntil(t, func() bool { return len(running(t, f.Path)) == 0 })
}

// running returns the processes that execute a file.
func running(t *testing.T, path string) (list []int) {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && to == path {
			pid, _ := strconv.Atoi(strings.Split(link, "/")[2])
			list = append(list, pid)
		}
	}
	return list
}

func waitUntil(t *testing.T, holds func() bool) {
	t.Helper()
	for range 1000 {
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("waited in vain for 10 seconds")
}

// cancelling is a sink that cancels the run at a number of accesses.
type cancelling struct {
	*trace.Direct
	left   int
	cancel context.CancelFunc
}

func (c *cancelling) Exchange(b *trace.Batch) *trace.Batch {
	if b != nil {
		if c.left -= len(b.Accesses); c.left <= 0 {
			c.cancel()
		}
	}
	return c.Direct.Exchange(b)
}

// TestCancelByTheSink checks that a run ends with the context's error wherever what it
// recorded has its reader cancel it: what is in buffers then may be half of a record.
func TestCancelByTheSink(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("testdata", "bench", "sort.c"))
	if err != nil {
		t.Fatal(err)
	}
	f := compile(t, string(source), "-O2")
	found, err := Engine{}.Discover(t.Context(), f, engine.Request{Args: []string{"2000"}})
	if err != nil {
		t.Fatal(err)
	}
	for at := 1; at < 2_000_000; at += 50_000 {
		ctx, cancel := context.WithCancel(t.Context())
		sink := &cancelling{trace.NewDirect(), at, cancel}
		_, err := Engine{}.Run(ctx, f, engine.Request{Args: []string{"300000"}, Plan: found.Plan, Sink: sink})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled after %d accesses: %v", at, err)
		}
		cancel()
	}
}
