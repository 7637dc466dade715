package replay

import (
	"math"
	"testing"

	"presage/perf/cache"
	"presage/perf/trace"
)

// TestIrregularAddressesKeepWhatIsRegular tests that rows that data choose are replayed
// as rows, in the data that they are of, and not as addresses from anywhere: the misses of
// a factorisation with pivoting come out about right, though nothing certifies them all.
func TestIrregularAddressesKeepWhatIsRegular(t *testing.T) {
	const tolerated = 0.05 // which rows are drawn is chance; drawn by element, caches are 20% off and more
	prog := compile(t, "-O2 -DPIVOT -DHEAP")
	m := learn(t, prog, codeOf(t, prog), 15, 18, 21, 24, 28, 31, 34)
	checkBases(t, m)
	const n = 130 // data come from mmap, and from brk before
	got, _ := replayed(t, m, prog, n, early)
	want, collectors := newTally(t, m.code.Plan)
	execute(t, t.Context(), prog, m.code, n, collectors...)
	for k := range got.sims {
		a, b := got.sims[k].Result(), want.sims[k].Result()
		check := func(a, b cache.LevelResult) {
			got, want := float64(a.Total.Misses), float64(b.Total.Misses)
			t.Logf("%d %s: %g misses, %g in the run", k, a.Name, got, want)
			if math.Abs(got-want) > tolerated*want {
				t.Errorf("hierarchy %d, %s: %g misses replayed, %g in the run", k, a.Name, got, want)
			}
		}
		for l := range a.Levels {
			check(a.Levels[l], b.Levels[l])
		}
		for l := range a.TLBs {
			check(a.TLBs[l], b.TLBs[l])
		}
	}
}

// checkBases tests that the irregular references of the kernel go to data that regular ones
// go to.
func checkBases(t *testing.T, m *Model) {
	t.Helper()
	if _, err := m.At(t.Context(), 34); err != nil { // fits
		t.Fatal(err)
	}
	regular := make(map[int32]bool)
	var irregular []int32
	for _, p := range m.all.Places {
		for _, r := range p.Refs {
			if !r.Irregular {
				regular[r.Base] = true
			} else if m.code.routine(p.Block) == "kernel" {
				irregular = append(irregular, r.Base)
			}
		}
	}
	if len(irregular) == 0 {
		t.Error("no reference is irregular")
	}
	for _, b := range irregular {
		if !regular[b] {
			t.Errorf("an irregular reference has base %d for itself: %+v", b, m.all.Bases[b])
		}
	}
}

// TestDrifts tests what is found of addresses in two loops that are regular within the
// inner one, or at its start.
func TestDrifts(t *testing.T) {
	rows := []int64{7, 3, 11, 2, 13, 5}
	strided, started := drift{level: 1}, drift{level: 1}
	for i, row := range rows {
		for j := range int64(5) {
			v, stamps := []int64{int64(i), j}, []uint64{uint64(i + 1), uint64(10*i) + uint64(j)}
			strided.add(v, stamps, 1000*row+16*j)
			started.add(v, stamps, 500+40*int64(i)+8*(j*row%4))
		}
	}
	s := strided.result()
	if len(s.Start.Coef) > 0 || len(s.Steps.Coef) != 2 || s.Steps.Coef[1] != 16*scale || s.Least != 2000 || s.Most != 13000 {
		t.Errorf("steps of 16 from 6 first addresses are taken for %+v", s)
	}
	s = started.result()
	if len(s.Steps.Coef) > 0 || len(s.Start.Coef) != 2 || s.Start.Coef[0] != 500*scale || s.Start.Coef[1] != 40*scale || s.Lo != 0 || s.Hi != 24 {
		t.Errorf("first addresses at 500+40·i, up to 24 bytes away, are taken for %+v", s)
	}
}

// TestUnknownBoundsAreNotExtrapolated tests that a branch whose bound one run alone has
// shown is drawn at other sizes, by the frequencies of the largest run, unless it ends a
// loop.
func TestUnknownBoundsAreNotExtrapolated(t *testing.T) {
	code := &Code{Plan: &trace.Plan{Blocks: []trace.Block{{}, {}, {}}}, blocks: make([]block, 3)}
	prog := &Program{
		Sizes: []int64{40, 50, 60},
		Places: []Place{{
			Depth: 1, Next: []Next{{Block: 1, To: 1, Keep: 1}, {Block: 2, To: 2, Keep: 1}}, Chances: []float64{0.25, 0.75},
			Branch: &Branch{Classes: []Outcomes{{Shape: []int32{0, 1}, Bounds: []Bound{{Pieces: []Affine{{0}}}}}}},
		}, {}, {}},
		Series: []Series{{Sizes: []int64{50}, Values: []int64{7 * scale}}},
	}
	for _, c := range []struct {
		n    int64
		more bool // the first way goes on with the loop
		want choice
	}{{50, false, bounds}, {70, false, chance}, {70, true, bounds}} {
		prog.Places[0].Next[0].More = c.more
		in := &Instance{N: c.n, code: code, prog: prog, values: []Value{prog.Series[0].At(c.n)}}
		in.build()
		if got := in.places[0].choice; got != c.want {
			t.Errorf("n=%d, more %v: choice %d, want %d", c.n, c.more, got, c.want)
		}
	}
}

// TestLoopsInDoubtEnd tests that a loop which goes on for ever, by a bound in doubt, is left
// by how often runs left it, once it was executed far more often than in the runs: whatever
// is fitted to its executions, where that is no function of the size.
func TestLoopsInDoubtEnd(t *testing.T) {
	code := &Code{Plan: &trace.Plan{Blocks: []trace.Block{{}, {}}}, blocks: make([]block, 2)}
	one := func(values ...int64) Series { return Series{Sizes: []int64{40, 50, 60}, Values: values} }
	for _, counts := range []Series{one(11, 7, 9), one(11, -5_000_000, 9)} {
		prog := &Program{
			Sizes: []int64{40, 50, 60},
			Places: []Place{{
				Depth: 1, Next: []Next{{Block: 1, To: 1}, {Block: 0, To: 0, Keep: 1, More: true}}, Chances: []float64{0.1, 0.9}, Counts: 1, Most: 11, Least: 7,
				// The first way up to -1, and then the loop's.
				Branch: &Branch{Classes: []Outcomes{{Shape: []int32{0, 1}, Bounds: []Bound{{Pieces: []Affine{{0, 2}}}}}}},
			}, {Block: 1, Next: []Next{{Block: noBlock, To: -1}}, Counts: 1}},
			Series: []Series{one(-scale, -scale, -scale), counts, one(0, 0, 0)},
		}
		in := &Instance{N: 70, code: code, prog: prog, doubts: make([]doubt, 2), gaps: make([]gap, 2)}
		for i := range prog.Series {
			in.values = append(in.values, prog.Series[i].At(in.N))
		}
		in.build()
		in.start.vector = make([]int64, 1, 2)
		out, err := in.Replay(t.Context(), trace.NewDirect(), Options{MaxAccesses: 1})
		if err != nil {
			t.Fatal(err)
		}
		if n := out.Visits[0]; n < 4*11 || n > 4*4*11 || out.Visits[1] != 1 {
			t.Errorf("%v (%d at %d): the loop was executed %d times, what follows %d times", counts.Values, in.values[1].At, in.N, n, out.Visits[1])
		}
	}
}
