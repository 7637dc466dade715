package amd64

// OperandKind says what an operand is.
type OperandKind uint8

// The kinds of operands.
const (
	RegOperand OperandKind = iota
	MemOperand
	ImmOperand
	TargetOperand // relative to the end of the instruction
)

// Operand is an explicit operand, in the order of Intel's manual.
type Operand struct {
	Kind   OperandKind
	Access Access // 0 for an address that is not accessed
	Reg    Reg
	High   bool   // ah, ch, dh or bh: Reg is the whole register
	Bytes  uint16 // of the part of the register, or of memory before a broadcast; of an immediate
}

// Operands returns the number of explicit operands.
func (in *Inst) Operands() int { return int(in.form.n) }

// Operand returns explicit operand i, from 0.
func (in *Inst) Operand(i int) Operand {
	s := &in.form.ops[i]
	o := Operand{Access: s.access, Bytes: uint16(in.bytes(s))}
	switch s.place {
	case immediate, constantOne:
		o.Kind, o.Bytes = ImmOperand, uint16(in.immediateBytes(s.size))
		return o
	case relative:
		o.Kind, o.Bytes = TargetOperand, uint16(in.immediateBytes(s.size))
		return o
	case atRSI, atRDI, absolute, vectorRM, tileRM:
		o.Kind = MemOperand
		return o
	case inRM:
		if in.Memory() {
			o.Kind = MemOperand
			return o
		}
	}
	o.Reg = in.register(s)
	if s.first == V0 && s.place != fixed {
		o.Bytes = max(o.Bytes, 16)
	}
	if o.Bytes == 1 && o.Reg >= RSP && o.Reg <= RDI && in.REX == 0 && in.Encoding == Legacy && s.first == RAX {
		o.High = true
		o.Reg -= 4
	}
	return o
}

// register returns the register of an operand that is one.
func (in *Inst) register(s *spec) Reg {
	var n uint8
	switch s.place {
	case fixed:
		return s.first
	case inRM:
		n = in.RM
	case inReg:
		n = in.Reg
	case inOpcode:
		n = in.Opcode&7 | in.REX&1<<3
	case inVVVV:
		n = in.VVVV
	case inImmediate:
		n = uint8(in.Imm) >> 4
	}
	switch s.first {
	case V0:
		return V0 + Reg(n&31)
	case RAX, CR0, DR0:
		return s.first + Reg(n&15)
	case BND0:
		return s.first + Reg(n&3)
	}
	return s.first + Reg(n&7)
}

// Registers returns the registers that the instruction reads and writes,
// implicitly and for its addresses too. A register that is written in part is
// read as well if the rest of it remains, with two exceptions: a write of 32
// bits to a general register clears the others, and the upper part of a vector
// counts as cleared or not used where a legacy SSE instruction keeps it.
func (in *Inst) Registers() (read, written Regs) {
	f := in.form
	for i := range f.ops[:f.n] {
		in.addOperand(&f.ops[i], &read, &written)
	}
	for i := range f.implicit {
		in.addOperand(&f.implicit[i], &read, &written)
	}
	in.addAddress(&read)
	if in.Masking != 0 {
		read.add(K0 + Reg(in.Masking))
	}
	switch f.kind {
	case Gather:
		if in.Encoding == EVEX {
			written.add(K0 + Reg(in.Masking))
		}
	case Scatter:
		written.add(K0 + Reg(in.Masking))
	case String:
		in.addString(&read, &written)
	}
	in.addSpecial(&read, &written)
	return read, written
}

// addSpecial adds what the tables do not say.
func (in *Inst) addSpecial(read, written *Regs) {
	switch in.form.name {
	case "vzeroall":
		written.Vector |= 0xffff
	case "vzeroupper":
		read.Vector |= 0xffff
		written.Vector |= 0xffff
	case "vp2intersectd", "vp2intersectq":
		written.add(K0 + Reg(in.Reg&7^1))
	case "emms", "femms":
		written.MMX = 0xff
	case "fxsave", "fxsave64", "xsave", "xsave64", "xsavec", "xsavec64", "xsaveopt", "xsaveopt64", "xsaves", "xsaves64":
		*read = Regs{General: read.General, Vector: 1<<32 - 1, Mask: 0xff, MMX: 0xff, X87: true}
	case "fxrstor", "fxrstor64", "xrstor", "xrstor64", "xrstors", "xrstors64":
		*written = Regs{General: written.General, Vector: 1<<32 - 1, Mask: 0xff, MMX: 0xff, X87: true}
	}
}

func (in *Inst) addString(read, written *Regs) {
	if in.Rep != 0 {
		read.add(RCX)
		written.add(RCX)
	}
	f := in.form
	for i := range f.ops[:f.n] {
		switch f.ops[i].place {
		case atRSI:
			read.add(RSI)
			written.add(RSI)
		case atRDI:
			read.add(RDI)
			written.add(RDI)
		}
	}
}

func (in *Inst) addAddress(read *Regs) {
	if in.Memory() {
		if in.base != RIP {
			read.add(in.base)
		}
		read.add(in.index)
	}
}

func (in *Inst) addOperand(s *spec, read, written *Regs) {
	switch s.place {
	case inRM:
		if in.Memory() {
			return
		}
	case inReg, inOpcode, inVVVV, inImmediate, fixed:
	case atRBX:
		read.add(RBX)
		read.add(RAX)
		return
	default:
		return
	}
	r := in.register(s)
	if s.first == RAX && s.place != fixed && in.bytes(s) == 1 && in.REX == 0 && in.Encoding == Legacy && r >= RSP && r <= RDI {
		r -= 4 // ah, ch, dh, bh
	}
	if s.access&Read != 0 {
		read.add(r)
	}
	if s.access&Write != 0 {
		written.add(r)
		if in.keepsRest(s) {
			read.add(r)
		}
	}
}

// keepsRest reports whether a part of a register remains that the instruction
// writes.
func (in *Inst) keepsRest(s *spec) bool {
	if s.first.General() {
		return in.bytes(s) < 4
	}
	if in.Masking != 0 && !in.Zeroing && s == &in.form.ops[0] && s.first != K0 {
		return true
	}
	if in.Encoding == Legacy && s.first == V0 && s.place == inRM { // movss and movsd between registers
		return in.bytes(s) < 16 && in.PP >= 2
	}
	return false
}
