//go:build linux && amd64

package native

import (
	"bytes"
	"slices"
	"testing"

	"presage/perf/engine"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// calling calls small routines: recursively, so that they use up the stack; with accesses
// that fault in the first instruction of what is called; after a call of malloc; and from a
// thread.
const calling = `
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#define ROUTINE __attribute__((noinline, noclone)) static
ROUTINE long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
ROUTINE int load(int *p) { return *p; }
ROUTINE int through(int *p) { return load(p) + 1; }
ROUTINE long down(long n) { return n ? down(n + 1) + fib(1) : 0; }
void spin(int n);
__asm__(".type spin, @function\nspin: decl %edi; jnz spin; ret");
static sigjmp_buf back;
static int faults;
static void fault(int s) { faults++; siglongjmp(back, 1); }
static void *work(void *p) { return (void *)(fib(12) + *(long *)p); }
int main(void) {
	stack_t alt = {.ss_sp = malloc(65536), .ss_size = 65536};
	struct sigaction a = {.sa_handler = fault, .sa_flags = SA_ONSTACK};
	struct rlimit small = {256 << 10, 256 << 10};
	sigaltstack(&alt, 0);
	sigaction(SIGSEGV, &a, 0);
	long r = fib(15);
	int x[1] = {7};
	for (volatile int i = 0; i < 3; i++) {
		r += through(x);
		spin(50);
		if (!sigsetjmp(back, 1)) r += through((int *)16);
	}
	setrlimit(RLIMIT_STACK, &small);
	if (!sigsetjmp(back, 1)) r += down(1);
	int *p = malloc(100);
	*p = load(x);
	free(p);
	pthread_t t;
	void *result;
	pthread_create(&t, 0, work, &r);
	r += fib(12);
	pthread_join(t, &result);
	printf("%ld %ld %d\n", r, (long)result, faults);
}`

// TestJoins: the trace is the same whether blocks are joined or not, and whether records
// are read at once or one by one; so are output and counts.
func TestJoins(t *testing.T) {
	for _, flags := range [][]string{{"-O2", "-fno-optimize-sibling-calls", "-static", "-pthread"}, {"-O0", "-pthread"}} {
		f := compile(t, calling, flags...)
		var want bytes.Buffer
		d, err := Engine{}.Discover(t.Context(), f, engine.Request{Stdout: &want})
		if err != nil {
			t.Fatal(err)
		}
		if want.Len() == 0 || !bytes.HasSuffix(want.Bytes(), []byte(" 4\n")) {
			t.Fatalf("output %q, want 4 faults", &want)
		}
		var runs []*smallBatches
		for _, e := range []Engine{{singly: true}, {}} {
			for _, room := range []int{1, 7, 2000} {
				var got bytes.Buffer
				s := &smallBatches{batch: trace.Batch{Accesses: make([]trace.Access, 0, room)}}
				out, err := e.Run(t.Context(), f, engine.Request{Plan: d.Plan, Sink: s, Stdout: &got})
				if err != nil {
					t.Fatal(err)
				}
				if out.Instructions != d.Outcome.Instructions || out.UnplannedRefs != 0 || got.String() != want.String() {
					t.Errorf("%+v: output %q, want %q; %+v, discovered %+v", e, &got, &want, *out, *d.Outcome)
				}
				runs = append(runs, s)
			}
		}
		for i, s := range runs[1:] {
			if !s.equal(&runs[0].observed) || !slices.Equal(s.counts, runs[0].counts) {
				t.Errorf("%v, run %d: %d accesses, %d blocks; with none joined %d, %d", flags, i+1, len(s.accesses), len(s.blocks), len(runs[0].accesses), len(runs[0].blocks))
			}
		}
	}
}

// TestWhatJoins: a call joins the routine called, unless that is a loop, or the run is to be
// stopped at an exact count.
func TestWhatJoins(t *testing.T) {
	f := compile(t, calling, "-O2", "-fno-optimize-sibling-calls", "-static", "-pthread")
	at := make(map[uint64]string)
	for _, s := range f.Routines {
		at[s.Addr] = s.Name
	}
	d, err := Engine{}.Discover(t.Context(), f, engine.Request{})
	if err != nil {
		t.Fatal(err)
	}
	plain := engine.Request{Plan: d.Plan, Sink: trace.NewDirect()}
	joined := joinedIn(t, f, plain)
	for _, name := range []string{"fib", "load", "down"} {
		if !slices.ContainsFunc(joined, func(pc uint64) bool { return at[pc] == name }) {
			t.Errorf("%s is not joined to a call", name)
		}
	}
	if slices.ContainsFunc(joined, func(pc uint64) bool { return at[pc] == "spin" }) {
		t.Error("spin, a loop, is joined to a call")
	}
	exact := plain
	exact.Windows = []trace.Window{{From: 1000, To: 5000}}
	if n := len(joinedIn(t, f, exact)); n > 0 {
		t.Errorf("%d blocks joined in a run with a window", n)
	}
}

// joinedIn runs a program and returns where the blocks begin that others have joined.
func joinedIn(t *testing.T, f *objfile.File, r engine.Request) (list []uint64) {
	t.Helper()
	for _, b := range machineAfter(t, f, r).blocks {
		for _, p := range b.parts {
			if p.pc != b.pc {
				list = append(list, p.pc)
			}
		}
	}
	return list
}

// machineAfter runs a program and returns the machine that ran it.
func machineAfter(t *testing.T, f *objfile.File, r engine.Request) *machine {
	t.Helper()
	m := newMachine(t.Context(), f, r, false)
	m.joining = m.mayJoin()
	io, err := openStdio(&r, func() {})
	if err != nil {
		t.Fatal(err)
	}
	lonely(func() { err = m.run(io) })
	if err != nil {
		t.Fatal(err)
	}
	if err := io.wait(); err != nil {
		t.Fatal(err)
	}
	return m
}
