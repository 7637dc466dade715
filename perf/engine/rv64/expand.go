package rv64

// Builders of 4-byte instruction words, by format.

func wordI(opcode, funct3, rd, rs1 uint32, imm int32) uint32 {
	return uint32(imm)<<20 | rs1<<15 | funct3<<12 | rd<<7 | opcode
}

func wordR(opcode, funct3, funct7, rd, rs1, rs2 uint32) uint32 {
	return funct7<<25 | rs2<<20 | rs1<<15 | funct3<<12 | rd<<7 | opcode
}

func wordS(opcode, funct3, rs1, rs2 uint32, imm int32) uint32 {
	i := uint32(imm)
	return i>>5&127<<25 | rs2<<20 | rs1<<15 | funct3<<12 | i&31<<7 | opcode
}

func wordB(funct3, rs1, rs2 uint32, imm int32) uint32 {
	i := uint32(imm)
	return i>>12&1<<31 | i>>5&63<<25 | rs2<<20 | rs1<<15 | funct3<<12 | i>>1&15<<8 | i>>11&1<<7 | opcodeBranch
}

func wordJ(rd uint32, imm int32) uint32 {
	i := uint32(imm)
	return i>>20&1<<31 | i>>1&1023<<21 | i>>11&1<<20 | i>>12&255<<12 | rd<<7 | opcodeJAL
}

// Major opcodes.
const (
	opcodeLoad   = 0x03
	opcodeFLoad  = 0x07
	opcodeImm    = 0x13
	opcodeAUIPC  = 0x17
	opcodeImm32  = 0x1b
	opcodeStore  = 0x23
	opcodeFStore = 0x27
	opcodeReg    = 0x33
	opcodeLUI    = 0x37
	opcodeReg32  = 0x3b
	opcodeFMAdd  = 0x43
	opcodeFMSub  = 0x47
	opcodeFNMSub = 0x4b
	opcodeFNMAdd = 0x4f
	opcodeBranch = 0x63
	opcodeJALR   = 0x67
	opcodeJAL    = 0x6f
	opcodeSystem = 0x73
)

const ebreakWord = 0x00100073

// gather assembles an immediate from fields of a halfword. Each field is given by
// its lowest bit in the halfword, its lowest bit in the immediate, and its width.
func gather(h uint32, fields ...[3]uint32) int32 {
	var v uint32
	for _, f := range fields {
		v |= h >> f[0] & (1<<f[2] - 1) << f[1]
	}
	return int32(v)
}

func signed(v int32, bits uint) int32 { return v << (32 - bits) >> (32 - bits) }

// expand returns the 4-byte equivalent of a compressed instruction ("C" chapter,
// tables 16.5 to 16.7, specification 20191213; RV64). HINTs expand to
// instructions without effect. It returns false for reserved and illegal
// encodings.
//
// golang.org/x/arch v0.32.0 decodes compressed instructions too, but gets c.j's
// offset wrong (it takes bits 5:2 for offset[3:1]), rejects HINTs, and decodes
// the illegal all-zeroes halfword as a CSR write; so it is given only 4-byte
// words.
func expand(h uint32) (uint32, bool) {
	switch h & 3 {
	case 0:
		return expand0(h)
	case 1:
		return expand1(h)
	}
	return expand2(h)
}

func expand0(h uint32) (uint32, bool) {
	rd, rs1 := 8+h>>2&7, 8+h>>7&7
	word := gather(h, [3]uint32{6, 2, 1}, [3]uint32{10, 3, 3}, [3]uint32{5, 6, 1})
	double := gather(h, [3]uint32{10, 3, 3}, [3]uint32{5, 6, 2})
	switch h >> 13 {
	case 0: // c.addi4spn
		imm := gather(h, [3]uint32{6, 2, 1}, [3]uint32{5, 3, 1}, [3]uint32{11, 4, 2}, [3]uint32{7, 6, 4})
		return wordI(opcodeImm, 0, rd, regSP, imm), imm != 0
	case 1: // c.fld
		return wordI(opcodeFLoad, 3, rd, rs1, double), true
	case 2: // c.lw
		return wordI(opcodeLoad, 2, rd, rs1, word), true
	case 3: // c.ld
		return wordI(opcodeLoad, 3, rd, rs1, double), true
	case 5: // c.fsd
		return wordS(opcodeFStore, 3, rs1, rd, double), true
	case 6: // c.sw
		return wordS(opcodeStore, 2, rs1, rd, word), true
	case 7: // c.sd
		return wordS(opcodeStore, 3, rs1, rd, double), true
	}
	return 0, false
}

func expand1(h uint32) (uint32, bool) {
	rd, rs1 := h>>7&31, 8+h>>7&7
	imm := signed(gather(h, [3]uint32{2, 0, 5}, [3]uint32{12, 5, 1}), 6)
	switch h >> 13 {
	case 0: // c.addi, c.nop
		return wordI(opcodeImm, 0, rd, rd, imm), true
	case 1: // c.addiw
		return wordI(opcodeImm32, 0, rd, rd, imm), rd != 0
	case 2: // c.li
		return wordI(opcodeImm, 0, rd, 0, imm), true
	case 3:
		if rd == regSP { // c.addi16sp
			imm = signed(gather(h, [3]uint32{6, 4, 1}, [3]uint32{2, 5, 1}, [3]uint32{5, 6, 1},
				[3]uint32{3, 7, 2}, [3]uint32{12, 9, 1}), 10)
			return wordI(opcodeImm, 0, rd, rd, imm), imm != 0
		}
		return uint32(imm)<<12 | rd<<7 | opcodeLUI, imm != 0 // c.lui
	case 4:
		return expandArithmetic(h)
	case 5: // c.j
		imm = signed(gather(h, [3]uint32{3, 1, 3}, [3]uint32{11, 4, 1}, [3]uint32{2, 5, 1}, [3]uint32{7, 6, 1},
			[3]uint32{6, 7, 1}, [3]uint32{9, 8, 2}, [3]uint32{8, 10, 1}, [3]uint32{12, 11, 1}), 12)
		return wordJ(0, imm), true
	}
	// c.beqz, c.bnez
	imm = signed(gather(h, [3]uint32{3, 1, 2}, [3]uint32{10, 3, 2}, [3]uint32{2, 5, 1},
		[3]uint32{5, 6, 2}, [3]uint32{12, 8, 1}), 9)
	return wordB(h>>13&1, rs1, 0, imm), true
}

func expandArithmetic(h uint32) (uint32, bool) {
	rd, rs2 := 8+h>>7&7, 8+h>>2&7
	imm := gather(h, [3]uint32{2, 0, 5}, [3]uint32{12, 5, 1})
	switch h >> 10 & 3 {
	case 0: // c.srli
		return wordI(opcodeImm, 5, rd, rd, imm), true
	case 1: // c.srai
		return wordI(opcodeImm, 5, rd, rd, imm|1<<10), true
	case 2: // c.andi
		return wordI(opcodeImm, 7, rd, rd, signed(imm, 6)), true
	}
	switch h>>12&1<<2 | h>>5&3 {
	case 0: // c.sub
		return wordR(opcodeReg, 0, 32, rd, rd, rs2), true
	case 1: // c.xor
		return wordR(opcodeReg, 4, 0, rd, rd, rs2), true
	case 2: // c.or
		return wordR(opcodeReg, 6, 0, rd, rd, rs2), true
	case 3: // c.and
		return wordR(opcodeReg, 7, 0, rd, rd, rs2), true
	case 4: // c.subw
		return wordR(opcodeReg32, 0, 32, rd, rd, rs2), true
	case 5: // c.addw
		return wordR(opcodeReg32, 0, 0, rd, rd, rs2), true
	}
	return 0, false
}

func expand2(h uint32) (uint32, bool) {
	rd, rs2 := h>>7&31, h>>2&31
	word := gather(h, [3]uint32{4, 2, 3}, [3]uint32{12, 5, 1}, [3]uint32{2, 6, 2})
	double := gather(h, [3]uint32{5, 3, 2}, [3]uint32{12, 5, 1}, [3]uint32{2, 6, 3})
	storeWord := gather(h, [3]uint32{9, 2, 4}, [3]uint32{7, 6, 2})
	storeDouble := gather(h, [3]uint32{10, 3, 3}, [3]uint32{7, 6, 3})
	switch h >> 13 {
	case 0: // c.slli
		return wordI(opcodeImm, 1, rd, rd, gather(h, [3]uint32{2, 0, 5}, [3]uint32{12, 5, 1})), true
	case 1: // c.fldsp
		return wordI(opcodeFLoad, 3, rd, regSP, double), true
	case 2: // c.lwsp
		return wordI(opcodeLoad, 2, rd, regSP, word), rd != 0
	case 3: // c.ldsp
		return wordI(opcodeLoad, 3, rd, regSP, double), rd != 0
	case 5: // c.fsdsp
		return wordS(opcodeFStore, 3, regSP, rs2, storeDouble), true
	case 6: // c.swsp
		return wordS(opcodeStore, 2, regSP, rs2, storeWord), true
	case 7: // c.sdsp
		return wordS(opcodeStore, 3, regSP, rs2, storeDouble), true
	}
	link := h >> 12 & 1
	switch {
	case rs2 == 0 && rd == 0: // c.ebreak; c.jr with x0 is reserved
		return ebreakWord, link == 1
	case rs2 == 0: // c.jr, c.jalr
		return wordI(opcodeJALR, 0, link, rd, 0), true
	case link == 0: // c.mv
		return wordR(opcodeReg, 0, 0, rd, 0, rs2), true
	}
	return wordR(opcodeReg, 0, 0, rd, rd, rs2), true // c.add
}
