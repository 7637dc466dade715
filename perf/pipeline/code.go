package pipeline

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"presage/perf/isa"
	"presage/perf/trace"
)

// op is a micro-operation in the form that the hot loop needs.
type op struct {
	work    *work  // of its class
	line    uint64 // block of the instruction cache that its instruction begins in
	latency int32
	ref     trace.RefID
	uses    uint32   // four registers, noUse for none, one a byte: the addresses of an array's elements would be spilled
	defs    uint16   // two registers, noDef for none, one a byte
	address [2]uint8 // registers that a store's address is made of, noUse for none
	flags   opFlags
	queue   int8  // index, or -1
	enter   uint8 // level of cache that its access enters at
	tlb     uint8 // the same of TLBs
	class   isa.Class
}

type opFlags uint16

const (
	opLoad opFlags = 1 << iota
	opStore
	opFloat // its datum is floating-point
	opSerializes
	opInt  // defines an integer register
	opFP   // defines a floating-point register
	opMoot // its class has no timing
	opPart // others of its instruction follow
)

// again marks the reference of a micro-operation whose access an earlier one of the
// same instruction already made.
const again trace.RefID = 1 << 31

// Registers have their numbers in package isa. Further ones stand for values that
// pass between the micro-operations of an instruction.
const (
	temporaries = 192 // the first of isa.MaxMicros
	noUse       = 254 // a register that is always ready
	noDef       = 255 // one that nobody reads
	regs        = 256
)

// codeBlock is a basic block.
type codeBlock struct {
	pc           uint64
	ops          []op
	instructions int
	refs         int      // accesses
	end          transfer // of its last instruction
}

// Plan returns the plan that records what a Simulator needs: all blocks and all
// memory references, each in a group of its own. code holds the instructions of the
// basic blocks, ascending by address.
func Plan(code [][]isa.Inst) (*trace.Plan, error) {
	p := new(trace.Plan)
	known := make(map[uint64]bool)
	for i, insts := range code {
		if len(insts) == 0 {
			return nil, fmt.Errorf("pipeline: block %d is empty", i)
		}
		b := trace.Block{PC: trace.PC(insts[0].PC), Instructions: uint32(len(insts))}
		for j := range insts {
			in := &insts[j]
			b.Refs += uint32(len(in.Mems()))
			if known[in.PC] { // blocks may overlap
				continue
			}
			known[in.PC] = true
			for k, m := range in.Mems() {
				p.Refs = append(p.Refs, trace.Ref{PC: trace.PC(in.PC), Operand: uint8(k), Size: trace.FirstPiece(m.Size), Kind: kindOf(m.Kind), Float: m.Float})
			}
		}
		p.Blocks = append(p.Blocks, b)
	}
	slices.SortFunc(p.Refs, trace.Ref.Compare)
	for i := range p.Refs {
		p.Refs[i].Group = trace.GroupID(i)
	}
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("pipeline: %w", err)
	}
	return p, nil
}

func kindOf(k isa.MemKind) trace.Kind {
	switch k {
	case isa.MemStore:
		return trace.Store
	case isa.MemReadModifyWrite:
		return trace.ReadModifyWrite
	}
	return trace.Load
}

// compiler makes codeBlocks.
type compiler struct {
	config *Config
	memory *memory
	plan   *trace.Plan
	refs   map[trace.PC]trace.RefID // the first of an instruction
	micros [isa.MaxMicros]isa.Micro
	works  map[isa.Class]*work
	queues map[isa.Class]int8
	lines  uint // log2 of the instruction cache's blocks
	widest uint64
}

func newCompiler(c *Config, m *memory, plan *trace.Plan) *compiler {
	k := &compiler{
		config: c, memory: m, plan: plan, refs: make(map[trace.PC]trace.RefID), works: make(map[isa.Class]*work), queues: make(map[isa.Class]int8),
	}
	for i, r := range plan.Refs {
		if _, known := k.refs[r.PC]; !known { // an instruction's references follow each other
			k.refs[r.PC] = trace.RefID(i)
		}
	}
	l := newLayout(c)
	for _, class := range isa.Classes() {
		w := l.work(class, c.Timings[class])
		k.works[class] = &w
		k.queues[class] = -1
	}
	for i, q := range c.Queues {
		for _, class := range q.Classes {
			k.queues[class] = int8(i)
		}
	}
	for size := c.ICache.BlockBytes; size > 1; size >>= 1 {
		k.lines++
	}
	return k
}

// blocks compiles the blocks of a plan.
func (k *compiler) blocks(plan *trace.Plan, code [][]isa.Inst) ([]codeBlock, error) {
	if len(code) != len(plan.Blocks) {
		return nil, fmt.Errorf("pipeline: the plan has %d blocks and there are instructions of %d", len(plan.Blocks), len(code))
	}
	blocks := make([]codeBlock, len(code))
	for i, insts := range code {
		b := &blocks[i]
		want := plan.Blocks[i]
		switch {
		case len(insts) == 0:
			return nil, fmt.Errorf("pipeline: block %d at pc %#x is empty", i, uint64(want.PC))
		case insts[0].PC != uint64(want.PC):
			return nil, fmt.Errorf("pipeline: block %d begins at pc %#x in the plan and at %#x in the code", i, uint64(want.PC), insts[0].PC)
		}
		b.pc, b.ops, b.instructions = insts[0].PC, make([]op, 0, len(insts)), len(insts)
		for j := range insts {
			if err := k.instruction(b, &insts[j]); err != nil {
				return nil, err
			}
		}
		last := &insts[len(insts)-1]
		b.end = transfer{class: last.Class, hasTarget: last.HasTarget, from: trace.BlockID(i), pc: last.PC, next: last.Next(), target: last.Target}
	}
	return blocks, nil
}

// instruction adds the micro-operations of an instruction to a block.
func (k *compiler) instruction(b *codeBlock, in *isa.Inst) error {
	micros := in.Micros(k.micros[:0])
	asked := uint(0) // operands that were accessed
	for n, m := range micros {
		o := k.op(in, m.Class)
		if err := o.name(in, micros, n); err != nil {
			return err
		}
		if m.Mem >= 0 {
			if err := k.access(&o, in, m); err != nil {
				return err
			}
			if asked>>m.Mem&1 == 0 {
				b.refs++
			} else {
				o.ref |= again
			}
			asked |= 1 << m.Mem
		}
		if n < len(micros)-1 {
			o.flags |= opPart
		}
		b.ops = append(b.ops, o)
	}
	if len(in.Mems()) != bits.OnesCount(asked) {
		return fmt.Errorf("pipeline: no micro-operation accesses one of the %d memory operands of the instruction at pc %#x", len(in.Mems()), in.PC)
	}
	return nil
}

// op returns a micro-operation with the properties of its class.
func (k *compiler) op(in *isa.Inst, class isa.Class) op {
	t, timed := k.config.Timings[class]
	o := op{
		latency: int32(t.Latency), work: k.works[class], line: in.PC >> k.lines, queue: k.queues[class], class: class,
		address: [...]uint8{noUse, noUse},
	}
	if !timed {
		o.latency = 1
		o.flags |= opMoot
	}
	if t.Serializes {
		o.flags |= opSerializes
	}
	return o
}

// name fills in the registers of micro-operation n of an instruction.
func (o *op) name(in *isa.Inst, micros []isa.Micro, n int) error {
	m := &micros[n]
	useRegs, defRegs := [isa.MicroUses]uint8{noUse, noUse, noUse, noUse}, [isa.MicroDefs]uint8{noDef, noDef}
	uses, defs := useRegs[:0], defRegs[:0]
	for i, r := range in.Uses() {
		if m.Uses>>i&1 != 0 {
			uses = append(uses, uint8(r))
		}
	}
	for after := m.After; after != 0; after &= after - 1 {
		uses = append(uses, passed(in, micros, bits.TrailingZeros8(after), n))
	}
	for i, r := range in.Defs() {
		if m.Defs>>i&1 == 0 {
			continue
		}
		defs = append(defs, uint8(r))
		if r.Float() {
			o.flags |= opFP
		} else {
			o.flags |= opInt
		}
	}
	if slices.ContainsFunc(micros[n+1:], func(later isa.Micro) bool { return later.After>>n&1 != 0 }) {
		if r := passed(in, micros, n, len(micros)); r >= temporaries {
			defs = append(defs, r)
		}
	}
	if len(uses) > len(useRegs) || len(defs) > len(defRegs) {
		return fmt.Errorf("pipeline: a micro-operation of the instruction at pc %#x reads %d values and writes %d, at most %d and %d can be simulated",
			in.PC, len(uses), len(defs), len(useRegs), len(defRegs))
	}
	o.uses, o.defs = binary.LittleEndian.Uint32(useRegs[:]), binary.LittleEndian.Uint16(defRegs[:])
	return nil
}

// passed returns the register in which micro-operation from of an instruction passes
// its result to micro-operation to: a register that it defines and none in between
// redefines, or else a temporary.
func passed(in *isa.Inst, micros []isa.Micro, from, to int) uint8 {
	kept := micros[from].Defs
	for _, m := range micros[from+1 : to] {
		kept &^= m.Defs
	}
	if kept != 0 {
		return uint8(in.Defs()[bits.TrailingZeros8(kept)])
	}
	return temporaries + uint8(from)
}

// access fills in the memory access of a micro-operation.
func (k *compiler) access(o *op, in *isa.Inst, m isa.Micro) error {
	first, ok := k.refs[trace.PC(in.PC)]
	o.ref = first + trace.RefID(m.Mem)
	if !ok || int(o.ref) >= len(k.plan.Refs) || k.plan.Refs[o.ref].PC != trace.PC(in.PC) {
		return fmt.Errorf("pipeline: the plan does not record the memory reference at pc %#x", in.PC)
	}
	mem, kind := in.Access(m)
	for i, r := range []isa.Reg{mem.Base, mem.Index} {
		if r != isa.NoReg {
			o.address[i] = uint8(r)
		}
	}
	if mem.Float {
		o.flags |= opFloat
	}
	if kind != isa.MemStore {
		o.flags |= opLoad
	}
	if kind != isa.MemLoad {
		o.flags |= opStore
		k.widest = max(k.widest, uint64(mem.Size))
	}
	o.enter = uint8(k.memory.enter(mem.Float))
	for int(o.tlb) < len(k.memory.tlbs) && mem.Float && k.memory.tlbs[o.tlb].spec.BypassFloat {
		o.tlb++
	}
	return nil
}
