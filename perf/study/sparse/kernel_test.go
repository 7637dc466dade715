package sparse

import (
	"context"
	"math"
	"sync"
	"testing"

	"presage/perf/cache"
	"presage/perf/spmv"
	"presage/perf/subject"
	"presage/perf/trace"
)

// buildGuest builds and analyses the guest program once for all tests.
var buildGuest = sync.OnceValues(func() (*subject.Program, error) {
	return subject.Build(context.Background(), "../../../datasets/programs/spmv")
})

func guestProgram(t *testing.T) *subject.Program {
	t.Helper()
	prog, err := buildGuest()
	if err != nil {
		t.Fatal(err)
	}
	return prog
}

// arrayTrace keeps the accesses of a run, without those to the stack, as counts of
// misses cannot depend on where an allocator puts arrays if these are aligned alike.
type arrayTrace struct {
	plan  *trace.Plan
	addrs []uint64
	float []bool
}

func (a *arrayTrace) Observe(b *trace.Batch) {
	for _, x := range b.Accesses {
		a.addrs = append(a.addrs, x.Addr())
		a.float = append(a.float, a.plan.Refs[x.Ref()].Float)
	}
}

// TestReferencesAreTheGuests compares References with the loads and stores of
// the guest's kernel in the engine: the same elements of each array, each
// equally often, whatever order the compiler chose within a block. The kernel's
// own stack traffic is a few accesses per call.
func TestReferencesAreTheGuests(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the engine")
	}
	prog := guestProgram(t)
	m := randomMatrix(t, 3)
	for _, s := range []spmv.Shape{{R: 1, C: 1}, {R: 2, C: 3}, {R: 6, C: 6}, {R: 8, C: 8}} {
		k, err := newKernel(prog, s)
		if err != nil {
			t.Fatal(err)
		}
		b, err := spmv.Block(m, s)
		if err != nil {
			t.Fatal(err)
		}
		guest := &arrayTrace{plan: k.plan}
		if err := k.run(context.Background(), b, guest); err != nil {
			t.Fatal(err)
		}
		ours := &arrayTrace{plan: spmv.Plan()}
		b.References(trace.NewDirect(ours))
		const stack = 12 // of a call: saved registers, the return address
		if extra := len(guest.addrs) - len(ours.addrs); extra < 0 || extra > stack {
			t.Errorf("%v: the guest makes %d accesses, References says %d", s, len(guest.addrs), len(ours.addrs))
		}
		floats := func(a *arrayTrace) (times map[uint64]int) {
			times = make(map[uint64]int)
			for i, addr := range a.addrs {
				if a.float[i] {
					times[addr]++
				}
			}
			return times
		}
		// Histograms of how often an element is accessed do not depend on where the
		// arrays are.
		histogram := func(times map[uint64]int) map[int]int {
			h := make(map[int]int)
			for _, n := range times {
				h[n]++
			}
			return h
		}
		g, o := histogram(floats(guest)), histogram(floats(ours))
		for n, count := range o {
			if g[n] != count {
				t.Errorf("%v: %d elements are accessed %d times, by the guest %d", s, count, n, g[n])
			}
		}
	}
}

// TestMissesAreTheGuests compares the misses of the guest's own trace in caches
// of Table 5 with those of References, and instruction misses with the lines of
// the code.
func TestMissesAreTheGuests(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the engine")
	}
	const (
		placement = 0.03 // arrays collide in other sets of direct-mapped caches than in the engine
		few       = 30   // lines: of the stack, of arrays' ends
	)
	prog := guestProgram(t)
	m := randomMatrix(t, 5)
	sim, err := spmv.NewSimulator(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []spmv.Shape{{R: 1, C: 1}, {R: 3, C: 2}, {R: 8, C: 4}} {
		k, err := newKernel(prog, s)
		if err != nil {
			t.Fatal(err)
		}
		b, err := spmv.Block(m, s)
		if err != nil {
			t.Fatal(err)
		}
		var hardware []spmv.Hardware
		var collectors []trace.Collector
		var caches []*cache.Simulator
		for _, line := range []int{16, 64} {
			for _, kb := range []int{4, 16} {
				h := spmv.Baseline()
				h.LineBytes, h.DataBytes, h.DataWays = line, kb<<10, 4
				c, err := cache.New(k.plan, cache.Config{Levels: []cache.Level{{
					Name: "data", Blocks: uint64(h.DataBytes / line), BlockBytes: uint64(line), Ways: h.DataWays,
				}}})
				if err != nil {
					t.Fatal(err)
				}
				hardware, caches, collectors = append(hardware, h), append(caches, c), append(collectors, c)
			}
		}
		if err := k.run(context.Background(), b, collectors...); err != nil {
			t.Fatal(err)
		}
		outcomes, err := sim.Simulate(context.Background(), s, hardware)
		if err != nil {
			t.Fatal(err)
		}
		for i, h := range hardware {
			guest, ours := float64(caches[i].Result().Levels[0].Total.Misses), outcomes[i].DataMisses
			if math.Abs(guest-ours) > placement*guest+few {
				t.Errorf("%v on %v: the guest misses %g times, References %g", s, h, guest, ours)
			}
		}
		if got, want := k.lines(t, b, 32), outcomes[2].InstrMisses; math.Abs(got-want) > 3 && hardware[2].LineBytes == 32 {
			t.Errorf("%v: code of %g lines, want %g", s, got, want)
		}
	}
}

// blockTrace keeps which blocks ran.
type blockTrace struct{ ran map[trace.BlockID]bool }

func (b *blockTrace) Observe(batch *trace.Batch) {
	for _, id := range batch.Blocks {
		b.ran[id] = true
	}
}

// lines counts the cache lines of the executed code: the misses of an instruction
// cache that holds all of it.
func (k *kernel) lines(t *testing.T, b *spmv.Blocks, lineBytes uint64) float64 {
	t.Helper()
	seen := &blockTrace{ran: make(map[trace.BlockID]bool)}
	if err := k.run(context.Background(), b, seen); err != nil {
		t.Fatal(err)
	}
	lines := make(map[uint64]bool)
	for id := range seen.ran {
		for _, in := range k.code[id] {
			lines[uint64(in.PC)/lineBytes] = true
			lines[(uint64(in.PC)+uint64(in.Len)-1)/lineBytes] = true
		}
	}
	return float64(len(lines))
}

// TestCostsAreTheGuests compares the table of costs with the guest's, as built
// by the tool chain that the table was made with; other compilers' kernels
// differ.
func TestCostsAreTheGuests(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the engine")
	}
	const (
		near    = 0.02 // of the sum over rows of different lengths: a row's end overlaps with the next one's start
		rounded = 1e-6 // of what costs.csv holds
	)
	recorded, err := spmv.Costs()
	if err != nil {
		t.Fatal(err)
	}
	prog := guestProgram(t)
	m := randomMatrix(t, 7)
	for _, s := range []spmv.Shape{{R: 1, C: 1}, {R: 2, C: 3}, {R: 8, C: 8}} {
		cost, err := Cost(context.Background(), prog, s)
		if err != nil {
			t.Fatal(err)
		}
		was := recorded[(s.R-1)*spmv.MaxBlock+s.C-1]
		if math.Abs(cost.BlockCycles-was.BlockCycles) > rounded*cost.BlockCycles || cost.BlockInstructions != was.BlockInstructions {
			t.Errorf("%v: %+v, recorded %+v: with another compiler, make costs.csv again: presage spmv costs", s, cost, was)
		}
		k, err := newKernel(prog, s)
		if err != nil {
			t.Fatal(err)
		}
		b, err := spmv.Block(m, s)
		if err != nil {
			t.Fatal(err)
		}
		r, err := k.time(context.Background(), b)
		if err != nil {
			t.Fatal(err)
		}
		rows, blocks := b.Stored()
		if got, want := cost.Instructions(rows, blocks), float64(r.Instructions); math.Abs(got/want-1) > near {
			t.Errorf("%v: %g instructions, the guest executes %g", s, got, want)
		}
		if got, want := cost.Cycles(rows, blocks), float64(r.Cycles); math.Abs(got/want-1) > near {
			t.Errorf("%v: %g cycles, the guest takes %g", s, got, want)
		}
	}
}
