package replay

import (
	"slices"
	"strings"

	"presage/perf/isa"
	"presage/perf/trace"
)

// sources finds out what numbers are computed from, in a calling context and in those that
// it was called from: constants, what is computed once in a run, and variables that are set
// once. Other loads are of data.
type sources struct {
	w      *ways
	strict bool // numbers may not change in a loop either

	falls  bool // what is computed need not grow with the size: see mayFall
	states map[source]progress
	insts  []source // whose sources are being looked for
}

// source is a register before an instruction of a block, or, with NoReg, what the
// instruction computes.
type source struct {
	context int32
	block   trace.BlockID
	inst    int
	reg     isa.Reg
}

// progress says what is known of a source.
type progress struct {
	done bool
	at   int // while it is not: the length of sources.insts when it was come to
}

// maxSources bounds what is looked at.
const maxSources = 1 << 12

func newSources(w *ways, strict bool) *sources {
	return &sources{w: w, strict: strict, states: make(map[source]progress)}
}

// compared reports whether all that the branch at the end of a place compares is given.
func (s *sources) compared(p *Place) bool {
	return s.ofUses(p.Context, p.Block, len(s.w.code.insts(p.Block))-1)
}

// once reports whether a place is executed at most once in each run.
func (s *sources) once(context int32, block trace.BlockID) bool {
	i, been := s.w.at[placeKey{context, block}]
	return !been || !slices.ContainsFunc(s.w.prog.Series[s.w.prog.Places[i].Counts].Values, func(n int64) bool { return n > 1 })
}

// enter reports whether a source is known to be given, or is being looked at: it then
// depends on itself, which is not to be if it changes by that. Otherwise it is noted.
func (s *sources) enter(at source) (known, ok bool) {
	st, seen := s.states[at]
	switch {
	case !seen:
		s.states[at] = progress{at: len(s.insts)}
		return len(s.states) > maxSources, false
	case st.done:
		return true, true
	}
	return true, !s.strict || st.at == len(s.insts)
}

// of reports whether a register's content is given.
func (s *sources) of(at source) bool {
	if known, ok := s.enter(at); known {
		return ok
	}
	insts := s.w.code.insts(at.block)
	for k := at.inst - 1; k >= 0; k-- {
		if insts[k].Defines(at.reg) {
			if _, constant := insts[k].Result(at.reg).Constant(); constant && at.reg.Integer() {
				return s.leave(at, true)
			}
			return s.leave(at, s.ofInst(source{at.context, at.block, k, isa.NoReg}))
		}
	}
	b := &s.w.code.blocks[at.block]
	r := s.w.code.graph.Routines[b.routine]
	if slices.Contains(r.Entries, b.index) && !s.ofCaller(at) {
		return false
	}
	for _, e := range r.Blocks[b.index].Preds {
		id := s.w.code.blockAt(r.Blocks[r.Edges[e].From].PC())
		if _, been := s.w.at[placeKey{at.context, id}]; been && !s.of(source{at.context, id, len(s.w.code.insts(id)), at.reg}) {
			return false
		}
	}
	return s.leave(at, true)
}

func (s *sources) leave(at source, ok bool) bool {
	if ok {
		s.states[at] = progress{done: true}
	}
	return ok
}

// ofCaller reports whether what a register holds as a routine is called is given.
func (s *sources) ofCaller(at source) bool {
	c := s.w.prog.Contexts[at.context]
	if c.Parent < 0 {
		return true // the program's start
	}
	return s.of(source{c.Parent, c.Call, len(s.w.code.insts(c.Call)) - 1, at.reg})
}

// ofInst reports whether what an instruction computes is given.
func (s *sources) ofInst(at source) bool {
	in := &s.w.code.insts(at.block)[at.inst]
	once := s.once(at.context, at.block)
	s.falls = s.falls || s.mayFall(at.block, in)
	if in.Class == isa.Call {
		return once
	}
	if known, ok := s.enter(at); known {
		return ok
	}
	s.insts = append(s.insts, at)
	ok := s.ofUses(at.context, at.block, at.inst)
	s.insts = s.insts[:len(s.insts)-1]
	if !ok && once { // it is computed from data
		s.falls, ok = true, true
	}
	return s.leave(at, ok)
}

// readers are the routines of C libraries that read a number, such as the size.
var readers = []string{"atoi", "atol", "atoll", "strtol", "strtoll", "strtoul", "strtoull"}

// mayFall reports whether the result of an instruction may be smaller though what it is
// computed from is larger, or need not be larger: it is a remainder or a small quotient, a
// number is subtracted or divided by, or a call returns it that does not read a number.
func (s *sources) mayFall(block trace.BlockID, in *isa.Inst) bool {
	if in.Class == isa.Call {
		to := s.w.code.graph.File.RoutineAt(in.Target)
		return !in.HasTarget || to == nil || !slices.Contains(readers, strings.TrimPrefix(strings.TrimLeft(ownName(to.Name), "_"), "isoc23_"))
	}
	b := &s.w.code.blocks[block]
	return slices.ContainsFunc(in.Defs(), func(reg isa.Reg) bool {
		v := in.Result(reg)
		switch v.Op {
		case isa.Subtract:
			if v.B != isa.NoReg && !s.w.code.graph.File.Target.Flags.Has(reg) {
				return true
			}
		case isa.Quotient, isa.QuotientUnsigned:
			if v.B != isa.NoReg {
				return true
			}
		case isa.Times:
			if v.B == isa.NoReg && v.Imm < 0 {
				return true
			}
		}
		return selectsBits(s.w.code.graph.Routines[b.routine], b.index, v)
	})
}

// ofUses reports whether all that an instruction reads is given.
func (s *sources) ofUses(context int32, block trace.BlockID, inst int) bool {
	in := &s.w.code.insts(block)[inst]
	for _, m := range in.Mems() {
		if m.Kind != isa.MemStore && !s.ofVariable(context, block, in, m) {
			return false
		}
	}
	for _, reg := range in.Uses() {
		if !s.locates(in, reg) && !s.of(source{context, block, inst, reg}) {
			return false
		}
	}
	return true
}

// locates reports whether an instruction has a register for addresses alone: those of
// variables are known.
func (s *sources) locates(in *isa.Inst, reg isa.Reg) bool {
	if reg == s.w.code.graph.File.Target.StackPointer {
		return true
	}
	return slices.ContainsFunc(in.Mems(), func(m isa.Mem) bool { return m.Reads(reg) }) && in.Value.A != reg && in.Value.B != reg
}

// ofVariable reports whether an operand that is read is a variable that is set once, or one
// on the stack of which all that the routine stores there is given.
func (s *sources) ofVariable(context int32, block trace.BlockID, in *isa.Inst, m isa.Mem) bool {
	i, been := s.w.at[placeKey{context, block}]
	if !been {
		return true
	}
	p := &s.w.prog.Places[i]
	for j := range p.Refs {
		ref := s.w.code.Plan.Refs[s.w.code.refOf(p, j)]
		if uint64(ref.PC) != in.PC || ref.Kind == trace.Store {
			continue
		}
		if !s.w.prog.scalar(&p.Refs[j]) {
			return false
		}
		own := -1
		if p.Refs[j].Base == int32(Stack) {
			if own = s.w.code.blocks[block].routine; !s.ofSlot(context, own, m) {
				return false
			}
		}
		return s.w.setOnce(&p.Refs[j], own)
	}
	return false
}

// ofSlot reports whether all that a routine stores in a place on its stack is given.
func (s *sources) ofSlot(context int32, routine int, m isa.Mem) bool {
	r := s.w.code.graph.Routines[routine]
	for b := range r.Blocks {
		id := s.w.code.blockAt(r.Blocks[b].PC())
		if _, been := s.w.at[placeKey{context, id}]; !been {
			continue
		}
		for k, in := range s.w.code.insts(id) {
			for _, o := range in.Mems() {
				if o.Kind.Writes() && o.Base == m.Base && o.Disp == m.Disp && o.Index == m.Index && !s.ofInst(source{context, id, k, isa.NoReg}) {
					return false
				}
			}
		}
	}
	return true
}

// scalar reports whether a reference has the same address throughout a run.
func (p *Program) scalar(ref *Ref) bool {
	if ref.Irregular || len(ref.Classes) != 1 || len(ref.Classes[0]) == 0 {
		return false
	}
	for _, k := range ref.Classes[0][1:] {
		if slices.ContainsFunc(p.Series[k].Values, func(v int64) bool { return v != 0 }) {
			return false
		}
	}
	return true
}

// setOnce reports whether no place, but for those of a routine, stores what a reference
// reads more than once in a run.
func (w *ways) setOnce(ref *Ref, but int) bool {
	where := func(r *Ref) []int64 { return w.prog.Series[r.Classes[0][0]].Values }
	for i := range w.prog.Places {
		p := &w.prog.Places[i]
		if w.code.blocks[p.Block].routine == but || !slices.ContainsFunc(w.prog.Series[p.Counts].Values, func(n int64) bool { return n > 1 }) {
			continue
		}
		for j := range p.Refs {
			o := &p.Refs[j]
			if o.Base == ref.Base && w.code.Plan.Refs[w.code.refOf(p, j)].Kind.Writes() && w.prog.scalar(o) && slices.Equal(where(o), where(ref)) {
				return false
			}
		}
	}
	return true
}

// insts returns the instructions of a block.
func (c *Code) insts(id trace.BlockID) []isa.Inst {
	b := &c.blocks[id]
	return c.graph.Routines[b.routine].Blocks[b.index].Insts
}
