package sched

import (
	"math"
	"math/rand/v2"
	"testing"

	"presage/perf/access"
	"presage/perf/cfg"
	"presage/perf/isa"
	"presage/perf/machine"
)

// branching returns a one-block loop that exits after ten iterations, and a forward
// branch that is taken 3 times out of 10.
func branching() (*access.Analysis, *Frequencies) {
	branch := func(pc uint64) cfg.Block {
		return cfg.Block{Insts: []isa.Inst{{PC: pc, Len: 4, Class: isa.Branch}}, Loop: -1}
	}
	r := &cfg.Routine{
		Blocks: []cfg.Block{
			branch(0), branch(4),
			{Insts: []isa.Inst{{PC: 8, Len: 4, Class: isa.ALU}}, Loop: -1},
			{Insts: []isa.Inst{{PC: 12, Len: 4, Class: isa.Return}}, Loop: -1},
		},
		Edges: []cfg.Edge{
			{From: 0, To: 0, Kind: cfg.Taken},
			{From: 0, To: 1, Kind: cfg.Falls},
			{From: 1, To: 2, Kind: cfg.Falls},
			{From: 1, To: 3, Kind: cfg.Taken},
			{From: 2, To: 3, Kind: cfg.Falls},
		},
		Loops: []cfg.Loop{{Header: 0, Blocks: []int{0}, Parent: -1, Depth: 1, Back: []int{0}, Exit: []int{1}}},
	}
	r.Blocks[0].Loop = 0
	for e, edge := range r.Edges {
		r.Blocks[edge.From].Succs = append(r.Blocks[edge.From].Succs, e)
		r.Blocks[edge.To].Preds = append(r.Blocks[edge.To].Preds, e)
	}
	f := FromEdges(r, []float64{90, 10, 7, 3, 7}, nil)
	f.Blocks[0] = 100
	return &access.Analysis{Program: &cfg.Program{Routines: []*cfg.Routine{r}}}, &Frequencies{Routines: []RoutineFrequencies{f}}
}

// TestPredictBranches checks the branches that depend on no data.
func TestPredictBranches(t *testing.T) {
	a, f := branching()
	r := a.Program.Routines[0]
	of := func(b machine.Branch) []float64 {
		return PredictBranches(&machine.Core{Branch: b}, a, f, nil).Of(0, r, &f.Routines[0])
	}
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
		{"tables of long histories", machine.Branch{Predictor: "tage", MispredictCost: 5}, 0, 3},
		{"tables of shorter ones", machine.Branch{Predictor: "tage", HistoryBits: 9, MispredictCost: 5}, 10, 3},
		{"counters that were seen to", machine.Branch{Predictor: "bimodal", LoopReach: 10, MispredictCost: 5}, 0, 3},
		{"static", machine.Branch{Predictor: "static"}, 10, 3},
		{"perfect", machine.Branch{Predictor: "perfect", MispredictCost: 5}, 0, 0},
		{"not described", machine.Branch{}, 0, 0},
	} {
		if got := of(c.branch); got[0] != c.loop || got[1] != c.i || got[2] != 0 || got[3] != 0 {
			t.Errorf("%s: %v, want %v for the loop and %v for the if", c.name, got, c.loop, c.i)
		}
	}
	f.Routines[0].Edges[2], f.Routines[0].Edges[3] = 2, 8
	if got := of(machine.Branch{Predictor: "static"}); got[1] != 8 {
		t.Errorf("an if that is taken forward 8 times out of 10, static: %v", got[1])
	}
}

// TestBranchesOfData: a branch on a value that a loop loads from one place after another
// depends on data, one on a value from a fixed place does not; shares are those of
// two-bit counters that see random directions, simulated here.
func TestBranchesOfData(t *testing.T) {
	a, f := branching()
	r := a.Program.Routines[0]
	code := func(base isa.Reg) []isa.Inst {
		load := isa.Inst{PC: 0, Len: 4, Class: isa.Load}
		load.AddDef(10)
		load.AddUse(base)
		load.AddMem(isa.Mem{Kind: isa.MemLoad, Size: 8, Base: base, Index: isa.NoReg})
		add := isa.Inst{PC: 4, Len: 4, Class: isa.ALU}
		add.AddDef(11)
		add.AddUse(10)
		branch := isa.Inst{PC: 8, Len: 4, Class: isa.Branch}
		branch.AddUse(11)
		return []isa.Inst{load, add, branch}
	}
	r.Blocks[0].Insts = code(12)
	ref := access.Reference{PC: 0, InGraph: true, Strides: []access.Stride{{Loop: 0, Irregular: true}}}
	core := &machine.Core{Branch: machine.Branch{Predictor: "gshare", HistoryBits: 30, MispredictCost: 5}}
	a.All = []access.Reference{ref}
	random := PredictBranches(core, a, f, nil)
	if random.Counted[0][0] {
		t.Error("a loop is left by what it loads, and counts its trips")
	}
	rng, state := rand.New(rand.NewPCG(5, 6)), 0
	var wrong, seen [2]float64
	for range 400_000 {
		taken := 0
		if rng.Float64() < 0.9 {
			taken = 1
		}
		seen[taken]++
		if (state >= 2) != (taken == 1) {
			wrong[taken]++
		}
		state = min(3, max(0, state+2*taken-1))
	}
	for e, taken := range []int{1, 0} { // the loop goes on 9 times out of 10
		if want := wrong[taken] / seen[taken]; math.Abs(random.Wrong[0][e]-want) > 0.01 {
			t.Errorf("edge %d: %.4f are mispredicted, of a counter %.4f", e, random.Wrong[0][e], want)
		}
	}
	share := 0.9*random.Wrong[0][0] + 0.1*random.Wrong[0][1]
	known := &SeenBranches{F: f, Wrong: map[uint64]float64{8: share / 2}}
	more := &Frequencies{Routines: []RoutineFrequencies{f.Routines[0]}}
	more.Routines[0].Edges = []float64{70, 30, 7, 3, 7}
	asRandom, half := PredictBranches(core, a, more, nil), PredictBranches(core, a, more, known)
	for e := range 2 {
		if got, want := half.Wrong[0][e], asRandom.Wrong[0][e]/2; math.Abs(got-want) > 1e-9 {
			t.Errorf("edge %d, of a branch that was mispredicted half as often as a random one: %.4f, want %.4f", e, got, want)
		}
	}
	a.All[0].Strides[0].Irregular = false // it stays where it is
	if fixed := PredictBranches(core, a, f, nil); !fixed.Counted[0][0] || fixed.Wrong[0][0] != 0 || fixed.Wrong[0][1] != 0 {
		t.Errorf("a bound that the loop loads from one place: counted %v, mispredicted %v", fixed.Counted[0], fixed.Wrong[0])
	}
}
