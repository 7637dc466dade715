package timing

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/machine"
	"presage/perf/store"
	"presage/perf/subject"
)

// TestOutcomesThatComeAgain: a core that learns patterns of branches is predicted to have
// learned those of the largest run, as the simulated core does, and a row says that it
// hangs on that; one that learns shorter ones is not.
func TestOutcomesThatComeAgain(t *testing.T) {
	compiler := oracle.Need(t, "riscv64-linux-gnu-gcc")
	prog := perftest.Link(t, compiler, []string{"-O2", "-g", "-static", filepath.Join("testdata", "again.c")}, "again.elf")
	run := subject.RunOptions{Args: "{n}", Store: store.Open(t.TempDir())}
	points, at := subject.Sweep("n", 800, 960, 1120, 1280, 1440, 1600), subject.Sweep("n", 3200)
	m := *profiletest.Machine(t, "zen4")
	model, execution := modelsOf(t, prog, points, run, &m)
	cycles := make(map[int]float64)
	for _, reach := range []int{1 << 15, 1 << 8} {
		m.Core.Branch = machine.Branch{Predictor: "tage", PatternReach: reach, MispredictCost: 13}
		pred, err := Predict(t.Context(), model, execution, &m, at, PredictOptions{})
		if err != nil {
			t.Fatal(err)
		}
		sim, err := Simulate(t.Context(), prog, &m, at, SimulateOptions{RunOptions: run})
		if err != nil {
			t.Fatal(err)
		}
		routines, err := Predict(t.Context(), model, execution, &m, at, PredictOptions{By: subject.ByRoutine})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range routines {
			if said := strings.Contains(r.Warning, "guessed as well as in the run at n=1600"); said != (reach > 3200) {
				t.Errorf("patterns of %d, %s: %s", reach, r.Scope, r.Warning)
			}
		}
		p, s := pred[0], sim[0]
		cycles[reach] = p.Cycles
		t.Logf("patterns of %d: %.4g instructions, schedule %.4g, flow %.3g, waits %v; simulated %.4g", reach, p.Instructions, p.Schedule, p.Flow, p.Waits, s.Instructions)
		t.Logf("patterns of %d: %.4g cycles, of branches %.3g; simulated %.4g, %.0f mispredicted", reach, p.Cycles, p.Branch, s.Cycles, s.Mispredicts)
		if off := p.Cycles/s.Cycles - 1; math.Abs(off) > 0.1 {
			t.Errorf("patterns of %d: %+.2f off", reach, off)
		}
		if said := strings.Contains(p.Warning, "guessed as well as in the run at n=1600"); said != (reach > 3200) {
			t.Errorf("patterns of %d: %s", reach, p.Warning)
		}
	}
	if cycles[1<<8] < 1.5*cycles[1<<15] {
		t.Errorf("%.4g cycles where patterns are learned, %.4g where not: this shows nothing", cycles[1<<15], cycles[1<<8])
	}
}
