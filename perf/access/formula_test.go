package access

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"presage/perf/isa"
	"presage/perf/isa/rv64"
)

func TestFormulaText(t *testing.T) {
	n := Symbol{target: rv64.Target(), Kind: Entry, Reg: 13}
	base := Symbol{target: rv64.Target(), Kind: Entry, Reg: 10}
	for _, c := range []struct {
		terms []Term
		want  string
	}{
		{nil, "0"},
		{[]Term{{Symbol{}, 16, 1}}, "16"},
		{[]Term{{Symbol{}, -8, 1}}, "-8"},
		{[]Term{{Symbol{}, 0x12340, 1}}, "0x12340"},
		{[]Term{{n, 8, 1}, {base, 1, 1}, {Symbol{}, 16, 1}}, "a0 + 8*a3 + 16"},
		{[]Term{{n, -1, 1}, {base, 1, 1}, {Symbol{}, -16, 1}}, "a0 - a3 - 16"},
		{[]Term{{n, 3, 4}, {n, 1, 4}}, "a3"},
		{[]Term{{n, 1, 3}}, "1/3*a3"},
		{[]Term{{n, 1, 3}, {n, -1, 3}}, "0"},
		{[]Term{{Symbol{target: rv64.Target(), Kind: Entry, Memory: true, Reg: isa.NoReg, Offset: 0x5000, Size: 8}, 8, 1}}, "8*[0x5000]"},
		{[]Term{{Symbol{target: rv64.Target(), Kind: Entry, Memory: true, Reg: 2, Offset: 16, Size: 8}, 1, 1}}, "[sp+16]"},
		{[]Term{{Symbol{target: rv64.Target(), Kind: Entry, Memory: true, Reg: 12, Size: 4}, 1, 1}}, "[a2]"},
		{[]Term{{Symbol{target: rv64.Target(), Kind: Result, Reg: 15, PC: 0x10234}, 1, 1}}, "a5@0x10234"},
		{[]Term{{Symbol{target: rv64.Target(), Kind: Merge, Reg: 15, PC: 0x10200}, -1, 1}}, "-merge(a5)@0x10200"},
		{[]Term{{Symbol{target: rv64.Target(), Kind: Exit, Memory: true, Reg: 2, Offset: -24, Size: 8, PC: 0x10200}, 4, 1}}, "4*exit([sp-24])@0x10200"},
	} {
		f, ok := sumOf(c.terms)
		if got := f.String(); got != c.want || !ok {
			t.Errorf("got %q, %t; want %q", got, ok, c.want)
		}
	}
}

// randomFormula draws a formula over few symbols with small coefficients.
func randomFormula(t *rapid.T, name string) Formula {
	var terms []Term
	for range rapid.IntRange(0, 6).Draw(t, name) {
		r := newRatio(rapid.Int64Range(-9, 9).Draw(t, "num"), rapid.Int64Range(1, 9).Draw(t, "den"))
		kind := rapid.SampledFrom([]SymbolKind{Unit, Entry, Entry, Result}).Draw(t, "kind")
		s := Symbol{Kind: kind}
		if kind != Unit {
			s.Reg = isa.Reg(rapid.IntRange(10, 13).Draw(t, "register"))
		}
		terms = append(terms, Term{s, r.num, r.den})
	}
	f, ok := sumOf(terms)
	if !ok {
		t.Fatal("small numbers overflow")
	}
	return f
}

// value evaluates a formula with a value for every symbol.
func value(f Formula) *big.Rat {
	sum := new(big.Rat)
	for _, t := range f.Terms() {
		x := int64(1)
		if t.Symbol.Kind != Unit {
			x = 1_000_003*int64(t.Symbol.Kind) + 7919*int64(t.Symbol.Reg)
		}
		sum.Add(sum, new(big.Rat).Mul(big.NewRat(t.Num, t.Den), big.NewRat(x, 1)))
	}
	return sum
}

func TestFormulaLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, g := randomFormula(t, "f"), randomFormula(t, "g")
		d, ok := f.Minus(g)
		if want := new(big.Rat).Sub(value(f), value(g)); !ok || value(d).Cmp(want) != 0 {
			t.Fatalf("(%v) - (%v) = %v, whose value is %v, want %v", f, g, d, value(d), want)
		}
		if z, _ := d.Constant(); f.Equal(g) != (len(d.Terms()) == 0 && z == 0) || f.Equal(g) != (f.Key() == g.Key()) {
			t.Fatalf("%v and %v: Equal %t, Key %t, difference %v", f, g, f.Equal(g), f.Key() == g.Key(), d)
		}
		back, _ := d.Minus(Formula{})
		again, _ := back.Minus(f)
		if neg, _ := again.Minus(Formula{}); !neg.Equal(mustMinus(t, Formula{}, g)) {
			t.Fatalf("f - g - f = %v, want %v negated", neg, g)
		}
	})
}

func mustMinus(t *rapid.T, f, g Formula) Formula {
	d, ok := f.Minus(g)
	if !ok {
		t.Fatal("small numbers overflow")
	}
	return d
}
