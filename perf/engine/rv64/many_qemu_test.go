package rv64

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"presage/perf/engine"
	"presage/perf/internal/oracle"
	"presage/perf/trace"
)

var (
	manyPrograms = flag.Int("programs", 4_000, "random programs that TestManyRandomPrograms runs")
	manySeed     = flag.Uint64("seed", 1, "seed of its first batch")
)

// Many random programs share an executable, as starting qemu takes longer than a
// program runs. Each begins with registers from a pool of random values, goes through
// its loop a few times, and leaves its registers, fcsr and now and then a sum of its
// memory in a record of its own. The buffer is as the one before left it.
const (
	batchPrograms = 250
	batchPool     = testData                           // of initial values
	batchBuffer   = testData + 0x2000                  // of loads and stores
	batchRecords  = testData + 0x4000                  // of results
	recordWords   = 32 + 32 + 2                        // x0 to x30 and the link, f0 to f31, fcsr, sum
	recordBytes   = 8 * recordWords                    // within an immediate
	batchSize     = 0x4000 + batchPrograms*recordBytes // of the data segment
)

// batch generates random programs that stand one behind the other.
type batch struct {
	randomProgram
	load, store, sum int // where the routines begin
}

// routines emits what loads all registers from x30, what stores them at x31, and what
// stores a sum of the buffer there. They return through the other one.
func (b *batch) routines() {
	b.load = len(b.text)
	for i := range uint32(32) {
		b.word(wordI(opcodeFLoad, 3, i, regBuffer, int32(256+8*i)))
	}
	for i := range uint32(30) {
		b.word(wordI(opcodeLoad, 3, i, regBuffer, int32(8*i)))
	}
	b.word(wordI(opcodeJALR, 0, 0, regBase, 0))
	b.store = len(b.text)
	for i := range uint32(31) {
		b.word(wordS(opcodeStore, 3, regBase, i, int32(8*i)))
	}
	for i := range uint32(32) {
		b.word(wordS(opcodeFStore, 3, regBase, i, int32(256+8*i)))
	}
	b.word(wordI(opcodeSystem, 2, 5, 0, csrFcsr), wordS(opcodeStore, 3, regBase, 5, 512))
	b.word(wordI(opcodeJALR, 0, 0, regBuffer, 0))
	b.sum = len(b.text)
	// The sum weighs each word of the buffer by its place: s = 31s + word.
	b.set(5, batchBuffer+0x800)
	b.set(6, batchBuffer+0x1808)
	b.set(7, 0)
	b.set(9, 31)
	b.word(wordI(opcodeLoad, 3, 8, 5, 0), wordR(opcodeReg, 0, 1, 7, 7, 9), wordR(opcodeReg, 0, 0, 7, 7, 8),
		wordI(opcodeImm, 0, 5, 5, 8), wordB(6, 5, 6, -16))
	b.word(wordS(opcodeStore, 3, regBase, 7, 520))
	b.word(wordI(opcodeJALR, 0, 0, regBuffer, 0))
}

// program emits the random program of a place in the batch.
func (b *batch) program(place int) {
	call := func(link uint32, to int) { b.word(wordJ(link, int32(to-len(b.text)))) }
	b.set(regBuffer, batchPool+8*int32(b.rng.IntN(256)))
	call(regBase, b.load)
	b.set(regBuffer, batchBuffer+0x1000)
	b.word(wordI(opcodeSystem, 5, 0, uint32(b.rng.IntN(2)), csrFcsr)) // with inexact raised, or without
	b.word(wordI(opcodeImm, 0, regBase, 0, int32(1+b.rng.IntN(6))))   // rounds
	start := len(b.text)
	if b.rng.IntN(2) == 0 { // where translated code runs: nearest even
		b.word(wordI(opcodeSystem, 5, 0, 0, csrFrm))
	}
	for range 1 + b.rng.IntN(40) {
		b.instruction()
	}
	b.word(wordI(opcodeImm, 0, regBase, regBase, -1))
	if b.rng.IntN(2) == 0 { // one block branches to itself, unless there are branches inside
		b.word(wordB(1, regBase, 0, int32(start-len(b.text))))
	} else {
		b.word(wordB(0, regBase, 0, 8))
		b.word(wordJ(0, int32(start-len(b.text))))
	}
	b.word(wordI(opcodeSystem, 5, 0, 0, csrFrm))
	b.set(regBase, int32(batchRecords+place*recordBytes))
	call(regBuffer, b.store)
	if place%sumEvery == 0 {
		call(regBuffer, b.sum)
	}
}

// sumEvery is how many programs there are to a sum of the buffer, which takes longer
// than a program: what one leaves in memory, the next ones load.
const sumEvery = 8

func batchImage(seed uint64, programs int) []byte {
	b := &batch{randomProgram: randomProgram{rng: rand.New(rand.NewPCG(seed, 31)), qemu: true}}
	data := make([]byte, batchRecords-testData)
	values := floatOperands(b.rng)
	for i := 0; i < len(data); i += 8 {
		v := b.rng.Uint64()
		switch b.rng.IntN(3) {
		case 0:
			v = values[b.rng.IntN(len(values))]
		case 1:
			v = uint64(int64(b.rng.IntN(64)) - 32)
		}
		binary.LittleEndian.PutUint64(data[i:], v)
	}
	skip := len(b.text)
	b.word(0)
	b.routines()
	binary.LittleEndian.PutUint32(b.text[skip:], wordJ(0, int32(len(b.text)-skip)))
	for i := range programs {
		b.program(i)
	}
	b.finish(batchRecords, int32(programs*recordBytes))
	return assemble(b.text, data, batchSize)
}

// TestManyRandomPrograms compares all registers, fcsr and a sum of the memory after
// random programs: interpreted, translated and on qemu, each fourth batch traced.
// `make random` runs a million of them.
func TestManyRandomPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	oracle.Need(t, qemu)
	needJIT(t)
	batches := (*manyPrograms + batchPrograms - 1) / batchPrograms
	var executed, translated, next atomic.Uint64
	for part := range 2 {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "guest")
			for !t.Failed() {
				i := next.Add(1) - 1
				if i >= uint64(batches) {
					break
				}
				seed := *manySeed + i
				image := batchImage(seed, batchPrograms)
				f := readFile(t, image)
				var plan *trace.Plan
				if seed%4 == 0 {
					plan = planAll(f)
				}
				got := sameRun(t, f, options{Request: engine.Request{Memory: minMemory}}, plan, 1+int(seed%3))
				executed.Add(got.result.Instructions)
				translated.Add(got.translated)
				if err := os.WriteFile(path, image, 0o755); err != nil {
					t.Fatal(err)
				}
				want, status := runQemu(t, path)
				if status != 0 || len(want) != batchPrograms*recordBytes {
					t.Fatalf("batch %d: qemu ended with %d after %d bytes", seed, status, len(want))
				}
				compareBatch(t, seed, got.out, want)
				os.Remove(path) // a file that is still executed cannot be written
			}
		})
	}
	t.Cleanup(func() {
		t.Logf("%d programs, %d instructions, %d in translated blocks", batches*batchPrograms, executed.Load(), translated.Load())
		if !t.Failed() && translated.Load() < executed.Load()/3 {
			t.Error("too few of the instructions are in translated blocks")
		}
	})
}

// compareBatch reports the programs of a batch whose results differ.
func compareBatch(t *testing.T, seed uint64, got, want string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("batch %d: output of %d bytes, qemu %d", seed, len(got), len(want))
		return
	}
	for at := 0; at < len(want); at += 8 {
		if got[at:at+8] == want[at:at+8] {
			continue
		}
		word := at % recordBytes / 8
		name := fmt.Sprintf("x%d", word)
		switch {
		case word == 65:
			name = "the sum of memory"
		case word == 64:
			name = "fcsr"
		case word >= 32:
			name = fmt.Sprintf("f%d", word-32)
		}
		t.Errorf("-seed %d -programs 1, program %d: %s is %x, qemu has %x", seed, at/recordBytes, name, got[at:at+8], want[at:at+8])
	}
}
