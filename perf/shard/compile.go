package shard

import (
	"fmt"

	"presage/perf/isa"
	"presage/perf/trace"
)

// block is a basic block as the hot loop wants it.
type block struct {
	pc    uint64
	ops   []op
	lines []run
	mix   Shard // counts of one execution
	end   exit
}

// op is what data flow and memory need of an instruction.
type op struct {
	ref    trace.RefID
	uses   [3]uint8 // registers; noRegister for none
	def    uint8
	kind   use
	memory bool
}

const noRegister = 255

// run is the instructions of a block that lie in one block of code.
type run struct{ line, first, count int }

// exit is how control may leave a block.
type exit struct {
	control     bool
	conditional bool
	next        uint64 // address of the instruction after it in memory
}

// taken reports whether control left a block for one at pc by a transfer. An
// unconditional one is always taken; that of a conditional one is known from
// where it led.
func (e exit) taken(pc uint64) bool {
	return e.control && (!e.conditional || pc != e.next)
}

// compile translates the code of a plan; lines is how many blocks of code there
// are.
func compile(plan *trace.Plan, code [][]isa.Inst) (blocks []block, lines int, err error) {
	if len(code) != len(plan.Blocks) {
		return nil, 0, fmt.Errorf("shard: the plan has %d blocks and there are instructions of %d", len(plan.Blocks), len(code))
	}
	refs := make(map[trace.PC]trace.RefID)
	for i, r := range plan.Refs {
		refs[r.PC] = trace.RefID(i)
	}
	numbers := make(map[uint64]int)
	blocks = make([]block, len(code))
	for i, insts := range code {
		if len(insts) == 0 || insts[0].PC != uint64(plan.Blocks[i].PC) {
			return nil, 0, fmt.Errorf("shard: block %d is at pc %#x in the plan; the code has %d instructions, or others, there", i, uint64(plan.Blocks[i].PC), len(insts))
		}
		b := &blocks[i]
		b.pc = insts[0].PC
		for j := range insts {
			in := &insts[j]
			o := op{uses: [3]uint8{noRegister, noRegister, noRegister}, def: noRegister, kind: producing(in.Class), memory: in.Mem.Kind != isa.NoMem}
			for k, r := range in.Uses() {
				o.uses[k] = uint8(r)
			}
			for _, r := range in.Defs() {
				o.def = uint8(r)
			}
			if o.memory {
				ref, ok := refs[trace.PC(in.PC)]
				if !ok {
					return nil, 0, fmt.Errorf("shard: the plan does not record the memory reference at pc %#x", in.PC)
				}
				o.ref = ref
			}
			b.ops = append(b.ops, o)
			b.mix.tally(in)
			number, known := numbers[in.PC/BlockBytes]
			if !known {
				number = len(numbers)
				numbers[in.PC/BlockBytes] = number
			}
			if n := len(b.lines); n == 0 || b.lines[n-1].line != number {
				b.lines = append(b.lines, run{line: number, first: j})
			}
			b.lines[len(b.lines)-1].count++
		}
		last := &insts[len(insts)-1]
		b.end = exit{control(last.Class), last.Class == isa.Branch, last.Next()}
	}
	return blocks, len(numbers), nil
}

// control reports whether c is a control instruction.
func control(c isa.Class) bool {
	switch c {
	case isa.Branch, isa.Jump, isa.IndirectJump, isa.Call, isa.Return:
		return true
	}
	return false
}

// producing returns the kind of producer that an instruction is.
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
	if in.Mem.Kind != isa.NoMem {
		s.Memory++
	}
}
