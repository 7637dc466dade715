package replay

import (
	"math"
	"slices"

	"presage/perf/cfg"
	"presage/perf/isa"
)

// again reports whether a branch cannot go on from a place to block to, where it never went:
// it asks whether two numbers are equal, and on all ways to it that has been answered.
// Compilers leave such branches where i = j ends a loop of j up to i, and decides in it, too.
func (w *ways) again(place int32, to int) bool {
	b := &w.code.blocks[w.prog.Places[place].Block]
	r := w.code.graph.Routines[b.routine]
	own, ok := questionOf(r, w.code.graph.File.Target, b.index)
	preds := r.Blocks[b.index].Preds
	if !ok || len(preds) == 0 || len(r.Open) > 0 || slices.Contains(r.Entries, b.index) {
		return false
	}
	equal := own.equal == (r.Blocks[b.index].Last().Target == r.Blocks[to].PC())
	for _, e := range preds {
		from := r.Edges[e].From
		before, ok := questionOf(r, w.code.graph.File.Target, from)
		if !ok || equal == (before.equal == (r.Blocks[from].Last().Target == r.Blocks[b.index].PC())) {
			return false
		}
		if !answers(r, before, own, 64) && !(before.short() && own.short() && answers(r, before, own, 32)) {
			return false
		}
	}
	return true
}

// question is a branch at the end of a block that asks whether two sums are equal.
type question struct {
	routine *cfg.Routine
	block   int
	a, b    addition
	equal   bool // it is taken if they are
}

// addition is what a register holds, and a constant; the constant alone for NoReg.
type addition struct {
	reg isa.Reg
	add int64
}

// questionOf returns that of a block; false if it has none, or goes on to one block alone.
func questionOf(r *cfg.Routine, t *isa.Target, block int) (question, bool) {
	last := r.Blocks[block].Last()
	v := last.Value
	if last.Class != isa.Branch || !last.HasTarget || last.Target == last.PC+uint64(last.Len) || v.Op != isa.Equal && v.Op != isa.NotEqual ||
		v.A == isa.NoReg || v.Word || v.LowA || v.Narrow != 0 || t.Flags.Has(v.A) {
		return question{}, false
	}
	q := question{routine: r, block: block, a: addition{reg: v.A}, b: addition{reg: v.B}, equal: v.Op == isa.Equal}
	if v.B == isa.NoReg {
		q.b.add = v.Imm
	}
	return q, true
}

// answers reports whether a question is about the same numbers, in their low bits, as the one
// before it, in either order.
func answers(r *cfg.Routine, before, own question, bits int) bool {
	x, y := atStart(&r.Blocks[own.block], own.a, bits), atStart(&r.Blocks[own.block], own.b, bits)
	if x == nil || y == nil {
		return false
	}
	same := func(a, b addition) bool { return sameAtEnd(r, before.block, a, b, bits) }
	return same(*x, before.a) && same(*y, before.b) || same(*x, before.b) && same(*y, before.a)
}

// atStart returns what a sum at the end of a block was at its start, in its low bits, 32 or 64;
// nil if it is computed in another way.
func atStart(b *cfg.Block, s addition, bits int) *addition {
	for i := len(b.Insts) - 1; i >= 0 && s.reg != isa.NoReg; i-- {
		in := &b.Insts[i]
		if in.Class == isa.Call || in.Class == isa.SystemCall { // who knows
			return nil
		}
		if !in.Defines(s.reg) {
			continue
		}
		v := in.Result(s.reg)
		value, constant := v.Constant()
		from, copied := v.Copy()
		switch {
		case constant:
			s = addition{isa.NoReg, s.add + value}
		case copied:
			s.reg = from
		case v.B != isa.NoReg || v.LowA || v.Narrow != 0 || bits == 64 && (v.Word || v.Op == isa.SignExtend):
			return nil
		case v.Op == isa.Add:
			s = addition{v.A, s.add + v.Imm}
		case v.Op == isa.Subtract:
			s = addition{v.A, s.add - v.Imm}
		case v.Op == isa.SignExtend && v.Imm == 32:
			s.reg = v.A
		default:
			return nil
		}
	}
	return &s
}

// mostPairs is the number of pairs of registers that sameAtEnd compares.
const mostPairs = 1000

// pair says that the first register, at the end of a block, is the second and a constant.
type pair struct {
	block  int
	a, b   isa.Reg
	beyond int64
}

// sameAtEnd reports whether two sums agree in their low bits whenever control is at the end of
// a block: on all ways to it they start with the same, and the same is added to both.
func sameAtEnd(r *cfg.Routine, block int, x, y addition, bits int) bool {
	todo := []pair{{block, x.reg, y.reg, y.add - x.add}}
	seen := map[pair]bool{todo[0]: true}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		a, b := atStart(&r.Blocks[p.block], addition{reg: p.a}, bits), atStart(&r.Blocks[p.block], addition{p.b, p.beyond}, bits)
		if a == nil || b == nil {
			return false
		}
		beyond := b.add - a.add
		if bits == 32 {
			beyond = int64(int32(beyond))
		}
		switch {
		case a.reg == b.reg && beyond == 0:
			continue
		case a.reg == b.reg || slices.Contains(r.Entries, p.block) || len(seen) > mostPairs:
			return false
		}
		for _, e := range r.Blocks[p.block].Preds {
			if q := (pair{r.Edges[e].From, a.reg, b.reg, beyond}); !seen[q] {
				seen[q] = true
				todo = append(todo, q)
			}
		}
	}
	return true
}

// short reports whether both numbers are signed ones of 32 bits: then they are equal if their
// low bits are.
func (q *question) short() bool {
	return isShort(q.routine, q.block, q.a) && isShort(q.routine, q.block, q.b)
}

// use is a register before an instruction of a block.
type use struct {
	block, inst int
	reg         isa.Reg
}

// isShort is question.short for what a register holds at the end of a block.
func isShort(r *cfg.Routine, block int, s addition) bool {
	if s.reg == isa.NoReg {
		return fitsShort(s.add)
	}
	todo := []use{{block, len(r.Blocks[block].Insts), s.reg}}
	seen := map[use]bool{todo[0]: true}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		from, ok := shortFrom(r, at)
		if !ok {
			return false
		}
		for _, u := range from {
			if !seen[u] {
				seen[u] = true
				todo = append(todo, u)
			}
		}
	}
	return true
}

// shortFrom returns the uses that have to be short for one to be; false if it may not be.
func shortFrom(r *cfg.Routine, at use) ([]use, bool) {
	b := &r.Blocks[at.block]
	for i := at.inst - 1; i >= 0; i-- {
		in := &b.Insts[i]
		if in.Class == isa.Call || in.Class == isa.SystemCall {
			return nil, false
		}
		if !in.Defines(at.reg) {
			continue
		}
		v := in.Result(at.reg)
		if value, ok := v.Constant(); ok {
			return nil, fitsShort(value)
		}
		if reg, ok := v.Copy(); ok {
			return []use{{at.block, i, reg}}, true
		}
		return nil, v.Op != isa.Opaque && (v.Word && !v.ZeroHigh || v.Op == isa.SignExtend && v.Imm <= 32)
	}
	var out []use
	for _, e := range b.Preds {
		from := r.Edges[e].From
		out = append(out, use{from, len(r.Blocks[from].Insts), at.reg})
	}
	return out, len(out) > 0 && !slices.Contains(r.Entries, at.block)
}

func fitsShort(n int64) bool { return n >= math.MinInt32 && n <= math.MaxInt32 }
