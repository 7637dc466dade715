package replay

import (
	"math"
	"slices"
	"testing"

	"presage/perf/cfg"
)

// TestLoopsOfSeveralEntries replays a loop that control enters on either of two ways, as
// data decide, since its test stands at the end of both. Its index counts passes through
// the test, so that all addresses are functions of it: only how often each way is gone is
// drawn.
func TestLoopsOfSeveralEntries(t *testing.T) {
	prog := compile(t, "-O1 -DGATES")
	if !slices.ContainsFunc(prog.Structure().Graph.Routines, func(r *cfg.Routine) bool {
		return slices.ContainsFunc(r.Loops, func(l cfg.Loop) bool { return l.Irreducible })
	}) {
		t.Fatal("the compiler made no loop of several entries")
	}
	const n = 64
	m := learn(t, prog, codeOf(t, prog), 15, 18, 21, 24, 28, 31, 34)
	got, certificate := replayed(t, m, prog, n, early)
	want, collectors := newTally(t, m.code.Plan)
	execute(t, t.Context(), prog, m.code, n, collectors...)
	checkCertified(t, n, prog, m.code.Plan, certificate, got, want)
	near := func(what string, got, want uint64, within float64) {
		t.Helper()
		if want >= 1000 && math.Abs(float64(got)/float64(want)-1) > within {
			t.Errorf("%s: %d replayed, %d in the run", what, got, want)
		}
	}
	for _, r := range refsOf(prog, "kernel") {
		near(prog.References()[r].String(), got.accesses[r], want.accesses[r], 0.05)
	}
	for k := range hierarchies() {
		a, b := got.sims[k].Result(), want.sims[k].Result()
		for l := range a.Levels {
			near(a.Levels[l].Name, a.Levels[l].Total.Misses, b.Levels[l].Total.Misses, 0.1) // the rarer way is gone in clusters
		}
	}
}
