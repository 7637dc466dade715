//go:build linux && amd64

package rv64

import (
	"unsafe"

	"presage/perf/engine/rv64/amd64asm"
)

// jitLink identifies an exit from a region to a block outside it.
type jitLink struct {
	pc   uint64
	kind jitExitKind
}

// jitHome is the region that contains a block's translation.
type jitHome struct{ pins [256]int8 }

// enterHome emits an entry for a block that was translated inside a region. It
// returns false if the arena is full.
func (j *jit) enterHome(b *block) bool {
	e := &emitter{Code: &j.asm, j: j, pins: b.home.pins}
	e.Reset(j.arena.used)
	e.load()
	e.JmpAt(b.body)
	if !j.arena.add(e.Bytes) {
		return false
	}
	b.entry = e.Origin
	return true
}

// jump continues at the translation of the pc in RAX if the table has one.
func (e *emitter) jump() {
	out := e.NewLabel()
	e.Ins(amd64asm.Test, hostBudget, amd64asm.R(hostBudget))
	e.Jcc(amd64asm.LE, out)
	// A slot has 16 bytes and the pc is even: slot (pc>>1)&mask is at
	// (pc<<3)&(mask<<4).
	e.Ins(amd64asm.Mov, amd64asm.RCX, amd64asm.R(amd64asm.RAX))
	e.Shift(amd64asm.ShlI, true, amd64asm.RCX, 3)
	e.Imm(amd64asm.AndI, false, amd64asm.R(amd64asm.RCX), (jumpEntries-1)<<4)
	e.Ins(amd64asm.Add, amd64asm.RCX, frame(unsafe.Offsetof(jitFrame{}.jumps)))
	e.Ins(amd64asm.Cmp, amd64asm.RAX, amd64asm.M(amd64asm.RCX, 0))
	e.Jcc(amd64asm.NE, out)
	e.JmpTo(amd64asm.M(amd64asm.RCX, 8))
	e.Bind(out)
	e.JmpAt(e.j.indirect)
}

// exit adds an exit and returns its index.
func (e *emitter) exit(x jitExit) int {
	e.j.exits = append(e.j.exits, x)
	return len(e.j.exits) - 1
}

// leave returns the label of code that exits, with pc as the target, because the
// budget is used up.
func (e *emitter) leave(pc uint64) amd64asm.Label {
	l, ok := e.leaves[pc]
	if ok {
		return l
	}
	l = e.NewLabel()
	e.leaves[pc] = l
	e.cold = append(e.cold, func() {
		e.Bind(l)
		// The driver checks the budget first and so never connects this exit.
		e.Const(amd64asm.RAX, uint64(e.exit(jitExit{kind: exitTransfer, pc: pc})))
		e.Jmp(e.spill)
	})
	return l
}

// to returns the label of code that continues at the block at pc: inside the
// region, or in the block's own translation once it has one.
func (e *emitter) to(pc uint64, kind jitExitKind) amd64asm.Label {
	if b := e.j.m.code.blocks[pc]; b != nil {
		if l, ok := e.slow[b]; ok && b == e.b {
			return l
		}
		if i, ok := e.r.index[b]; ok {
			return e.bodies[i]
		}
	}
	key := jitLink{pc, kind}
	l, ok := e.links[key]
	if ok {
		return l
	}
	l = e.NewLabel()
	e.links[key] = l
	e.cold = append(e.cold, func() {
		x := e.exit(jitExit{kind: kind, pc: pc})
		e.Bind(l)
		e.connectable(x)
	})
	return l
}

// connectable emits the stores and the jump that connect retargets. It is cold
// code, so all blocks have been emitted already.
func (e *emitter) connectable(x int) {
	e.store()
	site := e.JmpAt(e.Here() + 5) // the next instruction
	e.linkSite[x] = site
	e.Const(amd64asm.RAX, uint64(x))
	e.JmpAt(e.j.epilogue)
}

// bail returns the label of code that hands the current block to the interpreter
// at op i, which has not had any effect.
func (e *emitter) bail(i int) amd64asm.Label {
	l, ok := e.bails[i]
	if ok {
		return l
	}
	l = e.NewLabel()
	e.bails[i] = l
	b, records, left, looping := e.b, e.records, e.pending, e.loop
	e.cold = append(e.cold, func() {
		e.Bind(l)
		if looping != nil {
			e.resume(looping)
		}
		e.Imm(amd64asm.SubI, true, amd64asm.R(hostBudget), int32(b.n))
		if records > 0 {
			e.Imm(amd64asm.AddI, true, amd64asm.R(hostRecord), int32(8*records))
		}
		e.Const(amd64asm.RAX, uint64(e.exit(jitExit{kind: exitBail, block: b, op: i, pending: left})))
		e.Jmp(e.spill)
	})
	return l
}
