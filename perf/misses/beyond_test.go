package misses

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/anatomy"
	"presage/perf/cache"
	"presage/perf/frame"
	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/locality"
	"presage/perf/store"
	"presage/perf/subject"
)

// TestSimulationAgreesWithReuseDistances: on a real program, a fully
// associative cache and a TLB must miss, reference by reference, exactly where
// the reuse distance says so. Two methods that share no code.
func TestSimulationAgreesWithReuseDistances(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other tests fit, predict and simulate at once, too")
	}
	st := store.Open(t.TempDir())
	runs, err := locality.Profile(t.Context(), perftest.Program(t), subject.Sweep("n", 9), locality.ProfileOptions{
		RunOptions: subject.RunOptions{Args: perftest.OneIteration, Store: st},
		BlockBytes: []uint64{32, 32 << 10},
	})
	if err != nil {
		t.Fatal(err)
	}
	m := profiletest.Machine(t, "origin2000")
	m.Caches = m.Caches[:1] // a second level sees only what misses in the first
	sim, err := Simulate(t.Context(), perftest.Program(t), m, subject.Sweep("n", 9), SimulateOptions{
		RunOptions: subject.RunOptions{Args: perftest.OneIteration, Store: st}, By: subject.ByReference, FullyAssociative: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := make(map[string]uint64)
	first, err := perftest.Program(t).FirstRefs()
	if err != nil {
		t.Fatal(err)
	}
	for i, level := range []struct {
		name   string
		blocks uint64
	}{{"L1", 1024}, {"TLB", 64}} {
		for g := range runs.Runs[0].Reuse[i].Groups {
			if h := &runs.Runs[0].Reuse[i].Groups[g]; h.Accesses() > 0 {
				want[level.name+" "+perftest.Program(t).ScopeOf(subject.ByReference, first[g])] = h.Misses(level.blocks)
			}
		}
	}
	got := make(map[string]uint64)
	for _, r := range sim {
		got[r.Level+" "+r.Scope] = uint64(r.Full)
	}
	if len(want) < 200 {
		t.Fatalf("only %d references were executed", len(want))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestPredictsBeyondTraining trains on sizes up to 16 and predicts 22, which no
// part of the fit has seen. The bound is what the models are good for, not what
// they reach: the median error here was 2% when it was written.
func TestPredictsBeyondTraining(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; other tests fit, predict and simulate at once, too")
	}
	const bound = 0.15
	st, model := store.Open(t.TempDir()), trained(t, perftest.Program(t), perftest.OneIteration)
	if r, err := model.Range("n"); r != [2]float64{8, 16} || err != nil {
		t.Errorf("training range %v, %v", r, err)
	}
	if r, err := model.Range("m"); err == nil || !strings.Contains(err.Error(), "no parameter m; it has n") {
		t.Errorf("training range of another parameter: %v, %v", r, err)
	}
	m := profiletest.Machine(t, "origin2000")
	pred, err := Predict(t.Context(), model, m, subject.Sweep("n", 22), PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sim, err := Simulate(t.Context(), perftest.Program(t), m, subject.Sweep("n", 22), SimulateOptions{RunOptions: subject.RunOptions{Args: perftest.OneIteration, Store: st}})
	if err != nil {
		t.Fatal(err)
	}
	both := compare(pred, sim)
	if len(both) != 3 || len(pred) != 3 {
		t.Fatalf("%d rows, want L1, L2 and TLB", len(both))
	}
	med, err := frame.Median(frame.Of(both), "rel_err")
	if err != nil || med > bound {
		t.Errorf("median error %.3f, want at most %g (%v)\n%+v", med, bound, err, both)
	}
	// Every level of the same run sees the same accesses, and some of what is
	// predicted is always in doubt, never all.
	counts, err := anatomy.Count(t.Context(), perftest.Program(t), subject.Point{"n": 22}, subject.RunOptions{Args: perftest.OneIteration, Store: st})
	if err != nil {
		t.Fatal(err)
	}
	accesses := perftest.Column(t, pred, "pred_accesses")
	for i, a := range accesses {
		// The simulation sees the traffic of the stack, too.
		if sim := sim[i].Accesses - float64(counts.Stack()); math.Abs(a-sim)/sim > 0.05 || a != accesses[0] {
			t.Errorf("row %d: %g accesses predicted, %g simulated", i, a, sim)
		}
		if doubtful := pred[i].Doubtful; !(doubtful >= 0 && doubtful <= 1) {
			t.Errorf("row %d: %g of the misses are doubtful", i, doubtful)
		}
	}
	byRoutine, err := Predict(t.Context(), model, m, subject.Sweep("n", 22), PredictOptions{By: subject.ByRoutine, Coverage: -1})
	if err != nil {
		t.Fatal(err)
	}
	total, err := frame.Sum(frame.Of(byRoutine), []string{"level"}, []string{"pred_misses"})
	if err != nil {
		t.Fatal(err)
	}
	for i, sum := range perftest.Column(t, total, "pred_misses") {
		if whole := perftest.Column(t, pred, "pred_misses")[i]; math.Abs(sum-whole) > 1e-6*whole {
			t.Errorf("level %d: routines sum to %g, the program to %g", i, sum, whole)
		}
	}
}

// TestUnmodelledMachinesAreMarked: what predictions leave out stands in the row.
func TestUnmodelledMachinesAreMarked(t *testing.T) {
	st := store.Open(t.TempDir())
	runs, err := locality.Profile(t.Context(), perftest.Compile(t, "gcc", "-O2 -DSTENCIL", "stencil", "growing.c"), subject.Sweep("n", 6, 7, 8), locality.ProfileOptions{
		RunOptions: subject.RunOptions{Args: "{n}", Store: st}, BlockBytes: []uint64{64, 128, 16 << 10},
	})
	if err != nil {
		t.Fatal(err)
	}
	model, err := Fit(t.Context(), runs, FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	m := profiletest.Machine(t, "itanium2")
	m.Caches[1].Replacement, m.Caches[2].Inclusive = cache.Random, true
	pred, err := Predict(t.Context(), model, m, subject.Sweep("n", 100), PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	warnings := perftest.Text(t, pred, "pred_warning")
	for i, want := range []string{"bypass", "random replacement", "inclusion", "bypass", "trained on 6 to 8"} {
		if !strings.Contains(warnings[i], want) {
			t.Errorf("row %d: %q, want %q", i, warnings[i], want)
		}
	}
	if misses := perftest.Column(t, pred, "pred_misses"); !math.IsNaN(misses[0]) || !(misses[1] > 0) {
		t.Errorf("misses %v, want none for L1D", misses)
	}
}

func TestPredictNeedsTheBlockSizes(t *testing.T) {
	st, model := store.Open(t.TempDir()), askable(t)
	_, err := Predict(t.Context(), model, profiletest.Machine(t, "itanium2"), subject.Sweep("n", 22), PredictOptions{})
	if err == nil || !strings.Contains(err.Error(), "profile with block sizes [64 128 16384]") {
		t.Errorf("missing block size: %v", err)
	}
	_, err = Predict(t.Context(), model, profiletest.Machine(t, "origin2000"), subject.Sweep("m", 20), PredictOptions{})
	if err == nil || !strings.Contains(err.Error(), "no parameter m") {
		t.Errorf("missing parameter: %v", err)
	}
	if _, err := Predict(t.Context(), model, profiletest.Machine(t, "origin2000"), nil, PredictOptions{By: "cell"}); err == nil {
		t.Error("unknown scope: no error")
	}
	if _, err := Fit(t.Context(), &locality.Runs{}, FitOptions{Store: st}); err == nil {
		t.Error("no runs: no error")
	}
	if _, err := Fit(t.Context(), model.Runs(), FitOptions{Store: st, Basis: "1, k"}); err == nil {
		t.Error("a basis over another parameter: no error")
	}
}
