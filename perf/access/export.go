package access

import (
	"slices"

	"presage/perf/isa"
)

// formula converts a sum to an exported Formula: quotients become rational
// coefficients, and all other operations the register that holds their result.
func (a *routineAnalysis) formula(v linear) Formula {
	terms, ok := a.rational(nil, a.unified(v), ratio{1, 1})
	if !ok {
		return Formula{}
	}
	f, ok := sumOf(terms)
	if !ok {
		return Formula{}
	}
	return f
}

// unified replaces loads from an address that nothing in the routine stores to by
// one symbol: that of the first load from there.
func (a *routineAnalysis) unified(v linear) linear {
	return a.substitute(a.settled(v), func(s symbolID) (linear, bool) {
		w, ok := a.unifieds[s]
		if !ok {
			a.unifieds[s] = single(s) // ends the recursion of a symbol that depends on itself
			w = a.unifiedSymbol(s)
			a.unifieds[s] = w
		}
		return w, !w.equal(single(s))
	})
}

func (a *routineAnalysis) unifiedSymbol(s symbolID) linear {
	sym := a.symbols[s]
	switch sym.kind {
	case anOperation:
		x, y := a.unified(sym.x), a.unified(sym.y)
		if !x.equal(sym.x) || !y.equal(sym.y) {
			return a.again(sym, x, y)
		}
	case aLoad:
		if a.storesTo(sym.x, everywhere) {
			break
		}
		k := string(append(a.unified(sym.x).key(nil), a.loadedSize(&sym)))
		if first, ok := a.loaded[k]; ok {
			return single(first)
		}
		a.loaded[k] = s
	}
	return single(s)
}

func (a *routineAnalysis) rational(terms []Term, v linear, by ratio) ([]Term, bool) {
	put := func(s Symbol, factor int64) bool {
		num, ok := mul(by.num, factor)
		r := newRatio(num, by.den)
		terms = append(terms, Term{s, r.num, r.den})
		return ok
	}
	if v.constant != 0 && !put(Symbol{Kind: Unit}, v.constant) {
		return nil, false
	}
	for _, t := range v.terms {
		sym := &a.symbols[t.symbol]
		if sym.kind != anOperation || sym.value.Op != isa.Quotient || !sym.y.isConstant() || sym.y.constant <= 0 {
			if !put(a.public(t.symbol), t.factor) {
				return nil, false
			}
			continue
		}
		num, ok1 := mul(by.num, t.factor)
		den, ok2 := mul(by.den, sym.y.constant)
		var ok3 bool
		if terms, ok3 = a.rational(terms, sym.x, newRatio(num, den)); !ok1 || !ok2 || !ok3 {
			return nil, false
		}
	}
	return terms, true
}

// public returns the exported form of a symbol.
func (a *routineAnalysis) public(s symbolID) Symbol {
	sym := &a.symbols[s]
	out := Symbol{target: a.target, Memory: sym.place.memory, Reg: sym.place.reg, Offset: sym.place.offset, Size: sym.place.size}
	block := &a.r.Blocks[sym.block]
	switch sym.kind {
	case atEntry:
		out.Kind = Entry
	case aMerge, aPhi:
		out.Kind, out.PC = Merge, block.PC()
	case anExit:
		out.Kind, out.PC = Exit, a.r.Blocks[a.r.Loops[sym.loop].Header].PC()
	default:
		out.Kind, out.PC = Result, block.PC()
		if sym.inst > 0 {
			out.PC = block.Insts[sym.inst].PC
		}
	}
	return out
}

// strides returns the strides of an address in block b, by loops from the
// innermost out.
func (a *routineAnalysis) strides(v linear, b int) []Stride {
	var list []Stride
	for l := a.r.Blocks[b].Loop; l >= 0; l = a.r.Loops[l].Parent {
		c := a.change(v, l)
		s := Stride{Loop: l, Irregular: c.irregular, Indirect: c.indirect}
		if !c.irregular {
			s.Formula = a.formula(a.begin(a.expand(c.by, l), l, false))
		}
		list = append(list, s)
	}
	return slices.Clip(list)
}
