package misses

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/frame"
	"presage/perf/internal/num"
	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/predict"
	"presage/perf/store"
	"presage/perf/subject"
)

// TestValidateIsTheChain holds Validate against the calls that it stands for.
func TestValidateIsTheChain(t *testing.T) {
	st := store.Open(t.TempDir())
	m := profiletest.Machine(t, "origin2000")
	prog, run := mesh(t), subject.RunOptions{Args: "{n}", Store: st}
	train, judge := subject.Sweep("n", 6, 7, 8, 9), subject.Sweep("n", 11, 12)
	got, err := Validate(t.Context(), prog, Validation{RunOptions: run, Machines: []*machine.Machine{m}, Train: train, Judge: judge})
	if err != nil {
		t.Fatal(err)
	}
	runs, err := locality.Profile(t.Context(), prog, train, locality.ProfileOptions{RunOptions: run, BlockBytes: m.BlockBytes()})
	if err != nil {
		t.Fatal(err)
	}
	model, err := Fit(t.Context(), runs, FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][2]float64{}
	for _, by := range []subject.Scope{subject.ByProgram, subject.ByRoutine} {
		pred, err := Predict(t.Context(), model, m, judge, PredictOptions{By: by, Coverage: -1})
		if err != nil {
			t.Fatal(err)
		}
		sim, err := Simulate(t.Context(), prog, m, judge, SimulateOptions{RunOptions: run, By: by, FullyAssociative: true})
		if err != nil {
			t.Fatal(err)
		}
		both, err := frame.Join(frame.Of(pred), frame.Of(sim), "program", "n", "machine", "level", "scope")
		if err != nil {
			t.Fatal(err)
		}
		predicted, simulated := perftest.Column(t, both, "pred_misses"), perftest.Column(t, both, "sim_misses")
		levels, scopes, sizes := perftest.Text(t, both, "level"), perftest.Text(t, both, "scope"), perftest.Text(t, both, "n")
		perLevel := map[string]float64{}
		for i, n := range simulated {
			perLevel[sizes[i]+levels[i]] += n
		}
		for i, n := range simulated {
			if by == subject.ByProgram || n >= DefaultMinShare*perLevel[sizes[i]+levels[i]] {
				want["n="+sizes[i]+levels[i]+string(by)+scopes[i]] = [2]float64{predicted[i], n}
			}
		}
	}
	found := map[string][2]float64{}
	for _, r := range got {
		found[subject.Point(r.Point).String()+r.Level+r.Of+r.Scope] = [2]float64{r.Pred, r.Sim}
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
	for _, r := range got {
		if want := r.Point["n"] / 9; r.Growth != want {
			t.Errorf("growth %g, want %g", r.Growth, want)
		}
	}
	if _, err := Validate(t.Context(), prog, Validation{RunOptions: run, Train: train, Judge: judge}); err == nil {
		t.Error("no machine, and no error")
	}
}

// TestCauses gives the rows of a model the simulations that have each cause.
func TestCauses(t *testing.T) {
	m, model := profiletest.Machine(t, "origin2000"), askable(t)
	j, point := judge{model: model, machine: m, by: subject.ByProgram}, subject.Point{"n": 14}
	r := Judgement{Level: "L1", Scope: model.Program}
	for _, c := range []struct {
		level                        string
		pred, predFull, sim, simFull float64
		want                         string
	}{
		{"TLB", 0, 0, 50, 50, CauseModel},
		{"L1", 10, 0, 50, 0, CauseConflicts},
		{"L1", 0, 0, 50, 40, CauseModel},
	} {
		row := Judgement{Point: point, Level: c.level, Scope: "nothing", Pred: c.pred, PredFull: c.predFull, Sim: c.sim, SimFull: c.simFull, Err: num.RelErr(c.pred, c.sim)}
		if got, err := j.cause(t.Context(), &row); err != nil || got != c.want {
			t.Errorf("%+v: cause %q, %v", c, got, err)
		}
	}
	l := predict.Levels(m)[0]
	full := func(blocks uint64) float64 {
		x, err := j.fullyAssociative(t.Context(), l, &r, blocks)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	// A size at which there are distances near the capacity.
	var least, most float64
	for n := 8.0; !(least < r.PredFull*0.93 && most > r.PredFull*1.07); n++ {
		if n > 40 {
			t.Fatal("no test without distances near the capacity")
		}
		r.Point = subject.Point{"n": n}
		r.PredFull = full(l.Blocks())
		least, most = full(l.Blocks()*5/4), full(l.Blocks()*4/5)
	}
	r.Pred = r.PredFull
	for _, c := range []struct {
		sim, simFull float64
		want         string
	}{
		{r.Pred * 1.04, r.PredFull, ""},
		{r.Pred * 2, r.PredFull * 1.07, CauseConflicts},
		{r.Pred * 1.07, r.PredFull * 1.07, CauseCapacity},
		{r.Pred * 0.93, r.PredFull * 0.93, CauseCapacity},
		{most * 2, most * 1.9, CauseModel},
		{least / 2, least / 2, CauseModel},
	} {
		r.Sim, r.SimFull = c.sim, c.simFull
		r.Err = num.RelErr(r.Pred, r.Sim)
		if got, err := j.cause(t.Context(), &r); err != nil || got != c.want {
			t.Errorf("predicted %g, simulated %g, %g fully associative: cause %q, %v, want %q", r.Pred, r.Sim, r.SimFull, got, err, c.want)
		}
	}
}
