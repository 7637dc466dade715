package sched

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"presage/perf/cfg"
)

// randomProgram returns the graphs of code with branches to random places in it.
func randomProgram(t *testing.T, rnd *rand.Rand) *cfg.Program {
	t.Helper()
	n := 4 + rnd.IntN(60)
	code := make([]uint32, n)
	for i := range code {
		switch to := 4 * (rnd.IntN(n) - i); {
		case rnd.IntN(8) == 0:
			code[i] = jal(to)
		case rnd.IntN(2) == 0:
			code[i] = beq(10+rnd.IntN(4), 10+rnd.IntN(4), to)
		default:
			code[i] = addi(10, 10, 1)
		}
	}
	code[n-1] = ret
	return cfg.Analyze(image(t, code))
}

// walker walks through a routine at random and counts.
type walker struct {
	*rand.Rand
	r      *cfg.Routine
	counts cfg.RoutineCounts
	steps  int
}

func (w *walker) walk() {
	b := w.r.Entries[w.IntN(len(w.r.Entries))]
	for {
		w.counts.Blocks[b]++
		w.steps++
		succs := w.r.Blocks[b].Succs
		if len(succs) == 0 || w.steps%1000 == 0 {
			return
		}
		e := succs[0]
		if w.IntN(3) > 0 {
			e = succs[w.IntN(len(succs))]
		}
		w.counts.Edges[e]++
		b = w.r.Edges[e].To
	}
}

func randomCounts(rnd *rand.Rand, p *cfg.Program) *cfg.Counts {
	c := new(cfg.Counts)
	for _, r := range p.Routines {
		w := walker{Rand: rnd, r: r, counts: cfg.RoutineCounts{Blocks: make([]uint64, len(r.Blocks)), Edges: make([]uint64, len(r.Edges))}}
		for range rnd.IntN(20) {
			w.walk()
		}
		c.Routines = append(c.Routines, w.counts)
	}
	return c
}

// checkPaths checks the invariants of the paths of a routine.
func checkPaths(t *testing.T, r *cfg.Routine, f *RoutineFrequencies, paths []Path, tolerance float64) {
	t.Helper()
	blocks := make([]float64, len(r.Blocks))
	ended := make(map[[2]int]float64) // by level and edge: an edge may leave several loops
	for i := range paths {
		p := &paths[i]
		if p.End == Partial {
			continue
		}
		if !(p.Frequency > 0) {
			t.Errorf("%s: %+v has no frequency", r.Name, p)
		}
		for _, b := range p.Blocks() {
			if r.Blocks[b].Loop != p.Loop {
				t.Errorf("%s: %+v holds block %d of loop %d", r.Name, p, b, r.Blocks[b].Loop)
			}
			blocks[b] += p.Frequency
		}
		if p.Edge >= 0 {
			ended[[2]int{p.Loop, p.Edge}] += p.Frequency
			closes := p.Loop >= 0 && slices.Contains(r.Loops[p.Loop].Back, p.Edge)
			if closes != (p.End == Closes) {
				t.Errorf("%s: %+v %v with edge %d", r.Name, p, p.End, p.Edge)
			}
		}
	}
	for b, n := range f.Blocks {
		if math.Abs(blocks[b]-n) > tolerance*n {
			t.Errorf("%s: paths execute block %d %v times, not %v", r.Name, b, blocks[b], n)
		}
	}
	for at, n := range ended {
		if e := at[1]; n > f.Edges[e]*(1+tolerance) {
			t.Errorf("%s: %v paths of loop %d end with edge %d, which is taken %v times", r.Name, n, at[0], e, f.Edges[e])
		}
	}
	connected(t, r, paths)
}

// connected demands that an edge leads from each node of a path to the next.
func connected(t *testing.T, r *cfg.Routine, paths []Path) {
	t.Helper()
	in := func(n Node, b int) bool { return n.Block == b || n.Loop >= 0 && r.Contains(n.Loop, b) }
	for i := range paths {
		for k := 1; k < len(paths[i].Nodes); k++ {
			from, to := paths[i].Nodes[k-1], paths[i].Nodes[k]
			if !slices.ContainsFunc(r.Edges, func(e cfg.Edge) bool { return in(from, e.From) && in(to, e.To) }) {
				t.Errorf("%s: no edge from %v to %v of %+v", r.Name, from, to, paths[i])
			}
		}
	}
}

// TestPathsOfRandomGraphs demands that paths account for all of a conserved flow,
// block by block and back edge by back edge, with no remains; with few paths
// allowed, or without conservation, the sums for blocks must still hold.
func TestPathsOfRandomGraphs(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	nested, closing := 0, 0
	for range 1000 {
		p := randomProgram(t, rnd)
		f := Counted(randomCounts(rnd, p))
		for i, r := range p.Routines {
			paths := Paths(r, i, &f.Routines[i], PathOptions{MaxPaths: 1 << 20})
			checkPaths(t, r, &f.Routines[i], paths, 0)
			back := make([]float64, len(r.Edges))
			for k := range paths {
				if paths[k].End == Remains {
					t.Errorf("%s: remains %+v", r.Name, paths[k])
				}
				if paths[k].End == Closes {
					back[paths[k].Edge] += paths[k].Frequency
					closing++
				}
			}
			for l := range r.Loops {
				nested = max(nested, r.Loops[l].Depth)
				for _, e := range r.Loops[l].Back {
					if back[e] != f.Routines[i].Edges[e] {
						t.Errorf("%s: %v paths close with edge %d, which is taken %v times", r.Name, back[e], e, f.Routines[i].Edges[e])
					}
				}
			}
			checkPaths(t, r, &f.Routines[i], Paths(r, i, &f.Routines[i], PathOptions{MaxPaths: 1}), 0)
			for e := range f.Routines[i].Edges {
				f.Routines[i].Edges[e] *= rnd.Float64() * 1.5
			}
			checkPaths(t, r, &f.Routines[i], Paths(r, i, &f.Routines[i], PathOptions{}), 1e-9)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	if nested < 4 || closing < 1000 {
		t.Errorf("loops nested %d deep, %d closing paths: the graphs are too simple", nested, closing)
	}
}

// TestPathsOfANest writes down the paths of a small nest:
//
//	 0: addi            entry
//	 4: addi            header of the outer loop
//	 8: addi            inner loop: header
//	 c: beq → 14        its then-part is skipped
//	10: addi
//	14: beq → 8         back to the inner header
//	18: beq → 4         back to the outer header
//	1c: ret
func TestPathsOfANest(t *testing.T) {
	a := addi(10, 10, 1)
	p := cfg.Analyze(image(t, []uint32{a, a, a, beq(10, 11, 8), a, beq(10, 12, -12), beq(10, 13, -20), ret}))
	r := p.Routines[0]
	at := func(pc uint64) int {
		b, i := r.BlockAt(base + pc)
		if i != 0 {
			t.Fatalf("no block at %#x", pc)
		}
		return b
	}
	f := RoutineFrequencies{Blocks: make([]float64, len(r.Blocks)), Edges: make([]float64, len(r.Edges))}
	// 2 calls, 6 outer iterations, 30 inner ones of which 20 skip.
	for pc, n := range map[uint64]float64{0: 2, 4: 6, 8: 30, 0x10: 10, 0x14: 30, 0x18: 6, 0x1c: 2} {
		f.Blocks[at(pc)] = n
	}
	for pair, n := range map[[2]uint64]float64{{0, 4}: 2, {4, 8}: 6, {8, 0x10}: 10, {8, 0x14}: 20, {0x10, 0x14}: 10, {0x14, 8}: 24, {0x14, 0x18}: 6, {0x18, 4}: 4, {0x18, 0x1c}: 2} {
		e := slices.IndexFunc(r.Edges, func(e cfg.Edge) bool { return e.From == at(pair[0]) && e.To == at(pair[1]) })
		f.Edges[e] = n
	}
	type row struct {
		loop   int
		blocks string
		end    End
		n      float64
	}
	var got []row
	for _, q := range Paths(r, 0, &f, PathOptions{}) {
		text := ""
		for _, n := range q.Nodes {
			if n.Loop >= 0 {
				text += "L"
				continue
			}
			text += string(rune('a' + (r.Blocks[n.Block].PC()-base)/4))
		}
		got = append(got, row{q.Loop, text, q.End, q.Frequency})
	}
	want := []row{
		{1, "cf", Closes, 20},
		{1, "cef", Leaves, 6},
		{1, "cef", Closes, 4},
		{0, "bLg", Closes, 4},
		{0, "bLg", Leaves, 2},
		{-1, "aLh", Ends, 2},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if n := Paths(r, 0, &f, PathOptions{})[1].Instructions(r); n != 4 {
		t.Errorf("cef has %d instructions, want 4", n)
	}
}

func TestPathsRefuse(t *testing.T) {
	p := cfg.Analyze(image(t, []uint32{addi(10, 10, 1), ret}))
	for name, f := range map[string]*Frequencies{
		"no routines":  {},
		"no blocks":    {Routines: make([]RoutineFrequencies, 1)},
		"not a number": {Routines: []RoutineFrequencies{{Blocks: []float64{math.NaN()}}}},
		"negative":     {Routines: []RoutineFrequencies{{Blocks: []float64{-1}}}},
		"no such step": {Routines: []RoutineFrequencies{{Blocks: []float64{1}, Steps: []Step{{0, 2, 1}}}}},
	} {
		if f.check(p) == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	good := &Frequencies{Routines: []RoutineFrequencies{{Blocks: []float64{3}, Steps: []Step{{0, 1, -1}}}}}
	if err := good.check(p); err != nil {
		t.Error(err)
	}
	paths := Paths(p.Routines[0], 0, &good.Routines[0], PathOptions{})
	if len(paths) != 2 || paths[1].End != Partial || paths[1].Frequency != -1 || paths[1].Instructions(p.Routines[0]) != 1 {
		t.Errorf("a step gives %+v", paths)
	}
}

func TestFromEdges(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	for range 100 {
		p := randomProgram(t, rnd)
		c := randomCounts(rnd, p)
		for i, r := range p.Routines {
			want := Counted(c).Routines[i]
			entries := make([]float64, len(r.Entries))
			for k, b := range r.Entries {
				entries[k] = want.Blocks[b]
				for _, e := range r.Blocks[b].Preds {
					entries[k] -= want.Edges[e]
				}
			}
			if got := FromEdges(r, want.Edges, entries); !slices.Equal(got.Blocks, want.Blocks) {
				t.Fatalf("got %v, want %v", got.Blocks, want.Blocks)
			}
		}
	}
}
