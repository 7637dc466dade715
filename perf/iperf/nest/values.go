package nest

import (
	"maps"

	"presage/perf/access"
	"presage/perf/cfg"
	"presage/perf/isa"
)

// This file finds what registers and cells of the stack hold, as sums of what
// they held when the routine began and of loops' variables. It is what package
// access does for addresses, cut down to what conditions of loops compare.

// place is where a value is kept: a register, or a cell of the stack frame at so
// many bytes from where the stack pointer was when the routine began.
type place struct {
	cell   bool
	reg    isa.Reg
	offset int64
	size   uint8 // bytes, of a cell
}

const stackPointer isa.Reg = 2

// symbol is what a sum is a sum of.
type symbol struct {
	loop  int    // a loop's variable, as an iteration begins; -1: outside loops
	place place  // of the variable or value
	pc    uint64 // 0: as the routine begins; else of what computes the value
	merge bool   // it depends on the path to pc
}

// String names a symbol as formulas of package access do.
func (s symbol) String() string {
	out := access.Symbol{Kind: access.Entry, PC: s.pc, Reg: s.place.reg, Memory: s.place.cell, Offset: s.place.offset, Size: s.place.size}
	if s.place.cell {
		out.Reg = stackPointer
	}
	switch {
	case s.merge:
		out.Kind = access.Merge
	case s.pc != 0:
		out.Kind = access.Result
	}
	return out.String()
}

// sum is a constant plus symbols times coefficients, none of which is 0.
type sum struct {
	constant int64
	of       map[symbol]int64
}

func constant(c int64) sum { return sum{constant: c} }

func single(s symbol) sum { return sum{of: map[symbol]int64{s: 1}} }

// limit bounds coefficients: what is larger is no size of anything.
const limit = 1 << 40

// plus returns s + k o; ok is false if numbers get too large.
func (s sum) plus(o sum, k int64) (sum, bool) {
	if k > limit || k < -limit {
		return sum{}, false
	}
	out := sum{constant: s.constant + k*o.constant, of: maps.Clone(s.of)}
	ok := within(s.constant) && within(o.constant) && within(out.constant)
	for sym, c := range o.of {
		if out.of == nil {
			out.of = make(map[symbol]int64)
		}
		n := out.of[sym] + k*c
		ok = ok && within(c) && within(n)
		if n == 0 {
			delete(out.of, sym)
			continue
		}
		out.of[sym] = n
	}
	return out, ok
}

func within(c int64) bool { return c < limit && c > -limit }

func (s sum) isConstant() bool { return len(s.of) == 0 }

func (s sum) equal(o sum) bool { return s.constant == o.constant && maps.Equal(s.of, o.of) }

// values are those of a routine.
type values struct {
	r     *cfg.Routine
	known map[blockPlace]answer
	phis  map[symbol]*phi

	fixed map[symbol]bool // variables that their loops do not change
	open  []symbol        // other variables of which all is known
	fresh bool            // there are new ones
}

type blockPlace struct {
	block int
	place place
}

type answer struct {
	sum sum
	ok  bool
}

// phi is a loop's variable: what it is at first, and what an iteration makes of
// it.
type phi struct{ start, next answer }

func newValues(r *cfg.Routine) *values {
	return &values{r: r, known: make(map[blockPlace]answer), phis: make(map[symbol]*phi), fixed: make(map[symbol]bool)}
}

// before returns what a place holds before instruction i of block b.
func (v *values) before(b, i int, p place) answer {
	for i--; i >= 0; i-- {
		in := &v.r.Blocks[b].Insts[i]
		if p.cell {
			if in.Accesses() && in.Mems()[0].Kind.Writes() {
				if hit, a := v.stored(b, i, in, p); hit {
					return a
				}
			}
			continue
		}
		for _, d := range in.Defs() {
			if d == p.reg {
				return v.result(b, i, in, p)
			}
		}
		// Only the stack pointer is known to survive calls.
		if (in.Class == isa.Call || in.Class == isa.SystemCall) && p.reg != stackPointer {
			return answer{}
		}
	}
	return v.entering(b, p)
}

// stored says whether a store writes to cell p, and what.
func (v *values) stored(b, i int, in *isa.Inst, p place) (bool, answer) {
	at, ok := v.frameAddress(b, i, in)
	if !ok || at >= p.offset+int64(p.size) || p.offset >= at+int64(in.Mems()[0].Size) {
		return false, answer{} // elsewhere, or taken to be
	}
	if at != p.offset || in.Mems()[0].Size < p.size || in.Class != isa.Store {
		return true, answer{}
	}
	return true, v.operand(b, i, in.Value.A, 0)
}

// frameAddress returns the address that an instruction accesses, in bytes from
// the stack pointer when the routine began.
func (v *values) frameAddress(b, i int, in *isa.Inst) (int64, bool) {
	if !in.Accesses() || in.Mems()[0].Base == isa.NoReg {
		return 0, false
	}
	a := v.operand(b, i, in.Mems()[0].Base, 0)
	if !a.ok {
		return 0, false
	}
	s := v.settle(a.sum)
	if len(s.of) != 1 || s.of[symbol{loop: -1, place: place{reg: stackPointer}}] != 1 {
		return 0, false
	}
	return s.constant + in.Mems()[0].Disp, true
}

func (v *values) operand(b, i int, r isa.Reg, imm int64) answer {
	if r == isa.NoReg {
		return answer{constant(imm), true}
	}
	if r.Float() {
		return answer{}
	}
	return v.before(b, i, place{reg: r})
}

// result returns what an instruction leaves in a register.
func (v *values) result(b, i int, in *isa.Inst, p place) answer {
	if in.Class == isa.Load && in.Mems()[0].Size >= 4 {
		if at, ok := v.frameAddress(b, i, in); ok {
			return v.before(b, i, place{cell: true, offset: at, size: in.Mems()[0].Size})
		}
	}
	if a := v.computed(b, i, in); a.ok {
		return a
	}
	if v.r.Blocks[b].Loop >= 0 {
		return answer{} // it may differ from iteration to iteration
	}
	return answer{single(symbol{loop: -1, place: p, pc: in.PC}), true}
}

// computed evaluates an instruction on sums. Operations on 32 bits and
// extensions are taken not to overflow, as in package access.
func (v *values) computed(b, i int, in *isa.Inst) answer {
	val := in.Value
	if val.Op == isa.Opaque || in.Class == isa.Load || in.Class == isa.Call {
		return answer{}
	}
	imm := val.Imm
	if val.Op == isa.ScaledAdd {
		imm = 0
	}
	x, y := v.operand(b, i, val.A, 0), v.operand(b, i, val.B, imm)
	if !x.ok || !y.ok {
		return answer{}
	}
	switch val.Op {
	case isa.Add:
		return combine(x.sum, y.sum, 1)
	case isa.Subtract:
		return combine(x.sum, y.sum, -1)
	case isa.ShiftLeft:
		if c := v.settle(y.sum); c.isConstant() && c.constant >= 0 && c.constant < 32 {
			return combine(sum{}, x.sum, 1<<c.constant)
		}
	case isa.ScaledAdd:
		return combine(y.sum, x.sum, 1<<val.Imm)
	case isa.Times:
		if c := v.settle(y.sum); c.isConstant() {
			return combine(sum{}, x.sum, c.constant)
		}
		if c := v.settle(x.sum); c.isConstant() {
			return combine(sum{}, y.sum, c.constant)
		}
	case isa.SignExtend, isa.ZeroExtend:
		if val.Imm >= 32 {
			return x
		}
	}
	return answer{}
}

func combine(x, y sum, k int64) answer {
	s, ok := x.plus(y, k)
	return answer{s, ok}
}

// entering returns what a place holds when a block begins.
func (v *values) entering(b int, p place) answer {
	key := blockPlace{b, p}
	if a, ok := v.known[key]; ok {
		return a
	}
	// Headers first, from the outermost loop in: on a way around a loop that began
	// behind its header, the block asked about would be met before it is known.
	v.headers(v.r.Blocks[b].Loop, p)
	if a, ok := v.known[key]; ok {
		return a
	}
	v.known[key] = answer{} // for what depends on itself without a loop's header between
	a := v.computeEntering(b, p)
	v.known[key] = a
	return a
}

// headers finds what a place holds at the headers of a loop and of those around
// it.
func (v *values) headers(loop int, p place) {
	if loop < 0 {
		return
	}
	v.headers(v.r.Loops[loop].Parent, p)
	key := blockPlace{v.r.Loops[loop].Header, p}
	if _, ok := v.known[key]; !ok {
		v.known[key] = v.computeEntering(key.block, p)
	}
}

func (v *values) computeEntering(b int, p place) answer {
	r := v.r
	begins := len(r.Entries) > 0 && r.Entries[0] == b
	for _, e := range r.Entries[min(1, len(r.Entries)):] {
		if e == b {
			return answer{} // control comes from elsewhere, too
		}
	}
	var outside, back []int
	l := r.Blocks[b].Loop
	header := l >= 0 && r.Loops[l].Header == b
	for _, e := range r.Blocks[b].Preds {
		switch {
		case r.Edges[e].Kind == cfg.Restarts:
		case header && r.Contains(l, r.Edges[e].From):
			back = append(back, r.Edges[e].From)
		default:
			outside = append(outside, r.Edges[e].From)
		}
	}
	enter := func() answer {
		if begins {
			if len(outside) > 0 {
				return answer{}
			}
			return answer{single(symbol{loop: -1, place: p}), true}
		}
		return v.meeting(b, p, outside)
	}
	if !header {
		return enter()
	}
	if r.Loops[l].Irreducible {
		return answer{}
	}
	s := symbol{loop: l, place: p}
	v.known[blockPlace{b, p}] = answer{single(s), true}
	ph := &phi{}
	v.phis[s] = ph
	ph.start = enter()
	ph.next = v.same(p, back)
	if ph.start.ok && ph.next.ok {
		v.open, v.fresh = append(v.open, s), true
	}
	return answer{single(s), true}
}

// same returns what a place holds at the ends of blocks, if that is the same.
func (v *values) same(p place, blocks []int) answer {
	var all answer
	for i, from := range blocks {
		a := v.before(from, len(v.r.Blocks[from].Insts), p)
		if !a.ok || i > 0 && !a.sum.equal(all.sum) {
			return answer{}
		}
		all = a
	}
	return all
}

// meeting returns what a place holds where paths from blocks meet.
func (v *values) meeting(b int, p place, blocks []int) answer {
	if a := v.same(p, blocks); a.ok || p.cell || v.r.Blocks[b].Loop >= 0 || len(blocks) < 2 {
		return a
	}
	return answer{single(symbol{loop: -1, place: p, pc: v.r.Blocks[b].PC(), merge: true}), true}
}

// step returns by how much an iteration changes a loop's variable.
func (v *values) step(s symbol) answer {
	ph := v.phis[s]
	if ph == nil || !ph.next.ok {
		return answer{}
	}
	next := v.settle(ph.next.sum)
	if v.fixed[s] {
		return answer{ok: true}
	}
	return combine(next, single(s), -1)
}

// settle replaces variables that their loops do not change by what they are at
// first.
func (v *values) settle(s sum) sum {
	if len(v.open) > 0 && v.fresh {
		v.fix()
		v.fresh = false
	}
	return v.substitute(s, nil)
}

// fix finds which variables their loops do not change: the largest set of which
// each, were the others of it what they are at first, is so again at the end of
// an iteration. By induction over iterations all of them then are, also those
// that are restored from the stack after a call, or that go from loop to loop.
func (v *values) fix() {
	set := make(map[symbol]bool, len(v.open))
	for _, s := range v.open {
		set[s] = true
	}
	for changed := true; changed; {
		changed = false
		for _, s := range v.open {
			ph := v.phis[s]
			if set[s] && !v.substitute(ph.next.sum, set).equal(v.substitute(ph.start.sum, set)) {
				delete(set, s)
				changed = true
			}
		}
	}
	left := v.open[:0]
	for _, s := range v.open {
		if set[s] {
			v.fixed[s] = true
		} else {
			left = append(left, s)
		}
	}
	v.open = left
}

// substitute replaces the fixed variables, and those of a set, by what they are
// at first, until none is left.
func (v *values) substitute(s sum, set map[symbol]bool) sum {
	for {
		replaced := false
		for sym, c := range s.of {
			if !v.fixed[sym] && !set[sym] {
				continue
			}
			out, ok1 := s.plus(single(sym), -c)
			out, ok2 := out.plus(v.phis[sym].start.sum, c)
			if !ok1 || !ok2 {
				return s
			}
			s, replaced = out, true
			break
		}
		if !replaced {
			return s
		}
	}
}
