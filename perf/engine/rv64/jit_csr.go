//go:build linux && amd64

package rv64

import (
	"unsafe"

	"presage/perf/engine/rv64/amd64asm"
)

// csrInCode reports whether translated code executes a CSR access itself. The
// rounding mode is nearest even there, so reading it gives zero; writes to it and
// illegal accesses are left to the interpreter.
//
// Flags come in two parts there: thread.fflags, raised before the code was
// entered or written by it, and those in MXCSR.
func (o *op) csrInCode() bool {
	switch o.imm {
	case csrFflags:
		return true
	case csrFrm, csrFcsr, csrCycle, csrInstret, csrTime:
		kind := csrKind(o.rs2)
		return kind != csrWrite && kind != csrWriteImm && o.rm == 0
	}
	return false
}

// csr emits a CSR access that csrInCode accepts.
func (e *emitter) csr(o *op) {
	switch o.imm {
	case csrFrm:
		e.constant(o.rd, 0)
		return
	case csrFflags, csrFcsr:
		e.readFlags()
		kind := csrKind(o.rs2)
		if o.imm == csrFflags && (kind == csrWrite || kind == csrWriteImm || o.rm != 0) {
			e.writeFlags(o)
		}
	default:
		e.Ins(amd64asm.Mov, amd64asm.RAX, frame(unsafe.Offsetof(jitFrame{}.horizon)))
		e.Ins(amd64asm.Sub, amd64asm.RAX, amd64asm.R(hostBudget))
		e.Imm(amd64asm.AddI, true, amd64asm.R(amd64asm.RAX), int32(o.tag)) // the block is charged at its end
		if o.imm == csrTime {
			e.Ins(amd64asm.Add, amd64asm.RAX, frame(unsafe.Offsetof(jitFrame{}.idle)))
		}
	}
	e.commit(o.rd, amd64asm.RAX)
}

// fflags returns thread.fflags, a byte, as an operand.
func fflags() amd64asm.Operand {
	return amd64asm.M(hostThread, int32(unsafe.Offsetof(thread{}.fflags))-jitBias)
}

// readFlags puts the accrued flags into RAX.
func (e *emitter) readFlags() {
	mxcsr := frame(unsafe.Offsetof(jitFrame{}.mxcsr))
	e.StoreMXCSR(mxcsr)
	e.Ins(amd64asm.Mov32, amd64asm.RAX, mxcsr)
	e.Imm(amd64asm.AndI, false, amd64asm.R(amd64asm.RAX), 63)
	e.Ins(amd64asm.Lea, amd64asm.RCX, amd64asm.At(e.j.constants.flags))
	e.Ins(amd64asm.Movzx8, amd64asm.RAX, amd64asm.MX(amd64asm.RAX, amd64asm.RCX, 0, 0))
	e.Ins(amd64asm.Movzx8, amd64asm.RCX, fflags())
	e.Ins(amd64asm.Or, amd64asm.RAX, amd64asm.R(amd64asm.RCX))
}

// writeFlags sets fflags from its old value in RAX, which it preserves, and the
// op's operand.
func (e *emitter) writeFlags(o *op) {
	kind := csrKind(o.rs2)
	if kind >= csrWriteImm {
		kind -= csrWriteImm
		e.Const(amd64asm.RDX, uint64(o.rm))
	} else {
		e.move(amd64asm.RDX, e.source(o.rs1, amd64asm.RDX))
	}
	switch kind {
	case csrSet:
		e.Ins(amd64asm.Or, amd64asm.RDX, amd64asm.R(amd64asm.RAX))
	case csrClear:
		e.Unary(amd64asm.Not, true, amd64asm.R(amd64asm.RDX))
		e.Ins(amd64asm.And, amd64asm.RDX, amd64asm.R(amd64asm.RAX))
	}
	e.Imm(amd64asm.AndI, false, amd64asm.R(amd64asm.RDX), 31)
	e.Ins(amd64asm.StoreB, amd64asm.RDX, fflags())
	e.LoadMXCSR(amd64asm.At(e.j.constants.mxcsr))
}
