package access

// first returns the value of a sum the first time control reaches a place: loop
// variables have their initial values (2005 paper, section 2.1).
func (a *routineAnalysis) first(v linear) linear {
	return a.substitute(a.settled(v), func(s symbolID) (linear, bool) {
		if w, ok := a.firsts[s]; ok {
			return w, true
		}
		a.firsts[s] = single(s) // ends the recursion of a symbol that depends on itself
		w := a.firstOf(s)
		a.firsts[s] = w
		return w, true
	})
}

func (a *routineAnalysis) firstOf(s symbolID) linear {
	sym := a.symbols[s]
	switch sym.kind {
	case anOperation:
		return a.again(sym, a.first(sym.x), a.first(sym.y))
	case aPhi:
		if !sym.open {
			return a.first(sym.start)
		}
	case anExit:
		if w, ok := a.expanded(s); ok {
			return a.first(w)
		}
	case aMerge:
		one := a.first(sym.paths[0])
		for _, p := range sym.paths[1:] {
			if !a.first(p).equal(one) {
				return single(s)
			}
		}
		return one
	}
	return single(s)
}
