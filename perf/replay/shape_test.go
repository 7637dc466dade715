package replay

import (
	"strings"
	"testing"

	"presage/perf/subject"
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
