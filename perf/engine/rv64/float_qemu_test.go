package rv64

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// floatCase is a floating-point instruction under test. The word has rd=f10 or
// a0, rs1=f11 or a1, rs2=f12, rs3=f13 and rm=0.
type floatCase struct {
	name   string
	word   uint32
	toX    bool // the result is in a0
	fromX  bool // the operand is in a1
	rounds bool // has a rounding mode field
	three  bool
}

const (
	opcodeFP = 0x53
	tf       = 10 // rd
)

func fp(funct7, rs2, rm uint32) uint32 { return wordR(opcodeFP, rm, funct7, tf, tf+1, rs2) }

func floatCases() []floatCase {
	var c []floatCase
	for s, suffix := range []string{".s", ".d"} {
		f := uint32(s)
		for i, n := range []string{"fadd", "fsub", "fmul", "fdiv"} {
			c = append(c, floatCase{name: n + suffix, word: fp(uint32(i)<<2|f, 12, 0), rounds: true})
		}
		c = append(c, floatCase{name: "fsqrt" + suffix, word: fp(0x2c|f, 0, 0), rounds: true})
		for i, n := range []string{"fsgnj", "fsgnjn", "fsgnjx"} {
			c = append(c, floatCase{name: n + suffix, word: fp(0x10|f, 12, uint32(i))})
		}
		for i, n := range []string{"fmin", "fmax"} {
			c = append(c, floatCase{name: n + suffix, word: fp(0x14|f, 12, uint32(i))})
		}
		for i, n := range []string{"fle", "flt", "feq"} {
			c = append(c, floatCase{name: n + suffix, word: fp(0x50|f, 12, uint32(i)), toX: true})
		}
		c = append(c,
			floatCase{name: "fclass" + suffix, word: fp(0x70|f, 0, 1), toX: true},
			floatCase{name: "fmv.x" + suffix, word: fp(0x70|f, 0, 0), toX: true},
			floatCase{name: "fmv" + suffix + ".x", word: fp(0x78|f, 0, 0), fromX: true})
		for i, n := range []string{"w", "wu", "l", "lu"} {
			c = append(c,
				floatCase{name: "fcvt." + n + suffix, word: fp(0x60|f, uint32(i), 0), toX: true, rounds: true},
				floatCase{name: "fcvt" + suffix + "." + n, word: fp(0x68|f, uint32(i), 0), fromX: true, rounds: true})
		}
		for i, n := range []string{"fmadd", "fmsub", "fnmsub", "fnmadd"} {
			word := wordR(uint32(0x43+4*i), 0, 13<<2|f, tf, tf+1, tf+2)
			c = append(c, floatCase{name: n + suffix, word: word, rounds: true, three: true})
		}
	}
	return append(c,
		floatCase{name: "fcvt.s.d", word: fp(0x20, 1, 0), rounds: true},
		floatCase{name: "fcvt.d.s", word: fp(0x21, 0, 0), rounds: true})
}

// floatOperands returns register contents: corner cases of binary64 and of boxed
// binary32, values that are not boxed, and integers near conversion bounds.
func floatOperands(rng *rand.Rand) []uint64 {
	doubles := []float64{
		0, math.Copysign(0, -1), 1, -1, 1.5, -2.5, 0.5, 3, 1.0 / 3, 2.5, -0.5, -1.5,
		math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64,
		math.Inf(1), math.Inf(-1), 0x1p-1022, -0x1p-1022, 0x1.fffffffffffffp-1023, 0x1p-1021,
		0x1p52, 0x1p52 + 0.5, 0x1p53 + 2, 0x1p63, -0x1p63, 0x1p64, 0x1p31, -0x1p31, 0x1p31 - 0.5, 0x1p32 - 0.5, -0.75, -0x1p31 - 1,
		0x1p-126, 0x1p-149, 0x1p-150, 0x1.8p-150, 0x1p127, 0x1.fffffep127, 0x1.ffffffp127, 0x1p128, 0x1.000001p0, 0x1.000003p0, 0x1.fffffep-127,
		1 + 0x1p-52, 1 - 0x1p-53, 0x1p-600, 0x1p600, math.Pi, 1e-300, 1e300, 1e22, 123456.789,
	}
	var v []uint64
	for _, d := range doubles {
		v = append(v, math.Float64bits(d), boxed|uint64(math.Float32bits(float32(d))))
	}
	v = append(v,
		0x7ff8000000000000, 0xfff8000000000000, 0x7ff0000000000001, 0xfff4000000000000, 0x7fffffffffffffff,
		boxed|0x7fc00000, boxed|0xffc00000, boxed|0x7f800001, boxed|0xffa00000, boxed|0x7fffffff,
		boxed|0x00000001, boxed|0x807fffff, boxed|0x00800000, boxed|0x00800001,
		0x000000003f800000, 0xfffffffe3f800000, 0x7fffffff3f800000, // not boxed
		1<<63-1, 1<<53+1, 1<<24+1, 1<<31-1, 1<<32-1, uint64(1)<<63-512, uint64(1)<<63+1024)
	for range 20 {
		v = append(v, rng.Uint64(), boxed|uint64(rng.Uint32()))
		// Of moderate size, so that sums interact.
		v = append(v, math.Float64bits((rng.Float64()-0.5)*float64(int(1)<<rng.IntN(30))),
			boxed|uint64(math.Float32bits((rng.Float32()-0.5)*float32(int(1)<<rng.IntN(20)))))
	}
	return v
}

// TestFloatAgainstQemu runs every floating-point instruction on corner cases,
// in every rounding mode (static, and dynamic by fcsr), first with all flags clear
// and then with inexact raised (which takes the engine's fast path), and compares
// results and flags.
func TestFloatAgainstQemu(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	values := floatOperands(rng)
	var tuples [][3]uint64
	for _, a := range values {
		for range 8 {
			tuples = append(tuples, [3]uint64{a, values[rng.IntN(len(values))], values[rng.IntN(len(values))]})
		}
		neg := a ^ 1<<63
		tuples = append(tuples, [3]uint64{a, a, a}, [3]uint64{a, neg, a}, [3]uint64{a, math.Float64bits(1), neg},
			[3]uint64{a, boxed | 0x3f800000, a ^ 1<<31})
	}
	// Exact sums and products that nearly cancel, where a fused result differs.
	for range 200 {
		x, y := math.Float64bits(1+rng.Float64()), math.Float64bits(1+rng.Float64())
		p := math.Float64frombits(x) * math.Float64frombits(y)
		tuples = append(tuples, [3]uint64{x, y, math.Float64bits(-p)})
		s, u := math.Float32bits(1+rng.Float32()), math.Float32bits(1+rng.Float32())
		q := math.Float32frombits(s) * math.Float32frombits(u)
		tuples = append(tuples, [3]uint64{boxed | uint64(s), boxed | uint64(u), boxed | uint64(math.Float32bits(-q))})
	}
	for _, c := range floatCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			testFloatCase(t, c, tuples)
		})
	}
}

// setting is the state in which an instruction is tested.
type setting struct{ static, frm, flags uint32 }

func (s setting) String() string {
	return fmt.Sprintf("rm=%d frm=%d fflags=%#x", s.static, s.frm, s.flags)
}

func testFloatCase(t *testing.T, c floatCase, tuples [][3]uint64) {
	var settings []setting
	for _, flags := range []uint32{0, 1} {
		if !c.rounds {
			settings = append(settings, setting{0, 0, flags})
			continue
		}
		for mode := range uint32(5) {
			settings = append(settings, setting{mode, 0, flags}, setting{7, mode, flags})
		}
		settings = append(settings, setting{0, 3, flags})
	}
	var data []byte
	for _, v := range tuples {
		for _, w := range v {
			data = binary.LittleEndian.AppendUint64(data, w)
		}
	}
	outSize := len(settings) * len(tuples) * 16
	out := int32(testData + len(data))
	const pIn, pOut, pEnd, tmp = 20, 21, 22, 23
	var a asm
	a.set(pOut, out)
	for _, s := range settings {
		a.set(pIn, testData)
		a.set(pEnd, out)
		a.set(tmp, int32(s.frm<<5|s.flags))
		start := len(a.text)
		for i := range uint32(3) {
			a.word(wordI(opcodeFLoad, 3, tf+1+i, pIn, int32(8*i)))
		}
		a.word(wordI(opcodeLoad, 3, tf+1, pIn, 0)) // the integer operand
		a.word(wordI(opcodeSystem, 1, 0, tmp, csrFcsr))
		// A block of its own, which the translator executes; it leaves CSR
		// accesses to the interpreter.
		a.word(wordJ(0, 4))
		word := c.word
		if c.rounds {
			word |= s.static << 12
		}
		a.word(word)
		a.word(wordI(opcodeSystem, 2, 5, 0, csrFflags))
		if c.toX {
			a.word(wordS(opcodeStore, 3, pOut, tf, 0))
		} else {
			a.word(wordS(opcodeFStore, 3, pOut, tf, 0))
		}
		a.word(wordS(opcodeStore, 3, pOut, 5, 8))
		a.word(wordI(opcodeImm, 0, pOut, pOut, 16), wordI(opcodeImm, 0, pIn, pIn, 24))
		a.word(wordB(1, pIn, pEnd, int32(start-len(a.text))))
	}
	a.finish(out, int32(outSize))
	want, got := both(t, assemble(a.text, data, len(data)+outSize))
	if len(want) != outSize || len(got) != outSize {
		t.Fatalf("output: qemu %d bytes, engine %d, want %d", len(want), len(got), outSize)
	}
	bad := 0
	for i := 0; i < outSize; i += 16 {
		if want[i:i+16] == got[i:i+16] {
			continue
		}
		if bad++; bad <= 5 {
			n := i / 16
			le := binary.LittleEndian
			t.Errorf("%v %x: result %#x fflags %#x, qemu has %#x %#x", settings[n/len(tuples)], tuples[n%len(tuples)],
				le.Uint64([]byte(got[i:])), got[i+8], le.Uint64([]byte(want[i:])), want[i+8])
		}
	}
	if bad > 5 {
		t.Errorf("%d of %d differ", bad, outSize/16)
	}
}
