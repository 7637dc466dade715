package rv64

import (
	"math"
	"unsafe"

	"presage/perf/trace"
)

const opSize = unsafe.Sizeof(op{})

// exec runs a thread from its pc until it needs a service outside the
// instruction set, and returns why it stopped. It is one loop around one switch;
// everything that depends on options was decided when the block was built.
//
// Invariants: r[0] is zero; every address is checked against the guest's space
// before it is used, and pages inside the space that the guest may not touch are
// protected by the host, so that accessing them panics (see machine.slice) with
// machine.at naming the op. The budget is checked only at transfers of control,
// never at opNext, so that preemption points do not depend on how blocks are
// cut.
//
// Entering a block reserves slots for all its accesses; after a fault
// machine.rewind releases the slots past the faulting op.
func (m *machine) exec(t *thread) exit {
	b, o := m.resume.block, m.resume.op
	if o == nil {
		return m.loop(t, m.begin(t), nil)
	}
	m.resume.op = nil
	if first := b.first; first.code == opCheck && o != first {
		m.recorded = m.mark + uintptr(first.slot)
	}
	return m.loop(t, b, o)
}

// loop executes block b from its start or, if o is not nil, from op o of b, which
// has then been entered already.
//
// It is written for the compiler's register allocator: o must not be live across
// any call, or every dispatch spills it to the stack. Functions called from here
// therefore return the op that they were given; around math.FMA, which becomes a
// call on hosts without the instruction, machine.at holds it.
func (m *machine) loop(t *thread, b *block, o *op) exit {
	r := &t.x
	base, size := m.mem.base, m.mem.size
	var (
		nb *block
		a  uint64 // an address or a jump's target
		c  code
	)
	if o == nil {
		goto enter
	}
	goto run

taken:
	if m.budget <= 0 {
		return m.stop(t, b.takenPC, b.takenCount)
	}
	if nb = b.taken; nb == nil {
		nb = m.code.link(b.takenPC, b.takenCount)
		b.taken = nb
	}
	b = nb
	goto enter

fall:
	if m.budget <= 0 {
		return m.stop(t, b.fallPC, b.fallCount)
	}
next:
	if nb = b.fall; nb == nil {
		nb = m.code.link(b.fallPC, b.fallCount)
		b.fall = nb
	}
	b = nb
	goto enter

indirect:
	if m.budget <= 0 {
		return m.stop(t, a, m.code.destination(a))
	}
	if s := &m.code.jumps[a>>1&(jumpSlots-1)]; s.pc == a {
		b = s.block
	} else {
		b = m.code.arrival(a)
	}
	goto enter

illegal:
	m.at = uintptr(unsafe.Pointer(o))
	return exitIllegal

slow:
	o = t.slow(o)
	if t.badRounding {
		goto illegal
	}
	goto advance

enter:
	m.budget -= b.n
	if b.refs != 0 {
		m.mark = m.recorded
		m.recorded += b.refs
		if m.recorded > m.room {
			m.makeRoomFor(b)
		}
	}
	o = b.first
	goto run

record:
	*(*uint64)(unsafe.Add(m.records, (m.mark+uintptr(o.slot))*8)) = uint64(o.tag)<<32 | a
	o = (*op)(unsafe.Add(unsafe.Pointer(o), opSize))
	goto run

compare: // the second part, after the first of a combined op
	if p := (*parts)(unsafe.Pointer(o)); o.rm == compareEqual {
		if r[p[2].rs1] == r[p[2].rs2] {
			goto taken
		}
	} else if r[p[2].rs1]^o.constant() < r[p[2].rs2]^o.constant() {
		goto taken
	}
	goto fall

untraced: // the record does not count if the access faults
	*(*uint64)(unsafe.Add(m.records, (m.mark+uintptr(o.slot))*8)) = uint64(o.tag)<<32 | (r[o.rs1] + uint64(int64(o.imm)))
	goto dispatch

plain: // the combined op cannot proceed: execute its parts
advance:
	o = (*op)(unsafe.Add(unsafe.Pointer(o), opSize))
run:
	c = o.code
dispatch:
	switch c {
	case opConst:
		r[o.rd] = o.constant()
	case opMv:
		r[o.rd] = r[o.rs1]
	case opAddi:
		r[o.rd] = r[o.rs1] + uint64(int64(o.imm))
	case opSlti:
		r[o.rd] = bit(int64(r[o.rs1]) < int64(o.imm))
	case opSltiu:
		r[o.rd] = bit(r[o.rs1] < uint64(int64(o.imm)))
	case opXori:
		r[o.rd] = r[o.rs1] ^ uint64(int64(o.imm))
	case opOri:
		r[o.rd] = r[o.rs1] | uint64(int64(o.imm))
	case opAndi:
		r[o.rd] = r[o.rs1] & uint64(int64(o.imm))
	case opSlli:
		r[o.rd] = r[o.rs1] << (uint32(o.imm) & 63)
	case opSrli:
		r[o.rd] = r[o.rs1] >> (uint32(o.imm) & 63)
	case opSrai:
		r[o.rd] = uint64(int64(r[o.rs1]) >> (uint32(o.imm) & 63))
	case opAdd:
		r[o.rd] = r[o.rs1] + r[o.rs2]
	case opSub:
		r[o.rd] = r[o.rs1] - r[o.rs2]
	case opSll:
		r[o.rd] = r[o.rs1] << (r[o.rs2] & 63)
	case opSlt:
		r[o.rd] = bit(int64(r[o.rs1]) < int64(r[o.rs2]))
	case opSltu:
		r[o.rd] = bit(r[o.rs1] < r[o.rs2])
	case opXor:
		r[o.rd] = r[o.rs1] ^ r[o.rs2]
	case opSrl:
		r[o.rd] = r[o.rs1] >> (r[o.rs2] & 63)
	case opSra:
		r[o.rd] = uint64(int64(r[o.rs1]) >> (r[o.rs2] & 63))
	case opOr:
		r[o.rd] = r[o.rs1] | r[o.rs2]
	case opAnd:
		r[o.rd] = r[o.rs1] & r[o.rs2]
	case opAddiw:
		r[o.rd] = uint64(int64(int32(r[o.rs1]) + o.imm))
	case opSlliw:
		r[o.rd] = uint64(int64(int32(r[o.rs1]) << (uint32(o.imm) & 31)))
	case opSrliw:
		r[o.rd] = uint64(int64(int32(uint32(r[o.rs1]) >> (uint32(o.imm) & 31))))
	case opSraiw:
		r[o.rd] = uint64(int64(int32(r[o.rs1]) >> (uint32(o.imm) & 31)))
	case opAddw:
		r[o.rd] = uint64(int64(int32(r[o.rs1]) + int32(r[o.rs2])))
	case opSubw:
		r[o.rd] = uint64(int64(int32(r[o.rs1]) - int32(r[o.rs2])))
	case opSllw:
		r[o.rd] = uint64(int64(int32(r[o.rs1]) << (r[o.rs2] & 31)))
	case opSrlw:
		r[o.rd] = uint64(int64(int32(uint32(r[o.rs1]) >> (r[o.rs2] & 31))))
	case opSraw:
		r[o.rd] = uint64(int64(int32(r[o.rs1]) >> (r[o.rs2] & 31)))

	case opMul:
		r[o.rd] = r[o.rs1] * r[o.rs2]
	case opMulw:
		r[o.rd] = uint64(int64(int32(r[o.rs1]) * int32(r[o.rs2])))

	case opAddUw:
		r[o.rd] = uint64(uint32(r[o.rs1])) + r[o.rs2]
	case opSh1add:
		r[o.rd] = r[o.rs1]<<1 + r[o.rs2]
	case opSh2add:
		r[o.rd] = r[o.rs1]<<2 + r[o.rs2]
	case opSh3add:
		r[o.rd] = r[o.rs1]<<3 + r[o.rs2]
	case opSh1addUw:
		r[o.rd] = uint64(uint32(r[o.rs1]))<<1 + r[o.rs2]
	case opSh2addUw:
		r[o.rd] = uint64(uint32(r[o.rs1]))<<2 + r[o.rs2]
	case opSh3addUw:
		r[o.rd] = uint64(uint32(r[o.rs1]))<<3 + r[o.rs2]
	case opSextB:
		r[o.rd] = uint64(int64(int8(r[o.rs1])))
	case opSextH:
		r[o.rd] = uint64(int64(int16(r[o.rs1])))
	case opZextH:
		r[o.rd] = uint64(uint16(r[o.rs1]))

	case opLb:
		a = r[o.rs1] + uint64(int64(o.imm))
		m.at = uintptr(unsafe.Pointer(o))
		if a >= size {
			return exitFault
		}
		r[o.rd] = uint64(int64(*(*int8)(unsafe.Add(base, a))))
	case opLh:
		a = r[o.rs1] + uint64(int64(o.imm))
		m.at = uintptr(unsafe.Pointer(o))
		if a >= size {
			return exitFault
		}
		r[o.rd] = uint64(int64(*(*int16)(unsafe.Add(base, a))))
	case opLw:
		a = r[o.rs1] + uint64(int64(o.imm))
		m.at = uintptr(unsafe.Pointer(o))
		if a >= size {
			return exitFault
		}
		r[o.rd] = uint64(int64(*(*int32)(unsafe.Add(base, a))))
	case opLd:
		a = r[o.rs1] + uint64(int64(o.imm))
		m.at = uintptr(unsafe.Pointer(o))
		if a >= size {
			return exitFault
		}
		r[o.rd] = *(*uint64)(unsafe.Add(base, a))
	case opLbu:
		a = r[o.rs1] + uint64(int64(o.imm))
		m.at = uintptr(unsafe.Pointer(o))
		if a >= size {
			return exitFault
		}
		r[o.rd] = uint64(*(*uint8)(unsafe.Add(base, a)))
	case opLhu:
		a = r[o.rs1] + uint64(int64(o.imm))
		m.at = uintptr(unsafe.Pointer(o))
		if a >= size {
			return exitFault
		}
		r[o.rd] = uint64(*(*uint16)(unsafe.Add(base, a)))
	case opLwu:
		a = r[o.rs1] + uint64(int64(o.imm))
		m.at = uintptr(unsafe.Pointer(o))
		if a >= size {
			return exitFault
		}
		r[o.rd] = uint64(*(*uint32)(unsafe.Add(base, a)))
	case opFlw:
		a = r[o.rs1] + uint64(int64(o.imm))
		m.at = uintptr(unsafe.Pointer(o))
		if a >= size {
			return exitFault
		}
		r[o.rd] = boxed | uint64(*(*uint32)(unsafe.Add(base, a)))
	case opSb:
		a = r[o.rs1] + uint64(int64(o.imm))
		m.at = uintptr(unsafe.Pointer(o))
		if a >= size {
			return exitFault
		}
		*(*uint8)(unsafe.Add(base, a)) = uint8(r[o.rs2])
	case opSh:
		a = r[o.rs1] + uint64(int64(o.imm))
		m.at = uintptr(unsafe.Pointer(o))
		if a >= size {
			return exitFault
		}
		*(*uint16)(unsafe.Add(base, a)) = uint16(r[o.rs2])
	case opSw:
		a = r[o.rs1] + uint64(int64(o.imm))
		m.at = uintptr(unsafe.Pointer(o))
		if a >= size {
			return exitFault
		}
		*(*uint32)(unsafe.Add(base, a)) = uint32(r[o.rs2])
	case opSd:
		a = r[o.rs1] + uint64(int64(o.imm))
		m.at = uintptr(unsafe.Pointer(o))
		if a >= size {
			return exitFault
		}
		*(*uint64)(unsafe.Add(base, a)) = r[o.rs2]

	case opLwT:
		a = r[o.rs1] + uint64(int64(o.imm))
		m.at = uintptr(unsafe.Pointer(o))
		if a >= size {
			return exitFault
		}
		r[o.rd] = uint64(int64(*(*int32)(unsafe.Add(base, a))))
		goto record
	case opLdT:
		a = r[o.rs1] + uint64(int64(o.imm))
		m.at = uintptr(unsafe.Pointer(o))
		if a >= size {
			return exitFault
		}
		r[o.rd] = *(*uint64)(unsafe.Add(base, a))
		goto record
	case opLbuT:
		a = r[o.rs1] + uint64(int64(o.imm))
		m.at = uintptr(unsafe.Pointer(o))
		if a >= size {
			return exitFault
		}
		r[o.rd] = uint64(*(*uint8)(unsafe.Add(base, a)))
		goto record
	case opSwT:
		a = r[o.rs1] + uint64(int64(o.imm))
		m.at = uintptr(unsafe.Pointer(o))
		if a >= size {
			return exitFault
		}
		*(*uint32)(unsafe.Add(base, a)) = uint32(r[o.rs2])
		goto record
	case opSdT:
		a = r[o.rs1] + uint64(int64(o.imm))
		m.at = uintptr(unsafe.Pointer(o))
		if a >= size {
			return exitFault
		}
		*(*uint64)(unsafe.Add(base, a)) = r[o.rs2]
		goto record
	case opLbT, opLhT, opLhuT, opLwuT, opFlwT:
		c = o.code - tracedLoad
		goto untraced
	case opSbT, opShT:
		c = o.code - tracedStore
		goto untraced

	case opAtomic, opAtomicT:
		m.at = uintptr(unsafe.Pointer(o))
		if a = r[o.rs1]; a >= size {
			return exitFault
		}
		if a&(1<<o.rm-1) != 0 {
			return exitAlign
		}
		if o.code == opAtomicT { // does not count if the access faults
			*(*uint64)(unsafe.Add(m.records, (m.mark+uintptr(o.slot))*8)) = uint64(o.tag)<<32 | a
		}
		o = m.atomic(t, o, unsafe.Add(base, a))

	case opFaddD:
		a = math.Float64bits(math.Float64frombits(r[o.rs1]) + math.Float64frombits(r[o.rs2]))
		if a>>52&0x7ff-2 >= 0x7fd && !zeroD(a) || !t.fast {
			goto slow
		}
		r[o.rd] = a
	case opFsubD:
		a = math.Float64bits(math.Float64frombits(r[o.rs1]) - math.Float64frombits(r[o.rs2]))
		if a>>52&0x7ff-2 >= 0x7fd && !zeroD(a) || !t.fast {
			goto slow
		}
		r[o.rd] = a
	case opFmulD:
		a = math.Float64bits(math.Float64frombits(r[o.rs1]) * math.Float64frombits(r[o.rs2]))
		if a>>52&0x7ff-2 >= 0x7fd && !(zeroD(a) && (zeroD(r[o.rs1]) || zeroD(r[o.rs2]))) || !t.fast {
			goto slow
		}
		r[o.rd] = a
	case opFdivD:
		a = math.Float64bits(math.Float64frombits(r[o.rs1]) / math.Float64frombits(r[o.rs2]))
		if a>>52&0x7ff-2 >= 0x7fd || !t.fast {
			goto slow
		}
		r[o.rd] = a
	case opFsqrtD:
		a = math.Float64bits(math.Sqrt(math.Float64frombits(r[o.rs1])))
		if a>>52&0x7ff-2 >= 0x7fd || !t.fast {
			goto slow
		}
		r[o.rd] = a
	case opFmaddD, opFmsubD, opFnmsubD, opFnmaddD:
		m.at = uintptr(unsafe.Pointer(o))
		a = math.Float64bits(math.FMA(math.Float64frombits(r[o.rs1]^uint64(o.tag)<<32), math.Float64frombits(r[o.rs2]), math.Float64frombits(r[o.rs3]^uint64(uint32(o.imm))<<32)))
		o = *(**op)(unsafe.Pointer(&m.at))
		if a>>52&0x7ff-2 >= 0x7fd && !(zeroD(a) && zeroD(r[o.rs3]) && (zeroD(r[o.rs1]) || zeroD(r[o.rs2]))) || !t.fast {
			goto slow
		}
		r[o.rd] = a
	case opFaddS:
		a = uint64(math.Float32bits(math.Float32frombits(uint32(r[o.rs1])) + math.Float32frombits(uint32(r[o.rs2]))))
		if a>>23&0xff-2 >= 0xfd || !t.fast || (r[o.rs1]&r[o.rs2])>>32 != boxed>>32 {
			goto slow
		}
		r[o.rd] = a | boxed
	case opFsubS:
		a = uint64(math.Float32bits(math.Float32frombits(uint32(r[o.rs1])) - math.Float32frombits(uint32(r[o.rs2]))))
		if a>>23&0xff-2 >= 0xfd || !t.fast || (r[o.rs1]&r[o.rs2])>>32 != boxed>>32 {
			goto slow
		}
		r[o.rd] = a | boxed
	case opFmulS:
		a = uint64(math.Float32bits(math.Float32frombits(uint32(r[o.rs1])) * math.Float32frombits(uint32(r[o.rs2]))))
		if a>>23&0xff-2 >= 0xfd || !t.fast || (r[o.rs1]&r[o.rs2])>>32 != boxed>>32 {
			goto slow
		}
		r[o.rd] = a | boxed
	case opFdivS:
		a = uint64(math.Float32bits(math.Float32frombits(uint32(r[o.rs1])) / math.Float32frombits(uint32(r[o.rs2]))))
		if a>>23&0xff-2 >= 0xfd || !t.fast || (r[o.rs1]&r[o.rs2])>>32 != boxed>>32 {
			goto slow
		}
		r[o.rd] = a | boxed
	case opFmaddS, opFmsubS, opFnmsubS, opFnmaddS:
		a, o = fuseS(r, o)
		if a>>23&0xff-2 >= 0xfd || !t.fast || (r[o.rs1]&r[o.rs2]&r[o.rs3])>>32 != boxed>>32 {
			goto slow
		}
		r[o.rd] = a | boxed
	case opFsgnjD:
		r[o.rd] = r[o.rs1]&^signD | r[o.rs2]&signD
	case opFsgnjnD:
		r[o.rd] = r[o.rs1]&^signD | ^r[o.rs2]&signD
	case opFsgnjxD:
		r[o.rd] = r[o.rs1] ^ r[o.rs2]&signD
	case opFsgnjS:
		r[o.rd] = boxed | unbox(r[o.rs1])&^signS | unbox(r[o.rs2])&signS
	case opFsgnjnS:
		r[o.rd] = boxed | unbox(r[o.rs1])&^signS | ^unbox(r[o.rs2])&signS
	case opFsgnjxS:
		r[o.rd] = boxed | unbox(r[o.rs1]) ^ unbox(r[o.rs2])&signS
	case opFeqD, opFltD, opFleD:
		x, y := math.Float64frombits(r[o.rs1]), math.Float64frombits(r[o.rs2])
		if x != x || y != y {
			goto slow
		}
		r[o.rd] = bit(x < y && c != opFeqD || x == y && c != opFltD)
	case opFeqS, opFltS, opFleS:
		x, y := math.Float32frombits(uint32(r[o.rs1])), math.Float32frombits(uint32(r[o.rs2]))
		if x != x || y != y || (r[o.rs1]&r[o.rs2])>>32 != boxed>>32 {
			goto slow
		}
		r[o.rd] = bit(x < y && c != opFeqS || x == y && c != opFltS)
	case opFcvtDW:
		if o.rm == rmDynamic && t.frm > rmLast {
			goto slow
		}
		r[o.rd] = math.Float64bits(float64(int32(r[o.rs1])))
	case opFcvtDL:
		a = r[o.rs1]
		if x := int64(a); x < -exactD || x > exactD || t.frm > rmLast {
			goto slow
		}
		r[o.rd] = math.Float64bits(float64(int64(a)))
	case opFcvtWD, opFcvtLD:
		x := math.Float64frombits(r[o.rs1])
		if o.rm != rmTowardZero || !(x > -maxW && x < maxW) || float64(int64(x)) != x && !t.fast {
			goto slow
		}
		r[o.rd] = uint64(int64(x))
	case opFcvtDS:
		x := math.Float32frombits(uint32(r[o.rs1]))
		if x != x || r[o.rs1]>>32 != boxed>>32 || o.rm == rmDynamic && t.frm > rmLast {
			goto slow
		}
		r[o.rd] = math.Float64bits(float64(x))
	case opFcvtSD:
		a = uint64(math.Float32bits(float32(math.Float64frombits(r[o.rs1]))))
		if a>>23&0xff-2 >= 0xfd || !t.fast {
			goto slow
		}
		r[o.rd] = a | boxed
	case opFmvXW:
		r[o.rd] = uint64(int64(int32(r[o.rs1])))
	case opFmvWX:
		r[o.rd] = boxed | r[o.rs1]
	case opFloat, opRounded, opFsqrtS:
		goto slow

	case opCsr:
		m.at = uintptr(unsafe.Pointer(o))
		if o = m.csr(t, b, o); o == nil {
			return exitIllegal
		}
	case opCheck:
		if m.recorded+uintptr(o.imm) > m.room || m.idCount == m.idRoom && o.tag != 0 {
			o = m.makeRoom(b, o)
		}
		m.mark = m.recorded
		m.recorded += uintptr(o.slot)
		if o.tag != 0 {
			*(*trace.BlockID)(unsafe.Add(m.ids, m.idCount*4)) = trace.BlockID(o.tag - 1)
			m.idCount++
		}
	case opCount:
		*(*uint64)(unsafe.Add(m.code.counts, uintptr(uint32(o.imm))*8))++

	case opShlAdd:
		a = r[o.rs1] << (uint32(o.imm) & 63)
		a, r[o.rs3] = a+r[o.rs2], a
		r[o.rd] = a
	case opShlAddLd, opShlAddLdT:
		a = r[o.rs1] << (uint32(o.imm) & 63)
		a, r[o.rs3] = a+r[o.rs2], a
		r[o.rd] = a
		a += uint64(int64(o.imm >> 8))
		m.at = uintptr(unsafe.Pointer(o))
		if a >= size {
			return exitFault
		}
		r[o.rm] = *(*uint64)(unsafe.Add(base, a))
		if c == opShlAddLdT {
			goto record
		}

	case opNext:
		goto next
	case opCountNext:
		*(*uint64)(unsafe.Add(m.code.counts, uintptr(uint32(o.imm))*8))++
		goto next
	case opJ:
		goto taken
	case opJal:
		r[o.rd] = b.fallPC
		goto taken
	case opJalr:
		a = (r[o.rs1] + uint64(int64(o.imm))) &^ 1
		r[o.rd] = b.fallPC
		goto indirect
	case opBeq:
		if r[o.rs1] == r[o.rs2] {
			goto taken
		}
		goto fall
	case opBne:
		if r[o.rs1] != r[o.rs2] {
			goto taken
		}
		goto fall
	case opBlt:
		if int64(r[o.rs1]) < int64(r[o.rs2]) {
			goto taken
		}
		goto fall
	case opBge:
		if int64(r[o.rs1]) >= int64(r[o.rs2]) {
			goto taken
		}
		goto fall
	case opBltu:
		if r[o.rs1] < r[o.rs2] {
			goto taken
		}
		goto fall
	case opBgeu:
		if r[o.rs1] >= r[o.rs2] {
			goto taken
		}
		goto fall
	case opAddiBeq, opAddiBne, opAddiBlt, opAddiBge, opAddiBltu, opAddiBgeu: // emitted only together with a translator
		r[o.rd] = r[o.rs1] + uint64(int64(o.imm))
		if holds(o.code-opAddiBeq+opBeq, r[o.rs2], r[o.rs3]) {
			goto taken
		}
		goto fall
	case opEcall:
		t.pc = b.fallPC
		return exitSyscall
	case opEbreak:
		t.pc = b.fallPC
		return exitBreak
	case opFenceI:
		t.pc = b.fallPC
		return exitFenceI
	case opJalrCount:
		a = (r[o.rs1] + uint64(int64(o.imm))) &^ 1
		r[o.rd] = b.fallPC
		m.code.flow.jumped(o.tag, a)
		if m.budget <= 0 {
			return m.stop(t, a, 0)
		}
		b = m.code.lookup(a)
		goto enter
	case opIllegal:
		goto illegal
	case opFetchFault:
		t.pc = b.pc
		return exitFetch
	case opHook:
		t.pc = b.pc
		return exitHook

	// Combined ops (see combine): parts 1, 2, … follow the op.
	case opAddLd, opAddLdT:
		p := (*parts)(unsafe.Pointer(o))
		m.at = uintptr(unsafe.Pointer(o))
		v := r[p[1].rs1] + r[p[1].rs2]
		a = v + uint64(int64(p[2].imm))
		if a >= size {
			goto plain
		}
		w := *(*uint64)(unsafe.Add(base, a))
		r[p[1].rd] = v
		r[p[2].rd] = w
		if c == opAddLdT {
			*(*uint64)(unsafe.Add(m.records, (m.mark+uintptr(p[2].slot))*8)) = uint64(p[2].tag)<<32 | a
		}
		o = &p[2]
	case opAddSd, opAddSdT:
		p := (*parts)(unsafe.Pointer(o))
		m.at = uintptr(unsafe.Pointer(o))
		v := r[p[1].rs1] + r[p[1].rs2]
		a = v + uint64(int64(p[2].imm))
		if a >= size {
			goto plain
		}
		*(*uint64)(unsafe.Add(base, a)) = r[p[2].rs2]
		r[p[1].rd] = v
		if c == opAddSdT {
			*(*uint64)(unsafe.Add(m.records, (m.mark+uintptr(p[2].slot))*8)) = uint64(p[2].tag)<<32 | a
		}
		o = &p[2]
	case opShlAddSd, opShlAddSdT:
		p := (*parts)(unsafe.Pointer(o))
		m.at = uintptr(unsafe.Pointer(o))
		v := r[p[1].rs1] << (uint32(p[1].imm) & 63)
		w := v + r[p[1].rs2]
		a = w + uint64(int64(p[2].imm))
		if a >= size {
			goto plain
		}
		*(*uint64)(unsafe.Add(base, a)) = r[p[2].rs2]
		r[p[1].rs3] = v
		r[p[1].rd] = w
		if c == opShlAddSdT {
			*(*uint64)(unsafe.Add(m.records, (m.mark+uintptr(p[2].slot))*8)) = uint64(p[2].tag)<<32 | a
		}
		o = &p[2]
	case opConstLd, opConstLdT:
		p := (*parts)(unsafe.Pointer(o))
		m.at = uintptr(unsafe.Pointer(o))
		if a = o.constant(); a >= size {
			goto plain
		}
		v := *(*uint64)(unsafe.Add(base, a))
		r[p[1].rd] = p[1].constant()
		r[p[2].rd] = v
		if c == opConstLdT {
			*(*uint64)(unsafe.Add(m.records, (m.mark+uintptr(p[2].slot))*8)) = uint64(p[2].tag)<<32 | a
		}
		o = &p[2]
	case opLdLd, opLdLdT:
		p := (*parts)(unsafe.Pointer(o))
		m.at = uintptr(unsafe.Pointer(o))
		a = r[p[1].rs1] + uint64(int64(p[1].imm))
		d := r[p[2].rs1] + uint64(int64(p[2].imm))
		if a >= size || d >= size {
			goto plain
		}
		v, w := *(*uint64)(unsafe.Add(base, a)), *(*uint64)(unsafe.Add(base, d))
		r[p[1].rd] = v
		r[p[2].rd] = w
		if c == opLdLdT {
			*(*uint64)(unsafe.Add(m.records, (m.mark+uintptr(p[1].slot))*8)) = uint64(p[1].tag)<<32 | a
			*(*uint64)(unsafe.Add(m.records, (m.mark+uintptr(p[2].slot))*8)) = uint64(p[2].tag)<<32 | d
		}
		o = &p[2]
	case opSdSd, opSdSdT:
		p := (*parts)(unsafe.Pointer(o))
		m.at = uintptr(unsafe.Pointer(o))
		a = r[p[1].rs1] + uint64(int64(p[1].imm))
		d := r[p[2].rs1] + uint64(int64(p[2].imm))
		if a >= size || d >= size {
			goto plain
		}
		*(*uint64)(unsafe.Add(base, a)) = r[p[1].rs2]
		*(*uint64)(unsafe.Add(base, d)) = r[p[2].rs2]
		if c == opSdSdT {
			*(*uint64)(unsafe.Add(m.records, (m.mark+uintptr(p[1].slot))*8)) = uint64(p[1].tag)<<32 | a
			*(*uint64)(unsafe.Add(m.records, (m.mark+uintptr(p[2].slot))*8)) = uint64(p[2].tag)<<32 | d
		}
		o = &p[2]
	case opFmaSd, opFmaSdT:
		m.at = uintptr(unsafe.Pointer(o))
		v := math.Float64bits(math.FMA(math.Float64frombits(r[o.rs1]^uint64(o.tag)<<32), math.Float64frombits(r[o.rs2]), math.Float64frombits(r[o.rs3]^uint64(uint32(o.imm))<<32)))
		o = *(**op)(unsafe.Pointer(&m.at))
		if v>>52&0x7ff-2 >= 0x7fd || !t.fast {
			goto plain
		}
		p := (*parts)(unsafe.Pointer(o))
		a = r[p[2].rs1] + uint64(int64(p[2].imm))
		if a >= size {
			goto plain
		}
		*(*uint64)(unsafe.Add(base, a)) = v
		r[o.rd] = v
		if o.code == opFmaSdT {
			*(*uint64)(unsafe.Add(m.records, (m.mark+uintptr(p[2].slot))*8)) = uint64(p[2].tag)<<32 | a
		}
		o = &p[2]
	case opShlAddLdB, opShlAddLdBT, opShlAddLdFadd, opShlAddLdFaddT:
		p := (*parts)(unsafe.Pointer(o))
		m.at = uintptr(unsafe.Pointer(o))
		i := p[1].imm
		v := r[p[1].rs1] << (uint32(i) & 63)
		d := v + r[p[1].rs2]
		a = d + uint64(int64(i>>8))
		if a >= size {
			goto plain
		}
		w := *(*uint64)(unsafe.Add(base, a))
		r[p[1].rs3] = v
		r[p[1].rd] = d
		r[p[1].rm] = w
		if c == opShlAddLdBT || c == opShlAddLdFaddT {
			*(*uint64)(unsafe.Add(m.records, (m.mark+uintptr(p[1].slot))*8)) = uint64(p[1].tag)<<32 | a
		}
		if c <= opShlAddLdBT {
			goto compare
		}
		o = &p[1]
		w = math.Float64bits(math.Float64frombits(r[p[2].rs1]) + math.Float64frombits(r[p[2].rs2]))
		if w>>52&0x7ff-2 >= 0x7fd || !t.fast {
			goto advance
		}
		r[p[2].rd] = w
		o = &p[2]
	case opLdB, opLdBT:
		p := (*parts)(unsafe.Pointer(o))
		m.at = uintptr(unsafe.Pointer(o))
		a = r[p[1].rs1] + uint64(int64(p[1].imm))
		if a >= size {
			goto plain
		}
		r[p[1].rd] = *(*uint64)(unsafe.Add(base, a))
		if c == opLdBT {
			*(*uint64)(unsafe.Add(m.records, (m.mark+uintptr(p[1].slot))*8)) = uint64(p[1].tag)<<32 | a
		}
		goto compare
	case opAddB:
		p := (*parts)(unsafe.Pointer(o))
		r[p[1].rd] = r[p[1].rs1] + r[p[1].rs2]
		goto compare
	case opSubB:
		p := (*parts)(unsafe.Pointer(o))
		r[p[1].rd] = r[p[1].rs1] - r[p[1].rs2]
		goto compare
	case opMvB:
		p := (*parts)(unsafe.Pointer(o))
		r[p[1].rd] = r[p[1].rs1]
		goto compare
	case opAddiB:
		p := (*parts)(unsafe.Pointer(o))
		r[p[1].rd] = r[p[1].rs1] + uint64(int64(p[1].imm))
		goto compare
	case opAndiB:
		p := (*parts)(unsafe.Pointer(o))
		r[p[1].rd] = r[p[1].rs1] & uint64(int64(p[1].imm))
		goto compare
	case opConstB:
		p := (*parts)(unsafe.Pointer(o))
		r[p[1].rd] = p[1].constant()
		goto compare
	case opFeqDB, opFltDB, opFleDB:
		p := (*parts)(unsafe.Pointer(o))
		x, y := math.Float64frombits(r[p[1].rs1]), math.Float64frombits(r[p[1].rs2])
		if x != x || y != y {
			goto plain
		}
		r[p[1].rd] = bit(x < y && c != opFeqDB || x == y && c != opFltDB)
		goto compare

	case opLast:
		return exitIllegal
	default:
		o = t.rare(o)
	}
	goto advance
}
