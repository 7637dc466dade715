package perf

import (
	"math"
	"strings"
	"testing"

	"presage/perf/frame"
	"presage/perf/machine"
	"presage/perf/store"
)

// TestInvestigateIsTheChain holds a study against the calls that it stands for.
func TestInvestigateIsTheChain(t *testing.T) {
	run := RunOptions{Args: oneIteration, Store: store.Open(t.TempDir())}
	m := find(t, "origin2000")
	s := Study{
		Validation: Validation{
			RunOptions: run, Machines: []*machine.Machine{m, find(t, "itanium2")},
			Train: Sweep("n", 6, 7, 8, 9), Judge: Sweep("n", 12), Large: Sweep("n", 16), By: []Scope{ByProgram, ByLoop},
		},
		Curve: Sweep("n", 8, 10, 20), Times: Sweep("n", 10),
	}
	found, err := Investigate(t.Context(), program(t), s)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := Validate(t.Context(), program(t), s.Validation)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := found.Misses.String(), alone.String(); a != b {
		t.Errorf("misses\n%s\nValidate\n%s", a, b)
	}
	of, n, model := text(t, found.Misses, "of"), column(t, found.Misses, "n"), column(t, found.Misses, "rel_err_model")
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
	sim, err := SimulateTime(t.Context(), program(t), m, s.Times, SimulateTimeOptions{RunOptions: run})
	if err != nil {
		t.Fatal(err)
	}
	origin, err := frame.Where(found.Times, "machine", "origin2000")
	if err != nil {
		t.Fatal(err)
	}
	want := one(t, column(t, sim, "sim_cycles"))
	for i, got := range column(t, origin, "sim_cycles") {
		if n := column(t, origin, "n")[i]; n == 10 && got != want || n != 10 && !math.IsNaN(got) {
			t.Errorf("n = %g: %g cycles simulated, want %g at n = 10 alone", n, got, want)
		}
	}
	if rows := found.Times.Nrow(); rows != 6 || found.Curves.Nrow() != 3*(3+5) {
		t.Errorf("%d rows of times, %d of curves, for two machines and three sizes", rows, found.Curves.Nrow())
	}
	bare := *m
	bare.Core = machine.Core{}
	s.Machines, s.Train = []*machine.Machine{&bare}, Sweep("n", 21, 22, 23, 24)
	s.Progress = func(Progress) { t.Error("a machine without a core, and something is run") }
	if _, err := Investigate(t.Context(), program(t), s); err == nil || !strings.Contains(err.Error(), bare.Name) {
		t.Errorf("a machine without a core: %v", err)
	}
	s.Progress, s.Times = nil, Sweep("n", 11)
	if _, err := Investigate(t.Context(), program(t), s); err == nil || !strings.Contains(err.Error(), "not on the curve") {
		t.Errorf("time at a size that is not on the curve: %v", err)
	}
}
