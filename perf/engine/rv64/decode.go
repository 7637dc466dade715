package rv64

import (
	"encoding/binary"
	"sync"

	rv "golang.org/x/arch/riscv64/riscv64asm"
)

// decodeMu serialises riscv64asm.Decode, which writes to a package-level table
// (golang.org/x/arch v0.32.0, decoderCover) and so is not safe for concurrent
// use.
var decodeMu sync.Mutex

// decoded is a decoded instruction: its name, its 4-byte word (for a compressed
// instruction, the expansion) and the operands that its form has.
type decoded struct {
	op   rv.Op
	enc  uint32
	size int // bytes: 2 or 4

	rd, rs1, rs2, rs3, rm uint8
	imm                   int32
}

// names are the instruction names found so far, at most maxNames, behind the decoders of
// all runs: riscv64asm searches a list of a thousand encodings, which takes microseconds.
var names = struct {
	sync.Mutex
	found map[uint32]rv.Op // by identity; 0 for an invalid encoding
}{found: make(map[uint32]rv.Op)}

const maxNames = 1 << 14

// decoder looks up instruction names, and keeps those of its run.
type decoder struct {
	names map[uint32]rv.Op // by identity; 0 for an invalid encoding
}

// identity returns the bits of a word that distinguish instructions, with
// registers, immediates and offsets masked out as far as the major opcode
// allows.
func identity(word uint32) uint32 {
	const major, minor, fused, all = 0x7f, 0x707f, 0x0600707f, 0xfff0707f
	switch word & major {
	case opcodeLUI, opcodeAUIPC, opcodeJAL:
		return word & major
	case opcodeLoad, opcodeFLoad, opcodeStore, opcodeFStore, opcodeBranch, opcodeJALR:
		return word & minor
	case opcodeImm, opcodeImm32:
		if f := word >> 12 & 7; f != 1 && f != 5 { // no shift
			return word & minor
		}
	case opcodeFMAdd, opcodeFMSub, opcodeFNMSub, opcodeFNMAdd:
		return word & fused
	case opcodeSystem:
		if word>>12&7 == 0 {
			return word
		}
		return word & minor
	}
	return word & all
}

// decode decodes the instruction at the start of src (2 or 4 bytes). It returns
// false for an invalid encoding. Register operands are extracted from their
// fields of the word here, immediates once the form is known.
func (n *decoder) decode(src []byte) (decoded, bool) {
	var d decoded
	var ok bool
	if d.enc, d.size, ok = wordOf(src); !ok {
		return decoded{}, false
	}
	if d.op = n.name(d.enc); d.op == 0 {
		return decoded{}, false
	}
	d.rd, d.rs1, d.rs2 = uint8(d.enc>>7&31), uint8(d.enc>>15&31), uint8(d.enc>>20&31)
	d.rs3, d.rm = uint8(d.enc>>27), uint8(d.enc>>12&7)
	return d, true
}

// wordOf returns the 4-byte word of the instruction at the start of src, expanded
// if compressed, and its encoded size in bytes.
func wordOf(src []byte) (word uint32, size int, ok bool) {
	switch {
	case len(src) >= 2 && src[0]&3 != 3:
		word, ok = expand(uint32(binary.LittleEndian.Uint16(src)))
		return word, 2, ok
	case len(src) >= 4:
		return binary.LittleEndian.Uint32(src), 4, true
	}
	return 0, 0, false
}

// disassemble returns the assembly text of the instruction at the start of src,
// expanded if compressed, or "" if there is none.
func disassemble(src []byte) string {
	enc, _, ok := wordOf(src)
	if !ok {
		return ""
	}
	inst, err := decodeWord(enc)
	if err != nil {
		return ""
	}
	return rv.GNUSyntax(inst)
}

func decodeWord(enc uint32) (rv.Inst, error) {
	var word [4]byte
	binary.LittleEndian.PutUint32(word[:], enc)
	decodeMu.Lock()
	defer decodeMu.Unlock()
	return rv.Decode(word[:])
}

func (n *decoder) name(enc uint32) rv.Op {
	id := identity(enc)
	if op, ok := n.names[id]; ok {
		return op
	}
	names.Lock()
	op, ok := names.found[id]
	names.Unlock()
	if !ok {
		inst, err := decodeWord(enc)
		if op = inst.Op; err != nil {
			op = 0
		}
		names.Lock()
		if len(names.found) < maxNames {
			names.found[id] = op
		}
		names.Unlock()
	}
	n.names[id] = op
	return op
}

// The immediates of a word, by format.

func (d *decoded) immI() int32 { return int32(d.enc) >> 20 }
func (d *decoded) immS() int32 { return int32(d.enc)>>25<<5 | int32(d.enc>>7&31) }

func (d *decoded) immB() int32 {
	return int32(d.enc)>>31<<12 | int32(d.enc>>7&1)<<11 | int32(d.enc>>25&63)<<5 | int32(d.enc>>8&15)<<1
}

func (d *decoded) immJ() int32 {
	return int32(d.enc)>>31<<20 | int32(d.enc>>12&255)<<12 | int32(d.enc>>20&1)<<11 | int32(d.enc>>21&1023)<<1
}

// immediate sets imm by the instruction's form.
func (d *decoded) immediate(f form) {
	switch f {
	case formI, formLoad, formFLoad:
		d.imm = d.immI()
	case formShift:
		d.imm = d.immI() & 63
	case formShift5:
		d.imm = d.immI() & 31
	case formStore, formFStore:
		d.imm = d.immS()
	case formBranch:
		d.imm = d.immB()
	}
}
