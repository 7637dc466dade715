package amd64

import (
	"fmt"
	"strings"
)

// format writes an instruction at pc as objdump -M intel does, but for the
// mnemonic's aliases and for what compare ignores.
func format(in *Inst, pc uint64) (name string, operands []string) {
	for i := range in.Operands() {
		operands = append(operands, formatOperand(in, i, pc))
	}
	return in.Name(), operands
}

func formatOperand(in *Inst, i int, pc uint64) string {
	o := in.Operand(i)
	text := ""
	switch o.Kind {
	case ImmOperand:
		return "imm"
	case TargetOperand:
		return fmt.Sprintf("%x", in.Target(pc))
	case RegOperand:
		text = registerText(o)
	case MemOperand:
		text = memoryText(in, &in.form.ops[i])
	}
	if i == 0 && in.Masking != 0 {
		text += fmt.Sprintf("{k%d}", in.Masking)
		if in.Zeroing {
			text += "{z}"
		}
	}
	return text
}

var byteNames = [16]string{"al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil", "r8b", "r9b", "r10b", "r11b", "r12b", "r13b", "r14b", "r15b"}

func registerText(o Operand) string {
	switch r := o.Reg; {
	case r.General():
		if o.High {
			return [...]string{"ah", "ch", "dh", "bh"}[r]
		}
		whole := r.String()
		switch {
		case o.Bytes == 1:
			return byteNames[r]
		case o.Bytes == 8:
			return whole
		case r >= R8:
			return whole + map[uint16]string{2: "w", 4: "d"}[o.Bytes]
		case o.Bytes == 2:
			return whole[1:]
		}
		return "e" + whole[1:]
	case r.Vector():
		return fmt.Sprintf("%s%d", map[uint16]string{16: "xmm", 32: "ymm", 64: "zmm"}[o.Bytes], r-V0)
	case r == ST0:
		return "st(0)"
	case r >= ST0 && r < ES:
		return fmt.Sprintf("st(%d)", r-ST0)
	}
	return o.Reg.String()
}

var sizeWords = map[int]string{1: "BYTE", 2: "WORD", 4: "DWORD", 8: "QWORD", 10: "TBYTE", 16: "XMMWORD", 32: "YMMWORD", 64: "ZMMWORD"}

func memoryText(in *Inst, s *spec) string {
	var b strings.Builder
	bytes := in.bytes(s)
	kind := " PTR "
	if s.place == vectorRM {
		bytes = int(s.element)
	}
	if in.Broadcast && s.bcst {
		bytes, kind = int(s.element), " BCST "
	}
	if s.access == 0 {
		bytes = hintBytes(in)
	}
	if w := sizeWords[bytes]; w != "" {
		b.WriteString(w + kind)
	}
	switch s.place {
	case atRSI:
		return b.String() + segmentText(in, "ds:") + "[" + addressRegister(RSI, in.Address32) + "]"
	case atRDI:
		return b.String() + "es:[" + addressRegister(RDI, in.Address32) + "]"
	case absolute:
		return "abs:" + fmt.Sprintf("%#x", uint64(in.Imm))
	}
	b.WriteString(segmentText(in, ""))
	m := in.Address()
	if m.Base == NoReg && m.Index == NoReg {
		return b.String() + fmt.Sprintf("%#x", uint64(m.Disp))
	}
	b.WriteString("[")
	if m.Base != NoReg {
		b.WriteString(addressRegister(m.Base, in.Address32))
	}
	if m.Index != NoReg {
		if m.Base != NoReg {
			b.WriteString("+")
		}
		if m.Index.Vector() {
			fmt.Fprintf(&b, "%s%d*%d", map[int]string{16: "xmm", 32: "ymm", 64: "zmm"}[max(in.bytes(s), 16)], m.Index-V0, m.Scale)
		} else {
			fmt.Fprintf(&b, "%s*%d", addressRegister(m.Index, in.Address32), m.Scale)
		}
	}
	if in.DispLen != 0 && (m.Disp != 0 || true) {
		sign := "+"
		d := uint64(m.Disp)
		if m.Disp < 0 {
			sign, d = "-", -d
		}
		fmt.Fprintf(&b, "%s%#x", sign, d)
	}
	return b.String() + "]"
}

func segmentText(in *Inst, otherwise string) string {
	if in.Segment != NoReg {
		return in.Segment.String() + ":"
	}
	return otherwise
}

func addressRegister(r Reg, narrow bool) string {
	if narrow {
		if r == RIP {
			return "eip"
		}
		return registerText(Operand{Reg: r, Bytes: 4})
	}
	return r.String()
}

// hintBytes is the size that objdump shows for an address that is not accessed.
func hintBytes(in *Inst) int {
	switch in.Kind() {
	case Nop:
		return in.OperandBytes()
	case Prefetch, Fence:
		return 1
	}
	return 0
}
