package replay

import (
	"fmt"
	"maps"
	"slices"

	"presage/perf/cfg"
	"presage/perf/isa"
	"presage/perf/trace"
)

// aside is a branch by floating-point numbers that went one way in all runs, and whose ways meet
// again soon:
//
//	for (i = 0; i < n; i++)
//	  q[i] = d[i] < 0 ? c*d[i]*d[i] : 0;       d was never negative
//
// Neither way stores an integer, and both make the same of integer registers that are used
// afterwards, before they meet or go on by the same condition: compilers end both by the test of
// the loop. So afterwards all is the same, whichever was gone, but for numbers that addresses and
// branches by integers do not depend on.
type aside struct {
	went  []trace.BlockID // blocks of the way that runs went
	never []trace.BlockID // and of the other
}

// maxAside is the number of blocks of a way.
const maxAside = 32

// asideAt returns the aside that the branch at the end of a place is; nil if it is none.
func (w *ways) asideAt(place int32) *aside {
	p := &w.prog.Places[place]
	b := &w.code.blocks[p.Block]
	r := w.code.graph.Routines[b.routine]
	from := &r.Blocks[b.index]
	if len(p.Next) != 1 || p.Next[0].To < 0 || len(from.Succs) != 2 || from.Exit != cfg.Stays || !w.comparesFloats(r, b.index) {
		return nil
	}
	to := [2]int{r.Edges[from.Succs[0]].To, r.Edges[from.Succs[1]].To}
	if w.code.blockAt(r.Blocks[to[0]].PC()) == p.Next[0].Block {
		to[0], to[1] = to[1], to[0]
	}
	never, went := w.lines(r, to[0]), w.lines(r, to[1])
	for i := range never {
		for k := range went {
			if x, y := &never[i], &went[k]; x.meets(y) && x.alike(y, r) {
				return &aside{went: y.blocks(w.code, r), never: x.blocks(w.code, r)}
			}
		}
	}
	return nil
}

// comparesFloats reports whether the branch at the end of a block is decided by a comparison of
// floating-point numbers.
func (w *ways) comparesFloats(r *cfg.Routine, block int) bool {
	last := r.Blocks[block].Last()
	if last.Class != isa.Branch || !last.HasTarget {
		return false
	}
	found := false
	for _, reg := range last.Uses() {
		defs, all := reaching(r, block, reg)
		found = len(defs) > 0
		if !all || slices.ContainsFunc(defs, func(in *isa.Inst) bool {
			return in.Accesses() || !slices.ContainsFunc(in.Uses(), isa.Reg.Float)
		}) {
			return false
		}
	}
	return found
}

// line is a way without a choice: some blocks, one after the other, what they make of integer
// registers, and where control goes on to.
type line struct {
	list      []int
	registers map[isa.Reg]string // as computed from what registers held before; those that are not in it are as before
	condition string             // of the branch at the end; empty: there is none
	to        []int              // where control goes on to: where the condition holds, and where it does not
}

// lines returns the ways from a block on, the shortest first, that store no integer and call
// nothing: each that ends in front of a block, and one that ends with a choice.
func (w *ways) lines(r *cfg.Routine, at int) (out []line) {
	l := line{registers: make(map[isa.Reg]string), to: []int{at}}
	for len(l.list) <= maxAside {
		out = append(out, line{slices.Clone(l.list), maps.Clone(l.registers), "", []int{at}})
		b := &r.Blocks[at]
		if id := w.code.blockAt(b.PC()); id == noBlock || w.code.blocks[id].exit != plain || b.Exit != cfg.Stays || !l.run(b) {
			return out
		}
		l.list = append(l.list, at)
		switch len(b.Succs) {
		case 1:
			at = r.Edges[b.Succs[0]].To
			continue
		case 2:
			if l.choose(r, b) {
				out = append(out, l)
			}
		}
		return out
	}
	return out
}

// run adds what a block makes of integer registers; false if it stores an integer.
func (l *line) run(b *cfg.Block) bool {
	for i := range b.Insts {
		in := &b.Insts[i]
		if slices.ContainsFunc(in.Mems(), func(m isa.Mem) bool { return m.Kind.Writes() && !m.Float }) {
			return false
		}
		made := make(map[isa.Reg]string)
		for _, reg := range in.Defs() {
			if v := in.Result(reg); in.Accesses() || v.Op == isa.Opaque {
				made[reg] = fmt.Sprintf("at %#x", in.PC)
			} else {
				made[reg] = l.value(v)
			}
		}
		maps.Copy(l.registers, made)
	}
	return true
}

// value describes a value by what registers held before.
func (l *line) value(v isa.Value) string {
	of := func(reg isa.Reg) string {
		if s, ok := l.registers[reg]; ok {
			return s
		}
		return fmt.Sprint(reg)
	}
	a, b := of(v.A), of(v.B)
	v.A, v.B = isa.NoReg, isa.NoReg
	return fmt.Sprintf("(%v %s %s)", v, a, b)
}

// choose adds the branch at the end of a block; false if it is none.
func (l *line) choose(r *cfg.Routine, b *cfg.Block) bool {
	in := b.Last()
	if in.Class != isa.Branch || !in.HasTarget || in.Value.Op == isa.Opaque {
		return false
	}
	v := in.Value
	l.to = []int{r.Edges[b.Succs[0]].To, r.Edges[b.Succs[1]].To}
	if r.Blocks[l.to[0]].PC() != in.Target {
		l.to[0], l.to[1] = l.to[1], l.to[0]
	}
	if opposite, ok := map[isa.Operator]isa.Operator{isa.NotEqual: isa.Equal, isa.GreaterEqual: isa.Less, isa.GreaterEqualUnsigned: isa.LessUnsigned}[v.Op]; ok {
		v.Op = opposite
		l.to[0], l.to[1] = l.to[1], l.to[0]
	}
	if v.Op == isa.Equal && v.A > v.B && v.A != isa.NoReg && v.B != isa.NoReg {
		v.A, v.B = v.B, v.A
	}
	l.condition = l.value(v)
	return true
}

// meets reports whether two ways go on to the same, and under the same condition.
func (l *line) meets(o *line) bool {
	return l.condition == o.condition && slices.Equal(l.to, o.to) && len(l.list)+len(o.list) > 0
}

// alike reports whether two ways that meet make the same of all registers that are used
// afterwards.
func (l *line) alike(o *line, r *cfg.Routine) bool {
	differs := func(a, b map[isa.Reg]string) bool {
		for reg, s := range a {
			if t, ok := b[reg]; reg.Integer() && (!ok || s != t) && slices.ContainsFunc(l.to, func(to int) bool { return live(r, to, reg) }) {
				return true
			}
		}
		return false
	}
	return !differs(l.registers, o.registers) && !differs(o.registers, l.registers)
}

func (l *line) blocks(c *Code, r *cfg.Routine) (ids []trace.BlockID) {
	for _, at := range l.list {
		ids = append(ids, c.blockAt(r.Blocks[at].PC()))
	}
	return ids
}

// setAside takes the branch at the end of place i, which could go where no run has been, for one
// that decides about a region alone, if that is all that it does.
func (j *judgement) setAside(i int32, decides []bool) bool {
	a := j.gaps[i].aside()
	if a == nil {
		return false
	}
	for k := range j.prog.Places {
		if p := &j.prog.Places[k]; p.Context == j.prog.Places[i].Context && slices.Contains(a.went, p.Block) {
			decides[k] = true
		}
	}
	for _, id := range a.never {
		b := &j.code.blocks[id]
		for k := range b.refs {
			j.never = append(j.never, neverRef{b.firstRef + trace.RefID(k), j.replayed.Visits[i]})
		}
	}
	return true
}

// neverRef is a reference on a way that no run went, and how often it could have been gone.
type neverRef struct {
	ref   trace.RefID
	times uint64
}
