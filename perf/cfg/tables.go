package cfg

import (
	"slices"

	"presage/perf/isa"
)

// maxRounds bounds how often the indirect jumps of a routine are looked at
// again because its graph has grown: one more than how deep tables hide behind
// tables. effortBase and effortPerInst bound the whole work, in instructions
// gone back and table entries read, for files made to take long.
const (
	maxRounds     = 64
	effortBase    = 1 << 16
	effortPerInst = 64
)

// resolve looks for the targets of the indirect jumps in routines that have
// grown since that was last done, and reports whether there is more to explore.
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

// slice resolves the indirect jumps of a routine, as far as it is known.
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
			d.traps[pc] = true // a constant where nothing is
		}
	}
}

// giveUp takes what is likely for the targets of indirect jumps where nothing
// better was found, and lets routines with an open one return. It reports
// whether that changed anything.
func (x *explorer) giveUp() bool {
	for _, d := range x.jumping {
		for _, pc := range d.jumps {
			// What has grown too often to be looked at again is not known whole.
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

// unsettled reports whether d's indirect jumps are to be looked at again.
func (d *draft) unsettled() bool { return d.sliced != d.changes && d.rounds < maxRounds }

// leadTo notes targets of the indirect jump at pc. What was found earlier, when
// less of the routine was known, stays.
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

// saved returns the set of registers that a call keeps: those that the routine
// itself saves at its beginning and restores before it returns, and those that
// it does not define, or only moves by constants as it does its stack's.
func (d *draft) saved(r *Routine) uint64 {
	var stored, restored, changed uint64
	for b := range r.Blocks {
		block := &r.Blocks[b]
		leaves := block.Exit == Returns || block.Exit == TailJump || block.Exit == Unknown
		for i := range block.Insts {
			in := &block.Insts[i]
			if in.Class == isa.Store {
				if reg, ok := in.Value.Copy(); ok && reg < isa.F0 {
					stored |= 1 << reg
				}
			}
			for _, reg := range in.Defs() {
				switch v := in.Value; {
				case reg >= isa.F0, in.Class == isa.Call:
				case in.Class == isa.Load && leaves:
					restored |= 1 << reg
				case in.Class == isa.Load:
					changed |= 1 << reg
				case v.Op == isa.Add && v.A == reg && v.B == isa.NoReg && !v.Word:
				default:
					changed |= 1 << reg
				}
			}
		}
	}
	return stored&restored | ^(changed | restored)
}

// findGlobals finds the registers that are given one constant value wherever
// they are defined, such as the one that points to small data.
func (x *explorer) findGlobals() {
	x.globals = make(map[isa.Reg]int64)
	other := make(map[isa.Reg]bool)
	for _, d := range x.drafts {
		d.sort()
		for i := range d.insts {
			defs := d.insts[i].Defs()
			if len(defs) == 0 || other[defs[0]] {
				continue
			}
			reg := defs[0]
			if i+1 < len(d.insts) && beginsAddress(&d.insts[i], &d.insts[i+1]) {
				continue // half of an address
			}
			n, ok := address(d.insts, i)
			if was, known := x.globals[reg]; !ok || known && was != n {
				other[reg] = true
				delete(x.globals, reg)
				continue
			}
			x.globals[reg] = n
		}
	}
}

// beginsAddress reports whether next adds to the constant that in defines, in
// the same register.
func beginsAddress(in, next *isa.Inst) bool {
	_, ok := in.Value.Constant()
	defs, after := in.Defs(), next.Defs()
	return ok && next.PC == in.Next() && len(defs) == 1 && len(after) == 1 && defs[0] == after[0] &&
		next.Value.Op == isa.Add && next.Value.A == defs[0] && next.Value.B == isa.NoReg && !next.Value.Word
}

// address returns the constant that instruction i of list defines, alone or
// with the one before it.
func address(list []isa.Inst, i int) (int64, bool) {
	v := list[i].Value
	if n, ok := v.Constant(); ok {
		return n, true
	}
	if i == 0 || list[i].Mem.Kind != isa.NoMem || v.Op != isa.Add || v.Word || v.LowA || v.A == isa.NoReg || v.B != isa.NoReg {
		return 0, false
	}
	before := &list[i-1]
	n, ok := before.Value.Constant()
	if defs := before.Defs(); !ok || len(defs) == 0 || defs[0] != v.A || before.Next() != list[i].PC || before.Mem.Kind != isa.NoMem {
		return 0, false
	}
	return n + v.Imm, true
}
