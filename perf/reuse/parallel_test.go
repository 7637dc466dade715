package reuse

import (
	"runtime"
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
			cut:    8 * rapid.IntRange(0, 2000).Draw(t, "cut"),
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
			if rapid.Bool().Draw(t, "held") {
				hand(many, accesses[:k], batch)
			} else {
				observe(many, accesses[:k], batch)
			}
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
	var order []uint64
	k.each(func(entries []entry) {
		for _, e := range entries {
			if e >= leafSize { // no ghost
				order = append(order, k.table.block(e))
			}
		}
	})
	if diff := cmp.Diff([]uint64{1, 0, 2}, order); diff != "" {
		t.Errorf("blocks by last access -want +got:\n%s", diff)
	}
}

// TestParallelStreams does the same for streams long enough that time lines are
// renumbered.
func TestParallelStreams(t *testing.T) {
	longest := 1_500_000
	if testing.Short() {
		longest = 200_000
	}
	for _, s := range streams {
		t.Run(s.pattern, func(t *testing.T) {
			accesses := s.make()
			accesses = accesses[:min(len(accesses), longest)]
			plan := planOf(0, 1, 2)
			one, err := New(plan, Options{})
			if err != nil {
				t.Fatal(err)
			}
			many, err := newCollector(plan, Options{Workers: 3}, tuning{window: 1, cut: 8 << 14})
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
		})
	}
}

// TestParallelMemory: what waits, and the tables, stay within the memory given, and a
// run with less than it would take has the same result.
func TestParallelMemory(t *testing.T) {
	const blocks = 50_000
	batches := 200 // more on a machine that is too busy for workers to fall behind
	plan := planOf(0)
	one, err := New(plan, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, budget := range []uint64{4 << 20, 64 << 20} {
		many, err := New(plan, Options{Workers: 3, MemoryBytes: budget})
		if err != nil {
			t.Fatal(err)
		}
		p := many.method.(*parallel)
		var accesses []trace.Access
		for i := range trace.BatchAccesses {
			accesses = append(accesses, access(0, uint64(i)*64, 8))
		}
		for i := 0; i < batches; i++ {
			for j := range accesses {
				accesses[j] = access(0, uint64((i*len(accesses)+j)%blocks)*64, 8)
			}
			if budget == 4<<20 {
				one.Observe(&trace.Batch{Accesses: accesses})
			}
			many.Observe(&trace.Batch{Accesses: accesses})
			p.mu.Lock()
			waiting, tables := uint64(0), uint64(0)
			for _, w := range p.workers {
				waiting, tables = waiting+uint64(w.waiting), tables+w.tables
			}
			size, alone := p.size, p.alone
			p.mu.Unlock()
			if most := uint64(3 * (size + 8*len(accesses))); waiting > most {
				t.Fatalf("%d bytes wait, want at most %d", waiting, most)
			}
			if uint64(3*size) > max(budget/waitingShare, 3*firstChunk) {
				t.Fatalf("%d bytes may wait for each of 3 workers, of %d", size, budget)
			}
			if budget == 4<<20 && !alone && i == batches-1 && batches < 4000 {
				batches += 200
			}
			if most := budget - budget/waitingShare; tables > most && !alone {
				t.Fatalf("tables of %d bytes, and further cuts; want at most %d", tables, most)
			}
		}
		if diff := cmp.Diff(one.Result(), many.Result()); diff != "" {
			t.Errorf("in %d bytes: -one +many:\n%s", budget, diff)
		}
		if want := budget == 4<<20; p.alone != want {
			t.Errorf("in %d bytes: alone %t, want %t", budget, p.alone, want)
		}
	}
}

// TestParallelPanics: a worker's panic reaches the caller, from every call
// after it, and none of them hangs.
func TestParallelPanics(t *testing.T) {
	c, err := newCollector(planOf(0), Options{Workers: 2}, tuning{window: 1, cut: 80})
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

// TestSpread: workers are those that processors are left for.
func TestSpread(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	with := &Nest{Places: make([]Place, 1)}
	for _, c := range []struct {
		processors, collectors, want int
		opt                          Options
	}{
		{1, 1, 1, Options{}},
		{2, 1, 2, Options{}},
		{2, 2, 1, Options{}},
		{8, 3, 2, Options{}},
		{2, 6, 1, Options{}},
		{8, 1, 1, Options{SampleOneIn: 2}},
		{8, 1, 1, Options{Nest: with}},
		{8, 1, 8, Options{Nest: with, Sources: []int32{0}}},
		{8, 1, 1, Options{Nest: with, Sources: []int32{0}, Memory: newMovable()}},
	} {
		runtime.GOMAXPROCS(c.processors)
		c.opt.Spread(c.collectors)
		if c.opt.Workers != c.want || c.opt.MemoryBytes*uint64(c.collectors) > DefaultMemoryBytes {
			t.Errorf("%d collectors on %d processors: %d workers, %d bytes each, want %d workers", c.collectors, c.processors, c.opt.Workers, c.opt.MemoryBytes, c.want)
		}
	}
}
