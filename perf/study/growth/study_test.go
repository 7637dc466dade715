package growth

import (
	"math"
	"strings"
	"testing"

	"presage/perf/frame"
	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/progress"
	"presage/perf/store"
	"presage/perf/subject"
	"presage/perf/timing"
)

// TestInvestigateIsTheChain holds a study against the calls that it stands for.
func TestInvestigateIsTheChain(t *testing.T) {
	run := subject.RunOptions{Args: perftest.OneIteration, Store: store.Open(t.TempDir())}
	m := profiletest.Machine(t, "origin2000")
	s := Study{
		Validation: misses.Validation{
			RunOptions: run, Machines: []*machine.Machine{m, profiletest.Machine(t, "itanium2")},
			Train: subject.Sweep("n", 6, 7, 8, 9), Judge: subject.Sweep("n", 12), Large: subject.Sweep("n", 16), By: []subject.Scope{subject.ByProgram, subject.ByLoop},
		},
		Curve: subject.Sweep("n", 8, 10, 20), Times: subject.Sweep("n", 10),
	}
	found, err := Investigate(t.Context(), perftest.Program(t), s)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := misses.Validate(t.Context(), perftest.Program(t), s.Validation)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := found.Misses.String(), alone.String(); a != b {
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
	sim, err := timing.SimulateTime(t.Context(), perftest.Program(t), m, s.Times, timing.SimulateTimeOptions{RunOptions: run})
	if err != nil {
		t.Fatal(err)
	}
	origin, err := frame.Where(found.Times, "machine", "origin2000")
	if err != nil {
		t.Fatal(err)
	}
	want := perftest.One(t, perftest.Column(t, sim, "sim_cycles"))
	for i, got := range perftest.Column(t, origin, "sim_cycles") {
		if n := perftest.Column(t, origin, "n")[i]; n == 10 && got != want || n != 10 && !math.IsNaN(got) {
			t.Errorf("n = %g: %g cycles simulated, want %g at n = 10 alone", n, got, want)
		}
	}
	if rows := found.Times.Nrow(); rows != 6 || found.Curves.Nrow() != 3*(3+5) {
		t.Errorf("%d rows of times, %d of curves, for two machines and three sizes", rows, found.Curves.Nrow())
	}
	bare := *m
	bare.Core = machine.Core{}
	s.Machines, s.Train = []*machine.Machine{&bare}, subject.Sweep("n", 21, 22, 23, 24)
	s.Progress = func(progress.Report) { t.Error("a machine without a core, and something is run") }
	if _, err := Investigate(t.Context(), perftest.Program(t), s); err == nil || !strings.Contains(err.Error(), bare.Name) {
		t.Errorf("a machine without a core: %v", err)
	}
	s.Progress, s.Times = nil, subject.Sweep("n", 11)
	if _, err := Investigate(t.Context(), perftest.Program(t), s); err == nil || !strings.Contains(err.Error(), "not on the curve") {
		t.Errorf("time at a size that is not on the curve: %v", err)
	}
}
