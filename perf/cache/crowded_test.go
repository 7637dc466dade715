package cache

import (
	"testing"

	"presage/perf/trace"
)

// TestStreamsThatStepByAboutAWay: streams that come to another block of the same set in each
// iteration evict blocks of the iteration before, not the one that a third stream stays at.
func TestStreamsThatStepByAboutAWay(t *testing.T) {
	plan := mixedPlan()
	level := Level{Name: "L1", Blocks: 192, BlockBytes: 64, Ways: 3}
	through := level // is simulated by phases
	through.WriteThrough = true
	for _, config := range []Config{{Levels: []Level{level}}, {Levels: []Level{through}}} {
		loop := trace.Loop{Count: 60, Strides: []trace.Stride{
			{First: trace.Tag(0, 4) | 0x1000040, Step: -16},
			{First: trace.Tag(2, 4) | 0x2000000, Step: 4084},
			{First: trace.Tag(2, 4) | 0x4000000, Step: 4084},
		}}
		batch, plain := new(trace.Batch), new(trace.Batch)
		for range 6 {
			batch.AddRun(loop)
			for k := range loop.Strides {
				loop.Strides[k].First += 16
			}
		}
		batch.Expand(plain)
		compare(t, plan, config, []*trace.Batch{plain}, []*trace.Batch{batch})
	}
}

// TestLives: a column comes to the set of a row's block once or several times while the row
// is in the block, or in the whole loop where that stays in one.
func TestLives(t *testing.T) {
	plan := mixedPlan()
	for _, ways := range []int{2, 3, 4} {
		config := Config{Levels: []Level{{Name: "L1", Blocks: uint64(ways) * 64, BlockBytes: 64, Ways: ways}}}
		for visits := int64(1); visits <= 8; visits++ {
			for _, step := range []int64{0, 4, 8, -8} {
				batch, plain := new(trace.Batch), new(trace.Batch)
				for row := range trace.Access(24) {
					batch.AddRun(trace.Loop{Count: 80, Strides: []trace.Stride{
						{First: trace.Tag(1, 4) | 0x1000400 + 8*row, Step: step},
						{First: trace.Tag(0, 4) | 0x2000000 + 4*row, Step: 4096/visits + 4*int64(row/4) - 12},
					}})
				}
				batch.Expand(plain)
				compare(t, plan, config, []*trace.Batch{plain}, []*trace.Batch{batch})
			}
		}
	}
}
