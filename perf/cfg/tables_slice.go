package cfg

import (
	"math"
	"math/bits"
	"slices"

	"presage/perf/isa"
)

// slicer computes the targets of an indirect jump by going backward along every
// path and expressing the target in terms of ever earlier values: a symbolic
// execution in reverse, after the backward slices of Cifuentes and Van Emmerik,
// "Recovery of jump table case statements from binary code" (IWPC 1999), but per
// path, so that contributions of different paths are not mixed. A path ends where
// the target consists of constants, read-only memory and an index that is
// bounded by comparisons on the path or by its own form.
//
// Assumptions: stores to addresses other than a cell's do not change it (compilers
// spill and reload within a frame); a call preserves the registers that the
// routine itself restores before it returns, and those that it never defines.
type slicer struct {
	terms
	x     *explorer
	r     *Routine
	saved isa.RegSet // registers that calls preserve

	seen    map[visit]bool
	work    []*path
	targets []uint64
	loose   []uint64 // of tables whose end is not known
	partial bool     // there may be other targets
	mutable bool     // a table can be written
}

// path is a path to the jump, as far back as it has been followed.
type path struct {
	block  int
	target *term
	facts  []fact   // that hold, in terms of the same place as target; at most maxFacts
	known  interval // the index's, by its own form
	sealed bool     // the index is bounded on both sides: earlier comparisons concern other values
	origin *term    // the index in terms of the same place; nil if lost
	length int      // blocks
}

const (
	maxFacts  = 6
	maxPath   = 400  // blocks of a path
	maxVisits = 2000 // blocks of all paths to a jump
)

// visit identifies a path, to avoid following it twice.
type visit struct {
	block        int
	target       *term
	first, last  fact
	facts, known int64
}

func (p *path) visit() visit {
	v := visit{block: p.block, target: p.target, facts: int64(len(p.facts)), known: p.known.hi}
	if len(p.facts) > 0 {
		v.first, v.last = p.facts[0], p.facts[len(p.facts)-1]
	}
	return v
}

// slice finds the targets of the indirect jump that ends block b.
func (s *slicer) slice(b int) {
	last := s.r.Blocks[b].Last()
	p := &path{block: b, target: s.value(last, last.Value), known: interval{lo: math.MinInt64, hi: math.MaxInt64}}
	s.work = append(s.work, p)
	for n := 0; len(s.work) > 0; n++ {
		p := s.work[len(s.work)-1]
		s.work = s.work[:len(s.work)-1]
		if n > maxVisits || s.x.effort <= 0 {
			s.partial = true
			break
		}
		s.follow(p)
	}
	s.partial = s.partial || s.mutable
}

// follow goes back through a block and on to its predecessors.
func (s *slicer) follow(p *path) {
	insts := s.r.Blocks[p.block].Insts
	for i := len(insts) - 1; i >= 0; i-- {
		s.x.effort--
		if s.back(p, insts[:i+1]) {
			s.confine(p)
			if s.finish(p) {
				return
			}
		}
	}
	if s.finish(p) {
		return
	}
	v := p.visit()
	if s.seen[v] {
		return
	}
	s.seen[v] = true
	block := &s.r.Blocks[p.block]
	if p.length++; p.length > maxPath || p.target.vague {
		s.fail(p)
		return
	}
	if slices.Contains(s.r.Entries, p.block) || len(block.Preds) == 0 {
		if q := s.enter(p); !s.finish(q) {
			s.fail(q)
		}
	}
	for _, e := range block.Preds {
		if s.r.structural(e) {
			s.before(p, e)
		}
	}
}

// back rewrites p's terms to hold before the last of insts, the leading
// instructions of a block, and reports whether they changed.
func (s *slicer) back(p *path, insts []isa.Inst) bool {
	in := &insts[len(insts)-1]
	defs := p.held() & defined(in)
	var at, stored *term
	var size int64
	if m := in.Stored(); m != nil && p.cells() {
		at, stored, size = s.frame(insts, s.address(m)), s.value(in, in.Value), int64(m.Size)
	}
	if at == nil && defs == 0 {
		return false
	}
	compared := s.compared(p, in, defs&s.x.target.Flags)
	results := s.results(in, defs)
	return s.rewriteAll(p, func(t *term) *term {
		switch {
		case t.kind == register:
			return results.of(t.reg)
		case at != nil && t.a == at && t.n <= size:
			return stored
		}
		return nil
	}) || compared
}

// defined returns the integer registers that an instruction defines.
func defined(in *isa.Inst) isa.RegSet {
	return isa.SetOf(in.Defs()...)
}

// results are the values that an instruction puts in some registers.
type results struct {
	regs  [4]isa.Reg
	terms [4]*term
	n     int
}

func (r *results) of(reg isa.Reg) *term {
	for i := range r.n {
		if r.regs[i] == reg {
			return r.terms[i]
		}
	}
	return nil
}

// results returns the values that an instruction puts in the registers of a set
// that it defines.
func (s *slicer) results(in *isa.Inst, of isa.RegSet) (r results) {
	for _, reg := range in.Defs() {
		if of.Has(reg) {
			r.regs[r.n], r.terms[r.n] = reg, s.result(in, reg)
			r.n++
		}
	}
	return r
}

// compared replaces flags in p's facts by the two sides of the subtraction that
// set them, and reports whether there were any: the facts compare a difference
// with 0, but as a term, unlike in the flags, the difference could overflow.
func (s *slicer) compared(p *path, in *isa.Inst, flags isa.RegSet) (any bool) {
	if flags == 0 {
		return false
	}
	isFlags := func(t, other *term) bool {
		return t.kind == register && flags.Has(t.reg) && other.kind == constant && other.n == 0
	}
	facts := p.facts[:0]
	for _, f := range p.facts {
		var reg isa.Reg
		switch {
		case isFlags(f.a, f.b):
			reg = f.a.reg
		case isFlags(f.b, f.a):
			reg = f.b.reg
		default:
			facts = append(facts, f)
			continue
		}
		v := in.Result(reg)
		switch {
		case v.Op != isa.Subtract && f.carries(): // about a carry, which is not described
			any = true
		case v.Op != isa.Subtract:
			facts = append(facts, f)
		default:
			a, b := s.sides(in, v, f.carries())
			if f.b.kind == register && flags.Has(f.b.reg) {
				a, b = b, a
			}
			facts = append(facts, fact{f.op, a, b})
			any = true
		}
	}
	p.facts = facts
	return any
}

// carries reports whether f compares unsigned numbers.
func (f fact) carries() bool {
	switch f.op {
	case isa.LessUnsigned, isa.GreaterEqualUnsigned:
		return true
	}
	return false
}

// sides returns the two sides of a subtraction as the numbers that it compares:
// if it is of parts of registers, those parts, extended.
func (s *slicer) sides(in *isa.Inst, v isa.Value, unsigned bool) (a, b *term) {
	a, b = s.operands(in, v)
	if n := v.Bits(); n < 64 {
		a, b = s.extend(a, n, !unsigned), s.extend(b, n, !unsigned)
	}
	return a, b
}

// frame expresses an address before the last of insts in terms of a register that
// calls preserve, if it was computed from one just before: frames can exceed the
// range of a displacement.
func (s *slicer) frame(insts []isa.Inst, address *term) *term {
	const near = 8 // instructions
	var since isa.RegSet
	t := address
	for i := len(insts) - 2; i >= max(0, len(insts)-near); i-- {
		if t.regs&s.saved == t.regs {
			break
		}
		defs := defined(&insts[i])
		if t.regs&defs != 0 {
			results := s.results(&insts[i], t.regs)
			t = s.rewrite(t, func(leaf *term) *term {
				if leaf.kind == register {
					return results.of(leaf.reg)
				}
				return nil
			})
		}
		since |= defs
	}
	if core, _ := t.core(); core.kind != register || t.regs&since != 0 || t.regs&s.saved != t.regs {
		return address
	}
	return t
}

func (s *slicer) address(m *isa.Mem) *term {
	base := s.register(m.Base)
	if m.Index != isa.NoReg {
		shift := int64(bits.TrailingZeros8(m.Scale))
		index := s.operate(isa.ShiftLeft, s.register(m.Index), s.constant(shift), false)
		base = s.operate(isa.Add, base, index, false)
	}
	return s.operate(isa.Add, base, s.constant(m.Disp), false)
}

// value returns the term of a value that an instruction computes.
func (s *slicer) value(in *isa.Inst, v isa.Value) *term {
	if v.Op == isa.Opaque {
		return s.unknown()
	}
	a, b := s.operands(in, v)
	return s.apply(v, a, b)
}

// operands returns the terms of the two sides of a value of an instruction.
func (s *slicer) operands(in *isa.Inst, v isa.Value) (a, b *term) {
	side := func(r isa.Reg) *term {
		if r == isa.Loaded {
			m := &in.Mems()[0]
			return s.cell(s.address(m), m.Size)
		}
		return s.register(r)
	}
	a, b = side(v.A), s.constant(v.Imm)
	if v.B != isa.NoReg || v.Op == isa.ScaledAdd {
		b = side(v.B)
	}
	return a, b
}

// result returns what an instruction puts in a register that it defines. If the
// value of a narrow load is opaque, its extension is unknown; words are assumed
// to be signed and narrower data unsigned, like the entries of tables.
func (s *slicer) result(in *isa.Inst, reg isa.Reg) *term {
	v := in.Result(reg)
	if in.Class != isa.Load || v.Op != isa.Opaque {
		return s.value(in, v)
	}
	m := &in.Mems()[0]
	t := s.cell(s.address(m), m.Size)
	return s.extend(t, 8*int64(m.Size), m.Size == 4)
}

// cells reports whether p's terms hold any memory.
func (p *path) cells() bool {
	return p.target.cells || p.origin != nil && p.origin.cells ||
		slices.ContainsFunc(p.facts, func(f fact) bool { return f.a.cells || f.b.cells })
}

// held returns the registers in p's terms.
func (p *path) held() isa.RegSet {
	held := p.target.regs
	for _, f := range p.facts {
		held |= f.a.regs | f.b.regs
	}
	if p.origin != nil {
		held |= p.origin.regs
	}
	return held
}

func (s *slicer) rewriteAll(p *path, leaf func(*term) *term) bool {
	changed := false
	apply := func(t *term) *term {
		if t.regs == 0 && !t.cells {
			return t
		}
		to := s.rewrite(t, leaf)
		changed = changed || to != t
		return to
	}
	p.target = apply(p.target)
	for i, f := range p.facts {
		p.facts[i] = fact{f.op, apply(f.a), apply(f.b)}
	}
	if p.origin != nil {
		if p.origin = apply(p.origin); p.origin.vague {
			p.origin = nil
		}
	}
	return changed
}

// before adds the extension of the path by edge e to the work list.
func (s *slicer) before(p *path, e int) {
	edge := s.r.Edges[e]
	q := &path{}
	*q = *p
	q.block, q.facts = edge.From, slices.Clone(p.facts)
	last := s.r.Blocks[edge.From].Last()
	switch {
	case edge.Kind == CallReturn:
		s.rewriteAll(q, func(t *term) *term {
			if t.kind == register && !s.saved.Has(t.reg) {
				return s.unknown()
			}
			return nil
		})
		q.facts = slices.DeleteFunc(q.facts, func(f fact) bool { return f.a.vague || f.b.vague })
	case last.Class == isa.Branch && !q.sealed && last.Target != last.Next():
		s.learn(q, last, edge.Kind == Taken)
	}
	s.confine(q)
	s.work = append(s.work, q)
}

// learn adds the fact implied by a branch on the path.
func (s *slicer) learn(p *path, in *isa.Inst, taken bool) {
	v := in.Value
	op := v.Op
	if !taken {
		op = opposite[op]
	}
	if _, ok := mirrored[op]; !ok {
		return // it bounds neither side
	}
	a, b := s.operands(in, v)
	f := fact{op: op, a: a, b: b}
	if p.origin != nil {
		f.a, f.b = s.replaceCore(f.a, p.origin), s.replaceCore(f.b, p.origin)
	}
	if len(p.facts) == maxFacts {
		return // the first ones are nearest to the jump
	}
	p.facts = append(p.facts, f)
}

func (s *slicer) replaceCore(t, origin *term) *term {
	if origin.kind == constant {
		return t
	}
	return s.replace(t, origin, s.index())
}

// confine looks for the index, if not found yet: a part of the target that a fact
// compares, or whose own form makes it fit a table.
func (s *slicer) confine(p *path) {
	if p.origin != nil {
		for i, f := range p.facts {
			if !f.a.index && !f.b.index {
				p.facts[i].a, p.facts[i].b = s.replaceCore(f.a, p.origin), s.replaceCore(f.b, p.origin)
			}
		}
	}
	if !p.target.index {
		s.choose(p)
	}
	if p.target.index {
		for _, f := range p.facts {
			if (f.a.index || f.b.index) && f.unsigned() {
				p.sealed, p.origin = true, nil
			}
		}
	}
	if p.sealed {
		p.facts = slices.DeleteFunc(p.facts, func(f fact) bool { return !f.a.index && !f.b.index })
	}
}

func (s *slicer) choose(p *path) {
	if t := maskOf(p.target, 0); t != nil {
		p.known, _ = t.mask()
		p.sealed = true
		p.facts = nil
		p.target = s.replace(p.target, t, s.index())
		return
	}
	for _, f := range p.facts {
		for _, side := range []*term{f.a, f.b} {
			core, _ := side.core()
			if core.kind == constant || core.vague || !indexes(p.target, core) {
				continue
			}
			p.target = s.replace(p.target, core, s.index())
			for i, f := range p.facts {
				p.facts[i].a, p.facts[i].b = s.replace(f.a, core, s.index()), s.replace(f.b, core, s.index())
			}
			p.origin = core
			return
		}
	}
}

// maskOf returns the outermost part of t within the address of a cell that a
// mask makes fit a table, or nil.
func maskOf(t *term, depth int) *term {
	if depth > 0 && t.certain() {
		if _, ok := t.mask(); ok {
			return t
		}
	}
	if t.kind == cell {
		depth++
	}
	for _, part := range []*term{t.a, t.b} {
		if part == nil {
			continue
		}
		if found := maskOf(part, depth); found != nil {
			return found
		}
	}
	return nil
}

// indexes reports whether core is a part of t other than as a plain pointer to a
// cell, with or without a field offset: such a pointer is not an index.
func indexes(t, core *term) bool {
	if t == core {
		return true
	}
	if t.kind == cell {
		if c, offset := t.a.core(); c == core && offset > -firstPage && offset < firstPage {
			return false
		}
	}
	return t.a != nil && indexes(t.a, core) || t.b != nil && indexes(t.b, core)
}

// enter returns p at the routine's entry, with registers that have one value
// throughout the program replaced by it.
func (s *slicer) enter(p *path) *path {
	q := *p
	q.facts = slices.Clone(p.facts)
	s.rewriteAll(&q, func(t *term) *term {
		if t.kind == register {
			if n, ok := s.x.globals[t.reg]; ok {
				return s.constant(n)
			}
		}
		return nil
	})
	return &q
}
