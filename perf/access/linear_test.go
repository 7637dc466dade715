package access

import (
	"testing"

	"pgregory.net/rapid"

	"presage/perf/isa"
)

// sumOperators are the operators that build sums, and how operands are drawn.
var sumOperators = []isa.Operator{
	isa.Add, isa.Subtract, isa.And, isa.Or, isa.Xor, isa.ShiftLeft, isa.ShiftRight, isa.ShiftRightArithmetic,
	isa.Times, isa.Quotient, isa.QuotientUnsigned, isa.Remainder, isa.RemainderUnsigned, isa.ScaledAdd,
	isa.SignExtend, isa.ZeroExtend, isa.Less, isa.Equal,
}

// TestApplyAgainstEvaluation computes random expressions of registers with
// known contents, by sums and directly, as instructions would.
func TestApplyAgainstEvaluation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := &routineAnalysis{symbols: make([]symbol, 1), known: make(map[symbolKey]symbolID), operations: make(map[string]symbolID)}
		content := make(map[symbolID]int64)
		type both struct {
			sum   linear
			value int64
		}
		var pool []both
		for r := isa.Reg(10); r < 14; r++ {
			s := a.symbolFor(symbolKey{kind: atEntry, place: register(r)})
			content[s] = rapid.Int64Range(0, 1000).Draw(t, "content")
			pool = append(pool, both{single(s), content[s]})
		}
		for range 12 {
			v := isa.Value{Op: rapid.SampledFrom(sumOperators).Draw(t, "operator"), A: 1, B: 2}
			x := rapid.SampledFrom(pool).Draw(t, "x")
			y := rapid.SampledFrom(pool).Draw(t, "y")
			if rapid.Bool().Draw(t, "immediate") {
				n := rapid.Int64Range(1, 40).Draw(t, "constant")
				v.B, v.Imm, y = isa.NoReg, n, both{constant(n), n}
			}
			switch v.Op {
			case isa.ScaledAdd:
				v.B, v.Imm = 2, rapid.Int64Range(1, 3).Draw(t, "scale")
			case isa.SignExtend, isa.ZeroExtend:
				v.B, v.Imm, y = isa.NoReg, 32, both{constant(32), 32}
			case isa.ShiftLeft, isa.ShiftRight, isa.ShiftRightArithmetic:
				if v.B != isa.NoReg {
					continue // by amounts that the machine takes modulo 64
				}
			}
			want := v.Eval(x.value, y.value)
			if want < 0 || want > 1<<30 {
				continue // sums are taken not to overflow 32 bits, quotients not to be negative
			}
			got := a.apply(v, x.sum, y.sum)
			if n := evaluate(a, content, got); n != want {
				t.Fatalf("%d %v %d is %d, its sum %+v gives %d", x.value, v, y.value, want, got, n)
			}
			pool = append(pool, both{got, want})
		}
	})
}

// evaluate computes a sum from the contents of registers.
func evaluate(a *routineAnalysis, content map[symbolID]int64, v linear) int64 {
	sum := v.constant
	for _, t := range v.terms {
		sym := &a.symbols[t.symbol]
		x, ok := content[t.symbol]
		if !ok {
			op := sym.value
			op.A = 1
			if op.Op != isa.ScaledAdd || op.B != isa.NoReg {
				op.B = 2
			}
			x = op.Eval(evaluate(a, content, sym.x), evaluate(a, content, sym.y))
		}
		sum += t.factor * x
	}
	return sum
}

// TestExtensionsAreExact checks the code that compilers emit for a 32-bit index:
// slli 32, srli 29.
func TestExtensionsAreExact(t *testing.T) {
	a := &routineAnalysis{symbols: make([]symbol, 1), known: make(map[symbolKey]symbolID), operations: make(map[string]symbolID)}
	index := single(a.symbolFor(symbolKey{kind: atEntry, place: register(10)}))
	up := a.apply(isa.Value{Op: isa.ShiftLeft, B: isa.NoReg, Imm: 32}, index, constant(32))
	got := a.apply(isa.Value{Op: isa.ShiftRight, B: isa.NoReg, Imm: 29}, up, constant(29))
	if want, _ := index.scaled(8); !got.equal(want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	half := a.apply(isa.Value{Op: isa.ShiftRightArithmetic, B: isa.NoReg, Imm: 1}, index, constant(1))
	twice, _ := half.scaled(2)
	if twice.equal(index) {
		t.Error("twice the half of an index that may be odd is taken for the index")
	}
}

func TestSumsDoNotOverflowSilently(t *testing.T) {
	v := linear{terms: []summand{{1, 1 << 62}}}
	if w, ok := v.plusScaled(v, 1); ok {
		t.Errorf("2^62 s + 2^62 s = %+v", w)
	}
	if w, ok := v.scaled(-3); ok {
		t.Errorf("-3 * 2^62 s = %+v", w)
	}
	if w, ok := constant(1<<63-1).plusScaled(single(1), 1); !ok || w.constant != 1<<63-1 {
		t.Errorf("2^63 - 1 + s = %+v, %t", w, ok)
	}
	long := linear{}
	ok := true
	for s := symbolID(1); s <= maxTerms+1; s++ {
		if !ok {
			t.Fatalf("%d terms are too many", s-1)
		}
		long, ok = long.plusScaled(single(s), 1)
	}
	if ok {
		t.Errorf("%d terms are not too many", maxTerms+1)
	}
}
