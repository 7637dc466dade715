package cfg

import (
	"math"
	"testing"

	"presage/perf/isa"
	"presage/perf/isa/rv64"
	"presage/perf/objfile"
	"presage/perf/trace"
)

const word = 4 // bytes of an instruction of the graphs that tests draw

// drawn makes a routine of one-instruction blocks: block b is at base + 4b and
// leads to succs[b]. Without successors it returns; with the next block it falls
// through; with another it jumps; with two it branches to the first or the next.
func drawn(base uint64, entries []int, succs ...[]int) *Routine {
	r := &Routine{Name: "drawn", Addr: base, Size: word * uint64(len(succs)), Entries: entries}
	at := func(b int) uint64 { return base + word*uint64(b) }
	for b, to := range succs {
		inst := isa.Inst{PC: at(b), Len: word, Class: isa.ALU}
		switch {
		case len(to) == 0:
			inst.Class = isa.Return
		case len(to) == 2:
			inst.Class, inst.Target, inst.HasTarget = isa.Branch, at(to[0]), true
		case to[0] != b+1:
			inst.Class, inst.Target, inst.HasTarget = isa.Jump, at(to[0]), true
		}
		r.Blocks = append(r.Blocks, Block{Insts: []isa.Inst{inst}, Dominator: -1, Loop: -1})
		switch inst.Class {
		case isa.Return:
			r.Blocks[b].Exit = Returns
		case isa.Branch:
			if to[1] != b+1 {
				panic("a branch falls to the next block")
			}
			r.Edges = append(r.Edges, Edge{b, to[1], Falls}, Edge{b, to[0], Taken})
		case isa.Jump:
			r.Edges = append(r.Edges, Edge{b, to[0], Jumps})
		default:
			r.Edges = append(r.Edges, Edge{b, to[0], Falls})
		}
	}
	r.complete()
	return r
}

// complete sorts the edges and computes everything that depends on them.
func (r *Routine) complete() {
	sortEdges(r)
	for i, e := range r.Edges {
		r.Blocks[e.From].Succs = append(r.Blocks[e.From].Succs, i)
		r.Blocks[e.To].Preds = append(r.Blocks[e.To].Preds, i)
	}
	r.dominate()
	r.findLoops()
}

// programOf makes a program of routines in one executable segment.
func programOf(routines ...*Routine) *Program {
	last := routines[len(routines)-1]
	base := routines[0].Addr
	segment := objfile.Segment{Addr: base, MemSize: last.Addr + last.Size - base, Execute: true}
	return &Program{File: &objfile.File{Target: rv64.Target(), Segments: []objfile.Segment{segment}}, Routines: routines}
}

func sameWeights(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12*want[i] {
			t.Errorf("%s: weights %v, want %v", what, got, want)
			return
		}
	}
}

// figure2 returns the routine of Figure 2 of Marin and Mellor-Crummey 2004: B2 is
// the head of a loop with B4, and B3 follows the loop. (The position of B4 in
// memory does not matter.)
//
//	B1 → B2 ⇄ B4
//	      ↓
//	     B3 → B5
func figure2() *Routine {
	const b1, b2, b4, b3, b5 = 0, 1, 2, 3, 4
	return drawn(0x1000, []int{b1}, []int{b2}, []int{b3, b4}, []int{b2}, []int{b5}, nil)
}

// TestFigure2 follows the figure: the estimated weights, two counters, c2 in the
// loop and c1 outside, and the counts recovered from them.
func TestFigure2(t *testing.T) {
	r := figure2()
	w := r.Weigh()
	sameWeights(t, "blocks", w.Blocks, []float64{1, 10, 9, 1, 1})
	sameWeights(t, "edges", w.Edges, []float64{1, 9, 1, 9, 1})

	c := PlaceCounters(programOf(r))
	if s := c.Savings(nil, nil); s.Counters != 2 || s.Jumps != 0 || s.Uncountable != 2 || s.Edges != 5 || s.Blocks != 5 {
		t.Fatalf("savings %+v, want 2 counters instead of 5 edges or 5 blocks", s)
	}
	const c1, c2 = 7, 1000
	f := &trace.Flow{Edges: make([]uint64, len(c.Plan.Edges)), Places: make([]uint64, len(c.Plan.Places))}
	inLoop := func(pc trace.PC) bool { return pc == 0x1008 }
	for i, e := range c.Plan.Edges {
		if f.Edges[i] = c1; inLoop(e.From) || inLoop(e.To) {
			f.Edges[i] = c2
		}
	}
	for i, pc := range c.Plan.Places {
		if f.Places[i] = c1; inLoop(pc) {
			f.Places[i] = c2
		}
	}
	n, err := c.Recover(f)
	if err != nil {
		t.Fatal(err)
	}
	got := n.Routines[0]
	for b, want := range []uint64{c1, c1 + c2, c2, c1, c1} {
		if got.Blocks[b] != want {
			t.Errorf("block %d: %d, want %d", b, got.Blocks[b], want)
		}
	}
	for e, want := range []uint64{c1, c2, c1, c2, c1} {
		if got.Edges[e] != want {
			t.Errorf("edge %+v: %d, want %d", r.Edges[e], got.Edges[e], want)
		}
	}
	if got.Entries[0] != c1 || got.Left[4] != c1 {
		t.Errorf("entered %d, left %d, want %d", got.Entries[0], got.Left[4], c1)
	}
	if s := c.Savings(f, n); s.Increments != c1+c2 || s.EdgeIncrements != 3*c1+2*c2 || s.BlockIncrements != 4*c1+2*c2 {
		t.Errorf("savings %+v", s)
	}
}

// TestWeightsOfExits uses the rules for edges that leave several loops at once.
//
//	0 → 1 → 2 → 3 → 4 → 5 → 6      outer loop 1-5, inner loop 2-4
//	    ↑   ↑   └───┼───┼──→ 6      2 → 6 leaves both
//	    │   └───────┘   │           4 → 2, 4 → 5 leaves the inner
//	    └───────────────┘           5 → 1, 5 → 6 leaves the outer
func TestWeightsOfExits(t *testing.T) {
	r := drawn(0x1000, []int{0},
		[]int{1}, []int{2}, []int{6, 3}, []int{4}, []int{2, 5}, []int{1, 6}, nil)
	if len(r.Loops) != 2 {
		t.Fatalf("%d loops", len(r.Loops))
	}
	// The outer loop is entered with weight 1 and left by two edges, 1/2 each.
	// The inner one is entered with 10, left by two edges. 4 → 5 leaves only the
	// inner one: 10/2. 2 → 6 leaves both: 1/2.
	w := r.Weigh()
	inner := 10.0 * 10
	sameWeights(t, "blocks", w.Blocks, []float64{1, 10, inner, inner - 0.5, inner - 0.5, 5, 1})
	sameWeights(t, "edges", w.Edges, []float64{
		1, 10, inner - 0.5, 0.5, // 0→1, 1→2, 2→3, 2→6
		inner - 0.5, inner - 0.5 - 5, 5, // 3→4, 4→2, 4→5
		4.5, 0.5, // 5→1, 5→6
	})
}

// TestWeightsOfIrreducibleLoops enters a loop in two places.
func TestWeightsOfIrreducibleLoops(t *testing.T) {
	r := drawn(0x1000, []int{0}, []int{2, 1}, []int{2}, []int{1, 3}, nil)
	if len(r.Loops) != 1 || !r.Loops[0].Irreducible {
		t.Fatalf("loops %+v", r.Loops)
	}
	// Half enters at 1, half at 2; 1 → 2 passes on the five of 1, 2 → 3 is the
	// exit with all that entered.
	w := r.Weigh()
	sameWeights(t, "blocks", w.Blocks, []float64{1, 5, 10, 1})
	sameWeights(t, "edges", w.Edges, []float64{0.5, 0.5, 5, 9, 1})
}

// TestWeightsOfLeaves leaves a loop by an edge and by a branch to another
// routine.
func TestWeightsOfLeaves(t *testing.T) {
	r := drawn(0x1000, []int{0}, []int{1}, []int{2}, []int{1, 3}, nil)
	last := r.Blocks[1].Last()
	last.Class, last.Target, last.HasTarget = isa.Branch, 0x5000, true
	r.Blocks[1].Exit = TailJump
	w := r.Weigh()
	sameWeights(t, "blocks", w.Blocks, []float64{1, 10, 9.5, 0.5})
	sameWeights(t, "edges", w.Edges, []float64{1, 9.5, 9, 0.5})
	sameWeights(t, "leaves", w.Leaves, []float64{0, 0.5, 0, 0.5})
}

// TestWeightsOfUnlikelyExits leaves a loop from a block with less weight than the
// exit requires: nothing remains for the other edge.
func TestWeightsOfUnlikelyExits(t *testing.T) {
	r := drawn(0x1000, []int{0},
		[]int{1}, []int{6, 2}, []int{6, 3}, []int{6, 4}, []int{6, 5}, []int{7, 6}, []int{1}, nil)
	w := r.Weigh()
	sameWeights(t, "blocks", w.Blocks, []float64{1, 10, 5, 2.5, 1.25, 0.625, 5 + 2.5 + 1.25 + 0.625, 1})
	sameWeights(t, "edges", w.Edges, []float64{1, 5, 5, 2.5, 2.5, 1.25, 1.25, 0.625, 0.625, 0, 1, 9.375})
}
