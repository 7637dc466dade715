package amd64

import "presage/perf/isa"

// micros divides an instruction that does more than one thing into a load, its
// work, and a store.
func (l *Lifter) micros() {
	out := &l.out
	mems := out.Mems()
	if len(mems) == 0 {
		l.computeOnly()
		return
	}
	pure := out.Class == isa.Load || out.Class == isa.FPLoad || out.Class == isa.Store || out.Class == isa.FPStore
	if pure && len(mems) == 1 && len(out.Defs()) <= isa.MicroDefs && len(out.Uses()) <= isa.MicroUses && !l.movesStack() {
		return
	}
	var loaded []int
	for k := range mems {
		if mems[k].Kind != isa.MemStore {
			class := isa.Load
			if mems[k].Float {
				class = isa.FPLoad
			}
			loaded = append(loaded, out.AddMicro(class, k, addressUses(&mems[k]), l.loadDefs(pure)))
		}
	}
	last := loaded
	if work := l.workClass(pure, len(loaded) > 0); work != isa.Nop {
		last = l.work(work, loaded)
	}
	for k := range mems {
		if mems[k].Kind.Writes() {
			class := isa.Store
			if mems[k].Float {
				class = isa.FPStore
			}
			out.AddMicro(class, k, l.storeUses(&mems[k], pure), nil, last...)
		}
	}
	if l.movesStack() && pure {
		sp := []isa.Reg{isa.Reg(RSP)}
		out.AddMicro(isa.ALU, -1, present(out.Uses(), sp), sp)
	}
}

// movesStack reports whether the stack pointer changes beside the main work.
func (l *Lifter) movesStack() bool {
	return l.out.Defines(isa.Reg(RSP)) && l.in.form.kind == Move
}

// workClass is the class of what is done between loads and stores; Nop for
// nothing.
func (l *Lifter) workClass(pure, loads bool) isa.Class {
	switch {
	case !pure:
		return l.out.Class
	case l.in.form.kind == String:
		return isa.ALU
	case len(l.out.Defs()) > isa.MicroDefs:
		return isa.ALU
	}
	return isa.Nop
}

// loadDefs are the registers that a pure load defines.
func (l *Lifter) loadDefs(pure bool) []isa.Reg {
	if !pure || l.in.form.kind == String {
		return nil
	}
	defs := l.out.Defs()
	if l.movesStack() {
		var out []isa.Reg
		for _, r := range defs {
			if r != isa.Reg(RSP) {
				out = append(out, r)
			}
		}
		return out
	}
	return defs[:min(len(defs), isa.MicroDefs)]
}

// work adds the micro-operations that compute, and returns their numbers.
func (l *Lifter) work(class isa.Class, after []int) []int {
	out := &l.out
	uses, defs := l.dataUses(), out.Defs()
	if l.in.form.kind == String {
		class = isa.ALU
	}
	all := after
	var made []int
	for first := true; first || len(defs) > 0 || len(uses) > 0; first = false {
		u, d := uses[:min(len(uses), isa.MicroUses)], defs[:min(len(defs), isa.MicroDefs)]
		n := out.AddMicro(class, -1, u, d, all...)
		uses, defs = uses[len(u):], defs[len(d):]
		made = append(made, n)
		all = append(all[:len(all):len(all)], n)
		if class != isa.Atomic {
			class = isa.ALU
		}
		if len(made) == 4 {
			break
		}
	}
	return made
}

// dataUses are the registers that the work needs: those not in addresses alone.
func (l *Lifter) dataUses() []isa.Reg {
	out := &l.out
	var data []isa.Reg
	for _, r := range out.Uses() {
		if !l.addressOnly(r) {
			data = append(data, r)
		}
	}
	return data
}

// addressOnly reports whether a register is read for an address, and for nothing
// else as far as the operands tell.
func (l *Lifter) addressOnly(r isa.Reg) bool {
	part := false
	for _, m := range l.out.Mems() {
		part = part || m.Reads(r)
	}
	if !part {
		return false
	}
	if l.in.form.kind == String {
		return false // it moves on
	}
	for i := range l.in.form.ops[:l.in.form.n] {
		if o := l.in.Operand(i); o.Kind == RegOperand && o.Access&Read != 0 && o.Reg.General() && isa.Reg(o.Reg) == r {
			return false
		}
	}
	for i := range l.in.form.implicit {
		if s := &l.in.form.implicit[i]; s.place == fixed && s.access&Read != 0 && isa.Reg(s.first) == r {
			return false
		}
	}
	return true
}

// storeUses are the registers of a store's address, and of its datum if nothing
// is computed.
func (l *Lifter) storeUses(m *isa.Mem, pure bool) []isa.Reg {
	uses := addressUses(m)
	if !pure || l.in.form.kind == String {
		return uses
	}
	for _, r := range l.out.Uses() {
		if !m.Reads(r) && len(uses) < isa.MicroUses {
			uses = append(uses, r)
		}
	}
	return uses
}

func addressUses(m *isa.Mem) []isa.Reg {
	var uses []isa.Reg
	if m.Base != isa.NoReg {
		uses = append(uses, m.Base)
	}
	if m.Index != isa.NoReg && m.Index != m.Base {
		uses = append(uses, m.Index)
	}
	return uses
}

func present(uses, wanted []isa.Reg) []isa.Reg {
	var out []isa.Reg
	for _, r := range wanted {
		for _, u := range uses {
			if u == r {
				out = append(out, r)
			}
		}
	}
	return out
}

// computeOnly divides an instruction without operands in memory that has more
// registers than a micro-operation.
func (l *Lifter) computeOnly() {
	if len(l.out.Uses()) <= isa.MicroUses && len(l.out.Defs()) <= isa.MicroDefs {
		return
	}
	l.work(l.out.Class, nil)
}
