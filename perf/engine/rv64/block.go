package rv64

import (
	"sort"
	"unsafe"

	rv "golang.org/x/arch/riscv64/riscv64asm"

	"presage/perf/trace"
)

// jumpSlots is the size of the direct-mapped table for indirect jumps.
const jumpSlots = 1 << 13

// maxOps bounds the memory held by decoded code, at 16 bytes an op: a program
// may jump to any of its instructions, and each such target starts a block.
// Every block counts as blockWeight ops more.
const (
	maxOps      = 8 << 20
	blockWeight = 8
)

type jumpSlot struct {
	pc    uint64
	block *block
}

// codeCache holds the decoded blocks.
type codeCache struct {
	decoder
	mem    *memory
	table  map[rv.Op]lowering
	blocks map[uint64]*block
	jumps  [jumpSlots]jumpSlot  // for indirect jumps
	hooks  map[uint64]bool      // pcs with a hook in front
	direct *[jumpSlots]jumpSlot // for lookup: &jumps unless arrivals are counted
	slab   []op                 // ops not yet handed out
	held   int                  // ops in the blocks
	limit  int                  // most instructions in a block; 1: single-stepping

	combines bool // emit combined ops, which only the interpreter executes: see combine

	generation uint64 // counts flushes

	plan    *trace.Plan
	bias    uint64 // added to the plan's addresses
	starts  map[uint64]trace.BlockID
	err     error           // the plan contradicts the program
	foreign map[uint64]bool // decoded memory instructions missing from the plan

	flow   *flow          // nil: nothing is counted
	counts unsafe.Pointer // flow.counts
}

func newCodeCache(mem *memory, plan *trace.Plan, bias uint64) *codeCache {
	c := &codeCache{limit: maxBlock, decoder: decoder{names: make(map[uint32]rv.Op)}, mem: mem, table: lowerings(), plan: plan, bias: bias}
	c.starts = make(map[uint64]trace.BlockID)
	c.foreign = make(map[uint64]bool)
	c.direct = &c.jumps
	if plan != nil {
		if plan.Flow != nil {
			c.flow, c.direct = newFlow(plan.Flow, bias), new([jumpSlots]jumpSlot)
			c.counts = unsafe.Pointer(unsafe.SliceData(c.flow.counts))
		}
		for i, b := range plan.Blocks {
			c.starts[uint64(b.PC)+bias] = trace.BlockID(i)
		}
	}
	c.flush()
	return c
}

// flush discards every block, because the guest's instructions may have changed
// or the cache is full.
func (c *codeCache) flush() {
	c.blocks = make(map[uint64]*block)
	c.held = 0
	c.generation++
	empty(&c.jumps)
	if c.direct != &c.jumps {
		empty(c.direct)
	}
}

func empty(table *[jumpSlots]jumpSlot) {
	for i := range table {
		s := &table[i]
		s.pc = 1 // no block starts at an odd address
		if s.block != nil {
			s.block = nil
		}
	}
}

// lookup returns the block at pc, decoding it if need be. It always succeeds: at
// an address that is not executable the block holds a single opFetchFault.
func (c *codeCache) lookup(pc uint64) *block {
	slot := &c.direct[pc>>1&(jumpSlots-1)]
	if slot.pc == pc {
		return slot.block
	}
	b := c.blocks[pc]
	if b == nil {
		if c.held > maxOps {
			// The block being left is reachable only from blocks that are
			// discarded too.
			c.flush()
		}
		if b = c.build(pc); c.hooks[pc] {
			b = hookBefore(b)
		}
		c.blocks[pc] = b
	}
	if pc&1 == 0 {
		*slot = jumpSlot{pc, b}
	}
	return b
}

// hookBefore returns a block that holds a hook, with b behind it.
func hookBefore(b *block) *block {
	h := &block{pc: b.pc, fallPC: b.pc, behind: b, ops: []op{{code: opHook}}}
	h.first = &h.ops[0]
	return h
}

// locate returns the block that holds the op at a host address, and the op's
// index in it.
func (c *codeCache) locate(at uintptr) (*block, int) {
	for _, b := range c.blocks {
		if b.behind != nil {
			b = b.behind
		}
		first := uintptr(unsafe.Pointer(b.first))
		if at >= first && at < first+uintptr(len(b.ops))*unsafe.Sizeof(op{}) {
			return b, int((at - first) / unsafe.Sizeof(op{}))
		}
	}
	return nil, 0
}

// builder collects the ops of one block.
type builder struct {
	cache *codeCache
	block *block
	ops   []op
	meta  []opMeta
	n     int    // instructions so far
	pc    uint64 // of the next instruction
	refs  int    // planned accesses
	until int    // planned accesses before the instruction being added
}

func (c *codeCache) build(pc uint64) *block {
	g := &builder{cache: c, block: &block{pc: pc}, pc: pc}
	id, starts := c.starts[pc]
	if starts || c.plan != nil && len(c.plan.Refs) > 0 {
		g.add(op{code: opCheck})
	}
	g.place()
	for g.instruction() {
	}
	if len(g.ops) > 0 && g.ops[0].code == opCheck {
		g.check(id, starts)
	}
	if c.combines && c.limit > 1 {
		g.combine()
	}
	return g.finish()
}

// check completes the opCheck at the head of a traced block, or removes it if
// the block records nothing.
func (g *builder) check(id trace.BlockID, starts bool) {
	if !starts && (g.refs == 0 || g.cache.combines) {
		g.block.refs = uintptr(g.refs)
		g.ops, g.meta = g.ops[1:], g.meta[1:]
		return
	}
	g.ops[0].imm, g.ops[0].slot = int32(g.refs), uint16(g.refs)
	if starts {
		// A planned block that spans several decoded blocks reserves all its
		// room at the start, so that its events stay in one batch.
		g.ops[0].imm = max(g.ops[0].imm, int32(g.cache.plan.Blocks[id].Refs))
		g.ops[0].tag = uint32(id) + 1
	}
}

func (g *builder) add(o op) {
	g.ops = append(g.ops, o)
	g.meta = append(g.meta, opMeta{uint16(g.pc - g.block.pc), uint16(g.n), uint16(g.until)})
}

// instruction decodes and adds one instruction. It reports whether the block
// continues.
func (g *builder) instruction() bool {
	pc, b := g.pc, g.block
	g.until = g.refs
	_, boundary := g.cache.starts[pc]
	boundary = boundary || g.cache.hooks[pc]
	if g.n == g.cache.limit || g.n > 0 && boundary {
		g.next()
		return false
	}
	src := g.cache.mem.code(pc)
	if pc&1 != 0 || len(src) < 2 || src[0]&3 == 3 && len(src) < 4 {
		if g.n > 0 {
			g.next() // the next block raises the fault
			return false
		}
		g.add(op{code: opFetchFault})
		return false
	}
	d, ok := g.cache.decode(src)
	var l lowered
	if ok {
		l = g.cache.lower(d, pc)
	}
	if !ok || l.illegal {
		if g.n > 0 {
			g.next()
			return false
		}
		g.add(op{code: opIllegal})
		return false
	}
	if l.memory {
		g.plan(&l)
	}
	if l.op.code == opCsr {
		l.op.tag = uint32(g.n)
	}
	if g.n > 0 {
		g.place()
	}
	next := g.transfers(&l, pc+uint64(d.size))
	if !l.drop {
		g.add(l.op)
		g.fuse()
	}
	g.n++
	g.pc += uint64(d.size)
	b.takenPC, b.fallPC = l.target, g.pc
	if next != 0 {
		g.nextCounted(next)
		return false
	}
	return !l.ends
}

// next ends the block at the current pc. When single-stepping it emits a jump,
// which checks the budget.
func (g *builder) next() {
	g.block.takenPC, g.block.fallPC = g.pc, g.pc
	if g.cache.limit == 1 {
		g.add(op{code: opJ})
		return
	}
	g.add(op{code: opNext})
}

func (g *builder) finish() *block {
	c, b := g.cache, g.block
	if len(c.slab) < len(g.ops) {
		c.slab = make([]op, max(4096, len(g.ops)))
	}
	b.ops = c.slab[:len(g.ops):len(g.ops)]
	c.slab = c.slab[len(g.ops):]
	copy(b.ops, g.ops)
	c.held += len(g.ops) + blockWeight
	b.first, b.meta, b.n = &b.ops[0], g.meta, int64(g.n)
	return b
}

// plan makes a memory op record its accesses if the plan asks for that.
func (g *builder) plan(l *lowered) {
	c := g.cache
	if c.plan == nil {
		return
	}
	refs := c.plan.Refs
	pc := trace.PC(g.pc - c.bias)
	i := sort.Search(len(refs), func(i int) bool { return refs[i].PC >= pc })
	if i == len(refs) || refs[i].PC != pc {
		c.foreign[g.pc] = true
		return
	}
	r := refs[i]
	if last := i + 1; r.Operand != 0 || last < len(refs) && refs[last].PC == pc {
		g.contradiction("plan has a second operand at pc %#x, but the instruction has one", uint64(pc))
	}
	if r.Size != l.size || r.Kind != l.kind {
		g.contradiction("plan says %d-byte %v at pc %#x, but the instruction is a %d-byte %v", r.Size, r.Kind, uint64(pc), l.size, l.kind)
	}
	l.op.tag = uint32(trace.Tag(trace.RefID(i), l.size) >> 32)
	switch {
	case l.op.code == opAtomic:
		l.op.code = opAtomicT
	case l.kind == trace.Store:
		l.op.code += tracedStore
	default:
		l.op.code += tracedLoad
	}
	l.op.slot = uint16(g.refs)
	g.refs++
}
