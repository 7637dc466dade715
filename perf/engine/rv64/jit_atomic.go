//go:build linux && amd64

package rv64

import (
	"unsafe"

	"presage/perf/engine/rv64/amd64asm"
)

// reserved and reservedAddr return the fields of these names in thread, as
// operands.
func reserved() amd64asm.Operand {
	return amd64asm.M(hostThread, int32(unsafe.Offsetof(thread{}.reserved))-jitBias)
}

func reservedAddr() amd64asm.Operand {
	return amd64asm.M(hostThread, int32(unsafe.Offsetof(thread{}.reservedAddr))-jitBias)
}

// atomic emits an LR, SC or AMO with the semantics of machine.atomic. Guest
// threads take turns, so it need not be atomic on the host.
func (e *emitter) atomic(o *op, i int) {
	k := atomicKind(o.imm)
	e.move(amd64asm.RAX, e.address(o.rs1, 0, 1<<o.rm, k != atomicLR, i).base)
	p := place{amd64asm.RAX, 0}
	m := p.operand()
	e.TestByte(amd64asm.R(amd64asm.RAX), 1<<o.rm-1)
	e.Jcc(amd64asm.NE, e.bail(i))
	if o.code == opAtomicT {
		e.record(o, p)
	}
	load, store := amd64asm.Mov, amd64asm.Store
	if o.rm == 2 {
		load, store = amd64asm.Movsxd, amd64asm.StoreD
	}
	switch k {
	case atomicLR:
		e.Ins(amd64asm.Store, amd64asm.RAX, reservedAddr())
		e.Store8(reserved(), 1)
		e.Ins(load, amd64asm.RDX, m)
	case atomicSC:
		e.storeConditional(o, store, m)
	default:
		e.Ins(load, amd64asm.RDX, m)
		e.Ins(load, amd64asm.RCX, e.rm(o.rs2))
		e.modify(k)
		e.Ins(store, amd64asm.RCX, m)
	}
	e.commit(o.rd, amd64asm.RDX)
}

// storeConditional stores rs2 if the reservation holds, and sets RDX to 0 on
// success, else to 1.
func (e *emitter) storeConditional(o *op, store amd64asm.Op, m amd64asm.Operand) {
	failed := e.NewLabel()
	e.Ins(amd64asm.Cmp, amd64asm.RAX, reservedAddr())
	e.Set(amd64asm.NE, amd64asm.RDX)
	e.Ins(amd64asm.Movzx8, amd64asm.RDX, amd64asm.R(amd64asm.RDX))
	e.Ins(amd64asm.Movzx8, amd64asm.RCX, reserved())
	e.Imm(amd64asm.XorI, false, amd64asm.R(amd64asm.RCX), 1)
	e.Ins(amd64asm.Or, amd64asm.RDX, amd64asm.R(amd64asm.RCX))
	e.Store8(reserved(), 0)
	e.Ins(amd64asm.Test, amd64asm.RDX, amd64asm.R(amd64asm.RDX))
	e.Jcc(amd64asm.NE, failed)
	e.Ins(amd64asm.Mov, amd64asm.RCX, e.rm(o.rs2))
	e.Ins(store, amd64asm.RCX, m)
	e.Bind(failed)
}

// modify sets RCX to the value that an AMO stores, given the old value in RDX and
// the operand in RCX. Words are sign-extended, which preserves the unsigned order
// too.
func (e *emitter) modify(k atomicKind) {
	old := amd64asm.R(amd64asm.RDX)
	extremum := func(cc amd64asm.Cond) {
		e.Ins(amd64asm.Cmp, amd64asm.RDX, amd64asm.R(amd64asm.RCX))
		e.Ins(amd64asm.CMov(cc), amd64asm.RCX, old)
	}
	switch k {
	case atomicAdd:
		e.Ins(amd64asm.Add, amd64asm.RCX, old)
	case atomicXor:
		e.Ins(amd64asm.Xor, amd64asm.RCX, old)
	case atomicAnd:
		e.Ins(amd64asm.And, amd64asm.RCX, old)
	case atomicOr:
		e.Ins(amd64asm.Or, amd64asm.RCX, old)
	case atomicMin:
		extremum(amd64asm.L)
	case atomicMax:
		extremum(amd64asm.G)
	case atomicMinu:
		extremum(amd64asm.B)
	case atomicMaxu:
		extremum(amd64asm.A)
	}
}
