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
