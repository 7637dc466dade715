package bbv_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"presage/perf/bbv"
	"presage/perf/trace"
	"presage/perf/trace/tracetest"
)

// naive assigns each block to an interval by its first instruction alone, and adds up
// in maps.
func naive(blocks []trace.Block, run []trace.BlockID, every uint64) (vectors []map[uint32]uint64, lengths, executed []uint64) {
	executed = make([]uint64, len(blocks))
	at, last := uint64(0), uint64(0)
	for i, id := range run {
		if n := at / every; i == 0 || n != last {
			vectors, lengths = append(vectors, map[uint32]uint64{}), append(lengths, 0)
			last = n
		}
		size := uint64(blocks[id].Instructions)
		vectors[len(vectors)-1][uint32(id)] += size
		lengths[len(lengths)-1] += size
		executed[id]++
		at += size
	}
	return vectors, lengths, executed
}

func maps(v *bbv.Vectors) (list []map[uint32]uint64) {
	for i := range v.Len() {
		m := map[uint32]uint64{}
		blocks, counts := v.Interval(i)
		for j, b := range blocks {
			m[b] = counts[j]
		}
		list = append(list, m)
	}
	return list
}

func TestCollectorAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan := new(trace.Plan)
		for i := range rapid.IntRange(1, 9).Draw(t, "blocks") {
			plan.Blocks = append(plan.Blocks, trace.Block{PC: trace.PC(64 * i), Instructions: rapid.Uint32Range(1, 12).Draw(t, "size")})
		}
		run := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) trace.BlockID {
			return trace.BlockID(rapid.IntRange(0, len(plan.Blocks)-1).Draw(t, "id"))
		}), 1, 400).Draw(t, "run")
		every := rapid.Uint64Range(13, 200).Draw(t, "interval")
		c, err := bbv.NewCollector(plan, every)
		if err != nil {
			t.Fatal(err)
		}
		var at uint64
		for rest := run; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "batch")
			c.Observe(&trace.Batch{Blocks: rest[:n], Start: at, Thread: int32(n % 2)})
			for _, id := range rest[:n] {
				at += uint64(plan.Blocks[id].Instructions)
			}
			rest = rest[n:]
		}
		got, executed := c.Result(at)
		want, lengths, wantExecuted := naive(plan.Blocks, run, every)
		if err := got.Check(); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, maps(got)); d != "" {
			t.Fatalf("vectors (-naive +collector):\n%s", d)
		}
		if d := cmp.Diff(lengths, got.Lengths); d != "" {
			t.Fatalf("lengths (-naive +collector):\n%s", d)
		}
		if d := cmp.Diff(wantExecuted, executed); d != "" {
			t.Fatalf("executions (-naive +collector):\n%s", d)
		}
		if got.Total() != at {
			t.Fatalf("intervals of %d instructions in a run of %d", got.Total(), at)
		}
	})
}

// TestCollectorTakesRuns: runs count as the blocks that they stand for.
func TestCollectorTakesRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan := &trace.Plan{Refs: []trace.Ref{{PC: 0, Size: 8}}}
		for i := range rapid.IntRange(1, 9).Draw(t, "blocks") {
			plan.Blocks = append(plan.Blocks, trace.Block{PC: trace.PC(64 * i), Refs: uint32(i % 3), Instructions: rapid.Uint32Range(1, 12).Draw(t, "size")})
		}
		plan.Blocks[0].Refs = 1
		every := rapid.Uint64Range(13, 3000).Draw(t, "interval")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		batches, plain := tracetest.Mixed(rng, plan, 20)
		var vectors [2]*bbv.Vectors
		var executed [2][]uint64
		for i, list := range [][]*trace.Batch{plain, batches} {
			c, err := bbv.NewCollector(plan, every)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range list {
				c.Observe(b)
			}
			vectors[i], executed[i] = c.Result(0)
		}
		if d := cmp.Diff(vectors[0], vectors[1]); d != "" {
			t.Fatalf("vectors (-without runs +with):\n%s", d)
		}
		if d := cmp.Diff(executed[0], executed[1]); d != "" {
			t.Fatalf("executions (-without runs +with):\n%s", d)
		}
	})
}

// TestCollectorOfPartOfTheCode demands that code outside the blocks counts towards the
// length of its interval, and that a run continued from a snapshot starts there.
func TestCollectorOfPartOfTheCode(t *testing.T) {
	plan := &trace.Plan{Blocks: []trace.Block{{PC: 0, Instructions: 10}}}
	c, err := bbv.NewCollector(plan, 100)
	if err != nil {
		t.Fatal(err)
	}
	c.Observe(&trace.Batch{Blocks: []trace.BlockID{0, 0}, Start: 1030})
	c.Observe(&trace.Batch{Blocks: []trace.BlockID{0}, Start: 1090})
	c.Observe(&trace.Batch{Blocks: []trace.BlockID{0}, Start: 1170})
	got, _ := c.Result(1200)
	want := &bbv.Vectors{
		Starts: []uint64{1030, 1170}, Lengths: []uint64{140, 30},
		First: []int{0, 1, 2}, Blocks: []uint32{0, 0}, Instructions: []uint64{30, 10},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestCollectorRefuses(t *testing.T) {
	good := &trace.Plan{Blocks: []trace.Block{{PC: 0, Instructions: 10}}}
	for _, c := range []struct {
		plan     *trace.Plan
		interval uint64
	}{{nil, 0}, {&trace.Plan{}, 0}, {&trace.Plan{Blocks: []trace.Block{{PC: 4}}}, 0}, {good, bbv.MaxInterval + 1}} {
		if _, err := bbv.NewCollector(c.plan, c.interval); err == nil {
			t.Errorf("%+v, interval %d: no error", c.plan, c.interval)
		}
	}
}

// TestCoarser demands that joined intervals hold the sum of their parts, and that
// joining in two steps equals joining in one.
func TestCoarser(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := random(t)
		a, b := rapid.IntRange(1, 4).Draw(t, "a"), rapid.IntRange(1, 4).Draw(t, "b")
		once, err := v.Coarser(a * b)
		if err != nil {
			t.Fatal(err)
		}
		twice, err := v.Coarser(a)
		if err == nil {
			twice, err = twice.Coarser(b)
		}
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(once, twice); d != "" {
			t.Fatalf("%d, then %d (-at once +in steps):\n%s", a, b, d)
		}
		if err := once.Check(); err != nil {
			t.Fatal(err)
		}
		sums := map[uint32]uint64{}
		for j, n := range v.Instructions {
			sums[v.Blocks[j]] += n
		}
		for j, n := range once.Instructions {
			sums[once.Blocks[j]] -= n
		}
		for block, n := range sums {
			if n != 0 {
				t.Fatalf("block %d: %d instructions lost", block, int64(n))
			}
		}
		if once.Total() != v.Total() || once.Len() != (v.Len()+a*b-1)/(a*b) {
			t.Fatalf("%d instructions in %d intervals", once.Total(), once.Len())
		}
	})
	v := &bbv.Vectors{First: []int{0}}
	for _, cuts := range [][]int{nil, {1}, {0}} {
		if _, err := v.Join(cuts); err == nil {
			t.Errorf("cuts %v of no intervals: no error", cuts)
		}
	}
	if _, err := v.Coarser(0); err == nil {
		t.Error("factor 0: no error")
	}
}

// random draws vectors.
func random(t *rapid.T) *bbv.Vectors {
	v := &bbv.Vectors{First: []int{0}}
	var start uint64
	for range rapid.IntRange(1, 20).Draw(t, "intervals") {
		var length uint64
		block := uint32(0)
		for range rapid.IntRange(1, 6).Draw(t, "elements") {
			block += rapid.Uint32Range(1, 3).Draw(t, "step")
			n := rapid.Uint64Range(1, 1e9).Draw(t, "instructions")
			v.Blocks, v.Instructions = append(v.Blocks, block-1), append(v.Instructions, n)
			length += n
		}
		v.Starts, v.Lengths, v.First = append(v.Starts, start), append(v.Lengths, length), append(v.First, len(v.Blocks))
		start += length
	}
	return v
}
