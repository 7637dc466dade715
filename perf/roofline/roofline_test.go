package roofline

import (
	"errors"
	"math"
	"strings"
	"testing"

	"presage/perf/anatomy"
	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/isa"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/store"
	"presage/perf/subject"
	"presage/perf/timing"
)

// matmul profiles and counts the product of two matrices of n rows and columns.
func matmul(t *testing.T, m *machine.Machine) (*misses.Model, *timing.ExecutionModel, subject.RunOptions, *subject.Program) {
	t.Helper()
	prog, err := subject.Open(perftest.Path(t, "datasets", "quickstart", "matmul"))
	if err != nil {
		t.Fatal(err)
	}
	st := store.Open(t.TempDir())
	run := subject.RunOptions{Args: "{n}", Store: st}
	points := subject.Sweep("n", 24, 32, 40, 48, 56)
	runs, err := locality.Profile(t.Context(), prog, points, locality.ProfileOptions{RunOptions: run, BlockBytes: m.BlockBytes()})
	if err != nil {
		t.Fatal(err)
	}
	model, err := misses.Fit(t.Context(), runs, misses.FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	counts, err := anatomy.CountSweep(t.Context(), prog, points, run)
	if err != nil {
		t.Fatal(err)
	}
	execution, err := timing.FitExecution(t.Context(), counts)
	if err != nil {
		t.Fatal(err)
	}
	return model, execution, run, prog
}

func near(got, want, share float64) bool { return math.Abs(got-want) <= share*math.Abs(want) }

// TestRooflineOfMatmul holds the innermost loop against what its source says, at a size
// that was never run: two operations and 16 bytes in each of n³ iterations. The bytes of
// lower levels are those of the misses that are simulated there.
func TestRooflineOfMatmul(t *testing.T) {
	const n = 90
	m := profiletest.Machine(t, "zen4")
	m.Caches[0].Blocks, m.Caches[1].Blocks = 64, 512 // 4 KiB: a column of b does not fit; 32 KiB: b does not
	model, execution, run, prog := matmul(t, m)
	at := subject.Sweep("n", n)
	rows, err := Predict(t.Context(), model, execution, m, at, Options{By: subject.ByLoop})
	if err != nil {
		t.Fatal(err)
	}
	inner := rowsOf(rows, func(scope string) bool { return strings.Count(scope, "/") == 3 })
	if len(inner) != 4 {
		t.Fatalf("%d rows of the innermost loop, of %d", len(inner), len(rows))
	}
	if one, err := Predict(t.Context(), model, execution, m, at, Options{By: subject.ByLoop, Listing: subject.Listing{Limit: 1}}); err != nil || len(one) != 4 {
		t.Errorf("%d rows of one loop, error %v", len(one), err)
	}
	sim, err := misses.Simulate(t.Context(), prog, m, at, misses.SimulateOptions{RunOptions: run, FullyAssociative: true})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := Predict(t.Context(), model, execution, m, at, Options{})
	if err != nil {
		t.Fatal(err)
	}
	times, err := timing.Predict(t.Context(), model, execution, m, at, timing.PredictOptions{By: subject.ByLoop})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range inner {
		if !near(r.Flops, 2*n*n*n, 1e-6) {
			t.Errorf("%g operations, want 2·%d³", r.Flops, n)
		}
		if r.Level == "L1" && (!near(r.Bytes, 16*n*n*n, 1e-6) || !near(r.Intensity, 0.125, 1e-6)) {
			t.Errorf("%g bytes of L1, want 16·%d³; %g for each byte", r.Bytes, n, r.Intensity)
		}
		if r.Level != []string{"L1", "L2", "L3", machine.MemoryLevel}[i] {
			t.Errorf("level %d is %s", i, r.Level)
		}
		for _, tr := range times {
			if tr.Scope == r.Scope && (r.Cycles != tr.Cycles || r.Rate != r.Flops/tr.Cycles) {
				t.Errorf("%g cycles, want %g", r.Cycles, tr.Cycles)
			}
		}
		if r.Share != r.Rate/r.Roof || !(r.Roof <= r.PeakOf) {
			t.Errorf("%s: %+v", r.Level, r)
		}
	}
	for i := 1; i < 4; i++ {
		if want := sim[i-1].Full * 64; !near(whole[i].Bytes, want, 0.02) {
			t.Errorf("%s gives %g bytes, %g simulated", whole[i].Level, whole[i].Bytes, want)
		}
	}
	// The operations of a run, counted.
	c, err := anatomy.Count(t.Context(), prog, at[0], run)
	if err != nil {
		t.Fatal(err)
	}
	if want := counted(c); !near(whole[0].Flops, want, 1e-6) {
		t.Errorf("%g operations, %g counted", whole[0].Flops, want)
	}
	if r := inner[0]; r.Lowest != "L1" || r.Roof != 24*r.Intensity {
		t.Errorf("%+v: want L1's ceiling, three loads a cycle", r)
	}
	m.Caches[0].BypassFloat = true
	if whole, err = Predict(t.Context(), model, execution, m, at, Options{}); err != nil {
		t.Fatal(err)
	}
	for i, missing := range []bool{true, true, false, false} {
		r := whole[i]
		if math.IsNaN(r.Bytes) != missing || math.IsNaN(r.Intensity) != missing || missing && r.Roof != r.PeakOf || !strings.Contains(r.Warning, "bytes of L2 not predicted: floating-point accesses bypass L1") {
			t.Errorf("where floating-point accesses bypass L1: %+v", r)
		}
	}
	m.Caches[0].BypassFloat = false
	if _, err := Predict(t.Context(), model, execution, m, at, Options{By: subject.ByReference}); err == nil {
		t.Error("by reference: no error")
	}
	if _, err := Predict(t.Context(), model, execution, m, subject.Sweep("k", 3), Options{}); err == nil {
		t.Error("another parameter: no error")
	}
}

func rowsOf(rows []Row, want func(string) bool) (out []Row) {
	for _, r := range rows {
		if want(r.Scope) {
			out = append(out, r)
		}
	}
	return out
}

// counted returns the floating-point operations of a run by the names of instructions.
func counted(c *anatomy.Counts) float64 {
	sum := 0.0
	var insts []uint64
	for i, r := range c.Structure().Graph.Routines {
		for b := range r.Blocks {
			insts = c.Recovered.Routines[i].Insts(insts, r, b)
			for k, n := range insts {
				sum += float64(n) * operations(r.Blocks[b].Insts[k].Op)
			}
		}
	}
	return sum
}

// operations returns the operations of a riscv64 instruction by its name.
func operations(op string) float64 {
	op = strings.ToLower(op)
	for prefix, n := range map[string]float64{"fadd.": 1, "fsub.": 1, "fmul.": 1, "fdiv.": 1, "fsqrt.": 1, "fmadd.": 2, "fmsub.": 2, "fnmadd.": 2, "fnmsub.": 2} {
		if strings.HasPrefix(op, prefix) {
			return n
		}
	}
	return 0
}

func TestRoofOf(t *testing.T) {
	zen := profiletest.Machine(t, "zen4")
	r, err := RoofOf(zen)
	if err != nil {
		t.Fatal(err)
	}
	// Two units add and two multiply, or fuse; three loads of 8 bytes; 24 blocks of 64
	// bytes in 14, 50 and 286 cycles.
	want := []float64{24, 24 * 64. / 14, 24 * 64. / 50, 24 * 64. / 286}
	for i, c := range r.Levels {
		if math.Abs(float64(c.Rate)-want[i]) > 1e-9 {
			t.Errorf("%s: %g bytes a cycle from %s, want %g", c.Level, float64(c.Rate), c.From, want[i])
		}
	}
	if r.Flops != 4 || len(r.Warnings) != 0 {
		t.Errorf("%g operations a cycle from %s; %v", r.Flops, r.From, r.Warnings)
	}
	if got := r.Allows(3, 0.1); math.Abs(got-0.1*want[3]) > 1e-12 {
		t.Errorf("memory allows %g", got)
	}
	if got := r.Allows(3, 100); got != 4 {
		t.Errorf("memory allows %g at 100 operations a byte", got)
	}
	zen.Caches[1].Bandwidth, zen.Memory.Bandwidth, zen.Caches[2].Latency = 32, 2.5, 0
	if r, err = RoofOf(zen); err != nil {
		t.Fatal(err)
	}
	if r.Levels[1].Rate != 32 || r.Levels[3].Rate != 2.5 || r.Levels[2].Rate != 0 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "bandwidth of L3 not known") {
		t.Errorf("%+v", r)
	}
	if got := r.Allows(2, 1e-9); got != 4 {
		t.Errorf("a level without a bandwidth allows %g", got)
	}
	for _, class := range []isa.Class{isa.FPAdd, isa.FPMultiply, isa.FPFused} {
		delete(zen.Core.Classes, class)
	}
	if _, err := RoofOf(zen); !errors.Is(err, ErrNoUnits) || !strings.Contains(err.Error(), zen.Name) {
		t.Errorf("without floating-point units: %v", err)
	}
	zen.Core = machine.Core{}
	if _, err := RoofOf(zen); !errors.Is(err, ErrNoCore) {
		t.Errorf("without a core: %v", err)
	}
}
