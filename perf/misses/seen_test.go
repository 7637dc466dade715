package misses

import (
	"context"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/predict"
	"presage/perf/progress"
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
		if off := math.Abs(r.FullyAssoc/sim - 1); off > 0.5 != collide {
			t.Fatalf("%s: %.0f misses in a fully associative cache, %.0f simulated: nothing to see", m.Name, r.FullyAssoc, sim)
		}
		if !(r.Low <= sim && sim <= r.High) {
			t.Errorf("%s: %.0f misses simulated, from %.0f to %.0f predicted", m.Name, sim, r.Low, r.High)
		}
		if r.High > 2*sim {
			t.Errorf("%s: up to %.0f misses predicted, %.0f simulated", m.Name, r.High, sim)
		}
		if said := strings.Contains(r.Warning, "times the misses that it has without conflicts"); said != collide {
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

// TestRunsAreSimulatedOnce: what is simulated of a model's runs is said, known by the
// machine's content, keeps nobody from other predictions meanwhile, and is not kept if it
// is cancelled.
func TestRunsAreSimulatedOnce(t *testing.T) {
	model, machines, _ := collidingStreams(t, false)
	m, other := machines[0], machines[1]
	at := subject.Sweep("n", 5001)
	predicted := func(ctx context.Context, m *machine.Machine, report progress.Func) ([]Row, error) {
		return Predict(ctx, model, m, at, PredictOptions{Progress: report})
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := predicted(ctx, m, func(p progress.Report) {
		if strings.HasPrefix(p.Task, "simulating") {
			cancel()
		}
	}); !errors.Is(err, context.Canceled) {
		t.Fatalf("cancelled at the first simulation: %v", err)
	}
	if n := len(model.refits.simulations); n > 0 {
		t.Errorf("%d simulations known after a cancelled one", n)
	}

	said, meanwhile := make(map[string]int), 0
	first, err := predicted(t.Context(), m, func(p progress.Report) {
		if p.Done >= p.Total || p.Total != len(model.Points) {
			t.Errorf("run %d of %d", p.Done, p.Total)
		}
		if said[p.Task]++; meanwhile > 0 {
			return
		}
		meanwhile++
		done := make(chan error, 1)
		go func() {
			_, err := predicted(t.Context(), other, nil)
			done <- err
		}()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute): // a guard, nothing is measured
			t.Error("a prediction for another machine waits for a simulation")
		}
		impatient, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := predicted(impatient, m, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled while another simulates: %v", err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range model.Points {
		if said["simulating "+p.String()+" again"] == 0 {
			t.Errorf("nothing said of %s: %v", p, said)
		}
	}

	silent := func(p progress.Report) { t.Errorf("%s: simulated again", p.Task) }
	again := profiletest.Machine(t, m.Name)
	again.Caches, again.TLBs = again.Caches[:1], nil
	model.refits.store = store.Open(t.TempDir()) // what is known is known without it
	if rows, err := predicted(t.Context(), again, silent); err != nil || !reflect.DeepEqual(rows, first) {
		t.Errorf("%v: %+v for a machine that was read twice, %+v at first", err, rows, first)
	}
	again.Caches[0].Ways *= 16
	rows, err := predicted(t.Context(), again, nil)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(rows[0].Warning, "times the misses") || !strings.Contains(first[0].Warning, "times the misses") {
		t.Errorf("with %d ways %q, with %d %q", again.Caches[0].Ways, rows[0].Warning, m.Caches[0].Ways, first[0].Warning)
	}
}
