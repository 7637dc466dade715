package pipeline_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/isa"
	"presage/perf/pipeline"
)

// a57 is the Arm Cortex-A57 as llvm-mca 14 models it: three instructions a
// cycle into a window of 128, from which they begin in any order.
func a57() pipeline.Config {
	on := func(latency, cycles int, names ...string) pipeline.Timing {
		return pipeline.Timing{Latency: latency, Uses: []pipeline.Use{{AnyOf: names, Cycles: cycles}}}
	}
	return pipeline.Config{
		DispatchWidth: 3, Window: 128,
		Units: []pipeline.Unit{
			{Name: "B", Count: 1},
			{Name: "I", Count: 2},
			{Name: "L", Count: 1},
			{Name: "M", Count: 1},
			{Name: "S", Count: 1},
			{Name: "W", Count: 1},
			{Name: "X", Count: 1},
		},
		Timings: map[isa.Class]pipeline.Timing{
			isa.ALU: on(1, 1, "I"), isa.Multiply: on(5, 1, "M"), isa.Divide: on(35, 35, "M"),
			isa.Load: on(4, 1, "L"), isa.FPLoad: on(5, 1, "L"), isa.Store: on(1, 1, "S"), isa.FPStore: on(1, 1, "S"),
			isa.FPAdd: on(5, 1, "W", "X"), isa.FPMultiply: on(5, 1, "W", "X"), isa.FPFused: on(9, 1, "W", "X"), isa.FPDivide: on(32, 32, "W"),
			isa.Branch: on(1, 1, "B"),
		},
	}
}

// Registers of the loops below: x0 to x8 are 0 to 8, d0 to d7 are f0 to f7, and
// the flags are in 9. A register that is not written is left out of the uses.
const (
	f0, f1, f2, f3 = isa.F0, isa.F0 + 1, isa.F0 + 2, isa.F0 + 3
	flags          = isa.Reg(9)
)

// outOfOrderLoops are bodies of loops for the A57, and their instructions.
var outOfOrderLoops = []struct {
	name, body string
	insts      []isa.Inst
}{
	{
		"daxpy", "ldr d0,[x0]; ldr d1,[x1]; fmadd d1,d0,d2,d1; str d1,[x1]; add x0,x0,#8; add x1,x1,#8; cmp x0,x2; b.ne .",
		[]isa.Inst{
			in(isa.FPLoad, f0, 0), in(isa.FPLoad, f1, 1), in(isa.FPFused, f1, f0, f1), in(isa.FPStore, none, 1, f1),
			in(isa.ALU, 0, 0), in(isa.ALU, 1, 1), in(isa.ALU, flags, 0), in(isa.Branch, none, flags),
		},
	},
	{
		"dot", "ldr d0,[x0]; ldr d1,[x1]; fmul d0,d0,d1; fadd d3,d3,d0; add x0,x0,#8; add x1,x1,#8; cmp x0,x2; b.ne .",
		[]isa.Inst{
			in(isa.FPLoad, f0, 0), in(isa.FPLoad, f1, 1), in(isa.FPMultiply, f0, f0, f1), in(isa.FPAdd, f3, f3, f0),
			in(isa.ALU, 0, 0), in(isa.ALU, 1, 1), in(isa.ALU, flags, 0), in(isa.Branch, none, flags),
		},
	},
	{
		"stencil", "ldr d0,[x0]; ldr d1,[x0,#8]; ldr d2,[x0,#16]; fadd d0,d0,d2; fmul d1,d1,d4; fadd d0,d0,d1; str d0,[x1]; add x0,x0,#8; add x1,x1,#8; cmp x0,x2; b.ne .",
		[]isa.Inst{
			in(isa.FPLoad, f0, 0), in(isa.FPLoad, f1, 0), in(isa.FPLoad, f2, 0), in(isa.FPAdd, f0, f0, f2), in(isa.FPMultiply, f1, f1), in(isa.FPAdd, f0, f0, f1),
			in(isa.FPStore, none, 1, f0), in(isa.ALU, 0, 0), in(isa.ALU, 1, 1), in(isa.ALU, flags, 0), in(isa.Branch, none, flags),
		},
	},
	{
		"spmv", "ldr x3,[x0]; ldr d0,[x1]; ldr d1,[x3]; fmul d0,d0,d1; fadd d3,d3,d0; add x0,x0,#8; add x1,x1,#8; cmp x0,x2; b.ne .",
		[]isa.Inst{
			in(isa.Load, 3, 0), in(isa.FPLoad, f0, 1), in(isa.FPLoad, f1, 3), in(isa.FPMultiply, f0, f0, f1), in(isa.FPAdd, f3, f3, f0),
			in(isa.ALU, 0, 0), in(isa.ALU, 1, 1), in(isa.ALU, flags, 0), in(isa.Branch, none, flags),
		},
	},
	{
		"copy", "ldr x3,[x0]; str x3,[x1]; add x0,x0,#8; add x1,x1,#8; cmp x0,x2; b.ne .",
		[]isa.Inst{
			in(isa.Load, 3, 0), in(isa.Store, none, 1, 3), in(isa.ALU, 0, 0), in(isa.ALU, 1, 1), in(isa.ALU, flags, 0), in(isa.Branch, none, flags),
		},
	},
	{
		"pointer chase", "ldr x0,[x0]; cmp x0,x2; b.ne .",
		[]isa.Inst{in(isa.Load, 0, 0), in(isa.ALU, flags, 0), in(isa.Branch, none, flags)},
	},
	{
		"hash", "ldr x3,[x0]; eor x4,x4,x3; mul x4,x4,x5; add x0,x0,#8; cmp x0,x2; b.ne .",
		[]isa.Inst{
			in(isa.Load, 3, 0), in(isa.ALU, 4, 4, 3), in(isa.Multiply, 4, 4), in(isa.ALU, 0, 0), in(isa.ALU, flags, 0), in(isa.Branch, none, flags),
		},
	},
	{
		"divisions", "fdiv d0,d1,d2; fadd d3,d3,d0; sdiv x3,x4,x5; add x0,x0,#8; cmp x0,x2; b.ne .",
		[]isa.Inst{
			in(isa.FPDivide, f0), in(isa.FPAdd, f3, f3, f0), in(isa.Divide, 3), in(isa.ALU, 0, 0), in(isa.ALU, flags, 0), in(isa.Branch, none, flags),
		},
	},
	{
		"chained divisions", "fdiv d0,d0,d2; fmul d0,d0,d3; cmp x0,x2; b.ne .",
		[]isa.Inst{in(isa.FPDivide, f0, f0), in(isa.FPMultiply, f0, f0), in(isa.ALU, flags), in(isa.Branch, none, flags)},
	},
}

// outOfOrderTolerance bounds the difference in cycles an iteration, by share.
const outOfOrderTolerance = 0.05

// TestLLVMMCAOutOfOrder compares with llvm-mca out of order, which chooses the least
// recently used unit instead of the first free one; that matters only where units
// differ.
func TestLLVMMCAOutOfOrder(t *testing.T) {
	mca := needMCA(t)
	for _, loop := range outOfOrderLoops {
		t.Run(loop.name, func(t *testing.T) {
			source := filepath.Join(t.TempDir(), "loop.s")
			if err := os.WriteFile(source, []byte(strings.ReplaceAll(loop.body, ";", "\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			want := mcaCycles(t, mca, source, "-mtriple=aarch64", "-mcpu=cortex-a57")
			got := cyclesPerIteration(t, loop.insts, a57())
			t.Logf("%.2f cycles an iteration, llvm-mca %.2f", got, want)
			if math.Abs(got-want) > outOfOrderTolerance*want {
				t.Errorf("%.2f cycles an iteration, llvm-mca %.2f", got, want)
			}
		})
	}
}
