package misses

import (
	"math"
	"slices"
	"strings"
	"testing"

	"presage/perf/cache"
	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/locality"
	"presage/perf/store"
	"presage/perf/subject"
)

// TestForetellCollisions: conflicts are those that runs have in common, either where as large
// a part of the data is held or in the same cache, and none where they do not foretell each
// other; beyond both models, as few as these two ways say. What other predictions say contains no conflicts, and those of single runs.
func TestForetellCollisions(t *testing.T) {
	at := &collisions{full: []float64{4000, 100}, chance: []float64{8000, 900}, accesses: []float64{40_000, 1000}}
	own := []float64{2, 3, 4} // by which power of two a level of each run has fewer sets
	// Each gives the first group's misses in a run in a level of fewer sets, in which a fully
	// associative one has 1000, and 1500 by the binomial formula.
	for _, test := range []struct {
		name string
		real func(run int, shift float64) float64
		want float64 // missing: no conflicts are predicted
	}{
		{"none", func(int, float64) float64 { return 1000 }, math.NaN()},
		{"half of the way, where as much is held", func(run int, shift float64) float64 { return 1250 + 100*(shift-own[run]) }, 2000},
		{"half of the way, in the same cache", func(_ int, shift float64) float64 { return 1250 + 75*shift }, 2000},
		{"half of the way, everywhere", func(int, float64) float64 { return 1250 }, 2000},
		{"beyond both, where as much is held", func(run int, shift float64) float64 { return 2500 + 300*(shift-own[run]) }, 4000 + 4000.0/6},
		{"beyond both, everywhere", func(int, float64) float64 { return 2500 }, 8000},
		{"beyond both in smaller caches alone", func(_ int, shift float64) float64 { return 1000 + 800*shift }, 0},
		{"fewer than either", func(int, float64) float64 { return 500 }, -2000},
		{"beyond both, as the runs do not agree", func(run int, _ float64) float64 { return []float64{2500, 4000, 7500}[run] }, math.NaN()},
		{"in one run only", func(run int, _ float64) float64 { return 1000 + 500*float64(run%2) }, math.NaN()},
	} {
		seen := &seenCollisions{}
		for run := range own {
			in := func(shift float64) *collisions {
				// The second group is known otherwise, and does not decide.
				return &collisions{real: []float64{test.real(run, shift), float64(5000 * run)}, full: []float64{1000, 100}, chance: []float64{1500, 200}, accesses: []float64{10_000, 6000}}
			}
			seen.like, seen.whole = append(seen.like, []*collisions{in(own[0]), in(own[1]), in(own[2])}), append(seen.whole, in(0))
		}
		got := seen.foretell(at, []bool{true, false})
		switch {
		case got == nil && !math.IsNaN(test.want):
			t.Errorf("%s: no conflicts, want %g more misses", test.name, test.want)
		case got != nil && !(math.Abs(got.more[0]-test.want) < 1e-6*math.Max(1, math.Abs(test.want))):
			t.Errorf("%s: %g more misses, want %g", test.name, got.more[0], test.want)
		case got != nil && !slices.ContainsFunc(got.others, func(more []float64) bool { return more[0] == 0 }):
			t.Errorf("%s: no other prediction has no conflicts: %v", test.name, got.others)
		case got != nil && len(got.others) < 1+likeRuns:
			t.Errorf("%s: %d other predictions, want those of %d runs and more", test.name, len(got.others), likeRuns)
		}
	}
}

// TestSmaller: a hierarchy has a fraction of the sets, each as large as before.
func TestSmaller(t *testing.T) {
	m := profiletest.Machine(t, "zen4")
	was := m.Hierarchy()
	if same := smaller(was, 0); len(same.TLBs) != len(was.TLBs) || same.Levels[0] != was.Levels[0] {
		t.Errorf("with all sets: %+v, want the hierarchy itself", same)
	}
	for _, shift := range []int{1, 3, 40} {
		c := smaller(was, shift)
		for i, l := range c.Levels {
			whole := was.Levels[i]
			if want := max(1, whole.Blocks/uint64(whole.Ways)>>shift) * uint64(whole.Ways); l.Blocks != want || l.Ways != whole.Ways {
				t.Errorf("2^-%d of %s: %d blocks in %d ways, want %d in %d", shift, l.Name, l.Blocks, l.Ways, want, whole.Ways)
			}
		}
		if err := c.Check(); err != nil {
			t.Errorf("2^-%d: %v", shift, err)
		}
	}
	if again := m.Hierarchy(); again.Levels[0] != was.Levels[0] {
		t.Error("the machine's own hierarchy was changed")
	}
	full := smaller(cache.Config{Levels: []cache.Level{{Name: "L1", Blocks: 100, BlockBytes: 64}}}, 2)
	if full.Levels[0].Blocks != 25 {
		t.Errorf("%d blocks of a fully associative cache, want 25", full.Levels[0].Blocks)
	}
}

// grown profiles growing.c, with a part of it defined, at some sizes, and fits a model.
func grown(t *testing.T, part string, blocks []uint64, sizes ...float64) (*Model, *locality.Runs, *subject.Program, subject.RunOptions) {
	t.Helper()
	prog := perftest.Compile(t, "gcc", "-O2 -D"+part, strings.ToLower(part), "growing.c")
	run := subject.RunOptions{Args: "{n}", Store: store.Open(t.TempDir())}
	runs, err := locality.Profile(t.Context(), prog, subject.Sweep("n", sizes...), locality.ProfileOptions{RunOptions: run, BlockBytes: blocks})
	if err != nil {
		t.Fatal(err)
	}
	model, err := Fit(t.Context(), runs, FitOptions{Store: run.Store})
	if err != nil {
		t.Fatal(err)
	}
	return model, runs, prog, run
}

// TestCollisionsOfLookUps: elements at random places of a table collide as the runs say,
// at twice the largest of these.
func TestCollisionsOfLookUps(t *testing.T) {
	m := profiletest.Machine(t, "origin2000")
	m.Caches, m.TLBs = m.Caches[:1], nil
	model, _, prog, run := grown(t, "SKEWED", m.BlockBytes(), 41, 48, 55, 63, 71)
	at := subject.Sweep("n", 101, 140)
	truth, err := Simulate(t.Context(), prog, m, at, SimulateOptions{RunOptions: run})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := Predict(t.Context(), model, m, at, PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rows {
		sim := truth[i].Misses
		if math.Abs(r.FullyAssoc/sim-1) < 0.04 {
			t.Errorf("n=%g: %.0f misses in a fully associative cache, %.0f simulated: nothing to see", r.Point["n"], r.FullyAssoc, sim)
		}
		if off := r.Misses/sim - 1; math.Abs(off) > 0.02 || r.Method != MethodCollisions {
			t.Errorf("n=%g: %.0f misses predicted (%s), %.0f simulated: %+.3f", r.Point["n"], r.Misses, r.Method, sim, off)
		}
		if !(r.Low <= sim && sim <= r.High) {
			t.Errorf("n=%g: from %.0f to %.0f misses predicted, %.0f simulated", r.Point["n"], r.Low, r.High, sim)
		}
	}
}

// TestTLBsOfSmallPages: a TLB whose entries map no more than a line of a cache is none.
func TestTLBsOfSmallPages(t *testing.T) {
	m := profiletest.Machine(t, "zen4")
	m.Caches, m.TLBs = m.Caches[:1], m.TLBs[1:]
	m.TLBs[0].EntryBytes, m.TLBs[0].Entries, m.TLBs[0].Ways = 256, 48, 3
	model, _, _, _ := grown(t, "SKEWED", m.BlockBytes(), 41, 48, 55, 63, 71)
	rows, err := Predict(t.Context(), model, m, subject.Sweep("n", 101), PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if (r.Method == MethodCollisions) != (r.Level == m.Caches[0].Name) {
			t.Errorf("%s: %s", r.Level, r.Method)
		}
	}
}
