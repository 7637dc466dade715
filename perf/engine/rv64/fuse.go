package rv64

// fuse replaces the last two ops by one where a fused op exists. The results of
// both instructions are still written, in order, so that a fault in the second
// sees the first one's effects.
func (g *builder) fuse() {
	n := len(g.ops)
	if n < 2 {
		return
	}
	a, b := &g.ops[n-2], &g.ops[n-1]
	fused, ok := fusePair(a, b)
	if !ok || fused.code >= opAddiBeq && g.cache.combines { // combine has a better one
		return
	}
	g.ops[n-2], g.meta[n-2] = fused, g.meta[n-1]
	g.ops, g.meta = g.ops[:n-1], g.meta[:n-1]
}

func fusePair(a, b *op) (op, bool) {
	switch a.code {
	case opConst:
		return fuseConst(a, b)
	case opSlli:
		// slli t, i, s; add d, t, base
		if b.code != opAdd || (b.rs1 == a.rd) == (b.rs2 == a.rd) {
			return op{}, false
		}
		f := op{code: opShlAdd, rd: b.rd, rs1: a.rs1, rs2: b.rs1, rs3: a.rd, imm: a.imm}
		if b.rs1 == a.rd {
			f.rs2 = b.rs2
		}
		return f, true
	case opShlAdd:
		// …; ld x, offset(d)
		if b.rs1 != a.rd || b.code != opLd && b.code != opLdT {
			return op{}, false
		}
		f := *a
		f.code, f.rm, f.tag, f.slot = opShlAddLd, b.rd, b.tag, b.slot
		if b.code == opLdT {
			f.code = opShlAddLdT
		}
		f.imm |= b.imm << 8
		return f, true
	case opAddi:
		return fuseAddi(a, b)
	}
	return op{}, false
}

// fuseConst folds lui+addi(w) and auipc+addi into one constant.
func fuseConst(a, b *op) (op, bool) {
	if b.rs1 != a.rd || b.rd != a.rd {
		return op{}, false
	}
	v := a.constant()
	switch b.code {
	case opAddi:
		v += uint64(int64(b.imm))
	case opAddiw:
		v = uint64(int64(int32(v) + b.imm))
	case opSlli:
		v <<= uint(b.imm)
	default:
		return op{}, false
	}
	f := op{code: opConst, rd: a.rd}
	f.setConstant(v)
	return f, true
}

// fuseAddi fuses the increment of a loop counter with the loop's branch.
func fuseAddi(a, b *op) (op, bool) {
	if b.code < opBeq || b.code > opBgeu {
		return op{}, false
	}
	return op{
		code: b.code - opBeq + opAddiBeq,
		rd:   a.rd, rs1: a.rs1, imm: a.imm,
		rs2: b.rs1, rs3: b.rs2,
	}, true
}
