package misses

import (
	"context"
	"math"
	"strings"
	"testing"

	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/predict"
	"presage/perf/store"
	"presage/perf/subject"
)

// collidingStreams returns a model of arrays of which the same elements collide, and
// what the first levels of two machines miss at a larger size.
func collidingStreams(t *testing.T, data bool) (*Model, []*machine.Machine, []SimulatedRow) {
	t.Helper()
	prog := perftest.Compile(t, "gcc", "-O2 -DSTREAMS", "streams", "growing.c")
	run := subject.RunOptions{Args: "{n}", Store: store.Open(t.TempDir())}
	machines := []*machine.Machine{profiletest.Machine(t, "origin2000"), profiletest.Machine(t, "zen4")}
	opt := locality.ProfileOptions{RunOptions: run, DataOnly: data}
	for _, m := range machines {
		m.Caches, m.TLBs = m.Caches[:1], nil
		opt.BlockBytes = append(opt.BlockBytes, m.BlockBytes()...)
	}
	runs, err := locality.Profile(t.Context(), prog, subject.Sweep("n", 1000, 1300, 1700, 2200, 2900), opt)
	if err != nil {
		t.Fatal(err)
	}
	model, err := Fit(t.Context(), runs, FitOptions{Store: run.Store})
	if err != nil {
		t.Fatal(err)
	}
	var truth []SimulatedRow
	for _, m := range machines {
		rows, err := Simulate(t.Context(), prog, m, subject.Sweep("n", 5001), SimulateOptions{RunOptions: run})
		if err != nil {
			t.Fatal(err)
		}
		truth = append(truth, rows...)
	}
	return model, machines, truth
}

// TestIntervalsHoldConflictsOfRuns: where blocks collided in the runs, though nothing
// in the program's strides says so, the interval reaches to what is simulated, and a
// warning says why; in a cache with ways enough there is neither.
func TestIntervalsHoldConflictsOfRuns(t *testing.T) {
	model, machines, truth := collidingStreams(t, false)
	if _, err := Predict(t.Context(), model, machines[0], subject.Sweep("n", 5001), PredictOptions{Corrector: knowing{}}); err != nil || len(model.refits.simulations) > 0 {
		t.Errorf("%d runs were simulated though all groups were corrected; %v", len(model.refits.simulations), err)
	}
	for i, m := range machines {
		rows, err := Predict(t.Context(), model, m, subject.Sweep("n", 5001), PredictOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r, sim := rows[0], truth[i].Misses
		collide := m.Name == "origin2000"
		if off := math.Abs(r.Misses/sim - 1); off > 0.5 != collide {
			t.Fatalf("%s: %.0f misses predicted, %.0f simulated: nothing to see", m.Name, r.Misses, sim)
		}
		if !(r.Low <= sim && sim <= r.High) {
			t.Errorf("%s: %.0f misses simulated, from %.0f to %.0f predicted", m.Name, sim, r.Low, r.High)
		}
		if r.High > 2*sim {
			t.Errorf("%s: up to %.0f misses predicted, %.0f simulated", m.Name, r.High, sim)
		}
		if said := strings.Contains(r.Warning, "times the misses of a fully associative cache"); said != collide {
			t.Errorf("%s: warning %q", m.Name, r.Warning)
		}
		rows, err = Predict(t.Context(), model, m, subject.Sweep("n", 5001), PredictOptions{Method: predict.MethodBinomial})
		if err != nil || strings.Contains(rows[0].Warning, "fully associative cache") {
			t.Errorf("%s: %v, %q", m.Name, err, rows[0].Warning)
		}
	}
}

// knowing knows all groups better.
type knowing struct{}

func (knowing) Correct(_ context.Context, of Uncorrected) (*Correction, error) {
	c := &Correction{Groups: make([]GroupCorrection, len(of.Groups))}
	for g := range c.Groups {
		c.Groups[g] = GroupCorrection{Method: "known", Misses: of.Groups[g], Exact: true}
	}
	return c, nil
}

func (knowing) Replays() bool { return false }

// TestConflictsAreNotSeenWithoutTheStack: runs that left accesses out are not held
// against simulations of all.
func TestConflictsAreNotSeenWithoutTheStack(t *testing.T) {
	model, machines, _ := collidingStreams(t, true)
	rows, err := Predict(t.Context(), model, machines[0], subject.Sweep("n", 5001), PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(model.refits.simulations); n > 0 || strings.Contains(rows[0].Warning, "times the misses") {
		t.Errorf("%d simulations, %q", n, rows[0].Warning)
	}
}
