//go:build linux && amd64

package rv64

import (
	"math"
	"unsafe"

	"presage/perf/engine/rv64/amd64asm"
	"presage/perf/engine/rv64/softfloat"
)

// constants are the arena offsets of the constants that floating-point code uses,
// 16 bytes each.
type constants struct {
	nanD, nanS             int // canonical, the latter boxed
	signD, absD            int
	signS, absS            int
	box                    int
	maxW, minW, maxL, minL int // bounds of integer types; the upper bounds are exclusive
	maxWu, maxLu, minusOne int
	flags                  int // 64 bytes: fflags indexed by the low bits of MXCSR
	mxcsr                  int // its value on entry to translated code
}

// common emits the code and constants that all translations share at the start of
// the arena.
func (j *jit) common() {
	c := &j.asm
	c.Reset(0)
	// Entry: called with the target in RAX and the base register set.
	c.Ins(amd64asm.Mov, hostBudget, frame(unsafe.Offsetof(jitFrame{}.budget)))
	c.Ins(amd64asm.Mov, hostNeg, frame(unsafe.Offsetof(jitFrame{}.negStart)))
	c.Ins(amd64asm.Mov, hostMemory, frame(unsafe.Offsetof(jitFrame{}.host)))
	if j.traced {
		c.Ins(amd64asm.Mov, hostRecord, frame(unsafe.Offsetof(jitFrame{}.record)))
	}
	c.JmpTo(amd64asm.R(amd64asm.RAX))
	// Indirect exit: the target's pc is in RAX. It is exit 0.
	j.indirect = c.Here()
	c.Ins(amd64asm.Store, amd64asm.RAX, frame(unsafe.Offsetof(jitFrame{}.target)))
	c.Const(amd64asm.RAX, 0)
	// Exit: its index is in RAX, the register file is up to date.
	j.epilogue = c.Here()
	c.Ins(amd64asm.Store, amd64asm.RAX, frame(unsafe.Offsetof(jitFrame{}.exit)))
	c.Ins(amd64asm.Store, hostBudget, frame(unsafe.Offsetof(jitFrame{}.budget)))
	if j.traced {
		c.Ins(amd64asm.Store, hostRecord, frame(unsafe.Offsetof(jitFrame{}.record)))
	}
	c.Ret()
	constant := func(v ...uint64) int {
		c.Align(16)
		at := c.Here()
		for _, w := range v {
			c.Word(w)
		}
		c.Align(16)
		return at
	}
	var flags [8]uint64
	for i := range 64 {
		flags[i/8] |= uint64(accrued(uint32(i))) << (i % 8 * 8)
	}
	j.constants = constants{
		nanD: constant(softfloat.NaN64), nanS: constant(boxed | uint64(softfloat.NaN32)),
		signD: constant(signD), absD: constant(^signD),
		signS: constant(signS), absS: constant(^signS),
		box:  constant(boxed),
		maxW: constant(math.Float64bits(1 << 31)), minW: constant(math.Float64bits(-(1 << 31))),
		maxL: constant(math.Float64bits(1 << 63)), minL: constant(math.Float64bits(-(1 << 63))),
		maxWu: constant(math.Float64bits(1 << 32)), maxLu: constant(math.Float64bits(1 << 64)),
		minusOne: constant(math.Float64bits(-1)),
		flags:    constant(flags[:]...),
		mxcsr:    constant(defaultMXCSR),
	}
	j.arena.add(c.Bytes)
	j.base = j.arena.used
}

// frame returns the field of jitFrame at an offset, as an operand.
func frame(offset uintptr) amd64asm.Operand {
	return amd64asm.M(hostThread, jitFirst+int32(offset))
}

// slot returns a guest register's slot in memory, as an operand.
func slot(g uint8) amd64asm.Operand { return amd64asm.M(hostThread, int32(g)*8-jitBias) }

// emitter translates one region.
type emitter struct {
	*amd64asm.Code
	j      *jit
	r      *region
	pins   [256]int8
	dirty  [256]bool // pinned registers that the region writes
	bodies []amd64asm.Label
	cold   []func() // emit the out-of-line code after the region
	first  int      // index of the region's first exit

	spill    amd64asm.Label // stores dirty registers and leaves with the exit in RAX
	away     amd64asm.Label // jumps indirectly to the pc in RAX
	leaves   map[uint64]amd64asm.Label
	links    map[jitLink]amd64asm.Label
	linkSite map[int]int // exit to site

	// The block being translated.
	b       *block
	records int              // accesses recorded that hostRecord does not include yet
	isBoxed [256]bool        // float registers known to hold a boxed binary32
	known   map[uint8]uint64 // integer registers whose value is a constant
	bails   map[int]amd64asm.Label
	pending pending              // results that may be a NaN that is not canonical
	groups  []*checked           // of each op: the accesses that are checked together with it
	loop    *selfLoop            // whose fast part this is
	kept    map[*op]amd64asm.Reg // registers that hold recordAt of an access's displacement
	pairs   map[*op]*recordPair  // of an access whose record is made together with another

	slow map[*block]amd64asm.Label // of loops: the part with all checks
}

// compile translates the region headed by head and makes it head's entry. It
// returns false if the arena is full. A block that begins with an op only the
// interpreter can execute gets no entry.
func (j *jit) compile(head *block) bool {
	first := head.ops[0]
	if first.code == opCheck {
		first = head.ops[1]
	}
	if !translatable(&first) {
		return true
	}
	r := j.form(head)
	exits := len(j.exits)
	e := &emitter{
		Code: &j.asm, j: j, r: r, pins: j.pin(r), first: exits,
		leaves: make(map[uint64]amd64asm.Label), links: make(map[jitLink]amd64asm.Label), linkSite: make(map[int]int),
		known: make(map[uint8]uint64), slow: make(map[*block]amd64asm.Label),
	}
	e.Reset(j.arena.used)
	e.region()
	e.Finish()
	entry := e.Origin
	if !j.arena.add(e.Bytes) {
		j.exits = j.exits[:exits]
		return false
	}
	for x, site := range e.linkSite {
		j.exits[x].site = site
	}
	head.entry = entry
	h := &jitHome{pins: e.pins}
	for i, b := range r.blocks {
		if b.home == nil {
			b.home, b.body = h, e.Offset(e.bodies[i])
		}
	}
	return true
}

// region emits the entry, the blocks, and the out-of-line code after them.
func (e *emitter) region() {
	e.spill, e.away = e.NewLabel(), e.NewLabel()
	e.load()
	for range e.r.blocks {
		e.bodies = append(e.bodies, e.NewLabel())
	}
	for i, b := range e.r.blocks {
		e.Bind(e.bodies[i])
		if l := b.loop(); l != nil {
			e.ahead(b, i, l)
		}
		e.block(b, i)
	}
	for len(e.cold) > 0 { // cold code may add more
		late := e.cold
		e.cold = nil
		for _, f := range late {
			f()
		}
	}
	e.Bind(e.spill)
	e.store()
	e.JmpAt(e.j.epilogue)
	e.Bind(e.away)
	e.store()
	e.jump()
}

// load emits the loads of the pinned registers.
func (e *emitter) load() {
	for g, host := range e.pins {
		switch {
		case host == unpinned:
		case g >= regFloat:
			e.Ins(amd64asm.Movq, amd64asm.Reg(host), slot(uint8(g)))
		default:
			e.Ins(amd64asm.Mov, amd64asm.Reg(host), slot(uint8(g)))
		}
	}
}

// store writes back the pinned registers that the region modifies. It is emitted
// after all blocks, when the set of modified registers is known.
func (e *emitter) store() {
	for g, dirty := range e.dirty {
		switch {
		case !dirty:
		case g >= regFloat:
			e.Ins(amd64asm.MovqStore, amd64asm.Reg(e.pins[g]), slot(uint8(g)))
		default:
			e.Ins(amd64asm.Store, amd64asm.Reg(e.pins[g]), slot(uint8(g)))
		}
	}
}

// block emits block b, the region's i-th.
func (e *emitter) block(b *block, i int) {
	e.b, e.records, e.bails = b, 0, make(map[int]amd64asm.Label)
	e.isBoxed = [256]bool{}
	clear(e.known)
	e.pending, e.groups = 0, group(b.ops)
	var next *block
	if i+1 < len(e.r.blocks) {
		next = e.r.blocks[i+1]
	}
	for k := range b.ops {
		o := &b.ops[k]
		if o.code == opCount {
			e.count(counter(o.imm + 1))
			continue
		}
		if !translatable(o) {
			e.Jmp(e.bail(k))
			return
		}
		if o.code >= opNext {
			e.end(o, next)
			return
		}
		e.op(o, k)
	}
}

// check emits opCheck: it bails out unless the batch has room for the block's
// events.
func (e *emitter) check(o *op, i int) {
	if o.imm > 0 && e.loop == nil {
		e.Ins(amd64asm.Lea, amd64asm.RAX, amd64asm.M(hostRecord, 8*o.imm))
		e.Ins(amd64asm.Cmp, amd64asm.RAX, frame(unsafe.Offsetof(jitFrame{}.recordEnd)))
		e.Jcc(amd64asm.A, e.bail(i))
	}
	if o.tag != 0 {
		e.Ins(amd64asm.Mov, amd64asm.RAX, frame(unsafe.Offsetof(jitFrame{}.id)))
		if e.loop == nil {
			e.Ins(amd64asm.Cmp, amd64asm.RAX, frame(unsafe.Offsetof(jitFrame{}.idEnd)))
			e.Jcc(amd64asm.AE, e.bail(i))
		}
		e.Store32(amd64asm.M(amd64asm.RAX, 0), o.tag-1)
		e.Imm(amd64asm.AddI, true, frame(unsafe.Offsetof(jitFrame{}.id)), 4)
	}
}

var branchConditions = [...]amd64asm.Cond{amd64asm.E, amd64asm.NE, amd64asm.L, amd64asm.GE, amd64asm.B, amd64asm.AE}

// charge emits the subtraction of the block's instructions from the budget, which sets
// the flags. It stands at the block's end, and in what leaves before it.
func (e *emitter) charge() {
	e.Imm(amd64asm.SubI, true, amd64asm.R(hostBudget), int32(e.b.n))
}

// end emits the last op of a block. next is the next block in the code layout, or
// nil.
func (e *emitter) end(o *op, next *block) {
	e.settle()
	if e.records > 0 {
		e.Imm(amd64asm.AddI, true, amd64asm.R(hostRecord), int32(8*e.records))
		e.records = 0
	}
	b := e.b
	switch c := o.code; {
	case c == opNext:
		e.charge()
		e.goTo(b.fallPC, exitNext, next)
	case c == opCountNext:
		e.charge()
		e.count(counter(o.imm + 1))
		e.goTo(b.fallPC, exitNext, next)
	case c == opJ || c == opJal:
		if c == opJal {
			e.constant(o.rd, b.fallPC)
		}
		e.charge()
		e.Jcc(amd64asm.LE, e.leave(b.takenPC))
		e.goTo(b.takenPC, exitTransfer, next)
	case c == opJalr:
		e.Ins(amd64asm.Mov, amd64asm.RAX, e.rm(o.rs1))
		if o.imm != 0 {
			e.Imm(amd64asm.AddI, true, amd64asm.R(amd64asm.RAX), o.imm)
		}
		e.Imm(amd64asm.AndI, true, amd64asm.R(amd64asm.RAX), -2)
		e.charge()
		e.constant(o.rd, b.fallPC)
		e.Jmp(e.away)
	case c >= opAddiBeq:
		e.addImmediate(o.rd, o.rs1, o.imm)
		e.branch(branchConditions[c-opAddiBeq], o.rs2, o.rs3, next)
	default:
		e.branch(branchConditions[c-opBeq], o.rs1, o.rs2, next)
	}
}

// goTo continues at pc, falling through if the block there is next in the layout.
func (e *emitter) goTo(pc uint64, kind jitExitKind, next *block) {
	if next == nil || next.pc != pc {
		e.Jmp(e.to(pc, kind))
	}
}

// branch emits a conditional branch on registers x and y.
func (e *emitter) branch(cc amd64asm.Cond, x, y uint8, next *block) {
	if e.loop != nil {
		e.again(cc, x, y)
		return
	}
	b := e.b
	spent := e.NewLabel()
	e.charge()
	e.Jcc(amd64asm.LE, spent)
	e.compare(x, y)
	if next != nil && next.pc == b.takenPC && b.takenPC != b.fallPC {
		e.Jcc(cc.Not(), e.after(b.fallCount, e.to(b.fallPC, exitTransfer)))
		e.count(b.takenCount)
	} else {
		e.Jcc(cc, e.after(b.takenCount, e.to(b.takenPC, exitTransfer)))
		e.count(b.fallCount)
		e.goTo(b.fallPC, exitTransfer, next)
	}
	taken, fall := e.after(b.takenCount, e.leave(b.takenPC)), e.after(b.fallCount, e.leave(b.fallPC))
	e.cold = append(e.cold, func() {
		e.Bind(spent)
		e.compare(x, y)
		e.Jcc(cc, taken)
		e.Jmp(fall)
	})
}

// compare sets the flags as x-y would.
func (e *emitter) compare(x, y uint8) {
	if x == 0 && y != 0 {
		e.Ins(amd64asm.Xor32, amd64asm.RAX, amd64asm.R(amd64asm.RAX))
		e.Ins(amd64asm.Cmp, amd64asm.RAX, e.rm(y))
		return
	}
	h := e.source(x, amd64asm.RAX)
	if y == 0 {
		e.Ins(amd64asm.Test, h, amd64asm.R(h))
		return
	}
	e.Ins(amd64asm.Cmp, h, e.rm(y))
}
