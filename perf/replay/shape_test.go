package replay

import (
	"strings"
	"testing"

	"presage/perf/subject"
	"presage/perf/trace"
)

// TestExecutablesOfOtherLayouts tests that runs of executables are joined whose compilers
// put blocks in another order, and pass on from one to another: what is learned from
// several of these is the program's trace at a size that none was run at.
func TestExecutablesOfOtherLayouts(t *testing.T) {
	passed := 0 // places that only pass on
	for _, c := range []struct {
		flags     string
		certified float64 // share of the kernel's accesses, at least
	}{
		{"-O2 -DBAND", 1}, {"-O2 -DDIAGONALS", 0.9999}, {"-O2 -DSEARCH", 0.6},
	} {
		t.Run(c.flags, func(t *testing.T) {
			sizes := []int64{15, 18, 21, 24, 28, 31, 34}
			progs := []*subject.Program{compile(t, c.flags), compile(t, c.flags+" -fno-reorder-blocks")}
			codes := []*Code{codeOf(t, progs[0]), codeOf(t, progs[1])}
			var runs []*Run
			for i, n := range sizes {
				run := learnOne(t, progs[i%2], codes[i%2], n, new(Hints))
				for _, p := range run.Places {
					if codes[i%2].passesOn(p.Block) != p.Block {
						passed++
					}
				}
				run, err := codes[0].Translate(run, codes[i%2])
				if err != nil {
					t.Fatal(err)
				}
				runs = append(runs, run)
			}
			m, err := NewModel(codes[0], sizes, runs)
			if err != nil {
				t.Fatal(err)
			}
			const n = 97
			if err := m.BuiltFor(n, nil); err != nil {
				t.Fatal(err)
			}
			got, certificate := replayed(t, m, progs[0], n, early)
			want, collectors := newTally(t, codes[0].Plan)
			execute(t, t.Context(), progs[0], codes[0], n, collectors...)
			if checkCertified(t, n, progs[0], codes[0].Plan, certificate, got, want) == 0 {
				t.Error("no misses were compared")
			}
			if s := certificate.Of(refsOf(progs[0], "kernel")...); float64(s.Accesses-s.Doubtful) < c.certified*float64(s.Accesses) {
				t.Errorf("%d of %d accesses are in doubt: %q", s.Doubtful, s.Accesses, s.Reasons)
			}
		})
	}
	if passed == 0 {
		t.Error("no block only passes on: the test wants some")
	}
}

// TestExecutablesOfOtherLoops tests that executables are not joined of which one has a
// branch more, and that it is said where.
func TestExecutablesOfOtherLoops(t *testing.T) {
	prog, other := compile(t, "-O2 -DREDBLACK"), compile(t, "-O2 -DREDBLACK -fno-reorder-blocks")
	code, otherCode := codeOf(t, prog), codeOf(t, other)
	_, err := code.Translate(learnOne(t, other, otherCode, 20, new(Hints)), otherCode)
	if err == nil || !strings.Contains(err.Error(), "kernel has other blocks or loops in one executable than in another, from line ") {
		t.Errorf("error %v", err)
	}
}

// TestSpillsAreNoReferencesOfTheSource tests that registers that one executable keeps in
// memory, between references to arrays, do not pass for such references of another.
func TestSpillsAreNoReferencesOfTheSource(t *testing.T) {
	const (
		flags = "-O2 -DPLANES -fno-schedule-insns -fno-schedule-insns2"
		few   = " -ffixed-fs0 -ffixed-fs1 -ffixed-fs2 -ffixed-fs3 -ffixed-fs4 -ffixed-fs5 -ffixed-fs6 -ffixed-fs7 -ffixed-fs8 -ffixed-fs9 -ffixed-fs10 -ffixed-fs11" +
			" -ffixed-ft0 -ffixed-ft1 -ffixed-ft2 -ffixed-ft3 -ffixed-ft4 -ffixed-ft5 -ffixed-ft6 -ffixed-ft7 -ffixed-ft8 -ffixed-ft9 -ffixed-ft10 -ffixed-ft11"
		n = 20
	)
	prog, other := compile(t, flags), compile(t, flags+few)
	code, otherCode := codeOf(t, prog), codeOf(t, other)
	own := learnOne(t, prog, code, n, new(Hints))
	run, err := code.Translate(learnOne(t, other, otherCode, n, new(Hints)), otherCode)
	if err != nil {
		t.Fatal(err)
	}
	at := make(map[trace.BlockID]*RunPlace)
	for i := range run.Places {
		at[run.Places[i].Block] = &run.Places[i]
	}
	arrays := make(map[uint64]int) // how far apart references are in both, which is how far their arrays are
	for i := range own.Places {
		p := &own.Places[i]
		if code.routine(p.Block) != "kernel" || p.Count < n*n {
			continue
		}
		for j, spill := range code.spills(&code.blocks[p.Block]) {
			if r := &at[p.Block].Refs[j]; !spill && r.Lo <= r.Hi {
				arrays[r.Lo-p.Refs[j].Lo]++
			}
		}
	}
	spills := 0
	for i := range otherCode.blocks {
		if b := &otherCode.blocks[i]; otherCode.routine(trace.BlockID(i)) == "kernel" && len(b.chain) > 0 {
			for _, spill := range otherCode.spills(b) {
				if spill {
					spills++
				}
			}
		}
	}
	if spills == 0 {
		t.Fatal("no register is kept in memory: the test wants some")
	}
	if len(arrays) != 1 {
		t.Errorf("references have these distances from those that they pass for: %v", arrays)
	}
	for _, n := range arrays {
		if n != 12 {
			t.Errorf("%d of 12 references are found", n)
		}
	}
}
