//go:build linux && amd64

package native

import (
	"fmt"
	"slices"
)

const (
	maxBlockInstructions = 100
	maxBlockWords        = 200
	batchBlocks          = 16 // translated at a time, along direct transfers

	// Where chains of blocks, and entries for indirect jumps, begin: what a program of calls
	// costs otherwise depends on chance by a tenth.
	chainAlign = 64
	viaAlign   = 32

	// Room that a translation may need.
	hotReserve  = 64 << 10
	coldReserve = 32 << 10
)

// stopKind says why a breakpoint in translated code stops the program.
type stopKind uint8

const (
	stopLink    stopKind = iota // a transfer to code that is not translated yet
	stopCall                    // a system call
	stopSpecial                 // an instruction that the engine executes
	stopBad                     // no instruction
	stopCredit                  // a loop that may not go on
	stopMemory                  // an allocator begins, or has returned
)

// stop is a breakpoint in translated code.
type stop struct {
	kind stopKind
	pc   uint64
	inst *inst // stopCall, stopSpecial

	// Of a stopLink: the 32-bit displacement to patch, the target, and the
	// registers taken there. Of a stopMemory: target is the block itself.
	at     uint64
	target key
	regs   taken
	zone   *zone
}

// read decodes the block that begins at pc, and what it joins. It leaves enough registers
// free, and ends before an address at which the plan has another block.
func (m *machine) read(c *cache, k key) (insts []*inst, touched uint16, err error) {
	once, pc := m.runsOnce(k), k.pc
	need := c.registers()
	var j joins
	words, early := 0, true
	for len(insts) < maxBlockInstructions {
		fresh := len(insts) > 0 && j.at == len(insts)
		if !fresh && len(insts) > 0 && (m.begins(c, pc) || !once && m.runsOnce(key{pc: pc})) {
			if once || k.alone || !j.more(m, c, insts, pc) {
				early = false
				break
			}
			j.begin(len(insts), touched)
			fresh = true
		}
		i, err := decode(m.code(pc), pc)
		if err != nil && len(insts) == 0 {
			return nil, 0, err
		}
		if err != nil {
			break
		}
		words += 1 + 18*len(i.refs)
		if len(insts) > 0 && !fits(touched|i.touches, need, words) {
			break
		}
		i.begins = fresh
		touched |= i.touches
		insts = append(insts, i)
		pc = i.next()
		if i.act == call && !once && !k.alone && j.more(m, c, insts, i.target()) {
			j.begin(len(insts), touched)
			pc = i.target()
			continue
		}
		if k.alone || i.ends(once) {
			early = false
			break
		}
	}
	insts, touched = j.settle(insts, touched, early)
	return insts, touched, nil
}

// registers returns how many registers a block takes, at least.
func (c *cache) registers() int {
	if c.traced {
		return 2
	}
	return 1
}

// fits reports whether a block leaves as many registers free as it needs, and is not too long.
func fits(touched uint16, need, words int) bool {
	return freeRegisters(touched) >= need && words <= maxBlockWords
}

// ends reports whether an instruction is the last of its block, which runs once or not.
func (i *inst) ends(once bool) bool { return i.act != plain || once && i.stores() }

// begins reports whether a block is to begin at pc: one of the plan, or at what is watched.
func (m *machine) begins(c *cache, pc uint64) bool {
	return c.traced && m.plan.begins(m.maps.planPC(pc)) || m.watches(key{pc: pc})
}

// preference is the order in which registers are taken, other things being equal.
var preference = [...]int8{r15, r14, r13, r12, r11, r10, r9, r8, rbx, rbp, rdi, rsi, rdx, rcx, rax}

// choose returns the registers for a block to take: those of its predecessor if
// they are free, else those that the code behind it uses least.
func (m *machine) choose(c *cache, insts []*inst, touched uint16, before taken) taken {
	free := func(r int8) bool { return touched>>r&1 == 0 }
	last := insts[len(insts)-1]
	both := c.traced || last.act == branch && last.target() == insts[0].pc && freeRegisters(touched) >= 2
	if before.pos >= 0 && free(before.pos) && (before.scratch >= 0) == both && (!both || free(before.scratch)) {
		return before
	}
	if standard := standardRegisters(c); both == c.traced && free(standard.pos) && (!both || free(standard.scratch)) {
		return standard
	}
	uses := m.lookAhead(last)
	best := own
	for _, r := range preference {
		switch {
		case !free(r):
		case best.pos < 0 || uses[r] < uses[best.pos]:
			best = taken{pos: r, scratch: best.pos}
		case best.scratch < 0 || uses[r] < uses[best.scratch]:
			best.scratch = r
		}
	}
	if !both {
		best.scratch = -1
	}
	return best
}

// standardRegisters are those taken at indirect jumps, and elsewhere if nothing
// speaks against it.
func standardRegisters(c *cache) taken {
	if c.traced {
		return taken{r15, r14}
	}
	return taken{r15, -1}
}

// lookAhead counts the uses of registers on the way that falls through behind an
// instruction.
func (m *machine) lookAhead(last *inst) (uses [16]int) {
	const instructions = 60
	i := last
	for range instructions {
		if i.act != plain && i.act != branch && i.act != call {
			break
		}
		next, err := decode(m.code(i.next()), i.next())
		if err != nil {
			break
		}
		i = next
		for r := range uses {
			uses[r] += int(i.touches >> r & 1)
		}
	}
	return uses
}

// blockFor returns the block of a key, translating it and, up to a limit, what it
// leads to directly.
func (m *machine) blockFor(k key, before taken) (*block, error) {
	c := m.cache
	if b := c.blocks[k]; b != nil {
		return b, nil
	}
	if m.runsOnce(k) {
		return m.onceFor(k, before)
	}
	first := len(m.blocks)
	budget := batchBlocks
	c.queue = append(c.queue[:0], k)
	for n := 0; n < len(c.queue) && (budget > 0 || n == 0); n++ {
		q := c.queue[n]
		if c.blocks[q] != nil || m.runsOnce(q) {
			continue
		}
		if _, err := decode(m.code(q.pc), q.pc); err != nil && n > 0 {
			continue
		}
		if err := m.chain(q, before, &budget); err != nil {
			return nil, err
		}
	}
	m.linkFresh()
	if err := m.guard(m.blocks[first:]); err != nil {
		return nil, err
	}
	return c.blocks[k], nil
}

// chain translates blocks from k on, one behind the other, as long as each leads
// to the next.
func (m *machine) chain(k key, before taken, budget *int) error {
	z, err := m.zoneFor(k.pc)
	if err != nil {
		return err
	}
	from, falls := own, false
	for {
		if z.hot.room() < hotReserve || z.cold.room() < coldReserve {
			return errZoneFull
		}
		b, insts, err := m.begin(k, z, before, from, falls)
		if err != nil {
			return err
		}
		b.left = z.hot.addr()
		next, regs, more, err := m.transferOut(b, insts)
		b.hi = z.hot.addr()
		*budget--
		if err != nil || !more {
			return err
		}
		if m.cache.blocks[next] != nil || *budget <= 0 || !m.continues(next, z) {
			m.pad(&z.hot, 1)
			z.hot.b(0xe9)
			m.exit(z, next, regs)
			return nil
		}
		k, before, from, falls = next, regs, regs, true
	}
}

// continues reports whether translation may go on at k in zone z.
func (m *machine) continues(k key, z *zone) bool {
	other, err := m.zoneFor(k.pc)
	if err != nil || other != z || m.runsOnce(k) {
		return false
	}
	_, err = decode(m.code(k.pc), k.pc)
	return err == nil
}

// begin translates the block k up to its transfer of control.
func (m *machine) begin(k key, z *zone, before, from taken, falls bool) (*block, []*inst, error) {
	c := m.cache
	insts, touched, err := m.read(c, k)
	watches := m.watches(k)
	if err != nil || watches {
		insts = nil
	}
	b := &block{id: uint32(len(m.blocks)), pc: k.pc, flows: k.flows, slow: k.slow, past: k.past, back: k.back, once: m.runsOnce(k), zone: z, cache: c}
	b.planBlock, b.inBlock = -1, -1
	b.regs = own
	if len(insts) > 0 {
		b.regs = m.choose(c, insts, touched, before)
		b.end = insts[len(insts)-1].next()
	} else {
		b.end = k.pc
	}
	if watches && c.traced {
		b.regs = standardRegisters(c)
	}
	if b.word = b.id; b.id >= 1<<idBits {
		return nil, nil, fmt.Errorf("native: the program's code was translated into more than %d blocks", 1<<idBits)
	}
	m.blocks = append(m.blocks, b)
	if !b.once {
		c.blocks[k] = b
		c.fresh = append(c.fresh, k)
	}
	z.blocks = append(z.blocks, b)
	h := &z.hot
	if falls {
		move(h, from, b.regs)
	} else {
		h.align(chainAlign)
	}
	b.warm, b.lo = h.addr(), h.addr()
	switch {
	case watches:
		m.watch(b, k)
		return b, nil, nil
	case len(insts) == 0:
		m.bad(b)
		return b, nil, nil
	}
	b.describe(m, insts)
	if !m.loopBody(b, insts) {
		m.body(b, insts)
	}
	b.hi = h.addr()
	return b, insts, nil
}

// bad makes b stop, because there is no instruction at its address.
func (m *machine) bad(b *block) {
	h := &b.zone.hot
	m.stops[h.addr()] = &stop{kind: stopBad, pc: b.pc}
	h.b(0xcc)
	b.hi = h.addr()
}

// describe fills in what does not depend on the code that is emitted.
func (b *block) describe(m *machine, insts []*inst) {
	last := insts[len(insts)-1]
	b.instructions = uint32(len(insts))
	b.span = b.instructions
	b.last, b.final = last.act, last.pc
	switch last.act {
	case branch, jump, call:
		b.target = last.target()
		b.targetPC = m.maps.planPC(b.target)
	}
	b.planPC = m.maps.planPC(b.pc)
	for _, i := range insts {
		b.starts = append(b.starts, int32(i.pc-b.pc))
	}
	b.planBlock, b.inBlock = m.plan.blockAt(b.planPC)
	if m.discover {
		b.found = m.describeAll(insts)
	}
}

// body emits a block's instructions, apart from a transfer of control at its end.
func (m *machine) body(b *block, insts []*inst) {
	h := &b.zone.hot
	pos := int(b.regs.pos)
	r := recorder{code: h, b: b, numbers: newNumbering(), known: make(map[family]seen)}
	var word uint64 // where it is stored
	if b.cache.traced {
		h.store32(pos, 0, b.id)
		word = h.addr() - 4
		r.words = 1
	} else {
		h.store8(pos, 0)
	}
	last := len(insts) - 1
	mark := last // before which instruction the position advances
	if insts[last].act == plain {
		mark = last + 1
	} else if insts[last].act == branch && last > 0 && len(insts[last-1].refs) == 0 {
		mark = last - 1 // do not come between a comparison and its branch
	}
	for n, i := range insts {
		b.offsets = append(b.offsets, uint16(h.addr()-b.lo))
		var after []int
		if b.cache.traced {
			if tags, any := m.planRefs(i, b); any {
				after = r.record(i, n, tags)
			}
		}
		if n == mark {
			m.advance(b, r.words, word)
		}
		switch {
		case i.act == plain || i.act == trap:
			h.copy(i)
		case n < last:
			m.push(b.zone, i.next(), b.regs) // a call of what follows: see join.go
			m.cache.comesBack(i)
		}
		r.finish(after)
		r.numbers.step(i)
	}
	if mark > last {
		m.advance(b, r.words, word)
	}
	for k := range b.refs {
		if p := &b.refs[k]; p.slot == 0 {
			p.delta -= int64(int32(b.word)) // the word that is there
		}
	}
	m.divide(b, insts)
	b.simple = !slices.ContainsFunc(b.refs, func(p planned) bool { return p.form != single || p.fs })
	if insts[last].act == trap {
		h.b(0x0f, 0x0b)
	}
}

// advance emits the step to the next block's record, the first word of which is stored at
// word.
func (m *machine) advance(b *block, words int32, word uint64) {
	h := &b.zone.hot
	b.words = uint32(words)
	b.advanced = h.addr()
	if !b.cache.traced {
		h.add(int(b.regs.pos), int64(b.instructions))
		return
	}
	b.span = max((b.instructions+wordInstructions-1)/wordInstructions, b.words)
	if m.joining {
		b.span = b.words
	}
	b.word = b.id | b.span<<idBits
	h.set32(word, b.word)
	h.add(int(b.regs.pos), 8*int64(b.span))
}

// copy emits an instruction as it is, apart from a displacement that is relative
// to it.
func (a *asm) copy(i *inst) {
	at := a.p
	a.b(i.raw...)
	if i.Memory() && i.RIPRelative() {
		target := i.next() + uint64(i.Disp)
		a.patch(a.base+uint64(at)+uint64(i.DispOff), target-uint64(len(i.raw))+uint64(i.DispOff)+4)
	}
}

// transferOut emits the transfer of control at the end of a block. It returns the
// key of the block that follows in the zone, if more, with the registers taken
// there.
func (m *machine) transferOut(b *block, insts []*inst) (next key, regs taken, more bool, err error) {
	if b.memory != noMemory {
		return key{pc: b.pc, flows: b.flows, slow: b.slow, back: b.back}.behind(), b.regs, true, nil
	}
	if len(insts) == 0 {
		return key{}, own, false, nil
	}
	i, z := insts[len(insts)-1], b.zone
	h := &z.hot
	regs = b.regs
	switch i.act {
	case plain:
		return key{pc: i.next(), flows: true}, regs, true, nil
	case branch:
		return m.branchOut(b, i), regs, true, nil
	case jump:
		return key{pc: i.target()}, regs, true, nil
	case call:
		m.push(z, i.next(), regs)
		m.cache.comesBack(i)
		return key{pc: i.target()}, regs, true, nil
	case ret, jumpVia, callVia:
		m.indirect(b, i)
		if i.act == callVia {
			m.cache.comesBack(i)
		}
	case systemCall, special:
		leave(h, regs)
		s := &stop{kind: stopCall, pc: i.pc, inst: i}
		if i.act == special {
			s.kind = stopSpecial
		}
		m.stops[h.addr()] = s
		h.b(0xcc)
		m.cache.queue = append(m.cache.queue, key{pc: i.next(), flows: i.act == special})
	}
	return key{}, own, false, nil
}

// branchOut emits a conditional branch and returns the block that follows.
func (m *machine) branchOut(b *block, i *inst) key {
	h := &b.zone.hot
	fall, taken := key{pc: i.next()}, key{pc: i.target()}
	if b.loop {
		return fall // its body ends in the branch
	}
	if i.loops() {
		if i.Address32 {
			m.pad(h, 4)
			h.b(0x67)
		} else {
			m.pad(h, 3)
		}
		h.b(i.Opcode, 5)
		h.b(0xe9)
		m.exit(b.zone, fall, b.regs)
		return taken
	}
	m.pad(h, 2)
	h.b(0x0f, 0x80|i.Opcode&15)
	m.exit(b.zone, taken, b.regs)
	return fall
}

// exit emits the 32-bit displacement of a jump to the block k.
func (m *machine) exit(z *zone, k key, regs taken) {
	at := z.hot.addr()
	z.hot.u32(0)
	if b := m.cache.blocks[k]; b != nil {
		m.link(z, at, regs, b)
		return
	}
	c := &z.cold
	m.stops[c.addr()] = &stop{kind: stopLink, pc: k.pc, at: at, target: k, regs: regs, zone: z}
	z.hot.patch(at, c.addr())
	m.cache.queue = append(m.cache.queue, k)
	m.cache.waiting[k] = append(m.cache.waiting[k], c.addr())
	c.b(0xcc)
}

// link makes the jump with its displacement at at lead to b, and returns where it
// leads: to the block, or to code that moves the registers taken.
func (m *machine) link(z *zone, at uint64, regs taken, b *block) uint64 {
	to := b.warm
	if regs != b.regs || !z.has(to) {
		c := &z.cold
		to = c.addr()
		move(c, regs, b.regs)
		if z.has(b.warm) {
			c.jump(b.warm)
		} else {
			c.far(b.warm)
		}
	}
	z.hot.patch(at, to)
	return to
}

// push emits the push of a return address.
func (m *machine) push(z *zone, v uint64, regs taken) {
	h := &z.hot
	switch {
	case int64(v) == int64(int32(v)):
		h.b(0x68)
		h.u32(uint32(v))
	case regs.scratch >= 0:
		h.set(int(regs.scratch), v)
		if regs.scratch >= 8 {
			h.b(0x41)
		}
		h.b(0x50 | byte(regs.scratch&7))
	default:
		c := &z.cold
		c.p = (c.p + 7) &^ 7
		h.b(0xff, 0x35) // push [rip+…]
		h.u32(uint32(c.addr() - (h.addr() + 4)))
		c.u64(v)
	}
}

// indirect emits an indirect transfer: a jump to where the jump table leads by the
// low bits of the target, with the target in rcx and the standard registers taken.
func (m *machine) indirect(b *block, i *inst) {
	h, c := &b.zone.hot, b.cache
	standard := standardRegisters(c)
	b.leftRegs = standard
	if i.touches>>standard.pos&1 != 0 || standard.scratch >= 0 && i.touches>>standard.scratch&1 != 0 {
		b.leftRegs = own
	}
	move(h, b.regs, b.leftRegs)
	h.save(rcx, gsRcx)
	if i.act == ret {
		h.b(0x59) // pop rcx
		if i.Opcode == 0xc2 {
			h.add(rsp, int64(uint16(i.Imm)))
		}
	} else {
		h.loadTarget(i)
	}
	if i.act == callVia {
		m.push(b.zone, i.next(), b.leftRegs)
	}
	h.save(rax, gsRax)
	move(h, b.leftRegs, standard)
	h.b(0x0f, 0xb7, 0xc1)       // movzx eax, cx
	h.b(0x65, 0xff, 0x24, 0xc5) // jmp gs:[rax*8+table]
	h.u32(uint32(gsTables + c.number*tableBytes))
}

// loadTarget emits the load of an indirect transfer's target into rcx.
func (a *asm) loadTarget(i *inst) {
	switch {
	case !i.Memory():
		a.b(0x48|i.RM>>3, 0x8b, 0xc0|rcx<<3|i.RM&7)
	case i.RIPRelative():
		target := i.next() + uint64(i.Disp)
		a.b(0x48, 0x8b, 0x0d)
		a.u32(uint32(target - (a.addr() + 4)))
	default:
		o := i.refs[0].operand
		if o.fs {
			a.b(0x64)
		}
		a.memory(0x8b, rcx, o)
	}
}

// leave emits the way from the registers taken to the program's.
func leave(a *asm, t taken) { move(a, t, own) }

// move emits the way from one choice of registers taken to another.
func move(a *asm, from, to taken) {
	if from == to {
		return
	}
	in := func(r int8, t taken) bool { return r == t.pos || r == t.scratch }
	slot := func(r int8) int { return gsRegister + 8*int(r) }
	if from != own && to == own {
		a.save(int(from.pos), gsBuffer)
	}
	for _, r := range []int8{to.pos, to.scratch} {
		if r >= 0 && !in(r, from) {
			a.save(int(r), slot(r))
		}
	}
	switch {
	case to == own:
	case from == own:
		a.load(int(to.pos), gsBuffer)
	case from.pos != to.pos:
		a.b(0x48|byte(from.pos>>3)<<2|byte(to.pos>>3), 0x89, 0xc0|byte(from.pos&7)<<3|byte(to.pos&7))
	}
	for _, r := range []int8{from.pos, from.scratch} {
		if r >= 0 && !in(r, to) {
			a.load(int(r), slot(r))
		}
	}
}

// via returns the entry of a block for indirect jumps, which begins by comparing
// the target.
func (m *machine) viaEntry(b *block) uint64 {
	if b.via != 0 {
		return b.via
	}
	c, code := b.cache, &b.zone.cold
	slot := uint16(b.pc)
	head := c.heads[slot]
	if head == 0 {
		head = m.miss
	}
	code.align(viaAlign)
	b.via = code.addr()
	code.addTo(rcx, rax, -b.pc)
	code.b(0xe3, 0) // jrcxz
	from := code.p
	code.addTo(rcx, rax, b.pc)
	code.far(head)
	code.mem[from-1] = byte(code.p - from)
	code.load(rax, gsRax)
	code.load(rcx, gsRcx)
	move(code, standardRegisters(c), b.regs)
	code.jump(b.warm)
	c.heads[slot] = b.via
	m.setSlot(c, slot, b.via)
	return b.via
}

// entryOf returns the entry of a block with the program's registers.
func (m *machine) entryOf(b *block) uint64 {
	if b.regs == own {
		return b.warm
	}
	if b.entry == 0 {
		code := &b.zone.cold
		b.entry = code.addr()
		move(code, own, b.regs)
		code.jump(b.warm)
	}
	return b.entry
}

// code returns the program's memory from pc on: enough for an instruction, if it
// is there.
func (m *machine) code(pc uint64) []byte {
	const most = 15
	page := pc &^ (pageBytes - 1)
	p, ok := m.pages[page]
	if !ok {
		if _, hi, executable := m.maps.executable.around(page); executable {
			p = make([]byte, min(pageBytes+most, hi-page))
			p = p[:m.child.read(page, p)]
		}
		m.pages[page] = p
	}
	off := int(pc - page)
	if off >= len(p) {
		return nil
	}
	return p[off:min(off+most, len(p)):min(off+most, len(p))]
}

var errZoneFull = fmt.Errorf("native: the zone for translated code is full")
