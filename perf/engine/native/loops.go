//go:build linux && amd64

package native

import (
	"slices"

	"presage/perf/isa/amd64"
	"presage/perf/trace"
)

// A loop of one block whose addresses all step by constants is recorded once: the
// addresses of the first iteration, and how many there were.
//
//	      store id, addresses
//	      scratch = credit; store it
//	      scratch -= step                   step: 8 bytes per instruction
//	top:  add scratch, step
//	      jc  out
//	      body
//	      jcc top
//	      scratch += step
//	      store it; credit = scratch; position += span
//	      …
//	out:  the same without the first line; stop
//
// The credit is a negative number in the thread's state: the instructions that loops
// may yet execute before the next event. It is apart from the position in the buffer,
// so that a loop takes up no more of it than its record. Before each iteration scratch
// is the credit then; it is below zero until the addition carries. The run can stop
// there as before any block. The addition needs flags that are dead.
//
// Without recording, every loop of one block is executed in this way.

// The words of a loop's record, besides the addresses.
const (
	beginWord = 1 // the credit before the loop
	endWord   = 2 // and after it
	loopWords = 3
)

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
	joins := slices.ContainsFunc(insts, func(i *inst) bool { return i.begins })
	if m.singly || joins || b.slow || b.past || b.flows || b.regs.scratch < 0 || last.act != branch || last.loops() || last.target() != b.pc || !deadFlags(insts) {
		return false
	}
	var slots []loopRef
	if b.cache.traced {
		refs, missing, ok := m.affine(b, insts)
		if !ok {
			return false
		}
		var words int
		slots, words = giveWords(refs)
		b.unplanned, b.words, b.span = missing, uint32(words), uint32(words)
		for i := range refs {
			b.refs = append(b.refs, refs[i].planned)
		}
	}
	b.loop = true
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

// giveWords gives each family of addresses a word.
func giveWords(refs []loopRef) (slots []loopRef, words int) {
	words = loopWords
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
	if b.cache.traced {
		h.store32(pos, 8*int64(b.words-1), b.id) // faults before anything is done if there is too little room
		h.store32(pos, 0, b.id)
	} else {
		h.store8(pos, 0)
	}
	for _, r := range slots {
		h.lea(scratch, operand{base: int8(r.family.base), index: int8(r.family.index), scale: r.family.scale, disp: r.offset})
		h.store(pos, 8*int64(r.slot), scratch)
	}
	h.load(scratch, gsCredit)
	if b.cache.traced {
		h.store(pos, 8*beginWord, scratch)
	}
	h.add(scratch, -step)
	h.fit(loopBytes(insts, step))
	top := h.addr()
	h.increase(scratch, uint32(step))
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
	h.endLoop(b)

	c := &b.zone.cold
	h.patch(out, c.addr())
	c.endLoop(b)
	m.stops[c.addr()] = &stop{kind: stopCredit, pc: b.pc, regs: b.regs}
	c.b(0xcc)
}

// loopBytes returns the length of what a loop executes in each iteration.
func loopBytes(insts []*inst, step int64) uint64 {
	n := uint64(4 + 6 + 6) // the addition, and two jumps
	if step >= 1<<7 {
		n += 3
	}
	for _, i := range insts[:len(insts)-1] {
		n += uint64(len(i.raw))
	}
	return n
}

// endLoop emits the end of a loop's record.
func (a *asm) endLoop(b *block) {
	pos, scratch := int(b.regs.pos), int(b.regs.scratch)
	if b.cache.traced {
		a.store(pos, 8*endWord, scratch)
		a.add(pos, 8*int64(b.span))
	}
	a.save(scratch, gsCredit)
}

// creditUsed handles the stop of a loop whose credit is used up: at an event, or to
// get more of it.
func (m *machine) creditUsed(t *thread, s *stop) error {
	m.restore(t, &t.regs, s.regs)
	t.parked, t.resumeAt = true, key{pc: s.pc}
	if now := m.own(); now < m.next {
		t.resumeAt.slow = m.next-now <= finely
		return m.pause()
	}
	if err := m.reach(); err != nil || m.ended {
		return err
	}
	return m.deliverPending()
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

// leastRun is the number of iterations from which on a loop becomes a trace.Run.
const leastRun = 3

// iterations reads the record of a loop: n executions of b.
func (r *reader) iterations(b *block, w []uint64, n uint64) {
	if n == 0 {
		return
	}
	if r.flow != nil {
		r.flow.block(b)
		r.flow.again(b, n-1)
	}
	if r.batch == nil {
		r.count += n * uint64(b.instructions)
	} else if n < leastRun || !r.addRuns(b, w, n) {
		r.expandLoop(b, w, n)
	}
	r.before = b
}

// addRuns appends n iterations as runs, or returns false if that is impossible.
func (r *reader) addRuns(b *block, w []uint64, n uint64) bool {
	l := trace.Loop{Strides: r.strides[:0]}
	if len(r.plan.Blocks) > 0 {
		if b.planBlock < 0 {
			return false
		}
		l.Body = append(r.body[:0], trace.BlockID(b.planBlock))
		if r.varies {
			l.Counts = append(r.counts[:0], uint32(len(b.refs)))
		}
	}
	if len(b.refs)+len(l.Body) == 0 {
		r.count += n * uint64(b.instructions)
		return true
	}
	for k := range b.refs {
		p := &b.refs[k]
		first := r.loopAddress(p, w, 0)
		if first>>chunkBits != r.loopAddress(p, w, n-1)>>chunkBits {
			return false // it goes from one piece of the address space to the next
		}
		l.Strides = append(l.Strides, trace.Stride{First: p.tag | trace.Access(r.chunks.synthetic(first)), Step: p.stride})
	}
	r.strides = l.Strides
	if r.runRoom(len(b.refs), len(l.Body)) > 0 && r.precedes(b, l.Strides) {
		r.takeBack(b)
		for k := range l.Strides {
			l.Strides[k].First -= trace.Access(l.Strides[k].Step)
		}
		n++
	}
	r.closeBlock()
	for n > 0 {
		room := r.runRoom(len(b.refs), len(l.Body))
		if room == 0 && r.batch.Empty() {
			r.expandLoop(b, w, n)
			return true
		}
		if room == 0 {
			r.flush()
			r.startBatch(r.count)
			continue
		}
		l.Count = uint32(min(room, n))
		r.batch.AddRun(l)
		r.inRuns += int(l.Count) * len(b.refs)
		r.blocksInRuns += int(l.Count) * len(l.Body)
		for k := range l.Strides {
			l.Strides[k].First = l.Strides[k].At(l.Count)
		}
		r.count += uint64(l.Count) * uint64(b.instructions)
		n -= uint64(l.Count)
	}
	return true
}

// precedes reports whether the open block is another iteration of a loop, before those that
// begin with strides: the first one mostly is, as control comes to it from elsewhere. Plans
// without blocks have none open.
func (r *reader) precedes(b *block, strides []trace.Stride) bool {
	if !r.open || r.partial || r.batch.Blocks[len(r.batch.Blocks)-1] != trace.BlockID(b.planBlock) || r.begun+uint64(b.instructions) != r.count {
		return false
	}
	accesses := r.batch.Accesses[r.mark:]
	if len(accesses) != len(strides) {
		return false
	}
	for k := range strides {
		if accesses[k] != strides[k].First-trace.Access(strides[k].Step) {
			return false
		}
	}
	return true
}

// takeBack removes the open block, an execution of b, from the batch.
func (r *reader) takeBack(b *block) {
	r.batch.Accesses, r.batch.Blocks = r.batch.Accesses[:r.mark], r.batch.Blocks[:len(r.batch.Blocks)-1]
	if r.varies {
		r.batch.Counts = r.batch.Counts[:len(r.batch.Counts)-1]
	}
	r.open = false
	r.count -= uint64(b.instructions)
}

// runRoom returns how many iterations with refs accesses and blocks executions the
// batch may still get as a run, so that it can be filled up otherwise besides.
func (r *reader) runRoom(refs, blocks int) uint64 {
	room := trace.MaxExpansion
	if refs > 0 {
		room = min(room, (trace.MaxExpansion-r.inRuns-r.capacity)/refs)
	}
	if blocks > 0 {
		room = min(room, (trace.MaxExpansion-r.blocksInRuns-r.capacity)/blocks)
	}
	return uint64(max(room, 0))
}

// expandLoop appends n iterations one by one.
func (r *reader) expandLoop(b *block, w []uint64, n uint64) {
	for i := uint64(0); i < n; {
		r.enter(b)
		room := n
		if each := len(b.refs); each > 0 {
			room = 1 + uint64(max(r.capacity-len(r.batch.Accesses)-each, 0)/each)
		}
		if r.open {
			room = min(room, 1+uint64(max(r.capacity-len(r.batch.Blocks), 0)))
		}
		if b.planBlock < 0 {
			room = 1 // the plan has no block that begins there: see enter
		}
		k := min(room, n-i)
		r.stretch(b, w, i, k)
		i += k
	}
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
	return p.tag | trace.Access(r.chunks.synthetic(r.loopAddress(p, w, i)))
}

// loopAddress returns the real address of a reference in an iteration.
func (r *reader) loopAddress(p *planned, w []uint64, i uint64) uint64 {
	a := w[p.slot] + uint64(p.delta) + uint64(p.stride)*i
	if p.fs {
		a += r.fs
	}
	return a
}
