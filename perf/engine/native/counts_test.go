//go:build linux && amd64

package native

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"presage/perf/engine"
	"presage/perf/trace"
)

// slowSink keeps nothing, and takes its time for some batches.
type slowSink struct {
	trace.Batch
	pause time.Duration
	given int
}

func (s *slowSink) Exchange(full *trace.Batch) *trace.Batch {
	if full == nil {
		s.Accesses = make([]trace.Access, 0, trace.BatchAccesses)
		return &s.Batch
	}
	if s.given++; s.given%8 == 0 {
		time.Sleep(s.pause)
	}
	return &s.Batch
}

// TestCountsOfFullBuffers: the clock, which counts instructions, shows a program the same
// whether nothing is recorded, or the reader has counted what a full buffer has, or is
// behind and the engine counts. So does the count in the end, and where batches begin.
func TestCountsOfFullBuffers(t *testing.T) {
	f := compile(t, `
#include <stdio.h>
#include <time.h>
__attribute__((noinline)) static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void) {
	for (int n = 2; n < 25; n++) {
		long r = fib(n);
		struct timespec a;
		clock_gettime(CLOCK_REALTIME, &a);
		printf("%ld %ld\n", r, a.tv_nsec);
	}
}`, "-O1", "-static")
	var want bytes.Buffer
	d, err := Engine{}.Discover(t.Context(), f, engine.Request{Stdout: &want})
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(want.String(), "\n"); n != 23 {
		t.Fatalf("%d lines", n)
	}
	for name, sink := range map[string]trace.Sink{"none": nil, "quick": &slowSink{}, "slow": &slowSink{pause: 5 * time.Millisecond}} {
		var got bytes.Buffer
		r := engine.Request{Stdout: &got, Sink: sink}
		if sink != nil {
			r.Plan = d.Plan
		}
		out, err := Engine{}.Run(t.Context(), f, r)
		if err != nil {
			t.Fatal(err)
		}
		if out.Instructions != d.Outcome.Instructions || got.String() != want.String() {
			t.Errorf("%s: %d instructions, discovered %d; output\n%swant\n%s", name, out.Instructions, d.Outcome.Instructions, got.String(), want.String())
		}
	}
}
