//go:build linux && amd64

package native

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"
)

// asm emits machine code into a part of a zone.
type asm struct {
	mem  []byte // as the engine sees it
	base uint64 // where the program has it
	p    int
}

func at(base int, disp int64) operand { return operand{base: int8(base), index: -1, disp: disp} }

// putWord stores a word that the program may read at any time.
func putWord(b []byte, v uint64) { atomic.StoreUint64((*uint64)(unsafe.Pointer(&b[0])), v) }

func (a *asm) addr() uint64 { return a.base + uint64(a.p) }

func (a *asm) room() int { return len(a.mem) - a.p }

func (a *asm) b(x ...byte) { a.p += copy(a.mem[a.p:], x) }

func (a *asm) u32(x uint32) {
	binary.LittleEndian.PutUint32(a.mem[a.p:], x)
	a.p += 4
}

func (a *asm) u64(x uint64) {
	binary.LittleEndian.PutUint64(a.mem[a.p:], x)
	a.p += 8
}

// state emits op reg, gs:[off]: 0x89 stores, 0x8b loads.
func (a *asm) state(op byte, reg, off int) {
	a.b(0x65, 0x48|byte(reg>>3)<<2, op, byte(reg&7)<<3|4, 0x25)
	a.u32(uint32(off))
}

func (a *asm) save(reg, off int) { a.state(0x89, reg, off) }

func (a *asm) load(reg, off int) { a.state(0x8b, reg, off) }

// memory emits a 64-bit op with a register and a memory operand.
func (a *asm) memory(op byte, reg int, m operand) {
	if m.narrow {
		a.b(0x67)
	}
	rex := byte(0x48) | byte(reg>>3)<<2
	if m.base >= 8 {
		rex |= 1
	}
	if m.index >= 8 {
		rex |= 2
	}
	a.b(rex, op)
	a.modrm(byte(reg&7), m)
}

// modrm emits the bytes that encode a memory operand.
func (a *asm) modrm(reg byte, m operand) {
	r, sib := reg<<3, m.scale<<6|4<<3
	if m.index >= 0 {
		sib = m.scale<<6 | byte(m.index&7)<<3
	}
	if m.base < 0 {
		a.b(r|4, sib|5)
		a.u32(uint32(m.disp))
		return
	}
	mod := byte(0x80)
	switch {
	case m.disp == 0 && m.base&7 != rbp:
		mod = 0
	case m.disp == int64(int8(m.disp)):
		mod = 0x40
	}
	base := byte(m.base & 7)
	if m.index < 0 && base != rsp {
		a.b(mod | r | base)
	} else {
		a.b(mod|r|4, sib|base)
	}
	switch mod {
	case 0x40:
		a.b(byte(m.disp))
	case 0x80:
		a.u32(uint32(m.disp))
	}
}

// store emits mov [base+disp], reg; store32 stores a constant in 64 bits, store8 in
// 8 bits.
func (a *asm) store(base int, disp int64, reg int) { a.memory(0x89, reg, at(base, disp)) }

func (a *asm) store32(base int, disp int64, v uint32) {
	a.memory(0xc7, 0, at(base, disp))
	a.u32(v)
}

func (a *asm) store8(base int, v byte) {
	if base >= 8 {
		a.b(0x41)
	} else if base >= 4 {
		a.b(0x40)
	}
	a.b(0xc6)
	a.modrm(0, at(base, 0))
	a.b(v)
}

// lea emits lea reg, m; add is reg += n without touching the flags.
func (a *asm) lea(reg int, m operand) { a.memory(0x8d, reg, m) }

func (a *asm) add(reg int, n int64) { a.lea(reg, at(reg, n)) }

// increase emits add reg, n for n below 2^31.
func (a *asm) increase(reg int, n uint32) {
	if n < 1<<7 {
		a.b(0x48|byte(reg>>3), 0x83, 0xc0|byte(reg&7), byte(n))
		return
	}
	a.b(0x48|byte(reg>>3), 0x81, 0xc0|byte(reg&7))
	a.u32(n)
}

// addTo emits reg += v without touching the flags. It may use the register by.
func (a *asm) addTo(reg, by int, v uint64) {
	if n := int64(v); n == int64(int32(n)) {
		a.add(reg, n)
		return
	}
	a.set64(by, v)
	a.lea(reg, operand{base: int8(reg), index: int8(by)})
}

// set emits reg = v.
func (a *asm) set(reg int, v uint64) {
	if v < 1<<32 {
		if reg >= 8 {
			a.b(0x41)
		}
		a.b(0xb8 | byte(reg&7))
		a.u32(uint32(v))
		return
	}
	a.set64(reg, v)
}

// set64 emits reg = v in ten bytes, whatever v.
func (a *asm) set64(reg int, v uint64) {
	a.b(0x48|byte(reg>>3), 0xb8|byte(reg&7))
	a.u64(v)
}

func (a *asm) jump(to uint64) {
	a.b(0xe9)
	a.u32(uint32(to - (a.addr() + 4)))
}

// set32 changes 32 bits that are emitted already.
func (a *asm) set32(at uint64, v uint32) { binary.LittleEndian.PutUint32(a.mem[at-a.base:], v) }

// align goes on to a multiple of n. Nothing may execute what lies before it.
func (a *asm) align(n uint64) {
	for a.addr()%n != 0 {
		a.b(0xcc)
	}
}

// fetchBytes is what processors of today fetch decoded instructions from at a time: an
// aligned piece of code.
const fetchBytes = 64

// fit goes on, by instructions that do nothing, to where n bytes lie in as few pieces as
// they can, from the beginning of one if need be: a loop of eight instructions took twice
// as long in two pieces as in one on an AMD EPYC (Zen 5).
func (a *asm) fit(n uint64) {
	into := a.addr() % fetchBytes
	if (into+n+fetchBytes-1)/fetchBytes == (n+fetchBytes-1)/fetchBytes {
		return
	}
	for left := fetchBytes - into; left > 0; {
		k := min(left, uint64(len(nops)))
		a.b(nops[k-1]...)
		left -= k
	}
}

// nops are the instructions that do nothing, by length (Intel 64 and IA-32 Architectures
// Software Developer's Manual, volume 2B, NOP, table 4-12).
var nops = [...][]byte{
	{0x90},
	{0x66, 0x90},
	{0x0f, 0x1f, 0x00},
	{0x0f, 0x1f, 0x40, 0x00},
	{0x0f, 0x1f, 0x44, 0x00, 0x00},
	{0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
	{0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},
	{0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
	{0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
}

// far emits a jump to any address.
func (a *asm) far(to uint64) {
	a.b(0xff, 0x25, 0, 0, 0, 0)
	a.u64(to)
}

// patch makes the 32-bit displacement at lead to to.
func (a *asm) patch(at, to uint64) {
	// In one access: another thread may be executing this jump.
	atomic.StoreUint32((*uint32)(unsafe.Pointer(&a.mem[at-a.base])), uint32(to-(at+4)))
}
