package access

// This file replaces symbols in sums: those that turn out to be redundant, and
// those of a loop once control has left the loop.

// settled replaces the phis in a sum that turned out not to be loop variables.
func (a *routineAnalysis) settled(v linear) linear {
	if len(a.same) == 0 {
		return v
	}
	return a.substitute(v, func(s symbolID) (linear, bool) {
		if w, ok := a.same[s]; ok {
			return a.settled(w), true
		}
		m, ok := a.settlings[s]
		if !ok || m.known != len(a.same) {
			m.known = len(a.same)
			m.value, m.differs = a.settledSymbol(s)
			a.settlings[s] = m
		}
		return m.value, m.differs
	})
}

// settledSymbol is settled for the definition of a symbol.
func (a *routineAnalysis) settledSymbol(s symbolID) (linear, bool) {
	sym := a.symbols[s]
	switch sym.kind {
	case anOperation:
		x, y := a.settled(sym.x), a.settled(sym.y)
		if x.equal(sym.x) && y.equal(sym.y) {
			return linear{}, false
		}
		return a.again(sym, x, y), true
	case anExit:
		of := single(sym.of)
		if w := a.settled(of); !w.equal(of) {
			return a.leave(w, sym.loop), true
		}
	case aMerge:
		one := a.settled(sym.paths[0])
		for _, p := range sym.paths[1:] {
			if !a.settled(p).equal(one) {
				return linear{}, false
			}
		}
		return one, !one.equal(single(s))
	}
	return linear{}, false
}

// collapse finds phis that are, through each other, copies of one value from
// before all loops, as in nested loops where a register is saved across a call in
// the inner one.
func (a *routineAnalysis) collapse() {
	for _, s := range a.pending {
		if _, ok := a.same[s]; ok {
			continue
		}
		if v, ok := a.source(s); ok {
			a.same[s] = v
		}
	}
	a.pending = a.pending[:0]
}

// source returns the only value that a symbol can be a copy of, if that is from
// before all loops.
func (a *routineAnalysis) source(s symbolID) (found linear, ok bool) {
	seen := map[symbolID]bool{s: true}
	work := []symbolID{s}
	for len(work) > 0 {
		sym := &a.symbols[work[len(work)-1]]
		work = work[:len(work)-1]
		var from []linear
		switch sym.kind {
		case aPhi:
			from = append(append(from, sym.paths...), sym.start)
		case aMerge:
			from = sym.paths
		case anExit:
			from = append(from, single(sym.of))
		}
		for _, v := range from {
			v = a.settled(v)
			if t, one := v.only(); one && a.isCopy(t) {
				if !seen[t] {
					seen[t] = true
					work = append(work, t)
				}
				continue
			}
			if ok && !v.equal(found) || !a.beforeLoops(v) {
				return linear{}, false
			}
			found, ok = v, true
		}
	}
	return found, ok
}

// isCopy reports whether a symbol stands for one of several values.
func (a *routineAnalysis) isCopy(s symbolID) bool {
	k := a.symbols[s].kind
	return k == aPhi || k == aMerge || k == anExit
}

// beforeLoops reports whether no loop computes any value in the sum.
func (a *routineAnalysis) beforeLoops(v linear) bool {
	for _, t := range v.terms {
		sym := &a.symbols[t.symbol]
		switch {
		case sym.kind == atEntry:
		case sym.kind == anOperation:
			if !a.beforeLoops(sym.x) || !a.beforeLoops(sym.y) {
				return false
			}
		case a.r.Blocks[sym.block].Loop >= 0:
			return false
		}
	}
	return true
}

// again applies a symbol's operation to other operands.
func (a *routineAnalysis) again(sym symbol, x, y linear) linear {
	a.at = point{sym.block, sym.inst, sym.place.reg}
	return a.apply(sym.value, x, y)
}

// substitute replaces symbols of a sum by sums.
func (a *routineAnalysis) substitute(v linear, by func(symbolID) (linear, bool)) linear {
	out, changed := constant(v.constant), false
	for _, t := range v.terms {
		w, ok := by(t.symbol)
		if !ok {
			w = single(t.symbol)
		}
		changed = changed || ok
		sum, ok := out.plusScaled(w, t.factor)
		if !ok {
			return v // a factor overflows: keep the symbol
		}
		out = sum
	}
	if !changed {
		return v
	}
	return out
}

// leave rewrites a sum of values inside a loop in terms of their values once the
// loop is left.
func (a *routineAnalysis) leave(v linear, loop int) linear {
	return a.substitute(v, func(s symbolID) (linear, bool) {
		k := symbolLoop{s, loop}
		w, ok := a.left[k]
		if !ok {
			w = a.leaveSymbol(s, loop)
			a.left[k] = w
		}
		return w, !w.equal(single(s))
	})
}

func (a *routineAnalysis) leaveSymbol(s symbolID, loop int) linear {
	sym := a.symbols[s]
	switch {
	case sym.kind == atEntry:
		return single(s)
	case sym.kind == anOperation:
		x, y := a.leave(sym.x, loop), a.leave(sym.y, loop)
		if x.equal(sym.x) && y.equal(sym.y) {
			return single(s)
		}
		return a.again(sym, x, y)
	case !a.r.Contains(loop, int(sym.block)):
		return single(s)
	case sym.kind == aLoad && a.leave(sym.x, loop).equal(sym.x):
		return single(s) // from an address that the loop does not change
	}
	return single(a.symbolFor(symbolKey{kind: anExit, block: sym.block, inst: sym.inst, place: sym.place, of: s, loop: loop}))
}
