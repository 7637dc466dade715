package cfg

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"presage/perf/isa"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// nothing returns the flow of a run in which all counters of c stay zero.
func nothing(c *Counters) *trace.Flow {
	return &trace.Flow{Edges: make([]uint64, len(c.Plan.Edges)), Places: make([]uint64, len(c.Plan.Places))}
}

func TestRecoverRefusesOtherFlows(t *testing.T) {
	c := PlaceCounters(programOf(figure2()))
	for _, f := range []*trace.Flow{
		{},
		{Edges: make([]uint64, len(c.Plan.Edges)+1), Places: make([]uint64, len(c.Plan.Places))},
		{Edges: make([]uint64, len(c.Plan.Edges)), Places: make([]uint64, len(c.Plan.Places)+1)},
	} {
		if n, err := c.Recover(f); err == nil || n != nil || !strings.Contains(err.Error(), "was the flow counted for this plan") {
			t.Errorf("%d edges, %d places: %v", len(f.Edges), len(f.Places), err)
		}
	}
}

// TestUnforeseen leads control where the graph has nothing: between the blocks
// of a routine, between routines, and out of the program.
func TestUnforeseen(t *testing.T) {
	f, g := drawn(0x1000, []int{0}, []int{1}, nil), drawn(0x1100, []int{0}, nil)
	f.Size += 2 * word // a gap
	c := PlaceCounters(programOf(f, g))
	flow := nothing(c)
	flow.Breaks = []trace.Break{{PC: 0x1000, Left: 0}, {PC: 0x1008, Left: 0}} // nothing happened there
	flow.Arrivals = []trace.Arrival{{PC: 0x1040, Count: 2}, {PC: 0x9000, Count: 1}}
	n, err := c.Recover(flow)
	if err != nil || len(n.Warnings) != 1 || !errors.Is(n.Warnings[0], ErrUncharted) || !strings.Contains(n.Warnings[0].Error(), "at 1 places, the first at pc 0x1040") {
		t.Errorf("between routines: %v, %v", n, err)
	}
	flow.Arrivals = slices.Insert(flow.Arrivals, 0, trace.Arrival{PC: 0x1008, Count: 3})
	if _, err := c.Recover(flow); !errors.Is(err, ErrUnforeseen) || !strings.Contains(err.Error(), "at pc 0x1008 in drawn") {
		t.Errorf("in a routine: %v", err)
	}
	if got := c.unforeseen(flow); !slices.Equal(got, []trace.PC{0x1008}) {
		t.Errorf("unforeseen %#x", got)
	}
	flow = nothing(c)
	flow.Breaks = []trace.Break{{PC: 0x100c, Broke: 1}}
	if got := c.unforeseen(flow); !slices.Equal(got, []trace.PC{0x100c}) {
		t.Errorf("unforeseen %#x", got)
	}
}

// TestEscapes counts a direct transfer to where the graph has nothing, though
// no execution elsewhere needs it.
func TestEscapes(t *testing.T) {
	r := drawn(0x1000, []int{0}, []int{1}, nil)
	r.Blocks[0] = Block{Insts: []isa.Inst{{PC: 0x1000, Len: word, Class: isa.Jump, Target: 0x1008, HasTarget: true}}, Exit: TailJump, Dominator: -1, Loop: -1}
	r.Blocks[1].Preds, r.Edges = nil, nil
	r.Size += word
	c := PlaceCounters(programOf(r))
	jump := trace.Edge{From: 0x1000, To: 0x1008}
	i := slices.Index(c.Plan.Edges, jump)
	if i < 0 {
		t.Fatalf("plan %+v does not count the jump to nowhere", c.Plan)
	}
	f := nothing(c)
	f.Edges[i] = 1
	if got := c.unforeseen(f); !slices.Equal(got, []trace.PC{0x1008}) {
		t.Errorf("unforeseen %#x", got)
	}
}

// TestContradictions supplies counts that no execution can have: negative ones
// and, where an indirect jump is known, ones that break a redundant equation.
func TestContradictions(t *testing.T) {
	r := figure2()
	c := PlaceCounters(programOf(r))
	f := nothing(c)
	f.Breaks = []trace.Break{{PC: 0x1010, Left: 1}}
	if _, err := c.Recover(f); !errors.Is(err, ErrFlow) || !strings.Contains(err.Error(), "through drawn") {
		t.Errorf("left where it never came: %v", err)
	}

	// Blocks that only an open jump leads to, and from: apart from the rest.
	r = drawn(0x1000, []int{0}, nil, nil)
	for b, to := range []int{1, 1} {
		last := &r.Blocks[b].Insts[0]
		last.Class, r.Blocks[b].Exit = isa.IndirectJump, Unknown
		last.AddUse(5)
		r.Edges = append(r.Edges, Edge{b, to, Table})
	}
	r.complete()
	c = PlaceCounters(programOf(r))
	f = nothing(c)
	f.Jumps = []trace.JumpCount{{Edge: trace.Edge{From: 0x1000, To: 0x1004}, Count: 1}, {Edge: trace.Edge{From: 0x1004, To: 0x1004}, Count: 5}}
	f.Breaks = []trace.Break{{PC: 0x1004, Left: 1}}
	n, err := c.Recover(f)
	if err != nil || n.Routines[0].Blocks[1] != 5 || n.Routines[0].Entries[0] != 1 {
		t.Errorf("%+v, %v", n, err)
	}
	if s := c.Savings(f, n); s.Increments != 6 || s.Jumps != 2 {
		t.Errorf("savings %+v", s)
	}
	f.Breaks = nil
	if _, err := c.Recover(f); !errors.Is(err, ErrFlow) || !strings.Contains(err.Error(), "at pc 0x1004") {
		t.Errorf("six came, five went: %v", err)
	}
}

// TestPartialExecution faults in the middle of a block, and resumes there.
func TestPartialExecution(t *testing.T) {
	r := drawn(0x1000, []int{0}, nil)
	b := &r.Blocks[0]
	b.Insts = nil
	for i, class := range []isa.Class{isa.ALU, isa.Load, isa.ALU, isa.Return} {
		b.Insts = append(b.Insts, isa.Inst{PC: 0x1000 + word*uint64(i), Len: word, Class: class})
	}
	r.Size = 4 * word
	p := &Program{File: new(objfile.File), Routines: []*Routine{r}}
	c := PlaceCounters(p)
	if len(c.Plan.Places) != 1 {
		t.Fatalf("plan %+v", c.Plan)
	}
	f := nothing(c)
	f.Places[0] = 10
	f.Breaks = []trace.Break{{PC: 0x1004, Broke: 2, Entered: 1}, {PC: 0x1008, Left: 4}, {PC: 0x100c, Broke: 3}}
	n, err := c.Recover(f)
	if err != nil {
		t.Fatal(err)
	}
	if got := n.Routines[0].Insts(nil, r, 0); !slices.Equal(got, []uint64{10, 11, 5, 5}) {
		t.Errorf("instructions executed %d times", got)
	}
	if s := c.Savings(f, n); s.Increments != 10 || s.BlockIncrements != 10 || s.EdgeIncrements != 0 {
		t.Errorf("savings %+v", s)
	}
	if got := n.Routines[0]; got.Left[0] != 2 || got.Stopped[0] != 3 || got.Entries[0] != 10 {
		t.Errorf("%+v", got)
	}
	f.Breaks[1].Left = 9 + 1
	if _, err := c.Recover(f); !errors.Is(err, ErrFlow) {
		t.Errorf("less than no execution: %v", err)
	}
	// More resume than left, but too late.
	f.Breaks = []trace.Break{{PC: 0x1004, Left: 11}, {PC: 0x1008, Entered: 11}}
	if _, err := c.Recover(f); !errors.Is(err, ErrFlow) || !strings.Contains(err.Error(), "0x1004 was executed -1 times") {
		t.Errorf("less than no execution in the middle: %v", err)
	}
}

// TestParallelEdges counts a branch to the next instruction as one edge, with
// the weights of both.
func TestParallelEdges(t *testing.T) {
	r := drawn(0x1000, []int{0}, []int{1, 1}, nil)
	if len(r.Edges) != 2 {
		t.Fatalf("edges %+v", r.Edges)
	}
	b := systemBuilder{flowSystem: &flowSystem{r: r}, w: r.Weigh()}
	b.build()
	for i, a := range b.arcs {
		if a.kind == edgeArc && (a.index != 0 || b.weights[i] != 1) {
			t.Errorf("arc %+v with weight %g, want one of weight 1", a, b.weights[i])
		}
	}
	c := countEverything(programOf(r))
	f := nothing(c)
	f.Edges[0], f.Places[0], f.Places[1] = 5, 5, 5
	n, err := c.Recover(f)
	if err != nil {
		t.Fatal(err)
	}
	if got := n.Routines[0].Edges; !slices.Equal(got, []uint64{5, 0}) {
		t.Errorf("edges taken %d times", got)
	}
}
