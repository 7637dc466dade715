//go:build linux && amd64

package rv64

import (
	"unsafe"

	"presage/perf/engine/rv64/amd64asm"
)

// address emits the check of an access to rs1+imm and returns its address as an
// operand made of RAX and hostWindow. It clobbers RCX and RDX.
func (e *emitter) address(rs1 uint8, imm, size int32, write bool, i int) amd64asm.Operand {
	if v, ok := e.known[rs1]; ok && e.fixed(v+uint64(int64(imm)), size, write, i) {
		return amd64asm.MX(hostWindow, amd64asm.RAX, 0, 0)
	}
	e.guard(e.source(rs1, amd64asm.RCX), imm, size, write, i)
	return amd64asm.MX(hostWindow, amd64asm.RAX, 0, 0)
}

// guard puts base+imm, as an offset from the window's start, into RAX, and
// continues only if the guest may access size bytes there.
//
// Inside the window the check takes two instructions. Outside, it looks up the
// pages' permissions; the offset is still valid there, as address arithmetic is
// modulo 2^64. A disallowed access bails out at op i to the interpreter, which
// raises the fault.
func (e *emitter) guard(base amd64asm.Reg, imm, size int32, write bool, i int) {
	e.Ins(amd64asm.Lea, amd64asm.RAX, amd64asm.MX(base, hostNeg, 0, imm))
	e.Ins(amd64asm.Cmp, amd64asm.RAX, frame(unsafe.Offsetof(jitFrame{}.last)))
	outside, inside, bail := e.NewLabel(), e.NewLabel(), e.bail(i)
	e.Jcc(amd64asm.AE, outside)
	e.Bind(inside)
	e.cold = append(e.cold, func() {
		e.Bind(outside)
		e.Ins(amd64asm.Mov, amd64asm.RCX, amd64asm.R(amd64asm.RAX))
		e.Ins(amd64asm.Sub, amd64asm.RCX, amd64asm.R(hostNeg))
		e.Ins(amd64asm.Cmp, amd64asm.RCX, frame(unsafe.Offsetof(jitFrame{}.sizeLess8)))
		e.Jcc(amd64asm.A, bail)
		e.Ins(amd64asm.Mov, amd64asm.RDX, amd64asm.R(amd64asm.RCX))
		e.permission(write, bail)
		if size > 1 {
			e.Ins(amd64asm.Lea, amd64asm.RDX, amd64asm.M(amd64asm.RCX, size-1))
			e.permission(write, bail)
		}
		e.Ins(amd64asm.Store, amd64asm.RCX, frame(unsafe.Offsetof(jitFrame{}.missedAddr)))
		e.Imm(amd64asm.AddI, true, frame(unsafe.Offsetof(jitFrame{}.misses)), 1)
		if base == amd64asm.RDX {
			e.Ins(amd64asm.Lea, amd64asm.RDX, amd64asm.M(amd64asm.RCX, -imm))
		}
		e.Jmp(inside)
	})
}

// fixed is guard for an address known at translation time: it tests the page's
// permission directly. It returns false for an access that can never be allowed
// or touches two pages.
func (e *emitter) fixed(a uint64, size int32, write bool, i int) bool {
	if a >= e.j.m.mem.size || a%pageBytes+uint64(size) > pageBytes {
		return false
	}
	e.Ins(amd64asm.Mov, amd64asm.RAX, frame(unsafe.Offsetof(jitFrame{}.perm)))
	e.TestByte(amd64asm.M(amd64asm.RAX, int32(a/pageBytes)), needed(write))
	e.Jcc(amd64asm.E, e.bail(i))
	e.Const(amd64asm.RAX, a)
	e.Ins(amd64asm.Add, amd64asm.RAX, amd64asm.R(hostNeg))
	return true
}

// needed returns the set of permissions of which a page must grant at least one,
// as in hostRegion.access.
func needed(write bool) uint8 {
	if write {
		return pageWrite
	}
	return pageRead | pageWrite | pageExec
}

// permission bails out unless the page of the address in RDX permits the access.
func (e *emitter) permission(write bool, bail amd64asm.Label) {
	e.Shift(amd64asm.ShrI, true, amd64asm.RDX, 12)
	e.Ins(amd64asm.Add, amd64asm.RDX, frame(unsafe.Offsetof(jitFrame{}.perm)))
	e.TestByte(amd64asm.M(amd64asm.RDX, 0), needed(write))
	e.Jcc(amd64asm.E, bail)
}

// record emits the recording of an access whose offset from the window is in RAX.
// The access has been checked and can no longer fail.
func (e *emitter) record(o *op, rs1 uint8, imm int32) {
	e.Const(amd64asm.RCX, uint64(o.tag)<<32)
	if h := e.pins[rs1]; h != unpinned {
		e.Ins(amd64asm.Lea, amd64asm.RCX, amd64asm.MX(amd64asm.RCX, amd64asm.Reg(h), 0, imm))
	} else {
		e.Ins(amd64asm.Add, amd64asm.RCX, amd64asm.R(amd64asm.RAX))
		e.Ins(amd64asm.Sub, amd64asm.RCX, amd64asm.R(hostNeg))
	}
	e.Ins(amd64asm.Store, amd64asm.RCX, amd64asm.M(hostRecord, int32(8*e.records)))
	e.records++
}

// access emits a load or store.
func (e *emitter) access(o *op, i int) {
	c, traced := o.code, o.code.traced()
	switch {
	case c == opShlAddLd || c == opShlAddLdT:
		e.indexedLoad(o, i)
		return
	case c >= opLbT && c <= opFlwT:
		c -= tracedLoad
	case c >= opSbT && c <= opSdT:
		c -= tracedStore
	}
	size := map[code]int32{opLb: 1, opLbu: 1, opSb: 1, opLh: 2, opLhu: 2, opSh: 2, opLw: 4, opLwu: 4, opFlw: 4, opSw: 4, opLd: 8, opSd: 8}[c]
	m := e.address(o.rs1, o.imm, size, c >= opSb, i)
	if traced {
		e.record(o, o.rs1, o.imm)
	}
	if c >= opSb {
		e.storeTo(c, o.rs2, m)
		return
	}
	e.loadTo(c, o.rd, m)
}

// loadTo emits the load proper.
func (e *emitter) loadTo(c code, rd uint8, m amd64asm.Operand) {
	if rd >= regFloat {
		e.loadFloat(c, rd, m)
		return
	}
	f := map[code]amd64asm.Op{
		opLb: amd64asm.Movsx8, opLh: amd64asm.Movsx16, opLw: amd64asm.Movsxd, opLd: amd64asm.Mov,
		opLbu: amd64asm.Movzx8, opLhu: amd64asm.Movzx16, opLwu: amd64asm.Mov32,
	}[c]
	d := e.target(rd, amd64asm.RCX)
	e.Ins(f, d, m)
	e.commit(rd, d)
}

func (e *emitter) loadFloat(c code, rd uint8, m amd64asm.Operand) {
	e.isBoxed[rd] = c == opFlw
	x := amd64asm.Reg(0)
	if h := e.pins[rd]; h != unpinned {
		x = amd64asm.Reg(h)
	}
	if c == opFlw {
		e.Ins(amd64asm.MovdTo, x, m)
		e.Ins(amd64asm.Orps, x, amd64asm.At(e.j.constants.box))
	} else {
		e.Ins(amd64asm.Movq, x, m)
	}
	e.commitFloat(rd, x)
}

// storeTo emits the store proper.
func (e *emitter) storeTo(c code, rs2 uint8, m amd64asm.Operand) {
	if h := e.pins[rs2]; rs2 >= regFloat && h != unpinned {
		f := amd64asm.MovqStore
		if c == opSw {
			f = amd64asm.MovdStore
		}
		e.Ins(f, amd64asm.Reg(h), m)
		return
	}
	f := map[code]amd64asm.Op{opSb: amd64asm.StoreB, opSh: amd64asm.Store16, opSw: amd64asm.StoreD, opSd: amd64asm.Store}[c]
	e.Ins(f, e.source(rs2, amd64asm.RCX), m)
}

// indexedLoad emits the fused triple: rs3 = rs1<<imm, rd = rs3 + rs2, load rm
// from rd. After a bail the interpreter executes the op from its start, so
// nothing is written before the check.
func (e *emitter) indexedLoad(o *op, i int) {
	shift, offset := uint8(o.imm)&63, o.imm>>8
	e.shiftedSum(amd64asm.RDX, o.rs1, o.rs2, shift)
	e.guard(amd64asm.RDX, offset, 8, false, i)
	if o.rs3 != o.rd {
		e.shiftImmediateIn(o.rs3, o.rs1, shift, amd64asm.RCX)
	}
	if o.code == opShlAddLdT {
		e.Const(amd64asm.RCX, uint64(o.tag)<<32)
		e.Ins(amd64asm.Lea, amd64asm.RCX, amd64asm.MX(amd64asm.RCX, amd64asm.RDX, 0, offset))
		e.Ins(amd64asm.Store, amd64asm.RCX, amd64asm.M(hostRecord, int32(8*e.records)))
		e.records++
	}
	e.commit(o.rd, amd64asm.RDX)
	e.loadTo(opLd, o.rm, amd64asm.MX(hostWindow, amd64asm.RAX, 0, 0))
}

// shiftedSum sets d to rs1<<shift + rs2. No guest register may be pinned to d,
// unless both operands are pinned and shift is at most 3.
func (e *emitter) shiftedSum(d amd64asm.Reg, rs1, rs2, shift uint8) {
	x, y := e.pins[rs1], e.pins[rs2]
	if x != unpinned && y != unpinned && shift <= 3 {
		e.Ins(amd64asm.Lea, d, amd64asm.MX(amd64asm.Reg(y), amd64asm.Reg(x), shift, 0))
		return
	}
	e.Ins(amd64asm.Mov, d, e.rm(rs1))
	e.Shift(amd64asm.ShlI, true, d, shift)
	e.Ins(amd64asm.Add, d, e.rm(rs2))
}

// shiftImmediateIn sets rd = rs1<<n using a scratch register.
func (e *emitter) shiftImmediateIn(rd, rs1, n uint8, scratch amd64asm.Reg) {
	d := e.target(rd, scratch)
	if x := e.rm(rs1); !x.IsReg(d) {
		e.Ins(amd64asm.Mov, d, x)
	}
	e.Shift(amd64asm.ShlI, true, d, n)
	e.commit(rd, d)
}
