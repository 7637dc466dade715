package pipeline_test

import (
	"testing"

	"presage/perf/isa"
	"presage/perf/isa/rv64"
	"presage/perf/pipeline"
	"presage/perf/trace"
)

// in is an instruction to be laid out: its class, what it defines, what it
// uses.
func in(class isa.Class, def isa.Reg, uses ...isa.Reg) isa.Inst {
	i := isa.Inst{Class: class, Len: 4, Op: class.String()}
	i.AddDef(def)
	for _, u := range uses {
		i.AddUse(u)
	}
	switch class {
	case isa.Load, isa.FPLoad, isa.Store, isa.FPStore, isa.Atomic:
		m := isa.Mem{Kind: isa.MemLoad, Size: 8, Base: isa.NoReg, Index: isa.NoReg, Float: class == isa.FPLoad || class == isa.FPStore}
		if len(uses) > 0 {
			m.Base = uses[0]
		}
		switch class {
		case isa.Store, isa.FPStore:
			m.Kind = isa.MemStore
		case isa.Atomic:
			m.Kind = isa.MemReadModifyWrite
		}
		i.AddMem(m)
	}
	return i
}

const none = isa.NoReg

// script is a program and a run of it, made by hand.
type script struct {
	code  [][]isa.Inst
	plan  *trace.Plan
	refs  map[uint64]trace.RefID
	batch trace.Batch
}

// place lays blocks out one after the other from address 0x1000 on. to tells,
// by block, the block that its last instruction may transfer control to.
func place(tb testing.TB, to map[int]int, blocks ...[]isa.Inst) *script {
	tb.Helper()
	s := &script{refs: make(map[uint64]trace.RefID)}
	pc := uint64(0x1000)
	starts := make([]uint64, len(blocks))
	for b, insts := range blocks {
		starts[b] = pc
		block := append([]isa.Inst(nil), insts...)
		for i := range block {
			block[i].PC = pc
			pc += uint64(block[i].Len)
		}
		s.code = append(s.code, block)
	}
	for b, target := range to {
		last := &s.code[b][len(s.code[b])-1]
		last.Target, last.HasTarget = starts[target], true
	}
	plan, err := pipeline.Plan(s.code)
	if err != nil {
		tb.Fatal(err)
	}
	s.plan = plan
	for i, r := range plan.Refs {
		s.refs[uint64(r.PC)] = trace.RefID(i)
	}
	return s
}

// run executes a block once, its references accessing addrs in turn.
func (s *script) run(block int, addrs ...uint64) {
	s.batch.Blocks = append(s.batch.Blocks, trace.BlockID(block))
	for i := range s.code[block] {
		in := &s.code[block][i]
		if !in.Accesses() {
			continue
		}
		s.batch.Accesses = append(s.batch.Accesses, trace.Tag(s.refs[in.PC], in.Mems()[0].Size)+trace.Access(addrs[0]))
		addrs = addrs[1:]
	}
}

// simulate returns what a processor makes of the run.
func (s *script) simulate(tb testing.TB, c pipeline.Config) *pipeline.Result {
	tb.Helper()
	return s.simulateIn(tb, c, pipeline.Options{})
}

func (s *script) simulateIn(tb testing.TB, c pipeline.Config, o pipeline.Options) *pipeline.Result {
	tb.Helper()
	sim, err := pipeline.New(rv64.Target(), s.plan, s.code, c, o)
	if err != nil {
		tb.Fatal(err)
	}
	sim.Observe(&s.batch)
	r := sim.Result()
	for _, w := range r.Warnings {
		tb.Error(w)
	}
	if got := r.Stack.Total(); got != r.Cycles {
		tb.Errorf("the stack adds up to %d cycles, not %d: %+v", got, r.Cycles, r.Stack)
	}
	sum := uint64(0)
	for _, n := range r.BlockCycles {
		sum += n
	}
	if sum != r.Cycles {
		tb.Errorf("blocks add up to %d cycles, not %d", sum, r.Cycles)
	}
	return r
}
