//go:build linux && amd64

package native

import (
	"presage/perf/isa/amd64"
	"presage/perf/trace"
)

// A loop of one block whose addresses all step by constants is recorded once: the
// addresses of the first iteration, and the position behind the last.
//
//	      store id, addresses
//	      scratch = position - limit - step       step: 8 bytes per instruction
//	top:  add scratch, step
//	      jc  out
//	      body
//	      jcc top
//	      scratch += step
//	end:  store scratch; position = limit + scratch
//	      …
//	out:  the same as at end; jump to the block
//
// At the top, limit + scratch is the position at which the iteration begins. It is
// below the limit, so scratch is negative, until the addition carries: then the
// iteration is the first of the next record, for which the buffer has no room, and
// the run can stop before it as before any block. The addition needs flags that are
// dead.

// endWord is the word for the position behind the last iteration, less the limit.
const endWord = 1

// loopRef is a planned reference of a loop.
type loopRef struct {
	planned
	ref    *ref
	family family
	offset int64
}

// loopBody emits b as a loop that is recorded once; it returns false, and emits
// nothing, if b is no such loop.
func (m *machine) loopBody(b *block, insts []*inst) bool {
	last := insts[len(insts)-1]
	if b.slow || b.flows || last.act != branch || last.loops() || last.target() != b.pc || !deadFlags(insts) {
		return false
	}
	refs, missing, ok := m.affine(b, insts)
	if !ok {
		return false
	}
	slots, words := loopWords(refs)
	if words > len(insts) {
		return false // a single iteration would not have room for the record
	}
	b.unplanned, b.loop, b.words = missing, true, uint32(words)
	for i := range refs {
		b.refs = append(b.refs, refs[i].planned)
	}
	m.loopCode(b, insts, slots)
	return true
}

// affine returns the planned references of a loop with their strides, and those that
// the plan lacks; false unless all addresses step by constants.
func (m *machine) affine(b *block, insts []*inst) (refs []loopRef, missing []unplanned, ok bool) {
	numbers := newNumbering()
	var scan block
	for n, i := range insts {
		tags, _ := m.planRefs(i, &scan)
		for k := range i.refs {
			f := &i.refs[k]
			if tags[k] == noTag {
				continue
			}
			if f.form != single || f.narrow {
				return nil, nil, false
			}
			r := loopRef{planned: planned{tag: tags[k], index: uint16(n), size: f.size, fs: f.fs}, ref: f}
			r.family, r.offset = numbers.family(&f.operand)
			refs = append(refs, r)
		}
		numbers.step(i)
	}
	for i := range refs {
		r := &refs[i]
		if r.ref.absolute {
			r.delta = r.ref.disp - int64(b.id)
			continue
		}
		for _, part := range []struct {
			version int
			scale   uint8
		}{{r.family.base, 0}, {r.family.index, r.family.scale}} {
			switch {
			case part.version < 0:
			case part.version >= len(numbers.version) || numbers.version[part.version] != part.version:
				return nil, nil, false // not what a register held before the loop, or not stepped
			default:
				r.stride += numbers.offset[part.version] << part.scale
			}
		}
	}
	return refs, scan.unplanned, true
}

// loopWords gives each family of addresses a word.
func loopWords(refs []loopRef) (slots []loopRef, words int) {
	words = endWord + 1
	known := make(map[family]seen)
	for i := range refs {
		r := &refs[i]
		if r.ref.absolute {
			continue
		}
		s, ok := known[r.family]
		if !ok {
			s = seen{int32(words), r.offset}
			known[r.family] = s
			words++
			r.slot = s.slot
			slots = append(slots, *r)
		}
		r.slot, r.delta = s.slot, r.offset-s.offset
	}
	return slots, words
}

// loopCode emits the code of a loop.
func (m *machine) loopCode(b *block, insts []*inst, slots []loopRef) {
	h, pos, scratch := &b.zone.hot, int(b.regs.pos), int(b.regs.scratch)
	step := 8 * int64(b.instructions)
	h.store32(pos, 8*int64(b.words-1), b.id) // faults before anything is done if there is too little room
	h.store32(pos, 0, b.id)
	for _, r := range slots {
		h.lea(scratch, operand{base: int8(r.family.base), index: int8(r.family.index), scale: r.family.scale, disp: r.offset})
		h.store(pos, 8*int64(r.slot), scratch)
	}
	h.b(0x48|byte(pos>>3)<<2|byte(scratch>>3), 0x89, 0xc0|byte(pos&7)<<3|byte(scratch&7)) // mov scratch, pos
	h.state(0x2b, scratch, gsLimit)                                                       // sub scratch, [limit]
	h.add(scratch, -step)
	top := h.addr()
	h.b(0x48|byte(scratch>>3), 0x81, 0xc0|byte(scratch&7)) // add scratch, step
	h.u32(uint32(step))
	h.b(0x0f, 0x82) // jc
	out := h.addr()
	h.u32(0)
	last := insts[len(insts)-1]
	for _, i := range insts {
		b.offsets = append(b.offsets, uint16(h.addr()-b.lo))
		if i != last {
			h.copy(i)
		}
	}
	h.b(0x0f, 0x80|last.Opcode&15)
	h.u32(uint32(top - (h.addr() + 4)))
	h.add(scratch, step)
	h.endLoop(pos, scratch)

	c := &b.zone.cold
	h.patch(out, c.addr())
	c.endLoop(pos, scratch)
	c.jump(b.warm)
}

// endLoop emits the end of a loop's record.
func (a *asm) endLoop(pos, scratch int) {
	a.store(pos, 8*endWord, scratch)
	a.load(pos, gsLimit)
	a.lea(pos, operand{base: int8(pos), index: int8(scratch)})
}

// deadFlags reports whether a loop depends on no status flags from before it, and
// leaves none of them behind.
func deadFlags(insts []*inst) bool {
	var written amd64.Flags
	for _, i := range insts {
		if i.flagsRead&statusFlags&^written != 0 {
			return false
		}
		written |= i.flagsWritten
	}
	return written&statusFlags == statusFlags
}

// iterations reads the record of a loop: n executions of b.
func (r *reader) iterations(b *block, w []uint64, n uint64) {
	if r.flow != nil {
		r.flow.block(b)
		r.flow.again(b, n-1)
	}
	if r.batch == nil {
		r.count += n * uint64(b.instructions)
		r.before = b
		return
	}
	for i := uint64(0); i < n; {
		r.enter(b)
		room := uint64(1)
		if each := len(b.refs); each > 0 {
			room += uint64(max(cap(r.batch.Accesses)-len(r.batch.Accesses)-each, 0) / each)
		} else {
			room = n
		}
		if r.open {
			room = min(room, 1+uint64(cap(r.batch.Blocks)-len(r.batch.Blocks)))
		}
		k := min(room, n-i)
		r.stretch(b, w, i, k)
		i += k
	}
	r.before = b
}

// stretch appends k iterations of a loop from iteration i on, the first of which has
// begun.
func (r *reader) stretch(b *block, w []uint64, i, k uint64) {
	for j := range k {
		if j > 0 && r.open {
			r.mark = len(r.batch.Accesses)
			r.batch.Blocks = append(r.batch.Blocks, trace.BlockID(b.planBlock))
			if r.varies {
				r.batch.Counts = append(r.batch.Counts, 0)
			}
		}
		r.iteration(b, w, i+j)
		if r.open && r.varies {
			r.batch.Counts[len(r.batch.Counts)-1] = uint32(len(r.batch.Accesses) - r.mark)
		}
		r.begun = r.count
		r.count += uint64(b.instructions)
	}
}

// iteration appends the accesses of one iteration.
func (r *reader) iteration(b *block, w []uint64, i uint64) {
	n := len(r.batch.Accesses)
	if cap(r.batch.Accesses)-n < len(b.refs) { // a block that is larger than a batch
		for k := range b.refs {
			r.batch.Accesses = append(r.batch.Accesses, r.loopAccess(&b.refs[k], w, i))
		}
		return
	}
	out := r.batch.Accesses[n : n+len(b.refs)]
	for k := range out {
		out[k] = r.loopAccess(&b.refs[k], w, i)
	}
	r.batch.Accesses = r.batch.Accesses[:n+len(out)]
}

func (r *reader) loopAccess(p *planned, w []uint64, i uint64) trace.Access {
	a := w[p.slot] + uint64(p.delta) + uint64(p.stride)*i
	if p.fs {
		a += r.fs
	}
	return p.tag | trace.Access(r.chunks.synthetic(a))
}
