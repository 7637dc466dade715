package amd64

import (
	"math/bits"

	"presage/perf/isa"
)

// This file says what integer instructions compute.

// compute sets the value of an instruction and the results of its registers.
func (l *Lifter) compute() {
	in := &l.in
	switch in.form.kind {
	case Move:
		l.move()
	case Lea:
		l.lea()
	case ALU:
		l.arithmetic()
	case Shift:
		l.shift()
	case Multiply:
		l.multiply()
	case Divide:
		l.divide()
	case Branch:
		l.out.Value = l.condition()
	case IndirectJump, IndirectCall:
		l.out.Value = l.whole(l.source(0))
	case Return:
		l.out.Value = l.whole(isa.Loaded)
	case String:
		l.advance()
	case Exchange:
		l.exchange()
	}
	if v := &l.out.Value; v.Op != isa.Opaque && l.out.Defines(flagsReg) && !comparable(in) {
		l.out.SetResult(flagsReg, nothing)
	}
}

// comparable reports whether the flags tell about the value.
func comparable(in *Inst) bool {
	switch in.form.name {
	case "add", "sub", "cmp", "and", "or", "xor", "test", "inc", "dec", "neg":
		return true
	case "shl", "shr", "sar":
		return in.ImmLen > 0 || in.form.ops[1].place == constantOne
	}
	return false
}

func (l *Lifter) whole(r isa.Reg) isa.Value {
	if r == isa.NoReg {
		return nothing
	}
	return isa.Value{Op: isa.Add, A: r, B: isa.NoReg}
}

// source returns operand i as an integer that can be a part of a value: a general
// register, Loaded, or NoReg if it is neither or the upper byte of a register.
func (l *Lifter) source(i int) isa.Reg {
	o := l.in.Operand(i)
	switch {
	case o.Kind == MemOperand:
		return isa.Loaded
	case o.Kind == RegOperand && o.Reg.General() && !o.High:
		return isa.Reg(o.Reg)
	}
	return isa.NoReg
}

// width makes v a value of so many bytes.
func width(v isa.Value, bytes int) isa.Value {
	switch bytes {
	case 4:
		v.Word, v.ZeroHigh = true, true
	case 1, 2:
		v.Narrow = uint8(8 * bytes)
	}
	return v
}

// give makes v the value of the instruction, whose first operand of so many
// bytes is its destination: a store, or a register of which the rest remains
// if it is narrow.
func (l *Lifter) give(v isa.Value, bytes int) {
	l.out.Value = v
	o := l.in.Operand(0)
	if o.Kind == RegOperand && bytes < 4 && o.Access&Write != 0 {
		l.out.SetResult(isa.Reg(o.Reg), nothing)
	}
}

func (l *Lifter) move() {
	in := &l.in
	switch in.form.name {
	case "push", "pop":
		l.stack()
		return
	case "leave":
		l.out.Value = l.whole(isa.Loaded)
		l.out.SetResult(isa.Reg(RSP), isa.Value{Op: isa.Add, A: isa.Reg(RBP), B: isa.NoReg, Imm: int64(in.bytes(&in.form.implicit[0]))})
		return
	case "cdqe", "cwde", "cbw":
		l.extendAX()
		return
	case "pushf", "popf":
		l.flagsOnStack()
		return
	case "mov", "movabs", "movzx", "movsx", "movsxd", "movnti", "movdiri":
	default:
		return
	}
	if in.form.n != 2 || in.Operand(0).Reg >= ES && in.Operand(0).Reg != NoReg && in.Operand(0).Kind == RegOperand {
		return
	}
	to, from := in.Operand(0), in.Operand(1)
	if to.Kind == MemOperand {
		l.out.Value = l.moved(from, int(from.Bytes))
		return
	}
	v := l.moved(from, int(from.Bytes))
	switch {
	case from.Kind == ImmOperand:
	case in.form.name == "movsx" || in.form.name == "movsxd":
		v = l.extended(isa.SignExtend, int(from.Bytes))
		if v.Op != isa.Opaque && to.Bytes == 4 {
			v.Word, v.ZeroHigh = true, true
		}
	case from.Bytes < 8:
		v = l.extended(isa.ZeroExtend, int(from.Bytes))
	}
	if from.Kind == ImmOperand && to.Bytes == 4 {
		v.Imm = int64(uint32(v.Imm))
	}
	l.give(v, int(to.Bytes))
}

// moved returns a register or an immediate as a value.
func (l *Lifter) moved(from Operand, _ int) isa.Value {
	if from.Kind == ImmOperand {
		return isa.Value{Op: isa.Add, A: isa.NoReg, B: isa.NoReg, Imm: l.in.Imm}
	}
	return l.whole(l.source(1))
}

func (l *Lifter) extended(op isa.Operator, bytes int) isa.Value {
	r := l.source(1)
	if r == isa.NoReg {
		return nothing
	}
	if bytes >= 8 {
		return l.whole(r)
	}
	return isa.Value{Op: op, A: r, B: isa.NoReg, Imm: int64(8 * bytes)}
}

func (l *Lifter) extendAX() {
	n := l.in.OperandBytes() / 2
	v := isa.Value{Op: isa.SignExtend, A: isa.Reg(RAX), B: isa.NoReg, Imm: int64(8 * n)}
	switch n {
	case 1:
		v = nothing
	case 2:
		v.Word, v.ZeroHigh = true, true
	}
	l.out.Value = v
}

// stack describes push and pop.
func (l *Lifter) stack() {
	in := &l.in
	o := in.Operand(0)
	step := int64(in.bytes(&in.form.implicit[0]))
	if in.form.name == "push" {
		switch {
		case o.Kind == ImmOperand:
			l.out.Value = isa.Value{Op: isa.Add, A: isa.NoReg, B: isa.NoReg, Imm: in.Imm}
		default:
			l.out.Value = l.whole(l.source(0))
		}
		step = -step
	} else {
		l.out.Value = l.whole(isa.Loaded)
		if o.Kind == RegOperand && o.Reg == RSP {
			return // what was loaded
		}
		if o.Kind == RegOperand && o.Bytes < 8 && o.Reg.General() {
			l.out.SetResult(isa.Reg(o.Reg), nothing)
		}
	}
	l.out.SetResult(isa.Reg(RSP), isa.Value{Op: isa.Add, A: isa.Reg(RSP), B: isa.NoReg, Imm: step})
}

func (l *Lifter) flagsOnStack() {
	step := int64(l.in.bytes(&l.in.form.implicit[0]))
	if l.in.form.name == "pushf" {
		step = -step
	}
	l.out.SetResult(isa.Reg(RSP), isa.Value{Op: isa.Add, A: isa.Reg(RSP), B: isa.NoReg, Imm: step})
}

func (l *Lifter) lea() {
	in := &l.in
	m := in.Address()
	v := isa.Value{Op: isa.Add, A: isa.NoReg, B: isa.NoReg, Imm: m.Disp}
	switch {
	case m.Base == RIP:
		v.Imm += int64(l.out.PC) + int64(in.Len)
	case m.Index != NoReg:
		v = isa.Value{Op: isa.ScaledAdd, A: isa.Reg(m.Index), B: isa.NoReg, Imm: int64(bits.TrailingZeros8(m.Scale)), Disp: m.Disp}
		if m.Base != NoReg {
			v.B = isa.Reg(m.Base)
		}
	case m.Base != NoReg:
		v.A = isa.Reg(m.Base)
	}
	to := int(in.Operand(0).Bytes)
	if in.Address32 || to == 4 {
		v.Word, v.ZeroHigh = true, true
	}
	if v.A == isa.NoReg && v.B == isa.NoReg && v.Word {
		v.Imm = int64(uint32(v.Imm))
	}
	l.give(v, to)
}

var binaries = map[string]isa.Operator{
	"add": isa.Add, "sub": isa.Subtract, "cmp": isa.Subtract, "and": isa.And, "test": isa.And, "or": isa.Or, "xor": isa.Xor,
}

func (l *Lifter) arithmetic() {
	in := &l.in
	op, ok := binaries[in.form.name]
	if !ok {
		l.unary()
		return
	}
	n := int(in.Operand(0).Bytes)
	a := l.source(0)
	v := isa.Value{Op: op, A: a, B: isa.NoReg, Imm: in.Imm}
	if in.Operand(1).Kind != ImmOperand {
		v.B = l.source(1)
		if v.B == isa.NoReg {
			a = isa.NoReg
		}
	}
	if a == isa.NoReg {
		return
	}
	if v.A == v.B && v.A != isa.Loaded {
		v = sameOperandValue(v)
	}
	l.give(width(v, n), n)
}

// sameOperandValue simplifies an operation of a register and itself.
func sameOperandValue(v isa.Value) isa.Value {
	switch v.Op {
	case isa.Xor, isa.Subtract:
		return isa.Value{Op: isa.Add, A: isa.NoReg, B: isa.NoReg}
	case isa.And, isa.Or:
		return isa.Value{Op: isa.Add, A: v.A, B: isa.NoReg}
	}
	return v
}

func (l *Lifter) unary() {
	in := &l.in
	var v isa.Value
	switch in.form.name {
	case "inc":
		v = isa.Value{Op: isa.Add, B: isa.NoReg, Imm: 1}
	case "dec":
		v = isa.Value{Op: isa.Add, B: isa.NoReg, Imm: -1}
	case "not":
		v = isa.Value{Op: isa.Xor, B: isa.NoReg, Imm: -1}
	case "neg":
		v = isa.Value{Op: isa.Subtract, A: isa.NoReg}
	case "cdq", "cqo":
		v = isa.Value{Op: isa.ShiftRightArithmetic, A: isa.Reg(RAX), B: isa.NoReg, Imm: int64(8*in.OperandBytes() - 1)}
		l.out.Value = width(v, in.OperandBytes())
		return
	default:
		return
	}
	r := l.source(0)
	if r == isa.NoReg {
		return
	}
	if in.form.name == "neg" {
		v.B = r
	} else {
		v.A = r
	}
	n := int(in.Operand(0).Bytes)
	l.give(width(v, n), n)
}

func (l *Lifter) shift() {
	in := &l.in
	op, ok := map[string]isa.Operator{
		"shl": isa.ShiftLeft, "shr": isa.ShiftRight, "sar": isa.ShiftRightArithmetic,
		"shlx": isa.ShiftLeft, "shrx": isa.ShiftRight, "sarx": isa.ShiftRightArithmetic,
	}[in.form.name]
	n := int(in.Operand(0).Bytes)
	if !ok || n < 4 {
		return
	}
	v := isa.Value{Op: op, A: l.source(0), B: isa.NoReg}
	count := in.form.n - 1
	if in.Encoding == VEX {
		v.A = l.source(1)
	}
	switch o := in.Operand(int(count)); {
	case in.form.ops[count].place == constantOne:
		v.Imm = 1
	case o.Kind == ImmOperand:
		v.Imm = in.Imm & int64(8*n-1)
	default:
		v.B = l.source(int(count))
	}
	if v.A != isa.NoReg {
		l.give(width(v, n), n)
	}
}

func (l *Lifter) multiply() {
	in := &l.in
	n := int(in.Operand(0).Bytes)
	switch {
	case in.form.name == "mulx":
		return
	case in.form.n == 1: // rdx:rax = rax · operand
		if n < 4 {
			return
		}
		l.out.Value = width(isa.Value{Op: isa.Times, A: isa.Reg(RAX), B: l.source(0)}, n)
		l.out.SetResult(isa.Reg(RDX), nothing)
	case in.form.n == 2:
		l.give(width(isa.Value{Op: isa.Times, A: l.source(0), B: l.source(1)}, n), n)
	default:
		l.give(width(isa.Value{Op: isa.Times, A: l.source(1), B: isa.NoReg, Imm: in.Imm}, n), n)
	}
}

func (l *Lifter) divide() {
	in := &l.in
	n := int(in.Operand(0).Bytes)
	if n < 4 {
		return
	}
	quotient, remainder := isa.Quotient, isa.Remainder
	if in.form.name == "div" {
		quotient, remainder = isa.QuotientUnsigned, isa.RemainderUnsigned
	}
	v := isa.Value{Op: quotient, A: isa.Reg(RAX), B: l.source(0)}
	l.out.Value = width(v, n)
	v.Op = remainder
	l.out.SetResult(isa.Reg(RDX), width(v, n))
}

// advance describes string instructions, which go upward: compilers never set
// the direction flag.
func (l *Lifter) advance() {
	in := &l.in
	for i := range in.form.ops[:in.form.n] {
		s := &in.form.ops[i]
		if s.place != atRSI && s.place != atRDI {
			continue
		}
		r := isa.Reg(RSI)
		if s.place == atRDI {
			r = isa.Reg(RDI)
		}
		l.out.SetResult(r, l.stringStep(r, in.bytes(s)))
	}
	if in.Rep != 0 && !scans(in) {
		l.out.SetResult(isa.Reg(RCX), isa.Value{Op: isa.Add, A: isa.NoReg, B: isa.NoReg})
	}
	switch in.form.name {
	case "movs":
		if in.Rep == 0 {
			l.out.Value = l.whole(isa.Loaded)
		}
	case "stos":
		l.out.Value = l.whole(isa.Reg(RAX))
	case "lods":
		if n := in.bytes(&in.form.ops[1]); in.Rep == 0 && n >= 4 {
			l.out.Value = isa.Value{Op: isa.Add, A: isa.Loaded, B: isa.NoReg}
			if n == 4 {
				l.out.Value = isa.Value{Op: isa.ZeroExtend, A: isa.Loaded, B: isa.NoReg, Imm: 32}
			}
		}
	}
}

func scans(in *Inst) bool { return in.form.name == "cmps" || in.form.name == "scas" }

// stringStep returns the pointer after a string instruction.
func (l *Lifter) stringStep(r isa.Reg, bytes int) isa.Value {
	switch {
	case l.in.Rep == 0:
		return isa.Value{Op: isa.Add, A: r, B: isa.NoReg, Imm: int64(bytes)}
	case scans(&l.in):
		return nothing
	}
	return isa.Value{Op: isa.ScaledAdd, A: isa.Reg(RCX), B: r, Imm: int64(bits.TrailingZeros(uint(bytes)))}
}

func (l *Lifter) exchange() {
	in := &l.in
	if in.form.name != "xchg" || len(l.mems) > 0 {
		return
	}
	a, b := l.source(0), l.source(1)
	n := in.Operand(0).Bytes
	if a == isa.NoReg || b == isa.NoReg || n < 4 || a == b {
		return
	}
	va, vb := l.whole(b), l.whole(a)
	if n == 4 {
		va, vb = isa.Value{Op: isa.ZeroExtend, A: b, B: isa.NoReg, Imm: 32}, isa.Value{Op: isa.ZeroExtend, A: a, B: isa.NoReg, Imm: 32}
	}
	l.out.SetResult(a, va)
	l.out.SetResult(b, vb)
}

// conditions are the conditions of jcc in the order of their opcodes; swapped
// ones compare 0 with the flags. Overflow and parity are not described.
var conditions = [16]struct {
	op      isa.Operator
	swapped bool
}{
	2: {op: isa.LessUnsigned}, 3: {op: isa.GreaterEqualUnsigned}, 4: {op: isa.Equal}, 5: {op: isa.NotEqual},
	6: {isa.GreaterEqualUnsigned, true}, 7: {isa.LessUnsigned, true},
	8: {op: isa.Less}, 9: {op: isa.GreaterEqual},
	12: {op: isa.Less}, 13: {op: isa.GreaterEqual}, 14: {isa.GreaterEqual, true}, 15: {isa.Less, true},
}

func (l *Lifter) condition() isa.Value {
	in := &l.in
	switch in.form.name {
	case "jrcxz":
		return isa.Value{Op: isa.Equal, A: isa.Reg(RCX), B: isa.NoReg}
	case "loop":
		l.out.SetResult(isa.Reg(RCX), isa.Value{Op: isa.Add, A: isa.Reg(RCX), B: isa.NoReg, Imm: -1})
		return isa.Value{Op: isa.NotEqual, A: isa.Reg(RCX), B: isa.NoReg, Imm: 1}
	case "loope", "loopne", "jecxz":
		l.out.SetResult(isa.Reg(RCX), isa.Value{Op: isa.Add, A: isa.Reg(RCX), B: isa.NoReg, Imm: -1})
		return nothing
	}
	c := conditions[in.Opcode&15]
	switch {
	case c.op == isa.Opaque:
		return nothing
	case c.swapped:
		return isa.Value{Op: c.op, A: isa.NoReg, B: flagsReg}
	}
	return isa.Value{Op: c.op, A: flagsReg, B: isa.NoReg}
}
