package replay

import (
	"slices"

	"presage/perf/cfg"
	"presage/perf/isa"
)

// comparison returns the condition of the branch at the end of a block. Where it is one of
// flags, it is of what set them: the two sides that were compared, if there is one such
// instruction.
func (w *ways) comparison(r *cfg.Routine, block int) isa.Value {
	v := r.Blocks[block].Last().Value
	flags, swapped := v.A, false
	if v.A == isa.NoReg && v.B != isa.NoReg {
		flags, swapped = v.B, true // 0 < flags, for one
	}
	if !w.code.graph.File.Target.Flags.Has(flags) || !swapped && (v.B != isa.NoReg || v.Imm != 0) {
		return v
	}
	defs, all := reaching(r, block, flags)
	if len(defs) != 1 || !all {
		return v
	}
	d := defs[0].Result(flags)
	out := isa.Value{Op: v.Op, A: d.A, B: d.B, Imm: d.Imm}
	switch {
	case d.Op == isa.And && d.A == d.B: // a number is tested
		out.B, out.Imm = isa.NoReg, 0
	case d.Op != isa.Subtract || d.A == isa.NoReg:
		return v
	}
	switch {
	case !swapped:
	case out.B != isa.NoReg:
		out.A, out.B = out.B, out.A
	case v.Op == isa.Less || v.Op == isa.LessUnsigned: // c < a
		out.Op, out.Imm = opposite[v.Op], out.Imm+1
	case v.Op == isa.GreaterEqual || v.Op == isa.GreaterEqualUnsigned: // c >= a
		out.Op, out.Imm = opposite[v.Op], out.Imm+1
	}
	return out
}

// constantIn reports whether a register may have a constant value at the end of a
// block.
func constantIn(r *cfg.Routine, block int, reg isa.Reg) bool {
	if reg == isa.NoReg {
		return true
	}
	defs, _ := reaching(r, block, reg)
	return slices.ContainsFunc(defs, func(in *isa.Inst) bool {
		_, ok := in.Result(reg).Constant()
		return ok
	})
}

// reaching returns the instructions that may have set a register last at the end of a
// block, and whether these are all: it may also come from the caller.
func reaching(r *cfg.Routine, block int, reg isa.Reg) (defs []*isa.Inst, all bool) {
	if reg == isa.NoReg {
		return nil, false
	}
	all = true
	todo, seen := []int{block}, make(map[int]bool)
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		if in := lastDefinition(&r.Blocks[at], reg); in != nil {
			defs = append(defs, in)
			continue
		}
		all = all && !slices.Contains(r.Entries, at)
		for _, e := range r.Blocks[at].Preds {
			if from := r.Edges[e].From; !seen[from] {
				seen[from] = true
				todo = append(todo, from)
			}
		}
	}
	return defs, all
}

// lastDefinition returns the last instruction of a block that sets a register, or nil.
func lastDefinition(b *cfg.Block, reg isa.Reg) *isa.Inst {
	for i := len(b.Insts) - 1; i >= 0; i-- {
		if b.Insts[i].Defines(reg) {
			return &b.Insts[i]
		}
	}
	return nil
}
