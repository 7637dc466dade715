package rv64

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
)

// Layout of the data segment of a random program: initial registers, a buffer for
// its loads and stores, and the final registers.
const (
	randomRegs   = testData
	randomBuffer = testData + 0x1000
	randomOut    = testData + 0x3000
	randomSize   = 0x3000 + 0x400
	regBuffer    = 30 // points into the middle of the buffer
	regBase      = 31 // points at the data segment
)

// randomProgram generates straight-line code (with short forward branches) of
// random instructions from every extension.
type randomProgram struct {
	asm
	rng    *rand.Rand
	clocks bool // read instret, cycle and time, which differ on qemu
	qemu   bool // leave out what qemu 7.2 has wrong: see ctzw
}

func (p *randomProgram) dst() uint32 { return uint32(p.rng.IntN(30)) } // not the pointers
func (p *randomProgram) src() uint32 { return uint32(p.rng.IntN(32)) }
func (p *randomProgram) imm() int32  { return int32(p.rng.IntN(4096)) - 2048 }

// integerOps are register-register instructions as (opcode, funct7, funct3).
var integerOps = [][3]uint32{
	{0x33, 0, 0},
	{0x33, 32, 0},
	{0x33, 0, 1},
	{0x33, 0, 2},
	{0x33, 0, 3},
	{0x33, 0, 4},
	{0x33, 0, 5},
	{0x33, 32, 5},
	{0x33, 0, 6},
	{0x33, 0, 7},
	{0x3b, 0, 0},
	{0x3b, 32, 0},
	{0x3b, 0, 1},
	{0x3b, 0, 5},
	{0x3b, 32, 5},
	{0x33, 1, 0},
	{0x33, 1, 1},
	{0x33, 1, 2},
	{0x33, 1, 3},
	{0x33, 1, 4},
	{0x33, 1, 5},
	{0x33, 1, 6},
	{0x33, 1, 7}, // M
	{0x3b, 1, 0},
	{0x3b, 1, 4},
	{0x3b, 1, 5},
	{0x3b, 1, 6},
	{0x3b, 1, 7},
	{0x3b, 4, 0},
	{0x33, 16, 2},
	{0x33, 16, 4},
	{0x33, 16, 6},
	{0x3b, 16, 2},
	{0x3b, 16, 4},
	{0x3b, 16, 6}, // Zba
	{0x33, 32, 7},
	{0x33, 32, 6},
	{0x33, 32, 4},
	{0x33, 5, 4},
	{0x33, 5, 5},
	{0x33, 5, 6},
	{0x33, 5, 7}, // Zbb
	{0x33, 48, 1},
	{0x33, 48, 5},
	{0x3b, 48, 1},
	{0x3b, 48, 5},
	{0x33, 36, 1},
	{0x33, 36, 5},
	{0x33, 52, 1},
	{0x33, 20, 1}, // Zbs
	{0x33, 5, 1},
	{0x33, 5, 2},
	{0x33, 5, 3}, // Zbc
}

// unaryOps are instruction words with zero register fields: clz, ctz, cpop, their
// w forms, sext.b, sext.h, zext.h, orc.b, rev8.
var unaryOps = []uint32{
	0x60001013, 0x60101013, 0x60201013, 0x6000101b, 0x6010101b, 0x6020101b, 0x60401013, 0x60501013, 0x0800403b, 0x28705013, 0x6b805013,
}

// Of a word that is zero below an upper half that is not, qemu 7.2 counts the zeros of
// both halves: ctzw of 1<<50 is 50 there. The specification has 32, which
// TestIntegerInstructions holds.
const (
	ctz  = 0x60101013
	ctzw = 0x6010101b
)

// shiftOps are immediate shifts: opcode, upper bits, funct3, width.
var shiftOps = [][4]uint32{
	{0x13, 0, 1, 64},
	{0x13, 0, 5, 64},
	{0x13, 0x400, 5, 64},
	{0x1b, 0, 1, 32},
	{0x1b, 0, 5, 32},
	{0x1b, 0x400, 5, 32},
	{0x1b, 0x080, 1, 64},
	{0x13, 0x600, 5, 64},
	{0x1b, 0x600, 5, 32},
	{0x13, 0x480, 1, 64},
	{0x13, 0x480, 5, 64},
	{0x13, 0x680, 1, 64},
	{0x13, 0x280, 1, 64},
}

func (p *randomProgram) instruction() {
	switch r := p.rng.IntN(100); {
	case r < 30:
		o := integerOps[p.rng.IntN(len(integerOps))]
		p.word(wordR(o[0], o[2], o[1], p.dst(), p.src(), p.src()))
	case r < 36:
		op := unaryOps[p.rng.IntN(len(unaryOps))]
		if op == ctzw && p.qemu {
			op = ctz
		}
		p.word(op | p.dst()<<7 | p.src()<<15)
	case r < 44:
		o := shiftOps[p.rng.IntN(len(shiftOps))]
		p.word(wordI(o[0], o[2], p.dst(), p.src(), int32(o[1])|int32(p.rng.IntN(int(o[3])))))
	case r < 54: // addi, slti, sltiu, xori, ori, andi, addiw
		f := []uint32{0, 2, 3, 4, 6, 7}[p.rng.IntN(6)]
		if p.rng.IntN(4) == 0 {
			p.word(wordI(opcodeImm32, 0, p.dst(), p.src(), p.imm()))
		} else {
			p.word(wordI(opcodeImm, f, p.dst(), p.src(), p.imm()))
		}
	case r < 58: // lui, auipc
		p.word(uint32(p.rng.IntN(1<<20))<<12 | p.dst()<<7 | []uint32{opcodeLUI, opcodeAUIPC}[p.rng.IntN(2)])
	case r < 66:
		p.load()
	case r < 73:
		p.store()
	case r < 78:
		p.atomic()
	case r < 84:
		p.branch()
	case r < 92:
		p.float()
	default:
		p.compressed()
	}
}

func (p *randomProgram) load() {
	f := uint32(p.rng.IntN(7))
	switch p.rng.IntN(4) {
	case 0:
		p.word(wordI(opcodeFLoad, 2+f&1, p.src(), regBuffer, p.imm()))
	case 1: // as compilers index arrays, which the engine fuses
		p.word(wordI(opcodeImm, 7, 8, p.src(), 127), wordI(opcodeImm, 1, 9, 8, 3),
			wordR(opcodeReg, 0, 0, 9, 9, regBuffer), wordI(opcodeLoad, 3, p.dst(), 9, 8*int32(p.rng.IntN(64))))
	default:
		p.word(wordI(opcodeLoad, f, p.dst(), regBuffer, p.imm()))
	}
}

func (p *randomProgram) store() {
	f := uint32(p.rng.IntN(4))
	if p.rng.IntN(4) == 0 {
		p.word(wordS(opcodeFStore, 2+f&1, regBuffer, p.src(), p.imm()))
		return
	}
	p.word(wordS(opcodeStore, f, regBuffer, p.src(), p.imm()))
}

func (p *randomProgram) atomic() {
	const opcodeAMO = 0x2f
	size := 2 + uint32(p.rng.IntN(2))
	kinds := []uint32{1, 0, 4, 12, 8, 16, 20, 24, 28}
	order := uint32(p.rng.IntN(4))
	at := uint32(5)
	p.word(wordI(opcodeImm, 0, at, regBuffer, int32(p.rng.IntN(256)*8-1024)))
	switch p.rng.IntN(5) {
	case 2: // sc next to the reservation
		p.word(wordR(opcodeAMO, size, 2<<2|order, p.dst()&^5, at, 0),
			wordI(opcodeImm, 0, at, at, int32(p.rng.IntN(3)*8-8)), wordR(opcodeAMO, size, 3<<2|order, p.dst(), at, p.src()))
	case 0: // lr, sc
		p.word(wordR(opcodeAMO, size, 2<<2|order, p.dst()&^5, at, 0), wordR(opcodeAMO, size, 3<<2|order, p.dst(), at, p.src()))
	case 1: // sc without a reservation
		p.word(wordR(opcodeAMO, size, 3<<2|order, p.dst(), at, p.src()))
	default:
		p.word(wordR(opcodeAMO, size, kinds[p.rng.IntN(len(kinds))]<<2|order, p.dst(), at, p.src()))
	}
}

// branch emits a conditional branch, or a jump, over one instruction.
func (p *randomProgram) branch() {
	switch p.rng.IntN(4) {
	case 0:
		p.word(wordJ(p.dst(), 8))
	case 1: // auipc t, 0; jalr rd, 12(t)
		p.word(5<<7|opcodeAUIPC, wordI(opcodeJALR, 0, p.dst(), 5, 12))
	default:
		f := []uint32{0, 1, 4, 5, 6, 7}[p.rng.IntN(6)]
		if p.rng.IntN(2) == 0 {
			p.word(wordI(opcodeImm, 0, p.dst(), p.src(), p.imm()))
		}
		p.word(wordB(f, p.src(), p.src(), 8))
	}
	p.word(wordI(opcodeImm, 0, p.dst(), p.src(), p.imm()))
}

func (p *randomProgram) float() {
	cases := floatCases()
	c := cases[p.rng.IntN(len(cases))]
	word := c.word&^(31<<7|31<<15) | p.dst()<<7 | p.src()<<15
	if c.three || c.word>>20&31 == 12 {
		word = word&^(31<<20) | p.src()<<20
	}
	if c.three {
		word = word&^(31<<27) | p.src()<<27
	}
	if c.rounds {
		word |= []uint32{0, 1, 2, 3, 4, 7, 7, 7}[p.rng.IntN(8)] << 12
	}
	p.word(word)
	switch p.rng.IntN(9) {
	case 0:
		p.word(wordI(opcodeSystem, 2, p.dst(), 0, []int32{csrFflags, csrFrm, csrFcsr}[p.rng.IntN(3)]))
	case 3: // any form
		p.word(wordI(opcodeSystem, []uint32{1, 2, 3, 5, 6, 7}[p.rng.IntN(6)], p.dst(), p.src(), csrFflags))
	case 4: // fsflags, as after a comparison that must not raise a flag
		p.word(wordI(opcodeSystem, 1, p.dst(), p.src(), csrFflags))
	case 5:
		if p.clocks {
			p.word(wordI(opcodeSystem, 2, p.dst(), 0, csrCycle+int32(p.rng.IntN(3))-4096))
		}
	case 1:
		p.word(wordI(opcodeSystem, 5, p.dst(), uint32(p.rng.IntN(5)), csrFrm))
	case 2:
		p.word(wordI(opcodeSystem, 7, p.dst(), uint32(p.rng.IntN(32)), csrFflags))
	}
}

// compressed emits two halfwords of compressed instructions that access only
// registers and the buffer.
func (p *randomProgram) compressed() {
	for n := 0; n < 2; {
		h := uint16(p.rng.Uint32())
		word, ok := expand(uint32(h))
		if h&3 == 3 || !ok {
			continue
		}
		rd, opcode := word>>7&31, word&127
		rs1, rs2 := word>>15&31, word>>20&31
		switch opcode {
		case opcodeImm, opcodeImm32, opcodeReg, opcodeReg32, opcodeLUI:
			if rd >= regBuffer {
				continue
			}
		default:
			continue // compressedMemory emits memory accesses and jumps
		}
		_, _ = rs1, rs2
		p.half(h)
		n++
	}
	if p.rng.IntN(2) == 0 {
		p.compressedMemory()
	}
}

// compressedMemory emits compressed loads, stores and branches with their base
// register set up.
func (p *randomProgram) compressedMemory() {
	sp := p.rng.IntN(2) == 0
	for n := 0; n < 2; {
		h := uint16(p.rng.Uint32())
		word, ok := expand(uint32(h))
		if h&3 == 3 || !ok {
			continue
		}
		rs1, rd := word>>15&31, word>>7&31
		switch word & 127 {
		case opcodeLoad, opcodeFLoad:
			if word&127 == opcodeLoad && rd >= regBuffer {
				continue
			}
		case opcodeStore, opcodeFStore:
		default:
			continue
		}
		if (rs1 == regSP) != sp {
			continue
		}
		p.word(wordI(opcodeImm, 0, rs1, regBuffer, int32(p.rng.IntN(256))*8-1024))
		p.half(h)
		n++
	}
	// c.beqz, c.bnez, c.j over a c.addi: offsets are the next-but-one halfword.
	p.half([]uint16{0xc011, 0xe011, 0xa011}[p.rng.IntN(3)])
	p.half(0x0085) // c.addi ra, 1
}

func randomImage(seed uint64, n int) []byte {
	p := &randomProgram{rng: rand.New(rand.NewPCG(seed, 9)), qemu: true}
	data := make([]byte, randomOut-testData)
	values := floatOperands(p.rng)
	for i := 0; i < len(data); i += 8 {
		v := p.rng.Uint64()
		switch p.rng.IntN(3) {
		case 0:
			v = values[p.rng.IntN(len(values))]
		case 1:
			v = uint64(int64(p.rng.IntN(64)) - 32)
		}
		binary.LittleEndian.PutUint64(data[i:], v)
	}
	p.set(regBase, randomRegs)
	for i := range uint32(32) {
		p.word(wordI(opcodeFLoad, 3, i, regBase, int32(256+8*i)))
	}
	for i := range uint32(30) {
		p.word(wordI(opcodeLoad, 3, i, regBase, int32(8*i)))
	}
	p.set(regBuffer, randomBuffer+0x1000)
	for range n {
		p.instruction()
	}
	p.set(regBase, randomOut)
	for i := range uint32(31) {
		p.word(wordS(opcodeStore, 3, regBase, i, int32(8*i)))
		p.word(wordS(opcodeFStore, 3, regBase, i, int32(256+8*i)))
	}
	p.word(wordS(opcodeFStore, 3, regBase, 31, 256+8*31))
	p.word(wordI(opcodeSystem, 2, 5, 0, csrFcsr), wordS(opcodeStore, 3, regBase, 5, 512))
	p.finish(randomBuffer, randomSize-0x1000)
	return assemble(p.text, data, randomSize)
}

// TestRandomAgainstQemu compares all registers, fcsr and memory after random
// instruction sequences.
func TestRandomAgainstQemu(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			// Short programs localise a difference, long ones are more likely to find it.
			n := 20 << (seed % 8)
			want, got := both(t, randomImage(seed, n))
			if want == got {
				return
			}
			for i := 0; i+8 <= min(len(want), len(got)); i += 8 {
				if want[i:i+8] != got[i:i+8] {
					t.Errorf("%s: %x, qemu has %x", randomPlace(i), got[i:i+8], want[i:i+8])
				}
			}
			t.Errorf("program of %d random instructions differs (output of %d bytes, qemu %d)", n, len(got), len(want))
		})
	}
}

// randomPlace returns the name of the register or word at an offset of the output.
func randomPlace(i int) string {
	i -= randomOut - randomBuffer
	switch {
	case i < 0:
		return fmt.Sprintf("memory %#x", i+randomOut)
	case i < 256:
		return fmt.Sprintf("x%d", i/8)
	case i < 512:
		return fmt.Sprintf("f%d", i/8-32)
	}
	return "fcsr"
}
