//go:build linux && amd64

package native

// A block that ends in a direct call joins the block that is called, and one that ends where
// the plan has another block joins that: what follows needs no record, no other registers
// and no jump of its own. The call pushes its return address.
//
//	fib+0x10  lea edi, [rdi-1]
//	          call fib           ─▶ push of fib+0x18
//	fib       push rbp                                    a part of its own
//	          …
//	          jle …
//
// The record's first word is that of the whole; its addresses are shared by all, as the
// stack pointer goes on from one part to the next. The reader takes the parts for what they
// are: blocks that were executed one after the other.
//
// A run can be stopped only before a record, so nothing is joined where that is to happen
// at an exact count: with windows, a limit, or several threads. Nor are blocks joined whose
// beginning does more than execute code, and loops of one block, which are recorded
// otherwise. Where there are no such events, a record also has no more words than it needs.

// maxParts bounds what a block joins; maxUntraced does where nothing is recorded, and little
// is gained for what is translated several times.
const (
	maxParts    = 4
	maxUntraced = 2
)

// mayJoin reports whether blocks may be joined, as long as there is one thread.
func (m *machine) mayJoin() bool {
	return !m.singly && !m.discover && !m.parallel && m.plan.Flow == nil && len(m.opt.Windows) == 0 && m.times.end == 0
}

// separate ends the joining of blocks, when there is another thread. The running thread is
// parked.
func (m *machine) separate() error {
	if !m.joining {
		return nil
	}
	m.joining = false
	return m.flushCode()
}

// joins are what a block that is being read joins.
type joins struct {
	parts   int
	at      int    // index of the first instruction of the last part; 0: none
	touched uint16 // registers before it
}

// more reports whether a block may join the one at pc, which follows its n instructions.
func (j *joins) more(m *machine, c *cache, insts []*inst, pc uint64) bool {
	most := maxParts
	if !c.traced {
		most = maxUntraced
	}
	if !m.joining || j.parts+1 >= most || len(insts) == 0 {
		return false
	}
	k := key{pc: pc}
	if m.runsOnce(k) || m.watches(k) || c.traced && !m.plan.begins(m.maps.planPC(pc)) {
		return false
	}
	from, err := m.zoneFor(insts[0].pc)
	if err != nil {
		return false
	}
	to, err := m.zoneFor(pc)
	return err == nil && to == from
}

// begin begins a part behind n instructions, which touch registers.
func (j *joins) begin(n int, touched uint16) {
	j.parts++
	j.at, j.touched = n, touched
}

// settle takes back the last part if it is a loop of its own, or ends early.
func (j *joins) settle(insts []*inst, touched uint16, early bool) ([]*inst, uint16) {
	if j.at == 0 {
		return insts, touched
	}
	if last := insts[len(insts)-1]; j.at < len(insts) && (early || last.act == branch && last.target() == insts[j.at].pc) {
		insts, touched = insts[:j.at], j.touched
	}
	return insts, touched
}

// divide divides a block, which has been emitted, into the parts that it joins, if it does.
func (m *machine) divide(b *block, insts []*inst) {
	from := 0
	for n, i := range insts {
		if i.begins {
			m.addPart(b, insts, from, n)
			from = n
		}
	}
	if from > 0 {
		m.addPart(b, insts, from, len(insts))
		b.end = b.parts[0].end
	}
}

// joins reports whether b has parts.
func (b *block) joins() bool { return len(b.parts) > 0 }

// within reports whether some of b's instructions, parts apart, are in a range.
func (b *block) within(lo, hi uint64) bool { return b.pc < hi && lo < b.end }

// addPart adds the part of the instructions from one to before another.
func (m *machine) addPart(b *block, insts []*inst, from, to int) {
	p := &block{pc: insts[from].pc, end: insts[to-1].next(), flows: from > 0 || b.flows, zone: b.zone, cache: b.cache}
	b.parts = append(b.parts, p)
	if !b.cache.traced {
		return // nobody reads records
	}
	p.id = uint32(len(m.blocks))
	m.blocks = append(m.blocks, p)
	p.describe(m, insts[from:to])
	p.words, p.word = b.words, b.word
	p.simple = true
	for _, r := range b.refs {
		if int(r.index) >= from && int(r.index) < to {
			r.index -= uint16(from)
			p.refs = append(p.refs, r)
			p.simple = p.simple && r.form == single && !r.fs
		}
	}
}

// cutParts reads the record of a block that joins others, and was left after its first
// instructions.
func (r *reader) cutParts(c *cut) {
	rest := *c
	for n, p := range c.block.parts {
		if rest.block = p; n+1 == len(c.block.parts) || rest.n < int(p.instructions) {
			break
		}
		r.block(p, c.words)
		rest.n -= int(p.instructions)
	}
	r.cut(&rest)
}
