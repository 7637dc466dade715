package rv64

import (
	"encoding/binary"
	"math/big"
	"testing"
)

// number is an operand that can be read as various integer types.
type number uint64

func (n number) s() *big.Int   { return big.NewInt(int64(n)) }
func (n number) u() *big.Int   { return new(big.Int).SetUint64(uint64(n)) }
func (n number) s32() *big.Int { return big.NewInt(int64(int32(n))) }
func (n number) u32() *big.Int { return big.NewInt(int64(uint32(n))) }

// by6 and by5 return the operand's low 6 and 5 bits, as a shift amount.
func (n number) by6() uint { return uint(n) % 64 }
func (n number) by5() uint { return uint(n) % 32 }

// low returns an integer modulo 2^64; low32 returns it modulo 2^32, sign-extended.
func low(v *big.Int) uint64 {
	return new(big.Int).And(v, new(big.Int).SetUint64(^uint64(0))).Uint64()
}

func low32(v *big.Int) uint64 { return uint64(int64(int32(uint32(low(v))))) }

func truth(b bool) *big.Int { return new(big.Int).SetUint64(bit(b)) }

func newInt() *big.Int { return new(big.Int) }

func pow2(n uint) *big.Int { return newInt().Lsh(big.NewInt(1), n) }

// divide returns the M extension's quotient ("Integer Multiplication and
// Division", table 7.1): division by zero gives -1; overflow needs no special
// case, as the result wraps.
func divide(a, b *big.Int) *big.Int {
	if b.Sign() == 0 {
		return big.NewInt(-1)
	}
	return newInt().Quo(a, b)
}

func remainder(a, b *big.Int) *big.Int {
	if b.Sign() == 0 {
		return a
	}
	return newInt().Rem(a, b)
}

func least(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

func most(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return b
	}
	return a
}

func rotateLeft(v *big.Int, n, width uint) *big.Int {
	return newInt().Or(newInt().Lsh(v, n), newInt().Rsh(v, (width-n)%width))
}

// zerosAbove and zerosBelow count leading and trailing zero bits, onesIn the set
// bits.
func zerosAbove(v *big.Int, width int) *big.Int { return big.NewInt(int64(width - v.BitLen())) }

func zerosBelow(v *big.Int, width uint) *big.Int {
	n := uint(0)
	for n < width && v.Bit(int(n)) == 0 {
		n++
	}
	return big.NewInt(int64(n))
}

func onesIn(v *big.Int) *big.Int {
	n := int64(0)
	for i := range v.BitLen() {
		n += int64(v.Bit(i))
	}
	return big.NewInt(n)
}

// eachByte maps the eight bytes of an operand.
func eachByte(n number, f func(i int, b byte) (int, byte)) *big.Int {
	var out [8]byte
	for i := range out {
		j, b := f(i, byte(n>>(8*i)))
		out[j] = b
	}
	return newInt().SetUint64(binary.LittleEndian.Uint64(out[:]))
}

// integerCase is an instruction with the function that it computes, before the
// result is truncated to 64 bits, or to 32 bits and sign-extended.
type integerCase struct {
	name  string
	word  uint32 // of the R format, without registers
	f     func(a, b number) *big.Int
	short bool // of 32 bits
	unary bool // rs2 is part of the operation
	imm12 bool // rs2 and funct7 give way to the low 12 bits of b, sign-extended
	shamt uint // rs2 gives way to that many low bits of b
}

func r(opcode, funct3, funct7 uint32) uint32 { return wordR(opcode, funct3, funct7, 0, 0, 0) }

func baseCases() []integerCase {
	and := func(a, b number) *big.Int { return newInt().And(a.u(), b.u()) }
	or := func(a, b number) *big.Int { return newInt().Or(a.u(), b.u()) }
	xor := func(a, b number) *big.Int { return newInt().Xor(a.u(), b.u()) }
	add := func(a, b number) *big.Int { return newInt().Add(a.s(), b.s()) }
	slt := func(a, b number) *big.Int { return truth(a.s().Cmp(b.s()) < 0) }
	sltu := func(a, b number) *big.Int { return truth(a.u().Cmp(b.u()) < 0) }
	sll := func(a, b number) *big.Int { return newInt().Lsh(a.u(), b.by6()) }
	srl := func(a, b number) *big.Int { return newInt().Rsh(a.u(), b.by6()) }
	sra := func(a, b number) *big.Int { return newInt().Rsh(a.s(), b.by6()) }
	sllw := func(a, b number) *big.Int { return newInt().Lsh(a.u32(), b.by5()) }
	srlw := func(a, b number) *big.Int { return newInt().Rsh(a.u32(), b.by5()) }
	sraw := func(a, b number) *big.Int { return newInt().Rsh(a.s32(), b.by5()) }
	const x, i, xw, iw = opcodeReg, opcodeImm, opcodeReg32, opcodeImm32
	return []integerCase{
		{name: "add", word: r(x, 0, 0), f: add},
		{name: "sub", word: r(x, 0, 32), f: func(a, b number) *big.Int { return newInt().Sub(a.s(), b.s()) }},
		{name: "sll", word: r(x, 1, 0), f: sll},
		{name: "slt", word: r(x, 2, 0), f: slt},
		{name: "sltu", word: r(x, 3, 0), f: sltu},
		{name: "xor", word: r(x, 4, 0), f: xor},
		{name: "srl", word: r(x, 5, 0), f: srl},
		{name: "sra", word: r(x, 5, 32), f: sra},
		{name: "or", word: r(x, 6, 0), f: or},
		{name: "and", word: r(x, 7, 0), f: and},
		{name: "addw", word: r(xw, 0, 0), f: add, short: true},
		{name: "subw", word: r(xw, 0, 32), f: func(a, b number) *big.Int { return newInt().Sub(a.s(), b.s()) }, short: true},
		{name: "sllw", word: r(xw, 1, 0), f: sllw, short: true},
		{name: "srlw", word: r(xw, 5, 0), f: srlw, short: true},
		{name: "sraw", word: r(xw, 5, 32), f: sraw, short: true},
		{name: "addi", word: r(i, 0, 0), f: add, imm12: true},
		{name: "slti", word: r(i, 2, 0), f: slt, imm12: true},
		{name: "sltiu", word: r(i, 3, 0), f: sltu, imm12: true},
		{name: "xori", word: r(i, 4, 0), f: xor, imm12: true},
		{name: "ori", word: r(i, 6, 0), f: or, imm12: true},
		{name: "andi", word: r(i, 7, 0), f: and, imm12: true},
		{name: "addiw", word: r(iw, 0, 0), f: add, imm12: true, short: true},
		{name: "slli", word: r(i, 1, 0), f: sll, shamt: 6},
		{name: "srli", word: r(i, 5, 0), f: srl, shamt: 6},
		{name: "srai", word: r(i, 5, 32), f: sra, shamt: 6},
		{name: "slliw", word: r(iw, 1, 0), f: sllw, shamt: 5, short: true},
		{name: "srliw", word: r(iw, 5, 0), f: srlw, shamt: 5, short: true},
		{name: "sraiw", word: r(iw, 5, 32), f: sraw, shamt: 5, short: true},
	}
}

func multiplyCases() []integerCase {
	high := func(v *big.Int) *big.Int { return newInt().Rsh(v, 64) }
	const x, xw = opcodeReg, opcodeReg32
	return []integerCase{
		{name: "mul", word: r(x, 0, 1), f: func(a, b number) *big.Int { return newInt().Mul(a.s(), b.s()) }},
		{name: "mulh", word: r(x, 1, 1), f: func(a, b number) *big.Int { return high(newInt().Mul(a.s(), b.s())) }},
		{name: "mulhsu", word: r(x, 2, 1), f: func(a, b number) *big.Int { return high(newInt().Mul(a.s(), b.u())) }},
		{name: "mulhu", word: r(x, 3, 1), f: func(a, b number) *big.Int { return high(newInt().Mul(a.u(), b.u())) }},
		{name: "div", word: r(x, 4, 1), f: func(a, b number) *big.Int { return divide(a.s(), b.s()) }},
		{name: "divu", word: r(x, 5, 1), f: func(a, b number) *big.Int { return divide(a.u(), b.u()) }},
		{name: "rem", word: r(x, 6, 1), f: func(a, b number) *big.Int { return remainder(a.s(), b.s()) }},
		{name: "remu", word: r(x, 7, 1), f: func(a, b number) *big.Int { return remainder(a.u(), b.u()) }},
		{name: "mulw", word: r(xw, 0, 1), f: func(a, b number) *big.Int { return newInt().Mul(a.s(), b.s()) }, short: true},
		{name: "divw", word: r(xw, 4, 1), f: func(a, b number) *big.Int { return divide(a.s32(), b.s32()) }, short: true},
		{name: "divuw", word: r(xw, 5, 1), f: func(a, b number) *big.Int { return divide(a.u32(), b.u32()) }, short: true},
		{name: "remw", word: r(xw, 6, 1), f: func(a, b number) *big.Int { return remainder(a.s32(), b.s32()) }, short: true},
		{name: "remuw", word: r(xw, 7, 1), f: func(a, b number) *big.Int { return remainder(a.u32(), b.u32()) }, short: true},
	}
}

func bitCases() []integerCase {
	const x, i, xw, iw = opcodeReg, opcodeImm, opcodeReg32, opcodeImm32
	shiftAdd := func(n uint) func(a, b number) *big.Int {
		return func(a, b number) *big.Int { return newInt().Add(newInt().Lsh(a.u(), n), b.u()) }
	}
	shiftAddUw := func(n uint) func(a, b number) *big.Int {
		return func(a, b number) *big.Int { return newInt().Add(newInt().Lsh(a.u32(), n), b.u()) }
	}
	rol := func(a, b number) *big.Int { return rotateLeft(a.u(), b.by6(), 64) }
	ror := func(a, b number) *big.Int { return rotateLeft(a.u(), (64-b.by6())%64, 64) }
	rorw := func(a, b number) *big.Int { return rotateLeft(a.u32(), (32-b.by5())%32, 32) }
	clear := func(a, b number) *big.Int { return newInt().AndNot(a.u(), pow2(b.by6())) }
	extract := func(a, b number) *big.Int { return big.NewInt(int64(a.u().Bit(int(b.by6())))) }
	invert := func(a, b number) *big.Int { return newInt().Xor(a.u(), pow2(b.by6())) }
	set := func(a, b number) *big.Int { return newInt().Or(a.u(), pow2(b.by6())) }
	not := func(v *big.Int) *big.Int { return newInt().Sub(newInt().Sub(pow2(64), big.NewInt(1)), v) }
	unary := func(name string, opcode, funct3, imm uint32, short bool, f func(a number) *big.Int) integerCase {
		return integerCase{name: name, word: r(opcode, funct3, imm>>5) | imm&31<<20, unary: true, short: short, f: func(a, _ number) *big.Int { return f(a) }}
	}
	return []integerCase{
		{name: "sh1add", word: r(x, 2, 16), f: shiftAdd(1)},
		{name: "sh2add", word: r(x, 4, 16), f: shiftAdd(2)},
		{name: "sh3add", word: r(x, 6, 16), f: shiftAdd(3)},
		{name: "add.uw", word: r(xw, 0, 4), f: shiftAddUw(0)},
		{name: "sh1add.uw", word: r(xw, 2, 16), f: shiftAddUw(1)},
		{name: "sh2add.uw", word: r(xw, 4, 16), f: shiftAddUw(2)},
		{name: "sh3add.uw", word: r(xw, 6, 16), f: shiftAddUw(3)},
		{name: "slli.uw", word: r(iw, 1, 4), shamt: 6, f: func(a, b number) *big.Int { return newInt().Lsh(a.u32(), b.by6()) }},
		{name: "andn", word: r(x, 7, 32), f: func(a, b number) *big.Int { return newInt().AndNot(a.u(), b.u()) }},
		{name: "orn", word: r(x, 6, 32), f: func(a, b number) *big.Int { return newInt().Or(a.u(), not(b.u())) }},
		{name: "xnor", word: r(x, 4, 32), f: func(a, b number) *big.Int { return not(newInt().Xor(a.u(), b.u())) }},
		{name: "min", word: r(x, 4, 5), f: func(a, b number) *big.Int { return least(a.s(), b.s()) }},
		{name: "minu", word: r(x, 5, 5), f: func(a, b number) *big.Int { return least(a.u(), b.u()) }},
		{name: "max", word: r(x, 6, 5), f: func(a, b number) *big.Int { return most(a.s(), b.s()) }},
		{name: "maxu", word: r(x, 7, 5), f: func(a, b number) *big.Int { return most(a.u(), b.u()) }},
		{name: "rol", word: r(x, 1, 48), f: rol},
		{name: "ror", word: r(x, 5, 48), f: ror},
		{name: "rolw", word: r(xw, 1, 48), short: true, f: func(a, b number) *big.Int { return rotateLeft(a.u32(), b.by5(), 32) }},
		{name: "rorw", word: r(xw, 5, 48), short: true, f: rorw},
		{name: "rori", word: r(i, 5, 48), shamt: 6, f: ror},
		{name: "roriw", word: r(iw, 5, 48), shamt: 5, short: true, f: rorw},
		{name: "bclr", word: r(x, 1, 36), f: clear},
		{name: "bext", word: r(x, 5, 36), f: extract},
		{name: "binv", word: r(x, 1, 52), f: invert},
		{name: "bset", word: r(x, 1, 20), f: set},
		{name: "bclri", word: r(i, 1, 36), shamt: 6, f: clear},
		{name: "bexti", word: r(i, 5, 36), shamt: 6, f: extract},
		{name: "binvi", word: r(i, 1, 52), shamt: 6, f: invert},
		{name: "bseti", word: r(i, 1, 20), shamt: 6, f: set},
		{name: "czero.eqz", word: r(x, 5, 7), f: func(a, b number) *big.Int { return newInt().Mul(a.u(), truth(b != 0)) }},
		{name: "czero.nez", word: r(x, 7, 7), f: func(a, b number) *big.Int { return newInt().Mul(a.u(), truth(b == 0)) }},
		unary("clz", i, 1, 0x600, false, func(a number) *big.Int { return zerosAbove(a.u(), 64) }),
		unary("ctz", i, 1, 0x601, false, func(a number) *big.Int { return zerosBelow(a.u(), 64) }),
		unary("cpop", i, 1, 0x602, false, func(a number) *big.Int { return onesIn(a.u()) }),
		unary("clzw", iw, 1, 0x600, true, func(a number) *big.Int { return zerosAbove(a.u32(), 32) }),
		unary("ctzw", iw, 1, 0x601, true, func(a number) *big.Int { return zerosBelow(a.u32(), 32) }),
		unary("cpopw", iw, 1, 0x602, true, func(a number) *big.Int { return onesIn(a.u32()) }),
		unary("sext.b", i, 1, 0x604, false, func(a number) *big.Int { return big.NewInt(int64(int8(a))) }),
		unary("sext.h", i, 1, 0x605, false, func(a number) *big.Int { return big.NewInt(int64(int16(a))) }),
		unary("zext.h", xw, 4, 0x080, false, func(a number) *big.Int { return big.NewInt(int64(uint16(a))) }),
		unary("orc.b", i, 5, 0x287, false, func(a number) *big.Int {
			return eachByte(a, func(i int, b byte) (int, byte) { return i, byte(-bit(b != 0)) })
		}),
		unary("rev8", i, 5, 0x6b8, false, func(a number) *big.Int {
			return eachByte(a, func(i int, b byte) (int, byte) { return 7 - i, b })
		}),
	}
}

// cornerNumbers returns the bounds of all integer widths, their neighbours, and
// bit patterns.
func cornerNumbers() []uint64 {
	v := []uint64{0x0123456789abcdef, 0xfedcba9876543210, 0x5555555555555555, 0x00ff00ff00ff00ff, 0x8000000080000000, 0x7fffffff80000001, 10, 31, 32, 33, 63, 64, 65, 0x7ff, 0x800}
	for _, n := range []uint{0, 1, 7, 8, 11, 15, 16, 31, 32, 52, 63} {
		p := uint64(1) << n
		v = append(v, p-1, p, p+1, -p, -p-1, -p+1)
	}
	return v
}

// TestIntegerAgainstBig runs every integer instruction on all pairs of corner
// numbers, in self-checking programs like the official tests: each result is
// compared with math/big's; the program exits with 0, or stops with a breakpoint
// at the first case that differs.
func TestIntegerAgainstBig(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	numbers := cornerNumbers()
	for _, c := range append(append(baseCases(), multiplyCases()...), bitCases()...) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newSelfCheck()
			for _, a := range numbers {
				for _, b := range numbers {
					p.check(c, a, b)
				}
				if c.unary {
					continue
				}
				p.check(c, a, a)
			}
			p.run(t, c.name)
		})
	}
}

// selfCheck is a self-checking program, with the table of its operands and
// expected results as data.
type selfCheck struct {
	asm
	data  []byte
	cases [][2]uint64
}

const (
	checkTable = 20 // register that walks over the table
	checkCase  = 21 // number of the case
)

func newSelfCheck() *selfCheck {
	p := new(selfCheck)
	p.set(checkTable, testData)
	p.set(checkCase, 0)
	return p
}

// check adds a case. Registers change from case to case.
func (p *selfCheck) check(c integerCase, a, b uint64) {
	n := uint32(len(p.cases))
	ra, rb, rd := 5+n%3, 8+n%5, 13+n%4
	if n%7 == 0 {
		rd = ra // in place
	}
	word := c.word | ra<<15 | rd<<7
	operand := number(b)
	switch {
	case c.imm12:
		operand = number(int64(int16(b)<<4) >> 4)
		word |= uint32(operand) & 0xfff << 20
	case c.shamt > 0:
		operand &= 1<<c.shamt - 1
		word |= uint32(operand) << 20
	case !c.unary && a == b && n%2 == 1:
		word |= ra << 20
	case !c.unary:
		word |= rb << 20
	}
	want := low(c.f(number(a), operand))
	if c.short {
		want = low32(c.f(number(a), operand))
	}
	p.word(
		wordI(opcodeLoad, 3, ra, checkTable, 0), wordI(opcodeLoad, 3, rb, checkTable, 8),
		word,
		wordI(opcodeLoad, 3, 17, checkTable, 16), wordI(opcodeImm, 0, checkTable, checkTable, 24),
		wordI(opcodeImm, 0, checkCase, checkCase, 1),
		wordB(0, rd, 17, 12), // beq over the end
		wordI(opcodeImm, 0, 18, rd, 0), wordI(opcodeSystem, 0, 0, 0, 1))
	for _, v := range []uint64{a, b, want} {
		p.data = binary.LittleEndian.AppendUint64(p.data, v)
	}
	p.cases = append(p.cases, [2]uint64{a, uint64(operand)})
}

func (p *selfCheck) run(t *testing.T, what string) {
	t.Helper()
	p.set(regA0, 0)
	p.call(93)
	m, err := newMachine(readFile(t, assemble(p.text, p.data, len(p.data))), options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	th := m.threads[0]
	if err := m.run(t.Context()); err != nil || m.exitCode != 0 {
		i := th.x[checkCase] - 1
		t.Fatalf("%s, case %d: of %#x and %#x, got %#x, want %#x (%v)", what, i,
			p.cases[i][0], p.cases[i][1], th.x[18], th.x[17], err)
	}
	if n := th.x[checkCase]; n != uint64(len(p.cases)) {
		t.Errorf("%d of %d cases ran", n, len(p.cases))
	}
}
