package sched

import (
	"sort"

	"presage/perf/access"
	"presage/perf/cfg"
	"presage/perf/isa"
	"presage/perf/trace"
)

// registers is a set of registers.
type registers [4]uint64

func (s *registers) has(r isa.Reg) bool { return s[r>>6&3]>>(r&63)&1 != 0 }

func (s *registers) put(r isa.Reg, in bool) {
	s[r>>6&3] &^= 1 << (r & 63)
	if in {
		s[r>>6&3] |= 1 << (r & 63)
	}
}

// add adds the registers of another set, and reports whether that had further ones.
func (s *registers) add(o *registers) bool {
	more := false
	for i, w := range o {
		more = more || w&^s[i] != 0
		s[i] |= w
	}
	return more
}

// dataflow finds which branches of a routine depend on data.
type dataflow struct {
	r     *cfg.Routine
	loads map[uint64][]*access.Reference // by pc
	f     *RoutineFrequencies
}

// loadsOf returns the references of a routine that load, by pc.
func loadsOf(a *access.Analysis, routine int) map[uint64][]*access.Reference {
	out := make(map[uint64][]*access.Reference)
	for _, block := range a.Program.Routines[routine].Blocks {
		for i := range block.Insts {
			if in := &block.Insts[i]; in.Accesses() {
				out[in.PC] = referencesAt(a, trace.PC(in.PC))
			}
		}
	}
	return out
}

// referencesAt returns the references of an instruction that load.
func referencesAt(a *access.Analysis, pc trace.PC) []*access.Reference {
	i := sort.Search(len(a.All), func(i int) bool { return a.All[i].PC >= pc })
	var list []*access.Reference
	for ; i < len(a.All) && a.All[i].PC == pc; i++ {
		if a.All[i].Kind != trace.Store {
			list = append(list, &a.All[i])
		}
	}
	return list
}

// branches reports, by block, which branches depend on data that a loop walks over or,
// without a loop, that lies neither on the stack nor at a constant address. Blocks
// outside the loop have none.
func (d *dataflow) branches(loop int) []bool {
	out := make([]bool, len(d.r.Blocks))
	if !d.walks(loop) {
		return out
	}
	in := make([]registers, len(d.r.Blocks))
	blocks := d.blocks(loop)
	for changed := true; changed; {
		changed = false
		for _, b := range blocks {
			state := in[b]
			out[b] = d.block(b, loop, &state)
			for _, e := range d.r.Blocks[b].Succs {
				to := d.r.Edges[e].To
				if loop < 0 || d.r.Contains(loop, to) {
					changed = in[to].add(&state) || changed
				}
			}
		}
	}
	return out
}

// blocks returns the executed blocks of a loop, or of the routine outside of loops.
func (d *dataflow) blocks(loop int) []int {
	var list []int
	if loop >= 0 {
		for _, b := range d.r.Loops[loop].Blocks {
			if d.f.Blocks[b] > 0 {
				list = append(list, b)
			}
		}
		return list
	}
	for b := range d.r.Blocks {
		if d.r.Blocks[b].Loop < 0 && d.f.Blocks[b] > 0 {
			list = append(list, b)
		}
	}
	return list
}

// walks reports whether a loop loads data, so that the rest is worth a look.
func (d *dataflow) walks(loop int) bool {
	for _, b := range d.blocks(loop) {
		for i := range d.r.Blocks[b].Insts {
			if d.data(d.r.Blocks[b].Insts[i].PC, loop) {
				return true
			}
		}
	}
	return false
}

// data reports whether an instruction loads data that a loop walks over.
func (d *dataflow) data(pc uint64, loop int) bool {
	for _, ref := range d.loads[pc] {
		if !ref.InGraph || ref.Stack != access.NotStack {
			continue
		}
		if loop < 0 {
			if _, constant := ref.First.Constant(); !constant {
				return true
			}
		}
		for i := range ref.Strides {
			if s := &ref.Strides[i]; s.Loop == loop {
				by, constant := s.Formula.Constant()
				if !s.Regular() || !constant || by != 0 {
					return true
				}
			}
		}
	}
	return false
}

// block follows data through the instructions of a block, and reports whether its
// branch depends on them. What calls return is not known, and counts as none.
func (d *dataflow) block(b, loop int, state *registers) bool {
	insts := d.r.Blocks[b].Insts
	for i := range insts {
		in := &insts[i]
		depends := in.Accesses() && d.data(in.PC, loop)
		for _, r := range in.Uses() {
			depends = depends || state.has(r)
		}
		if i == len(insts)-1 && in.Class == isa.Branch {
			return depends
		}
		for _, r := range in.Defs() {
			state.put(r, depends)
		}
	}
	return false
}
