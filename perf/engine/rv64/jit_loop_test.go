package rv64

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"presage/perf/engine"
)

const (
	stripPages = 40
	stripData  = stripPages * pageBytes
)

// stripImage is a program of loops of one block that move over pages of which some may
// only be read or not be accessed at all, with addresses that are sums of registers,
// indices and constants, and with others that are not.
func stripImage(seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 13))
	var a asm
	for range rng.IntN(12) {
		a.set(regA0, testData+int32(rng.IntN(stripPages))*pageBytes)
		a.set(regA1, pageBytes)
		a.set(regA2, int32(min(rng.IntN(6), 1))) // mostly read
		a.call(226)                              // mprotect
	}
	for i := range uint32(8) {
		a.set(5, testData+8*int32(rng.IntN(64)))
		a.word(wordI(opcodeFLoad, 3, i, 5, 0))
	}
	a.word(wordI(opcodeSystem, 5, 0, 0, csrFcsr))
	for range 1 + rng.IntN(4) {
		strip(&a, rng)
	}
	a.finish(testData, stripData)
	data := make([]byte, stripData)
	values := floatOperands(rng)
	for i := 0; i < len(data); i += 8 {
		v := rng.Uint64()
		switch rng.IntN(4) {
		case 0, 1:
			v = testData + rng.Uint64N(stripPages/2)*pageBytes
		case 2:
			v = values[rng.IntN(len(values))]
		}
		binary.LittleEndian.PutUint64(data[i:], v)
	}
	return assemble(a.text, data, stripData)
}

// strip emits a loop: x10 to x13 are pointers, x14 and x15 distances, x16 an index, x20
// the rounds that are left, and x28 to x30 what is computed from them.
func strip(a *asm, rng *rand.Rand) {
	pick := func(of ...uint32) uint32 { return of[rng.IntN(len(of))] }
	for r := uint32(10); r < 14; r++ {
		a.set(r, testData+int32(rng.IntN(stripData))&^7)
	}
	if rng.IntN(4) == 0 {
		a.set(regSP, testData+stripData-8)
	}
	a.set(14, int32(rng.IntN(4096))-2048)
	a.set(15, 8*int32(rng.IntN(64)))
	a.set(16, int32(rng.IntN(32)))
	a.set(20, 1+int32(rng.IntN(700)))
	start := len(a.text)
	for r := uint32(28); r < 31; r++ {
		switch rng.IntN(6) {
		case 0:
			a.word(wordR(opcodeReg, 0, 0, r, pick(10, 11, 12, 13), pick(14, 15)))
		case 1:
			a.word(wordR(opcodeReg, 0, 0, r, 12, 14), wordR(opcodeReg, 0x20, 0, r, r, 15)) // sub
		case 2: // fused with a load that follows
			a.word(wordI(opcodeImm, 1, 31, 16, 3), wordR(opcodeReg, 0, 0, r, 31, pick(10, 11)))
			a.word(wordI(opcodeLoad, 3, pick(5, 6, 31, r), r, 8*int32(rng.IntN(16))))
		case 3: // not regular
			a.word(wordI(opcodeImm, 7, r, 5, 0x7f8), wordR(opcodeReg, 0, 0, r, r, 13))
		case 4: // as far as the loop has come, twice
			a.word(wordR(opcodeReg, 0x10, 2, r, 16, 10)) // sh1add
		default:
			a.word(wordI(opcodeImm, 0, r, pick(10, 11, 12), int32(rng.IntN(256))))
		}
		emitAccess(a, rng, pick(10, 11, 12, 13, r, regSP), pick)
	}
	if rng.IntN(8) == 0 { // what was loaded is an address
		emitAccess(a, rng, pick(5, 6, 31), pick)
	}
	for range rng.IntN(5) {
		emitAccess(a, rng, pick(10, 11, 12, 13, 28, 29, 30), pick)
	}
	if rng.IntN(4) == 0 { // one pointer becomes another: not regular
		a.word(wordI(opcodeImm, 0, pick(10, 11, 12, 13), pick(10, 11, 12, 13), 8))
	}
	for r := uint32(10); r < 14; r++ {
		steps := []int32{0, 8, 8, 8, -8, 16, 4, 24, 256, -264, 520, 273, -273}
		if s := steps[rng.IntN(len(steps))]; s != 0 {
			a.word(wordI(opcodeImm, 0, r, r, s))
		}
	}
	switch rng.IntN(8) {
	case 0: // steps that are not constants
		a.word(wordR(opcodeReg, 0, 0, 11, 11, pick(14, 15)))
	case 1:
		a.word(wordR(opcodeReg, 0x10, 6, 11, 16, 11)) // sh3add
	}
	a.word(wordI(opcodeImm, 0, 16, 16, int32(rng.IntN(12))))
	if rng.IntN(8) == 0 {
		a.word(wordI(opcodeSystem, 2, 6, 0, csrInstret), wordS(opcodeStore, 3, 12, 6, 0))
	}
	a.word(wordI(opcodeImm, 0, 20, 20, -1), wordB(1, 20, 0, int32(start-len(a.text)-4)))
}

// emitAccess emits a load, a store or arithmetic between them.
func emitAccess(a *asm, rng *rand.Rand, base uint32, pick func(...uint32) uint32) {
	imm := 8 * int32(rng.IntN(16))
	f := uint32(rng.IntN(8))
	switch rng.IntN(8) {
	case 0:
		a.word(wordS(opcodeStore, f&3, base, pick(5, 6, 16, 20), imm))
	case 1:
		a.word(wordS(opcodeFStore, 3, base, f, imm))
	case 2, 3:
		a.word(wordI(opcodeFLoad, 3, f, base, imm))
	case 4: // fmadd
		a.word(0x43 | f<<7 | 7<<12 | pick(0, 1, 2)<<15 | 1<<25 | pick(3, 4, f)<<20 | pick(5, 6, f)<<27)
	case 5:
		a.word(wordR(opcodeFP, 1, 7, f, pick(0, 1, 2), pick(3, 4, 5))) // fadd
	default:
		a.word(wordI(opcodeLoad, f%7, pick(5, 6), base, imm))
	}
}

// TestLoopsCheckedAhead: loops whose accesses are checked for many iterations ahead fault
// where they would otherwise, stop at the same instructions and record the same.
func TestLoopsCheckedAhead(t *testing.T) {
	needJIT(t)
	faults, ended, cut := 0, 0, 0
	programs := uint64(1200)
	if testing.Short() {
		programs = 100
	}
	for seed := range programs {
		f := readFile(t, stripImage(seed))
		opt := options{Request: engine.Request{Memory: minMemory}}
		if seed%5 == 0 {
			opt.MaxInstructions = 500 + seed*7
		}
		got := sameRun(t, f, opt, nil, 1+int(seed%3))
		if seed%2 == 0 {
			sameRun(t, f, opt, planAll(f), 1)
		}
		if seed%8 == 1 {
			plan := somePlan(planAll(f), seed)
			plan.Flow = someFlow(everyTransfer(f), seed)
			sameRun(t, f, opt, plan, 1)
		}
		if t.Failed() {
			t.Fatalf("program %d", seed)
		}
		switch {
		case got.result.Signal == sigSEGV:
			faults++
		case opt.MaxInstructions != 0:
			cut++
		default:
			ended++
		}
	}
	if n := int(programs) / 20; faults < n || ended < n || cut < n {
		t.Errorf("%d programs fault, %d end, %d are stopped: the test does too little", faults, ended, cut)
	}
}

// TestNeighbourOfRegular: of two accesses off one register the first, of a byte, can just
// be checked for enough iterations ahead, and the second, of 8 bytes, cannot.
func TestNeighbourOfRegular(t *testing.T) {
	needJIT(t)
	for from := int32(0); from < pageBytes; from += 8 {
		var a asm
		a.set(regA0, testData+4*pageBytes)
		a.set(regA1, pageBytes)
		a.set(regA2, 0)
		a.call(226) // mprotect
		a.set(10, testData+from)
		a.set(20, 100)
		start := len(a.text)
		a.word(wordI(opcodeLoad, 0, 5, 10, 0), wordI(opcodeLoad, 3, 6, 10, 8))
		a.word(wordI(opcodeImm, 0, 10, 10, pageBytes/15), wordI(opcodeImm, 0, 20, 20, -1))
		a.word(wordB(1, 20, 0, int32(start-len(a.text))))
		a.finish(testData, 8)
		f := readFile(t, assemble(a.text, nil, 5*pageBytes))
		if got := sameRun(t, f, options{Request: engine.Request{Memory: minMemory}}, nil, 1); got.result.Signal != sigSEGV {
			t.Fatalf("from %d: no fault: %+v", from, got.result)
		}
	}
}
