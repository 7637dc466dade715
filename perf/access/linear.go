package access

import (
	"encoding/binary"
	"math/bits"

	"presage/perf/isa"
)

// linear is a sum during analysis: integer coefficients, and symbols that are
// indices into routineAnalysis.symbols. An inexact quotient is a symbol of its own
// until the formula is exported.
type linear struct {
	constant int64
	terms    []summand // by ascending symbol; no coefficient is 0
}

type symbolID int32

type summand struct {
	symbol symbolID
	factor int64
}

// maxTerms bounds the length of a sum: a longer one becomes a symbol, as no
// address in a source program is that long.
const maxTerms = 12

func constant(c int64) linear     { return linear{constant: c} }
func single(s symbolID) linear    { return linear{terms: []summand{{s, 1}}} }
func (v linear) isConstant() bool { return len(v.terms) == 0 }
func (v linear) isZero() bool     { return len(v.terms) == 0 && v.constant == 0 }
func (v linear) is(c int64) bool  { return len(v.terms) == 0 && v.constant == c }
func (v linear) only() (symbolID, bool) {
	if len(v.terms) == 1 && v.constant == 0 && v.terms[0].factor == 1 {
		return v.terms[0].symbol, true
	}
	return 0, false
}

func (v linear) equal(w linear) bool {
	if v.constant != w.constant || len(v.terms) != len(w.terms) {
		return false
	}
	for i, t := range v.terms {
		if t != w.terms[i] {
			return false
		}
	}
	return true
}

// factor returns the coefficient of s.
func (v linear) factor(s symbolID) int64 {
	for _, t := range v.terms {
		if t.symbol == s {
			return t.factor
		}
	}
	return 0
}

// key appends to dst an encoding of v that is equal for equal sums only.
func (v linear) key(dst []byte) []byte {
	dst = binary.AppendVarint(dst, v.constant)
	dst = binary.AppendUvarint(dst, uint64(len(v.terms)))
	for _, t := range v.terms {
		dst = binary.AppendUvarint(dst, uint64(t.symbol))
		dst = binary.AppendVarint(dst, t.factor)
	}
	return dst
}

// plusScaled returns v + k*w; ok is false if that overflows or grows too long.
// A sum of constants wraps around like the machine's.
func (v linear) plusScaled(w linear, k int64) (sum linear, ok bool) {
	if v.isConstant() && w.isConstant() {
		return constant(v.constant + k*w.constant), true
	}
	if k == 0 || w.isZero() {
		return v, true
	}
	if k == 1 && v.isZero() {
		return w, true
	}
	if k == 1 && w.isConstant() {
		c, ok := add(v.constant, w.constant)
		return linear{c, v.terms}, ok
	}
	c, ok1 := mul(w.constant, k)
	c, ok2 := add(v.constant, c)
	if !ok1 || !ok2 {
		return linear{}, false
	}
	terms, ok := mergeTerms(v.terms, w.terms, k)
	return linear{c, terms}, ok && len(terms) <= maxTerms
}

func mergeTerms(a, b []summand, k int64) ([]summand, bool) {
	out := make([]summand, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].symbol < b[0].symbol:
			out = append(out, a[0])
			a = a[1:]
			continue
		case len(a) > 0 && a[0].symbol == b[0].symbol:
			f, ok1 := mul(b[0].factor, k)
			f, ok2 := add(a[0].factor, f)
			if !ok1 || !ok2 {
				return nil, false
			}
			if f != 0 {
				out = append(out, summand{a[0].symbol, f})
			}
			a = a[1:]
		default:
			f, ok := mul(b[0].factor, k)
			if !ok {
				return nil, false
			}
			out = append(out, summand{b[0].symbol, f})
		}
		b = b[1:]
	}
	return out, true
}

func (v linear) scaled(k int64) (linear, bool) { return linear{}.plusScaled(v, k) }

// divided returns v/d if d divides it exactly.
func (v linear) divided(d int64) (linear, bool) {
	if d == 0 || v.constant%d != 0 {
		return linear{}, false
	}
	out := linear{constant: v.constant / d, terms: make([]summand, len(v.terms))}
	for i, t := range v.terms {
		if t.factor%d != 0 {
			return linear{}, false
		}
		out.terms[i] = summand{t.symbol, t.factor / d}
	}
	return out, true
}

// apply applies an operator to two sums, in the order of section 2.1 of the 2005
// paper: constants exactly, additive operators on sums, multiplication by a
// constant on the coefficients, and anything else as a symbol, the same one for
// the same operation on the same operands. 32-bit operations and extensions are
// assumed not to overflow.
func (a *routineAnalysis) apply(v isa.Value, x, y linear) linear {
	if x.isConstant() && y.isConstant() {
		folded := v
		folded.A, folded.B = 0, 0
		if v.Op != isa.ScaledAdd || v.B != isa.NoReg {
			return constant(folded.Eval(x.constant, y.constant))
		}
		return constant(folded.Eval(x.constant, 0))
	}
	if out, ok := additive(v, x, y); ok {
		return out
	}
	if v.Op == isa.And && a.golang {
		if out, ok := a.sliced(x, y); ok {
			return out
		}
	}
	if v.Op == isa.And && a.aligned(x, y) {
		return x
	}
	if out, ok := a.multiplicative(v, x, y); ok {
		return out
	}
	return a.operation(v, x, y)
}

// aligned reports whether x & y aligns the stack pointer downward. The stack is
// taken to be aligned already: its cells keep their distances from each other.
func (a *routineAnalysis) aligned(x, y linear) bool {
	if !y.isConstant() || !alignment(y.constant) {
		return false
	}
	sp, ok := a.entry(register(a.target.StackPointer)).only()
	return ok && x.factor(sp) == 1
}

// alignment reports whether a mask clears some low bits, up to those of a page.
func alignment(mask int64) bool {
	return mask < 0 && mask >= -4096 && -mask&(-mask-1) == 0
}

func additive(v isa.Value, x, y linear) (linear, bool) {
	switch v.Op {
	case isa.Add:
		return x.plusScaled(y, 1)
	case isa.Subtract:
		return x.plusScaled(y, -1)
	case isa.ScaledAdd:
		s, ok1 := x.scaled(1 << v.Imm)
		s, ok2 := s.plusScaled(constant(v.Disp), 1)
		if !ok1 || !ok2 {
			return linear{}, false
		}
		return s.plusScaled(y, 1)
	case isa.SignExtend, isa.ZeroExtend:
		return x, true
	case isa.Or:
		if y.isZero() || x.equal(y) {
			return x, true
		}
		return y, x.isZero()
	case isa.Xor:
		if y.is(-1) { // -x - 1 in two's complement
			return constant(-1).plusScaled(x, -1)
		}
		return x, y.isZero()
	case isa.And:
		return masked(x, y)
	}
	return linear{}, false
}

// masked computes x & y where the mask keeps at least the low 32 bits, which
// is an extension.
func masked(x, y linear) (linear, bool) {
	if x.isConstant() {
		x, y = y, x
	}
	if x.equal(y) {
		return x, true
	}
	if !y.isConstant() {
		return linear{}, false
	}
	m := uint64(y.constant)
	if m == 0 {
		return constant(0), true
	}
	return x, m&(m+1) == 0 && bits.Len64(m) >= 32
}

// sliced computes the offset x & y by which Go's compiler moves a pointer when
// it slices: the mask is the sign of a negated capacity, all ones unless there
// is nothing left to point to.
func (a *routineAnalysis) sliced(x, y linear) (linear, bool) {
	for _, p := range [][2]linear{{x, y}, {y, x}} {
		if s, ok := p[1].only(); ok {
			if m := &a.symbols[s]; m.kind == anOperation && m.value.Op == isa.ShiftRightArithmetic && m.y.is(63) {
				return p[0], true
			}
		}
	}
	return linear{}, false
}

func (a *routineAnalysis) multiplicative(v isa.Value, x, y linear) (linear, bool) {
	switch v.Op {
	case isa.Times:
		if x.isConstant() {
			x, y = y, x
		}
		if y.isConstant() {
			return x.scaled(y.constant)
		}
	case isa.ShiftLeft:
		if n := y.constant; y.isConstant() && n >= 0 && n < 63 {
			return x.scaled(1 << n)
		}
	case isa.ShiftRight, isa.ShiftRightArithmetic:
		if n := y.constant; y.isConstant() && n >= 0 && n < 63 {
			return a.quotient(x, 1<<n)
		}
	case isa.Quotient, isa.QuotientUnsigned:
		if y.isConstant() && y.constant > 0 {
			return a.quotient(x, y.constant)
		}
	}
	return linear{}, false
}

// quotient divides by a positive constant. If there is a remainder the result is a
// symbol, which preserves the operands for deciding whether a loop's steps divide
// exactly.
func (a *routineAnalysis) quotient(x linear, d int64) (linear, bool) {
	if d == 1 {
		return x, true
	}
	if q, ok := x.divided(d); ok {
		return q, true
	}
	return a.operation(isa.Value{Op: isa.Quotient, B: isa.NoReg, Imm: d}, x, constant(d)), true
}

// operation returns the symbol for an operation on sums.
func (a *routineAnalysis) operation(v isa.Value, x, y linear) linear {
	buf := append(a.buffer[:0], byte(v.Op), byte(b2i(v.Word)), byte(b2i(v.LowA)))
	if v.Op == isa.ScaledAdd {
		buf = binary.AppendVarint(append(buf, byte(v.Imm)), v.Disp)
	}
	buf = y.key(x.key(buf))
	a.buffer = buf
	if s, ok := a.operations[string(buf)]; ok {
		return single(s)
	}
	s := a.newSymbol(symbol{kind: anOperation, block: a.at.block, inst: a.at.inst, place: location{reg: a.at.reg}, value: v, x: x, y: y})
	a.operations[string(buf)] = s
	return single(s)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
