package misses

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/store"
	"presage/perf/subject"
)

// TestSimulatePrefetching: rows of routines add up to those of the program, the misses
// without prefetchers are those of Simulate, and what is not useless is used.
func TestSimulatePrefetching(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other tests fit, predict and simulate at once, too")
	}
	prog := perftest.Program(t)
	m := profiletest.Machine(t, "zen4")
	m.Caches[0].Blocks, m.Caches[1].Blocks, m.Caches[2].Blocks = 64, 256, 1024
	opt := PrefetchOptions{SimulateOptions: SimulateOptions{RunOptions: subject.RunOptions{Args: perftest.OneIteration, Store: store.Open(t.TempDir())}}}
	points := subject.Sweep("n", 8)
	whole, err := SimulatePrefetching(t.Context(), prog, m, points, opt)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := Simulate(t.Context(), prog, m, points, opt.SimulateOptions)
	if err != nil {
		t.Fatal(err)
	}
	opt.By, opt.Listing.Limit = subject.ByRoutine, 3
	routines, err := SimulatePrefetching(t.Context(), prog, m, points, opt)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range whole {
		if r.Without != plain[i].Misses || r.Accesses != plain[i].Accesses || r.Level != plain[i].Level {
			t.Errorf("%+v, and without prefetchers %+v", r, plain[i])
		}
		if r.Covered+r.Late != r.Fetched-r.Useless || !(r.Covered > 0) || !(r.Late > 0) || !(r.Useless > 0) {
			t.Errorf("%s: %g covered and %g late of %g prefetches, %g of them useless", r.Level, r.Covered, r.Late, r.Fetched, r.Useless)
		}
		if want := (r.Covered + r.Late) / (r.Covered + r.Late + r.Left); r.Share != want {
			t.Errorf("%s: a share of %g, want %g", r.Level, r.Share, want)
		}
		var sum PrefetchedRow
		rows := 0
		for _, s := range routines {
			if s.Level == r.Level {
				rows++
				sum.Without, sum.Left, sum.Late, sum.Covered = sum.Without+s.Without, sum.Left+s.Left, sum.Late+s.Late, sum.Covered+s.Covered
				sum.Fetched, sum.Useless, sum.Accesses = sum.Fetched+s.Fetched, sum.Useless+s.Useless, sum.Accesses+s.Accesses
			}
		}
		if rows != 4 || sum.Without != r.Without || sum.Left != r.Left || sum.Late != r.Late || sum.Covered != r.Covered ||
			sum.Fetched != r.Fetched || sum.Useless != r.Useless || sum.Accesses != r.Accesses {
			t.Errorf("%s: %d routines and the rest have %+v, the program %+v", r.Level, rows-1, sum, r)
		}
	}
	opt.FullyAssociative = true
	if _, err := SimulatePrefetching(t.Context(), prog, m, points, opt); err == nil {
		t.Error("fully associative: no error")
	}
	opt.FullyAssociative = false
	if _, err := SimulatePrefetching(t.Context(), prog, profiletest.Machine(t, "origin2000"), points, opt); !errors.Is(err, machine.ErrNoPrefetchers) {
		t.Errorf("a machine without prefetchers: %v", err)
	}
}

// coveredTolerance is for shares of misses covered: what is fetched of a column jumps with
// where in their pages its elements lie, by some hundredths from one size to the next.
const coveredTolerance = 0.1

// TestPredictPrefetching holds what is predicted of prefetchers, beyond the runs, against
// a simulation. A column is walked through in steps that grow with the size, so that ever
// more of them leave a page.
func TestPredictPrefetching(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other tests fit, predict and simulate at once, too")
	}
	prog := perftest.Compile(t, "gcc", "-O2 -DPRODUCT", "product", "growing.c")
	m := profiletest.Machine(t, "zen4")
	m.Caches[0].Blocks, m.Caches[1].Blocks, m.Caches[2].Blocks = 64, 512, 16384
	st := store.Open(t.TempDir())
	run := subject.RunOptions{Args: "{n}", Store: st}
	runs, err := locality.Profile(t.Context(), prog, subject.Sweep("n", 60, 66, 72, 80, 88), locality.ProfileOptions{RunOptions: run, BlockBytes: m.BlockBytes()})
	if err != nil {
		t.Fatal(err)
	}
	model, err := Fit(t.Context(), runs, FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	points := subject.Sweep("n", 120)
	pred, err := PredictPrefetching(t.Context(), model, m, points, PredictPrefetchOptions{Store: st, Timing: Timing{AccessesPerCycle: 1}})
	if err != nil {
		t.Fatal(err)
	}
	sim, err := SimulatePrefetching(t.Context(), prog, m, points, PrefetchOptions{
		SimulateOptions: SimulateOptions{RunOptions: run}, Timing: Timing{AccessesPerCycle: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(pred) != len(sim) {
		t.Fatalf("%d rows, %d simulated", len(pred), len(sim))
	}
	for i, p := range pred {
		s := sim[i]
		t.Logf("%s: %.3f of %.0f misses covered, %.3f of %.0f simulated", p.Level, p.Share, p.Without, s.Share, s.Without)
		if math.Abs(p.Share-s.Share) > coveredTolerance || s.Level != p.Level {
			t.Errorf("%s: a share of %.3f, %.3f simulated", p.Level, p.Share, s.Share)
		}
	}
	routines, err := PredictPrefetching(t.Context(), model, m, points, PredictPrefetchOptions{
		PredictOptions: PredictOptions{By: subject.ByRoutine, Listing: subject.Listing{Limit: 2}}, Store: st, Timing: Timing{AccessesPerCycle: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pred {
		without, left := 0.0, 0.0
		for _, r := range routines {
			if r.Level == p.Level {
				without, left = without+r.Without, left+r.Left
			}
		}
		if math.Abs(without/p.Without-1) > 1e-9 || math.Abs(left/p.Left-1) > 1e-9 {
			t.Errorf("%s: routines have %g misses and leave %g, the program %g and %g", p.Level, without, left, p.Without, p.Left)
		}
	}
	if _, err := PredictPrefetching(t.Context(), model, profiletest.Machine(t, "origin2000"), points, PredictPrefetchOptions{Store: st}); !errors.Is(err, machine.ErrNoPrefetchers) {
		t.Errorf("a machine without prefetchers: %v", err)
	}
}

// TestPredictPrefetchingOfBypassedLevels: as of Predict, nothing is said of a level that
// floating-point accesses bypass.
func TestPredictPrefetchingOfBypassedLevels(t *testing.T) {
	laws := []law{{count: 5, countPower: 3, distance: 2, distancePower: 1, offset: 30}}
	runs := madeUp(t, mesh(t), laws, []float64{20, 24, 30, 36, 45, 60}, 0, rand.New(rand.NewPCG(4, 4)))
	model, err := Fit(t.Context(), runs, FitOptions{Store: store.Open(t.TempDir())})
	if err != nil {
		t.Fatal(err)
	}
	m := profiletest.Machine(t, "zen4")
	m.Caches[0].BypassFloat = true
	p := prefetchPredictor{model: model, machine: m, scopes: model.Scopes(subject.ByProgram)}
	rows, err := p.rows(t.Context(), 0, subject.Point{"n": 80})
	if err != nil || len(rows) != 1 || rows[0].Warning != bypassed || !math.IsNaN(rows[0].Without) || !math.IsNaN(rows[0].Share) {
		t.Errorf("%+v, %v", rows, err)
	}
}

// TestPrefetchRatio recovers ratios of both forms, and says which groups never missed.
func TestPrefetchRatio(t *testing.T) {
	runs := func(left func(n float64) float64) (all []trainedPrefetch) {
		for _, n := range []float64{10, 14, 20, 28} {
			w := n * n
			all = append(all, trainedPrefetch{at: subject.Point{"n": n}, without: w, prefetchOutcomes: prefetchOutcomes{left: w * left(n), late: w * (1 - left(n)) / 4, covered: w * (1 - left(n)) * 3 / 4, useless: w / 10}})
		}
		return all
	}
	for name, c := range map[string]struct {
		left func(n float64) float64
		want float64 // at 60
	}{
		"ends of walks": {func(n float64) float64 { return 0.1 + 3/n }, 0.15},
		"longer steps":  {func(n float64) float64 { return 0.2 + n/100 }, 0.8},
		"beyond a page": {func(n float64) float64 { return 0.2 + n/50 }, 1},
	} {
		got, ok := prefetchRatio(runs(c.left), subject.Point{"n": 60})
		if !ok || math.Abs(got.left-c.want) > 1e-9 || math.Abs(got.left+got.late+got.covered-1) > 1e-9 || math.Abs(got.late*3-got.covered) > 1e-9 || math.Abs(got.useless-0.1) > 1e-9 {
			t.Errorf("%s: %+v, want %g left", name, got, c.want)
		}
	}
	for name, c := range map[string]struct {
		left func(n float64) float64
		want float64 // at 0, to which the number of walks for each miss grows beyond bounds
	}{
		"ends of walks":      {func(n float64) float64 { return 0.1 + 3/n }, 1},
		"beginnings of them": {func(n float64) float64 { return 0.9 - 3/n }, 0},
		"the same":           {func(float64) float64 { return 0.25 }, 0.25},
	} {
		if got, ok := prefetchRatio(runs(c.left), subject.Point{"n": 0}); !ok || math.Abs(got.left-c.want) > 1e-9 || !finite(got.late) || !finite(got.covered) {
			t.Errorf("%s: %+v at 0, want %g left", name, got, c.want)
		}
		at0 := append([]trainedPrefetch{{at: subject.Point{"n": 0}, without: 7, prefetchOutcomes: prefetchOutcomes{left: 7}}}, runs(c.left)...)
		if got, _ := prefetchRatio(at0, subject.Point{"n": 60}); math.Abs(got.left-c.left(60)) > 1e-9 {
			t.Errorf("%s, with a run at 0: %+v, want %g left", name, got, c.left(60))
		}
	}
	falling := runs(func(n float64) float64 { return 0.1 + 3/n })
	slices.Reverse(falling)
	if got, _ := prefetchRatio(falling, subject.Point{"n": 60}); math.Abs(got.left-0.15) > 1e-9 {
		t.Errorf("the largest run first: %g left, want 0.15", got.left)
	}
	if got, _ := prefetchRatio(falling[:2], subject.Point{"n": 60}); math.Abs(got.left-(0.1+3./28)) > 1e-9 {
		t.Errorf("of two runs %g left, want what the larger one leaves", got.left)
	}
	if _, ok := prefetchRatio([]trainedPrefetch{{at: subject.Point{"n": 3}}}, subject.Point{"n": 60}); ok {
		t.Error("a group without a miss has a ratio")
	}
}
