package patterns_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"presage/perf/cache"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/patterns"
	"presage/perf/store"
	"presage/perf/subject"
)

// prefetching is small(0) with a prefetcher of each kind of interest, and latencies.
func prefetching() *machine.Machine {
	m := small(0)
	m.Caches[0].Latency, m.Caches[1].Latency, m.Memory.RestartLatency = 4, 14, 90
	for _, p := range []cache.Prefetcher{
		{Name: "stream", Kind: cache.Stream, Degree: 2, Distance: 4},
		{Name: "stride", Kind: cache.Stride, Distance: 2},
		{Name: "far", Kind: cache.Stream, Level: 1, Into: 1, Degree: 2, Distance: 8},
	} {
		m.Prefetchers = append(m.Prefetchers, machine.Prefetcher{Prefetcher: p})
	}
	return m
}

// TestPrefetchedSums: what prefetchers do for patterns adds up to what
// misses.SimulatePrefetching counts of the program, whatever tells time; of a TLB all
// misses are left.
func TestPrefetchedSums(t *testing.T) {
	for name, timing := range map[string]misses.Timing{
		"accesses": {AccessesPerCycle: 0.5},
		"clock":    {Clock: clock(3, 12)},
	} {
		got := make(map[string]patterns.Prefetched)
		tlb := 0.0
		for _, r := range simulate(t, prefetching(), 60, patterns.SimulateOptions{Prefetching: true, Timing: timing}) {
			got[r.Level] = got[r.Level].Plus(r.Prefetched)
			if r.Level == "TLB" {
				tlb += r.Misses
			}
			if r.Columns["sim_demand_misses"] != r.Prefetched.Left {
				t.Errorf("%s: %v, and %+v", name, r.Columns, r.Prefetched)
			}
			if want := map[bool]float64{true: 3, false: 1}[timing.Clock != nil]; r.Accesses > 0 && r.Pace != want {
				t.Errorf("%s: %g cycles between accesses, want %g", name, r.Pace, want)
			}
		}
		want, err := misses.SimulatePrefetching(t.Context(), program(t), prefetching(), []subject.Point{{"n": 60}}, misses.PrefetchOptions{
			SimulateOptions: misses.SimulateOptions{RunOptions: subject.RunOptions{Store: store.Open(t.TempDir())}}, Timing: timing,
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			g := got[w.Level]
			if g.Left != w.Left || g.Late != w.Late || g.Covered != w.Covered || math.Abs(g.Wait-w.Wait) > 1e-6*w.Wait {
				t.Errorf("%s, %s: patterns have %+v, want %+v", name, w.Level, g, w)
			}
			if w.Late == 0 || w.Covered == 0 || w.Wait == 0 {
				t.Errorf("%s, %s: nothing to compare", name, w.Level)
			}
		}
		if got["TLB"] != (patterns.Prefetched{Left: tlb}) || tlb == 0 {
			t.Errorf("%s: of %g misses of the TLB: %+v", name, tlb, got["TLB"])
		}
	}
	if _, err := patterns.Simulate(t.Context(), program(t), small(0), []subject.Point{{"n": 8}}, patterns.SimulateOptions{Prefetching: true}); !errors.Is(err, machine.ErrNoPrefetchers) {
		t.Errorf("no prefetchers: %v", err)
	}
}

// leftTolerance is for shares of a pattern's misses: what is fetched of a column jumps with
// where in their pages its elements lie, by some hundredths from one size to the next.
const leftTolerance = 0.05

// TestPredictsPrefetching: what prefetchers leave of patterns at a size never run is what a
// simulation finds, for those with the most misses.
func TestPredictsPrefetching(t *testing.T) {
	const n = 200
	st := store.Open(t.TempDir())
	m := prefetching()
	runs, err := locality.Profile(t.Context(), program(t), subject.Sweep("n", 64, 72, 80, 96, 104, 120), locality.ProfileOptions{
		RunOptions: subject.RunOptions{Store: st}, BlockBytes: m.BlockBytes(), Carriers: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	model, err := misses.Fit(t.Context(), runs, misses.FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	timing := misses.Timing{AccessesPerCycle: 0.25}
	predicted, err := patterns.Predict(t.Context(), model, m, []subject.Point{{"n": n}}, patterns.PredictOptions{Prefetching: true, Timing: timing, Store: st})
	if err != nil {
		t.Fatal(err)
	}
	type key struct{ level, scope, source, object string }
	got := make(map[key]patterns.Prefetched)
	for _, r := range predicted {
		k := key{r.Level, r.Scope, r.Source, r.Object}
		got[k] = got[k].Plus(r.Prefetched)
	}
	compared := 0
	for _, r := range simulate(t, m, n, patterns.SimulateOptions{Prefetching: true, Timing: timing}) {
		if r.Share < 0.02 {
			continue
		}
		p, s := got[key{r.Level, r.Scope, r.Source, r.Object}], r.Prefetched
		for what, v := range map[string][2]float64{"left": {p.Left, s.Left}, "used": {p.Late + p.Covered, s.Late + s.Covered}} {
			if math.Abs(v[0]-v[1]) > leftTolerance*r.Misses {
				t.Errorf("%s, %+v: of %g misses %g are %s, %g simulated", r.Level, r.Pattern, r.Misses, v[0], what, v[1])
			}
		}
		compared++
	}
	if compared < 10 {
		t.Errorf("%d patterns compared", compared)
	}
}

// TestWalk: of a walk through memory, the stream of a page begins with its third block.
func TestWalk(t *testing.T) {
	m := prefetching()
	m.Prefetchers = m.Prefetchers[:1]
	w, err := patterns.Walk(m, 100)
	if err != nil {
		t.Fatal(err)
	}
	want := patterns.Prefetched{Left: 3.0 / 64, Covered: 61.0 / 64}
	if len(w) != 2 || w[0] != want {
		t.Errorf("%+v, want %+v", w, want)
	}
	if quick, err := patterns.Walk(m, 1); err != nil || !(quick[0].Late > 0) {
		t.Errorf("an access a cycle: %+v, %v; want some late", quick, err)
	}
}

// clock returns a clock on which accesses take as many cycles each.
func clock(cycles float64, window int) func(context.Context, *subject.Program, subject.Inputs) (*cache.Clock, error) {
	return func(_ context.Context, prog *subject.Program, _ subject.Inputs) (*cache.Clock, error) {
		plan, err := prog.Plan()
		if err != nil {
			return nil, err
		}
		c := &cache.Clock{PerAccess: make([]float64, len(plan.Refs)), Window: window}
		for i := range c.PerAccess {
			c.PerAccess[i] = cycles
		}
		return c, nil
	}
}

// TestWalkAgain: stretches of 64 blocks from each place of a page leave the first three
// blocks of each page that they come to; of single blocks all are left.
func TestWalkAgain(t *testing.T) {
	m := prefetching()
	m.Prefetchers = m.Prefetchers[:1]
	want, count := 0.0, 2*m.Caches[0].Blocks/64
	for k := range count {
		first := k * 29 % 64
		want += float64(min(3, 64-first)+min(3, first)) / float64(64*count)
	}
	got, err := patterns.WalkAgain(m, 0, 100, 64*64)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(got.Left-want) > 1e-9 || math.Abs(got.Left+got.Covered-1) > 1e-9 {
		t.Errorf("%+v, want %g left", got, want)
	}
	if one, err := patterns.WalkAgain(m, 0, 100, 64); err != nil || one.Left != 1 {
		t.Errorf("single blocks: %+v, %v", one, err)
	}
}
