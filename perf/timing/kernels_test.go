package timing

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"presage/perf/anatomy"
	"presage/perf/internal/oracle"
	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/sched"
	"presage/perf/store"
	"presage/perf/subject"
)

// kernels are programs of the kinds that a schedule by itself does not predict, each
// with what it is for.
var kernels = []struct {
	source, compiler string
	train            []float64
	at               float64
	// within is by how much the predicted cycles may be off; wrong the same of
	// mispredictions, 0 if there are too few.
	within, wrong float64
}{
	// A stencil with arrays of the size at run time: misses that overlap or not.
	{"upwind.f90", "gfortran", []float64{10, 12, 15, 18}, 26, 0.08, 0},
	// A division and a square root: units that are not pipelined.
	{"bodies.c", "gcc", []float64{50, 70, 90}, 140, 0.08, 0},
	// Draws that decide, and places in a table that they choose.
	{"lookups.c", "gcc", []float64{800, 1200, 1700}, 3400, 0.12, 0.2},
	// Walks along lists of random lengths: branches that wait for loads.
	{"chains.c", "gcc", []float64{500, 800, 1200}, 2400, 0.15, 0.4},
	// Branches on data that go as they did before.
	{"nearest.c", "gcc", []float64{2000, 3000, 4200}, 9000, 0.08, 0},
	// Arrays that are walked side by side, and a mesh that is new at first. Were misses of
	// each array for themselves, and spread evenly, it would be up to 53% off.
	{"streams.c", "gcc", []float64{60, 76, 90, 112, 130}, 320, 0.06, 0},
	// Recurrences that start anew with each row. That the second one waits for what the
	// first stored last is not known, so that they overlap too much.
	{"lines.c", "gcc", []float64{30, 40, 55}, 90, 0.16, 0},
}

// TestKernels holds predicted times of kernels against the simulated core, beyond the
// training sizes, on machines in order and out of order. Without walks these are off
// by up to 42%.
func TestKernels(t *testing.T) {
	for _, k := range kernels {
		t.Run(k.source, func(t *testing.T) {
			if testing.Short() && k.source != "lookups.c" {
				t.Skip("another kernel, of the same functions")
			}
			compiler := oracle.Need(t, "riscv64-linux-gnu-"+k.compiler)
			prog := perftest.Link(t, compiler, []string{"-O2", "-g", "-static", filepath.Join("testdata", k.source), "-lm"}, k.source+".elf")
			run := subject.RunOptions{Args: "{n}", Store: store.Open(t.TempDir())}
			points, at := subject.Sweep("n", k.train...), subject.Sweep("n", k.at)
			var machines []*machine.Machine
			for _, name := range []string{"origin2000", "itanium2", "zen4"} {
				machines = append(machines, profiletest.Machine(t, name))
			}
			model, execution := modelsOf(t, prog, points, run, machines...)
			for _, m := range machines {
				pred, err := Predict(t.Context(), model, execution, m, at, PredictOptions{})
				if err != nil {
					t.Fatal(err)
				}
				sim, err := Simulate(t.Context(), prog, m, at, SimulateOptions{RunOptions: run})
				if err != nil {
					t.Fatal(err)
				}
				p, s := pred[0], sim[0]
				off := p.Cycles/s.Cycles - 1
				t.Logf("%s: %.4g cycles, simulated %.4g: %+.3f; schedule %.4g, flow %.3g, branches %.3g, misses %v", m.Name, p.Cycles, s.Cycles, off, p.Schedule, p.Flow, p.Branch, p.Waits)
				if math.Abs(off) > k.within {
					t.Errorf("%s: cycles are %+.3f off", m.Name, off)
				}
				if k.wrong == 0 {
					continue
				}
				c, err := anatomy.Count(t.Context(), prog, at[0], run)
				if err != nil {
					t.Fatal(err)
				}
				if off := mispredicted(m, c)/s.Mispredicts - 1; math.Abs(off) > k.wrong {
					t.Errorf("%s: mispredictions are %+.3f off %g", m.Name, off, s.Mispredicts)
				}
			}
		})
	}
}

// modelsOf returns models of a program's runs for some machines.
func modelsOf(t *testing.T, prog *subject.Program, points []subject.Point, run subject.RunOptions, machines ...*machine.Machine) (*misses.Model, *ExecutionModel) {
	t.Helper()
	counts, err := anatomy.CountSweep(t.Context(), prog, points, run)
	if err != nil {
		t.Fatal(err)
	}
	execution, err := FitExecution(t.Context(), counts)
	if err != nil {
		t.Fatal(err)
	}
	profile := locality.ProfileOptions{RunOptions: run}
	for _, m := range machines {
		for _, b := range m.BlockBytes() {
			if !slices.Contains(profile.BlockBytes, b) {
				profile.BlockBytes = append(profile.BlockBytes, b)
			}
		}
	}
	runs, err := locality.Profile(t.Context(), prog, points, profile)
	if err != nil {
		t.Fatal(err)
	}
	model, err := misses.Fit(t.Context(), runs, misses.FitOptions{Store: run.Store})
	if err != nil {
		t.Fatal(err)
	}
	return model, execution
}

// mispredicted returns how many branches of a run a machine is expected to mispredict.
func mispredicted(m *machine.Machine, c *anatomy.Counts) float64 {
	s, f := c.Structure(), sched.Counted(c.Recovered)
	branches := sched.PredictBranches(&m.Core, s.Access, f, nil)
	sum := 0.0
	for i, r := range s.Graph.Routines {
		for _, n := range branches.Of(i, r, &f.Routines[i]) {
			sum += n
		}
	}
	return sum
}
