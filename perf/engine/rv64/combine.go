package rv64

// combine inserts superinstructions, which only the interpreter executes, for
// op sequences that compilers emit all the time. A combined op precedes its
// parts, which stay as they are:
//
//	opAddLd | opAdd | opLd | …
//
// It reads their operands, does all their work in one dispatch, and continues
// after them. If it cannot (an address outside the guest's space, a result that
// needs flags), it falls back to its first part without having had any effect,
// so that the faulting instruction itself raises the fault, after everything
// before it has completed. A host fault (see machine.slice) is handled likewise,
// so a combined op makes its accesses before it writes registers, and repeating
// them is harmless.
//
// The translator does not handle combined ops: they are emitted only without a
// translator, and never when single-stepping.
func (g *builder) combine() {
	ops, meta := g.ops, g.meta
	g.ops, g.meta = nil, nil
	for i := 0; i < len(ops); {
		n := 1
		if i+1 < len(ops) {
			if o, ok := g.combined(&ops[i], &ops[i+1]); ok {
				g.ops, g.meta = append(g.ops, o), append(g.meta, meta[i])
				n = 2
			}
		}
		g.ops, g.meta = append(g.ops, ops[i:i+n]...), append(g.meta, meta[i:i+n]...)
		i += n
	}
}

// combined returns the combined op for two consecutive ops, and whether there is
// one.
func (g *builder) combined(a, b *op) (op, bool) {
	if b.code >= opBeq && b.code <= opBgeu {
		return g.combinedBranch(a, b)
	}
	first, traced := a.code.untraced()
	second, secondTraced := b.code.untraced()
	if first.access() && second.access() && traced != secondTraced {
		return op{}, false
	}
	traced = traced || secondTraced
	o := op{code: pairs[pair{first, second}]}
	if o.code == 0 || !combinable(o.code, a, b) {
		return op{}, false
	}
	switch o.code {
	case opConstLd:
		o.setConstant(a.constant() + uint64(int64(b.imm)))
	case opFmaSd:
		code := o.code
		o = *a
		o.code = code
	}
	if traced {
		o.code++
	}
	return o, true
}

// untraced returns the untraced variant of a combinable traced op and true, or
// for any other op the op itself and false.
func (c code) untraced() (code, bool) {
	switch c {
	case opLdT:
		return opLd, true
	case opSdT:
		return opSd, true
	case opShlAddLdT:
		return opShlAddLd, true
	}
	return c, false
}

// access reports whether c is one of the combinable memory accesses, untraced.
func (c code) access() bool { return c == opLd || c == opSd || c == opShlAddLd }

type pair struct{ first, second code }

// pairs maps pairs of untraced ops to their combined op; the traced variants
// follow the untraced combined ops.
var pairs = map[pair]code{
	{opAdd, opLd}:         opAddLd,
	{opAdd, opSd}:         opAddSd,
	{opShlAdd, opSd}:      opShlAddSd,
	{opConst, opLd}:       opConstLd,
	{opLd, opLd}:          opLdLd,
	{opSd, opSd}:          opSdSd,
	{opFmaddD, opSd}:      opFmaSd,
	{opFmsubD, opSd}:      opFmaSd,
	{opFnmsubD, opSd}:     opFmaSd,
	{opFnmaddD, opSd}:     opFmaSd,
	{opShlAddLd, opFaddD}: opShlAddLdFadd,
}

// combinable reports whether a and b have the data dependence that combined op c
// assumes.
func combinable(c code, a, b *op) bool {
	switch c {
	case opAddLd, opConstLd:
		return b.rs1 == a.rd
	case opAddSd:
		return b.rs1 == a.rd && b.rs2 != a.rd
	case opShlAddSd:
		return b.rs1 == a.rd && b.rs2 != a.rd && b.rs2 != a.rs3
	case opLdLd:
		return b.rs1 != a.rd
	case opFmaSd:
		return b.rs2 == a.rd
	}
	return true // opSdSd, and opShlAddLdFadd: the parts are done in turn
}

var branchCombined = map[code]code{
	opShlAddLd: opShlAddLdB, opShlAddLdT: opShlAddLdBT, opLd: opLdB, opLdT: opLdBT,
	opAdd: opAddB, opSub: opSubB, opMv: opMvB, opAddi: opAddiB, opAndi: opAndiB, opConst: opConstB,
	opFeqD: opFeqDB, opFltD: opFltDB, opFleD: opFleDB,
}

// combinedBranch combines an op with the branch that ends the block. Combined
// ops exist for three comparisons only; a branch on one of the others is
// inverted, and its two successors exchanged.
func (g *builder) combinedBranch(a, b *op) (op, bool) {
	c, ok := branchCombined[a.code]
	if !ok {
		return op{}, false
	}
	switch b.code {
	case opBne, opBge, opBgeu:
		b.code-- // to opBeq, opBlt, opBltu
		g.block.turn()
	}
	o := op{code: c}
	switch b.code {
	case opBeq:
		o.rm = compareEqual
	case opBlt:
		o.setConstant(1 << 63)
	}
	return o, true
}

// turn exchanges the block's taken and fall-through successors.
func (b *block) turn() {
	b.takenPC, b.fallPC = b.fallPC, b.takenPC
	b.takenCount, b.fallCount = b.fallCount, b.takenCount
}

// holds reports whether a conditional branch on operands x and y is taken.
func holds(branch code, x, y uint64) bool {
	switch branch {
	case opBeq:
		return x == y
	case opBne:
		return x != y
	case opBlt:
		return int64(x) < int64(y)
	case opBge:
		return int64(x) >= int64(y)
	case opBltu:
		return x < y
	}
	return x >= y
}
