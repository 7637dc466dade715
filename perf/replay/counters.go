package replay

import (
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
	at := &counters{r, w.code.graph.File.Target}
	own, ok := at.question(b.index)
	if !ok || slices.Contains(r.Entries, b.index) {
		return false
	}
	x, y := at.atStart(b.index, own.a), at.atStart(b.index, own.b)
	if x == nil || y == nil {
		return false
	}
	equal := own.equal == (r.Blocks[b.index].Last().Target == r.Blocks[to].PC())
	for _, e := range r.Blocks[b.index].Preds {
		from := r.Edges[e].From
		before, ok := at.question(from)
		if !ok || equal == (before.equal == (r.Blocks[from].Last().Target == r.Blocks[b.index].PC())) {
			return false
		}
		same := at.same(from, *x, before.a) && at.same(from, *y, before.b)
		if !same && !(at.same(from, *x, before.b) && at.same(from, *y, before.a)) {
			return false
		}
	}
	return true
}

// counters compares numbers of a routine that instructions add constants to.
type counters struct {
	routine *cfg.Routine
	target  *isa.Target
}

// addition is what a register holds, and a constant; the constant alone for NoReg.
type addition struct {
	reg isa.Reg
	add int64
}

// question is the branch at the end of a block that asks whether two sums are equal.
type question struct {
	a, b  addition
	equal bool // it is taken if they are
}

// question returns that of a block; false if it has none.
func (c *counters) question(block int) (question, bool) {
	last := c.routine.Blocks[block].Last()
	v := last.Value
	if last.Class != isa.Branch || !last.HasTarget || v.Op != isa.Equal && v.Op != isa.NotEqual || v.A == isa.NoReg ||
		v.Word || v.LowA || v.Narrow != 0 || c.target.Flags.Has(v.A) {
		return question{}, false
	}
	q := question{a: addition{reg: v.A}, b: addition{reg: v.B}, equal: v.Op == isa.Equal}
	if v.B == isa.NoReg {
		q.b.add = v.Imm
	}
	return q, true
}

// atStart returns what a addition at the end of a block was at its start; nil if it is computed in
// another way. Numbers of 32 bits are taken not to overflow.
func (c *counters) atStart(block int, s addition) *addition {
	insts := c.routine.Blocks[block].Insts
	for i := len(insts) - 1; i >= 0 && s.reg != isa.NoReg; i-- {
		in := &insts[i]
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
		case v.B != isa.NoReg || v.LowA || v.Narrow != 0:
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

// mostPairs is the number of pairs of registers that same compares.
const mostPairs = 1000

// pair says that the first register, at the end of a block, is the second and a constant.
type pair struct {
	block  int
	a, b   isa.Reg
	beyond int64
}

// same reports whether two sums are equal whenever control is at the end of a block: on all
// ways to it they start with the same, and the same is added to both.
func (c *counters) same(block int, x, y addition) bool {
	todo := []pair{{block, x.reg, y.reg, y.add - x.add}}
	seen := map[pair]bool{todo[0]: true}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		a, b := c.atStart(p.block, addition{reg: p.a}), c.atStart(p.block, addition{p.b, p.beyond})
		switch {
		case a == nil || b == nil:
			return false
		case a.reg == b.reg && a.add == b.add:
			continue
		case a.reg == b.reg || slices.Contains(c.routine.Entries, p.block) || len(seen) > mostPairs:
			return false
		}
		for _, e := range c.routine.Blocks[p.block].Preds {
			if q := (pair{c.routine.Edges[e].From, a.reg, b.reg, b.add - a.add}); !seen[q] {
				seen[q] = true
				todo = append(todo, q)
			}
		}
	}
	return true
}
