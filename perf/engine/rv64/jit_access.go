//go:build linux && amd64

package rv64

import (
	"unsafe"

	"presage/perf/engine/rv64/amd64asm"
)

// place is where an access goes: disp beyond the address in a host register, or the
// address disp alone, which RAX then holds.
type place struct {
	base amd64asm.Reg
	disp int32
}

// operand returns the place as an operand.
func (p place) operand() amd64asm.Operand { return amd64asm.MX(hostMemory, p.base, 0, p.disp) }

// address emits the check of the access that op i makes to rs1+imm, unless it was
// checked together with an earlier one, and returns its place. It clobbers RAX, RCX
// and RDX; the place is in RAX or a pinned register.
func (e *emitter) address(rs1 uint8, imm, size int32, write bool, i int) place {
	g := e.groups[i]
	if g == nil || e.checkedAhead(g.first) { // what was checked ahead need not be all of the group
		g = &checked{first: i, low: imm, high: imm + size, write: write}
	}
	v, known := e.known[rs1]
	done := e.checkedAhead(i) || g.first != i || known && e.fixed(v+uint64(int64(g.low)), g)
	base := e.source(rs1, amd64asm.RAX)
	if !done {
		e.guard(base, rs1 == regSP, g)
	}
	return place{base, imm}
}

// checked are accesses of a block that are checked together, before the first: with
// one base register, to which only constants are added from one to the next. All of
// them are executed unless one of them, or an op in between, is left to the
// interpreter.
type checked struct {
	first     int   // index of the op that makes the first
	low, high int32 // the bytes that they touch, beyond the base at the first
	write     bool  // one is a store
	moved     int32 // what has been added to the base since the first; only while grouping
}

// group returns for each op that loads or stores the accesses to check with it.
func group(ops []op) []*checked {
	all := make([]*checked, len(ops))
	open := make(map[uint8]*checked) // by base
	for i := range ops {
		o := &ops[i]
		size, write := o.accessed()
		if size != 0 {
			g, low, high := open[o.rs1], o.imm, o.imm+size
			if g != nil {
				low, high = min(low+g.moved, g.low), max(high+g.moved, g.high)
			}
			if g == nil || high-low > maxSpan {
				g, low, high = &checked{first: i}, o.imm, o.imm+size
				open[o.rs1] = g
			}
			g.low, g.high, g.write = low, high, g.write || write
			all[i] = g
		}
		if o.code == opAddi && o.rd == o.rs1 {
			if g := open[o.rd]; g != nil && abs(g.moved+o.imm) <= maxSpan {
				g.moved += o.imm
				continue
			}
		}
		delete(open, o.rd)
		delete(open, o.rs3) // which few ops write
		if o.code == opShlAddLd || o.code == opShlAddLdT {
			delete(open, o.rm)
		}
	}
	return all
}

func abs(v int32) int32 { return max(v, -v) }

// accessed returns the bytes that an op loads or stores at rs1+imm; 0 for any other
// op.
func (o *op) accessed() (size int32, write bool) {
	c := o.code
	switch {
	case c >= opLbT && c <= opFlwT:
		c -= tracedLoad
	case c >= opSbT && c <= opSdT:
		c -= tracedStore
	}
	switch c {
	case opLb, opLbu, opSb:
		size = 1
	case opLh, opLhu, opSh:
		size = 2
	case opLw, opLwu, opFlw, opSw:
		size = 4
	case opLd, opSd:
		size = 8
	}
	return size, size != 0 && c >= opSb
}

// guard continues only if the guest may make accesses beyond the address in base,
// which it preserves.
//
// Inside a window the check takes two instructions, or three. Outside, it looks up
// the pages' permissions: accesses are at most maxSpan bytes apart and so on two
// pages at most, and both are touched. A disallowed access bails out at the first op
// to the interpreter, which raises the fault where it belongs.
func (e *emitter) guard(base amd64asm.Reg, stack bool, g *checked) {
	n := g.high - g.low
	last, lastSpan := unsafe.Offsetof(jitFrame{}.last), unsafe.Offsetof(jitFrame{}.lastSpan)
	if stack {
		last, lastSpan = unsafe.Offsetof(jitFrame{}.stackLast), unsafe.Offsetof(jitFrame{}.stackSpan)
		e.Ins(amd64asm.Lea, amd64asm.RCX, amd64asm.M(base, g.low))
		e.Ins(amd64asm.Add, amd64asm.RCX, frame(unsafe.Offsetof(jitFrame{}.stackNeg)))
	} else {
		e.Ins(amd64asm.Lea, amd64asm.RCX, amd64asm.MX(base, hostNeg, 0, g.low))
	}
	if n > 8 {
		last = lastSpan
	}
	e.Ins(amd64asm.Cmp, amd64asm.RCX, frame(last))
	outside, inside, bail := e.NewLabel(), e.NewLabel(), e.bail(g.first)
	e.Jcc(amd64asm.AE, outside)
	e.Bind(inside)
	low, write := g.low, g.write
	e.cold = append(e.cold, func() {
		e.Bind(outside)
		e.Ins(amd64asm.Lea, amd64asm.RCX, amd64asm.M(base, low))
		e.Ins(amd64asm.Cmp, amd64asm.RCX, frame(unsafe.Offsetof(jitFrame{}.sizeLess8)))
		e.Jcc(amd64asm.A, bail)
		if base == amd64asm.RDX {
			e.Ins(amd64asm.Store, amd64asm.RDX, frame(unsafe.Offsetof(jitFrame{}.base)))
		}
		if n > 8 {
			e.Ins(amd64asm.Lea, amd64asm.RDX, amd64asm.M(amd64asm.RCX, n-8))
			e.Ins(amd64asm.Cmp, amd64asm.RDX, frame(unsafe.Offsetof(jitFrame{}.sizeLess8)))
			e.Jcc(amd64asm.A, bail)
		}
		e.Ins(amd64asm.Mov, amd64asm.RDX, amd64asm.R(amd64asm.RCX))
		e.permission(write, bail)
		if n > 1 {
			e.Ins(amd64asm.Lea, amd64asm.RDX, amd64asm.M(amd64asm.RCX, n-1))
			e.permission(write, bail)
		}
		if !stack {
			e.Ins(amd64asm.Store, amd64asm.RCX, frame(unsafe.Offsetof(jitFrame{}.missedAddr)))
			e.Imm(amd64asm.AddI, true, frame(unsafe.Offsetof(jitFrame{}.misses)), 1)
		}
		if base == amd64asm.RDX {
			e.Ins(amd64asm.Mov, amd64asm.RDX, frame(unsafe.Offsetof(jitFrame{}.base)))
		}
		e.Jmp(inside)
	})
}

// fixed is guard for accesses whose lowest address is known at translation time: it
// tests the pages' permissions directly. It returns false if they can never be allowed.
// It clobbers RAX.
func (e *emitter) fixed(low uint64, g *checked) bool {
	size, n := e.j.m.mem.size, uint64(g.high-g.low)
	if low >= size || n > size-low {
		return false
	}
	e.Ins(amd64asm.Mov, amd64asm.RAX, frame(unsafe.Offsetof(jitFrame{}.perm)))
	for page := low / pageBytes; page <= (low+n-1)/pageBytes; page++ {
		e.TestByte(amd64asm.M(amd64asm.RAX, int32(page)), needed(g.write))
		e.Jcc(amd64asm.E, e.bail(g.first))
	}
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

// record emits the recording of an access, which has been checked and can no longer
// fail.
func (e *emitter) record(o *op, p place) {
	if e.recordPair(o) {
		return
	}
	first := amd64asm.RCX // the record of address 0 in p.base
	if h, ok := e.kept[o]; ok {
		first = h
	} else {
		e.Const(first, o.recordAt(p.disp))
	}
	e.Ins(amd64asm.Lea, amd64asm.RCX, amd64asm.MX(first, p.base, 0, 0))
	e.Ins(amd64asm.Store, amd64asm.RCX, amd64asm.M(hostRecord, int32(8*e.records)))
	e.records++
}

// recordAt returns the record of op o's access to an address.
func (o *op) recordAt(address int32) uint64 { return uint64(o.tag)<<32 + uint64(int64(address)) }

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
	size, write := o.accessed()
	p := e.address(o.rs1, o.imm, size, write, i)
	if traced {
		e.record(o, p)
	}
	if write {
		e.storeTo(c, o.rs2, p.operand())
		return
	}
	e.loadTo(c, o.rd, p.operand())
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
	if !e.checkedAhead(i) {
		e.guard(amd64asm.RDX, false, &checked{first: i, low: offset, high: offset + 8})
	}
	if o.rs3 != o.rd {
		e.shiftImmediateIn(o.rs3, o.rs1, shift, amd64asm.RCX)
	}
	p := place{amd64asm.RDX, offset}
	if o.code == opShlAddLdT {
		e.record(o, p)
	}
	e.commit(o.rd, amd64asm.RDX)
	e.loadTo(opLd, o.rm, p.operand())
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
