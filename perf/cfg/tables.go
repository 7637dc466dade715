package cfg

import (
	"slices"

	"presage/perf/isa"
)

// maxRounds bounds how often the indirect jumps of a routine are examined again
// because its graph has grown: one more than the depth to which tables are
// reached only through other tables. effortBase and effortPerInst bound the
// total work on hostile files, in instructions traversed backward and table
// entries read.
const (
	maxRounds     = 64
	effortBase    = 1 << 16
	effortPerInst = 64
)

// resolve looks for the targets of indirect jumps in routines that have grown
// since the last time, and reports whether there is more to explore.
func (x *explorer) resolve() bool {
	busy := false
	for _, d := range x.jumping {
		if !d.unsettled() {
			continue
		}
		busy = true
		d.rounds++
		d.sliced = d.changes
		x.slice(d)
	}
	return busy || x.giveUp()
}

// slice resolves the indirect jumps of a routine from the part explored so far.
func (x *explorer) slice(d *draft) {
	if x.globals == nil {
		x.findGlobals()
	}
	r := x.graph(d)
	saved := d.saved(r)
	d.loose = make(map[uint64][]uint64)
	for _, pc := range d.jumps {
		s := &slicer{terms: make(terms), x: x, r: r, saved: saved, seen: make(map[visit]bool)}
		if b, _ := r.BlockAt(pc); b >= 0 {
			s.slice(b)
		}
		d.partial[pc] = s.partial
		if s.partial {
			d.loose[pc] = s.loose
		}
		x.leadTo(d, pc, s.targets)
		delete(d.traps, pc)
		if len(s.targets) > 0 && len(d.tables[pc]) == 0 && !s.partial {
			d.traps[pc] = true // a constant address without code
		}
	}
}

// giveUp accepts likely targets of indirect jumps for which nothing better was
// found, and assumes that routines with an open jump return. It reports whether
// anything changed.
func (x *explorer) giveUp() bool {
	for _, d := range x.jumping {
		for _, pc := range d.jumps {
			// A routine that has grown too often to be examined again is only
			// partially resolved.
			d.partial[pc] = d.partial[pc] || d.sliced != d.changes
			if d.partial[pc] {
				x.leadTo(d, pc, d.loose[pc])
				x.mark(d)
			}
		}
		d.loose = nil
	}
	return len(x.work) > 0 || slices.ContainsFunc(x.jumping, (*draft).unsettled)
}

// unsettled reports whether d's indirect jumps must be examined again.
func (d *draft) unsettled() bool { return d.sliced != d.changes && d.rounds < maxRounds }

// leadTo records targets of the indirect jump at pc. Targets found earlier, when
// less of the routine was known, are kept.
func (x *explorer) leadTo(d *draft, pc uint64, targets []uint64) {
	for _, to := range targets {
		i, known := slices.BinarySearch(d.tables[pc], to)
		if known || x.at(to) == nil && x.add(to) == nil {
			continue
		}
		d.tables[pc] = slices.Insert(d.tables[pc], i, to)
		d.changes++
		x.jump(d, to)
	}
}

// saved returns the set of registers that calls preserve: those that the routine
// itself saves at its beginning and restores before it returns, and those that
// it does not define, or only changes by constants like the stack pointer.
func (d *draft) saved(r *Routine) isa.RegSet {
	var stored, restored, changed isa.RegSet
	for b := range r.Blocks {
		block := &r.Blocks[b]
		leaves := block.Exit == Returns || block.Exit == TailJump || block.Exit == Unknown
		for i := range block.Insts {
			in := &block.Insts[i]
			if in.Stored() != nil {
				if reg, ok := in.Value.Copy(); ok {
					stored = stored.With(reg)
				}
			}
			for _, reg := range in.Defs() {
				switch v := in.Result(reg); {
				case in.Class == isa.Call:
				case loads(in, v) && leaves:
					restored = restored.With(reg)
				case v.Op == isa.Add && v.A == reg && v.B == isa.NoReg && !v.Word:
				default:
					changed = changed.With(reg)
				}
			}
		}
	}
	return stored&restored | ^(changed | restored)
}

// loads reports whether the result of an instruction is exactly the content of
// its memory operand.
func loads(in *isa.Inst, v isa.Value) bool {
	from, ok := v.Copy()
	return ok && from == isa.Loaded || in.Class == isa.Load && v.Op == isa.Opaque
}

// findGlobals finds the registers that get the same constant value wherever they
// are defined, such as the global pointer.
func (x *explorer) findGlobals() {
	x.globals = make(map[isa.Reg]int64)
	other := make(map[isa.Reg]bool)
	for _, d := range x.drafts {
		d.sort()
		for i := range d.insts {
			for _, reg := range d.insts[i].Defs() {
				x.noteGlobal(d, i, reg, other)
			}
		}
	}
}

// noteGlobal records the value that instruction i of d gives to a register; other
// holds the registers known to have several values.
func (x *explorer) noteGlobal(d *draft, i int, reg isa.Reg, other map[isa.Reg]bool) {
	if other[reg] || i+1 < len(d.insts) && beginsAddress(&d.insts[i], &d.insts[i+1], reg) {
		return
	}
	n, ok := address(d.insts, i, d.insts[i].Result(reg))
	if was, known := x.globals[reg]; !ok || known && was != n {
		other[reg] = true
		delete(x.globals, reg)
		return
	}
	x.globals[reg] = n
}

// beginsAddress reports whether next adds to the constant that in defines, in the
// same register, so that the constant is only half of an address.
func beginsAddress(in, next *isa.Inst, reg isa.Reg) bool {
	_, ok := in.Result(reg).Constant()
	v := next.Result(reg)
	return ok && next.PC == in.Next() && next.Defines(reg) && v.Op == isa.Add && v.A == reg && v.B == isa.NoReg && !v.Word
}

// address returns the constant that v, a value of instruction i of list, amounts
// to, by itself or with the preceding instruction.
func address(list []isa.Inst, i int, v isa.Value) (int64, bool) {
	if n, ok := v.Constant(); ok {
		return n, true
	}
	if i == 0 || list[i].Accesses() || v.Op != isa.Add || v.Word || v.LowA || v.A == isa.NoReg || v.B != isa.NoReg {
		return 0, false
	}
	before := &list[i-1]
	n, ok := before.Result(v.A).Constant()
	if !ok || !before.Defines(v.A) || before.Next() != list[i].PC || before.Accesses() {
		return 0, false
	}
	return n + v.Imm, true
}
