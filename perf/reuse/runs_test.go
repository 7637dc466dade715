package reuse

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"presage/perf/trace"
	"presage/perf/trace/tracetest"
)

// TestRuns: batches with runs give the results of the same events without, which
// TestAgainstStack compares with the oracle, at all block sizes and by all
// methods.
func TestRuns(t *testing.T) {
	plan := planOf(0, 1, 1, 3, 4, 5)
	for i, size := range []uint8{1, 4, 8, 8, 16, 64} {
		plan.Refs[i].Size = size
	}
	rapid.Check(t, func(t *rapid.T) {
		opt := Options{BlockBytes: 1 << rapid.IntRange(0, 15).Draw(t, "log2 block")}
		switch rapid.IntRange(0, 5).Draw(t, "method") {
		case 0:
			opt.Workers = 2
		case 1:
			opt.SampleOneIn = 4
		}
		tune := tuning{window: rapid.SampledFrom([]int{1, 1000, firstWindow}).Draw(t, "window"), cut: 8 * rapid.IntRange(0, 500).Draw(t, "cut")}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		batches, plain := tracetest.Mixed(rng, plan, rapid.IntRange(1, 30).Draw(t, "runs"))
		with, err := newCollector(plan, opt, tune)
		if err != nil {
			t.Fatal(err)
		}
		without, _ := newCollector(plan, opt, tune)
		for i, b := range batches {
			if err := b.Check(plan); err != nil {
				t.Fatal(err)
			}
			with.Observe(b)
			without.Observe(plain[i])
		}
		if diff := cmp.Diff(without.Result(), with.Result()); diff != "" {
			t.Fatalf("%+v: -without runs +with:\n%s", opt, diff)
		}
	})
}

// TestNests does the same for whole loop nests.
func TestNests(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, n := range tracetest.Nests() {
		for _, size := range []uint64{32, 64, 128, 4096, 1 << 15} {
			var results [2]*Result
			for i, batches := range [][]*trace.Batch{n.Plain, n.Batches} {
				c, err := New(n.Plan, Options{BlockBytes: size})
				if err != nil {
					t.Fatal(err)
				}
				for _, b := range batches {
					c.Observe(b)
				}
				results[i] = c.Result()
			}
			if diff := cmp.Diff(results[0], results[1]); diff != "" {
				t.Errorf("%s in blocks of %d bytes: -without runs +with:\n%s", n.Name, size, diff)
			}
		}
	}
}

// TestRunsOfRows does the same for loops along the rows of arrays, which have
// phases, and may span two blocks in each iteration.
func TestRunsOfRows(t *testing.T) {
	plan := planOf(0, 1, 1, 3, 4, 5)
	for i, size := range []uint8{8, 8, 8, 16, 64, 32} {
		plan.Refs[i].Size = size
	}
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		batches, plain := tracetest.Rows(rng, plan)
		opt := Options{BlockBytes: 1 << rapid.IntRange(3, 12).Draw(t, "log2 block")}
		var results [2]*Result
		for i, list := range [][]*trace.Batch{plain, batches} {
			c, err := New(plan, opt)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range list {
				c.Observe(b)
			}
			results[i] = c.Result()
		}
		if diff := cmp.Diff(results[0], results[1]); diff != "" {
			t.Fatalf("%+v: -without runs +with:\n%s", opt, diff)
		}
	})
}

// TestRunsThatFollow does the same for streams of one loop that come to the blocks of
// others some iterations later, upward and downward, in loops long enough for several
// batches of blocks.
func TestRunsThatFollow(t *testing.T) {
	plan := planOf(0, 1, 2)
	for behind := uint64(1); behind < 80; behind += 3 {
		for _, step := range []int64{8, -8, 24, 72} {
			b := new(trace.Batch)
			for row := range uint64(4) {
				loop := trace.Loop{Count: 2000}
				for ref := range uint64(3) {
					at := 1<<20 + 64*(3*row+40+behind*ref)
					if step > 0 {
						at = 1<<20 + 64*(3*row+40+behind*(2-ref))
					}
					loop.Strides = append(loop.Strides, trace.Stride{First: trace.Tag(trace.RefID(ref), 8) | trace.Access(at), Step: step})
				}
				b.AddRun(loop)
			}
			plain := new(trace.Batch)
			b.Expand(plain)
			var results [2]*Result
			for i, batch := range []*trace.Batch{plain, b} {
				c, err := newCollector(plan, Options{}, tuning{window: 4000})
				if err != nil {
					t.Fatal(err)
				}
				c.Observe(batch)
				results[i] = c.Result()
			}
			if diff := cmp.Diff(results[0], results[1]); diff != "" {
				t.Fatalf("%d blocks behind, by %d bytes: -without runs +with:\n%s", behind, step, diff)
			}
		}
	}
}
