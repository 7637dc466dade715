package rv64

import (
	rv "golang.org/x/arch/riscv64/riscv64asm"

	"presage/perf/trace"
)

// lowered is the result of lowering one instruction.
type lowered struct {
	op      op
	drop    bool   // no effect: no op is needed
	ends    bool   // the op ends its block
	target  uint64 // of a direct branch or jump
	memory  bool   // a load, store or atomic, which a plan may record
	kind    trace.Kind
	size    uint8 // bytes accessed
	float   bool
	illegal bool
}

// sink returns the register file index for writes to integer register rd.
func sink(rd uint8) uint8 {
	if rd == 0 {
		return regSink
	}
	return rd
}

// lower turns a decoded instruction at pc into an operation.
func (c *codeCache) lower(d decoded, pc uint64) lowered {
	switch d.op {
	case rv.LUI, rv.AUIPC:
		return lowerUpper(d, pc)
	case rv.JAL, rv.JALR:
		return lowerJump(d, pc)
	case rv.FENCE:
		return lowered{drop: true}
	}
	how, ok := c.table[d.op]
	if !ok {
		return lowered{illegal: true}
	}
	d.immediate(how.form)
	l := lowered{op: op{code: how.code, imm: d.imm}}
	if how.rm {
		l.op.rm = d.rm
		if l.op.rm == 5 || l.op.rm == 6 {
			return lowered{illegal: true} // reserved
		}
	}
	switch how.form {
	case formLoad, formStore, formFLoad, formFStore:
		l.memoryOperands(d, how)
	case formAtomic:
		l.atomicOperands(d, how)
	case formBranch:
		l.op.rs1, l.op.rs2 = d.rs1, d.rs2
		l.ends, l.target = true, pc+uint64(int64(d.imm))
	case formFR, formFR1, formFR4, formFCmp, formToX, formFromX:
		l.floatOperands(d, how)
	case formCsr:
		l.op.rd, l.op.rs1, l.op.rs2 = sink(d.rd), d.rs1, uint8(how.kind)
		l.op.imm = int32(d.enc >> 20)
		l.op.rm = d.rs1 // the immediate, in the forms that have one
	case formNone:
		l.ends = true
	default:
		l.integerOperands(d)
	}
	return l
}

func lowerUpper(d decoded, pc uint64) lowered {
	if d.rd == 0 {
		return lowered{drop: true}
	}
	v := uint64(int64(int32(d.enc &^ 0xfff)))
	if d.op == rv.AUIPC {
		v += pc
	}
	l := lowered{op: op{code: opConst, rd: d.rd}}
	l.op.setConstant(v)
	return l
}

func lowerJump(d decoded, pc uint64) lowered {
	if d.op == rv.JALR {
		return lowered{op: op{code: opJalr, rd: sink(d.rd), rs1: d.rs1, imm: d.immI()}, ends: true}
	}
	l := lowered{op: op{code: opJal, rd: d.rd}, ends: true, target: pc + uint64(int64(d.immJ()))}
	if d.rd == 0 {
		l.op.code = opJ
	}
	return l
}

func (l *lowered) integerOperands(d decoded) {
	if d.rd == 0 {
		l.drop = true
		return
	}
	o := &l.op
	o.rd, o.rs1, o.rs2 = d.rd, d.rs1, d.rs2
	switch {
	case o.code == opAddi && o.rs1 == 0:
		o.code = opConst
		o.setConstant(uint64(int64(d.imm)))
	case o.code == opAddi && o.imm == 0:
		o.code = opMv
	case o.code == opAdd && o.rs1 == 0:
		o.code, o.rs1 = opMv, o.rs2
	case o.code == opAdd && o.rs2 == 0:
		o.code = opMv
	}
}

func (l *lowered) memoryOperands(d decoded, how lowering) {
	o := &l.op
	l.memory = true
	o.rs1 = d.rs1
	switch how.form {
	case formLoad:
		o.rd = sink(d.rd)
	case formFLoad:
		o.rd, l.float = regFloat+d.rd, true
	case formStore:
		o.rs2 = d.rs2
	case formFStore:
		o.rs2, l.float = regFloat+d.rs2, true
	}
	if how.form == formStore || how.form == formFStore {
		l.kind = trace.Store
	}
	switch how.code {
	case opLb, opLbu, opSb:
		l.size = 1
	case opLh, opLhu, opSh:
		l.size = 2
	case opLw, opLwu, opFlw, opSw:
		l.size = 4
	default:
		l.size = 8
	}
}

func (l *lowered) atomicOperands(d decoded, how lowering) {
	l.op.rd, l.op.rs1, l.op.rs2 = sink(d.rd), d.rs1, d.rs2
	l.op.imm, l.op.rm = how.kind, how.size
	l.memory, l.size = true, 1<<how.size
	switch atomicKind(how.kind) {
	case atomicLR:
		l.kind = trace.Load
		l.illegal = d.rs2 != 0
	case atomicSC:
		l.kind = trace.Store
	default:
		l.kind = trace.ReadModifyWrite
	}
}

func (l *lowered) floatOperands(d decoded, how lowering) {
	o := &l.op
	o.rd, o.rs1, o.rs2 = regFloat+d.rd, regFloat+d.rs1, regFloat+d.rs2
	switch how.form {
	case formFR4:
		o.rs3 = regFloat + d.rs3
	case formFCmp, formToX:
		o.rd = sink(d.rd)
	case formFromX:
		o.rs1 = d.rs1
	}
	if how.code == opFloat {
		o.imm = how.kind
	}
	if how.code >= opFaddD && how.code <= opFnmaddS || how.code == opFcvtSD {
		// The interpreter's fast path rounds to nearest even.
		if o.rm != rmNearestEven && o.rm != rmDynamic {
			o.code, o.imm = opRounded, int32(how.code)
		}
	}
	if o.code >= opFmaddD && o.code <= opFnmaddD || o.code >= opFmaddS && o.code <= opFnmaddS {
		product, addend := fmaSigns(how.code)
		o.tag, o.imm = uint32(bit(product))<<31, int32(bit(addend))<<31
	}
	if how.code == opFsgnjD && o.rs1 == o.rs2 {
		o.code = opMv
	}
}
