package amd64asm

// Integer instructions.
var (
	Add   = Op{code: 0x03, wide: true}
	Or    = Op{code: 0x0b, wide: true}
	And   = Op{code: 0x23, wide: true}
	Sub   = Op{code: 0x2b, wide: true}
	Xor   = Op{code: 0x33, wide: true}
	Cmp   = Op{code: 0x3b, wide: true}
	Test  = Op{code: 0x85, wide: true}
	Mov   = Op{code: 0x8b, wide: true}
	Lea   = Op{code: 0x8d, wide: true}
	IMul2 = Op{table: 1, code: 0xaf, wide: true}

	Add32  = Op{code: 0x03}
	Sub32  = Op{code: 0x2b}
	Xor32  = Op{code: 0x33}
	Test32 = Op{code: 0x85}
	Mov32  = Op{code: 0x8b}
	IMul32 = Op{table: 1, code: 0xaf}

	Movsxd   = Op{code: 0x63, wide: true}
	Movsx8   = Op{table: 1, code: 0xbe, wide: true, bytes: true}
	Movsx16  = Op{table: 1, code: 0xbf, wide: true}
	Movzx8   = Op{table: 1, code: 0xb6, bytes: true}
	Movzx16  = Op{table: 1, code: 0xb7}
	Store    = Op{code: 0x89, wide: true} // r/m, reg
	StoreD   = Op{code: 0x89}
	Store16  = Op{prefix: 0x66, code: 0x89}
	StoreB   = Op{code: 0x88, bytes: true}
	Lzcnt    = Op{prefix: 0xf3, table: 1, code: 0xbd, wide: true}
	Tzcnt    = Op{prefix: 0xf3, table: 1, code: 0xbc, wide: true}
	Popcnt   = Op{prefix: 0xf3, table: 1, code: 0xb8, wide: true}
	Lzcnt32  = Op{prefix: 0xf3, table: 1, code: 0xbd}
	Tzcnt32  = Op{prefix: 0xf3, table: 1, code: 0xbc}
	Popcnt32 = Op{prefix: 0xf3, table: 1, code: 0xb8}

	// The BT family with the bit number in a register: "r/m, reg".
	Bts = Op{table: 1, code: 0xab, wide: true}
	Btr = Op{table: 1, code: 0xb3, wide: true}
	Btc = Op{table: 1, code: 0xbb, wide: true}
)

// Scalar floating point, and pairs of integers, in vector registers.
var (
	MovdquStore = Op{prefix: 0xf3, table: 1, code: 0x7f} // m128, xmm
	Punpcklqdq  = Op{prefix: 0x66, table: 1, code: 0x6c}

	MovqTo    = Op{prefix: 0x66, table: 1, code: 0x6e, wide: true} // xmm, r64
	MovqFrom  = Op{prefix: 0x66, table: 1, code: 0x7e, wide: true} // r/m64, xmm
	MovdFrom  = Op{prefix: 0x66, table: 1, code: 0x7e}
	Movq      = Op{prefix: 0xf3, table: 1, code: 0x7e} // xmm, xmm/m64, upper half zero
	MovqStore = Op{prefix: 0x66, table: 1, code: 0xd6} // m64, xmm
	MovdTo    = Op{prefix: 0x66, table: 1, code: 0x6e}
	MovdStore = Op{prefix: 0x66, table: 1, code: 0x7e}
	Movaps    = Op{table: 1, code: 0x28}
	Andps     = Op{table: 1, code: 0x54}
	Andnps    = Op{table: 1, code: 0x55}
	Orps      = Op{table: 1, code: 0x56}
	Xorps     = Op{table: 1, code: 0x57}
	Paddq     = Op{prefix: 0x66, table: 1, code: 0xd4}
	Pcmpeqb   = Op{prefix: 0x66, table: 1, code: 0x74}

	Ucomisd  = Op{prefix: 0x66, table: 1, code: 0x2e}
	Comisd   = Op{prefix: 0x66, table: 1, code: 0x2f}
	Ucomiss  = Op{table: 1, code: 0x2e}
	Comiss   = Op{table: 1, code: 0x2f}
	Cvtsi2sd = Op{prefix: 0xf2, table: 1, code: 0x2a, wide: true}
	Cvtsi2ss = Op{prefix: 0xf3, table: 1, code: 0x2a, wide: true}

	Cvtsi2sd32 = Op{prefix: 0xf2, table: 1, code: 0x2a}
	Cvttsd2si  = Op{prefix: 0xf2, table: 1, code: 0x2c, wide: true}
	Cvtsd2si   = Op{prefix: 0xf2, table: 1, code: 0x2d, wide: true}
	Cvtss2sd   = Op{prefix: 0xf3, table: 1, code: 0x5a}
	Cvtsd2ss   = Op{prefix: 0xf2, table: 1, code: 0x5a}
)

// Arithmetic returns a scalar operation in binary64 or binary32.
func Arithmetic(code byte, single bool) Op {
	if single {
		return Op{prefix: 0xf3, table: 1, code: code}
	}
	return Op{prefix: 0xf2, table: 1, code: code}
}

// Arithmetic3 returns a scalar operation dst = v o r/m, which leaves its operands as
// they are.
func Arithmetic3(code byte, v Reg, single bool) Op {
	o := Arithmetic(code, single)
	o.vex, o.vexOp = true, v
	return o
}

// Opcodes for Arithmetic and Arithmetic3.
const (
	FSqrt = 0x51
	FAdd  = 0x58
	FMul  = 0x59
	FSub  = 0x5c
	FDiv  = 0x5e
)

// Opcodes for FMA: the 231 forms, dst = ±(v·r/m) ± dst.
const (
	FMAdd  = 0xb9
	FMSub  = 0xbb
	FNMAdd = 0xbd
	FNMSub = 0xbf
)

// FMA returns a scalar fused multiply-add with factors v and r/m.
func FMA(code byte, v Reg, single bool) Op {
	return Op{prefix: 0x66, table: 2, code: code, wide: !single, vex: true, vexOp: v}
}

// FMA213 returns the form of FMA that replaces a factor: dst = ±(v·dst) ± r/m.
func FMA213(code byte, v Reg, single bool) Op { return FMA(code-0x10, v, single) }

// ShiftX returns a shift of r/m by register n: shlx, shrx or sarx.
func ShiftX(g Group2, n Reg, wide bool) Op {
	prefix := map[Group2]byte{ShlI: 0x66, ShrI: 0xf2, SarI: 0xf3}[g]
	return Op{prefix: prefix, table: 2, code: 0xf7, wide: wide, vex: true, vexOp: n}
}

// Andn returns rd = ^v & r/m.
func Andn(v Reg) Op { return Op{table: 2, code: 0xf2, wide: true, vex: true, vexOp: v} }

// Bswap appends a byte reversal of a 64-bit register.
func (c *Code) Bswap(r Reg) { c.byte(0x48|byte(r>>3), 0x0f, 0xc8|byte(r&7)) }

// Align appends bytes up to a multiple of align.
func (c *Code) Align(align int) {
	for c.Here()%align != 0 {
		c.byte(0x90)
	}
}

// Word appends 8 bytes of data.
func (c *Code) Word(v uint64) {
	for i := range 8 {
		c.byte(byte(v >> (8 * i)))
	}
}

// Rounding is the immediate of RoundSD.
type Rounding byte

// The rounding modes of RoundSD. RoundQuiet, or-ed in, suppresses the inexact
// exception.
const (
	RoundNearest Rounding = 0
	RoundDown    Rounding = 1
	RoundUp      Rounding = 2
	RoundZero    Rounding = 3
	RoundQuiet   Rounding = 8
)

// RoundSD appends a rounding of the binary64 in rm to an integral value. rm must
// not be an operand made by At.
func (c *Code) RoundSD(x Reg, rm Operand, how Rounding) {
	c.Ins(Op{prefix: 0x66, table: 3, code: 0x0b}, x, rm)
	c.byte(byte(how))
}

// LoadMXCSR appends a load of MXCSR, the SSE control and status register.
func (c *Code) LoadMXCSR(rm Operand) { c.Ins(Op{table: 1, code: 0xae}, 2, rm) }

// StoreMXCSR appends a store of MXCSR, the SSE control and status register.
func (c *Code) StoreMXCSR(rm Operand) { c.Ins(Op{table: 1, code: 0xae}, 3, rm) }
