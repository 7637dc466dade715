//go:build linux && amd64

package rv64

import (
	"math"
	"math/bits"

	"presage/perf/engine/rv64/amd64asm"
	"presage/perf/engine/rv64/softfloat"
)

// RISC-V's arithmetic gives one NaN, the canonical one; the host's gives others.
// Which NaN a register holds makes no difference to arithmetic and comparisons, so
// that a result is made canonical only where it is seen: before its bits are stored
// or moved, at the end of its block, and where the interpreter takes over. Results are
// quiet NaNs, so tests of them raise no flag.

// pending is a set of pinned registers, f0 to f31, that hold the result of binary64
// arithmetic, which may be a NaN that is not canonical.
type pending uint32

func (p *pending) add(g uint8) { *p |= 1 << (g - regFloat) }

func (p *pending) remove(g uint8) {
	if g >= regFloat {
		*p &^= 1 << (g - regFloat)
	}
}

func (p pending) has(g uint8) bool { return g >= regFloat && p>>(g-regFloat)&1 != 0 }

// anyNaN reports whether an op does the same for any quiet NaN in its operands, but
// for the NaN that it results in.
func (o *op) anyNaN() bool {
	c := o.code
	if c == opRounded {
		c = code(o.imm)
	}
	return c >= opFaddD && c <= opFnmaddD || c >= opFeqD && c <= opFleD || c < opFaddD && c != opMv && (c < opSb || c > opSdT)
}

// settleReg makes a pending result canonical.
func (e *emitter) settleReg(g uint8) {
	if e.pending.has(g) {
		e.canonical(amd64asm.Reg(e.pins[g]), false)
		e.pending.remove(g)
	}
}

// settle makes all pending results canonical.
func (e *emitter) settle() {
	e.canonicalAll(e.pending)
	e.pending = 0
}

// canonicalAll makes the registers of a set canonical. One test is for two: a
// comparison is unordered if either is a NaN.
func (e *emitter) canonicalAll(p pending) {
	for p != 0 {
		x := e.takePinned(&p)
		if p == 0 {
			e.canonical(x, false)
			return
		}
		y := e.takePinned(&p)
		fix, done := e.NewLabel(), e.NewLabel()
		e.Ins(amd64asm.Ucomisd, x, amd64asm.R(y))
		e.Jcc(amd64asm.P, fix)
		e.Bind(done)
		e.cold = append(e.cold, func() {
			e.Bind(fix)
			for _, r := range []amd64asm.Reg{x, y} {
				number := e.NewLabel()
				e.Ins(amd64asm.Ucomisd, r, amd64asm.R(r))
				e.Jcc(amd64asm.NP, number)
				e.Ins(amd64asm.Movq, r, amd64asm.At(e.j.constants.nanD))
				e.Bind(number)
			}
			e.Jmp(done)
		})
	}
}

// takePinned removes the first register of a set and returns the host register that
// it is pinned to.
func (e *emitter) takePinned(p *pending) amd64asm.Reg {
	g := uint8(bits.TrailingZeros32(uint32(*p))) + regFloat
	p.remove(g)
	return amd64asm.Reg(e.pins[g])
}

// settle makes the registers of a set canonical after translated code left a block.
func (t *thread) settle(p pending) {
	for p != 0 {
		g := uint8(bits.TrailingZeros32(uint32(p))) + regFloat
		p.remove(g)
		if f := math.Float64frombits(t.x[g]); f != f {
			t.x[g] = softfloat.NaN64
		}
	}
}
