//go:build linux && amd64

package rv64

import (
	"slices"

	"presage/perf/engine/rv64/amd64asm"
)

// recordPair are the records of two accesses of a loop that follow each other, both
// regular, in one vector register. The fast part stores them together and adds to each
// what an iteration adds to its address.
type recordPair struct {
	first *op
	x     amd64asm.Reg
	steps int // their offset in the arena
}

// moving is the address of an access in the first iteration, and, if it is regular, what
// an iteration adds to it.
type moving struct {
	linear
	step int64
}

// pairRecords emits the start of a loop's fast part: vector registers that the region
// does not use take pairs of its records. It clobbers RAX, RCX and a scratch register.
func (e *emitter) pairRecords(b *block, l *selfLoop) {
	e.pairs = make(map[*op]*recordPair)
	_, free := e.j.pinnable()
	free = slices.DeleteFunc(free, func(x amd64asm.Reg) bool { return slices.Contains(e.pins[regFloat:], int8(x)) })
	var found [][2]int
	first := -1
	for i := range b.ops {
		switch {
		case !b.ops[i].code.traced():
		case !l.regular[i]:
			first = -1
		case first < 0:
			first = i
		case len(found) < len(free):
			found, first = append(found, [2]int{first, i}), -1
		}
	}
	if len(found) == 0 {
		return
	}
	over := e.NewLabel()
	e.Jmp(over)
	e.Align(16)
	for k, at := range found {
		p := &recordPair{first: &b.ops[at[0]], x: free[k], steps: e.Here()}
		for _, i := range at {
			e.pairs[&b.ops[i]] = p
			e.Word(uint64(l.address[i].step))
		}
	}
	e.Bind(over)
	for k, at := range found {
		e.firstRecord(&b.ops[at[0]], &l.address[at[0]].linear)
		e.Ins(amd64asm.MovqTo, free[k], amd64asm.R(amd64asm.RCX))
		e.firstRecord(&b.ops[at[1]], &l.address[at[1]].linear)
		e.Ins(amd64asm.MovqTo, scratchX, amd64asm.R(amd64asm.RCX))
		e.Ins(amd64asm.Punpcklqdq, free[k], amd64asm.R(scratchX))
	}
}

// firstRecord computes the record of an access in the first iteration, in RCX. It
// clobbers RAX.
func (e *emitter) firstRecord(o *op, a *linear) {
	base := e.sum(a)
	e.Const(amd64asm.RAX, uint64(o.tag)<<32+uint64(a.c))
	e.Ins(amd64asm.Lea, amd64asm.RCX, amd64asm.MX(amd64asm.RAX, base, 0, 0))
}

// recordPair emits the records of a pair, if o is its first access, and reports whether
// o is in one.
func (e *emitter) recordPair(o *op) bool {
	p := e.pairs[o]
	if p == nil {
		return false
	}
	if p.first == o {
		e.Ins(amd64asm.MovdquStore, p.x, amd64asm.M(hostRecord, int32(8*e.records)))
		e.Ins(amd64asm.Paddq, p.x, amd64asm.At(p.steps))
	}
	e.records++
	return true
}
