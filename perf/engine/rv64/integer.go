package rv64

import "math/bits"

// Multiplication and division as the "M" extension defines them: no traps; a zero
// divisor gives a quotient of all ones and the dividend as the remainder; dividing
// the most negative number by -1 gives the dividend and remainder 0.

func mulh(a, b uint64) uint64 {
	hi, _ := bits.Mul64(a, b)
	return hi - uint64(int64(a)>>63)&b - uint64(int64(b)>>63)&a
}

func mulhsu(a, b uint64) uint64 {
	hi, _ := bits.Mul64(a, b)
	return hi - uint64(int64(a)>>63)&b
}

// In Go, too, the most negative number divided by -1 gives that number and
// remainder 0, without a panic.

func div(a, b uint64) uint64 {
	if b == 0 {
		return ^uint64(0)
	}
	return uint64(int64(a) / int64(b))
}

func divu(a, b uint64) uint64 {
	if b == 0 {
		return ^uint64(0)
	}
	return a / b
}

func rem(a, b uint64) uint64 {
	if b == 0 {
		return a
	}
	return uint64(int64(a) % int64(b))
}

func remu(a, b uint64) uint64 {
	if b == 0 {
		return a
	}
	return a % b
}

func divw(a, b int32) uint64 {
	if b == 0 {
		return ^uint64(0)
	}
	return uint64(int64(a / b))
}

func divuw(a, b uint32) uint64 {
	if b == 0 {
		return ^uint64(0)
	}
	return uint64(int64(int32(a / b)))
}

func remw(a, b int32) uint64 {
	if b == 0 {
		return uint64(int64(a))
	}
	return uint64(int64(a % b))
}

func remuw(a, b uint32) uint64 {
	if b == 0 {
		return uint64(int64(int32(a)))
	}
	return uint64(int64(int32(a % b)))
}

// rare executes an integer op that compiled code seldom uses and returns the op.
// Keeping these out of line keeps the interpreter's loop small.
func (t *thread) rare(o *op) *op {
	r := &t.x
	switch o.code {
	case opMulh:
		r[o.rd] = mulh(r[o.rs1], r[o.rs2])
	case opMulhsu:
		r[o.rd] = mulhsu(r[o.rs1], r[o.rs2])
	case opMulhu:
		r[o.rd], _ = bits.Mul64(r[o.rs1], r[o.rs2])
	case opDiv:
		r[o.rd] = div(r[o.rs1], r[o.rs2])
	case opDivu:
		r[o.rd] = divu(r[o.rs1], r[o.rs2])
	case opRem:
		r[o.rd] = rem(r[o.rs1], r[o.rs2])
	case opRemu:
		r[o.rd] = remu(r[o.rs1], r[o.rs2])
	case opDivw:
		r[o.rd] = divw(int32(r[o.rs1]), int32(r[o.rs2]))
	case opDivuw:
		r[o.rd] = divuw(uint32(r[o.rs1]), uint32(r[o.rs2]))
	case opRemw:
		r[o.rd] = remw(int32(r[o.rs1]), int32(r[o.rs2]))
	case opRemuw:
		r[o.rd] = remuw(uint32(r[o.rs1]), uint32(r[o.rs2]))
	case opAndn:
		r[o.rd] = r[o.rs1] &^ r[o.rs2]
	case opOrn:
		r[o.rd] = r[o.rs1] | ^r[o.rs2]
	case opXnor:
		r[o.rd] = ^(r[o.rs1] ^ r[o.rs2])
	case opClz:
		r[o.rd] = uint64(bits.LeadingZeros64(r[o.rs1]))
	case opCtz:
		r[o.rd] = uint64(bits.TrailingZeros64(r[o.rs1]))
	case opCpop:
		r[o.rd] = uint64(bits.OnesCount64(r[o.rs1]))
	case opClzw:
		r[o.rd] = uint64(bits.LeadingZeros32(uint32(r[o.rs1])))
	case opCtzw:
		r[o.rd] = uint64(bits.TrailingZeros32(uint32(r[o.rs1])))
	case opCpopw:
		r[o.rd] = uint64(bits.OnesCount32(uint32(r[o.rs1])))
	case opRol:
		r[o.rd] = bits.RotateLeft64(r[o.rs1], int(r[o.rs2]&63))
	case opRolw:
		r[o.rd] = uint64(int64(int32(bits.RotateLeft32(uint32(r[o.rs1]), int(r[o.rs2]&31)))))
	case opRor:
		r[o.rd] = bits.RotateLeft64(r[o.rs1], -int(r[o.rs2]&63))
	case opRori:
		r[o.rd] = bits.RotateLeft64(r[o.rs1], -int(o.imm))
	case opRoriw:
		r[o.rd] = uint64(int64(int32(bits.RotateLeft32(uint32(r[o.rs1]), -int(o.imm)))))
	case opRorw:
		r[o.rd] = uint64(int64(int32(bits.RotateLeft32(uint32(r[o.rs1]), -int(r[o.rs2]&31)))))
	case opOrcB:
		r[o.rd] = orcB(r[o.rs1])
	case opRev8:
		r[o.rd] = bits.ReverseBytes64(r[o.rs1])
	case opMax:
		r[o.rd] = uint64(max(int64(r[o.rs1]), int64(r[o.rs2])))
	case opMaxu:
		r[o.rd] = max(r[o.rs1], r[o.rs2])
	case opMin:
		r[o.rd] = uint64(min(int64(r[o.rs1]), int64(r[o.rs2])))
	case opMinu:
		r[o.rd] = min(r[o.rs1], r[o.rs2])
	case opSlliUw:
		r[o.rd] = uint64(uint32(r[o.rs1])) << (uint32(o.imm) & 63)
	case opBclr:
		r[o.rd] = r[o.rs1] &^ (1 << (r[o.rs2] & 63))
	case opBclri:
		r[o.rd] = r[o.rs1] &^ (1 << (uint32(o.imm) & 63))
	case opBext:
		r[o.rd] = r[o.rs1] >> (r[o.rs2] & 63) & 1
	case opBexti:
		r[o.rd] = r[o.rs1] >> (uint32(o.imm) & 63) & 1
	case opBinv:
		r[o.rd] = r[o.rs1] ^ 1<<(r[o.rs2]&63)
	case opBinvi:
		r[o.rd] = r[o.rs1] ^ 1<<(uint32(o.imm)&63)
	case opBset:
		r[o.rd] = r[o.rs1] | 1<<(r[o.rs2]&63)
	case opBseti:
		r[o.rd] = r[o.rs1] | 1<<(uint32(o.imm)&63)
	case opCzeroEqz:
		r[o.rd] = r[o.rs1] * bit(r[o.rs2] != 0)
	case opCzeroNez:
		r[o.rd] = r[o.rs1] * bit(r[o.rs2] == 0)
	case opClmul:
		_, r[o.rd] = clmul(r[o.rs1], r[o.rs2])
	case opClmulh:
		r[o.rd], _ = clmul(r[o.rs1], r[o.rs2])
	case opClmulr:
		high, low := clmul(r[o.rs1], r[o.rs2])
		r[o.rd] = high<<1 | low>>63
	}
	return o
}

// clmul returns the product of a and b without carries, which has 127 bits.
func clmul(a, b uint64) (high, low uint64) {
	for i := range 64 {
		mask := -(b >> i & 1)
		low ^= a << i & mask
		high ^= a >> (64 - i) & mask
	}
	return high, low
}

// orcB sets every byte that is not zero to all ones.
func orcB(v uint64) uint64 {
	const low7 = 0x7f7f7f7f7f7f7f7f
	top := ((v & low7) + low7) | v // bit 7 of each byte: the byte is not zero
	ones := top >> 7 & 0x0101010101010101
	return ones * 0xff
}

func bit(c bool) uint64 {
	if c {
		return 1
	}
	return 0
}
