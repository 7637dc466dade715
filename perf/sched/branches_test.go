package sched

import (
	"testing"

	"presage/perf/cfg"
	"presage/perf/isa"
	"presage/perf/machine"
)

// TestMispredictions checks a one-block loop that exits after ten iterations, and
// a forward branch that is taken 3 times out of 10.
func TestMispredictions(t *testing.T) {
	branch := func(pc uint64) cfg.Block { return cfg.Block{Insts: []isa.Inst{{PC: pc, Len: 4, Class: isa.Branch}}} }
	r := &cfg.Routine{
		Blocks: []cfg.Block{branch(0), branch(4), {Insts: []isa.Inst{{PC: 8, Len: 4, Class: isa.ALU}}}, {Insts: []isa.Inst{{PC: 12, Len: 4, Class: isa.Return}}}},
		Edges: []cfg.Edge{
			{From: 0, To: 0, Kind: cfg.Taken},
			{From: 0, To: 1, Kind: cfg.Falls},
			{From: 1, To: 2, Kind: cfg.Falls},
			{From: 1, To: 3, Kind: cfg.Taken},
			{From: 2, To: 3, Kind: cfg.Falls},
		},
		Loops: []cfg.Loop{{Header: 0, Blocks: []int{0}, Parent: -1, Depth: 1, Back: []int{0}, Exit: []int{1}}},
	}
	f := &RoutineFrequencies{Edges: []float64{90, 10, 7, 3, 7}}
	for _, c := range []struct {
		name    string
		branch  machine.Branch
		loop, i float64
	}{
		{"bimodal", machine.Branch{Predictor: "bimodal", MispredictCost: 5}, 10, 3},
		{"gshare that remembers the loop", machine.Branch{Predictor: "gshare", HistoryBits: 10, MispredictCost: 5}, 0, 3},
		{"gshare that does not", machine.Branch{Predictor: "gshare", HistoryBits: 9, MispredictCost: 5}, 10, 3},
		{"seen to foresee the loop", machine.Branch{Predictor: "gshare", HistoryBits: 9, LoopReach: 10, MispredictCost: 5}, 0, 3},
		{"seen not to, whatever the history", machine.Branch{Predictor: "gshare", HistoryBits: 12, LoopReach: 9, MispredictCost: 5}, 10, 3},
		{"counters that were seen to", machine.Branch{Predictor: "bimodal", LoopReach: 10, MispredictCost: 5}, 0, 3},
		{"static", machine.Branch{Predictor: "static"}, 10, 3},
		{"perfect", machine.Branch{Predictor: "perfect", MispredictCost: 5}, 0, 0},
		{"not described", machine.Branch{}, 0, 0},
	} {
		got := Mispredictions(&machine.Core{Branch: c.branch}, r, f)
		if got[0] != c.loop || got[1] != c.i || got[2] != 0 || got[3] != 0 {
			t.Errorf("%s: %v, want %v for the loop and %v for the if", c.name, got, c.loop, c.i)
		}
	}
	f.Edges[2], f.Edges[3] = 2, 8
	if got := Mispredictions(&machine.Core{Branch: machine.Branch{Predictor: "static"}}, r, f); got[1] != 8 {
		t.Errorf("an if that is taken forward 8 times out of 10, static: %v", got[1])
	}
}
