package growth

import (
	"bytes"
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"presage/perf/frame"
	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/progress"
	"presage/perf/store"
	"presage/perf/study/record"
	"presage/perf/subject"
	"presage/perf/timing"
)

// TestStudyIsTheChain compares a study with the equivalent sequence of calls.
func TestStudyIsTheChain(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the packages below have tests of their own goroutines")
	}
	run := subject.RunOptions{Args: perftest.OneIteration, Store: store.Open(t.TempDir())}
	m := profiletest.Machine(t, "origin2000")
	s := Options{
		Validation: misses.Validation{
			RunOptions: run, Machines: []*machine.Machine{m, profiletest.Machine(t, "itanium2")},
			Train: subject.Sweep("n", 6, 7, 8, 9), Judge: subject.Sweep("n", 12), Large: subject.Sweep("n", 16), By: []subject.Scope{subject.ByProgram, subject.ByLoop},
		},
		Curve: subject.Sweep("n", 8, 10, 20), Times: subject.Sweep("n", 8, 10),
	}
	found, err := s.Run(t.Context(), perftest.Program(t))
	if err != nil {
		t.Fatal(err)
	}
	alone, err := misses.Validate(t.Context(), perftest.Program(t), s.Validation)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := frame.String(frame.Of(found.Misses)), frame.String(frame.Of(alone)); a != b {
		t.Errorf("misses\n%s\nValidate\n%s", a, b)
	}
	of, n, model := perftest.Text(t, found.Misses, "of"), perftest.Column(t, found.Misses, "n"), perftest.Column(t, found.Misses, "rel_err_model")
	loops := 0
	for i := range of {
		if of[i] == "loop" {
			loops++
		}
		if large := n[i] == 16; math.IsNaN(model[i]) != large {
			t.Errorf("n = %g: error of the model %g", n[i], model[i])
		}
	}
	if loops == 0 {
		t.Error("no loop is judged")
	}
	sim, err := timing.Simulate(t.Context(), perftest.Program(t), m, s.Times, timing.SimulateOptions{RunOptions: run})
	if err != nil {
		t.Fatal(err)
	}
	prefix := filepath.Join(t.TempDir(), "sweep3d")
	if err := found.Record(prefix, "make study"); err != nil {
		t.Fatal(err)
	}
	table := func(name string) frame.Table {
		text, err := record.ReadText(prefix + "-" + name + ".csv")
		if err != nil {
			t.Fatal(err)
		}
		df, err := frame.ReadCSV(bytes.NewReader(text.CSV))
		if err != nil {
			t.Fatal(err)
		}
		return df
	}
	if a, b := frame.String(table("misses")), frame.String(frame.Of(found.Misses)); a != b {
		t.Errorf("recorded\n%s\nfound\n%s", a, b)
	}
	times, curves := table("times"), table("curves")
	origin, err := frame.Where(times, "machine", "origin2000")
	if err != nil {
		t.Fatal(err)
	}
	want := make(map[float64]float64)
	for _, r := range sim {
		want[r.Point["n"]] = r.Cycles
	}
	for i, got := range perftest.Column(t, origin, "sim_cycles") {
		if n := perftest.Column(t, origin, "n")[i]; n < 20 && got != want[n] || n == 20 && !math.IsNaN(got) {
			t.Errorf("n = %g: %g cycles simulated, want %g", n, got, want[n])
		}
	}
	if times.Nrow() != 6 || curves.Nrow() != 3*(3+5) {
		t.Errorf("%d rows of times, %d of curves, for two machines and three sizes", times.Nrow(), curves.Nrow())
	}
	for i, fixed := range perftest.Column(t, times, "pred_fixed_cycles") {
		if want := found.On[i/3].Fixed[i%3].Cycles; fixed != want {
			t.Errorf("row %d: %g cycles with fixed shares, want %g", i, fixed, want)
		}
	}
	checkScopeTimes(t, slices.Concat(found.On[0].Scopes, found.On[1].Scopes), table("times"))
	whole := map[string]string{"times": frame.String(table("times")), "scopetimes": frame.String(table("scopetimes"))}
	timed, err := s.OnlyTimes(t.Context(), perftest.Program(t))
	if err != nil {
		t.Fatal(err)
	}
	prefix = filepath.Join(t.TempDir(), "alone")
	if err := timed.Record(prefix, "make study-times"); err != nil {
		t.Fatal(err)
	}
	for name, want := range whole {
		if got := frame.String(table(name)); got != want {
			t.Errorf("recorded %s\n%s\nby themselves\n%s", name, want, got)
		}
	}
	if files, err := filepath.Glob(prefix + "-*.csv"); err != nil || len(files) != 2 {
		t.Errorf("of times alone there are %v, %v", files, err)
	}
	bare := *m
	bare.Core = machine.Core{}
	s.Machines, s.Train = []*machine.Machine{&bare}, subject.Sweep("n", 21, 22, 23, 24)
	s.Progress = func(progress.Report) { t.Error("a machine without a core, and something is run") }
	if _, err := s.Run(t.Context(), perftest.Program(t)); err == nil || !strings.Contains(err.Error(), bare.Name) {
		t.Errorf("a machine without a core: %v", err)
	}
	s.Progress, s.Times = nil, subject.Sweep("n", 11)
	for name, run := range map[string]func(context.Context, *subject.Program) (*Findings, error){"all": s.Run, "times": s.OnlyTimes} {
		if _, err := run(t.Context(), perftest.Program(t)); err == nil || !strings.Contains(err.Error(), "not on the curve") {
			t.Errorf("%s, time at a size that is not on the curve: %v", name, err)
		}
	}
}

// TestSampledTimes demands the predictions of a study and the estimates of
// timing.Simulate side by side.
func TestSampledTimes(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the packages below have tests of their own goroutines")
	}
	run := subject.RunOptions{Args: perftest.OneIteration, Store: store.Open(t.TempDir())}
	m := profiletest.Machine(t, "origin2000")
	s := Options{
		Validation: misses.Validation{RunOptions: run, Machines: []*machine.Machine{m, profiletest.Machine(t, "itanium2")}, Train: subject.Sweep("n", 6, 7, 8, 9), Judge: subject.Sweep("n", 10)},
		Curve:      subject.Sweep("n", 12, 16),
		SampleAt:   subject.Sweep("n", 12, 16), Sampling: timing.Sampling{Intervals: 20, Length: 2000, Lead: 500, History: 50_000},
	}
	table, err := s.SampledTimes(t.Context(), perftest.Program(t))
	if err != nil {
		t.Fatal(err)
	}
	found, err := s.Run(t.Context(), perftest.Program(t))
	if err != nil {
		t.Fatal(err)
	}
	sim, err := timing.Simulate(t.Context(), perftest.Program(t), m, s.SampleAt, timing.SimulateOptions{RunOptions: run, Sampled: &s.Sampling})
	if err != nil {
		t.Fatal(err)
	}
	if table.Nrow() != 4 {
		t.Fatalf("%d rows, for two machines and two sizes", table.Nrow())
	}
	pred, fixed := floats(t, table, "pred_cycles"), floats(t, table, "pred_fixed_cycles")
	for i := range 4 {
		on := &found.On[i/2]
		if pred[i] != on.Times[i%2].Cycles || fixed[i] != on.Fixed[i%2].Cycles {
			t.Errorf("row %d: %g and %g cycles, the study predicts %g and %g", i, pred[i], fixed[i], on.Times[i%2].Cycles, on.Fixed[i%2].Cycles)
		}
	}
	for i := range 2 {
		for column, want := range map[string]float64{"sim_cycles": sim[i].Cycles, "sim_cycles_low": sim[i].Sampled["sim_cycles_low"], "sim_cycles_high": sim[i].Sampled["sim_cycles_high"]} {
			if got := floats(t, table, column)[i]; math.Abs(got/want-1) > 1e-12 {
				t.Errorf("row %d: %s of %g, simulated %g", i, column, got, want)
			}
		}
	}
	prefix := filepath.Join(t.TempDir(), "sweep3d")
	if err := RecordSampled(perftest.Program(t), table, prefix, "make study"); err != nil {
		t.Fatal(err)
	}
	text, err := record.ReadText(prefix + "-sampled.csv")
	if err != nil || !strings.Contains(string(text.CSV), timing.SampledReference) {
		t.Errorf("%v: the recording does not say that it is of intervals:\n%s", err, text.CSV)
	}
	s.SampleAt = nil
	if _, err := s.SampledTimes(t.Context(), perftest.Program(t)); err == nil || !strings.Contains(err.Error(), "no sizes") {
		t.Errorf("no sizes: %v", err)
	}
}
