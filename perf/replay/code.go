package replay

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"

	"presage/perf/cfg"
	"presage/perf/isa"
	"presage/perf/trace"
)

// Code is a program's basic blocks with the loops around each, and the plan
// that records them.
type Code struct {
	// Plan lists the references that CodeOf was given, and all basic blocks. An
	// instruction that accesses a number of elements that varies is a loop over these, of
	// two blocks: see cfg.Program.Elements.
	Plan *trace.Plan
	// Recorded is the same for engines, which record all accesses of such an instruction
	// with the first of the two.
	Recorded *trace.Plan

	graph  *cfg.Program
	blocks []block                     // by trace.BlockID
	shapes []atomic.Pointer[shape]     // by routine; nil until it is asked for
	stores []atomic.Pointer[[]storing] // by block; the same
	image  []cfg.Range
	loose  bool // the plan has references in no block

	// Of FollowAllocations.
	entries  map[trace.BlockID]trace.Role // the first blocks of allocators
	givers   map[int]bool                 // their routines
	mappings uint64

	anchors bool // of AnchorAllocations
}

// block is what the collector needs to know of a basic block.
type block struct {
	routine, index int           // in cfg.Program.Routines, and in its Blocks
	chain          []int32       // loops of the routine around the block, outermost first
	header         bool          // of the innermost of them
	firstRef       trace.RefID   // of its references, which are consecutive
	refs           int           //
	exit           exit          //
	site           trace.BlockID // for a call, the block that it returns to; noBlock if none
	forks          bool          // control may go on in several ways, other than by a return
	part           cfg.Part
}

const noBlock = ^trace.BlockID(0)

// exit says how control leaves a block.
type exit uint8

const (
	plain   exit = iota
	calls        // by a call
	returns      // to the caller
)

// CodeOf returns the blocks of a program, and adds them to a copy of plan. Where
// routines share code, a block ends where another begins.
func CodeOf(g *cfg.Program, plan *trace.Plan) (*Code, error) {
	if err := plan.Check(); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	g = g.Elements()
	c := &Code{graph: g, Plan: &trace.Plan{Refs: plan.Refs}, Recorded: &trace.Plan{Refs: plan.Refs}}
	for _, s := range g.File.Segments {
		c.image = append(c.image, cfg.Range{From: s.Addr, To: s.Addr + s.MemSize})
	}
	for ri, r := range g.Routines {
		for bi := range r.Blocks {
			c.blocks = append(c.blocks, newBlock(r, ri, bi))
		}
	}
	pc := func(b *block) uint64 { return g.Routines[b.routine].Blocks[b.index].PC() }
	slices.SortStableFunc(c.blocks, func(a, b block) int { return cmp.Compare(pc(&a), pc(&b)) })
	c.blocks = slices.CompactFunc(c.blocks, func(a, b block) bool { return pc(&a) == pc(&b) })
	if len(c.blocks) == 0 {
		return nil, refuse("%s has no code that could be decoded", g.File.Path)
	}
	ref := 0
	for i := range c.blocks {
		end := ^uint64(0)
		if i+1 < len(c.blocks) {
			end = pc(&c.blocks[i+1])
		}
		ref = c.place(i, ref, end)
	}
	inBlocks := 0
	for i := range c.blocks {
		c.linkCall(&c.blocks[i])
		inBlocks += c.blocks[i].refs
	}
	c.loose = inBlocks < len(plan.Refs)
	c.shapes = make([]atomic.Pointer[shape], len(g.Routines))
	c.stores = make([]atomic.Pointer[[]storing], len(c.blocks))
	if err := c.record(); err != nil {
		return nil, err
	}
	return c, c.Plan.Check()
}

func newBlock(r *cfg.Routine, ri, bi int) block {
	from := &r.Blocks[bi]
	b := block{routine: ri, index: bi, site: noBlock, part: from.Part}
	for l := from.Loop; l >= 0; l = r.Loops[l].Parent {
		b.chain = append(b.chain, int32(l))
		b.header = b.header || r.Loops[l].Header == bi
	}
	slices.Reverse(b.chain)
	switch from.Last().Class {
	case isa.Call:
		b.exit = calls
	case isa.Return:
		b.exit = returns
	}
	switch last := from.Last(); b.exit {
	case calls:
		b.forks = !last.HasTarget
	case plain:
		b.forks = len(from.Succs) > 1 || from.Exit != cfg.Stays
	}
	return b
}

// place gives block i its entry in the plan and its references, of which the
// first is not before ref; end is the address of the next block. It returns the
// first reference after the block.
func (c *Code) place(i, ref int, end uint64) int {
	b := &c.blocks[i]
	from := &c.graph.Routines[b.routine].Blocks[b.index]
	if from.End() > end { // the rest is the next block's
		b.exit, b.forks = plain, false
	}
	last := min(from.End(), end)
	refs := c.Plan.Refs
	for ref < len(refs) && uint64(refs[ref].PC) < from.PC() && from.Part != cfg.Element {
		ref++
	}
	b.firstRef = trace.RefID(ref)
	for ref < len(refs) && uint64(refs[ref].PC) < last && from.Part != cfg.Guard {
		ref++
		b.refs++
	}
	instructions := 0
	for j := range from.Insts {
		if from.Insts[j].PC < last {
			instructions++
		}
	}
	if from.Part == cfg.Element { // it is the guard's
		instructions = 0
	}
	c.Plan.Blocks = append(c.Plan.Blocks, trace.Block{PC: trace.PC(from.PC()), Instructions: uint32(instructions), Refs: uint32(b.refs)})
	return ref
}

// record sets the plan for engines.
func (c *Code) record() error {
	c.Recorded.Blocks = slices.Clone(c.Plan.Blocks)
	for i := range c.blocks {
		if c.blocks[i].part != cfg.Guard {
			continue
		}
		if i+1 == len(c.blocks) || c.blocks[i+1].part != cfg.Element {
			return refuse("%s has code that overlaps at %#x", c.routine(trace.BlockID(i)), uint64(c.Plan.Blocks[i].PC))
		}
		c.Recorded.Blocks[i].Varies = true
		c.Recorded.Blocks[i+1].Refs = 0
	}
	return nil
}

// linkCall finds the block that a call returns to.
func (c *Code) linkCall(b *block) {
	if b.exit != calls {
		return
	}
	r := c.graph.Routines[b.routine]
	for _, e := range r.Blocks[b.index].Succs {
		if r.Edges[e].Kind == cfg.CallReturn {
			b.site = c.blockAt(r.Blocks[r.Edges[e].To].PC())
		}
	}
}

// blockAt returns the block that begins at pc, or noBlock.
func (c *Code) blockAt(pc uint64) trace.BlockID {
	i, ok := slices.BinarySearchFunc(c.Plan.Blocks, trace.PC(pc), func(b trace.Block, pc trace.PC) int { return cmp.Compare(b.PC, pc) })
	if !ok {
		return noBlock
	}
	return trace.BlockID(i)
}

// blockOf returns the block of a reference, and which of its references it is; noBlock for one
// that no block has.
func (c *Code) blockOf(ref trace.RefID) (trace.BlockID, int) {
	i, found := slices.BinarySearchFunc(c.blocks, ref, func(b block, ref trace.RefID) int {
		switch {
		case ref < b.firstRef:
			return 1
		case ref >= b.firstRef+trace.RefID(b.refs):
			return -1
		}
		return 0
	})
	if !found {
		return noBlock, 0
	}
	return trace.BlockID(i), int(ref - c.blocks[i].firstRef)
}

// routine returns the name of the routine that holds a block.
func (c *Code) routine(id trace.BlockID) string { return c.graph.Routines[c.blocks[id].routine].Name }

// label returns what a block adds to hashes of the blocks that follow a place: the
// same in all executables whose routines have the same shape.
func (c *Code) label(id trace.BlockID) uint64 {
	if id == noBlock {
		return 0
	}
	b := &c.blocks[id]
	return c.shape(b.routine).names[b.index].label()
}

// shape returns that of a routine.
func (c *Code) shape(routine int) *shape {
	if s := c.shapes[routine].Load(); s != nil {
		return s
	}
	r := c.graph.Routines[routine]
	own := make([]*block, len(r.Blocks))
	for i := range own {
		if id := c.blockAt(r.Blocks[i].PC()); id != noBlock && c.blocks[id].routine == routine {
			own[i] = &c.blocks[id]
		}
	}
	s := newShape(r, own, c.graph)
	c.shapes[routine].Store(s)
	return s
}
