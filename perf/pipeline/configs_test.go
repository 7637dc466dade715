package pipeline_test

import (
	"presage/perf/isa"
	"presage/perf/pipeline"
)

// timings gives every class a latency and the units that may begin it, one
// cycle each.
func timings(units func(isa.Class) []string, latency func(isa.Class) int) map[isa.Class]pipeline.Timing {
	m := make(map[isa.Class]pipeline.Timing)
	for _, c := range isa.Classes() {
		t := pipeline.Timing{Latency: latency(c)}
		if u := units(c); len(u) > 0 {
			t.Uses = []pipeline.Use{{AnyOf: u, Cycles: 1}}
		}
		m[c] = t
	}
	return m
}

// latencies are those of a plausible core.
func latencies(c isa.Class) int {
	switch c {
	case isa.Multiply:
		return 3
	case isa.Divide:
		return 18
	case isa.FPAdd, isa.FPConvert:
		return 3
	case isa.FPMultiply, isa.FPFused:
		return 4
	case isa.FPDivide, isa.FPSqrt:
		return 15
	case isa.Load, isa.FPLoad, isa.Atomic:
		return 4
	}
	return 1
}

// ports are those of a core with eight issue ports.
func ports(c isa.Class) []string {
	switch c {
	case isa.ALU, isa.Shift, isa.Compare:
		return []string{"alu", "branch"}
	case isa.Multiply, isa.Divide:
		return []string{"mul"}
	case isa.Branch, isa.Jump, isa.IndirectJump, isa.Call, isa.Return:
		return []string{"branch"}
	case isa.FPAdd, isa.FPMultiply, isa.FPFused, isa.FPDivide, isa.FPSqrt, isa.FPConvert, isa.FPMove:
		return []string{"fp"}
	case isa.Load, isa.FPLoad, isa.Atomic:
		return []string{"load"}
	case isa.Store, isa.FPStore:
		return []string{"store"}
	}
	return nil
}

var portUnits = []pipeline.Unit{
	{Name: "alu", Count: 3},
	{Name: "mul", Count: 1},
	{Name: "branch", Count: 1},
	{Name: "fp", Count: 2},
	{Name: "load", Count: 2},
	{Name: "store", Count: 1},
}

func benchMemory() pipeline.Memory {
	return pipeline.Memory{
		Levels: []pipeline.Level{
			{Name: "L1", Blocks: 512, BlockBytes: 64, Ways: 8, Latency: 4, MSHRs: 10},
			{Name: "L2", Blocks: 8192, BlockBytes: 64, Ways: 8, Latency: 14, MSHRs: 32},
			{Name: "L3", Blocks: 131072, BlockBytes: 64, Ways: 16, Latency: 45, MSHRs: 64},
		},
		TLBs: []pipeline.TLB{
			{Name: "DTLB", Entries: 64, EntryBytes: 4096, MissPenalty: 7},
			{Name: "STLB", Entries: 1536, EntryBytes: 4096, Ways: 12, MissPenalty: 30},
		},
		Latency: 200, Interval: 8, WriteInterval: 8, Ports: 3, StoresPerCycle: 1, ForwardLatency: 5,
	}
}

func benchOutOfOrder() pipeline.Config {
	return pipeline.Config{
		FetchWidth: 6, DispatchWidth: 6, IssueWidth: 8, RetireWidth: 8, FetchBuffer: 48, TakenPerCycle: 1,
		Window: 224,
		Queues: []pipeline.Queue{
			{Name: "int", Entries: 64, Classes: []isa.Class{isa.ALU, isa.Shift, isa.Compare, isa.Multiply, isa.Divide, isa.Branch, isa.Jump, isa.IndirectJump, isa.Call, isa.Return}},
			{Name: "fp", Entries: 48, Classes: []isa.Class{isa.FPAdd, isa.FPMultiply, isa.FPFused, isa.FPDivide, isa.FPSqrt, isa.FPConvert, isa.FPMove}},
			{Name: "memory", Entries: 48, Classes: []isa.Class{isa.Load, isa.FPLoad, isa.Store, isa.FPStore, isa.Atomic}},
		},
		LoadQueue: 72, StoreQueue: 56, IntRegisters: 180, FloatRegisters: 168,
		Units: portUnits, Timings: timings(ports, latencies),
		Branch: pipeline.Branch{Predictor: pipeline.Gshare, Entries: 16384, HistoryBits: 12, Penalty: 12, ReturnStack: 16, Targets: 1024},
		ICache: pipeline.ICache{Blocks: 512, BlockBytes: 64, Ways: 8, Next: 1, NextLine: true},
		Memory: benchMemory(),
	}
}

func benchInOrder() pipeline.Config {
	c := benchOutOfOrder()
	c.InOrder = true
	c.FetchWidth, c.DispatchWidth, c.IssueWidth, c.RetireWidth = 2, 2, 2, 2
	c.Window, c.Queues = 32, nil
	return c
}
