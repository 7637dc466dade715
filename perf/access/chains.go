package access

import (
	"presage/perf/cfg"
	"presage/perf/isa"
)

// This file follows use-def chains backwards, over forward edges of the
// control-flow graph only (2005 paper, section 2.1). Where a chain reaches the
// header of a loop that changes the location, it stops at a symbol, a phi, that
// records the location's content before the loop and at the end of an iteration:
// the first-location formula uses the former, and the stride formula the
// difference between the two.

// address returns the address of memory operand k of the instruction.
func (a *routineAnalysis) address(b, i, k int) linear {
	m := &a.r.Blocks[b].Insts[i].Mems()[k]
	if m.Base == isa.NoReg && m.Index == isa.NoReg {
		return constant(m.Disp)
	}
	sum, ok := a.operand(b, i, m.Base).plusScaled(constant(m.Disp), 1)
	if ok && m.Index != isa.NoReg {
		sum, ok = sum.plusScaled(a.operand(b, i, m.Index), int64(m.Scale))
	}
	if ok {
		return sum
	}
	return single(a.symbolFor(symbolKey{kind: anUnknown, block: int32(b), inst: int32(i), place: register(m.Base)}))
}

// operand returns the content of register r before an instruction; 0 for NoReg.
func (a *routineAnalysis) operand(b, i int, r isa.Reg) linear {
	switch {
	case r == isa.NoReg:
		return linear{}
	case a.followed(r):
		return a.before(b, i, register(r))
	case r == isa.Loaded:
		return a.load(symbolKey{kind: anUnknown, block: int32(b), inst: int32(i), place: register(r)})
	case r.Float():
		return single(a.symbolFor(symbolKey{kind: anUnknown, block: int32(b), inst: int32(i), place: register(r)}))
	}
	return a.entry(register(r))
}

// sides returns the operands of a value of an instruction.
func (a *routineAnalysis) sides(b, i int, v isa.Value) (x, y linear) {
	x = a.operand(b, i, v.A)
	switch {
	case v.B != isa.NoReg:
		y = a.operand(b, i, v.B)
	case v.Op != isa.ScaledAdd:
		y = constant(v.Imm)
	}
	return x, y
}

// value returns the value that an instruction computes for a register.
func (a *routineAnalysis) value(p point, v isa.Value) linear {
	x, y := a.sides(int(p.block), int(p.inst), v)
	a.at = p
	return a.apply(v, x, y)
}

// before returns the content of a location before instruction i of block b.
func (a *routineAnalysis) before(b, i int, l location) linear {
	if l.memory {
		return a.cellBefore(b, i, l)
	}
	if last := int(a.lastDefs[b][l.reg]); last < 0 {
		i = 0
	} else if last < i {
		return a.result(b, last, l.reg)
	}
	for i--; i >= 0; i-- {
		if a.defs(&a.r.Blocks[b].Insts[i]).Has(l.reg) {
			return a.result(b, i, l.reg)
		}
	}
	return a.atStart(b, l)
}

func (a *routineAnalysis) atEnd(b int, l location) linear {
	return a.before(b, len(a.r.Blocks[b].Insts), l)
}

// cellBefore looks for the last store to a cell. A partially overlapping or
// non-integer store leaves an unknown value, and so does a call that may change
// the cell. Other stores and calls are assumed, optimistically, not to affect it.
func (a *routineAnalysis) cellBefore(b, i int, l location) linear {
	s := a.slots
	stores, calls := s.stores[b], s.calls[b]
	for len(stores)+len(calls) > 0 {
		if n := len(calls); n > 0 && (len(stores) == 0 || calls[n-1] >= stores[len(stores)-1].inst) {
			if c := calls[n-1]; int(c) < i && a.callChanges(&a.r.Blocks[b].Insts[c], l) {
				return single(a.symbolFor(symbolKey{kind: aCall, block: int32(b), inst: c, place: l}))
			}
			calls = calls[:n-1]
			continue
		}
		at := stores[len(stores)-1]
		stores = stores[:len(stores)-1]
		if cell := s.operands[b][at.operand]; int(at.inst) < i && cell.overlaps(l) {
			in := &a.r.Blocks[b].Insts[at.inst]
			if in.Stored() != nil && l.within(cell) {
				return a.value(point{int32(b), at.inst, isa.NoReg}, in.Value)
			}
			return single(a.symbolFor(symbolKey{kind: anUnknown, block: int32(b), inst: at.inst, place: l}))
		}
	}
	return a.atStart(b, l)
}

// callChanges reports whether a call may change a cell: a stack cell whose address
// was taken; a static variable that the callee or its callees store to; or any
// cell reached through a pointer.
func (a *routineAnalysis) callChanges(call *isa.Inst, l location) bool {
	switch l.reg {
	case a.target.StackPointer:
		return a.slots.isTaken(l)
	case isa.NoReg:
		return a.statics.changes(a.r, call, l)
	}
	return true
}

// result returns what instruction i of block b leaves in register reg.
func (a *routineAnalysis) result(b, i int, reg isa.Reg) linear {
	p := point{int32(b), int32(i), reg}
	if v, ok := a.results[p]; ok {
		return a.settled(v)
	}
	v := a.settled(a.compute(p))
	a.results[p] = v
	return v
}

func (a *routineAnalysis) compute(p point) linear {
	in := &a.r.Blocks[p.block].Insts[p.inst]
	k := symbolKey{kind: anUnknown, block: p.block, inst: p.inst, place: register(p.reg)}
	switch v := in.Result(p.reg); {
	case in.Class == isa.Call || in.Class == isa.SystemCall:
		if out, ok := a.called(p, in); ok {
			return out
		}
		k.kind = aCall
	case v.Op != isa.Opaque:
		return a.value(p, v)
	case in.Class == isa.Load:
		return a.load(k)
	}
	return single(a.symbolFor(k))
}

// load returns the value of a load: for a cell, the value last stored there or its
// content at the routine's entry; else a symbol.
func (a *routineAnalysis) load(k symbolKey) linear {
	b, i := int(k.block), int(k.inst)
	if cell := a.slots.operand(b, i, 0); cell.size > 0 {
		return a.before(b, i, cell)
	}
	at := a.address(b, i, 0)
	if l, ok := a.cellAt(at, a.r.Blocks[b].Insts[i].Mems()[0].Size); ok {
		return a.before(b, i, l)
	}
	k.kind = aLoad
	s := a.symbolFor(k)
	a.symbols[s].x = at
	return single(s)
}

// cellAt returns the cell at an address, if the address is that of a cell.
func (a *routineAnalysis) cellAt(at linear, size uint8) (location, bool) {
	if at.isConstant() {
		return location{memory: true, size: size, reg: isa.NoReg, offset: at.constant}, true
	}
	if len(at.terms) == 1 && at.terms[0].factor == 1 {
		if s := &a.symbols[at.terms[0].symbol]; s.kind == atEntry && !s.place.memory {
			return location{memory: true, size: size, reg: s.place.reg, offset: at.constant}, true
		}
	}
	return location{}, false
}

// everChanged reports whether the routine may change a location.
func (a *routineAnalysis) everChanged(l location) bool {
	if !l.memory {
		return a.anywhere.Has(l.reg)
	}
	changed, ok := a.changedCells[l]
	if !ok {
		changed = a.slots.written(l)
		for b := range a.r.Blocks {
			changed = changed || a.callIn(b, l)
		}
		a.changedCells[l] = changed
	}
	return changed
}

// callIn reports whether block b holds a call that may change a cell.
func (a *routineAnalysis) callIn(b int, l location) bool {
	for _, i := range a.slots.calls[b] {
		if a.callChanges(&a.r.Blocks[b].Insts[i], l) {
			return true
		}
	}
	return false
}

// changedIn reports whether a loop may change a location.
func (a *routineAnalysis) changedIn(loop int, l location) bool {
	if !l.memory {
		return a.inLoops[loop].Has(l.reg)
	}
	for _, b := range a.r.Loops[loop].Blocks {
		if a.callIn(b, l) {
			return true
		}
		for _, i := range a.slots.stores[b] {
			if a.slots.operands[b][i.operand].overlaps(l) {
				return true
			}
		}
	}
	return false
}

// atStart returns the content of a location when block b begins.
func (a *routineAnalysis) atStart(b int, l location) linear {
	if !a.everChanged(l) {
		return a.entry(l)
	}
	k := blockPlace{int32(b), l}
	if v, ok := a.starts[k]; ok {
		return a.settled(v)
	}
	var v linear
	if loop := int(a.headers[b]); loop >= 0 && a.changedIn(loop, l) {
		v = a.phi(k, loop)
		if a.phisUnderWay == 0 {
			a.collapse()
		}
	} else {
		v = a.join(k, a.forward(b))
	}
	v = a.settled(v)
	a.starts[k] = v
	return v
}

// entry returns the content of a location at the routine's entry.
func (a *routineAnalysis) entry(l location) linear {
	switch {
	case l == register(a.target.Zero):
		return constant(0)
	case a.global.known && l == register(a.global.reg):
		return constant(a.global.value)
	}
	return single(a.symbolFor(symbolKey{kind: atEntry, place: l}))
}

// forward returns the forward edges to block b.
func (a *routineAnalysis) forward(b int) []int {
	preds := a.r.Blocks[b].Preds
	var list []int
	for _, e := range preds {
		if a.r.Edges[e].Kind == cfg.Restarts || a.isBack(e, b) {
			continue
		}
		list = append(list, e)
	}
	return list
}

// isBack reports whether edge e, to block b, closes a loop.
func (a *routineAnalysis) isBack(e, b int) bool {
	if l := a.headers[b]; l >= 0 {
		for _, back := range a.r.Loops[l].Back {
			if back == e {
				return true
			}
		}
	}
	return false
}

// join returns the value that all of the edges bring to the beginning of a block,
// or a symbol if their values differ.
func (a *routineAnalysis) join(k blockPlace, edges []int) linear {
	b := int(k.block)
	var values []linear
	for _, e := range edges {
		values = append(values, a.over(e, k.place))
	}
	switch {
	case a.isEntry[b] && k.place != register(a.target.StackPointer) && k.place != register(a.target.ThreadPointer):
		values = append(values, single(a.symbolFor(symbolKey{kind: anUnknown, block: k.block, inst: -1, place: k.place})))
	case len(a.r.Entries) > 0 && b == a.r.Entries[0], len(values) == 0:
		values = append(values, a.entry(k.place))
	}
	first := a.settled(values[0])
	for _, v := range values[1:] {
		if !a.settled(v).equal(first) {
			s := a.symbolFor(symbolKey{kind: aMerge, block: k.block, place: k.place})
			a.symbols[s].paths = values
			return single(s)
		}
	}
	return first
}

// over returns the content of a location after an edge was taken.
func (a *routineAnalysis) over(e int, l location) linear {
	from, to := a.r.Edges[e].From, a.r.Edges[e].To
	v := a.settled(a.atEnd(from, l))
	left := -1
	for in := a.r.Blocks[from].Loop; in >= 0 && !a.r.Contains(in, to); in = a.r.Loops[in].Parent {
		left = in
	}
	if left < 0 {
		return v
	}
	return a.leave(v, left)
}

// phi creates the symbol for a location that a loop changes, and finds its initial
// and next values. If an iteration leaves the location unchanged no symbol is
// needed: phi returns the value from before the loop.
func (a *routineAnalysis) phi(k blockPlace, loop int) linear {
	s := a.symbolFor(symbolKey{kind: aPhi, block: k.block, place: k.place, loop: loop})
	a.symbols[s].open = true
	a.starts[k] = single(s)
	a.phisUnderWay++
	start := a.join(k, a.forward(int(k.block)))
	a.symbols[s].start = start
	var ends []linear
	for _, e := range a.r.Loops[loop].Back {
		ends = append(ends, a.over(e, k.place))
	}
	a.phisUnderWay--
	start = a.settled(start)
	varies, agree := a.r.Loops[loop].Irreducible, true
	for n, v := range ends {
		ends[n] = a.settled(v)
		varies = varies || !ends[n].equal(single(s)) && !ends[n].equal(start)
		agree = agree && ends[n].equal(ends[0])
	}
	if !varies {
		a.same[s] = start
		a.starts[k] = start
		return start
	}
	sym := &a.symbols[s]
	sym.start, sym.next, sym.paths, sym.open = start, ends[0], ends, !agree
	a.pending = append(a.pending, s)
	return single(s)
}
