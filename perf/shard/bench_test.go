package shard

import (
	"math/rand/v2"
	"testing"

	"presage/perf/isa"
	"presage/perf/trace"
)

// BenchmarkCollector characterises random walks over small blocks, with accesses
// that mostly hit what was accessed shortly before.
func BenchmarkCollector(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	var code [][]isa.Inst
	pc := uint64(0x10000)
	classes := []isa.Class{isa.ALU, isa.ALU, isa.FPLoad, isa.FPMultiply, isa.FPAdd, isa.Load, isa.ALU, isa.Multiply, isa.Store, isa.Shift}
	for range 40 {
		var insts []isa.Inst
		for range 5 + rng.IntN(20) {
			float := rng.IntN(2) * int(isa.F0)
			insts = append(insts, inst(pc, classes[rng.IntN(len(classes))], float+1+rng.IntN(30), float+1+rng.IntN(30), 1+rng.IntN(30)))
			pc += 4
		}
		code = append(code, append(insts, inst(pc, isa.Branch, -1, 5)))
		pc += 4
	}
	plan := planOf(code)
	batch, instructions := &trace.Batch{}, 0
	first := make([]trace.RefID, len(plan.Blocks)+1)
	for i, block := range plan.Blocks {
		first[i+1] = first[i] + trace.RefID(block.Refs)
	}
	for range 5000 {
		id := rng.IntN(len(code))
		batch.Blocks = append(batch.Blocks, trace.BlockID(id))
		for ref := first[id]; ref < first[id+1]; ref++ {
			batch.Accesses = append(batch.Accesses, access(ref, 8*uint64(rng.IntN(4000))))
		}
		instructions += len(code[id])
	}
	c, err := New(plan, code, 0)
	if err != nil {
		b.Fatal(err)
	}
	n := 0
	for b.Loop() {
		c.Observe(batch)
		batch.Start += uint64(instructions)
		n++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n*instructions), "ns/instruction")
}
