package replay

import (
	"testing"

	"presage/perf/allocation"
)

// TestCertifiedMemoryIsThatOfRuns replays kernels that give memory back and ask for more. What
// is certified is what the program does; where a model of malloc places what follows on an
// allocation that data decide about is not.
func TestCertifiedMemoryIsThatOfRuns(t *testing.T) {
	for _, c := range []struct {
		flags     string
		train, at []int64
		certified bool
	}{
		{"-O2 -DTEMPORARY", []int64{18, 24, 31, 40, 52, 66}, []int64{97, 150}, true}, // from brk to mmap
		{"-O2 -DKEEPS", []int64{31, 40, 52, 66, 78, 85, 97}, []int64{130, 151, 190}, false},
	} {
		t.Run(c.flags, func(t *testing.T) {
			prog := compile(t, c.flags)
			code := codeOf(t, prog)
			layout, err := prog.Layout()
			if err != nil {
				t.Fatal(err)
			}
			code.FollowAllocations(allocation.Plan(prog.File), layout.Mappings.Hi)
			m := learn(t, prog, code, c.train...)
			for _, n := range c.at {
				got, certificate := replayed(t, m, prog, n, early)
				want, collectors := newTally(t, code.Plan)
				execute(t, t.Context(), prog, code, n, collectors...)
				checkCertified(t, n, prog, code.Plan, certificate, got, want)
				if s := certificate.Of(refsOf(prog, "kernel")...); s.Certified() != c.certified {
					t.Errorf("n=%d: certified %v, %d doubtful of %d: %q", n, s.Certified(), s.Doubtful, s.Accesses, s.Reasons)
				}
			}
		})
	}
}
