package pipeline_test

import (
	"fmt"

	"presage/perf/isa"
	"presage/perf/isa/rv64"
	"presage/perf/pipeline"
	"presage/perf/trace"
)

// A loop of two instructions, each needing the other's result, on a core of
// which two classes are described. A run's batches come from an engine; here
// they are made by hand.
func Example() {
	multiply := isa.Inst{PC: 0x1000, Len: 4, Class: isa.Multiply}
	multiply.AddDef(5)
	multiply.AddUse(6)
	add := isa.Inst{PC: 0x1004, Len: 4, Class: isa.ALU}
	add.AddDef(6)
	add.AddUse(5)
	code := [][]isa.Inst{{multiply, add}}

	plan, err := pipeline.Plan(code)
	if err != nil {
		panic(err)
	}
	sim, err := pipeline.New(rv64.Target(), plan, code, pipeline.Config{
		DispatchWidth: 2,
		Window:        32,
		Units:         []pipeline.Unit{{Name: "alu", Count: 2}, {Name: "multiplier", Count: 1}},
		Timings: map[isa.Class]pipeline.Timing{
			isa.ALU:      {Latency: 1, Uses: []pipeline.Use{{AnyOf: []string{"alu"}, Cycles: 1}}},
			isa.Multiply: {Latency: 3, Uses: []pipeline.Use{{AnyOf: []string{"multiplier"}, Cycles: 1}}},
		},
	}, pipeline.Options{})
	if err != nil {
		panic(err)
	}
	sim.Observe(&trace.Batch{Blocks: make([]trace.BlockID, 1000)}) // block 0 a thousand times
	r := sim.Result()
	fmt.Printf("%d instructions, %d cycles, of which %d waited for latencies\n", r.Instructions, r.Cycles, r.Stack.Latency)
	// Output: 2000 instructions, 4001 cycles, of which 2001 waited for latencies
}
