package target_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"presage/perf/cfg"
	"presage/perf/engine"
	"presage/perf/engine/rv64"
	"presage/perf/fit"
	"presage/perf/iperf"
	"presage/perf/iperf/target"
	"presage/perf/isa"
	"presage/perf/objfile"
	"presage/perf/pipeline"
	"presage/perf/trace"
)

// variants are the versions of the guest program, and the optimisation levels of
// the report that they stand for.
var variants = []struct{ name, level string }{
	{"naive", "none"}, {"optimised", "O3"}, {"interchanged", "depend-fast"},
}

// guest builds datasets/programs/iperf.
func guest(t testing.TB) *objfile.File {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "iperf")
	cmd := exec.Command("go", "build", "-o", exe, "presage/datasets/programs/iperf")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=riscv64", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	f, err := objfile.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// kernelPlan records the blocks and references of the guest's kernels alone.
func kernelPlan(t testing.TB, f *objfile.File) *trace.Plan {
	t.Helper()
	var code [][]isa.Inst
	for _, r := range cfg.Analyze(f).Routines {
		if !strings.HasPrefix(r.Name, "main.kernel") {
			continue
		}
		for _, b := range r.Blocks {
			code = append(code, b.Insts)
		}
	}
	plan, err := pipeline.Plan(code)
	if err != nil || len(plan.Refs) < 6 {
		t.Fatalf("%d references in the kernels, %v", len(plan.Refs), err)
	}
	return plan
}

// useCycles is how long after a load its value is used in the simulated targets:
// that of a load that hits plus one instruction, as the guest's kernels have it.
const useCycles = 2

// guestTimes runs a variant at one size and returns what each configuration
// makes of it.
func guestTimes(t testing.TB, f *objfile.File, plan *trace.Plan, variant string, n int, configs []target.Config) []target.Result {
	t.Helper()
	var collectors []*target.Collector
	var all []trace.Collector
	for _, c := range configs {
		one, err := target.NewCollector(plan, c)
		if err != nil {
			t.Fatal(err)
		}
		collectors, all = append(collectors, one), append(all, one)
	}
	sink := trace.NewPipeline(all...)
	res, err := rv64.Engine{}.Run(t.Context(), f, engine.Request{Args: []string{"-quiet", "-variant", variant, "-n", strconv.Itoa(n)}, Plan: plan, Sink: sink})
	if cerr := sink.Close(); err == nil {
		err = cerr
	}
	if err != nil || res.ExitCode != 0 {
		t.Fatalf("%s, n %d: exit status %d, %v", variant, n, res.ExitCode, err)
	}
	var out []target.Result
	for _, c := range collectors {
		r, err := c.Result()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// The guest's kernels make the accesses that the kernel's description says, and
// the machine sees them alike: real code through the engine and the access
// pattern have the same loads, stores and misses.
func TestGuestMakesTheAccessesOfTheKernel(t *testing.T) {
	f := guest(t)
	plan := kernelPlan(t, f)
	s := system(t, "ultrasparc-1")
	s.Placement = iperf.Coloured
	for _, v := range variants {
		for _, n := range []int{24, 200, 512} {
			got := guestTimes(t, f, plan, v.name, n, []target.Config{{System: s, UseCycles: useCycles}})[0]
			name := "increment-ij"
			if v.name == "interchanged" {
				name = "increment-ji"
			}
			want, err := target.Run(t.Context(), target.Config{System: s, UseCycles: useCycles}, kernel(t, name), target.Code{Instructions: 6}, fit.Point{"n": float64(n)})
			if err != nil {
				t.Fatal(err)
			}
			g, w := got.Counts, want.Counts
			// Beside the array's, code loads the constant 1 and, when it calls,
			// saves and restores a return address.
			if g.Loads < w.Loads || g.Stores < w.Stores || v.name != "naive" && g.Stores > w.Stores+10 {
				t.Errorf("%s, n %d: %d loads, %d stores; the kernel has %d, %d", v.name, n, g.Loads, g.Stores, w.Loads, w.Stores)
			}
			for i := range g.Misses {
				// Arrays begin at other places, and the stack and the constant take
				// a block each, which the array's pass over. Where their sets are the
				// same, a kernel that goes to the stack in each iteration has two
				// misses more a block and row.
				slack := 0.05*float64(w.Misses[i]) + 20
				if v.name == "naive" {
					slack += 2 * 2 * float64(n)
				}
				if !within(float64(g.Misses[i]), float64(w.Misses[i]), slack) {
					t.Errorf("%s, n %d: %d misses in level %d; the kernel has %d", v.name, n, g.Misses[i], i+1, w.Misses[i])
				}
			}
			if !within(float64(g.TLBMisses), float64(w.TLBMisses), 0.02*float64(w.TLBMisses)+20) {
				t.Errorf("%s, n %d: %d TLB misses; the kernel has %d", v.name, n, g.TLBMisses, w.TLBMisses)
			}
		}
	}
}

func within(a, b, slack float64) bool { return a-b <= slack && b-a <= slack }

// fasterBy orders variants: naive code takes longest, interchanged least.
func TestVariantsAreOrdered(t *testing.T) {
	f := guest(t)
	plan := kernelPlan(t, f)
	for _, name := range []string{"ultrasparc-2", "supersparc-1"} {
		c := target.Config{System: system(t, name), UseCycles: useCycles}
		var times []float64
		for _, v := range variants {
			times = append(times, guestTimes(t, f, plan, v.name, 400, []target.Config{c})[0].Seconds)
		}
		if !slices.IsSortedFunc(times, func(a, b float64) int {
			if a > b {
				return -1
			}
			return 1
		}) {
			t.Errorf("%s: %v s", name, times)
		}
	}
}
