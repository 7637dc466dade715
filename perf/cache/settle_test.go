package cache

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"presage/perf/trace"
)

// TestOrdersOfSharedSets: after each loop whose streams share sets, these have the blocks in
// the order in which single accesses leave them, and counts are the same. Arrays lie about a
// whole number of times the size of a way apart.
func TestOrdersOfSharedSets(t *testing.T) {
	plan := mixedPlan()
	const blockBytes = 64
	turns := settleTurns
	defer func() { settleTurns = turns }()
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		ways := rapid.SampledFrom([]int{1, 2, 3, 4, 8, 16}).Draw(t, "ways")
		sets := rapid.SampledFrom([]uint64{32, 64}).Draw(t, "sets")
		config := Config{Levels: []Level{
			{Name: "L1", BlockBytes: blockBytes, Ways: ways, Blocks: sets * uint64(ways)},
			{Name: "L2", BlockBytes: 2 * blockBytes, Ways: 4, Blocks: 256},
		}}
		sims := twoSimulators(t, plan, config)
		steps := []int64{8, 64 * rng.Int64N(2), rng.Int64N(40)*4 - 80, int64(sets)*blockBytes/(1+rng.Int64N(6)) + 4*rng.Int64N(40) - 80}
		if from := rng.IntN(4); rng.IntN(3) > 0 {
			steps = steps[from : 1+from+rng.IntN(4-from)]
		}
		loop := trace.Loop{Count: 2 + rng.Uint32N(60)}
		for i := range rapid.IntRange(2, 9).Draw(t, "streams") {
			at := (1+uint64(rng.IntN(6)))<<20 + uint64(i)<<24 + sets*blockBytes*rng.Uint64N(4) + 4*rng.Uint64N(60)
			first := trace.Tag(trace.RefID(rng.IntN(len(plan.Refs))), []uint8{4, 4, 4, 64}[rng.IntN(4)]) | trace.Access(at)
			loop.Strides = append(loop.Strides, trace.Stride{First: first, Step: steps[rng.IntN(len(steps))]})
		}
		settleTurns = rapid.SampledFrom([]int{4, 0}).Draw(t, "turns")
		for range 6 {
			run, plain := new(trace.Batch), new(trace.Batch)
			run.AddRun(loop)
			run.Expand(plain)
			sims[0].Observe(plain)
			sims[1].Observe(run)
			sameContents(t, sims, loop)
			loop.Count = max(2, loop.Count+rng.Uint32N(5)-2)
			by := trace.Access(4 * rng.Uint64N(40))
			for i := range loop.Strides {
				loop.Strides[i].First += by
			}
		}
	})
}

// twoSimulators returns simulators of the same caches.
func twoSimulators(t *rapid.T, plan *trace.Plan, config Config) (sims [2]*Simulator) {
	for i := range sims {
		s, err := New(plan, config)
		if err != nil {
			t.Fatalf("%v", err)
		}
		sims[i] = s
	}
	return sims
}

// sameContents: two simulators, one of which took the runs of loops apart, hold the same
// blocks in the same order, and have the same counts, after what.
func sameContents(t *rapid.T, sims [2]*Simulator, what any) {
	for i, c := range []*chain{&sims[0].caches, &sims[0].tlbs} {
		o := []*chain{&sims[1].caches, &sims[1].tlbs}[i]
		for k := range c.levels {
			if !slices.Equal(c.levels[k].tags, o.levels[k].tags) {
				t.Fatalf("%+v, %+v: level %d has %d, by single accesses %d", sims[0].config, what, k, o.levels[k].tags, c.levels[k].tags)
			}
		}
	}
	if diff := cmp.Diff(sims[0].Result(), sims[1].Result()); diff != "" {
		t.Fatalf("%+v, %+v: -without runs +with:\n%s", sims[0].config, what, diff)
	}
}
