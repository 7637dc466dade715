package inferred

import (
	"fmt"

	"presage/perf/infer"
	"presage/perf/isa"
	"presage/perf/pipeline"
)

// What all processors of the study have in common. Latencies of functional units
// are the defaults of gem5's out-of-order core: the 2012 paper, section 4.1,
// simulates with gem5 and does not give them.
const (
	blockBytes     = 64
	l1Cycles       = 2
	memoryCycles   = 150
	memoryInterval = 6 // cycles a block: 32 GB/s at 3 GHz
	penalty        = 8
	predictor      = 4096 // counters
	history        = 10
	returns        = 16
	targets        = 512
)

// Core returns the processor of an architecture: out of order, with two levels of
// cache. Branch prediction and memory are the same for all: gshare with 4096
// counters, 8 cycles a misprediction; 150 cycles to memory.
func Core(a infer.Architecture) (pipeline.Config, error) {
	d, err := a.Details()
	if err != nil {
		return pipeline.Config{}, fmt.Errorf("perf: %w", err)
	}
	c := pipeline.Config{
		FetchWidth: d.Width, DispatchWidth: d.Width, IssueWidth: d.Width, RetireWidth: d.Width,
		FetchBuffer: 4 * d.Width, TakenPerCycle: 1, Window: d.Window,
		LoadQueue: d.LoadStoreQueue, StoreQueue: d.LoadStoreQueue, IntRegisters: d.Registers, FloatRegisters: d.Registers,
		Queues: []pipeline.Queue{{Name: "instruction queue", Entries: d.InstructionQueue, Classes: isa.Classes()}},
		Units: []pipeline.Unit{
			{Name: "integer", Count: d.IntALUs},
			{Name: "integer multiply", Count: d.IntMuls},
			{Name: "float", Count: d.FloatALUs},
			{Name: "float multiply", Count: d.FloatMuls},
		},
		Timings: timings(),
		Branch:  branchPrediction(),
		ICache:  pipeline.ICache{Blocks: blocks(d.CodeKiB), BlockBytes: blockBytes, Ways: d.L1Ways, Next: 1},
		Memory: pipeline.Memory{
			Levels: []pipeline.Level{
				{Name: "L1", Blocks: blocks(d.DataKiB), BlockBytes: blockBytes, Ways: d.L1Ways, Latency: l1Cycles, MSHRs: d.MSHRs},
				{Name: "L2", Blocks: blocks(d.L2KiB), BlockBytes: blockBytes, Ways: d.L2Ways, Latency: l1Cycles + d.L2Cycles, MSHRs: d.MSHRs},
			},
			Latency: memoryCycles, Interval: memoryInterval, WriteInterval: memoryInterval,
			Ports: d.Ports, ForwardLatency: l1Cycles,
		},
	}
	if err := c.Check(); err != nil {
		return c, fmt.Errorf("perf: %w", err)
	}
	return c, nil
}

func branchPrediction() pipeline.Branch {
	return pipeline.Branch{
		Predictor: pipeline.Gshare, Entries: predictor, HistoryBits: history,
		Penalty: penalty, ReturnStack: returns, Targets: targets,
	}
}

func blocks(kib int) uint64 { return uint64(kib) * 1024 / blockBytes }

// timings returns what instructions cost. Branches, jumps and calls use an integer
// ALU; loads and stores use a port only.
func timings() map[isa.Class]pipeline.Timing {
	on := func(unit string, latency, busy int) pipeline.Timing {
		return pipeline.Timing{Latency: latency, Uses: []pipeline.Use{{AnyOf: []string{unit}, Cycles: busy}}}
	}
	t := map[isa.Class]pipeline.Timing{
		isa.Nop:        {Latency: 1},
		isa.Multiply:   on("integer multiply", 3, 1),
		isa.Divide:     on("integer multiply", 20, 20),
		isa.FPAdd:      on("float", 2, 1),
		isa.FPConvert:  on("float", 2, 1),
		isa.FPMove:     on("float", 2, 1),
		isa.FPMultiply: on("float multiply", 4, 1),
		isa.FPFused:    on("float multiply", 5, 1),
		isa.FPDivide:   on("float multiply", 12, 12),
		isa.FPSqrt:     on("float multiply", 24, 24),
		isa.Load:       {Latency: l1Cycles},
		isa.FPLoad:     {Latency: l1Cycles},
		isa.Store:      {Latency: 1},
		isa.FPStore:    {Latency: 1},
		isa.Atomic:     {Latency: l1Cycles, Serializes: true},
		isa.SystemCall: {Latency: 1, Serializes: true},
		isa.Fence:      {Latency: 1, Serializes: true},
		isa.CSR:        {Latency: 1, Serializes: true},
		isa.Breakpoint: {Latency: 1, Serializes: true},
	}
	for _, class := range []isa.Class{isa.ALU, isa.Shift, isa.Compare, isa.Branch, isa.Jump, isa.IndirectJump, isa.Call, isa.Return} {
		t[class] = on("integer", 1, 1)
	}
	return t
}
