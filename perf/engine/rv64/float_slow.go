package rv64

import "math"

// slow executes a floating-point op in full, with every flag and rounding mode,
// and returns the op. The interpreter calls it where the host's arithmetic does
// not suffice. If it leaves thread.badRounding set, the instruction is illegal and
// no register was written.
func (t *thread) slow(o *op) *op {
	r := &t.x
	var v uint64
	switch o.code {
	case opFloat:
		t.floatOp(o)
		return o
	case opFeqD:
		v = t.unordered(r[o.rs1], r[o.rs2], false)
	case opFltD, opFleD:
		v = t.unordered(r[o.rs1], r[o.rs2], true)
	case opFeqS:
		v = t.unorderedS(r[o.rs1], r[o.rs2], false)
	case opFltS, opFleS:
		v = t.unorderedS(r[o.rs1], r[o.rs2], true)
	case opFcvtDW:
		t.mode(o) // called for its side effect: it sets badRounding
	case opFcvtDL:
		v = t.fcvtDL(o)
	case opFcvtWD, opFcvtLD:
		v = t.fcvtToInt(o)
	case opFcvtDS:
		t.mode(o)
		v = t.fcvtDS(r[o.rs1])
	case opFcvtSD:
		v = t.fcvtSD(o)
	default:
		v = t.rounded(o)
	}
	if !t.badRounding {
		r[o.rd] = v
	}
	return o
}

// zeroD reports whether a register holds a zero of either sign. A zero sum is
// exact, and so is a product with a zero factor; neither raises a flag.
func zeroD(v uint64) bool { return v<<1 == 0 }

// fuseS returns the fused multiply-add of op o on binary32 operands, computed on
// the host, and the op.
func fuseS(r *[256]uint64, o *op) (uint64, *op) {
	return uint64(math.Float32bits(fma32(
		math.Float32frombits(uint32(r[o.rs1])^o.tag),
		math.Float32frombits(uint32(r[o.rs2])),
		math.Float32frombits(uint32(r[o.rs3])^uint32(o.imm))))), o
}
