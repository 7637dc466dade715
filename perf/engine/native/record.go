//go:build linux && amd64

package native

import (
	"math/bits"

	"presage/perf/trace"
)

// recorder emits what records the references of a block.
type recorder struct {
	code    *asm
	b       *block
	numbers numbering
	known   map[family]seen
	words   int32
}

// planRefs returns the tags of an instruction's references, by operand: noTag for
// those that the plan does not list.
func (m *machine) planRefs(i *inst, b *block) (tags []trace.Access, any bool) {
	if len(i.refs) == 0 {
		return nil, false
	}
	tags = make([]trace.Access, len(i.refs))
	list, first := m.plan.refsAt(m.maps.planPC(i.pc))
	for k := range i.refs {
		tags[k] = noTag
		for n, r := range list {
			if int(r.Operand) == k && r.Size == i.refs[k].size {
				tags[k], any = trace.Tag(first+trace.RefID(n), r.Size), true
			}
		}
		if tags[k] == noTag {
			b.unplanned = append(b.unplanned, unplanned{m.maps.planPC(i.pc), uint8(k)})
		}
	}
	return tags, any
}

// unplanned is a reference that the plan does not list.
type unplanned struct {
	planPC  trace.PC
	operand uint8
}

// noTag marks a reference that the plan does not list. No tag has address bits.
const noTag = trace.Access(1)

// record emits the recording of an instruction's references before it, and
// returns what to emit after it: the words of registers that hold the end of a
// repetition.
func (r *recorder) record(i *inst, index int, tags []trace.Access) (after []int) {
	for k := range i.refs {
		if tags[k] == noTag {
			continue
		}
		f := &i.refs[k]
		p := planned{tag: tags[k], index: uint16(index), form: f.form, lanes: f.lanes, size: f.size, scale: f.scale, wide: !f.index32, fs: f.fs, slot: -1}
		switch {
		case f.form == single && f.absolute:
			p.slot, p.delta = 0, f.disp // less that word: see body
		case f.form == single && !f.narrow:
			p.slot, p.delta = r.shared(&f.operand)
		default:
			p.slot = r.address(&f.operand, f.form)
			after = r.extras(&p, f, len(r.b.refs), after)
		}
		r.b.refs = append(r.b.refs, p)
	}
	return after
}

// shared returns the word of an address, which others may share, and the distance
// from what is there.
func (r *recorder) shared(o *operand) (slot int32, delta int64) {
	f, d := r.numbers.family(o)
	s, ok := r.known[f]
	if !ok {
		s = seen{r.address(o, single), d}
		r.known[f] = s
	}
	return s.slot, d - s.offset
}

// address emits the recording of an address in a word of its own.
func (r *recorder) address(o *operand, f form) int32 {
	pos, scratch := int(r.b.regs.pos), int(r.b.regs.scratch)
	slot := r.words
	r.words++
	m := *o
	switch {
	case f == lookup:
		r.code.zeroExtendAL(scratch)
		m = operand{base: o.base, index: int8(scratch), disp: o.disp, narrow: o.narrow}
	case f == gathered || f == gatheredSigned:
		m.index = -1
	}
	if m.base >= 0 && m.index < 0 && m.disp == 0 && !m.narrow {
		r.code.store(pos, 8*int64(slot), int(m.base))
		return slot
	}
	r.code.lea(scratch, m)
	r.code.store(pos, 8*int64(slot), scratch)
	return slot
}

// extras emits the words that a reference needs besides an address.
func (r *recorder) extras(p *planned, f *ref, at int, after []int) []int {
	pos := int(r.b.regs.pos)
	word := func(n int32) int32 {
		w := r.words
		r.words += n
		return w
	}
	switch f.form {
	case repeated:
		p.more = word(1)
		return append(after, int(p.more), int(f.base))
	case bitString:
		p.more = word(1)
		r.code.store(pos, 8*int64(p.more), int(f.bit))
	case masked, compressed:
		p.more = word(1)
		r.code.storeMask(pos, 8*int64(p.more), int(f.mask))
	case gathered:
		p.more = word(1)
		r.code.storeMask(pos, 8*int64(p.more), int(f.mask))
		p.vector = word(8)
		r.code.storeVector(pos, 8*int64(p.vector), int(f.vector), 64)
	case gatheredSigned:
		p.more = word(4)
		r.code.storeVector(pos, 8*int64(p.more), int(f.mask), 32)
		p.vector = word(4)
		r.code.storeVector(pos, 8*int64(p.vector), int(f.vector), 32)
	case signed:
		p.more = word(4)
		r.code.storeVector(pos, 8*int64(p.more), int(f.mask), 32)
	}
	return after
}

// finish emits the words of registers after an instruction.
func (r *recorder) finish(after []int) {
	for k := 0; k < len(after); k += 2 {
		r.code.store(int(r.b.regs.pos), 8*int64(after[k]), after[k+1])
	}
}

// zeroExtendAL emits movzx reg, al.
func (a *asm) zeroExtendAL(reg int) { a.b(0x40|byte(reg>>3)<<2, 0x0f, 0xb6, 0xc0|byte(reg&7)<<3) }

// storeMask emits kmovq [base+disp], k.
func (a *asm) storeMask(base int, disp int64, k int) {
	a.b(0xc4, 0xe1&^(byte(base>>3)<<5), 0xf8, 0x91)
	a.modrm(byte(k), at(base, disp))
}

// storeVector emits vmovdqu32 [base+disp], zmm for 64 bytes; vmovdqu [base+disp],
// ymm for 32.
func (a *asm) storeVector(base int, disp int64, v, bytes int) {
	if bytes == 32 {
		a.b(0xc4, 0xe1&^(byte(base>>3)<<5)&^(byte(v>>3)<<7), 0x7e, 0x7f)
		a.modrm(byte(v&7), at(base, disp))
		return
	}
	a.b(0x62, 0xf1&^(byte(base>>3)<<5)&^(byte(v>>3&1)<<7)&^(byte(v>>4)<<4), 0x7e, 0x48, 0x7f)
	// A displacement of 8 bits would be scaled: force 32.
	a.b(0x80 | byte(v&7)<<3 | byte(base&7))
	if base&7 == rsp {
		a.b(0x24)
	}
	a.u32(uint32(disp))
}

// freeRegisters returns how many general registers a set of touched ones leaves.
func freeRegisters(touched uint16) int { return bits.OnesCount16(^(touched | 1<<rsp)) }
