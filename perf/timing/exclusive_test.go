package timing

import (
	"math"
	"strings"
	"testing"

	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/misses"
	"presage/perf/subject"
)

// exact is by how much sums of the same cycles in another order may differ.
const exact = 1e-9

// TestExclusiveTimesAddUp: predicted and simulated times of routines, and of loops
// without those inside them, add up to the program's; loops with those inside them
// follow from that; and where both have a scope, they mean the same instructions.
func TestExclusiveTimesAddUp(t *testing.T) {
	m := profiletest.Machine(t, "origin2000")
	model, execution := timed(t)
	run := sweeps(t)
	at := subject.Sweep("n", 12) // as counted, so that frequencies do not extrapolate
	predict := func(by subject.Scope, exclusive bool) []Row {
		rows, err := Predict(t.Context(), model, execution, m, at, PredictOptions{By: by, Exclusive: exclusive})
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	simulate := func(by subject.Scope, exclusive bool) []SimulatedRow {
		rows, err := Simulate(t.Context(), perftest.Program(t), m, at, SimulateOptions{RunOptions: run, By: by, Exclusive: exclusive})
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	pred, sim := predict(subject.ByProgram, false)[0], simulate(subject.ByProgram, false)[0]
	for _, by := range []subject.Scope{subject.ByRoutine, subject.ByLoop} {
		p, s := predict(by, true), simulate(by, true)
		if sum := sumOf(perftest.Column(t, p, "pred_cycles")); math.Abs(sum-pred.Cycles) > exact*pred.Cycles {
			t.Errorf("by %s: predicted cycles add up to %g, the program takes %g", by, sum, pred.Cycles)
		}
		if sum := sumOf(perftest.Column(t, s, "sim_cycles")); sum != sim.Cycles {
			t.Errorf("by %s: simulated cycles add up to %g, the program takes %g", by, sum, sim.Cycles)
		}
		compareInstructions(t, p, s)
	}
	own := make(map[string]float64)
	for _, r := range predict(subject.ByLoop, true) {
		own[r.Scope] = r.Cycles
	}
	for _, r := range predict(subject.ByLoop, false) {
		sum := 0.0
		for scope, cycles := range own {
			if scope == r.Scope || strings.HasPrefix(scope, r.Scope+"/") {
				sum += cycles
			}
		}
		if math.Abs(sum-r.Cycles) > exact*r.Cycles {
			t.Errorf("%s takes %g cycles, its parts %g", r.Scope, r.Cycles, sum)
		}
	}
	// The same scopes as in tables of misses.
	known := model.Scopes(subject.ByLoop)
	for i := range model.Groups() {
		if name := known.Names[known.Of[misses.Group(i)]]; own[name] == 0 && model.Accesses(at[0])[i] > 1000 {
			t.Errorf("%s has accesses and takes no time", name)
		}
	}
}

// compareInstructions holds the instructions of predicted scopes against simulated
// ones at a size that was counted.
func compareInstructions(t *testing.T, pred []Row, sim []SimulatedRow) {
	t.Helper()
	// Functions of the size are fitted to four counts, which they need not meet; the
	// runtime's few instructions hang on other things.
	const tolerance, few = 0.05, 1e4
	at := make(map[string]float64)
	for i := range pred {
		if _, twice := at[pred[i].Scope]; twice {
			t.Errorf("two predicted scopes are %s", pred[i].Scope)
		}
		at[pred[i].Scope] = pred[i].Instructions
	}
	compared := 0
	for i := range sim {
		if n := sim[i].Instructions; n > few {
			compared++
			if p := at[sim[i].Scope]; math.Abs(p-n) > tolerance*n {
				t.Errorf("%s: %g instructions predicted, %g simulated", sim[i].Scope, p, n)
			}
		}
	}
	if compared < 5 {
		t.Errorf("%d scopes were compared", compared)
	}
}
