package reuse

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"presage/perf/trace"
)

// TestParallelIsSequential: for any stream, cut into chunks and batches of any
// length, with results asked for in between, any number of workers finds what
// one does and what the stack has, bin by bin.
func TestParallelIsSequential(t *testing.T) {
	plan := planOf(0, 1, 1, 3)
	rapid.Check(t, func(t *rapid.T) {
		blockBytes := uint64(1) << rapid.IntRange(0, 15).Draw(t, "log2 block")
		tune := tuning{
			window: rapid.SampledFrom([]int{1, 1000}).Draw(t, "window"),
			chunk:  rapid.IntRange(1, 2000).Draw(t, "chunk"),
		}
		workers := rapid.IntRange(2, 5).Draw(t, "workers")
		accesses := drawAccesses(t, len(plan.Refs), blockBytes, 3000)
		one, err := newCollector(plan, Options{BlockBytes: blockBytes}, tune)
		if err != nil {
			t.Fatal(err)
		}
		many, err := newCollector(plan, Options{BlockBytes: blockBytes, Workers: workers}, tune)
		if err != nil {
			t.Fatal(err)
		}
		n := newNaive(plan, blockBytes)
		for len(accesses) > 0 {
			k := min(len(accesses), rapid.IntRange(1, 1500).Draw(t, "until result"))
			batch := rapid.IntRange(1, 700).Draw(t, "batch")
			observe(one, accesses[:k], batch)
			observe(many, accesses[:k], batch)
			n.observe(accesses[:k])
			accesses = accesses[k:]
			if diff := cmp.Diff(one.Result(), many.Result()); diff != "" {
				t.Fatalf("%d workers: -one +many:\n%s", workers, diff)
			}
		}
		check(t, many.Result(), n)
	})
}

// TestOrderAfterHits: a chunk whose last accesses all hit the front ends in
// their order.
func TestOrderAfterHits(t *testing.T) {
	k := newStack(newLayout(planOf(0), 64), 1)
	var accesses []trace.Access
	for i := range sieve {
		accesses = append(accesses, access(0, uint64(i%3)*64, 8)) // … 2 0 1
	}
	accesses = append(accesses, access(0, 0, 8), access(0, 128, 8))
	k.plain(accesses)
	if diff := cmp.Diff([]uint64{1, 0, 2}, k.order(nil)); diff != "" {
		t.Errorf("blocks by last access -want +got:\n%s", diff)
	}
}

// TestParallelStreams does the same for streams long enough that chunks grow
// and time lines are renumbered.
func TestParallelStreams(t *testing.T) {
	for _, s := range streams {
		t.Run(s.pattern, func(t *testing.T) {
			accesses := s.make()
			accesses = accesses[:min(len(accesses), 1_500_000)]
			plan := planOf(0, 1, 2)
			one, err := New(plan, Options{})
			if err != nil {
				t.Fatal(err)
			}
			many, err := newCollector(plan, Options{Workers: 3}, tuning{window: 1, chunk: 1 << 14})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				observe(one, accesses, trace.BatchAccesses)
				observe(many, accesses, trace.BatchAccesses)
			}
			if diff := cmp.Diff(one.Result(), many.Result()); diff != "" {
				t.Errorf("-one +many:\n%s", diff)
			}
			if p := many.method.(*parallel); s.pattern != "matmul" && s.pattern != "triad" && p.size == 1<<14 {
				t.Error("chunks full of first touches did not grow")
			}
		})
	}
}

// TestParallelMemory: what is buffered stays within the bounds stated.
func TestParallelMemory(t *testing.T) {
	const workers, blocks = 2, 50_000
	c, err := newCollector(planOf(0), Options{Workers: workers}, tuning{window: 1, chunk: 1 << 10})
	if err != nil {
		t.Fatal(err)
	}
	p := c.method.(*parallel)
	var accesses []trace.Access
	for i := range blocks {
		accesses = append(accesses, access(0, uint64(i)*64, 8))
	}
	for range 100 {
		observe(c, accesses, trace.BatchAccesses)
		buffered := cap(p.chunk)
		for _, w := range p.flush() {
			buffered += cap(w.buffer)
		}
		for _, b := range p.spare {
			buffered += cap(b)
		}
		if most := (workers + 1) * chunkBlocks * blocks; buffered > most {
			t.Fatalf("%d accesses buffered for %d blocks, want at most %d", buffered, blocks, most)
		}
	}
	if p.size < chunkBlocks*blocks/2 {
		t.Errorf("chunks of %d accesses after sweeps over %d blocks: they did not grow", p.size, blocks)
	}
}

// TestParallelPanics: a worker's panic reaches the caller, from every call
// after it, and none of them hangs.
func TestParallelPanics(t *testing.T) {
	c, err := newCollector(planOf(0), Options{Workers: 2}, tuning{window: 1, chunk: 10})
	if err != nil {
		t.Fatal(err)
	}
	panics := func(f func()) (what string) {
		defer func() {
			if r := recover(); r != nil {
				what = r.(error).Error()
			}
		}()
		f()
		return ""
	}
	bad := []trace.Access{access(7, 0, 8)} // no such reference
	good := make([]trace.Access, 100)
	panics(func() { observe(c, bad, 1) })
	for range 3 {
		panics(func() { observe(c, good, 7) })
		if got := panics(func() { c.Result() }); !strings.Contains(got, "index out of range") {
			t.Errorf("Result after a reference out of range: %q", got)
		}
	}
	if got := panics(func() { observe(c, good, 7) }); !strings.Contains(got, "index out of range") {
		t.Errorf("Observe after a reference out of range: %q", got)
	}
}
