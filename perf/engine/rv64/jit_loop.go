//go:build linux && amd64

package rv64

import (
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"presage/perf/engine/rv64/amd64asm"
)

// A block that branches to itself is translated twice: as any other, and without the
// checks that can be made for many iterations ahead:
//
//	head:  budget and room for rounds iterations, and pages that permit all their
//	       regular accesses? Otherwise go to slow.
//	       rest = budget - rounds·n; budget = rounds·n
//	fast:  the block, regular accesses unchecked, and recorded in pairs (recordPair)
//	       budget -= n; if it is used up: budget = rest, and on to head or out
//	       branch to fast, or budget += rest and out
//	slow:  the block with all its checks; branches to slow
//
// So the budget is charged as ever, and is what is left of it plus rest while fast is
// executed. An access is regular if its address is a sum of registers and constants of
// which each is the same, or larger by a constant, in every iteration.
const (
	// loopRounds is the most iterations that are checked ahead, and fewRounds the
	// least that an access must allow to be regular. At most loopCharge instructions
	// are, but for long blocks: turns and batches end with slow.
	loopRounds = 128
	fewRounds  = 16
	loopCharge = 4096
	// maxReach is the most bytes from the first to the last access of a stream in all
	// these iterations, so that it touches two pages at most.
	maxReach = pageBytes
	// maxAddends is the most registers in a regular address.
	maxAddends = 4
)

// selfLoop is what is checked ahead of a loop of one block.
type selfLoop struct {
	rounds  int32
	streams []strided
	regular []bool   // of each op: an access that is in a stream
	address []moving // of each op's access

	head, fast amd64asm.Label
	window     bool // fast has changed hostNeg
}

// strided is a set of regular accesses whose addresses differ by constants.
type strided struct {
	base      linear // its constant is 0
	step      int64  // what each iteration adds to the addresses
	low, high int64  // the bytes accessed in the first iteration, relative to base
	write     bool   // one is a store
}

// linear is c + Σ coef[r]·x[r] modulo 2^64, of the registers at the start of an
// iteration; unknown if it is not valid.
type linear struct {
	valid bool
	c     int64
	coef  [32]int64
}

func constantly(c int64) linear { return linear{valid: true, c: c} }

// plus returns a + b<<shift.
func (a linear) plus(b linear, shift uint8) linear {
	if !a.valid || !b.valid {
		return linear{}
	}
	a.c += b.c << shift
	for r := range a.coef {
		a.coef[r] += b.coef[r] << shift
	}
	return a
}

func (a linear) negated() linear {
	a.c = -a.c
	for r := range a.coef {
		a.coef[r] = -a.coef[r]
	}
	return a
}

// registers are the values of x0 to x31 and of the sink.
type registers [regSink + 1]linear

// at returns the value of an operand, which need not be an integer register.
func (v *registers) at(r uint8) linear {
	if int(r) < len(v) {
		return v[r]
	}
	return linear{}
}

func (v *registers) set(r uint8, to linear) {
	if r != 0 && int(r) < len(v) {
		v[r] = to
	}
}

// execute follows an op.
func (v *registers) execute(o *op) {
	switch c := o.code; {
	case c == opConst:
		v.set(o.rd, constantly(int64(o.constant())))
	case c == opMv:
		v.set(o.rd, v.at(o.rs1))
	case c == opAddi || c >= opAddiBeq && c <= opAddiBgeu:
		v.set(o.rd, v.at(o.rs1).plus(constantly(int64(o.imm)), 0))
	case c == opAdd:
		v.set(o.rd, v.at(o.rs1).plus(v.at(o.rs2), 0))
	case c == opSub:
		v.set(o.rd, v.at(o.rs1).plus(v.at(o.rs2).negated(), 0))
	case c == opSlli:
		v.set(o.rd, constantly(0).plus(v.at(o.rs1), uint8(o.imm)&63))
	case c >= opSh1add && c <= opSh3add:
		v.set(o.rd, v.at(o.rs2).plus(v.at(o.rs1), uint8(c-opSh1add)+1))
	case c == opShlAdd || c == opShlAddLd || c == opShlAddLdT:
		shifted := constantly(0).plus(v.at(o.rs1), uint8(o.imm)&63)
		sum := shifted.plus(v.at(o.rs2), 0)
		v.set(o.rs3, shifted)
		v.set(o.rd, sum)
		if c != opShlAdd {
			v.set(o.rm, linear{})
		}
	case c >= opBeq && c <= opBgeu:
	default:
		v.set(o.rd, linear{})
		v.set(o.rs3, linear{}) // which few ops write
	}
}

// loop returns what can be checked ahead of a block that branches to itself; nil if
// there is nothing.
func (b *block) loop() *selfLoop {
	last := &b.ops[len(b.ops)-1]
	if last.code < opBeq || last.code > opAddiBgeu || b.takenPC != b.pc {
		return nil
	}
	var v registers
	for r := range 32 {
		v[r] = linear{valid: true}
		v[r].coef[r] = 1
	}
	v[0] = constantly(0)
	address := make([]moving, len(b.ops))
	for i := range b.ops {
		o := &b.ops[i]
		if o.code == opCsr || !translatable(o) {
			return nil // it may read the budget
		}
		if size, _ := o.accessed(); size != 0 {
			address[i].linear = v.at(o.rs1).plus(constantly(int64(o.imm)), 0)
		}
		v.execute(o)
		if o.code == opShlAddLd || o.code == opShlAddLdT {
			address[i].linear = v.at(o.rd).plus(constantly(int64(o.imm>>8)), 0)
		}
	}
	l := &selfLoop{rounds: max(4, min(loopRounds, int32(loopCharge/b.n))), regular: make([]bool, len(b.ops)), address: address}
	for i := range address {
		if step, ok := v.step(&address[i].linear); ok {
			size, write := b.ops[i].accessed()
			if size == 0 {
				size = 8 // opShlAddLd
			}
			address[i].step = step
			l.regular[i] = l.add(address[i].linear, step, int64(size), write)
		}
	}
	if len(l.streams) == 0 {
		return nil
	}
	for i := range l.streams {
		l.rounds = min(l.rounds, int32(l.streams[i].rounds()))
	}
	return l
}

// step returns what an iteration, after which v are the registers, adds to a value;
// ok is false if that is not a constant, or if the value takes too long to compute.
func (v *registers) step(a *linear) (step int64, ok bool) {
	if !a.valid {
		return 0, false
	}
	addends := 0
	for r, c := range a.coef {
		if c == 0 {
			continue
		}
		next := v[r]
		next.coef[r]--
		if !next.valid || next.coef != (linear{}).coef || bits.OnesCount64(magnitude(c)) != 1 {
			return 0, false
		}
		addends++
		step += c * next.c
	}
	return step, addends <= maxAddends
}

func magnitude(v int64) uint64 { return uint64(max(v, -v)) }

// add adds an access to the streams. It returns false if it is not regular.
func (l *selfLoop) add(a linear, step, size int64, write bool) bool {
	s := strided{base: a, step: step, low: a.c, high: a.c + size, write: write}
	s.base.c = 0
	if s.rounds() < fewRounds {
		return false
	}
	for i := range l.streams {
		t := l.streams[i]
		if t.base != s.base || t.step != s.step {
			continue
		}
		t.low, t.high, t.write = min(s.low, t.low), max(s.high, t.high), s.write || t.write
		if t.rounds() >= fewRounds {
			l.streams[i] = t
			return true
		}
	}
	l.streams = append(l.streams, s)
	return true
}

// rounds returns for how many iterations the stream stays within maxReach bytes, at
// most loopRounds; 0 if its displacement does not fit an instruction.
func (s *strided) rounds() int64 {
	const reach = math.MaxInt32 - loopRounds*maxReach
	step := magnitude(s.step)
	if s.low < -reach || s.high > reach || s.high-s.low > maxReach || step > maxReach {
		return 0
	}
	if step == 0 {
		return loopRounds
	}
	return min(loopRounds, (maxReach-(s.high-s.low))/int64(step)+1)
}

// ahead emits head and fast of loop l, which is block b. The slow block must follow.
func (e *emitter) ahead(b *block, i int, l *selfLoop) {
	slow := e.NewLabel()
	l.head, l.fast = e.bodies[i], e.NewLabel()
	charge := l.rounds * int32(b.n)
	e.Imm(amd64asm.CmpI, true, amd64asm.R(hostBudget), charge)
	e.Jcc(amd64asm.LE, slow)
	if o := &b.ops[0]; o.code == opCheck {
		e.room(o, l.rounds, slow)
	}
	for k := range l.streams {
		e.stream(&l.streams[k], l.rounds, slow)
	}
	e.Ins(amd64asm.Lea, amd64asm.RAX, amd64asm.M(hostBudget, -charge))
	e.Ins(amd64asm.Store, amd64asm.RAX, frame(unsafe.Offsetof(jitFrame{}.rest)))
	e.Const(hostBudget, uint64(charge))
	e.pairRecords(b, l)
	e.keepRecords(b, l)
	e.Bind(l.fast)
	e.loop = l
	e.block(b, i)
	e.loop, e.kept, e.pairs = nil, nil, nil
	e.Bind(slow)
	e.slow[b] = slow
}

// room goes to slow unless the batch has room for the events of some executions of
// the block that begins with opCheck o.
func (e *emitter) room(o *op, rounds int32, slow amd64asm.Label) {
	if o.imm > 0 {
		e.Ins(amd64asm.Lea, amd64asm.RAX, amd64asm.M(hostRecord, 8*o.imm*rounds))
		e.Ins(amd64asm.Cmp, amd64asm.RAX, frame(unsafe.Offsetof(jitFrame{}.recordEnd)))
		e.Jcc(amd64asm.A, slow)
	}
	if o.tag != 0 {
		e.Ins(amd64asm.Mov, amd64asm.RAX, frame(unsafe.Offsetof(jitFrame{}.id)))
		e.Imm(amd64asm.AddI, true, amd64asm.R(amd64asm.RAX), 4*rounds)
		e.Ins(amd64asm.Cmp, amd64asm.RAX, frame(unsafe.Offsetof(jitFrame{}.idEnd)))
		e.Jcc(amd64asm.A, slow)
	}
}

// stream goes to slow unless the guest may make a stream's accesses in some iterations,
// as guard does for those of one.
func (e *emitter) stream(s *strided, rounds int32, slow amd64asm.Label) {
	travel := s.step * int64(rounds-1)
	low := int32(s.low + min(0, travel))
	n := int32(max(s.high-s.low+int64(magnitude(travel)), 8))
	last := unsafe.Offsetof(jitFrame{}.lastSpan)
	if n > maxSpan {
		last = unsafe.Offsetof(jitFrame{}.lastReach)
	}
	e.Ins(amd64asm.Lea, amd64asm.RCX, amd64asm.MX(e.sum(&s.base), hostNeg, 0, low))
	e.Ins(amd64asm.Cmp, amd64asm.RCX, frame(last))
	outside, inside := e.NewLabel(), e.NewLabel()
	e.Jcc(amd64asm.AE, outside)
	e.Bind(inside)
	write := s.write
	e.cold = append(e.cold, func() {
		e.Bind(outside)
		e.Ins(amd64asm.Sub, amd64asm.RCX, amd64asm.R(hostNeg))
		e.Ins(amd64asm.Cmp, amd64asm.RCX, frame(unsafe.Offsetof(jitFrame{}.sizeLess8)))
		e.Jcc(amd64asm.A, slow)
		e.Ins(amd64asm.Lea, amd64asm.RDX, amd64asm.M(amd64asm.RCX, n-8))
		e.Ins(amd64asm.Cmp, amd64asm.RDX, frame(unsafe.Offsetof(jitFrame{}.sizeLess8)))
		e.Jcc(amd64asm.A, slow)
		e.Ins(amd64asm.Mov, amd64asm.RDX, amd64asm.R(amd64asm.RCX))
		e.permission(write, slow)
		e.Ins(amd64asm.Lea, amd64asm.RDX, amd64asm.M(amd64asm.RCX, n-1))
		e.permission(write, slow)
		e.Ins(amd64asm.Store, amd64asm.RCX, frame(unsafe.Offsetof(jitFrame{}.missedAddr)))
		e.Imm(amd64asm.AddI, true, frame(unsafe.Offsetof(jitFrame{}.misses)), 1)
		e.Jmp(inside)
	})
}

// sum returns a host register that holds a value without a constant: RCX, or one that
// a guest register is pinned to. It clobbers RAX and RCX.
func (e *emitter) sum(a *linear) amd64asm.Reg {
	var addends []uint8
	for r := range a.coef {
		if a.coef[r] != 0 {
			addends = append(addends, uint8(r))
		}
	}
	if len(addends) == 1 && a.coef[addends[0]] == 1 {
		return e.source(addends[0], amd64asm.RCX)
	}
	e.Const(amd64asm.RCX, 0)
	for _, r := range addends {
		c := a.coef[r]
		add := amd64asm.Add
		if c < 0 && c != math.MinInt64 {
			add = amd64asm.Sub
		}
		if c == 1 || c == -1 {
			e.Ins(add, amd64asm.RCX, e.rm(r))
			continue
		}
		e.Ins(amd64asm.Mov, amd64asm.RAX, e.rm(r))
		e.Shift(amd64asm.ShlI, true, amd64asm.RAX, uint8(bits.TrailingZeros64(magnitude(c))))
		e.Ins(add, amd64asm.RCX, amd64asm.R(amd64asm.RAX))
	}
	return amd64asm.RCX
}

// keepRecords emits the start of a loop's fast part: host registers that it does not use
// take the constants of the records that it makes.
func (e *emitter) keepRecords(b *block, l *selfLoop) {
	var free []amd64asm.Reg
	if l.scratchless(b) {
		free, l.window = append(free, amd64asm.RDX, hostNeg), e.j.traced
	}
	integer, _ := e.j.pinnable()
	for _, h := range integer {
		if !slices.Contains(e.pins[:regFloat], int8(h)) {
			free = append(free, h)
		}
	}
	e.kept = make(map[*op]amd64asm.Reg)
	for i := range b.ops {
		o := &b.ops[i]
		if size, _ := o.accessed(); size == 0 || !o.code.traced() || e.pairs[o] != nil || len(free) == 0 {
			continue
		}
		e.kept[o], free = free[0], free[1:]
		e.Const(e.kept[o], o.recordAt(o.imm))
	}
}

// scratchless reports whether the fast part of loop l, block b, needs neither RDX nor
// the window.
func (l *selfLoop) scratchless(b *block) bool {
	for i := range b.ops {
		o := &b.ops[i]
		if size, _ := o.accessed(); size != 0 && l.regular[i] {
			continue
		}
		switch c := o.code; {
		case c < opMul, c >= opFaddD && c <= opFleS, c == opCheck, c == opCount, c == opShlAdd, c >= opNext:
		default:
			return false
		}
	}
	return true
}

// resume emits the end of a loop's fast part: the budget is again all of it.
func (e *emitter) resume(l *selfLoop) {
	e.Ins(amd64asm.Add, hostBudget, frame(unsafe.Offsetof(jitFrame{}.rest)))
	if l.window {
		e.Ins(amd64asm.Mov, hostNeg, frame(unsafe.Offsetof(jitFrame{}.negStart)))
	}
}

// again emits the branch of a loop's fast part.
func (e *emitter) again(cc amd64asm.Cond, x, y uint8) {
	b, l := e.b, e.loop
	used := e.NewLabel()
	e.charge()
	e.Jcc(amd64asm.LE, used)
	e.compare(x, y)
	e.Jcc(cc, e.after(b.takenCount, l.fast))
	e.resume(l)
	e.count(b.fallCount)
	out := e.to(b.fallPC, exitTransfer)
	e.Jmp(out)
	head, out := e.after(b.takenCount, l.head), e.after(b.fallCount, out)
	e.cold = append(e.cold, func() {
		e.Bind(used)
		e.resume(l) // something is left: see ahead
		e.compare(x, y)
		e.Jcc(cc, head)
		e.Jmp(out)
	})
}

// checkedAhead reports whether op i's access is one that was checked ahead of the loop.
func (e *emitter) checkedAhead(i int) bool { return e.loop != nil && e.loop.regular[i] }
