package access

import (
	"slices"

	"presage/perf/isa"
)

// This file follows values through calls of the simplest functions: a straight line
// of instructions without memory, such as one that computes the index of an element.
// What other calls leave is unknown.

// mostInlined bounds the instructions of a callee that is followed.
const mostInlined = 32

// straight returns the instructions of the routine that a call goes to, without its
// return; nil if it is no straight line of them, or one of them accesses memory.
func (c convention) straight(call *isa.Inst) []isa.Inst {
	if call.Class != isa.Call || !call.HasTarget {
		return nil
	}
	to := c.program.RoutineAt(call.Target)
	if to == nil || to.Addr != call.Target || len(to.Blocks) != 1 || len(to.Blocks[0].Insts) > mostInlined {
		return nil
	}
	all := to.Blocks[0].Insts
	if len(all) == 0 || all[0].PC != call.Target || all[len(all)-1].Class != isa.Return {
		return nil
	}
	body := all[:len(all)-1]
	if slices.ContainsFunc(body, func(in isa.Inst) bool { return in.Accesses() || in.Class.EndsBlock() }) {
		return nil
	}
	return body
}

// callee is a call whose callee is a straight line.
type callee struct {
	a    *routineAnalysis
	call point
	code []isa.Inst
	done map[calleeValue]linear
}

// calleeValue is the content of a register before an instruction of a callee.
type calleeValue struct {
	inst int
	reg  isa.Reg
}

// called returns what the call p.inst leaves in p.reg; ok is false if that is unknown.
func (a *routineAnalysis) called(p point, call *isa.Inst) (linear, bool) {
	code := a.convention.straight(call)
	if !slices.ContainsFunc(code, func(in isa.Inst) bool { return in.Defines(p.reg) }) {
		return linear{}, false
	}
	c := callee{a: a, call: p, code: code, done: make(map[calleeValue]linear)}
	return c.before(len(code), p.reg)
}

// before returns the content of a register before instruction i of the callee, in
// terms of what the caller has.
func (c *callee) before(i int, r isa.Reg) (linear, bool) {
	if r == isa.NoReg {
		return linear{}, true
	}
	if !c.a.followed(r) {
		return linear{}, false
	}
	for i--; i >= 0 && !c.code[i].Defines(r); i-- {
	}
	if i < 0 {
		// The call itself sets the link register.
		if in := &c.a.r.Blocks[c.call.block].Insts[c.call.inst]; in.Defines(r) {
			return linear{}, false
		}
		return c.a.operand(int(c.call.block), int(c.call.inst), r), true
	}
	k := calleeValue{i, r}
	if v, ok := c.done[k]; ok {
		return v, true
	}
	v := c.code[i].Result(r)
	if v.Op == isa.Opaque {
		return linear{}, false
	}
	x, ok := c.before(i, v.A)
	if !ok {
		return linear{}, false
	}
	y := constant(v.Imm)
	switch {
	case v.B != isa.NoReg:
		if y, ok = c.before(i, v.B); !ok {
			return linear{}, false
		}
	case v.Op == isa.ScaledAdd:
		y = linear{}
	}
	c.a.at = c.call
	out := c.a.apply(v, x, y)
	c.done[k] = out
	return out, true
}
