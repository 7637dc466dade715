package access

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"presage/perf/cfg"
	"presage/perf/isa"
	"presage/perf/isa/rv64"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// body is a loop of one block made for a test: references at constant distances
// from one another, which all move by the same stride.
func body(refs []Reference) *Analysis {
	r := &cfg.Routine{Name: "f", Blocks: make([]cfg.Block, 1), Loops: []cfg.Loop{{Header: 0, Blocks: []int{0}, Parent: -1, Depth: 1}}}
	for i := range refs {
		refs[i].PC = trace.PC(4 * i)
		kind := map[trace.Kind]isa.MemKind{trace.Load: isa.MemLoad, trace.Store: isa.MemStore, trace.ReadModifyWrite: isa.MemReadModifyWrite}[refs[i].Kind]
		in := isa.Inst{PC: uint64(4 * i), Len: 4}
		in.AddMem(isa.Mem{Kind: kind, Size: refs[i].Size, Base: isa.NoReg, Index: isa.NoReg})
		r.Blocks[0].Insts = append(r.Blocks[0].Insts, in)
	}
	return &Analysis{Program: &cfg.Program{File: &objfile.File{Target: rv64.Target()}, Routines: []*cfg.Routine{r}}, References: References{All: refs}}
}

func units(n int64) Formula {
	if n == 0 {
		return Formula{}
	}
	return Formula{[]Term{{Symbol: Symbol{Kind: Unit}, Num: n, Den: 1}}}
}

// TestDependencesAgainstBytes compares the dependences of random loop bodies with
// those found by recording every byte that each iteration touches.
func TestDependencesAgainstBytes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		stride := int64(rnd.IntN(33) - 16)
		refs := make([]Reference, 2+rnd.IntN(4))
		first := make([]int64, len(refs))
		for i := range refs {
			first[i] = 1000 + int64(rnd.IntN(80))
			refs[i] = Reference{
				Size: 1 << rnd.IntN(4), Kind: trace.Kind(rnd.IntN(3)), InGraph: true,
				First: units(first[i]), Strides: []Stride{{Loop: 0, Formula: units(stride)}},
			}
		}
		got := body(refs).Dependences(0, 0, []int{0}, DependenceOptions{})
		want := byBytes(refs, first, stride)
		for i := range got.Edges {
			got.Edges[i].Kind = 0 // tested below
		}
		got.Edges = slices.Compact(got.Edges)
		if !slices.Equal(got.Edges, want) {
			t.Fatalf("stride %d, first %v, %+v:\ngot  %v\nwant %v", stride, first, refs, got.Edges, want)
		}
		if got.Unknown != 0 {
			t.Fatalf("%d unknown", got.Unknown)
		}
	}
}

// byBytes finds by enumeration, for each pair of references, the least distance at
// which they touch a common byte.
func byBytes(refs []Reference, first []int64, stride int64) []Dependence {
	var edges []Dependence
	for p := range refs {
		for q := range refs {
			if !refs[p].Kind.Writes() && !refs[q].Kind.Writes() {
				continue
			}
			meets := func(d int64) bool {
				for i := range int64(refs[p].Size) {
					at := first[p] + i
					if from := first[q] + stride*d; at >= from && at < from+int64(refs[q].Size) {
						return true
					}
				}
				return false
			}
			if p < q && meets(0) {
				edges = append(edges, Dependence{From: p, To: q})
			}
			for d := int64(1); d < 200; d++ {
				if meets(d) {
					edges = append(edges, Dependence{From: p, To: q, Distance: int(d)})
					break
				}
			}
		}
	}
	return edges
}

func TestDependenceKinds(t *testing.T) {
	at := func(k trace.Kind) Reference {
		return Reference{Size: 8, Kind: k, InGraph: true, First: units(64), Strides: []Stride{{Loop: 0, Formula: units(8)}}}
	}
	got := body([]Reference{at(trace.Load), at(trace.Store), at(trace.Load), at(trace.Store)}).Dependences(0, 0, []int{0}, DependenceOptions{})
	want := []Dependence{{0, 1, 0, MemoryAnti, false}, {0, 3, 0, MemoryAnti, false}, {1, 2, 0, MemoryFlow, false}, {1, 3, 0, MemoryOutput, false}, {2, 3, 0, MemoryAnti, false}}
	if !slices.Equal(got.Edges, want) {
		t.Errorf("got %v, want %v", got.Edges, want)
	}
}

// TestDependencesUnknown checks pairs whose difference is not a constant.
func TestDependencesUnknown(t *testing.T) {
	symbol := func(r isa.Reg) Formula {
		return Formula{[]Term{{Symbol: Symbol{Kind: Entry, Reg: r}, Num: 1, Den: 1}}}
	}
	ref := func(k trace.Kind, first Formula, stride Stride) Reference {
		return Reference{Size: 8, Kind: k, InGraph: true, First: first, Strides: []Stride{stride}}
	}
	eight := Stride{Formula: units(8)}
	for name, refs := range map[string][]Reference{
		"two bases":        {ref(trace.Load, symbol(10), eight), ref(trace.Store, symbol(11), eight)},
		"two strides":      {ref(trace.Load, symbol(10), eight), ref(trace.Store, symbol(10), Stride{Formula: units(16)})},
		"irregular":        {ref(trace.Load, symbol(10), Stride{Irregular: true}), ref(trace.Store, symbol(10), Stride{Irregular: true})},
		"symbolic stride":  {ref(trace.Load, units(0), Stride{Formula: symbol(12)}), ref(trace.Store, units(8), Stride{Formula: symbol(12)})},
		"not in the graph": {{Size: 8, Kind: trace.Load}, ref(trace.Store, symbol(10), eight)},
	} {
		for _, pessimistic := range []bool{false, true} {
			got := body(slices.Clone(refs)).Dependences(0, 0, []int{0}, DependenceOptions{Pessimistic: pessimistic})
			between := 0
			for _, e := range got.Edges {
				if e.From != e.To {
					between++
				}
			}
			if got.Unknown == 0 || pessimistic && between != 2 || !pessimistic && between != 0 {
				t.Errorf("%s, pessimistic %t: unknown %d, edges %v", name, pessimistic, got.Unknown, got.Edges)
			}
		}
	}
}

// TestRegisterDependences names the dependences of a small loop: a recurrence
// through a0, a temporary that is renamed, and an invariant.
func TestRegisterDependences(t *testing.T) {
	f := assemble(t, `
.globl _start
_start:
1:	add a1, a0, a3
	addi a0, a0, 8
	add a1, a1, a0
	mv a4, a1
	li a1, 3
	add a5, a5, a1
	bnez a4, 1b
	ret`)
	a := Analyze(cfg.Analyze(f))
	r := a.Program.Routines[0]
	if len(r.Loops) != 1 {
		t.Fatalf("%d loops", len(r.Loops))
	}
	got := a.Dependences(0, 0, r.Loops[0].Blocks, DependenceOptions{})
	want := []Dependence{
		{From: 0, To: 2},
		{From: 1, To: 0, Distance: 1},
		{From: 1, To: 1, Distance: 1},
		{From: 1, To: 2},
		{From: 2, To: 3},
		{From: 3, To: 6},
		{From: 4, To: 5},
		{From: 5, To: 5, Distance: 1},
	}
	if !slices.Equal(got.Edges, want) {
		t.Errorf("got  %v\nwant %v", got.Edges, want)
	}
	once := a.Dependences(0, -1, r.Loops[0].Blocks, DependenceOptions{})
	for _, e := range once.Edges {
		if e.Distance != 0 {
			t.Errorf("a path that is no loop carries %v", e)
		}
	}
}

func TestGroups(t *testing.T) {
	base := func(r isa.Reg, c int64) Formula {
		f := Formula{[]Term{{Symbol: Symbol{Kind: Entry, Reg: r}, Num: 1, Den: 1}}}
		if c != 0 {
			f.terms = append([]Term{{Symbol: Symbol{Kind: Unit}, Num: c, Den: 1}}, f.terms...)
		}
		return f
	}
	in := func(loop int, first Formula, strides ...Stride) Reference {
		of := first.Terms()[len(first.Terms())-1].Symbol.Reg // addresses from one register stay a constant apart here
		return Reference{InGraph: true, Loop: loop, First: first, Strides: strides, Size: 8, Base: int(of)}
	}
	by := func(loop int, n int64) Stride { return Stride{Loop: loop, Formula: units(n)} }
	all := []Reference{
		0:  in(1, base(10, 0), by(1, 16), by(0, 0)),                       // A[i,k] in the unrolled loop 1 of loop 0
		1:  in(1, base(10, 8), by(1, 16), by(0, 0)),                       // A[i,k+1]
		2:  in(1, base(11, 0), by(1, 16), by(0, 8)),                       // another stride outside
		3:  in(2, base(10, 0), by(2, 8), by(0, 0)),                        // A in the remainder loop 2
		4:  in(2, base(11, 0), by(2, 24), by(0, 8)),                       // 16:24 is no integer ratio
		5:  in(3, base(10, 0), by(3, 8), by(0, 0)),                        // another loop of the source
		6:  in(1, base(12, 0), Stride{Loop: 1, Indirect: true}, by(0, 0)), // record.x
		7:  in(1, base(12, 8), Stride{Loop: 1, Indirect: true}, by(0, 0)), // record.y
		8:  in(1, base(13, 0), Stride{Loop: 1, Indirect: true}, by(0, 0)), // another array of records
		9:  in(-1, base(14, 0)),
		10: in(-1, base(14, 24)),
		11: in(-1, base(15, 0)),
		12: {},
		13: {},
		14: in(2, base(16, 0), by(2, 8), by(0, 16)), // in ratio to 2, but not in the loop around both
	}
	all[4].Stack = NotStack
	a := &Analysis{References: References{All: all}}
	same := func(_, l, o int) bool { return l == 1 && o == 2 || l == 2 && o == 1 }
	g := a.Groups(same)
	if got, want := fmt.Sprint(g.Of), "[0 0 1 2 3 4 5 5 6 7 7 8 9 10 11]"; got != want {
		t.Errorf("groups %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(g.Sets), "[[0 2] [1] [3] [4] [5] [6] [7] [8] [9] [10] [11]]"; got != want {
		t.Errorf("sets %s, want %s", got, want)
	}
	if apart := a.Groups(nil); len(apart.Sets) != len(apart.Refs) {
		t.Errorf("%d sets of %d groups without knowledge of the source", len(apart.Sets), len(apart.Refs))
	}
	for id, refs := range g.Refs {
		for _, r := range refs {
			if int(g.Of[r]) != id || !slices.Contains(g.Sets[g.Set[id]], id) {
				t.Errorf("reference %d of group %d is in %d", r, id, g.Of[r])
			}
		}
	}
}

func TestIntegerRatio(t *testing.T) {
	n := Symbol{Kind: Entry, Reg: 11}
	times := func(num, den int64) Formula { return Formula{[]Term{{Symbol: n, Num: num, Den: den}}} }
	for _, c := range []struct {
		f, g Formula
		want bool
	}{
		{units(16), units(8), true},
		{units(8), units(16), true},
		{units(24), units(16), false},
		{units(-8), units(8), true},
		{units(0), units(0), true},
		{units(0), units(8), false},
		{times(32, 1), times(8, 1), true},
		{times(8, 3), times(8, 1), true},
		{times(8, 1), units(8), false},
		{times(2, 3), times(1, 1), false},
	} {
		if got := integerRatio(c.f, c.g); got != c.want {
			t.Errorf("%v to %v: %v", c.f, c.g, got)
		}
	}
}
