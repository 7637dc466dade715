package replay

import (
	"presage/perf/cfg"
	"presage/perf/isa"
)

// decider returns what decides about the branch at the end of a place, which went one way in
// all runs. It is the size if the numbers that are compared do not change while the program
// runs; or if they are computed from such and from indices of loops, not from data, and it
// went on where something is larger, not where it is bounded by a constant. A number that
// does not change, was larger than a constant at all sizes, and was computed by sums and
// products of what the program was told, is so at larger sizes.
func (w *ways) decider(place int32) decider {
	p := &w.prog.Places[place]
	b := &w.code.blocks[p.Block]
	r := w.code.graph.Routines[b.routine]
	last := r.Blocks[b.index].Last()
	switch {
	case len(p.Next) != 1 || p.Next[0].To < 0:
		return byData
	case b.part == cfg.Guard:
		return bySize
	case last.Class != isa.Branch || !last.HasTarget:
		return byData
	}
	bounded := w.upperBound(r, b.index, w.code.Plan.Blocks[p.Next[0].Block].PC) || w.limited(r, b.index)
	s := newSources(w, true)
	switch fixed := s.compared(p); {
	case fixed && !bounded && !s.falls && w.withConstant(r, b.index):
		return byGreater
	case fixed, !bounded && newSources(w, false).compared(p):
		return bySize
	}
	return byData
}

// withConstant reports whether the branch at the end of a block compares with a constant.
func (w *ways) withConstant(r *cfg.Routine, block int) bool {
	v := w.comparison(r, block)
	return v.B == isa.NoReg || constantIn(r, block, v.A) || constantIn(r, block, v.B)
}

// limited reports whether the branch at the end of a block compares with a variable at a
// fixed address, as libraries keep the lengths from which on they copy in another way.
func (w *ways) limited(r *cfg.Routine, block int) bool {
	v := w.comparison(r, block)
	for _, side := range []isa.Reg{v.A, v.B} {
		if side == isa.Loaded { // by what set the flags
			side = r.Blocks[block].Last().Value.A
		}
		insts, _ := reaching(r, block, side)
		for _, in := range insts {
			for _, m := range in.Mems() {
				if _, fixed := m.Constant(); fixed && m.Kind != isa.MemStore {
					return true
				}
			}
		}
	}
	return false
}
