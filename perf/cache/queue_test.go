package cache

import (
	"math/rand/v2"
	"testing"

	"presage/perf/trace"
)

// TestRunsAboveVictims does what TestRuns does for loops that leap through more blocks than
// the levels hold whose victims the last one takes: it gives them back, with the duty to
// write some of them, while later accesses of the loop evict them again.
func TestRunsAboveVictims(t *testing.T) {
	plan := mixedPlan()
	rng := rand.New(rand.NewPCG(17, 18))
	for range 600 {
		ways := 1 + rng.IntN(3)
		config := Config{Levels: []Level{
			{Name: "L1", BlockBytes: 64, Ways: ways, Blocks: uint64(ways) * 32},
			{Name: "L2", BlockBytes: 64, Ways: 2, Blocks: 64 << rng.IntN(2)},
			{Name: "L3", BlockBytes: 64, Ways: 4, Blocks: 256, Filling: []Filling{Exclusive, Exclusive, Victims}[rng.IntN(3)]},
		}}
		if rng.IntN(2) == 0 {
			config.Levels = append(config.Levels[:1], config.Levels[2])
		}
		b := new(trace.Batch)
		for range 10 {
			loop := trace.Loop{Count: 100 + rng.Uint32N(200)}
			for i := range 1 + rng.IntN(3) {
				ref := trace.RefID(rng.IntN(len(plan.Refs)))
				first := uint64(i+1)<<20 + 64*rng.Uint64N(4)
				step := []int64{64, 64, 128, 192, 8}[rng.IntN(5)]
				loop.Strides = append(loop.Strides, trace.Stride{First: trace.Tag(ref, min(plan.Refs[ref].Size, 8)) | trace.Access(first), Step: step})
			}
			for range 2 {
				b.AddRun(loop)
				b.Accesses = append(b.Accesses, loop.Strides[0].First)
				loop.Strides[0].First += 64
			}
		}
		plain := new(trace.Batch)
		b.Expand(plain)
		compare(t, plan, config, []*trace.Batch{plain}, []*trace.Batch{b})
	}
}
