package timing

import (
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/anatomy"
	"presage/perf/frame"
	"presage/perf/internal/num"
	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/predict"
	"presage/perf/store"
	"presage/perf/subject"
)

// timed returns models of Sweep3D at small sizes for the Origin 2000, fitted once for
// all tests, which do not change them.
func timed(t *testing.T) (*misses.Model, *ExecutionModel) {
	t.Helper()
	timings.Do(func() { timings.model, timings.execution = fitted(t) })
	if timings.execution == nil {
		t.Fatal("the models could not be fitted")
	}
	return timings.model, timings.execution
}

var timings struct {
	sync.Once
	model     *misses.Model
	execution *ExecutionModel
}

// fitted profiles and counts Sweep3D.
func fitted(t *testing.T) (*misses.Model, *ExecutionModel) {
	t.Helper()
	points := subject.Sweep("n", 6, 8, 10, 12)
	return modelsOf(t, perftest.Program(t), points, sweeps(t), profiletest.Machine(t, "origin2000"))
}

// sweeps returns how tests run Sweep3D, with a store of their own.
func sweeps(t *testing.T) subject.RunOptions {
	t.Helper()
	return subject.RunOptions{Args: perftest.OneIteration, Store: store.Open(t.TempDir())}
}

// TestPredictTime holds predicted times against simulated ones, beyond the
// training sizes, and their parts against each other.
func TestPredictTime(t *testing.T) {
	m := profiletest.Machine(t, "origin2000")
	model, execution := timed(t)
	run := sweeps(t)
	size := 18.0
	if testing.Short() {
		size = 14
	}
	at := subject.Sweep("n", size)
	pred, err := Predict(t.Context(), model, execution, m, at, PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sim, err := Simulate(t.Context(), perftest.Program(t), m, at, SimulateOptions{RunOptions: run})
	if err != nil {
		t.Fatal(err)
	}
	if e := num.RelErr(perftest.One(t, perftest.Column(t, pred, "pred_cycles")), perftest.One(t, perftest.Column(t, sim, "sim_cycles"))); math.Abs(e) > 0.15 {
		t.Errorf("cycles are %.0f%% off", 100*e)
	}
	if p, s := perftest.One(t, perftest.Column(t, pred, "pred_instructions")), perftest.One(t, perftest.Column(t, sim, "sim_instructions")); math.Abs(p/s-1) > 0.02 {
		t.Errorf("%g instructions predicted, %g simulated", p, s)
	}
	sum := 0.0
	for _, name := range frame.Of(pred).Names() {
		if strings.HasSuffix(name, "_wait_cycles") || name == "pred_schedule_cycles" || name == "pred_flow_cycles" {
			sum += perftest.One(t, perftest.Column(t, pred, name))
		}
	}
	cycles := perftest.One(t, perftest.Column(t, pred, "pred_cycles"))
	if math.Abs(sum-cycles) > 1e-9*cycles {
		t.Errorf("parts sum to %g, the whole is %g", sum, cycles)
	}
	if got, want := perftest.One(t, perftest.Column(t, pred, "pred_time_sec")), cycles/300e6; math.Abs(got-want) > 1e-12 {
		t.Errorf("%g s, want %g", got, want)
	}
	parts := 0.0
	for _, name := range frame.Of(sim).Names() {
		if strings.HasSuffix(name, "_cycles") && name != "sim_cycles" {
			parts += perftest.One(t, perftest.Column(t, sim, name))
		}
	}
	if s := perftest.One(t, perftest.Column(t, sim, "sim_cycles")); parts != s {
		t.Errorf("the simulated parts sum to %g, the whole is %g", parts, s)
	}
	// What the parts of a program take is what the program takes.
	for _, by := range []subject.Scope{subject.ByRoutine} {
		p, err := Predict(t.Context(), model, execution, m, at, PredictOptions{By: by})
		if err != nil {
			t.Fatal(err)
		}
		s, err := Simulate(t.Context(), perftest.Program(t), m, at, SimulateOptions{RunOptions: run, By: by})
		if err != nil {
			t.Fatal(err)
		}
		if got := sumOf(perftest.Column(t, p, "pred_schedule_cycles")); math.Abs(got/perftest.One(t, perftest.Column(t, pred, "pred_schedule_cycles"))-1) > 1e-9 {
			t.Errorf("by %s: schedules sum to %g", by, got)
		}
		if got, want := sumOf(perftest.Column(t, s, "sim_cycles")), perftest.One(t, perftest.Column(t, sim, "sim_cycles")); math.Abs(got/want-1) > 0.01 {
			t.Errorf("by %s: simulated cycles sum to %g, of %g", by, got, want)
		}
		if p[0].Scope != "main.solveLine" || s[0].Scope != "main.solveLine" {
			t.Errorf("most time in %s, simulated in %s", p[0].Scope, s[0].Scope)
		}
	}
}

func sumOf(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum
}

// TestFixedExposure recomputes the paper's formula (2004, section 3.2) from the
// predicted misses.
func TestFixedExposure(t *testing.T) {
	m := profiletest.Machine(t, "origin2000")
	model, execution := timed(t)
	at := subject.Sweep("n", 20)
	pred, err := Predict(t.Context(), model, execution, m, at, PredictOptions{FixedExposure: true})
	if err != nil {
		t.Fatal(err)
	}
	missed, err := misses.Predict(t.Context(), model, m, at, misses.PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for level, cycles := range map[string]float64{"L1": 0.5 * 8, "L2": 81, "TLB": 78} {
		rows, err := frame.Where(frame.Of(missed), "level", level)
		if err != nil {
			t.Fatal(err)
		}
		want := cycles * perftest.One(t, perftest.Column(t, rows, "pred_misses"))
		if got := perftest.One(t, perftest.Column(t, pred, "pred_"+level+"_wait_cycles")); math.Abs(got-want) > 1e-6*want {
			t.Errorf("%s: %g cycles, want %g", level, got, want)
		}
	}
	if b := perftest.One(t, perftest.Column(t, pred, "pred_branch_wait_cycles")); b != 0 {
		t.Errorf("branches cost %g cycles in the paper's formula", b)
	}
	if _, err := Predict(t.Context(), model, execution, m, at, PredictOptions{By: subject.ByReference}); err == nil {
		t.Error("times by reference, and no error")
	}
	if _, err := Predict(t.Context(), model, execution, &machine.Machine{Name: "bare"}, at, PredictOptions{}); err == nil {
		t.Error("a machine without a core, and no error")
	}
	if _, err := Predict(t.Context(), model, execution, m, []subject.Point{{"m": 3}}, PredictOptions{}); err == nil {
		t.Error("a point without n, and no error")
	}
}

// TestPredictTimeOfStreams: prefetching takes part of the wait for memory away, little
// of anything else's, and nothing if it leaves all of the latency; the paper's
// formula does not regard it. The second-level cache does not hold a mesh of 60.
func TestPredictTimeOfStreams(t *testing.T) {
	plain := profiletest.Machine(t, "origin2000")
	model, execution := timed(t)
	predict := func(stream machine.Cycles, fixed bool) map[string]float64 {
		m := *plain
		m.Memory.StreamLatency = stream
		df, err := Predict(t.Context(), model, execution, &m, subject.Sweep("n", 60), PredictOptions{FixedExposure: fixed})
		if err != nil {
			t.Fatal(err)
		}
		values := make(map[string]float64)
		for _, name := range frame.Of(df).Names() {
			if strings.HasSuffix(name, "_cycles") {
				values[name] = perftest.One(t, perftest.Column(t, df, name))
			}
		}
		return values
	}
	without := predict(0, false)
	if diff := cmp.Diff(without, predict(plain.Memory.RestartLatency, false)); diff != "" {
		t.Errorf("prefetching that leaves everything: %s", diff)
	}
	for name, with := range predict(11, false) { // as from the last cache
		switch was := without[name]; {
		case name == "pred_L2_wait_cycles" || name == "pred_cycles":
			if !(with < was) {
				t.Errorf("%s: %g with prefetching, %g without", name, with, was)
			}
		case math.Abs(with-was) > max(0.1*math.Abs(was), 1e-3*without["pred_cycles"]): // what overlaps with memory is shared otherwise
			t.Errorf("%s: %g with prefetching, %g without", name, with, was)
		}
	}
	if diff := cmp.Diff(predict(0, true), predict(11, true)); diff != "" {
		t.Errorf("fixed exposure: %s", diff)
	}
}

// TestStreams: a reference by itself in its group whose address goes up by 8 bytes
// walks through blocks of 8 and more; no stream is irregular or indirect.
func TestStreams(t *testing.T) {
	model, _ := timed(t)
	walks, others, eights := 0, 0, 0
	for i := range model.Groups() {
		g := misses.Group(i)
		refs := model.References(g)
		ref := refs[0]
		if !streams(model, g, 128) {
			others++
			continue
		}
		walks++
		first := ref.Strides[0]
		if !first.Regular() {
			t.Errorf("%v: a stream, of strides %v", ref, ref.Strides)
		}
		if by, constant := first.Formula.Constant(); constant && by == 8 && len(refs) == 1 {
			eights++
			if !streams(model, g, 8) || streams(model, g, 4) {
				t.Errorf("%v: through blocks of 8 %t, of 4 %t", ref, streams(model, g, 8), streams(model, g, 4))
			}
		}
	}
	if walks < 10 || others < 10 || eights < 3 {
		t.Errorf("%d streams, %d others, %d of 8 bytes", walks, others, eights)
	}
}

// TestScheduleOfCounts holds the schedule of what was counted against that of
// what is predicted at the same size.
func TestScheduleOfCounts(t *testing.T) {
	m := profiletest.Machine(t, "sifive-u74")
	model, execution := timed(t)
	counts, err := anatomy.Count(t.Context(), perftest.Program(t), subject.Point{"n": 12}, sweeps(t))
	if err != nil {
		t.Fatal(err)
	}
	counted, err := Schedule(t.Context(), counts, m, PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := perftest.One(t, perftest.Column(t, counted, "pred_instructions")), float64(counts.Instructions); math.Abs(got-want) > 1 {
		t.Errorf("%g instructions scheduled, %g executed", got, want)
	}
	origin := profiletest.Machine(t, "origin2000")
	pred, err := Predict(t.Context(), model, execution, origin, subject.Sweep("n", 12), PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	same, err := Schedule(t.Context(), counts, origin, PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if p, c := perftest.One(t, perftest.Column(t, pred, "pred_schedule_cycles")), perftest.One(t, perftest.Column(t, same, "pred_cycles")); math.Abs(p/c-1) > 0.02 {
		t.Errorf("schedule of modelled frequencies %g cycles, of counted ones %g", p, c)
	}
}

func TestPenaltiesOfMachines(t *testing.T) {
	p, warnings := predict.Penalties(profiletest.Machine(t, "origin2000"))
	if len(warnings) > 0 || len(p) != 3 || p[1].Latency != 81 || p[1].Share != 1 || p[0].Latency != 8 || p[0].Share != 0.5 || !p[2].TLB || p[2].Latency != 78 {
		t.Errorf("%+v, %v", p, warnings)
	}
	_, warnings = predict.Penalties(profiletest.Machine(t, "power3"))
	if len(warnings) == 0 {
		t.Error("a TLB whose cost is not known, and no warning")
	}
}
