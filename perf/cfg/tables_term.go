package cfg

import "presage/perf/isa"

// term is a value expressed in the registers and memory at some place of a
// routine. Terms are interned by type terms, so that equal terms are equal
// pointers.
type term struct {
	kind termKind
	op   isa.Operator // of an operation or extension
	word bool         // of an operation: see isa.Value.Word
	reg  isa.Reg
	n    int64 // constant; bits of an extension; bytes of a cell
	a, b *term

	regs  isa.RegSet // the registers in it
	size  int        // number of nodes
	cells bool       // it holds cells of memory
	index bool       // it holds the index
	vague bool       // it holds something unknown
}

type termKind uint8

const (
	constant  termKind = iota // n
	register                  // reg
	cell                      // n bytes of memory at the address a
	operation                 // a op b
	extension                 // the low n bits of a, sign- or zero-extended
	index                     // what a table is indexed with
	unknown
)

// maxTermSize bounds the size of a term; larger ones become unknown. An address
// in a table takes about ten nodes.
const maxTermSize = 48

// terms creates and interns terms.
type terms map[term]*term

func (ts terms) make(t term) *term {
	t.size = 1
	for _, part := range []*term{t.a, t.b} {
		if part != nil {
			t.regs |= part.regs
			t.size += part.size
			t.cells = t.cells || part.cells
			t.index = t.index || part.index
			t.vague = t.vague || part.vague
		}
	}
	switch t.kind {
	case cell:
		t.cells = true
	case index:
		t.index = true
	case unknown:
		t.vague = true
	case register:
		t.regs = t.regs.With(t.reg)
	}
	if t.size > maxTermSize {
		return ts.unknown()
	}
	if old := ts[t]; old != nil {
		return old
	}
	made := new(term)
	*made = t
	ts[t] = made
	return made
}

func (ts terms) unknown() *term         { return ts.make(term{kind: unknown}) }
func (ts terms) index() *term           { return ts.make(term{kind: index}) }
func (ts terms) constant(n int64) *term { return ts.make(term{kind: constant, n: n}) }

// register returns the content of a register; NoReg is 0.
func (ts terms) register(r isa.Reg) *term {
	if r == isa.NoReg {
		return ts.constant(0)
	}
	return ts.make(term{kind: register, reg: r})
}

// cell returns the content of size bytes of memory at an address.
func (ts terms) cell(address *term, size uint8) *term {
	return ts.make(term{kind: cell, a: address, n: int64(size)})
}

// apply returns the term of v, which is not opaque, for its two sides.
func (ts terms) apply(v isa.Value, a, b *term) *term {
	if v.LowA {
		a = ts.extend(a, 32, false)
	}
	if v.Narrow != 0 {
		a, b = ts.extend(a, v.Bits(), true), ts.extend(b, v.Bits(), true)
	}
	var t *term
	switch v.Op {
	case isa.ScaledAdd:
		t = ts.operate(isa.Add, ts.operate(isa.ShiftLeft, a, ts.constant(v.Imm), false), b, false)
		t = ts.operate(isa.Add, t, ts.constant(v.Disp), v.Word)
	case isa.SignExtend, isa.ZeroExtend:
		t = ts.extend(a, v.Imm, v.Op == isa.SignExtend)
	default:
		t = ts.operate(v.Op, a, b, v.Word)
	}
	switch {
	case v.Narrow != 0:
		return ts.extend(t, v.Bits(), true)
	case v.Word && v.ZeroHigh:
		return ts.extend(t, 32, false)
	}
	return t
}

// operate returns a op b in canonical form: constants on the right and folded,
// masks and pairs of shifts as extensions.
func (ts terms) operate(op isa.Operator, a, b *term, word bool) *term {
	if a.kind == constant && b.kind == constant {
		return ts.constant(isa.Value{Op: op, Word: word, A: 0, B: 1}.Eval(a.n, b.n))
	}
	if word {
		switch op {
		case isa.Add, isa.Subtract, isa.And, isa.Or, isa.Xor, isa.Times:
			return ts.extend(ts.operate(op, a, b, false), 32, true)
		case isa.ShiftLeft:
			if b.kind == constant {
				return ts.extend(ts.operate(op, a, ts.constant(b.n&31), false), 32, true)
			}
		}
		return ts.make(term{kind: operation, op: op, word: true, a: a, b: b})
	}
	if a.kind == constant && (op == isa.Add || op == isa.And || op == isa.Or || op == isa.Xor || op == isa.Times) {
		a, b = b, a
	}
	if b.kind == constant {
		if t := ts.simplify(op, a, b.n); t != nil {
			return t
		}
	}
	return ts.make(term{kind: operation, op: op, a: a, b: b})
}

// simplify returns a simpler form of a op n, or nil if there is none.
func (ts terms) simplify(op isa.Operator, a *term, n int64) *term {
	switch op {
	case isa.Subtract:
		return ts.operate(isa.Add, a, ts.constant(-n), false)
	case isa.Add, isa.Or, isa.Xor:
		if n == 0 {
			return a
		}
		if op == isa.Add && a.kind == operation && a.op == isa.Add && !a.word && a.b.kind == constant {
			return ts.operate(isa.Add, a.a, ts.constant(a.b.n+n), false)
		}
	case isa.And:
		for bits := int64(1); bits < 63; bits++ {
			if n == 1<<bits-1 {
				return ts.extend(a, bits, false)
			}
		}
	case isa.ShiftLeft:
		if n&63 == 0 {
			return a
		}
	case isa.ShiftRight, isa.ShiftRightArithmetic:
		return ts.shiftRight(op, a, n&63)
	}
	return nil
}

// shiftRight returns a shifted right by n if a is a left shift by at least n.
func (ts terms) shiftRight(op isa.Operator, a *term, n int64) *term {
	if n == 0 {
		return a
	}
	if a.kind != operation || a.op != isa.ShiftLeft || a.word || a.b.kind != constant || a.b.n&63 < n {
		return nil
	}
	left := a.b.n & 63
	low := ts.extend(a.a, 64-left, op == isa.ShiftRightArithmetic)
	return ts.operate(isa.ShiftLeft, low, ts.constant(left-n), false)
}

// extend returns the low bits of a, sign- or zero-extended.
func (ts terms) extend(a *term, bits int64, signed bool) *term {
	op := isa.ZeroExtend
	if signed {
		op = isa.SignExtend
	}
	if bits <= 0 || bits >= 64 {
		return a
	}
	switch a.kind {
	case constant:
		return ts.constant(isa.Value{Op: op, A: 0, B: isa.NoReg, Imm: bits}.Eval(a.n, 0))
	case extension:
		switch {
		case a.n >= bits: // the inner one does not touch the low bits
			return ts.extend(a.a, bits, signed)
		case a.op == op, a.op == isa.ZeroExtend: // the outer one changes nothing
			return a
		}
	}
	return ts.make(term{kind: extension, op: op, n: bits, a: a})
}

// rewrite returns t with every register and cell replaced by what leaf returns
// for it, unless that is nil. A cell's address is rewritten first.
func (ts terms) rewrite(t *term, leaf func(*term) *term) *term {
	switch t.kind {
	case register:
		if to := leaf(t); to != nil {
			return to
		}
	case cell:
		t = ts.cell(ts.rewrite(t.a, leaf), uint8(t.n))
		if t.kind != cell {
			return t
		}
		if to := leaf(t); to != nil {
			return to
		}
	case operation:
		a, b := ts.rewrite(t.a, leaf), ts.rewrite(t.b, leaf)
		if a != t.a || b != t.b {
			return ts.operate(t.op, a, b, t.word)
		}
	case extension:
		if a := ts.rewrite(t.a, leaf); a != t.a {
			return ts.extend(a, t.n, t.op == isa.SignExtend)
		}
	}
	return t
}

// replace returns t with every occurrence of old replaced by to.
func (ts terms) replace(t, old, to *term) *term {
	if t == old {
		return to
	}
	switch t.kind {
	case cell:
		return ts.cell(ts.replace(t.a, old, to), uint8(t.n))
	case operation:
		return ts.operate(t.op, ts.replace(t.a, old, to), ts.replace(t.b, old, to), t.word)
	case extension:
		return ts.extend(ts.replace(t.a, old, to), t.n, t.op == isa.SignExtend)
	}
	return t
}

// core strips extensions and added constants from t, so that t is core plus
// offset as long as that fits in the bits.
func (t *term) core() (core *term, offset int64) {
	for {
		switch {
		case t.kind == extension && (t.n == 8 || t.n >= 16):
			t = t.a
		case t.kind == operation && t.op == isa.Add && !t.word && t.b.kind == constant:
			offset += t.b.n
			t = t.a
		default:
			return t, offset
		}
	}
}

// closed reports whether t can be computed once the index is known.
func (t *term) closed() bool { return t.regs == 0 && !t.vague }
