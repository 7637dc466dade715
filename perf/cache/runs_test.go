package cache

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"presage/perf/trace"
	"presage/perf/trace/tracetest"
)

// TestRuns: batches with runs give the results of the same events without, which
// TestAgainstNaive compares with the oracle, for all policies, write policies,
// inclusion, bypassed levels and pages placed at random.
func TestRuns(t *testing.T) {
	plan := mixedPlan()
	rapid.Check(t, func(t *rapid.T) {
		config := Config{Seed: 7}
		plain := rapid.Bool().Draw(t, "plain caches")
		for i := range rapid.IntRange(1, 3).Draw(t, "levels") {
			l := drawLevel(t, string(rune('A'+i)))
			if l.Ways > 0 && rapid.Bool().Draw(t, "many sets") {
				l.Blocks *= 8
			}
			l.Replacement = rapid.SampledFrom([]Replacement{LRU, LRU, NMRU, Random, PLRU}).Draw(t, "policy")
			if l.check("", 0, map[string]bool{}) != nil { // not so many ways
				l.Replacement = LRU
			}
			if plain {
				l.BypassFloat = false
			} else {
				l.WriteThrough = rapid.Bool().Draw(t, "write-through")
				l.NoWriteAllocate = rapid.Bool().Draw(t, "no write-allocate")
			}
			if rapid.Bool().Draw(t, "random pages") {
				l.PageBytes = max(l.BlockBytes, 1024)
			}
			config.Levels = append(config.Levels, l)
			config.Levels[i].Inclusive = !plain && i > 0 && config.checkInclusive(i) == nil && rapid.Bool().Draw(t, "inclusive")
		}
		for i := range rapid.IntRange(0, 2).Draw(t, "TLBs") {
			l := drawLevel(t, string(rune('a'+i)))
			config.TLBs = append(config.TLBs, TLB{Name: l.Name, Entries: l.Blocks, EntryBytes: l.BlockBytes, Ways: l.Ways, BypassFloat: l.BypassFloat})
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		batches, expanded := tracetest.Mixed(rng, plan, rapid.IntRange(1, 30).Draw(t, "runs"))
		compare(t, plan, config, expanded, batches)
	})
}

// TestTailsThatDoNotFit: behind runs that bypass a level, an access to two of its blocks
// misses each time it is repeated if the level has room for one.
func TestTailsThatDoNotFit(t *testing.T) {
	plan := mixedPlan()
	find := func(float bool) trace.RefID {
		for i := range plan.Refs {
			if plan.Refs[i].Float == float && plan.Refs[i].Kind == trace.Load {
				return trace.RefID(i)
			}
		}
		t.Fatalf("the plan has no load with float %t", float)
		return 0
	}
	run, tail := find(true), find(false)
	loop, single := new(trace.Batch), new(trace.Batch)
	for range 5 {
		at := uint32(len(loop.Accesses))
		loop.Runs = append(loop.Runs, trace.Run{Accesses: at, Count: 100, Refs: 1})
		loop.Strides = append(loop.Strides, trace.Stride{First: trace.Tag(run, 8) | trace.Access(1<<20), Step: 128})
		for i := range uint64(100) {
			single.Accesses = append(single.Accesses, trace.Tag(run, 8)|trace.Access(1<<20+128*i))
		}
		loop.Accesses = append(loop.Accesses, trace.Tag(tail, 8)|trace.Access(1<<16))
		single.Accesses = append(single.Accesses, trace.Tag(tail, 8)|trace.Access(1<<16))
	}
	config := Config{Levels: []Level{{Name: "L1", Blocks: 1, BlockBytes: 4, BypassFloat: true}}}
	compare(t, plan, config, []*trace.Batch{single}, []*trace.Batch{loop})
}

// compare simulates the same events without runs and with.
func compare(t interface{ Fatalf(string, ...any) }, plan *trace.Plan, config Config, without, with []*trace.Batch) {
	var results [2]*Result
	for i, batches := range [][]*trace.Batch{without, with} {
		s, err := New(plan, config)
		if err != nil {
			t.Fatalf("%v", err)
		}
		for _, b := range batches {
			s.Observe(b)
		}
		results[i] = s.Result()
	}
	if diff := cmp.Diff(results[0], results[1]); diff != "" {
		t.Fatalf("%+v: -without runs +with:\n%s", config, diff)
	}
}

// hierarchies are cores of today, one with a last cache that takes what the one above
// evicts, and the R12000 of the 2005 paper.
var hierarchies = map[string]Config{
	"modern": {
		Levels: []Level{
			{Name: "L1", Blocks: 512, BlockBytes: 64, Ways: 8},
			{Name: "L2", Blocks: 16384, BlockBytes: 64, Ways: 8},
		},
		TLBs: []TLB{{Name: "TLB", Entries: 64, EntryBytes: 4096}},
	},
	"exclusive": {
		Levels: []Level{
			{Name: "L1", Blocks: 512, BlockBytes: 64, Ways: 8},
			{Name: "L2", Blocks: 1024, BlockBytes: 64, Ways: 8},
			{Name: "L3", Blocks: 4096, BlockBytes: 64, Ways: 16, Filling: Exclusive},
		},
		TLBs: []TLB{{Name: "L1 TLB", Entries: 24, EntryBytes: 4096}, {Name: "L2 TLB", Entries: 96, EntryBytes: 4096, Ways: 24}},
	},
	"r12000": {
		Levels: []Level{
			{Name: "L1", Blocks: 1024, BlockBytes: 32, Ways: 2},
			{Name: "L2", Blocks: 65536, BlockBytes: 128, Ways: 2},
		},
		TLBs: []TLB{{Name: "TLB", Entries: 64, EntryBytes: 32 << 10}},
	},
}

// TestShortRuns does the same for loops of a few iterations whose streams step differently,
// and would meet beyond the loop's end.
func TestShortRuns(t *testing.T) {
	plan := mixedPlan()
	config := Config{Levels: []Level{{Name: "L1", BlockBytes: 64, Ways: 2, Blocks: 256}, {Name: "L2", BlockBytes: 64, Ways: 4, Blocks: 4096}}}
	steps := []int64{8, 16, 24, 40, -8, -24, -40, 72, -72, -136}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		loop := trace.Loop{Count: 8 + rng.Uint32N(8)}
		for range 2 + rng.IntN(2) {
			first := trace.Access(1<<20 + 8*rng.Uint64N(200))
			loop.Strides = append(loop.Strides, trace.Stride{First: trace.Tag(trace.RefID(rng.IntN(4)), 8) | first, Step: steps[rng.IntN(len(steps))]})
		}
		batch, plain := new(trace.Batch), new(trace.Batch)
		for range 4 {
			batch.AddRun(loop)
			for k := range loop.Strides {
				loop.Strides[k].First += 4096
			}
		}
		batch.Expand(plain)
		compare(t, plan, config, []*trace.Batch{plain}, []*trace.Batch{batch})
	}
}

// TestNests does the same for whole loop nests.
func TestNests(t *testing.T) {
	for _, n := range tracetest.Nests() {
		for _, config := range hierarchies {
			compare(t, n.Plan, config, n.Plain, n.Batches)
		}
	}
}

// TestRunsOfRows does the same for the rows of arrays, on caches with sets enough
// that loops are simulated by phases, some of whose blocks share sets. Vectors are not
// aligned to their size, and span two blocks in some iterations, or all.
func TestRunsOfRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan := mixedPlan()
		if rapid.Bool().Draw(t, "vectors") {
			for i, size := range []uint8{16, 16, 32, 64, 8} {
				plan.Refs[i].Size = size
			}
		}
		ways := rapid.SampledFrom([]int{1, 2, 2, 3, 4, 8}).Draw(t, "ways")
		sets := rapid.SampledFrom([]int{32, 36, 64, 128}).Draw(t, "sets")
		l := Level{Name: "L1", Ways: ways, Blocks: uint64(ways * sets), BlockBytes: 1 << rapid.IntRange(5, 7).Draw(t, "log2 block")}
		l.Replacement = rapid.SampledFrom([]Replacement{LRU, LRU, LRU, NMRU, Random, PLRU}).Draw(t, "policy")
		if ways == 3 && l.Replacement == PLRU {
			l.Replacement = LRU
		}
		l.BypassFloat = rapid.IntRange(0, 3).Draw(t, "bypass") == 0
		next := Level{Name: "L2", Ways: 4, Blocks: 256, BlockBytes: 128, Inclusive: !l.BypassFloat && ways*sets < 256 && rapid.Bool().Draw(t, "inclusive")}
		config := Config{Levels: []Level{l, next}, TLBs: []TLB{{Name: "TLB", Entries: 8, EntryBytes: 1024}}}
		if config.Check() != nil {
			config.Levels[1].Inclusive = false
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		batches, expanded := tracetest.Rows(rng, plan)
		compare(t, plan, config, expanded, batches)
	})
}

// TestRunsAgain does the same for loops that repeat, some of whose sets hold as many
// blocks as they have ways, others one too many; and for loops of one shape whose
// arrays move apart, so that now these streams share sets and now those.
func TestRunsAgain(t *testing.T) {
	plan := mixedPlan()
	rng := rand.New(rand.NewPCG(9, 10))
	for range 3000 {
		ways := 1 + rng.IntN(8)
		l := Level{Name: "L1", BlockBytes: 64, Ways: ways, Blocks: uint64(ways) << rng.IntN(7)}
		config := Config{Levels: []Level{l, {Name: "L2", BlockBytes: 64 << rng.IntN(2), Ways: 4, Blocks: 1024}}}
		stride := func(region int, step int64) trace.Stride {
			ref := trace.RefID(rng.IntN(len(plan.Refs)))
			addr := uint64(region+1)<<20 + 64*rng.Uint64N(200)
			return trace.Stride{First: trace.Tag(ref, plan.Refs[ref].Size) + trace.Access(addr), Step: step}
		}
		loop := trace.Loop{Count: 20 + rng.Uint32N(200), Strides: []trace.Stride{stride(0, 32), stride(1, 32)}}
		if rng.IntN(2) == 0 {
			loop.Strides[1].Step = int64(32 * rng.IntN(100))
			loop.Count = 20 + rng.Uint32N(40)
		}
		if rng.IntN(2) == 0 {
			loop.Strides = append(loop.Strides, stride(2, 32))
		}
		tail := stride(3, 0).First
		apart := rng.IntN(2) == 0
		if apart { // one shape: its streams share sets here and there
			config.Levels[0].Ways, config.Levels[0].Blocks = 2+ways%2, uint64(2+ways%2)*32
			for i := range loop.Strides {
				loop.Strides[i].Step = 32
			}
		}
		b := new(trace.Batch)
		for range 12 {
			b.AddRun(loop)
			b.Accesses = append(b.Accesses, tail)
			if apart {
				loop.Strides[rng.IntN(len(loop.Strides))].First += trace.Access(64 * rng.IntN(40))
			}
		}
		plain := new(trace.Batch)
		b.Expand(plain)
		compare(t, plan, config, []*trace.Batch{plain}, []*trace.Batch{b})
	}
}

// TestRunsApart does the same for loops of one shape whose arrays are about a multiple of
// the sets apart, so that now these of their blocks share sets and now those, at times more
// than there are ways, with single accesses to other blocks of these sets, which evict what
// was accessed longest ago.
func TestRunsApart(t *testing.T) {
	plan := mixedPlan()
	rng := rand.New(rand.NewPCG(11, 12))
	for range 800 {
		const sets = 32
		ways := 1 + rng.IntN(5)
		config := Config{Levels: []Level{
			{Name: "L1", BlockBytes: 64, Ways: ways, Blocks: uint64(ways) * sets},
			{Name: "L2", BlockBytes: 64, Ways: 2, Blocks: 4 * sets},
		}}
		step := []int64{8, 16, 24, -32}[rng.IntN(4)]
		size := func(ref trace.RefID) uint8 { return min(plan.Refs[ref].Size, 8) }
		streams := make([]trace.RefID, 2+rng.IntN(4))
		offsets := make([]uint64, len(streams)) // in a block: not all move at once
		for i := range streams {
			streams[i], offsets[i] = trace.RefID(rng.IntN(len(plan.Refs))), 8*rng.Uint64N(8)
		}
		b := new(trace.Batch)
		for range 15 {
			loop := trace.Loop{Count: 20 + rng.Uint32N(60)}
			at := uint64(1<<20) + 8*rng.Uint64N(8)
			for i, ref := range streams {
				addr := at + uint64(i)*64*sets*8 + offsets[i] + 64*rng.Uint64N(2)
				loop.Strides = append(loop.Strides, trace.Stride{First: trace.Tag(ref, size(ref)) | trace.Access(addr), Step: step})
			}
			b.AddRun(loop)
			for range rng.IntN(30) {
				ref := trace.RefID(rng.IntN(len(plan.Refs)))
				addr := at + 64*(sets*uint64(8*len(streams)+rng.IntN(3))+rng.Uint64N(12))
				b.Accesses = append(b.Accesses, trace.Tag(ref, size(ref))|trace.Access(addr))
			}
		}
		plain := new(trace.Batch)
		b.Expand(plain)
		compare(t, plan, config, []*trace.Batch{plain}, []*trace.Batch{b})
	}
}

// TestRunsOfTwoLevels does the same for loops that step alike and enter at two levels, with
// blocks of different sizes or other sets.
func TestRunsOfTwoLevels(t *testing.T) {
	plan := mixedPlan()
	var kinds [2][]trace.RefID // by whether they are to floating-point data
	for i, r := range plan.Refs {
		kind := 0
		if r.Float {
			kind = 1
		}
		kinds[kind] = append(kinds[kind], trace.RefID(i))
	}
	rng := rand.New(rand.NewPCG(13, 14))
	for range 600 {
		config := Config{Levels: []Level{
			{Name: "L1", BlockBytes: 32 << rng.IntN(2), Ways: 3, Blocks: 3 * 32, BypassFloat: true},
			{Name: "L2", BlockBytes: 64 << rng.IntN(2), Ways: 4, Blocks: 4 * 64},
		}}
		offset := 8 * rng.Uint64N(8)
		b := new(trace.Batch)
		for range 16 {
			list := kinds[rng.IntN(2)]
			loop := trace.Loop{Count: 20 + rng.Uint32N(60)}
			at := uint64(1<<20) + 4096*rng.Uint64N(3)
			for i := range 2 {
				ref := list[rng.IntN(len(list))]
				addr := at + uint64(i)*(8*4096+2048*rng.Uint64N(2)+offset)
				loop.Strides = append(loop.Strides, trace.Stride{First: trace.Tag(ref, min(plan.Refs[ref].Size, 8)) | trace.Access(addr), Step: 8})
			}
			b.AddRun(loop)
		}
		plain := new(trace.Batch)
		b.Expand(plain)
		compare(t, plan, config, []*trace.Batch{plain}, []*trace.Batch{b})
	}
}
