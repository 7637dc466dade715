package inferred

import (
	"testing"

	"presage/perf/infer"
	"presage/perf/isa"
	"presage/perf/isa/rv64"
	"presage/perf/pipeline"
	"presage/perf/trace"
)

// TestCores simulates a small kernel on two corners of the hardware space: more of
// everything is faster.
func TestCores(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the packages below have tests of their own goroutines")
	}
	var least, most infer.Architecture
	for _, y := range infer.HardwareSpace() {
		least, most = append(least, y.Values[0]), append(most, y.Values[len(y.Values)-1])
	}
	most[7] = least[7] // latency: less is better
	cycles := func(a infer.Architecture) uint64 {
		config, err := Core(a)
		if err != nil {
			t.Fatal(err)
		}
		code, plan := kernelCode(t)
		sim, err := pipeline.New(rv64.Target(), plan, code, config, pipeline.Options{})
		if err != nil {
			t.Fatal(err)
		}
		sim.Observe(&trace.Batch{Blocks: make([]trace.BlockID, 2000)})
		return sim.Result().Cycles
	}
	if slow, fast := cycles(least), cycles(most); fast >= slow {
		t.Errorf("%d cycles on the least architecture, %d on the most", slow, fast)
	}
	if _, err := Core(least[:2]); err == nil {
		t.Error("an architecture of two parameters, and no error")
	}
}

// kernelCode is a block of independent additions.
func kernelCode(t *testing.T) ([][]isa.Inst, *trace.Plan) {
	var insts []isa.Inst
	for i := range 16 {
		in := isa.Inst{PC: 0x1000 + 4*uint64(i), Len: 4, Class: isa.ALU}
		in.AddDef(isa.Reg(5 + i%8))
		insts = append(insts, in)
	}
	code := [][]isa.Inst{insts}
	plan, err := pipeline.Plan(code)
	if err != nil {
		t.Fatal(err)
	}
	return code, plan
}
