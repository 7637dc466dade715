package misses

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/frame"
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
	run := subject.RunOptions{Args: perftest.OneIteration, Store: st}
	train, judge := subject.Sweep("n", 6, 7, 8, 9), subject.Sweep("n", 14, 18)
	got, err := Validate(t.Context(), perftest.Program(t), Validation{RunOptions: run, Machines: []*machine.Machine{m}, Train: train, Judge: judge})
	if err != nil {
		t.Fatal(err)
	}
	runs, err := locality.Profile(t.Context(), perftest.Program(t), train, locality.ProfileOptions{RunOptions: run, Stack: true, BlockBytes: m.BlockBytes()})
	if err != nil {
		t.Fatal(err)
	}
	model, err := FitScaling(t.Context(), runs, FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][2]float64{}
	for _, by := range []subject.Scope{subject.ByProgram, subject.ByRoutine} {
		pred, err := PredictMisses(model, m, judge, PredictOptions{By: by})
		if err != nil {
			t.Fatal(err)
		}
		sim, err := SimulateMisses(t.Context(), perftest.Program(t), m, judge, SimulateOptions{RunOptions: run, By: by, FullyAssociative: true})
		if err != nil {
			t.Fatal(err)
		}
		both, err := Compare(pred, sim)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := validationRows(both, []string{"n"})
		if err != nil {
			t.Fatal(err)
		}
		perLevel := map[string]float64{}
		for _, r := range rows {
			perLevel[subject.Point(r.Point).String()+r.Level] += r.Sim
		}
		for _, r := range rows {
			if by == subject.ByProgram || r.Sim >= DefaultMinShare*perLevel[subject.Point(r.Point).String()+r.Level] {
				want[subject.Point(r.Point).String()+r.Level+string(by)+r.Scope] = [2]float64{r.Pred, r.Sim}
			}
		}
	}
	rows, err := validationRows(got, []string{"n"})
	if err != nil {
		t.Fatal(err)
	}
	of, err := frame.Strings(got, "of")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][2]float64{}
	for i, r := range rows {
		found[subject.Point(r.Point).String()+r.Level+of[i]+r.Scope] = [2]float64{r.Pred, r.Sim}
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
	for i, g := range perftest.Column(t, got, "growth") {
		if want := rows[i].Point["n"] / 9; g != want {
			t.Errorf("growth %g, want %g", g, want)
		}
	}
	if _, err := Validate(t.Context(), perftest.Program(t), Validation{RunOptions: run, Train: train, Judge: judge}); err == nil {
		t.Error("no machine, and no error")
	}
}

// TestCauses gives the rows of a model the simulations that have each cause.
func TestCauses(t *testing.T) {
	st := store.Open(t.TempDir())
	m := profiletest.Machine(t, "origin2000")
	runs := profiletest.Profile(t, st, []float64{6, 7, 8, 9}, m.BlockBytes()...)
	model, err := FitScaling(t.Context(), runs, FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	r := validationRow{Point: subject.Point{"n": 14}, Level: "L1", Scope: model.Program}
	for _, c := range []struct {
		level                        string
		pred, predFull, sim, simFull float64
		want                         string
	}{
		{"TLB", 0, 0, 50, 50, CauseModel},
		{"L1", 10, 0, 50, 0, CauseConflicts},
		{"L1", 0, 0, 50, 40, CauseModel},
	} {
		row := validationRow{Point: r.Point, Level: c.level, Scope: "nothing", Pred: c.pred, PredFull: c.predFull, Sim: c.sim, SimFull: c.simFull, Err: relErr(c.pred, c.sim)}
		if got, err := model.cause(m, subject.ByProgram, &row); err != nil || got != c.want {
			t.Errorf("%+v: cause %q, %v", c, got, err)
		}
	}
	l := predict.Levels(m)[0]
	full := func(blocks uint64) float64 {
		x, err := model.fullyAssociative(l, subject.ByProgram, &r, blocks)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	r.PredFull, r.Pred = full(l.Blocks()), full(l.Blocks())
	least, most := full(l.Blocks()*5/4), full(l.Blocks()*4/5)
	if !(least < r.PredFull*0.93 && most > r.PredFull*1.07) {
		t.Fatalf("misses %g, %g and %g: no test without distances near the capacity", least, r.PredFull, most)
	}
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
		r.Err = relErr(r.Pred, r.Sim)
		if got, err := model.cause(m, subject.ByProgram, &r); err != nil || got != c.want {
			t.Errorf("predicted %g, simulated %g, %g fully associative: cause %q, %v, want %q", r.Pred, r.Sim, r.SimFull, got, err, c.want)
		}
	}
}

func TestAccuracy(t *testing.T) {
	df := frame.Of([]struct {
		Level string  `frame:"level"`
		Err   float64 `frame:"rel_err"`
		Full  float64 `frame:"rel_err_fully_assoc"`
		Model float64 `frame:"rel_err_model"`
	}{
		{"L1", 0.125, 0, math.NaN()},
		{"L1", -0.375, 0, math.NaN()},
		{"L1", 7, 0, math.NaN()},
		{"L1", -0.25, 0, math.NaN()},
		{"L2", -0.5, 0, math.NaN()},
	})
	got, err := Accuracy(df, "level")
	if err != nil {
		t.Fatal(err)
	}
	want := "of,error,rows,median_abs,mean_abs_to_1,p90_abs,worst_abs\n" +
		"L1,rel_err,4,0.3125,0.4375,7,7\n" +
		"L2,rel_err,1,0.5,0.5,0.5,0.5\n" +
		"L1,rel_err_fully_assoc,4,0,0,0,0\n" +
		"L2,rel_err_fully_assoc,1,0,0,0,0\n"
	var text strings.Builder
	if err := frame.WriteCSV(&text, got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Error(diff)
	}
	if _, err := Accuracy(df, "size"); err == nil {
		t.Error("a column that is not there, and no error")
	}
}
