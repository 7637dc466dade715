// Package rv64 decodes RISC-V RV64GC instructions, and those of the bit
// manipulation extensions Zba, Zbb, Zbc and Zbs, into package isa's generic
// form. golang.org/x/arch decodes the bits; this package adds class, defs and
// uses.
//
// References are to "The RISC-V Instruction Set Manual, Volume I: Unprivileged
// Architecture", version 20240411.
package rv64

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"

	asm "golang.org/x/arch/riscv64/riscv64asm"

	"presage/perf/isa"
)

// Reasons why bytes could not be decoded, for errors.Is.
var (
	ErrTruncated = errors.New("truncated instruction")
	ErrUnknown   = errors.New("unknown instruction")
)

// decoding guards asm.Decode, which writes to a package-level table of the
// encodings it has seen.
var decoding sync.Mutex

// Decode decodes the instruction at the beginning of code, whose address is
// pc. With an error the Inst has class isa.Illegal, and its Len is the number of
// bytes to skip: the length that the encoding's low bits announce (manual,
// section 1.5), or the rest of code.
func Decode(code []byte, pc uint64) (isa.Inst, error) {
	in := isa.Inst{PC: pc, Len: length(code)}
	if int(in.Len) > len(code) || in.Len == 0 {
		in.Len = uint8(len(code))
		return in, fmt.Errorf("pc %#x: %w", pc, ErrTruncated)
	}
	enc := encoding(code, in.Len)
	if enc == unimp && in.Len == 4 || enc == 0 && in.Len == 2 {
		in.Op = "UNIMP"
		return in, nil
	}
	decoding.Lock()
	raw, err := asm.Decode(code[:in.Len])
	decoding.Unlock()
	if err != nil {
		if in.Len == 2 && isHint(enc) {
			in.Class, in.Op = isa.Nop, "HINT"
			return in, nil
		}
		return in, fmt.Errorf("pc %#x: %w 0x%0*x", pc, ErrUnknown, 2*int(in.Len), enc)
	}
	if !translate(&in, raw) {
		return in, fmt.Errorf("pc %#x: %w %v", pc, ErrUnknown, raw.Op)
	}
	in.Value = value(&in, raw)
	return in, nil
}

// encoding returns the n bytes, 2 or 4, that an instruction is encoded in.
func encoding(code []byte, n uint8) uint32 {
	if n == 2 {
		return uint32(binary.LittleEndian.Uint16(code))
	}
	return binary.LittleEndian.Uint32(code)
}

// length returns 2 or 4, or 0 if code has less than one 2-byte parcel. Longer
// encodings are reserved; only their first 4 bytes count.
func length(code []byte) uint8 {
	switch {
	case len(code) < 2:
		return 0
	case code[0]&3 == 3:
		return 4
	}
	return 2
}

// unimp is the encoding that assemblers emit for an instruction guaranteed to
// trap: a write to the read-only register cycle. Its compressed form is 0.
const unimp = 0xc0001073

// isHint reports whether a compressed encoding that the decoder does not know
// is a hint, which does nothing (manual, table "RVC HINT instructions"): an
// instruction to x0, or an add or a shift of zero.
func isHint(raw uint32) bool {
	rd, rs2 := raw>>7&31, raw>>2&31
	imm := raw>>7&32 | rs2
	switch raw & 0xe003 {
	case 0x0001: // c.addi: of 0, or to x0
		return imm == 0 || rd == 0
	case 0x4001: // c.li to x0
		return rd == 0
	case 0x6001: // c.lui to x0
		return rd == 0 && imm != 0
	case 0x8001: // c.srli, c.srai by 0
		return raw>>11&1 == 0 && raw>>10&3 <= 1 && imm == 0
	case 0x0002: // c.slli: by 0, or to x0
		return imm == 0 || rd == 0
	case 0x8002: // c.mv, c.add to x0
		return rd == 0 && rs2 != 0
	}
	return false
}

// translate fills in the class and the operands.
func translate(in *isa.Inst, raw asm.Inst) bool {
	in.Op = raw.Op.String()
	op, ok := lookUp(raw.Op)
	if !ok {
		if strings.HasPrefix(in.Op, "V") {
			vector(in, raw)
			return true
		}
		return false
	}
	in.Class = op.class
	switch op.class {
	case isa.Branch:
		addUses(in, raw.Args[:2])
		in.Target, in.HasTarget = in.PC+uint64(int64(raw.Args[2].(asm.Simm).Imm)), true
	case isa.Jump, isa.IndirectJump:
		transfer(in, raw)
	case isa.Store, isa.FPStore:
		addUses(in, raw.Args[:1])
		memory(in, op, raw)
	case isa.Load, isa.FPLoad, isa.Atomic:
		in.AddDef(register(raw.Args[0]))
		addUses(in, raw.Args[1:])
		memory(in, op, raw)
	case isa.SystemCall, isa.Breakpoint:
	case isa.Fence:
		addUses(in, raw.Args[:])
	default:
		in.AddDef(register(raw.Args[0]))
		addUses(in, raw.Args[1:])
		if in.Class != isa.CSR && len(in.Defs()) == 0 {
			in.Class = isa.Nop // writes x0 only (manual, section 2.9: hints)
		}
	}
	return true
}

func lookUp(op asm.Op) (operation, bool) {
	if int(op) < len(operations) && operations[op].class != isa.Illegal {
		return operations[op], true
	}
	return atomic(op)
}

// atomic looks up an instruction of the A extension. The decoder treats the
// orderings (.aq, .rl, both) as separate operations. The compare-and-swaps of
// Zacas are not included.
func atomic(op asm.Op) (operation, bool) {
	o := operation{class: isa.Atomic, mem: isa.MemReadModifyWrite}
	name := op.String()
	head, rest, _ := strings.Cut(name, ".")
	switch {
	case head == "LR":
		o.mem = isa.MemLoad
	case head == "SC":
		o.mem = isa.MemStore
	case !strings.HasPrefix(head, "AMO") || head == "AMOCAS":
		return operation{}, false
	}
	if width, _, _ := strings.Cut(rest, "."); width == "W" {
		o.size = 4
	} else {
		o.size = 8
	}
	return o, true
}

// transfer fills in a JAL or JALR. A jump that saves its return address is a
// call, whatever the register; one through x1 or x5 that does not is a return
// (manual, section 2.5.1: x1 and x5 are the link registers).
func transfer(in *isa.Inst, raw asm.Inst) {
	link := register(raw.Args[0])
	in.AddDef(link)
	if offset, ok := raw.Args[1].(asm.RegOffset); ok {
		base := register(offset.OfsReg)
		in.AddUse(base)
		if link == isa.NoReg && (base == 1 || base == 5) {
			in.Class = isa.Return
		}
		if base == isa.NoReg { // relative to address 0
			in.Target, in.HasTarget = uint64(int64(offset.Ofs.Imm))&^1, true
		}
	} else {
		offset := int64(raw.Args[1].(asm.Simm).Imm)
		if in.Len == 2 {
			offset = compressedJump(raw.Enc)
		}
		in.Target, in.HasTarget = in.PC+uint64(offset), true
	}
	if link != isa.NoReg {
		in.Class = isa.Call
	}
}

// compressedJump returns the offset of a c.j: bits 12 to 2 of the encoding are
// its bits 11, 4, 9:8, 10, 6, 7, 3:1, 5 (manual, section 26.4). The decoder in
// golang.org/x/arch v0.32.0 gets it wrong: it copies bit 5 to bit 0 as well.
func compressedJump(raw uint32) int64 {
	bits := func(from, n, to uint32) uint32 { return raw >> from & (1<<n - 1) << to }
	imm := bits(12, 1, 11) | bits(11, 1, 4) | bits(9, 2, 8) | bits(8, 1, 10) |
		bits(7, 1, 6) | bits(6, 1, 7) | bits(3, 3, 1) | bits(2, 1, 5)
	return int64(int32(imm<<20) >> 20)
}

// memory adds the memory operand and the use of its base register.
func memory(in *isa.Inst, op operation, raw asm.Inst) {
	m := isa.Mem{Kind: op.mem, Size: op.size, Float: op.class == isa.FPLoad || op.class == isa.FPStore, Index: isa.NoReg}
	if offset, ok := raw.Args[1].(asm.RegOffset); ok {
		m.Base, m.Disp = register(offset.OfsReg), int64(offset.Ofs.Imm)
	} else {
		m.Base = baseField(raw.Enc)
	}
	in.AddMem(m)
}

// baseField extracts rs1 from an encoding whose operand is an asm.RegPtr, which
// does not expose its register.
func baseField(enc uint32) isa.Reg { return integer(enc >> 15 & 31) }

func integer(r uint32) isa.Reg {
	if r == 0 {
		return isa.NoReg
	}
	return isa.Reg(r)
}

// register returns the register of an operand; NoReg for x0, for a vector
// register, and for anything that is not a register.
func register(a asm.Arg) isa.Reg {
	r, ok := a.(asm.Reg)
	if !ok || r > asm.F31 {
		return isa.NoReg
	}
	if r >= asm.F0 {
		return isa.F0 + isa.Reg(r-asm.F0)
	}
	return integer(uint32(r))
}

func addUses(in *isa.Inst, args []asm.Arg) {
	for _, a := range args {
		in.AddUse(register(a))
	}
}

// vector fills in the scalar registers of a vector instruction. If it has a
// scalar destination (it sets the vector length, or moves or counts out of a
// vector register), that is the field rd; otherwise every scalar operand is a
// use.
func vector(in *isa.Inst, raw asm.Inst) {
	in.Class = isa.Vector
	rd := integer(raw.Enc >> 7 & 31)
	switch raw.Op {
	case asm.VSETVL:
		in.AddDef(rd)
		in.AddUse(baseField(raw.Enc))
		in.AddUse(integer(raw.Enc >> 20 & 31))
	case asm.VSETVLI:
		in.AddDef(rd)
		in.AddUse(baseField(raw.Enc))
	case asm.VSETIVLI, asm.VMV_X_S, asm.VCPOP_M, asm.VFIRST_M:
		in.AddDef(rd)
	case asm.VFMV_F_S:
		in.AddDef(isa.F0 + isa.Reg(raw.Enc>>7&31))
	default:
		for _, a := range raw.Args {
			if _, ok := a.(asm.RegPtr); ok {
				in.AddUse(baseField(raw.Enc))
			}
			in.AddUse(register(a))
		}
	}
}
