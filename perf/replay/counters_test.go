package replay

import (
	"testing"

	"presage/perf/trace"
)

// TestAskedAgain: where a branch cannot go as it has been asked before, it went in no run, and
// where only small sizes have it that way, it is not said.
func TestAskedAgain(t *testing.T) {
	for _, c := range []struct {
		flags string
		least int // ways that are found
	}{
		{"-O2 -DDIAGONAL", 2},
		{"-O1 -DDIAGONAL -DNEARLY", 0},
		{"-O2 -DDIAGONAL -DNEARLY", 0},
		{"-O2 -DCLAMPED", 0},
		{"-O2 -DVANISHES", 0},
		{"-O2 -DTILES", 0},
		{"-O3 -DJAMMED", 0},
	} {
		t.Run(c.flags, func(t *testing.T) {
			prog := compile(t, c.flags)
			m := learn(t, prog, codeOf(t, prog), 16, 20, 26, 32, 90, 99)
			if _, err := m.At(t.Context(), 120); err != nil {
				t.Fatal(err)
			}
			w := newWays(m.code, m.all)
			found := 0
			for i := range m.all.Places {
				p := &m.all.Places[i]
				b := &m.code.blocks[p.Block]
				r := m.code.graph.Routines[b.routine]
				for _, e := range r.Blocks[b.index].Succs {
					to := r.Edges[e].To
					if !p.Forks || !w.again(int32(i), to) {
						continue
					}
					found++
					if p.way(m.code.blockAt(r.Blocks[to].PC())) >= 0 {
						t.Errorf("from %#x to %#x: it cannot, and it did", r.Blocks[b.index].PC(), r.Blocks[to].PC())
					}
				}
			}
			if found < c.least {
				t.Errorf("%d ways are found, want %d at least", found, c.least)
			}
		})
	}
}

// TestSeldomInTheStart: what is replayed between two executions of a branch of which some way
// was seldom gone comes after it, wherever the start of the run ends.
func TestSeldomInTheStart(t *testing.T) {
	prog := compile(t, "-O2 -DSEEN")
	m := learn(t, prog, codeOf(t, prog), 20, 24, 25, 27, 30, 33, 36, 38, 39, 46, 47, 55)
	const n = 101
	want, collectors := newTally(t, m.code.Plan)
	execute(t, t.Context(), prog, m.code, n, collectors...)
	for accesses := uint64(2*n*n + 24); accesses <= 2*n*n+192; accesses += 24 {
		got, certificate := replayed(t, m, prog, n, FollowOptions{MinAccesses: accesses})
		for i := range m.code.Plan.Refs {
			if certificate.Of(trace.RefID(i)).Certified() && (got.accesses[i] != want.accesses[i] || got.hashes[i] != want.hashes[i]) {
				t.Errorf("start of %d accesses: reference %d is certified, with %d accesses and not %d, or others", accesses, i, got.accesses[i], want.accesses[i])
			}
		}
	}
}
