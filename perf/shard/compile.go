package shard

import (
	"fmt"
	"slices"

	"presage/perf/isa"
	"presage/perf/trace"
)

// block is a basic block in the form that the hot loop needs.
type block struct {
	pc     uint64
	ops    []op
	active []int32 // those of ops with anything to do
	lines  []run
	mix    Shard // counts of one execution
	end    exit
}

// op is the part of an instruction that matters for data flow and memory.
type op struct {
	refs []trace.RefID
	uses []uint8 // of the watched registers
	defs []uint8 // of the watched registers
	kind use
}

// run is the instructions of a block that lie in one block of code.
type run struct{ line, first, count int }

// exit is how control may leave a block.
type exit struct {
	control     bool
	conditional bool
	next        uint64 // address of the instruction after it in memory
}

// taken reports whether control left a block for pc by a taken transfer. An
// unconditional one is always taken; a conditional one is taken if pc is not the next
// instruction in memory.
func (e exit) taken(pc uint64) bool {
	return e.control && (!e.conditional || pc != e.next)
}

// compile translates the code of a plan; lines is how many blocks of code there
// are.
func compile(plan *trace.Plan, code [][]isa.Inst) (blocks []block, lines int, err error) {
	if len(code) != len(plan.Blocks) {
		return nil, 0, fmt.Errorf("shard: the plan has %d blocks and there are instructions of %d", len(plan.Blocks), len(code))
	}
	k := compiler{plan: plan, refs: make(map[trace.PC]trace.RefID), lines: make(map[uint64]int)}
	for i, r := range slices.Backward(plan.Refs) { // to the first of each instruction's
		k.refs[r.PC] = trace.RefID(i)
	}
	for _, insts := range code {
		k.watch(insts)
	}
	blocks = make([]block, len(code))
	for i, insts := range code {
		if len(insts) == 0 || insts[0].PC != uint64(plan.Blocks[i].PC) {
			return nil, 0, fmt.Errorf("shard: block %d is at pc %#x in the plan; the code has %d instructions, or others, there", i, uint64(plan.Blocks[i].PC), len(insts))
		}
		if err := k.block(&blocks[i], insts); err != nil {
			return nil, 0, err
		}
	}
	return blocks, len(k.lines), nil
}

// compiler makes blocks.
type compiler struct {
	plan    *trace.Plan
	refs    map[trace.PC]trace.RefID // the first of an instruction
	lines   map[uint64]int           // numbers of blocks of code
	watched [registers]bool          // what producers whose consumers are looked for ever define
}

func (k *compiler) watch(insts []isa.Inst) {
	for i := range insts {
		if producing(insts[i].Class) != unwatched {
			for _, r := range insts[i].Defs() {
				k.watched[r] = true
			}
		}
	}
}

// those returns the watched registers among regs.
func (k *compiler) those(regs []isa.Reg) (list []uint8) {
	for _, r := range regs {
		if k.watched[r] {
			list = append(list, uint8(r))
		}
	}
	return list
}

func (k *compiler) block(b *block, insts []isa.Inst) error {
	b.pc, b.ops = insts[0].PC, make([]op, len(insts))
	for j := range insts {
		in := &insts[j]
		o := &b.ops[j]
		*o = op{uses: k.those(in.Uses()), defs: k.those(in.Defs()), kind: producing(in.Class)}
		for n := range in.Mems() {
			ref, ok := k.refs[trace.PC(in.PC)]
			ref += trace.RefID(n)
			if !ok || int(ref) >= len(k.plan.Refs) || k.plan.Refs[ref].PC != trace.PC(in.PC) {
				return fmt.Errorf("shard: the plan does not record the memory reference at pc %#x", in.PC)
			}
			o.refs = append(o.refs, ref)
		}
		if len(o.refs)+len(o.uses)+len(o.defs) > 0 {
			b.active = append(b.active, int32(j))
		}
		b.mix.tally(in)
		k.line(b, j, in.PC)
	}
	last := &insts[len(insts)-1]
	b.end = exit{control(last.Class), last.Class == isa.Branch, last.Next()}
	return nil
}

// line records the block of code that instruction j of a block lies in.
func (k *compiler) line(b *block, j int, pc uint64) {
	number, known := k.lines[pc/BlockBytes]
	if !known {
		number = len(k.lines)
		k.lines[pc/BlockBytes] = number
	}
	if n := len(b.lines); n == 0 || b.lines[n-1].line != number {
		b.lines = append(b.lines, run{line: number, first: j})
	}
	b.lines[len(b.lines)-1].count++
}

// control reports whether c is a control instruction.
func control(c isa.Class) bool {
	switch c {
	case isa.Branch, isa.Jump, isa.IndirectJump, isa.Call, isa.Return:
		return true
	}
	return false
}

// producing returns the kind of producer that an instruction of class c is.
func producing(c isa.Class) use {
	switch c {
	case isa.FPAdd, isa.FPConvert, isa.FPMove:
		return floatALU
	case isa.FPMultiply, isa.FPFused:
		return floatMul
	case isa.Multiply:
		return intMul
	}
	return unwatched
}

// tally adds an instruction to the mix.
func (s *Shard) tally(in *isa.Inst) {
	switch in.Class {
	case isa.ALU, isa.Shift, isa.Compare:
		s.IntALU++
	case isa.Multiply, isa.Divide:
		s.IntMulDiv++
	case isa.FPAdd, isa.FPConvert, isa.FPMove:
		s.FloatALU++
	case isa.FPMultiply, isa.FPDivide, isa.FPSqrt, isa.FPFused:
		s.FloatMulDiv++
	case isa.Branch, isa.Jump, isa.IndirectJump, isa.Call, isa.Return:
		s.Control++
	}
	if in.Accesses() {
		s.Memory++
	}
}
