package timing

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/progress"
	"presage/perf/store"
	"presage/perf/subject"
)

var cgProgram = perftest.Built("cg")

// few are intervals of programs of some tens of millions of instructions.
var few = Sampling{Intervals: 40, Length: 5000, Lead: 2000, History: 300_000}

// TestSampledHoldsWhole holds estimates from intervals against simulations of whole
// runs: these lie within bounds that are narrow, and the run is not recorded as a whole.
func TestSampledHoldsWhole(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the packages below have tests of their own goroutines")
	}
	// Products of sparse matrices and of vectors differ more than sweeps, and so short a run
	// uses much of its memory for the first time: see Sampling.
	many := few
	many.Intervals, many.History = 100, WholeHistory
	for _, k := range []struct {
		prog     *subject.Program
		args     string
		n        float64
		sampling Sampling
	}{{perftest.Program(t), perftest.OneIteration, 18, few}, {cgProgram(t), "-n {n}", 18, many}} {
		for _, machine := range []string{"origin2000", "itanium2"} {
			m, at := profiletest.Machine(t, machine), subject.Sweep("n", k.n)
			opt := SimulateOptions{RunOptions: subject.RunOptions{Args: k.args, Store: store.Open(t.TempDir())}}
			whole, err := Simulate(t.Context(), k.prog, m, at, opt)
			if err != nil {
				t.Fatal(err)
			}
			opt.Sampled = &k.sampling
			rows, err := Simulate(t.Context(), k.prog, m, at, opt)
			if err != nil {
				t.Fatal(err)
			}
			r, want := rows[0], whole[0].Cycles
			low, high := r.Sampled["sim_cycles_low"], r.Sampled["sim_cycles_high"]
			if !(low <= want && want <= high) || !(low < r.Cycles && r.Cycles < high) {
				t.Errorf("%s on %s: %.0f cycles, estimated as %.0f, from %.0f to %.0f", r.Program, machine, want, r.Cycles, low, high)
			}
			if wide := (high - low) / 2 / want; wide > 0.15 {
				t.Errorf("%s on %s: bounds at ±%.0f%%", r.Program, machine, 100*wide)
			}
			if share := r.Sampled["sim_share"]; math.Abs(share*r.Instructions/float64(k.sampling.Intervals)/5000-1) > 0.01 || r.Sampled["sim_intervals"] != float64(k.sampling.Intervals) {
				t.Errorf("%s: %g of %g instructions in %v intervals, want %d of 5000", r.Program, share, r.Instructions, r.Sampled["sim_intervals"], k.sampling.Intervals)
			}
			if recorded := r.Sampled["sim_recorded_share"]; !(recorded > r.Sampled["sim_share"]) || recorded < 0.9 != (k.sampling.History < WholeHistory) {
				t.Errorf("%s: %g of the run is recorded", r.Program, recorded)
			}
			if !strings.HasPrefix(r.Warning, SampledReference) || len(r.Stack) > 0 || !math.IsNaN(r.Mispredicts) {
				t.Errorf("a row of intervals does not say so: %+v", r)
			}
			if math.Abs(r.Instructions/whole[0].Instructions-1) > 1e-4 {
				t.Errorf("%s: a run of %.0f instructions, simulated %.0f", r.Program, r.Instructions, whole[0].Instructions)
			}
		}
	}
}

// TestSampledIsStored demands the same row of another store, and of the same without a
// run, and another of other intervals.
func TestSampledIsStored(t *testing.T) {
	m, at, sampling := profiletest.Machine(t, "origin2000"), subject.Sweep("n", 10), few
	sampling.Intervals = 20
	opt := SimulateOptions{RunOptions: sweeps(t), Sampled: &sampling}
	simulate := func() []SimulatedRow {
		t.Helper()
		rows, err := Simulate(t.Context(), perftest.Program(t), m, at, opt)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	first := simulate()
	executed := false
	opt.Progress = func(r progress.Report) { executed = executed || r.Instructions > 0 }
	if diff := cmp.Diff(first, simulate(), cmpopts.EquateNaNs()); diff != "" || executed {
		t.Errorf("from the store (executed: %t): %s", executed, diff)
	}
	st := opt.Store
	opt.Store = store.Open(t.TempDir())
	if diff := cmp.Diff(first, simulate(), cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("simulated again: %s", diff)
	}
	opt.Store = st
	sampling.Seed = 1
	if again := simulate(); again[0].Cycles == first[0].Cycles {
		t.Errorf("%g cycles from other intervals, too", again[0].Cycles)
	}
}

// TestSampledIsCancelled cancels a simulation of intervals while it runs: it leaves
// nothing of them in the store, and the next gives the row of one that was not.
func TestSampledIsCancelled(t *testing.T) {
	m, at, sampling := profiletest.Machine(t, "origin2000"), subject.Sweep("n", 10), few
	sampling.Intervals = 20
	dir := t.TempDir()
	opt := SimulateOptions{RunOptions: subject.RunOptions{Args: perftest.OneIteration, Store: store.Open(dir)}, Sampled: &sampling}
	ctx, cancel := context.WithCancel(t.Context())
	opt.Progress = func(progress.Report) { cancel() }
	if _, err := Simulate(ctx, perftest.Program(t), m, at, opt); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v, want context.Canceled", err)
	}
	if kept, err := os.ReadDir(filepath.Join(dir, "sampled time")); err == nil && len(kept) > 0 {
		t.Errorf("%d entries are left of a simulation that was cancelled", len(kept))
	}
	opt.Progress = nil
	after, err := Simulate(t.Context(), perftest.Program(t), m, at, opt)
	if err != nil {
		t.Fatal(err)
	}
	opt.Store = store.Open(t.TempDir())
	fresh, err := Simulate(t.Context(), perftest.Program(t), m, at, opt)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fresh, after, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("after a simulation that was cancelled: %s", diff)
	}
}

// TestSampledRefusals demands errors for what intervals cannot give.
func TestSampledRefusals(t *testing.T) {
	m, at := profiletest.Machine(t, "origin2000"), subject.Sweep("n", 8)
	for want, opt := range map[string]SimulateOptions{
		"whole program":        {By: subject.ByRoutine, Sampled: &few},
		"prefetchers":          {Prefetching: true, Sampled: &few},
		"simulate all of it":   {Sampled: &Sampling{Intervals: 1000}},
		"give two or more":     {Sampled: &Sampling{Intervals: 1}},
		"sweep3d -n 8 -itera":  {Sampled: &Sampling{Intervals: 1000}},
		"intervals to be simu": {Sampled: &Sampling{Intervals: -3}},
	} {
		opt.RunOptions = sweeps(t)
		if _, err := Simulate(t.Context(), perftest.Program(t), m, at, opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
