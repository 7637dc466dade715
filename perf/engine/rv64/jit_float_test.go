//go:build linux && amd64

package rv64

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// nearBounds returns numbers at which conversions change behaviour: near the
// bounds of integer types, halves, and integers not representable in binary64 or
// binary32; each as binary64, as boxed binary32 and as an integer.
func nearBounds(rng *rand.Rand) []uint64 {
	var v []uint64
	add := func(d float64) {
		s := math.Float32bits(float32(d))
		for step := range uint64(3) {
			v = append(v, math.Float64bits(d)+step-1, boxed|uint64(s+uint32(step)-1))
		}
		if math.Abs(d) < 0x1p63 {
			v = append(v, uint64(int64(d)), uint64(int64(d))-1)
		}
	}
	for _, e := range []int{-1, 0, 1, 7, 22, 23, 24, 25, 30, 31, 32, 33, 51, 52, 53, 54, 62, 63, 64, 65} {
		for _, frac := range []float64{0, 0.25, 0.5, 0.75, 1, 1.5} {
			d := math.Ldexp(1, e)
			add(d + frac)
			add(d - frac)
			add(-d + frac)
			add(-d - frac)
		}
	}
	for range 200 {
		d := math.Floor((rng.Float64()-0.5)*math.Ldexp(1, rng.IntN(66))) + 0.5
		add(d)
		v = append(v, rng.Uint64()>>rng.IntN(64), -(rng.Uint64() >> rng.IntN(64)))
	}
	return v
}

// floatLoops returns a program that runs each case, in each mode, in a loop over
// tuples of operands, and writes results and flags. The flags are cleared before
// each instruction and read after it, so that they are the ones it raised.
func floatLoops(cases []floatCase, tuples []byte) []byte {
	const pIn, pOut, pEnd = 20, 21, 22
	var a asm
	var n int
	out := int32(testData + len(tuples))
	a.set(pOut, out)
	for _, c := range cases {
		modes := []uint32{0, 1, 2, 3, 4, 7}
		if !c.rounds {
			modes = modes[:1]
		}
		for _, rm := range modes {
			n++
			word := c.word
			if c.rounds {
				word |= rm << 12
			}
			a.set(pIn, testData)
			a.set(pEnd, out)
			start := len(a.text)
			for i := range uint32(3) {
				a.word(wordI(opcodeFLoad, 3, tf+1+i, pIn, int32(8*i)))
			}
			a.word(wordI(opcodeLoad, 3, tf+1, pIn, 0), wordI(opcodeSystem, 1, 0, 0, csrFflags), word, wordI(opcodeSystem, 1, 5, 0, csrFflags))
			if c.toX {
				a.word(wordS(opcodeStore, 3, pOut, tf, 0))
			} else {
				a.word(wordS(opcodeFStore, 3, pOut, tf, 0))
			}
			a.word(wordS(opcodeStore, 3, pOut, 5, 8), wordI(opcodeImm, 0, pOut, pOut, 16), wordI(opcodeImm, 0, pIn, pIn, 24))
			a.word(wordB(1, pIn, pEnd, int32(start-len(a.text))))
		}
	}
	size := n * len(tuples) / 24 * 16
	a.finish(out, int32(size))
	return assemble(a.text, tuples, len(tuples)+size)
}

// TestJITFloat compares the result and flags of every floating-point instruction
// in every static mode with the interpreter's, and checks that translated code
// executes all of them except those that round to nearest, ties away from zero.
func TestJITFloat(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	needJIT(t)
	rng := rand.New(rand.NewPCG(3, 4))
	values := append(nearBounds(rng), floatOperands(rng)...)
	var tuples []byte
	pick := func() uint64 { return values[rng.IntN(len(values))] }
	for _, v := range values {
		for _, w := range []uint64{v, pick(), pick()} {
			tuples = binary.LittleEndian.AppendUint64(tuples, w)
		}
	}
	for c := range slices.Chunk(floatCases(), 8) {
		t.Run(c[0].name, func(t *testing.T) {
			t.Parallel()
			f := readFile(t, floatLoops(c, tuples))
			var outs []string
			for _, mode := range []Mode{Interpret, Translate} {
				out, r, err := runGuest(t, f, options{mode: mode, heat: 2})
				if err != nil {
					t.Fatal(err)
				}
				if mode == Translate && r.translated < r.Instructions*99/100 {
					t.Errorf("%d instructions, %d in translated blocks", r.Instructions, r.translated)
				}
				outs = append(outs, out)
			}
			bad := 0
			for i := 0; i < len(outs[0]) && bad < 10; i += 16 {
				if outs[0][i:i+16] != outs[1][i:i+16] {
					bad++
					k := i / 16 % (len(tuples) / 24) * 24
					t.Errorf("loop %d, operands %x: result and flags % x, interpreted % x", i/16/(len(tuples)/24), tuples[k:k+24], outs[1][i:i+16], outs[0][i:i+16])
				}
			}
		})
	}
	c := newCodeCache(nil, nil, 0)
	for _, f := range floatCases() {
		for rm := range uint32(5) {
			if !f.rounds && rm > 0 {
				break
			}
			word := f.word
			if f.rounds {
				word |= rm << 12
			}
			d, ok := c.decode(binary.LittleEndian.AppendUint32(nil, word))
			if !ok {
				t.Fatalf("%s is not decoded", f.name)
			}
			l := c.lower(d, 0)
			want := rm != rmNearestAway || f.toX || f.name == "fcvt.d.l" || f.name == "fcvt.d.w" || f.name == "fcvt.d.wu" || f.name == "fcvt.d.s"
			if got := translatable(&l.op); got != want {
				t.Errorf("%s, mode %d: translatable %v, want %v", f.name, rm, got, want)
			}
		}
	}
}

// TestJITFlags checks that flags raised before and after fflags is cleared are
// told apart, within a block, across blocks, and where interpreted cold code
// follows.
func TestJITFlags(t *testing.T) {
	needJIT(t)
	const inexact, invalid, divide = 1, 16, 8
	csr := func(f3, rd, rs1 uint32) uint32 { return wordI(opcodeSystem, f3, rd, rs1, csrFflags) }
	const fdivD = 0x0d<<25 | opcodeFP | 7<<12
	var a asm
	a.set(5, 1)
	a.set(6, 3)
	a.set(7, 0)
	for i := range uint32(3) {
		a.word(0x69<<25 | (5+i)<<15 | (5+i)<<7 | opcodeFP) // fcvt.d.w
	}
	a.set(20, testData)
	a.set(21, 40)
	top := len(a.text)
	a.word(fdivD|6<<20|5<<15|8<<7, csr(1, 10, 0)) // inexact; taken and cleared
	a.word(fdivD|7<<20|5<<15|8<<7, csr(2, 11, 0)) // division by zero
	a.word(fdivD|7<<20|7<<15|8<<7, csr(1, 12, 5)) // and invalid; replaced by inexact
	a.word(csr(7, 13, 1), csr(2, 14, 0))          // which is cleared
	a.word(fdivD|6<<20|5<<15|8<<7, wordB(0, 0, 0, 4), csr(3, 15, 0))
	for i := range uint32(6) {
		a.word(wordS(opcodeStore, 0, 20, 10+i, int32(i)))
	}
	a.word(csr(1, 0, 0), wordI(opcodeImm, 0, 20, 20, 6), wordI(opcodeImm, 0, 21, 21, -1))
	a.word(wordB(1, 21, 0, int32(top-len(a.text))))
	a.word(fdivD|6<<20|5<<15|8<<7, csr(2, 10, 0), wordS(opcodeStore, 0, 20, 10, 0))
	a.finish(testData, 241)
	want := []byte{inexact, divide, divide | invalid, inexact, 0, inexact}
	for name, mode := range modes(t) {
		out, _, err := runGuest(t, readFile(t, assemble(a.text, nil, pageBytes)), options{mode: mode, heat: 5})
		if err != nil || len(out) != 241 {
			t.Fatalf("%s: %d bytes: %v", name, len(out), err)
		}
		if out[240] != inexact {
			t.Errorf("%s: flags %#x at the end", name, out[240])
		}
		for i := 0; i < 240; i += 6 {
			if out[i:i+6] != string(want) {
				t.Errorf("%s, round %d: flags % x, want % x", name, i/6, out[i:i+6], want)
			}
		}
	}
}
