package rv64

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"presage/perf/engine"
)

// wanderingImage is a loop of loads and stores off a few registers, to which constants
// are added in between, and which wander over pages that may be written, only read, or
// neither, until an access faults or the rounds are over.
func wanderingImage(seed uint64) []byte {
	const pages = 6
	rng := rand.New(rand.NewPCG(seed, 11))
	bases := []uint32{10, 11, regSP, 28}
	var a asm
	protect := func(page, prot int32) {
		a.set(regA0, testData+page*pageBytes)
		a.set(regA1, pageBytes)
		a.set(regA2, prot)
		a.call(226)
	}
	for page := range int32(pages) {
		switch rng.IntN(4) {
		case 0:
			protect(page, 1) // read
		case 1:
			if rng.IntN(3) == 0 {
				protect(page, 0)
			}
		}
	}
	for _, b := range bases {
		a.set(b, testData+int32(rng.IntN(pages*pageBytes)))
	}
	a.set(20, 1+int32(rng.IntN(16))) // rounds
	start := len(a.text)
	for range 3 + rng.IntN(12) {
		b := bases[rng.IntN(len(bases))]
		imm := int32(rng.IntN(64)) * 8
		if rng.IntN(4) == 0 {
			imm = int32(rng.IntN(4096)) - 2048
		}
		switch rng.IntN(6) {
		case 0:
			a.word(wordS(opcodeStore, uint32(rng.IntN(4)), b, 12, imm))
		case 1:
			a.word(wordS(opcodeFStore, 3, b, 12, imm))
		case 2:
			a.word(wordI(opcodeFLoad, 3, 13, b, imm))
		case 3:
			a.word(wordI(opcodeImm, 0, b, b, int32(rng.IntN(512))-256))
		default:
			a.word(wordI(opcodeLoad, uint32(rng.IntN(7)), 12, b, imm))
		}
	}
	for _, b := range bases {
		a.word(wordI(opcodeImm, 0, b, b, int32(rng.IntN(1024))-512))
	}
	a.word(wordI(opcodeImm, 0, 20, 20, -1), wordB(0, 20, 0, 8))
	a.word(wordJ(0, int32(start-len(a.text))))
	a.finish(testData, 0)
	return assemble(a.text, nil, pages*pageBytes)
}

// TestAccessesCheckedTogether: accesses that one check is made for fault where they
// would one by one, and nothing is stored that would not be.
func TestAccessesCheckedTogether(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	needJIT(t)
	faults, ended := 0, 0
	for seed := range uint64(600) {
		f := readFile(t, wanderingImage(seed))
		got := sameRun(t, f, options{Request: engine.Request{Memory: minMemory}}, nil, 1+int(seed%3))
		if seed%3 == 0 {
			sameRun(t, f, options{Request: engine.Request{Memory: minMemory}}, planAll(f), 1)
		}
		if t.Failed() {
			t.Fatalf("program %d", seed)
		}
		if got.result.Signal == sigSEGV {
			faults++
		} else {
			ended++
		}
	}
	if faults < 100 || ended < 50 {
		t.Errorf("%d programs fault, %d end: the test does too little", faults, ended)
	}
}

// TestEndOfMemory makes accesses that are checked together reach beyond the address
// space, below address 0, and around its end.
func TestEndOfMemory(t *testing.T) {
	needJIT(t)
	for _, base := range []int64{minMemory - 16, minMemory - 8, minMemory, 0, 8, -8, -1024, minMemory - 1024, 1<<31 - 8} {
		for _, far := range []int32{8, 512, 1016, 1024} {
			t.Run(fmt.Sprintf("%#x+%d", base, far), func(t *testing.T) {
				var a asm
				a.set(20, 8)
				a.set(10, testData)
				a.set(11, int32(base))
				start := len(a.text)
				a.word(wordI(opcodeLoad, 3, 12, 10, 0), wordI(opcodeLoad, 3, 13, 10, far), wordS(opcodeStore, 3, 10, 12, 8))
				a.word(wordI(opcodeImm, 0, 20, 20, -1))
				a.word(wordI(opcodeImm, 3, 14, 20, 3)) // sltiu: the last rounds
				a.word(wordB(0, 14, 0, 8), wordI(opcodeImm, 0, 10, 11, 0))
				a.word(wordB(1, 20, 0, int32(start-len(a.text))))
				a.finish(testData, 0)
				got := sameRun(t, readFile(t, assemble(a.text, nil, 2*pageBytes)), options{Request: engine.Request{Memory: minMemory}}, nil, 1)
				if got.result.Signal != sigSEGV {
					t.Errorf("no fault: %+v", got.result)
				}
			})
		}
	}
}
