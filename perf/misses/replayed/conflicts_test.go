package replayed

import (
	"math"
	"testing"

	"presage/perf/locality"
	"presage/perf/misses"
	"presage/perf/predict"
	"presage/perf/store"
	"presage/perf/subject"
)

func TestCarry(t *testing.T) {
	for _, c := range []struct {
		of   conflicts
		want float64 // reuses that miss
	}{
		{conflicts{0.2, 0.2}, 100},
		{conflicts{0.6, 0.2}, 550}, // half of the hits miss
		{conflicts{1, 0.2}, 1000},
		{conflicts{0.1, 0.2}, 50},
		{conflicts{0, 0.2}, 0},
		{conflicts{0, 0}, 100},
		{conflicts{0.5, 0}, 550},
		{conflicts{1, 1}, 100},
	} {
		got := c.of.carry(predict.Misses{Accesses: 1020, Cold: 20, Reuse: 100})
		if math.Abs(got.Reuse-c.want) > 1e-9 || got.Accesses != 1020 || got.Cold != 20 {
			t.Errorf("%+v makes %+v of 100 misses among 1000 reuses, want %g", c.of, got, c.want)
		}
	}
}

// TestCarries tests that conflicts are taken where they did a trial no harm, and by what it
// was off with them.
func TestCarries(t *testing.T) {
	good, bad, close := outcome{1000, 50, 300}, outcome{1000, 300, 50}, outcome{1000, 15, 0}
	for _, c := range []struct {
		trial *trial
		off   float64
		want  bool
	}{
		{nil, 0, false},
		{&trial{}, 0, false}, // no level says anything
		{&trial{conflicts: map[string]outcome{"L1": good}}, 0.05, true},
		{&trial{conflicts: map[string]outcome{"L1": bad}}, 0.3, false},
		{&trial{conflicts: map[string]outcome{"L1": close}}, 0.015, true},
		{&trial{conflicts: map[string]outcome{"L1": good, "L2": bad}}, 0.05, true},
		{&trial{conflicts: map[string]outcome{"L2": good, "L3": close}}, 0.05, true}, // the run had no misses at L1
		{&trial{conflicts: map[string]outcome{"L2": bad}}, 0.3, false},
	} {
		if off, got := c.trial.carries("L1"); got != c.want || off != c.off {
			t.Errorf("%+v carries conflicts: %v, off by %g; want %v, %g", c.trial, got, off, c.want, c.off)
		}
	}
}

// TestConflictsOfReplaysInDoubt tests that predictions of a product with a sparse matrix,
// of which the columns are too uneven to be drawn, have the conflicts of its vector.
func TestConflictsOfReplaysInDoubt(t *testing.T) {
	t.Parallel()
	st, m := store.Open(t.TempDir()), find(t, "origin2000")
	prog := build(t, "", "testdata/ragged.c")
	opt := subject.RunOptions{Store: st, Args: "{n}"}
	runs, err := locality.Profile(t.Context(), prog, subject.Sweep("n", 500, 620, 770, 950, 1200, 1500), locality.ProfileOptions{RunOptions: opt, BlockBytes: m.BlockBytes()})
	if err != nil {
		t.Fatal(err)
	}
	model, err := misses.Fit(t.Context(), runs, misses.FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Learn(t.Context(), runs, st)
	if err != nil {
		t.Fatal(err)
	}
	point := subject.Point{"n": 2400}
	simulated, err := misses.Simulate(t.Context(), prog, m, []subject.Point{point}, misses.SimulateOptions{RunOptions: opt, By: subject.ByRoutine})
	if err != nil {
		t.Fatal(err)
	}
	r := judge(t, model, p, m, point, Options{}, simulated)["L1 product"]
	if r.method != MethodConflicts {
		t.Errorf("method %q, want %q", r.method, MethodConflicts)
	}
	if with, without := math.Abs(r.pred-r.is), math.Abs(r.full-r.is); without < 0.2*r.is || with > without/3 {
		t.Errorf("%g misses predicted, %g if fully associative, simulated %g", r.pred, r.full, r.is)
	}
}
