package access

import (
	"presage/perf/cfg"
	"presage/perf/isa"
)

// This file finds the final values of a loop's variables from its only exit
// condition. Derived here; the papers do without.

// tripCount is the number of iterations that a loop completes before the one in
// which it exits.
type tripCount struct {
	exact linear // if known
	known bool

	// apart is the initial difference of the two sides of the exit comparison,
	// and by its change per iteration: if both are invariant, so is the trip
	// count.
	apart, by linear
	single    bool
	stays     isa.Operator // the loop goes on while apart compares so with 0
	exit      int          // the block that ends in the branch
}

// trip returns the trip count of a loop.
func (a *routineAnalysis) trip(loop int) tripCount {
	if t, ok := a.trips[loop]; ok {
		return t
	}
	a.trips[loop] = tripCount{} // ends the recursion of a symbol that depends on itself
	t := a.computeTrip(loop)
	a.trips[loop] = t
	return t
}

// onlyExit returns the block that ends in the loop's only exit branch, not
// counting exits to cold blocks, if it is executed in every iteration.
func (a *routineAnalysis) onlyExit(loop int) (block int, ok bool) {
	l := &a.r.Loops[loop]
	block = -1
	for _, e := range l.Exit {
		if a.cold[a.r.Edges[e].To] && !a.cold[l.Header] {
			continue
		}
		if block >= 0 {
			return -1, false
		}
		block = a.r.Edges[e].From
	}
	if block < 0 || l.Irreducible || a.r.Blocks[block].Loop != loop || a.r.Blocks[block].Last().Class != isa.Branch {
		return -1, false
	}
	for _, b := range l.Blocks {
		if x := a.r.Blocks[b].Exit; !a.cold[b] && x != cfg.Stays {
			return -1, false
		}
	}
	for _, e := range l.Back {
		if !a.r.Dominates(block, a.r.Edges[e].From) {
			return -1, false
		}
	}
	return block, true
}

func (a *routineAnalysis) computeTrip(loop int) tripCount {
	b, ok := a.onlyExit(loop)
	if !ok {
		return tripCount{}
	}
	i := len(a.r.Blocks[b].Insts) - 1
	last := &a.r.Blocks[b].Insts[i]
	x, y := a.sides(b, i, last.Value)
	apart, ok := x.plusScaled(y, -1)
	if !ok {
		return tripCount{}
	}
	apart = a.expand(apart, loop)
	c := a.change(apart, loop)
	if c.flagged() || !c.by.isConstant() || c.by.isZero() {
		return tripCount{}
	}
	t := tripCount{apart: a.begin(apart, loop, true), by: c.by, single: true, stays: last.Value.Op, exit: b}
	if !a.r.Contains(loop, a.leadsTo(b, last.Target)) {
		t.stays = opposite[t.stays]
	}
	t.exact, t.known = a.solve(t.stays, t.apart, c.by.constant)
	return t
}

func (a *routineAnalysis) leadsTo(b int, pc uint64) int {
	for _, e := range a.r.Blocks[b].Succs {
		if to := a.r.Edges[e].To; a.r.Blocks[to].PC() == pc {
			return to
		}
	}
	return b
}

// solve returns the first k from 0 at which d + k*by does not satisfy the
// condition to stay, compared with 0, if the condition holds at first.
func (a *routineAnalysis) solve(op isa.Operator, d linear, by int64) (linear, bool) {
	switch {
	case op == isa.NotEqual: // d + k*by = 0
		if d.isConstant() && (d.constant%by != 0 || d.constant/by > 0) {
			return linear{}, false
		}
		return a.quotientSigned(d, -by)
	case (op == isa.Less || op == isa.LessUnsigned) && by > 0: // ceil(-d/by)
		if d.isConstant() {
			return constant(max(0, (-d.constant+by-1)/by)), true
		}
		if by == 1 {
			return d.scaled(-1)
		}
	case (op == isa.GreaterEqual || op == isa.GreaterEqualUnsigned) && by < 0: // floor(d/-by) + 1
		if d.isConstant() {
			return constant(max(0, d.constant/-by+1)), true
		}
		if by == -1 {
			return d.plusScaled(constant(1), 1)
		}
	}
	return linear{}, false
}

var opposite = map[isa.Operator]isa.Operator{
	isa.Equal: isa.NotEqual, isa.NotEqual: isa.Equal, isa.Less: isa.GreaterEqual, isa.GreaterEqual: isa.Less,
	isa.LessUnsigned: isa.GreaterEqualUnsigned, isa.GreaterEqualUnsigned: isa.LessUnsigned,
}

// quotientSigned divides by a number of either sign, exactly.
func (a *routineAnalysis) quotientSigned(d linear, by int64) (linear, bool) {
	if by < 0 {
		n, ok := d.scaled(-1)
		if !ok {
			return linear{}, false
		}
		d, by = n, -by
	}
	if by == 1 {
		return d, true
	}
	return d.divided(by)
}

// exitChange returns the change, per iteration of loop, of a value left by an
// inner loop.
func (a *routineAnalysis) exitChange(s symbolID, loop int) change {
	sym := a.symbols[s]
	if !a.inside(sym.loop, loop) {
		return change{} // left before the loop
	}
	if v, ok := a.expanded(s); ok {
		return a.change(v, loop)
	}
	of := a.symbols[sym.of]
	if of.kind == aPhi && of.loop == sym.loop {
		t := a.trip(sym.loop)
		step := a.step(sym.of)
		if t.single && !step.flagged() && a.change(t.apart, loop).none() && a.change(step.by, loop).none() {
			return a.change(a.settled(of.start), loop)
		}
	}
	return change{irregular: true, indirect: of.kind == aLoad}
}

// inside reports whether loop inner is inside outer, and not outer itself.
func (a *routineAnalysis) inside(inner, outer int) bool {
	for l := a.r.Loops[inner].Parent; l >= 0; l = a.r.Loops[l].Parent {
		if l == outer {
			return true
		}
	}
	return false
}

// expanded returns the final value of a loop's variable: its initial value plus
// the step times the number of completed iterations.
func (a *routineAnalysis) expanded(s symbolID) (linear, bool) {
	sym := a.symbols[s]
	of := a.symbols[sym.of]
	if of.kind == anExit { // of a loop inside: it may be a sum of this one's variables
		v, ok := a.expanded(sym.of)
		if !ok {
			return linear{}, false
		}
		return a.leave(v, sym.loop), true
	}
	if of.kind != aPhi || of.loop != sym.loop || of.open {
		return linear{}, false
	}
	step := a.step(sym.of)
	if step.none() {
		return a.settled(of.start), true
	}
	t := a.trip(sym.loop)
	if !t.known || step.flagged() {
		return linear{}, false
	}
	a.at = point{of.block, of.inst, of.place.reg}
	all := a.apply(isa.Value{Op: isa.Times}, step.by, t.exact)
	return a.settled(of.start).plusScaled(all, 1)
}

// expand replaces the variables of the loops inside loop, or of all loops if it is
// -1, by their final values where these are known.
func (a *routineAnalysis) expand(v linear, loop int) linear {
	return a.expandWithin(v, loop, maxExpansions)
}

// maxExpansions bounds the chain of loops whose variables are expanded.
const maxExpansions = 8

func (a *routineAnalysis) expandWithin(v linear, loop, left int) linear {
	if left == 0 {
		return v
	}
	return a.substitute(v, func(s symbolID) (linear, bool) {
		if sym := &a.symbols[s]; sym.kind != anExit || loop >= 0 && !a.inside(sym.loop, loop) {
			return linear{}, false
		}
		w, ok := a.expanded(s)
		if !ok {
			return linear{}, false
		}
		return a.expandWithin(w, loop, left-1), true
	})
}
