package access

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"presage/perf/isa"
)

// Formula is a sum of terms with rational coefficients, the restricted form of
// section 2.1 of the 2005 paper: immediate values and Symbols. The zero Formula is
// 0. A Formula is immutable.
type Formula struct {
	terms []Term // by ascending Symbol; no coefficient is 0
}

// Term is a symbol with its coefficient Num/Den, in lowest terms, Den > 0.
type Term struct {
	Symbol   Symbol
	Num, Den int64
}

// SymbolKind says what a symbol stands for.
type SymbolKind uint8

// The kinds of symbols.
const (
	Unit   SymbolKind = iota // 1: the term is a constant
	Entry                    // the value of a register or memory cell at the routine's entry
	Result                   // the result of an instruction that is not a sum of symbols, such as a load from an undetermined address
	Merge                    // a value that depends on the path taken
	Exit                     // a value at the end of a loop, after its last iteration
)

// Symbol is an unknown value in a formula. Its place is a register, or a memory
// cell whose address is an offset from 0 or from a register's value at the
// routine's entry: a static variable if Reg is isa.NoReg, an argument or spilled
// register if Reg is the stack pointer, an argument passed by reference otherwise.
type Symbol struct {
	Kind   SymbolKind
	PC     uint64  // Result: of the instruction; Merge: of the block where paths meet; Exit: of the loop's header
	Memory bool    // the place is a memory cell
	Reg    isa.Reg // the register, or the base of the cell's address
	Offset int64   // bytes, of the cell
	Size   uint8   // bytes, of the cell

	target *isa.Target // for the register's name; nil for Unit
}

func (s Symbol) compare(o Symbol) int {
	return cmp.Or(
		cmp.Compare(s.Kind, o.Kind), cmp.Compare(s.PC, o.PC), compareBool(s.Memory, o.Memory),
		cmp.Compare(s.Reg, o.Reg), cmp.Compare(s.Offset, o.Offset), cmp.Compare(s.Size, o.Size))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// String writes the symbol as in a0, [sp+16], [0x12340], a5@0x10234, and
// merge(a5)@0x10200.
func (s Symbol) String() string {
	place := s.target.RegisterName(s.Reg)
	if s.Memory {
		place = s.cell()
	}
	switch s.Kind {
	case Unit:
		return "1"
	case Entry:
		return place
	case Result:
		return fmt.Sprintf("%s@%#x", place, s.PC)
	case Merge:
		return fmt.Sprintf("merge(%s)@%#x", place, s.PC)
	}
	return fmt.Sprintf("exit(%s)@%#x", place, s.PC)
}

func (s Symbol) cell() string {
	switch {
	case s.Reg == isa.NoReg:
		return fmt.Sprintf("[%#x]", uint64(s.Offset))
	case s.Offset == 0:
		return "[" + s.target.RegisterName(s.Reg) + "]"
	}
	return fmt.Sprintf("[%s%+d]", s.target.RegisterName(s.Reg), s.Offset)
}

// Terms returns the terms by ascending symbol, the constant first. The slice
// is part of f.
func (f Formula) Terms() []Term { return f.terms }

// Constant returns the value of f if f is constant.
func (f Formula) Constant() (value int64, ok bool) {
	switch {
	case len(f.terms) == 0:
		return 0, true
	case len(f.terms) == 1 && f.terms[0].Symbol.Kind == Unit && f.terms[0].Den == 1:
		return f.terms[0].Num, true
	}
	return 0, false
}

// Equal reports whether two formulas of one routine are the same.
func (f Formula) Equal(g Formula) bool { return slices.Equal(f.terms, g.terms) }

// Minus returns f - g; ok is false if a coefficient overflows.
func (f Formula) Minus(g Formula) (d Formula, ok bool) {
	minus := make([]Term, 0, len(f.terms)+len(g.terms))
	minus = append(minus, f.terms...)
	for _, t := range g.terms {
		t.Num = -t.Num
		minus = append(minus, t)
	}
	return sumOf(minus)
}

// sumOf brings terms into canonical form, in place.
func sumOf(terms []Term) (Formula, bool) {
	slices.SortFunc(terms, func(a, b Term) int { return a.Symbol.compare(b.Symbol) })
	out := terms[:0]
	for _, t := range terms {
		n := len(out)
		if n == 0 || out[n-1].Symbol != t.Symbol {
			out = append(out, t)
			continue
		}
		r, ok := ratio{out[n-1].Num, out[n-1].Den}.plus(ratio{t.Num, t.Den})
		if !ok {
			return Formula{}, false
		}
		out[n-1].Num, out[n-1].Den = r.num, r.den
		if r.num == 0 {
			out = out[:n-1]
		}
	}
	out = slices.DeleteFunc(out, func(t Term) bool { return t.Num == 0 })
	if len(out) == 0 {
		return Formula{}, true
	}
	return Formula{slices.Clip(out)}, true
}

// String writes the formula with the constant last, as in a0 + 8*a3 + 16.
func (f Formula) String() string {
	if len(f.terms) == 0 {
		return "0"
	}
	var b strings.Builder
	rest := f.terms
	if f.terms[0].Symbol.Kind == Unit {
		rest = append(slices.Clone(f.terms[1:]), f.terms[0])
	}
	for i, t := range rest {
		num := t.Num
		switch {
		case i > 0 && num < 0:
			b.WriteString(" - ")
			num = -num
		case i > 0:
			b.WriteString(" + ")
		}
		b.WriteString(t.text(num))
	}
	return b.String()
}

// hexFrom is the size of a constant above which it is likely an address.
const hexFrom = 4096

func (t Term) text(num int64) string {
	var k string
	switch {
	case t.Symbol.Kind == Unit && t.Den == 1 && num >= hexFrom:
		return fmt.Sprintf("%#x", num)
	case t.Symbol.Kind != Unit && t.Den == 1 && num == 1:
		return t.Symbol.String()
	case t.Symbol.Kind != Unit && t.Den == 1 && num == -1:
		return "-" + t.Symbol.String()
	case t.Den == 1:
		k = fmt.Sprint(num)
	default:
		k = fmt.Sprintf("%d/%d", num, t.Den)
	}
	if t.Symbol.Kind == Unit {
		return k
	}
	return k + "*" + t.Symbol.String()
}

// Key returns a string that is the same for equal formulas of one routine, and
// different for different ones.
func (f Formula) Key() string {
	var b strings.Builder
	for _, t := range f.terms {
		s := t.Symbol
		fmt.Fprintf(&b, "%d/%d*%d,%x,%t,%d,%d,%d;", t.Num, t.Den, s.Kind, s.PC, s.Memory, s.Reg, s.Offset, s.Size)
	}
	return b.String()
}

// ratio is a rational number in lowest terms, with den > 0.
type ratio struct{ num, den int64 }

func newRatio(num, den int64) ratio {
	g := gcd(num, den)
	if den < 0 {
		g = -g
	}
	return ratio{num / g, den / g}
}

func (r ratio) plus(o ratio) (ratio, bool) {
	a, ok1 := mul(r.num, o.den)
	b, ok2 := mul(o.num, r.den)
	c, ok3 := add(a, b)
	d, ok4 := mul(r.den, o.den)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		return ratio{}, false
	}
	return newRatio(c, d), true
}

// gcd returns the greatest common divisor, at least 1.
func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a, 1)
}

// add and mul report whether the result fits.
func add(a, b int64) (int64, bool) {
	c := a + b
	return c, (c > a) == (b > 0)
}

func mul(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	c := a * b
	return c, c/b == a && !(a == -1 && b == -1<<63) && !(b == -1 && a == -1<<63)
}
