package cfg

import (
	"math/rand/v2"
	"slices"
	"testing"

	"presage/perf/isa"
	"presage/perf/objfile"
)

// TestFold compares with the transitive closure of overlapping, loop by loop.
func TestFold(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 2000 {
		n := 1 + rng.IntN(9)
		src := &routineSource{r: &Routine{Loops: make([]Loop, n)}, loops: make([]loopSource, n)}
		all := make([]int, n)
		same := make([][]bool, n)
		for i := range n {
			all[i], same[i] = i, make([]bool, n)
			src.r.Loops[i].Header = rng.IntN(4)*10 + i
			if rng.IntN(5) > 0 {
				first := 1 + rng.IntN(30)
				src.loops[i] = loopSource{source: Source{[]string{"a.c", "b.c"}[rng.IntN(2)], first, first + rng.IntN(8)}, context: contextID(rng.IntN(2))}
			}
		}
		for i := range n {
			for j := range n {
				a, b := src.loops[i], src.loops[j]
				common := 0
				for l := 1; l < 50; l++ {
					if a.source.First > 0 && a.source.First <= l && l <= a.source.Last && b.source.First <= l && l <= b.source.Last {
						common++
					}
				}
				same[i][j] = i == j || common > 0 && a.source.File == b.source.File && a.context == b.context
			}
		}
		for k := range n { // Warshall
			for i := range n {
				for j := range n {
					same[i][j] = same[i][j] || same[i][k] && same[k][j]
				}
			}
		}
		groups := src.fold(all)
		of := make([]int, n)
		seen := 0
		for g, group := range groups {
			if !slices.IsSorted(group) || len(group) == 0 {
				t.Fatalf("group %v", group)
			}
			for _, l := range group {
				of[l] = g
				seen++
			}
		}
		for i := range n {
			for j := range n {
				if (of[i] == of[j]) != same[i][j] || seen != n {
					t.Fatalf("loops %d and %d: %+v in groups %v, want together %v", i, j, src.loops, groups, same[i][j])
				}
			}
		}
	}
}

// TestStrayLines demands that single instructions with stray lines do not widen a
// loop. The routine has a loop of lines 5 and 6 with strays of line 9 after it,
// of the declaration in line 3, and of an inlined routine.
func TestStrayLines(t *testing.T) {
	line := func(n int) objfile.Line { return objfile.Line{File: "a.c", Line: n} }
	src := &routineSource{
		r:        &Routine{Name: "f", Loops: make([]Loop, 1)},
		contexts: []sourceContext{{}, {inlinedCall{objfile.Inline{Routine: "g", File: "a.c", Line: 6}, 0}, 1}},
		places: []codeOrigin{
			{line: line(3)}, {line: line(5)}, {line: line(6)}, {line: line(9)}, {line: line(40), context: 1}, {line: line(40)},
		},
		blocks: [][]originCount{
			{{0, 1}, {5, 0}},
			{{0, 5}, {1, 2}, {2, 3}, {3, 1}, {4, 4}, {5, 1}},
			{{3, 6}},
		},
		entry: line(3), declared: true,
	}
	src.countLines()
	if got, want := src.lines([]int{1}, []int{0}, 0), (Source{"a.c", 5, 6}); got != want {
		t.Errorf("lines %v, want %v", got, want)
	}
	if got, want := src.lines([]int{0, 1, 2}, nil, 0), (Source{"a.c", 3, 9}); got != want {
		t.Errorf("routine's lines %v, want %v", got, want)
	}
}

// TestLoopOfCaller demands that a loop belongs to the routine that most of its
// instructions belong to, even if the jump back to its header is in an inlined
// call; and to the inlined routine if just one instruction of the caller has
// strayed in.
func TestLoopOfCaller(t *testing.T) {
	call := objfile.Inline{Routine: "more", File: "a.c", Line: 5}
	for _, c := range []struct {
		own, inlined int // instructions
		context      contextID
		source       Source
	}{
		{own: 6, inlined: 3, context: 0, source: Source{"a.c", 5, 6}},
		{own: 1, inlined: 12, context: 1, source: Source{"a.c", 40, 40}},
		{own: 0, inlined: 2, context: 1, source: Source{"a.c", 40, 40}},
	} {
		r := &Routine{
			Name:   "f",
			Blocks: []Block{{Insts: []isa.Inst{{PC: 0, Len: 4}, {PC: 4, Len: 4, Class: isa.Branch}}, Succs: []int{0}}},
			Edges:  []Edge{{0, 0, Taken}},
			Loops:  []Loop{{Blocks: []int{0}, Parent: -1, Back: []int{0}}},
		}
		src := &routineSource{
			r:        r,
			contexts: []sourceContext{{}, {inlinedCall{call, 0}, 1}},
			places: []codeOrigin{
				{from: 0, to: 4, line: objfile.Line{File: "a.c", Line: 6}},
				{from: 4, to: 8, line: objfile.Line{File: "a.c", Line: 40}, context: 1},
			},
			blocks: [][]originCount{{{0, c.own}, {1, c.inlined}}},
		}
		src.countLines()
		if got := src.loop(0); got.context != c.context || got.source != c.source {
			t.Errorf("%d instructions of the caller, %d of the inlined call: %+v", c.own, c.inlined, got)
		}
	}
}
