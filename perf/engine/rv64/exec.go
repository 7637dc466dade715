package rv64

import (
	"math"
	"unsafe"

	"presage/perf/engine/rv64/softfloat"
	"presage/perf/trace"
)

const opSize = unsafe.Sizeof(op{})

// exec runs a thread from its pc until something outside the instruction set
// has to be done. It is one loop around one switch; everything that depends on
// options was decided when the block was built.
//
// Invariants: r[0] is zero; every address is checked against the guest's space
// before it is used, and what the guest may not touch within the space is
// protected by the host, so that the access panics (see machine.slice), with
// machine.at naming the op. Budget is checked only where control is
// transferred, never at opNext, so that preemption falls on the same
// instructions however blocks are cut.
func (m *machine) exec(t *thread) exit {
	r := &t.x
	base, size := m.mem.base, m.mem.size
	var (
		b  *block
		nb *block
		o  *op
		a  uint64 // an address or a jump's target
	)
	if o = m.resume.op; o != nil {
		b, m.resume.op = m.resume.block, nil
		goto run
	}
	b = m.code.lookup(t.pc)
	goto enter

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

enter:
	m.budget -= b.n
	o = b.first
run:
	for {
		switch o.code {
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

		case opLbT:
			a = r[o.rs1] + uint64(int64(o.imm))
			m.at = uintptr(unsafe.Pointer(o))
			if a >= size {
				return exitFault
			}
			r[o.rd] = uint64(int64(*(*int8)(unsafe.Add(base, a))))
			*(*uint64)(unsafe.Add(m.records, m.recorded*8)) = uint64(o.tag)<<32 | a
			m.recorded++
		case opLhT:
			a = r[o.rs1] + uint64(int64(o.imm))
			m.at = uintptr(unsafe.Pointer(o))
			if a >= size {
				return exitFault
			}
			r[o.rd] = uint64(int64(*(*int16)(unsafe.Add(base, a))))
			*(*uint64)(unsafe.Add(m.records, m.recorded*8)) = uint64(o.tag)<<32 | a
			m.recorded++
		case opLwT:
			a = r[o.rs1] + uint64(int64(o.imm))
			m.at = uintptr(unsafe.Pointer(o))
			if a >= size {
				return exitFault
			}
			r[o.rd] = uint64(int64(*(*int32)(unsafe.Add(base, a))))
			*(*uint64)(unsafe.Add(m.records, m.recorded*8)) = uint64(o.tag)<<32 | a
			m.recorded++
		case opLdT:
			a = r[o.rs1] + uint64(int64(o.imm))
			m.at = uintptr(unsafe.Pointer(o))
			if a >= size {
				return exitFault
			}
			r[o.rd] = *(*uint64)(unsafe.Add(base, a))
			*(*uint64)(unsafe.Add(m.records, m.recorded*8)) = uint64(o.tag)<<32 | a
			m.recorded++
		case opLbuT:
			a = r[o.rs1] + uint64(int64(o.imm))
			m.at = uintptr(unsafe.Pointer(o))
			if a >= size {
				return exitFault
			}
			r[o.rd] = uint64(*(*uint8)(unsafe.Add(base, a)))
			*(*uint64)(unsafe.Add(m.records, m.recorded*8)) = uint64(o.tag)<<32 | a
			m.recorded++
		case opLhuT:
			a = r[o.rs1] + uint64(int64(o.imm))
			m.at = uintptr(unsafe.Pointer(o))
			if a >= size {
				return exitFault
			}
			r[o.rd] = uint64(*(*uint16)(unsafe.Add(base, a)))
			*(*uint64)(unsafe.Add(m.records, m.recorded*8)) = uint64(o.tag)<<32 | a
			m.recorded++
		case opLwuT:
			a = r[o.rs1] + uint64(int64(o.imm))
			m.at = uintptr(unsafe.Pointer(o))
			if a >= size {
				return exitFault
			}
			r[o.rd] = uint64(*(*uint32)(unsafe.Add(base, a)))
			*(*uint64)(unsafe.Add(m.records, m.recorded*8)) = uint64(o.tag)<<32 | a
			m.recorded++
		case opFlwT:
			a = r[o.rs1] + uint64(int64(o.imm))
			m.at = uintptr(unsafe.Pointer(o))
			if a >= size {
				return exitFault
			}
			r[o.rd] = boxed | uint64(*(*uint32)(unsafe.Add(base, a)))
			*(*uint64)(unsafe.Add(m.records, m.recorded*8)) = uint64(o.tag)<<32 | a
			m.recorded++
		case opSbT:
			a = r[o.rs1] + uint64(int64(o.imm))
			m.at = uintptr(unsafe.Pointer(o))
			if a >= size {
				return exitFault
			}
			*(*uint8)(unsafe.Add(base, a)) = uint8(r[o.rs2])
			*(*uint64)(unsafe.Add(m.records, m.recorded*8)) = uint64(o.tag)<<32 | a
			m.recorded++
		case opShT:
			a = r[o.rs1] + uint64(int64(o.imm))
			m.at = uintptr(unsafe.Pointer(o))
			if a >= size {
				return exitFault
			}
			*(*uint16)(unsafe.Add(base, a)) = uint16(r[o.rs2])
			*(*uint64)(unsafe.Add(m.records, m.recorded*8)) = uint64(o.tag)<<32 | a
			m.recorded++
		case opSwT:
			a = r[o.rs1] + uint64(int64(o.imm))
			m.at = uintptr(unsafe.Pointer(o))
			if a >= size {
				return exitFault
			}
			*(*uint32)(unsafe.Add(base, a)) = uint32(r[o.rs2])
			*(*uint64)(unsafe.Add(m.records, m.recorded*8)) = uint64(o.tag)<<32 | a
			m.recorded++
		case opSdT:
			a = r[o.rs1] + uint64(int64(o.imm))
			m.at = uintptr(unsafe.Pointer(o))
			if a >= size {
				return exitFault
			}
			*(*uint64)(unsafe.Add(base, a)) = r[o.rs2]
			*(*uint64)(unsafe.Add(m.records, m.recorded*8)) = uint64(o.tag)<<32 | a
			m.recorded++
		case opShlAddLdT:
			a = r[o.rs1] << (uint32(o.imm) & 63)
			a, r[o.rs3] = a+r[o.rs2], a
			r[o.rd] = a
			a += uint64(int64(o.imm >> 8))
			m.at = uintptr(unsafe.Pointer(o))
			if a >= size {
				return exitFault
			}
			r[o.rm] = *(*uint64)(unsafe.Add(base, a))
			*(*uint64)(unsafe.Add(m.records, m.recorded*8)) = uint64(o.tag)<<32 | a
			m.recorded++

		case opAtomic, opAtomicT:
			m.at = uintptr(unsafe.Pointer(o))
			if a = r[o.rs1]; a >= size {
				return exitFault
			}
			if a&(1<<o.rm-1) != 0 {
				return exitAlign
			}
			m.atomic(t, o, unsafe.Add(base, a))
			if o.code == opAtomicT {
				*(*uint64)(unsafe.Add(m.records, m.recorded*8)) = uint64(o.tag)<<32 | a
				m.recorded++
			}

		case opFaddD:
			a = math.Float64bits(math.Float64frombits(r[o.rs1]) + math.Float64frombits(r[o.rs2]))
			if a>>52&0x7ff-2 >= 0x7fd || !t.fast {
				a = t.addD(o)
				if t.badRounding {
					goto illegal
				}
			}
			r[o.rd] = a
		case opFsubD:
			a = math.Float64bits(math.Float64frombits(r[o.rs1]) - math.Float64frombits(r[o.rs2]))
			if a>>52&0x7ff-2 >= 0x7fd || !t.fast {
				a = t.subD(o)
				if t.badRounding {
					goto illegal
				}
			}
			r[o.rd] = a
		case opFmulD:
			a = math.Float64bits(math.Float64frombits(r[o.rs1]) * math.Float64frombits(r[o.rs2]))
			if a>>52&0x7ff-2 >= 0x7fd || !t.fast {
				a = t.mulD(o)
				if t.badRounding {
					goto illegal
				}
			}
			r[o.rd] = a
		case opFdivD:
			a = math.Float64bits(math.Float64frombits(r[o.rs1]) / math.Float64frombits(r[o.rs2]))
			if a>>52&0x7ff-2 >= 0x7fd || !t.fast {
				a = t.divD(o)
				if t.badRounding {
					goto illegal
				}
			}
			r[o.rd] = a
		case opFsqrtD:
			a = math.Float64bits(math.Sqrt(math.Float64frombits(r[o.rs1])))
			if a>>52&0x7ff-2 >= 0x7fd || !t.fast {
				a = t.sqrtD(o)
				if t.badRounding {
					goto illegal
				}
			}
			r[o.rd] = a
		case opFmaddD:
			a = math.Float64bits(math.FMA(math.Float64frombits(r[o.rs1]), math.Float64frombits(r[o.rs2]), math.Float64frombits(r[o.rs3])))
			if a>>52&0x7ff-2 >= 0x7fd || !t.fast {
				a = t.fmaD(o)
				if t.badRounding {
					goto illegal
				}
			}
			r[o.rd] = a
		case opFmsubD:
			a = math.Float64bits(math.FMA(math.Float64frombits(r[o.rs1]), math.Float64frombits(r[o.rs2]), -math.Float64frombits(r[o.rs3])))
			if a>>52&0x7ff-2 >= 0x7fd || !t.fast {
				a = t.fmaD(o)
				if t.badRounding {
					goto illegal
				}
			}
			r[o.rd] = a
		case opFnmsubD:
			a = math.Float64bits(math.FMA(-math.Float64frombits(r[o.rs1]), math.Float64frombits(r[o.rs2]), math.Float64frombits(r[o.rs3])))
			if a>>52&0x7ff-2 >= 0x7fd || !t.fast {
				a = t.fmaD(o)
				if t.badRounding {
					goto illegal
				}
			}
			r[o.rd] = a
		case opFnmaddD:
			a = math.Float64bits(math.FMA(-math.Float64frombits(r[o.rs1]), math.Float64frombits(r[o.rs2]), -math.Float64frombits(r[o.rs3])))
			if a>>52&0x7ff-2 >= 0x7fd || !t.fast {
				a = t.fmaD(o)
				if t.badRounding {
					goto illegal
				}
			}
			r[o.rd] = a
		case opFaddS:
			a = uint64(math.Float32bits(math.Float32frombits(uint32(r[o.rs1])) + math.Float32frombits(uint32(r[o.rs2]))))
			if a>>23&0xff-2 >= 0xfd || !t.fast || (r[o.rs1]&r[o.rs2])>>32 != boxed>>32 {
				a = t.addS(o)
				if t.badRounding {
					goto illegal
				}
			}
			r[o.rd] = a | boxed
		case opFsubS:
			a = uint64(math.Float32bits(math.Float32frombits(uint32(r[o.rs1])) - math.Float32frombits(uint32(r[o.rs2]))))
			if a>>23&0xff-2 >= 0xfd || !t.fast || (r[o.rs1]&r[o.rs2])>>32 != boxed>>32 {
				a = t.subS(o)
				if t.badRounding {
					goto illegal
				}
			}
			r[o.rd] = a | boxed
		case opFmulS:
			a = uint64(math.Float32bits(math.Float32frombits(uint32(r[o.rs1])) * math.Float32frombits(uint32(r[o.rs2]))))
			if a>>23&0xff-2 >= 0xfd || !t.fast || (r[o.rs1]&r[o.rs2])>>32 != boxed>>32 {
				a = t.mulS(o)
				if t.badRounding {
					goto illegal
				}
			}
			r[o.rd] = a | boxed
		case opFdivS:
			a = uint64(math.Float32bits(math.Float32frombits(uint32(r[o.rs1])) / math.Float32frombits(uint32(r[o.rs2]))))
			if a>>23&0xff-2 >= 0xfd || !t.fast || (r[o.rs1]&r[o.rs2])>>32 != boxed>>32 {
				a = t.divS(o)
				if t.badRounding {
					goto illegal
				}
			}
			r[o.rd] = a | boxed
		case opFsqrtS:
			a = uint64(math.Float32bits(float32(math.Sqrt(float64(math.Float32frombits(uint32(r[o.rs1])))))))
			if a>>23&0xff-2 >= 0xfd || !t.fast || r[o.rs1]>>32 != boxed>>32 {
				a = t.sqrtS(o)
				if t.badRounding {
					goto illegal
				}
			}
			r[o.rd] = a | boxed
		case opFmaddS:
			a = uint64(math.Float32bits(fma32(math.Float32frombits(uint32(r[o.rs1])), math.Float32frombits(uint32(r[o.rs2])), math.Float32frombits(uint32(r[o.rs3])))))
			if a>>23&0xff-2 >= 0xfd || !t.fast || (r[o.rs1]&r[o.rs2]&r[o.rs3])>>32 != boxed>>32 {
				a = t.fmaS(o)
				if t.badRounding {
					goto illegal
				}
			}
			r[o.rd] = a | boxed
		case opFmsubS:
			a = uint64(math.Float32bits(fma32(math.Float32frombits(uint32(r[o.rs1])), math.Float32frombits(uint32(r[o.rs2])), -math.Float32frombits(uint32(r[o.rs3])))))
			if a>>23&0xff-2 >= 0xfd || !t.fast || (r[o.rs1]&r[o.rs2]&r[o.rs3])>>32 != boxed>>32 {
				a = t.fmaS(o)
				if t.badRounding {
					goto illegal
				}
			}
			r[o.rd] = a | boxed
		case opFnmsubS:
			a = uint64(math.Float32bits(fma32(-math.Float32frombits(uint32(r[o.rs1])), math.Float32frombits(uint32(r[o.rs2])), math.Float32frombits(uint32(r[o.rs3])))))
			if a>>23&0xff-2 >= 0xfd || !t.fast || (r[o.rs1]&r[o.rs2]&r[o.rs3])>>32 != boxed>>32 {
				a = t.fmaS(o)
				if t.badRounding {
					goto illegal
				}
			}
			r[o.rd] = a | boxed
		case opFnmaddS:
			a = uint64(math.Float32bits(fma32(-math.Float32frombits(uint32(r[o.rs1])), math.Float32frombits(uint32(r[o.rs2])), -math.Float32frombits(uint32(r[o.rs3])))))
			if a>>23&0xff-2 >= 0xfd || !t.fast || (r[o.rs1]&r[o.rs2]&r[o.rs3])>>32 != boxed>>32 {
				a = t.fmaS(o)
				if t.badRounding {
					goto illegal
				}
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
		case opFeqD:
			if x, y := math.Float64frombits(r[o.rs1]), math.Float64frombits(r[o.rs2]); x == x && y == y {
				r[o.rd] = bit(x == y)
			} else {
				r[o.rd] = t.unordered(r[o.rs1], r[o.rs2], false)
			}
		case opFltD:
			if x, y := math.Float64frombits(r[o.rs1]), math.Float64frombits(r[o.rs2]); x == x && y == y {
				r[o.rd] = bit(x < y)
			} else {
				r[o.rd] = t.unordered(r[o.rs1], r[o.rs2], true)
			}
		case opFleD:
			if x, y := math.Float64frombits(r[o.rs1]), math.Float64frombits(r[o.rs2]); x == x && y == y {
				r[o.rd] = bit(x <= y)
			} else {
				r[o.rd] = t.unordered(r[o.rs1], r[o.rs2], true)
			}
		case opFeqS:
			if x, y := unboxFloat(r[o.rs1]), unboxFloat(r[o.rs2]); x == x && y == y {
				r[o.rd] = bit(x == y)
			} else {
				r[o.rd] = t.unorderedS(r[o.rs1], r[o.rs2], false)
			}
		case opFltS:
			if x, y := unboxFloat(r[o.rs1]), unboxFloat(r[o.rs2]); x == x && y == y {
				r[o.rd] = bit(x < y)
			} else {
				r[o.rd] = t.unorderedS(r[o.rs1], r[o.rs2], true)
			}
		case opFleS:
			if x, y := unboxFloat(r[o.rs1]), unboxFloat(r[o.rs2]); x == x && y == y {
				r[o.rd] = bit(x <= y)
			} else {
				r[o.rd] = t.unorderedS(r[o.rs1], r[o.rs2], true)
			}
		case opFcvtDW:
			if o.rm == rmDynamic && t.frm > rmLast {
				goto illegal
			}
			r[o.rd] = math.Float64bits(float64(int32(r[o.rs1])))
		case opFcvtDL:
			a = r[o.rs1]
			if x := int64(a); x >= -exactD && x <= exactD && t.frm <= rmLast {
				r[o.rd] = math.Float64bits(float64(x))
			} else {
				r[o.rd] = t.fcvtDL(o)
				if t.badRounding {
					goto illegal
				}
			}
		case opFcvtWD, opFcvtLD:
			if x := math.Float64frombits(r[o.rs1]); o.rm == 1 && x > -maxW && x < maxW {
				if float64(int64(x)) != x {
					t.raise(softfloat.Inexact)
				}
				r[o.rd] = uint64(int64(x))
			} else {
				r[o.rd] = t.fcvtToInt(o)
				if t.badRounding {
					goto illegal
				}
			}
		case opFcvtDS:
			if o.rm == rmDynamic && t.frm > rmLast {
				goto illegal
			}
			if x := unboxFloat(r[o.rs1]); x == x {
				r[o.rd] = math.Float64bits(float64(x))
			} else {
				r[o.rd] = t.fcvtDS(r[o.rs1])
			}
		case opFcvtSD:
			a = uint64(math.Float32bits(float32(math.Float64frombits(r[o.rs1]))))
			if a>>23&0xff-2 >= 0xfd || !t.fast {
				a = t.fcvtSD(o)
				if t.badRounding {
					goto illegal
				}
			}
			r[o.rd] = a | boxed
		case opFmvXW:
			r[o.rd] = uint64(int64(int32(r[o.rs1])))
		case opFmvWX:
			r[o.rd] = boxed | r[o.rs1]
		case opFloat:
			t.floatOp(o)
			if t.badRounding {
				goto illegal
			}
		case opRounded:
			r[o.rd] = t.rounded(o)
			if t.badRounding {
				goto illegal
			}

		case opCsr:
			if !m.csr(t, b, o) {
				goto illegal
			}
		case opCheck:
			if m.recorded+uintptr(o.imm) > m.room || m.idCount == m.idRoom && o.tag != 0 {
				m.flush(m.executed() - uint64(b.n))
			}
			m.mark = m.recorded
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
		case opShlAddLd:
			a = r[o.rs1] << (uint32(o.imm) & 63)
			a, r[o.rs3] = a+r[o.rs2], a
			r[o.rd] = a
			a += uint64(int64(o.imm >> 8))
			m.at = uintptr(unsafe.Pointer(o))
			if a >= size {
				return exitFault
			}
			r[o.rm] = *(*uint64)(unsafe.Add(base, a))

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
		case opAddiBeq:
			r[o.rd] = r[o.rs1] + uint64(int64(o.imm))
			if r[o.rs2] == r[o.rs3] {
				goto taken
			}
			goto fall
		case opAddiBne:
			r[o.rd] = r[o.rs1] + uint64(int64(o.imm))
			if r[o.rs2] != r[o.rs3] {
				goto taken
			}
			goto fall
		case opAddiBlt:
			r[o.rd] = r[o.rs1] + uint64(int64(o.imm))
			if int64(r[o.rs2]) < int64(r[o.rs3]) {
				goto taken
			}
			goto fall
		case opAddiBge:
			r[o.rd] = r[o.rs1] + uint64(int64(o.imm))
			if int64(r[o.rs2]) >= int64(r[o.rs3]) {
				goto taken
			}
			goto fall
		case opAddiBltu:
			r[o.rd] = r[o.rs1] + uint64(int64(o.imm))
			if r[o.rs2] < r[o.rs3] {
				goto taken
			}
			goto fall
		case opAddiBgeu:
			r[o.rd] = r[o.rs1] + uint64(int64(o.imm))
			if r[o.rs2] >= r[o.rs3] {
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
		default:
			t.rare(o)
		}
		o = (*op)(unsafe.Add(unsafe.Pointer(o), opSize))
	}
}
