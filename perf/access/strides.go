package access

import (
	"presage/perf/isa"
)

// This file finds how values change from one iteration of a loop to the next
// (2005 paper, section 2.1): a recursive search that ends at constants, at loop
// invariants, and at definitions that it reaches for the second time, which
// update the loop's variables.
//
// With respect to an outer loop, the variables of inner loops stand for their
// initial values: strides compare the first executions of each iteration.

// change is the change of a value per iteration.
type change struct {
	by        linear // of what is regular
	irregular bool   // not by the same in all iterations
	indirect  bool   // by what a load gives whose address changes
}

var irregular = change{irregular: true}

func (c change) none() bool    { return !c.irregular && !c.indirect && c.by.isZero() }
func (c change) flagged() bool { return c.irregular || c.indirect }

// change returns how a sum changes with an iteration of a loop.
func (a *routineAnalysis) change(v linear, loop int) change {
	var sum change
	for _, t := range a.settled(v).terms {
		c := a.symbolChange(t.symbol, loop)
		sum.irregular = sum.irregular || c.irregular
		sum.indirect = sum.indirect || c.indirect
		by, ok := sum.by.plusScaled(c.by, t.factor)
		if !ok {
			return change{irregular: true, indirect: sum.indirect}
		}
		sum.by = by
	}
	return sum
}

// symbolChange is change for a symbol. A symbol already being visited is irregular:
// its change depends on itself.
func (a *routineAnalysis) symbolChange(s symbolID, loop int) change {
	k := symbolLoop{s, loop}
	if c, ok := a.changes[k]; ok {
		return c
	}
	if a.changing[k] {
		return irregular
	}
	a.changing[k] = true
	c := a.computeChange(s, loop)
	delete(a.changing, k)
	a.changes[k] = c
	return c
}

func (a *routineAnalysis) computeChange(s symbolID, loop int) change {
	sym := a.symbols[s]
	switch sym.kind {
	case atEntry:
		return change{}
	case anOperation:
		return a.operationChange(sym, loop)
	}
	if !a.r.Contains(loop, int(sym.block)) {
		return change{}
	}
	switch sym.kind {
	case aPhi:
		if sym.loop == loop {
			return a.step(s)
		}
		return a.change(sym.start, loop)
	case aMerge:
		return a.mergeChange(sym, loop)
	case aLoad:
		return a.loadChange(sym, loop)
	case anExit:
		return a.exitChange(s, loop)
	}
	return irregular
}

// step returns by how much a loop's variable changes with an iteration.
func (a *routineAnalysis) step(s symbolID) change {
	sym := a.symbols[s]
	loop := sym.loop
	if sym.open || a.r.Loops[loop].Irreducible {
		out := irregular
		for _, v := range sym.paths {
			out.indirect = out.indirect || a.change(v, loop).indirect
		}
		return out
	}
	next := a.expand(a.settled(sym.next), loop)
	switch next.factor(s) {
	case 1:
		by, ok := next.plusScaled(single(s), -1)
		if !ok {
			return irregular
		}
		if c := a.change(by, loop); !c.none() {
			return change{irregular: true, indirect: c.indirect}
		}
		return change{by: by}
	case 0:
		return a.follows(s, next)
	}
	return irregular
}

// follows handles a variable that takes on another variable's value from the
// previous iteration: it changes like that one, if they start in step.
func (a *routineAnalysis) follows(s symbolID, next linear) change {
	sym := a.symbols[s]
	c := a.change(next, sym.loop)
	if c.flagged() {
		return change{irregular: true, indirect: c.indirect}
	}
	second := a.begin(next, sym.loop, true)
	by, ok := second.plusScaled(sym.start, -1)
	if !ok || !a.expand(by, -1).equal(a.expand(c.by, -1)) {
		return irregular
	}
	return c
}

// begin replaces the variables of a loop and of its inner loops by their initial
// values; without own, only those of inner loops.
func (a *routineAnalysis) begin(v linear, loop int, own bool) linear {
	return a.substitute(v, func(s symbolID) (linear, bool) {
		k := beginKey{symbolLoop{s, loop}, own}
		w, ok := a.begun[k]
		if !ok {
			a.begun[k] = single(s) // ends the recursion of a symbol that depends on itself
			w = a.beginSymbol(s, loop, own)
			a.begun[k] = w
		}
		return w, !w.equal(single(s))
	})
}

func (a *routineAnalysis) beginSymbol(s symbolID, loop int, own bool) linear {
	sym := a.symbols[s]
	switch {
	case sym.kind == anOperation:
		x, y := a.begin(sym.x, loop, own), a.begin(sym.y, loop, own)
		if !x.equal(sym.x) || !y.equal(sym.y) {
			return a.again(sym, x, y)
		}
	case sym.kind == aPhi && a.r.Contains(loop, int(sym.block)) && (own || sym.loop != loop) && !sym.open:
		return a.begin(a.settled(sym.start), loop, own)
	}
	return single(s)
}

// operationChange returns the change of an operation on sums.
func (a *routineAnalysis) operationChange(sym symbol, loop int) change {
	x, y := a.change(sym.x, loop), a.change(sym.y, loop)
	switch {
	case x.none() && y.none():
		return change{}
	case x.flagged() || y.flagged():
		return change{irregular: x.irregular || y.irregular, indirect: x.indirect || y.indirect}
	case sym.value.Op == isa.Times && y.none():
		return a.product(sym, x.by, a.begin(sym.y, loop, false))
	case sym.value.Op == isa.Times && x.none():
		return a.product(sym, y.by, a.begin(sym.x, loop, false))
	case sym.value.Op == isa.ShiftLeft && y.none():
		return change{by: a.again(sym, x.by, a.begin(sym.y, loop, false))}
	case sym.value.Op == isa.Quotient && y.none() && sym.y.isConstant() && x.by.isConstant():
		if by, ok := x.by.divided(sym.y.constant); ok {
			return change{by: by}
		}
	case sym.value.Op == isa.And && y.none() && sym.y.isConstant() && x.by.isConstant():
		// A mask that only clears low bits, which the steps do not affect.
		if m := sym.y.constant; m < 0 && -m&(-m-1) == 0 && x.by.constant%m == 0 {
			return change{by: x.by}
		}
	}
	return irregular
}

func (a *routineAnalysis) product(sym symbol, x, y linear) change {
	a.at = point{sym.block, sym.inst, sym.place.reg}
	return change{by: a.apply(isa.Value{Op: isa.Times}, x, y)}
}

// loadChange returns the change of a loaded value: none if the address does not
// change and nothing in the loop stores to it.
func (a *routineAnalysis) loadChange(sym symbol, loop int) change {
	c := a.change(sym.x, loop)
	if !c.none() {
		return change{irregular: c.irregular, indirect: true}
	}
	at := a.begin(a.settled(sym.x), loop, false)
	if cell, ok := a.cellAt(at, a.loadedSize(&sym)); ok && a.changedIn(loop, cell) || a.storesTo(at, loop) || a.callsIn(loop) {
		return irregular
	}
	return change{}
}

// loadedSize returns how many bytes a load loads.
func (a *routineAnalysis) loadedSize(sym *symbol) uint8 {
	return a.r.Blocks[sym.block].Insts[sym.inst].Mems()[0].Size
}

// callsIn reports whether a loop holds a call.
func (a *routineAnalysis) callsIn(loop int) bool {
	for _, b := range a.r.Loops[loop].Blocks {
		if len(a.slots.calls[b]) > 0 {
			return true
		}
	}
	return false
}

// everywhere stands for a loop in storesTo: all of the routine.
const everywhere = -1

// storesTo reports whether a store in a loop has an address equal to v.
func (a *routineAnalysis) storesTo(v linear, loop int) bool {
	set, ok := a.stores[loop]
	if !ok {
		set = make(map[string]bool)
		a.stores[loop] = set
		for b := range a.r.Blocks {
			if loop == everywhere || a.r.Contains(loop, b) {
				a.addStores(set, b)
			}
		}
	}
	return set[string(a.settled(v).key(nil))]
}

// addStores adds the addresses that block b stores to.
func (a *routineAnalysis) addStores(set map[string]bool, b int) {
	for i := range a.r.Blocks[b].Insts {
		for k, m := range a.r.Blocks[b].Insts[i].Mems() {
			if m.Kind.Writes() {
				set[string(a.settled(a.address(b, i, k)).key(nil))] = true
			}
		}
	}
}

// mergeChange returns the change of a value that depends on the path: the common
// change of all paths, if every iteration takes the same path as the previous one.
func (a *routineAnalysis) mergeChange(sym symbol, loop int) change {
	var all change
	for i, v := range sym.paths {
		c := a.change(v, loop)
		if i == 0 {
			all = c
		}
		all.irregular = all.irregular || c.irregular || !c.by.equal(all.by)
		all.indirect = all.indirect || c.indirect
	}
	if all.flagged() || !a.samePath(int(sym.block), loop) {
		return change{irregular: true, indirect: all.indirect}
	}
	return all
}

// samePath reports whether the branches between a block and its dominator go
// the same way in all iterations of a loop.
func (a *routineAnalysis) samePath(block, loop int) bool {
	top := a.r.Blocks[block].Dominator
	if top < 0 || !a.r.Contains(loop, top) {
		return false
	}
	own := a.r.Blocks[block].Loop
	seen := map[int]bool{block: true}
	work := []int{block}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		for _, e := range a.forward(b) {
			from := a.r.Edges[e].From
			if seen[from] {
				continue
			}
			seen[from] = true
			if !a.settledBranch(from, loop, own) {
				return false
			}
			if from != top {
				work = append(work, from)
			}
		}
	}
	return true
}

// settledBranch reports whether block b, on the way to a block whose innermost
// loop is own, always goes on the same way.
func (a *routineAnalysis) settledBranch(b, loop, own int) bool {
	if a.r.Blocks[b].Loop != own {
		return a.onlyWayOut(b, own)
	}
	if len(a.r.Blocks[b].Succs) < 2 {
		return true
	}
	last := a.r.Blocks[b].Last()
	if last.Class != isa.Branch {
		return false
	}
	i := len(a.r.Blocks[b].Insts) - 1
	x, y := a.sides(b, i, last.Value)
	return a.change(x, loop).none() && a.change(y, loop).none()
}

// onlyWayOut reports whether all exits of the loop directly inside own that
// contains block b lead to the same block.
func (a *routineAnalysis) onlyWayOut(b, own int) bool {
	in := a.r.Blocks[b].Loop
	for in >= 0 && a.r.Loops[in].Parent != own {
		in = a.r.Loops[in].Parent
	}
	if in < 0 {
		return false
	}
	to := -1
	for _, e := range a.r.Loops[in].Exit {
		next := a.r.Edges[e].To
		if a.cold[next] && !a.cold[b] {
			continue
		}
		if to >= 0 && to != next {
			return false
		}
		to = next
	}
	return true
}
