package replay

import (
	"slices"

	"presage/perf/cfg"
	"presage/perf/isa"
	"presage/perf/trace"
)

// ways knows where control went in any run, and where it could have gone.
type ways struct {
	code *Code
	prog *Program // of all runs
	at   map[placeKey]int32
}

func newWays(code *Code, all *Program) *ways {
	w := &ways{code: code, prog: all, at: make(map[placeKey]int32)}
	for i := range all.Places {
		w.at[placeKey{all.Places[i].Context, all.Places[i].Block}] = int32(i)
	}
	return w
}

// gap says whether control could go on from a place to where no run has been, so
// that nothing is known of what would happen then.
type gap uint8

const (
	noGap  gap = 0
	anyGap gap = 1
	// A larger gap is one at sizes other than those, modulo its value, at which
	// there were runs: the place chooses by the remainder of something.
)

// at reports whether there is a gap at size n, after runs at sizes.
func (g gap) at(n int64, sizes []int64) bool {
	if g <= anyGap {
		return g == anyGap
	}
	same := 0
	for _, s := range sizes {
		if (s-n)%int64(g) == 0 {
			same++
		}
	}
	return same <= spareSizes
}

// gaps returns the gap of each place. The way past a loop that every run
// entered does not count: see passesLoop.
func (w *ways) gaps() []gap {
	out := make([]gap, len(w.prog.Places))
	for i := range out {
		if w.untestedAt(int32(i)) {
			p := &w.prog.Places[i]
			out[i] = remainder(w.code.graph.Routines[w.code.blocks[p.Block].routine], w.code.blocks[p.Block].index)
		}
	}
	return out
}

// remainder returns the modulus of the remainder that the branch at the end of
// a block compares with a constant, or anyGap.
func remainder(r *cfg.Routine, block int) gap {
	v := r.Blocks[block].Last().Value
	if v.Op != isa.Equal && v.Op != isa.NotEqual {
		return anyGap
	}
	for _, sides := range [][2]isa.Reg{{v.A, v.B}, {v.B, v.A}} {
		if !constantIn(r, block, sides[1]) {
			continue
		}
		defs, all := reaching(r, block, sides[0])
		modulus := gap(0)
		for _, in := range defs {
			d := in.Result(sides[0])
			if all = all && d.Op == isa.And && d.B == isa.NoReg && (d.Imm == 1 || d.Imm == 3 || d.Imm == 7); all {
				modulus = max(modulus, gap(d.Imm+1))
			}
		}
		if all && modulus > 0 {
			return modulus
		}
	}
	return anyGap
}

func (w *ways) untestedAt(place int32) bool {
	p := &w.prog.Places[place]
	if !p.Forks {
		return false
	}
	b := &w.code.blocks[p.Block]
	r := w.code.graph.Routines[b.routine]
	from := &r.Blocks[b.index]
	if len(from.Succs) == 0 || from.Exit == cfg.Unknown || b.exit == calls {
		return true // where a computed jump or call could lead is not known
	}
	known := 0
	for _, e := range from.Succs {
		to := r.Edges[e].To
		switch {
		case p.way(w.code.blockAt(r.Blocks[to].PC())) >= 0:
			known++
		case !w.passesLoop(place, to) && !w.defaults(place, to) && !w.harmless(place, to):
			return true
		}
	}
	return from.Exit == cfg.TailJump && len(p.Next) <= known
}

// passesLoop reports whether block to, to which control never went on from a place,
// is where it would go if there was nothing to do in a loop that all runs entered
// there. That does not happen at larger sizes, if, as far as the condition
// shows, it is not one that larger sizes fail.
func (w *ways) passesLoop(place int32, to int) bool {
	p := &w.prog.Places[place]
	b := &w.code.blocks[p.Block]
	r := w.code.graph.Routines[b.routine]
	if len(p.Next) != 1 || p.Next[0].To < 0 || upperBound(r, b.index, w.code.Plan.Blocks[p.Next[0].Block].PC) {
		return false
	}
	loop := w.enters(p.Next[0].To, p.Context, b.index, r)
	if loop < 0 {
		return false
	}
	// What could be executed instead, as far as no run has been there.
	todo, seen := []int{to}, map[int]bool{to: true}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		id := w.code.blockAt(r.Blocks[at].PC())
		if id == noBlock || r.Contains(loop, at) {
			return false
		}
		if there, ok := w.at[placeKey{p.Context, id}]; ok {
			if there != place && w.enters(there, p.Context, b.index, r) == loop {
				return false
			}
			continue
		}
		if l := r.Blocks[at].Loop; w.code.blocks[id].exit == calls || r.Blocks[at].Exit == cfg.TailJump || w.code.blocks[id].refs > 0 && l >= 0 && !r.Contains(l, b.index) {
			return false
		}
		for _, e := range r.Blocks[at].Succs {
			if next := r.Edges[e].To; !seen[next] {
				seen[next] = true
				todo = append(todo, next)
			}
		}
	}
	return true
}

// enters returns the loop of routine r, not around block from, that control comes to
// from a place by all ways that runs went, such as those that choose the lesser of two
// bounds, and in the same context; -1 if there is none.
func (w *ways) enters(place, context int32, from int, r *cfg.Routine) int {
	loop := -1
	todo, seen := []int32{place}, map[int32]bool{place: true}
	for len(todo) > 0 {
		p := &w.prog.Places[todo[0]]
		todo = todo[1:]
		b := &w.code.blocks[p.Block]
		if p.Context != context || w.code.graph.Routines[b.routine] != r {
			return -1
		}
		if l := r.Blocks[b.index].Loop; l >= 0 && r.Loops[l].Header == b.index && !r.Contains(l, from) {
			if loop >= 0 && l != loop {
				return -1
			}
			loop = l
			continue
		}
		if len(p.Next) == 0 {
			return -1
		}
		for _, n := range p.Next {
			if n.To < 0 {
				return -1
			}
			if !seen[n.To] {
				seen[n.To] = true
				todo = append(todo, n.To)
			}
		}
	}
	return loop
}

// upperBound reports whether the branch at the end of a block, of which only the way
// to the block at pc was taken, compares something with a constant in such a way that
// it is bounded from above: what grows with the size would take the other way.
func upperBound(r *cfg.Routine, block int, pc trace.PC) bool {
	in := r.Blocks[block].Last()
	v := in.Value
	if in.Class != isa.Branch || v.Op < isa.Equal || v.Op > isa.GreaterEqualUnsigned {
		return true // who knows
	}
	holds := in.HasTarget && in.Target == uint64(pc)
	left, right := constantIn(r, block, v.A), v.B == isa.NoReg || constantIn(r, block, v.B)
	switch v.Op {
	case isa.Equal:
		return holds
	case isa.NotEqual:
		return !holds
	case isa.Less, isa.LessUnsigned: // x < c holds, or c < x does not
		return right && holds || left && !holds
	}
	return right && !holds || left && holds
}

// defaults reports whether block to, to which control never went on from a place,
// replaces a number of 0 or less that the program was given or has loaded, as
// compilers of Fortran do with strides and extents of arrays, and does nothing with
// memory: what never was 0, or negative, is not taken to become it.
func (w *ways) defaults(place int32, to int) bool {
	p := &w.prog.Places[place]
	b := &w.code.blocks[p.Block]
	r := w.code.graph.Routines[b.routine]
	in := r.Blocks[b.index].Last()
	v := in.Value
	if in.Class != isa.Branch || !in.HasTarget || v.B != isa.NoReg || v.Imm != 0 || v.A == isa.NoReg {
		return false
	}
	taken := in.Target == r.Blocks[to].PC()
	zero := v.Op == isa.Equal && taken || v.Op == isa.NotEqual && !taken
	negative := v.Op == isa.Less && taken || v.Op == isa.GreaterEqual && !taken
	if !zero && !negative {
		return false
	}
	defs, all := reaching(r, b.index, v.A)
	for _, d := range defs {
		if d.Class != isa.Load {
			return false
		}
	}
	if zero && !all { // an argument: it may be a remainder
		return false
	}
	id := w.code.blockAt(r.Blocks[to].PC())
	if _, been := w.at[placeKey{p.Context, id}]; been && negative {
		return true
	}
	return id != noBlock && w.code.blocks[id].refs == 0 && w.code.blocks[id].exit == plain && len(r.Blocks[to].Succs) == 1
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
