package amd64

import (
	"math/bits"

	"presage/perf/isa"
)

// Lifter describes instructions as isa.Inst. Its memory operands are those of
// Mems, in the same order, with these differences: an address relative to the
// instruction pointer is a constant; the base of a segment is a register; an
// operand of a gather or a scatter has the vector as its index, whose content is
// not analysed; and no size exceeds 128.
//
// What an integer instruction computes is described for the low 64, 32, 16 or 8
// bits as isa.Value says. A division is described as if the upper half of the
// dividend were the extension of the lower, as compilers make it. What becomes
// of parity, carry and overflow is not described, but for comparisons.
//
// It is not safe for concurrent use.
type Lifter struct {
	in   Inst
	mems []Mem
	out  isa.Inst
}

// NewLifter returns a Lifter.
func NewLifter() *Lifter { return &Lifter{mems: make([]Mem, 0, MaxMems)} }

// Decode returns the description of the instruction at pc with which code begins.
func (l *Lifter) Decode(code []byte, pc uint64) (isa.Inst, error) {
	if err := DecodeInto(&l.in, code); err != nil {
		return isa.Inst{PC: pc, Len: uint8(min(len(code), 1)), Op: "(bad)", Value: nothing}, err
	}
	in := &l.in
	l.out = isa.Inst{PC: pc, Len: in.Len, Op: in.form.name, Class: classes[in.form.kind], Value: nothing}
	if in.HasTarget() {
		l.out.Target, l.out.HasTarget = in.Target(pc), true
	}
	l.mems = in.Mems(l.mems[:0])
	l.classify()
	l.operands()
	l.compute()
	l.micros()
	return l.out, nil
}

// nothing is a value that is not described.
var nothing = isa.Value{A: isa.NoReg, B: isa.NoReg}

// classes are the classes of instructions without operands in memory. Vector
// instructions on integers have those of the floating-point instructions that
// take as long on most processors: multiplications FPMultiply, others FPMove;
// Decode tells them apart.
var classes = [kinds]isa.Class{
	Undefined: isa.Illegal, Nop: isa.Nop, Move: isa.ALU, Lea: isa.ALU, ALU: isa.ALU, Shift: isa.Shift, Bits: isa.ALU, Multiply: isa.Multiply, Divide: isa.Divide,
	CMov: isa.ALU, SetCC: isa.ALU, Exchange: isa.ALU, String: isa.ALU,
	Branch: isa.Branch, Jump: isa.Jump, IndirectJump: isa.IndirectJump, Call: isa.Call, IndirectCall: isa.Call, Return: isa.Return, Syscall: isa.SystemCall, Trap: isa.Breakpoint,
	FPAdd: isa.FPAdd, FPMultiply: isa.FPMultiply, FPFused: isa.FPFused, FPDivide: isa.FPDivide, FPSqrt: isa.FPSqrt, FPReciprocal: isa.FPMultiply,
	FPConvert: isa.FPConvert, FPCompare: isa.FPMove, FPMove: isa.FPMove, FPTrans: isa.FPSqrt,
	VectorALU: isa.FPMove, VectorMultiply: isa.FPMultiply, VectorShift: isa.FPMove, VectorCompare: isa.FPMove, VectorMove: isa.FPMove,
	Shuffle: isa.FPMove, Gather: isa.FPLoad, Scatter: isa.FPStore, MaskOp: isa.FPMove, Crypto: isa.FPMove, StringCompare: isa.FPMove, Tile: isa.FPFused,
	Prefetch: isa.Nop, Fence: isa.Fence, State: isa.CSR, X87: isa.CSR, Enter: isa.ALU, System: isa.CSR,
}

// classify gives moves from and to memory the class of loads and stores, and
// atomic instructions theirs.
func (l *Lifter) classify() {
	in := &l.in
	switch {
	case in.form.kind == System:
		l.out.Class = systemClass(in)
		return
	case len(l.mems) == 0:
		return
	case in.Lock || in.form.kind == Exchange && in.form.name == "xchg":
		l.out.Class = isa.Atomic
		return
	}
	float := l.float()
	switch in.form.kind {
	case FPMove, VectorMove, Gather, Scatter, Tile:
		l.out.Class = moveClass(&l.mems[0], float)
	case Move:
		l.out.Class = moveClass(&l.mems[0], float)
	case Shuffle, VectorALU:
		if in.form.n == 2 && l.mems[0].Access == Write { // compressed stores
			l.out.Class = isa.FPStore
		}
	case String:
		l.out.Class = moveClass(&l.mems[0], false)
	}
}

func moveClass(m *Mem, float bool) isa.Class {
	switch {
	case m.Access == Write && float:
		return isa.FPStore
	case m.Access == Write:
		return isa.Store
	case float:
		return isa.FPLoad
	}
	return isa.Load
}

func systemClass(in *Inst) isa.Class {
	switch in.form.name {
	case "hlt":
		return isa.Breakpoint // faults: compilers put it where control does not come
	case "int", "sysenter":
		return isa.SystemCall
	case "retf", "iret", "iretq", "iretw":
		return isa.Return
	case "jmp":
		return isa.IndirectJump
	case "call":
		return isa.Call
	}
	return isa.CSR
}

// float reports whether the datum in memory goes to or comes from registers that
// are not general ones.
func (l *Lifter) float() bool {
	in := &l.in
	switch in.form.kind {
	case Gather, Scatter, Tile, State, X87:
		return true
	}
	if in.form.kind >= FPAdd && in.form.kind <= StringCompare {
		return true
	}
	return false
}

// operands adds memory operands and registers.
func (l *Lifter) operands() {
	in := &l.in
	float := l.float()
	for i := range l.mems {
		l.out.AddMem(l.lower(&l.mems[i], float))
	}
	read, written := in.Registers()
	if in.form.kind == State { // all vectors: more than can be named
		read, written = Regs{General: read.General}, Regs{General: written.General}
	}
	if in.form.name == "vzeroall" || in.form.name == "vzeroupper" || in.form.name == "emms" || in.form.name == "femms" {
		return
	}
	switch in.form.kind {
	case Call, IndirectCall, Return: // the caller sees the stack pointer unchanged
		written = Regs{}
	case Syscall:
		written = Regs{} // see isa.Target.SystemCall
	}
	fread, fwritten := in.Flags()
	const status = Carry | Parity | Adjust | Zero | Sign | Overflow
	eachReg(read, l.out.AddUse)
	if fread&status != 0 {
		l.out.AddUse(flagsReg)
	}
	eachReg(written, l.out.AddDef)
	if fwritten&status != 0 {
		l.out.AddDef(flagsReg)
	}
}

func eachReg(s Regs, visit func(isa.Reg)) {
	for m := s.General; m != 0; m &= m - 1 {
		visit(isa.Reg(bits.TrailingZeros16(m)))
	}
	for m := s.Vector; m != 0; m &= m - 1 {
		visit(vectorReg + isa.Reg(bits.TrailingZeros32(m)))
	}
	for m := s.Mask; m != 0; m &= m - 1 {
		visit(maskReg + isa.Reg(bits.TrailingZeros8(m)))
	}
	for m := s.MMX; m != 0; m &= m - 1 {
		visit(mmxReg + isa.Reg(bits.TrailingZeros8(m)))
	}
	if s.X87 {
		visit(x87Reg)
	}
}

const largestOperand = 128

// lower turns an operand in memory into the generic form.
func (l *Lifter) lower(m *Mem, float bool) isa.Mem {
	out := isa.Mem{Float: float, Base: isa.NoReg, Index: isa.NoReg, Disp: m.Disp, Size: uint8(min(m.Size, largestOperand))}
	if m.Size == 0 {
		out.Size = largestOperand
	}
	switch m.Access {
	case Read:
		out.Kind = isa.MemLoad
	case Write:
		out.Kind = isa.MemStore
	default:
		out.Kind = isa.MemReadModifyWrite
	}
	if l.in.Lock || l.out.Class == isa.Atomic {
		out.Kind = isa.MemReadModifyWrite
	}
	switch {
	case m.Base == RIP:
		out.Disp += int64(l.out.PC) + int64(l.in.Len)
	case m.Base != NoReg:
		out.Base = isa.Reg(m.Base)
	}
	switch {
	case m.Index.Vector():
		out.Index, out.Scale = vectorReg+isa.Reg(m.Index-V0), m.Scale
	case m.Index != NoReg:
		out.Index, out.Scale = isa.Reg(m.Index), m.Scale
	}
	if out.Base == isa.NoReg && out.Scale == 1 && out.Index != isa.NoReg {
		out.Base, out.Index, out.Scale = out.Index, isa.NoReg, 0
	}
	out.Varies = m.Repeated || m.Index.Vector() || m.Select == ByMask || m.Select == Compressed || m.Select == BySign && m.Mask.Vector()
	l.segment(m, &out)
	if m.Bit != NoReg || l.in.form.name == "xlat" || m.Address32 {
		out.Base, out.Index, out.Scale = anyReg, isa.NoReg, 0
	}
	return out
}

// segment adds the base of a segment to an address.
func (l *Lifter) segment(m *Mem, out *isa.Mem) {
	if m.Segment == NoReg {
		return
	}
	base := fsBase
	if m.Segment == GS {
		base = gsBase
	}
	switch {
	case out.Base == isa.NoReg:
		out.Base = base
	case out.Index == isa.NoReg:
		out.Index, out.Scale = base, 1
	default:
		out.Base, out.Index, out.Scale = anyReg, isa.NoReg, 0
	}
}
