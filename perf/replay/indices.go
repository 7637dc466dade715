package replay

import (
	"slices"

	"presage/perf/isa"
	"presage/perf/trace"
)

// What registers of addresses are computed from, as the code says.

const (
	// maxIndexLoads is the number of loads of which one may be that of an index.
	maxIndexLoads = 6
	// maxCounters is the number of blocks of which one may count what is stored.
	maxCounters = 12
	// maxSliced bounds what is looked at for one reference.
	maxSliced = 1 << 10
)

// indexLoad is a load of an integer: a reference of a block of the same routine.
type indexLoad struct {
	block trace.BlockID
	ref   int
}

// indexLoads returns the loads of integers that the address of reference j of a block is
// computed from, other than by further loads, the nearest first. Those from the stack are
// left out.
func (c *Code) indexLoads(id trace.BlockID, j int) []indexLoad {
	b := &c.blocks[id]
	insts := c.insts(id)
	k := c.instOf(id, j)
	if k < 0 {
		return nil
	}
	s := c.slicerOf(b)
	for _, m := range insts[k].Mems() {
		s.want(b.index, k, m.Base)
		s.want(b.index, k, m.Index)
	}
	s.run()
	return s.found
}

// comparedLoads returns the loads of integers that what the branch at the end of a block compares
// is computed from, in the same way.
func (c *Code) comparedLoads(id trace.BlockID) []indexLoad {
	b := &c.blocks[id]
	insts := c.insts(id)
	s := c.slicerOf(b)
	last := len(insts) - 1
	for _, reg := range insts[last].Uses() {
		s.want(b.index, last, reg)
	}
	s.run()
	return s.found
}

// counters returns the blocks that add a constant to what reference j of a block stores: which
// may be a number that counts how often these were executed.
func (c *Code) counters(id trace.BlockID, j int) []trace.BlockID {
	b := &c.blocks[id]
	k := c.instOf(id, j)
	s := c.slicerOf(b)
	in := &c.insts(id)[k]
	if in.Stored() == nil {
		return nil
	}
	s.want(b.index, k, in.Value.A)
	s.want(b.index, k, in.Value.B)
	s.run()
	return s.added
}

// instOf returns which instruction of a block reference j belongs to; -1 for none.
func (c *Code) instOf(id trace.BlockID, j int) int {
	pc := uint64(c.Plan.Refs[int(c.blocks[id].firstRef)+j].PC)
	return slices.IndexFunc(c.insts(id), func(in isa.Inst) bool { return in.PC == pc })
}

// refAt returns the reference of a block that an instruction loads by; -1 for none.
func (c *Code) refAt(id trace.BlockID, pc uint64) int {
	b := &c.blocks[id]
	for j := range b.refs {
		if r := &c.Plan.Refs[int(b.firstRef)+j]; uint64(r.PC) == pc && r.Kind == trace.Load && !r.Float {
			return j
		}
	}
	return -1
}

// sliced is a register before an instruction of a block of a routine.
type sliced struct {
	block, inst int
	reg         isa.Reg
}

type slicer struct {
	code    *Code
	routine int
	seen    map[sliced]bool
	todo    []sliced
	found   []indexLoad
	added   []trace.BlockID // that add a constant
}

func (c *Code) slicerOf(b *block) *slicer {
	return &slicer{code: c, routine: b.routine, seen: make(map[sliced]bool)}
}

func (s *slicer) run() {
	for len(s.todo) > 0 && len(s.seen) < maxSliced && len(s.found) < maxIndexLoads {
		next := s.todo[0]
		s.todo = s.todo[1:]
		s.follow(next)
	}
}

func (s *slicer) want(block, inst int, reg isa.Reg) {
	at := sliced{block, inst, reg}
	if reg != isa.NoReg && !reg.Float() && reg != s.code.graph.File.Target.StackPointer && !s.seen[at] {
		s.seen[at] = true
		s.todo = append(s.todo, at)
	}
}

// follow looks for what sets a register.
func (s *slicer) follow(at sliced) {
	r := s.code.graph.Routines[s.routine]
	b := &r.Blocks[at.block]
	for k := min(at.inst, len(b.Insts)) - 1; k >= 0; k-- {
		if in := &b.Insts[k]; in.Defines(at.reg) {
			s.defined(at.block, k, in)
			return
		}
	}
	for _, e := range b.Preds {
		from := r.Edges[e].From
		s.want(from, len(r.Blocks[from].Insts), at.reg)
	}
}

// defined looks at the instruction that sets a register.
func (s *slicer) defined(block, k int, in *isa.Inst) {
	id := s.code.blockAt(s.code.graph.Routines[s.routine].Blocks[block].PC())
	if in.Class == isa.Call || id == noBlock {
		return
	}
	if v := in.Value; v.Op == isa.Add && v.A != isa.NoReg && v.B == isa.NoReg && v.Imm != 0 && len(s.added) < maxCounters && !slices.Contains(s.added, id) {
		s.added = append(s.added, id)
	}
	if in.Accesses() {
		if in.Mems()[0].Base == s.code.graph.File.Target.StackPointer {
			return
		}
		if j := s.code.refAt(id, in.PC); j >= 0 && s.code.Plan.Refs[int(s.code.blocks[id].firstRef)+j].Size >= wordBytes {
			s.found = append(s.found, indexLoad{id, j})
		}
		return
	}
	for _, reg := range in.Uses() {
		s.want(block, k, reg)
	}
}

// storing says what a reference does with numbers in memory.
type storing struct {
	words  int  // that it stores
	writes bool // stores an integer of a word or two, other than in a slot of the stack
	copies bool // which is that of a load of the same size
	from   int  // this one, of the same block

	counters []trace.BlockID // may be executed as often as the number says
}

// storings returns what the references of a block do.
func (c *Code) storings(id trace.BlockID) []storing {
	if s := c.stores[id].Load(); s != nil {
		return *s
	}
	s := c.findStorings(id)
	c.stores[id].Store(&s)
	return s
}

func (c *Code) findStorings(id trace.BlockID) []storing {
	b := &c.blocks[id]
	out := make([]storing, b.refs)
	for j := range out {
		ref := &c.Plan.Refs[int(b.firstRef)+j]
		if !ref.Kind.Writes() || ref.Float || ref.Size < wordBytes || ref.Size > 2*wordBytes {
			continue
		}
		k := c.instOf(id, j)
		if k < 0 {
			continue
		}
		insts := c.insts(id)
		mems := insts[k].Mems()
		if m := mems[len(mems)-1]; m.Base == c.graph.File.Target.StackPointer && m.Index == isa.NoReg {
			continue
		}
		out[j].words = int(ref.Size) / wordBytes
		out[j].writes, out[j].counters = true, c.counters(id, j)
		if from := c.copied(id, k); ref.Kind == trace.Store && from >= 0 && c.Plan.Refs[int(b.firstRef)+from].Size == ref.Size {
			out[j].copies, out[j].from = true, from
		}
	}
	return out
}

// copied returns the reference of a block by which the number was loaded that its k-th
// instruction stores as it is; -1 if it was not loaded in the block.
func (c *Code) copied(id trace.BlockID, k int) int {
	insts := c.insts(id)
	in := &insts[k]
	reg, plain := in.Value.Copy()
	if in.Stored() == nil || !plain {
		return -1
	}
	for i := k - 1; i >= 0; i-- {
		if !insts[i].Defines(reg) {
			continue
		}
		if insts[i].Accesses() {
			return c.refAt(id, insts[i].PC)
		}
		return -1
	}
	return -1
}
