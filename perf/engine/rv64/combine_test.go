package rv64

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"

	"presage/perf/engine"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// sequences generates the sequences that combine recognises, over few registers,
// so that their operands often coincide. Now and then an address is outside the
// address space, unmapped or read-only.
type sequences struct {
	asm
	rng *rand.Rand
}

const (
	sequenceInts   = 8 // x8 to x13
	sequenceFloats = 8 // f8 to f11
	sequenceSize   = 0x3000
)

func (p *sequences) x() uint32 { return sequenceInts + uint32(p.rng.IntN(6)) }
func (p *sequences) f() uint32 { return sequenceFloats + uint32(p.rng.IntN(4)) }

// offset returns a random offset, aligned or not, whose access may cross a page
// boundary or leave the data segment.
func (p *sequences) offset() int32 { return int32(p.rng.IntN(1024)) - 256 }

// pointers makes x8 a pointer and x9 an index.
func (p *sequences) pointers() {
	base := int32(testData + 0x800 + p.rng.IntN(0x1000))
	if p.rng.IntN(12) == 0 {
		base = []int32{-8, testText, testData - 0x100, testData + sequenceSize - 8, 0x40000000}[p.rng.IntN(5)]
	}
	p.set(8, base)
	p.word(wordI(opcodeImm, 0, 9, 0, int32(p.rng.IntN(64))))
}

// load emits a load through a pointer, of an integer or floating-point register.
func (p *sequences) load(base uint32) {
	if p.rng.IntN(3) == 0 {
		p.word(wordI(opcodeFLoad, 3, p.f(), base, p.offset()))
		return
	}
	p.word(wordI(opcodeLoad, 3, p.x(), base, p.offset()))
}

func (p *sequences) store(base uint32) {
	if p.rng.IntN(3) == 0 {
		p.word(wordS(opcodeFStore, 3, base, p.f(), p.offset()))
		return
	}
	p.word(wordS(opcodeStore, 3, base, p.x(), p.offset()))
}

// branch emits a conditional branch of any kind over one instruction.
func (p *sequences) branch(x, y uint32) {
	p.word(wordB([]uint32{0, 1, 4, 5, 6, 7}[p.rng.IntN(6)], x, y, 8), wordI(opcodeImm, 0, p.x(), p.x(), 1))
}

func (p *sequences) indexed(d uint32) {
	t := p.x()
	p.word(wordI(opcodeImm, 1, t, 9, int32(p.rng.IntN(4))), wordR(opcodeReg, 0, 0, d, t, 8))
}

func (p *sequences) one() {
	d := p.x()
	switch p.rng.IntN(14) {
	case 0:
		p.word(wordR(opcodeReg, 0, 0, d, 8, 9))
		p.load(d)
	case 1:
		p.word(wordR(opcodeReg, 0, 0, d, 8, 9))
		p.store([]uint32{d, d, 8}[p.rng.IntN(3)])
	case 2:
		p.indexed(d)
		p.store([]uint32{d, d, 8}[p.rng.IntN(3)])
	case 3:
		p.indexed(d)
		p.load(d)
		p.word(wordR(0x53, 7, 1, p.f(), p.f(), p.f())) // fadd.d
	case 4:
		p.indexed(d)
		p.load(d)
		p.branch(p.x(), p.x())
	case 5:
		p.word(uint32(testData)|d<<7|opcodeLUI, 0x00000013) // the nop keeps the pairs apart
		p.word(uint32(testData)|d<<7|opcodeLUI, wordI(opcodeLoad, 3, p.x(), d, p.offset()+256))
	case 6:
		p.load(8)
		p.load(8)
	case 7:
		p.store(8)
		p.store(8)
	case 8:
		opcode := []uint32{opcodeFMAdd, opcodeFMSub, opcodeFNMSub, opcodeFNMAdd}[p.rng.IntN(4)]
		r := p.f()
		p.word(wordR(opcode, 7, p.f()<<2|1, r, p.f(), p.f()), wordS(opcodeFStore, 3, 8, r, p.offset()))
	case 9:
		p.load(8)
		p.branch(p.x(), p.x())
	case 10:
		p.word(wordR(0x53, uint32(p.rng.IntN(3)), 0x51, d, p.f(), p.f())) // fle.d, flt.d, feq.d
		p.branch(d, 0)
	case 11:
		p.word(wordR(opcodeReg, 0, uint32(p.rng.IntN(2))*32, d, p.x(), p.x())) // add, sub
		p.branch(p.x(), p.x())
	case 12:
		p.word(wordI(opcodeImm, uint32(p.rng.IntN(2))*7, d, p.x(), int32(p.rng.IntN(5))-2)) // addi, mv, andi
		p.branch(p.x(), p.x())
	case 13:
		p.word(wordI(opcodeImm, 0, d, 0, int32(p.rng.IntN(64))))
		p.branch(d, p.x())
	}
}

func sequenceImage(seed uint64) []byte {
	p := &sequences{rng: rand.New(rand.NewPCG(seed, 5))}
	data := make([]byte, sequenceSize)
	odd := []float64{0, math.Copysign(0, -1), 1, -1, 1e-300, 3e300, 5e-324, math.Inf(1), math.NaN(), 0.1}
	for i := 0; i < len(data); i += 8 {
		v := p.rng.Uint64()
		switch p.rng.IntN(3) {
		case 0:
			v = math.Float64bits(odd[p.rng.IntN(len(odd))])
		case 1:
			v = uint64(int64(p.rng.IntN(8)) - 4)
		}
		binary.LittleEndian.PutUint64(data[i:], v)
	}
	if p.rng.IntN(2) == 0 {
		p.word(wordI(opcodeSystem, 5, 0, 1, csrFflags)) // inexact is already raised, so that the fast path is taken as in most programs
	}
	p.set(8, testData)
	for i := range uint32(4) {
		p.word(wordI(opcodeFLoad, 3, sequenceFloats+i, 8, int32(8*p.rng.IntN(64))))
	}
	for range 60 {
		p.pointers()
		p.one()
	}
	p.finish(testData, sequenceSize)
	return assemble(p.text, data, sequenceSize)
}

// ending is the observable state at the end of a run.
type ending struct {
	regs         [96]uint64
	flags        uint8
	data         [sha256.Size]byte
	pc           uint64
	instructions uint64
	accesses     uint64
	signal       int // of a fault, with its details
	faultPC      uint64
	addr, size   uint64
	access       string
}

func endOf(t *testing.T, f *objfile.File, plan *trace.Plan, mode Mode, single bool, codes *[256]int) (ending, *tape) {
	t.Helper()
	tp := &tape{t: t, capacity: maxBlock}
	opt := options{Request: engine.Request{MaxInstructions: 1e6}, mode: mode, heat: 1}
	if plan != nil {
		opt.Plan, opt.Sink = plan, tp
	}
	m, err := newMachine(f, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	if single {
		m.code.limit = 1
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	var fault *engine.Fault
	if err := m.run(context.Background()); err != nil && !errors.As(err, &fault) {
		t.Fatal(err)
	}
	m.flush(m.executed())
	th := m.current
	e := ending{flags: uint8(th.fflags), pc: th.pc, instructions: m.executed(), accesses: m.counted.Accesses}
	copy(e.regs[:], th.x[:])
	e.regs[regSink] = 0
	data, ok := m.mem.view(testData, sequenceSize, pageRead)
	if !ok {
		t.Fatal("no data segment")
	}
	e.data = sha256.Sum256(data)
	if fault != nil {
		e.signal, e.faultPC, e.addr, e.size, e.access = fault.Signal, fault.PC, fault.Addr, fault.Size, fault.Access
	}
	for _, b := range m.code.blocks {
		for _, o := range b.ops {
			codes[o.code]++
		}
	}
	return e, tp
}

// TestCombined runs programs made of the sequences that the interpreter combines,
// and compares the outcome with single-stepping and with translated code:
// registers, flags, memory, pc, counts, faults and records. Each is run without a
// plan, with everything planned, and with a partial plan.
func TestCombined(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	var codes, uncombined [256]int
	faults := 0
	for seed := range uint64(200) {
		f := readFile(t, sequenceImage(seed))
		all := planAll(f)
		some := &trace.Plan{}
		for i, r := range all.Refs {
			if i%3 != 0 {
				some.Refs = append(some.Refs, r)
			}
		}
		for name, plan := range map[string]*trace.Plan{"untraced": nil, "all": all, "refs": {Refs: all.Refs}, "some": some} {
			want, steps := endOf(t, f, plan, Interpret, true, &uncombined)
			if want.signal != 0 {
				faults++
			}
			for engineName, mode := range modes(t) {
				made := &codes
				if mode != Interpret {
					made = &uncombined
				}
				got, tp := endOf(t, f, plan, mode, false, made)
				if got != want {
					t.Fatalf("seed %d, %s, %s: ends with\n%+v, single steps with\n%+v", seed, name, engineName, got, want)
				}
				if !slices.Equal(tp.accesses, steps.accesses) || !slices.Equal(tp.blocks, steps.blocks) {
					t.Fatalf("seed %d, %s, %s: other records than single steps", seed, name, engineName)
				}
			}
		}
	}
	for c := opAddLd; c <= opFleDB; c++ {
		if codes[c] == 0 {
			t.Errorf("no program had op %d, the %dth of the combined ones", c, c-opAddLd+1)
		}
		if uncombined[c] != 0 {
			t.Errorf("op %d was made for single steps or a translator", c)
		}
	}
	if faults < 50 {
		t.Errorf("only %d runs ended in a fault", faults)
	}
}
