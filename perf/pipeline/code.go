package pipeline

import (
	"cmp"
	"fmt"
	"slices"

	"presage/perf/isa"
	"presage/perf/trace"
)

// op is an instruction as the hot loop wants it.
type op struct {
	latency int64
	work    *work  // of its class
	line    uint64 // block of the instruction cache that it begins in
	ref     trace.RefID
	uses    [3]uint8 // registers, noUse for none
	def     uint8    // register, noDef for none
	base    uint8    // register of the address
	queue   int8     // index, or -1
	enter   uint8    // level of cache that its access enters at
	tlb     uint8    // the same of TLBs
	flags   opFlags
	class   isa.Class
}

type opFlags uint8

const (
	opLoad opFlags = 1 << iota
	opStore
	opFloat // its datum is floating-point
	opSerializes
	opInt  // defines an integer register
	opFP   // defines a floating-point register
	opMoot // its class has no timing
)

const (
	noUse = 64 // a register that is always ready
	noDef = 65 // one that nobody reads
	regs  = 66
)

// codeBlock is a basic block.
type codeBlock struct {
	pc   uint64
	ops  []op
	refs int
	end  transfer // of its last instruction
}

// Plan returns the plan that records what a Simulator needs of code, which is
// the instructions of basic blocks, ascending by address: all blocks and all
// memory references, each in a group of its own.
func Plan(code [][]isa.Inst) (*trace.Plan, error) {
	p := new(trace.Plan)
	for i, insts := range code {
		if len(insts) == 0 {
			return nil, fmt.Errorf("pipeline: block %d is empty", i)
		}
		b := trace.Block{PC: trace.PC(insts[0].PC), Instructions: uint32(len(insts))}
		for j := range insts {
			in := &insts[j]
			if in.Mem.Kind == isa.NoMem {
				continue
			}
			b.Refs++
			p.Refs = append(p.Refs, trace.Ref{PC: trace.PC(in.PC), Size: in.Mem.Size, Kind: kindOf(in.Mem.Kind), Float: in.Mem.Float})
		}
		p.Blocks = append(p.Blocks, b)
	}
	slices.SortFunc(p.Refs, func(a, b trace.Ref) int { return cmp.Compare(a.PC, b.PC) })
	p.Refs = slices.Compact(p.Refs) // blocks may overlap
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
	refs   map[trace.PC]trace.RefID
	works  map[isa.Class]*work
	queues map[isa.Class]int8
	lines  uint // log2 of the instruction cache's blocks
	widest uint64
}

func newCompiler(c *Config, m *memory, plan *trace.Plan) *compiler {
	k := &compiler{
		config: c, memory: m, refs: make(map[trace.PC]trace.RefID), works: make(map[isa.Class]*work), queues: make(map[isa.Class]int8),
	}
	for i, r := range plan.Refs {
		k.refs[r.PC] = trace.RefID(i)
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
		b.pc, b.ops = insts[0].PC, make([]op, len(insts))
		for j := range insts {
			o, err := k.op(&insts[j])
			if err != nil {
				return nil, err
			}
			if o.flags&(opLoad|opStore) != 0 {
				b.refs++
			}
			b.ops[j] = o
		}
		last := &insts[len(insts)-1]
		b.end = transfer{class: last.Class, hasTarget: last.HasTarget, pc: last.PC, next: last.Next(), target: last.Target}
	}
	return blocks, nil
}

func (k *compiler) op(in *isa.Inst) (op, error) {
	t, timed := k.config.Timings[in.Class]
	o := op{
		latency: int64(t.Latency), work: k.works[in.Class], line: in.PC >> k.lines,
		uses: [3]uint8{noUse, noUse, noUse}, def: noDef, base: noUse, queue: k.queues[in.Class], class: in.Class,
	}
	if !timed {
		o.latency = 1
		o.flags |= opMoot
	}
	if t.Serializes {
		o.flags |= opSerializes
	}
	for i, r := range in.Uses() {
		o.uses[i] = uint8(r)
	}
	for _, r := range in.Defs() {
		o.def = uint8(r)
		if r.Float() {
			o.flags |= opFP
		} else {
			o.flags |= opInt
		}
	}
	if in.Mem.Kind == isa.NoMem {
		return o, nil
	}
	ref, ok := k.refs[trace.PC(in.PC)]
	if !ok {
		return o, fmt.Errorf("pipeline: the plan does not record the memory reference at pc %#x", in.PC)
	}
	o.ref = ref
	if in.Mem.Base != isa.NoReg {
		o.base = uint8(in.Mem.Base)
	}
	if in.Mem.Float {
		o.flags |= opFloat
	}
	if in.Mem.Kind != isa.MemStore {
		o.flags |= opLoad
	}
	if in.Mem.Kind != isa.MemLoad {
		o.flags |= opStore
		k.widest = max(k.widest, uint64(in.Mem.Size))
	}
	o.enter = uint8(k.memory.enter(in.Mem.Float))
	for int(o.tlb) < len(k.memory.tlbs) && in.Mem.Float && k.memory.tlbs[o.tlb].spec.BypassFloat {
		o.tlb++
	}
	return o, nil
}
