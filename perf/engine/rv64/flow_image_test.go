package rv64

import (
	"encoding/binary"
	"math/rand/v2"
)

// Registers of a flowImage.
const (
	flowFuel, flowRandom, flowTable, flowFactor = 8, 9, 18, 20
	flowBit, flowTarget                         = 5, 6
	flowTargets                                 = 16 // places in the table
)

// flowProgram is a program of n blocks that transfer control to each other at
// random.
type flowProgram struct {
	asm
	rng     *rand.Rand
	n       int
	at      []int // of each block, from the previous pass
	begins  []int // of each block, in this pass
	handler int
}

// flowImage makes a program of n blocks that transfers control in every way:
// fall-through, branches (some to the next instruction), calls, returns, jumps
// through a table to the starts and middles of blocks, faults that a handler
// skips, system calls, fence.i. It ends after passing the middle of a block fuel
// times.
func flowImage(seed uint64, n, fuel int) []byte {
	p := &flowProgram{n: n, at: make([]int, n)}
	for range 2 { // the second pass knows the addresses
		p.rng = rand.New(rand.NewPCG(seed, 11))
		p.asm, p.begins = asm{}, nil
		p.write(fuel)
		p.at = p.begins
	}
	data := make([]byte, pageBytes)
	for i := range flowTargets {
		binary.LittleEndian.PutUint64(data[8*i:], uint64(flowText+p.at[p.rng.IntN(n)]))
	}
	binary.LittleEndian.PutUint64(data[1024:], uint64(flowText+p.handler)) // struct sigaction
	return assemble(p.text, data, pageBytes)
}

// flowText is where the text of an assembled program starts.
const flowText = testText + 64 + 2*56

func (p *flowProgram) write(fuel int) {
	for _, sig := range []int32{sigILL, sigTRAP, sigSEGV} {
		p.set(regA0, sig)
		p.set(regA1, testData+1024)
		p.set(regA2, 0)
		p.set(regA0+3, 8)
		p.call(134) // rt_sigaction
	}
	p.set(flowFuel, int32(fuel))
	p.set(flowTable, testData)
	p.set(flowFactor, 0x5851f42d)
	p.set(flowRandom, int32(p.rng.Uint32()>>1))
	p.set(regRA, int32(flowText+p.at[0]))
	for i := range p.n {
		p.begins = append(p.begins, len(p.text))
		p.block(i)
	}
	p.word(wordJ(0, int32(p.at[0]-len(p.text))))
	// The handler makes the interrupted instruction's successor the next one.
	p.handler = len(p.text)
	p.word(wordI(opcodeLoad, 3, 5, regA2, contextRegs), wordI(opcodeImm, 0, 5, 5, 4), wordS(opcodeStore, 3, regA2, 5, contextRegs))
	p.word(wordI(opcodeJALR, 0, 0, regRA, 0))
}

// block writes four words, each a possible entry point, the fuel check, and the
// transfer that ends the block.
func (p *flowProgram) block(i int) {
	p.word(wordR(opcodeReg, 0, 1, flowRandom, flowRandom, flowFactor), wordI(opcodeImm, 0, flowRandom, flowRandom, 1441))
	for range 2 {
		switch p.rng.IntN(4) {
		case 0:
			p.word(0x0ff0000f) // fence
		case 1:
			p.word(wordS(opcodeStore, 3, flowTable, flowRandom, 512))
		default:
			p.word(wordI(opcodeImm, 0, 21, 21, 1))
		}
	}
	p.word(wordI(opcodeImm, 0, flowFuel, flowFuel, -1), wordB(1, flowFuel, 0, 16))
	p.call(callExitGroup) // three words
	p.leadOn(i)
}

func (p *flowProgram) target() int { return p.at[p.rng.IntN(p.n)] - len(p.text) }

// random sets a register to some bits of the random number.
func (p *flowProgram) random(rd uint32, mask int32) {
	p.word(wordI(opcodeImm, 5, rd, flowRandom, int32(20+p.rng.IntN(20))), wordI(opcodeImm, 7, rd, rd, mask))
}

func (p *flowProgram) leadOn(i int) {
	switch p.rng.IntN(14) {
	case 0: // fall through
	case 1, 2, 3, 4:
		p.random(flowBit, 1)
		k := max(0, min(p.n-1, i+p.rng.IntN(17)-8))
		distance := int32(p.at[k] - len(p.text))
		if distance < -4096 || distance > 4094 {
			distance = 4 // in the first pass
		}
		p.word(wordB(uint32(p.rng.IntN(2)), flowBit, 0, distance))
	case 5: // both successors are the same
		p.random(flowBit, 1)
		p.word(wordB(1, flowBit, 0, 4))
	case 6:
		p.word(wordJ(0, int32(p.target())))
	case 7:
		p.word(wordJ(regRA, int32(p.target())))
	case 8, 9, 10:
		p.random(flowTarget, (flowTargets-1)*8)
		p.word(wordR(opcodeReg, 0, 0, flowTarget, flowTarget, flowTable), wordI(opcodeLoad, 3, flowTarget, flowTarget, 0))
		p.word(wordI(opcodeJALR, 0, []uint32{0, regRA, flowTarget}[p.rng.IntN(3)], flowTarget, int32(4*p.rng.IntN(4))))
	case 11:
		p.word(wordI(opcodeJALR, 0, 0, regRA, 0))
	case 12:
		p.word([]uint32{0xffffffff, wordI(opcodeLoad, 3, 5, 0, 8), 0x00100073}[p.rng.IntN(3)])
	case 13:
		p.set(regA7, 172) // getpid
		p.word([]uint32{opcodeSystem, 0x0000100f}[p.rng.IntN(2)])
	}
}
