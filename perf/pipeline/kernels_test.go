package pipeline_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"presage/perf/engine"
	"presage/perf/engine/rv64"
	"presage/perf/internal/oracle"
	"presage/perf/isa"
	isarv "presage/perf/isa/rv64"
	"presage/perf/objfile"
	"presage/perf/pipeline"
	"presage/perf/trace"
)

// kernel compiles a kernel of testdata/kernels.c, runs it in the engine, and
// returns its code and what the processor made of it.
func kernel(t *testing.T, name string, blocks int, c pipeline.Config) ([][]isa.Inst, *pipeline.Result) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	gcc := oracle.Need(t, "riscv64-linux-gnu-gcc")
	cmd := exec.Command(gcc, "-O2", "-fno-inline-functions", "-nostdlib", "-static", "-Wl,--no-relax", "-Wno-unused-function",
		"-DKERNEL="+name, fmt.Sprint("-DBLOCKS=", blocks), "-o", path, "testdata/kernels.c")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	f, err := objfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	code, plan := codeOf(t, f)
	s, err := pipeline.New(isarv.Target(), plan, code, c, pipeline.Options{})
	if err != nil {
		t.Fatal(err)
	}
	run, err := rv64.Engine{}.Run(context.Background(), f, engine.Request{Plan: plan, Sink: trace.NewDirect(s)})
	if err != nil {
		t.Fatal(err)
	}
	r := s.Result()
	for _, w := range r.Warnings {
		t.Error(w)
	}
	if r.Instructions != run.Instructions || r.Stack.Total() != r.Cycles {
		t.Errorf("%d instructions of %d simulated, stack of %d cycles of %d", r.Instructions, run.Instructions, r.Stack.Total(), r.Cycles)
	}
	return code, r
}

// busiest returns the cycles that an execution of the most executed block with
// a given property takes.
func busiest(code [][]isa.Inst, r *pipeline.Result, has func(*isa.Inst) bool) float64 {
	best := -1
	for b, insts := range code {
		for i := range insts {
			if has(&insts[i]) && (best < 0 || r.BlockExecutions[b] > r.BlockExecutions[best]) {
				best = b
			}
		}
	}
	if best < 0 || r.BlockExecutions[best] == 0 {
		return 0
	}
	return float64(r.BlockCycles[best]) / float64(r.BlockExecutions[best])
}

func isChase(in *isa.Inst) bool {
	return in.Class == isa.Load && in.Defs()[0] == in.Mems()[0].Base
}

// TestKernelsFromTheEngine demands that compiled programs run in the engine take the
// cycles of the same kernels made by hand: see the tests of known answers.
func TestKernelsFromTheEngine(t *testing.T) {
	c := ideal()
	c.Memory = testMemory()
	c.Memory.Levels[2].BlockBytes = 64
	for _, k := range []struct {
		blocks int
		want   float64
	}{{48, 4}, {400, 13}, {3000, 40}, {20_000, 180}} {
		for _, inOrder := range []bool{false, true} {
			c.InOrder = inOrder
			code, r := kernel(t, "chase", k.blocks, c)
			// The working set is a little smaller than its level, as the
			// first lap finds some of it in others.
			near(t, fmt.Sprintf("chase of %d blocks", k.blocks), busiest(code, r, isChase), k.want, 0.05)
		}
	}
	c.InOrder = false

	c.Memory.Interval = 25
	code, r := kernel(t, "sum", 20_000, c)
	near(t, "stream", busiest(code, r, func(in *isa.Inst) bool { return in.Class == isa.Load }), 25, 0.02)

	code, r = kernel(t, "horner", 1, c)
	near(t, "chain", busiest(code, r, func(in *isa.Inst) bool { return in.Class == isa.FPFused }), float64(latencies(isa.FPFused)), edge)

	for _, penalty := range []int{4, 16} {
		c.Branch = pipeline.Branch{Predictor: pipeline.Perfect, Penalty: penalty}
		_, perfect := kernel(t, "flip", 1, c)
		c.Branch = pipeline.Branch{Predictor: pipeline.Bimodal, Entries: 1024, Penalty: penalty}
		_, guessed := kernel(t, "flip", 1, c)
		if share := float64(guessed.Mispredicts) / 20_000; share < 0.45 || share > 0.55 {
			t.Errorf("%.3f of the random branches mispredicted, want half", share)
		}
		// The generator's chain goes on while the branch is awaited, so a wrong
		// guess costs from there: at least the penalty, at most what the branch
		// waited for beside it.
		cost := float64(guessed.Cycles-perfect.Cycles) / float64(guessed.Mispredicts)
		if cost < float64(penalty)-1 || cost > float64(penalty)+3 {
			t.Errorf("penalty %d: %.2f cycles a misprediction", penalty, cost)
		}
	}
}

// TestProgram simulates a real program in order and out of order, with every feature
// of a core: the parts sum up, and no instruction is missing.
func TestProgram(t *testing.T) {
	f := goBuild(t, "presage/datasets/programs/matmul")
	code, plan := codeOf(t, f)
	cpi := make(map[bool]float64)
	for _, inOrder := range []bool{false, true} {
		c := benchOutOfOrder()
		c.InOrder = inOrder
		s, err := pipeline.New(isarv.Target(), plan, code, c, pipeline.Options{Interval: 1_000_000})
		if err != nil {
			t.Fatal(err)
		}
		run, err := rv64.Engine{}.Run(context.Background(), f, engine.Request{Args: []string{"-n", "48"}, Plan: plan, Sink: trace.NewDirect(s)})
		if err != nil {
			t.Fatal(err)
		}
		r := s.Result()
		for _, w := range r.Warnings {
			t.Error(w)
		}
		if r.Stack.Total() != r.Cycles || r.Instructions != run.Instructions {
			t.Errorf("stack of %d cycles of %d; %d instructions of %d", r.Stack.Total(), r.Cycles, r.Instructions, run.Instructions)
		}
		cpi[inOrder] = r.CPI()
	}
	if cpi[true] <= cpi[false] || cpi[false] < 1.0/6 {
		t.Errorf("CPI %.3f in order, %.3f out of order", cpi[true], cpi[false])
	}
}
