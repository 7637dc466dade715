//go:build linux && amd64

package rv64

import (
	"unsafe"

	"presage/perf/engine/rv64/amd64asm"
)

// count emits the increment of a counter. It clobbers RAX and the flags.
func (e *emitter) count(n counter) {
	if n == 0 {
		return
	}
	emitCount(e.Code, n)
}

func emitCount(c *amd64asm.Code, n counter) {
	c.Ins(amd64asm.Mov, amd64asm.RAX, frame(unsafe.Offsetof(jitFrame{}.counts)))
	c.Imm(amd64asm.AddI, true, amd64asm.M(amd64asm.RAX, 8*int32(n-1)), 1)
}

// after returns the label of code that counts n and continues at l, or l itself
// if n is 0.
func (e *emitter) after(n counter, l amd64asm.Label) amd64asm.Label {
	if n == 0 {
		return l
	}
	s := e.NewLabel()
	e.cold = append(e.cold, func() {
		e.Bind(s)
		e.count(n)
		e.Jmp(l)
	})
	return s
}

// arrival returns the arena offset that indirect jumps to a translated block
// enter. ok is false if the arena is full.
func (j *jit) arrival(b *block) (at int, ok bool) {
	n := j.m.code.destination(b.pc)
	if n == 0 {
		return b.entry, true
	}
	if b.stub == 0 {
		c := &j.asm
		c.Reset(j.arena.used)
		emitCount(c, n)
		c.JmpAt(b.entry)
		if !j.arena.add(c.Bytes) {
			return 0, false
		}
		b.stub = c.Origin
	}
	return b.stub, true
}
