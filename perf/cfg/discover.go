package cfg

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"presage/perf/isa"
	"presage/perf/objfile"
)

// maxDiscovery bounds how often a program without symbols is explored again with
// the routines found so far. A dozen rounds suffice for compiled code.
const maxDiscovery = 24

// discover explores a program and finds the routines in executable sections for
// which the file names none. They begin at the program's entry, at call targets,
// at code addresses in start-up code and pointer tables or computed by code, and,
// in the remaining gaps, after padding. The routines found split their section;
// each is named after its address.
func discover(f *objfile.File, d isa.Decoder) *explorer {
	x := newExplorer(f, d, nil)
	bare := x.bareSections()
	if len(bare) == 0 {
		x.run()
		return x
	}
	starts := map[uint64]bool{}
	for _, r := range bare {
		starts[r.Addr] = true
		if f.Entry-r.Addr < r.Size {
			starts[f.Entry] = true
		}
	}
	x.pointers(bare, starts, func(s *objfile.Section) bool { return strings.HasSuffix(s.Name, "_array") }, nil)
	x.descend(bare, starts)
	for round := 0; ; round++ {
		x = newExplorer(f, d, slices.Sorted(maps.Keys(starts)))
		x.run()
		if round == maxDiscovery || !x.widen(bare, starts) {
			return x
		}
		x.descend(bare, starts)
	}
}

// bareSections returns the routines that stand for a whole section each.
func (x *explorer) bareSections() []objfile.Routine {
	var list []objfile.Routine
	for _, s := range x.file.Sections {
		r := objfile.Routine{Name: s.Name, Addr: s.Addr, Size: s.Size}
		if s.Execute && slices.Contains(x.file.Routines, r) {
			list = append(list, r)
		}
	}
	return list
}

// within reports whether one of the routines holds pc.
func within(list []objfile.Routine, pc uint64) bool {
	return slices.ContainsFunc(list, func(r objfile.Routine) bool { return pc-r.Addr < r.Size })
}

// split cuts routines that stand for sections at starts. A cut at the beginning
// of a section only renames the routine.
func split(routines []objfile.Routine, starts []uint64) []objfile.Routine {
	var list []objfile.Routine
	for _, r := range routines {
		from, found := slices.BinarySearch(starts, r.Addr)
		if !found {
			list = append(list, r)
			continue
		}
		for i := from; i < len(starts) && starts[i] < r.End(); i++ {
			end := r.End()
			if i+1 < len(starts) {
				end = min(end, starts[i+1])
			}
			list = append(list, objfile.Routine{Name: subroutine(starts[i]), Addr: starts[i], Size: end - starts[i]})
		}
	}
	return list
}

func subroutine(pc uint64) string { return fmt.Sprintf("sub_%x", pc) }

// add creates a routine for called code that is in no routine. It extends to the
// next routine. add returns nil if there is no code at pc.
func (x *explorer) add(pc uint64) *draft {
	for i := range x.file.Sections {
		s := &x.file.Sections[i]
		if !s.Execute || pc-s.Addr >= s.Size || !x.target.Aligned(pc) {
			continue
		}
		end := s.Addr + s.Size
		at, _ := slices.BinarySearchFunc(x.drafts, pc, func(d *draft, pc uint64) int { return cmp.Compare(d.Addr, pc) })
		if at < len(x.drafts) {
			end = min(end, x.drafts[at].Addr)
		}
		d := newDraft(objfile.Routine{Name: subroutine(pc), Addr: pc, Size: end - pc}, x.target)
		x.drafts = slices.Insert(x.drafts, at, d)
		return d
	}
	return nil
}

// descend adds the targets of all calls found by following the code from the
// starts, regardless of routine boundaries: a quick first pass.
func (x *explorer) descend(bare []objfile.Routine, starts map[uint64]bool) {
	done := make(map[uint64]bool)
	work := slices.Sorted(maps.Keys(starts))
	for len(work) > 0 {
		pc := work[len(work)-1]
		work = work[:len(work)-1]
		for before := (isa.Inst{}); within(bare, pc) && !done[pc]; {
			done[pc] = true
			in, err := x.fetch(pc, pc+x.left(bare, pc))
			if err != nil {
				break
			}
			target, ok := in.Target, in.HasTarget
			if in.Class == isa.Call && !ok {
				target, ok = x.throughRegister(&before, &in)
			}
			if ok && within(bare, target) && x.target.Aligned(target) {
				starts[target] = starts[target] || in.Class == isa.Call
				work = append(work, target)
			}
			if !in.Class.FallsThrough() {
				break
			}
			before, pc = in, in.Next()
		}
	}
	maps.DeleteFunc(starts, func(_ uint64, is bool) bool { return !is })
}

func (x *explorer) left(bare []objfile.Routine, pc uint64) uint64 {
	for _, r := range bare {
		if pc-r.Addr < r.Size {
			return r.End() - pc
		}
	}
	return 0
}

// throughRegister returns the target of a call through a register that the
// previous instruction set.
func (x *explorer) throughRegister(before, in *isa.Inst) (uint64, bool) {
	n, ok := before.Result(in.Value.A).Constant()
	if !ok || !before.Defines(in.Value.A) || in.Value.Op != isa.Add || in.Value.B != isa.NoReg {
		return 0, false
	}
	return x.target.Down(uint64(n + in.Value.Imm)), true
}

// widen adds the routines that the last exploration suggests, and reports whether
// there were any: first those called; if none are left, those reached only
// through pointers; if none of these are left, the code after padding.
func (x *explorer) widen(bare []objfile.Routine, starts map[uint64]bool) bool {
	n := len(starts)
	for _, add := range []func([]objfile.Routine, map[uint64]bool){x.calls, x.written, x.afterGaps} {
		if add(bare, starts); len(starts) > n {
			return true
		}
	}
	return false
}

// calls adds the routines that are called, and the code whose address some
// instruction computes and that nothing else leads to.
func (x *explorer) calls(bare []objfile.Routine, starts map[uint64]bool) {
	for pc := range x.called {
		if within(bare, pc) {
			starts[pc] = true
		}
	}
	x.tailCalled(bare, starts)
	for _, d := range x.drafts {
		for i := range d.insts {
			v := d.insts[i].Value
			if _, half := v.Constant(); half && x.target.AddressPairs {
				continue
			}
			n, ok := address(d.insts, i, v)
			if pc := uint64(n); ok && n > 0 && x.target.Aligned(pc) && within(bare, pc) && x.unreached(pc) {
				starts[pc] = true
			}
		}
	}
}

// unreached reports whether code that exploration has not reached may begin at pc.
func (x *explorer) unreached(pc uint64) bool {
	d := x.at(pc)
	return d != nil && d.index[d.slot(pc)] == 0 && x.begins(d, pc)
}

// written adds the code that only pointers in memory lead to.
func (x *explorer) written(bare []objfile.Routine, starts map[uint64]bool) {
	x.pointers(bare, starts, func(s *objfile.Section) bool {
		seg := x.file.SegmentAt(s.Addr) // data with pointers is, or might be, relocated
		return seg != nil && seg.Write
	}, x.unreached)
}

// afterGaps adds the code that comes after padding.
func (x *explorer) afterGaps(bare []objfile.Routine, starts map[uint64]bool) {
	for _, d := range x.drafts {
		if !within(bare, d.Addr) {
			continue
		}
		d.sort()
		for _, g := range d.gaps() {
			for {
				pc, ok := x.afterPadding(g)
				if !ok || !x.begins(d, pc) {
					break
				}
				starts[pc] = true
				g.From = x.extent(Range{pc, g.To})
			}
		}
	}
}

// tailCalled adds the places inside routines that other routines jump to and that
// are not reached from within their own.
func (x *explorer) tailCalled(bare []objfile.Routine, starts map[uint64]bool) {
	for _, d := range x.drafts {
		if len(d.entries) < 2 || !within(bare, d.Addr) {
			continue
		}
		r := x.graph(d)
		for _, b := range r.Entries {
			if len(r.Blocks[b].Preds) == 0 {
				starts[r.Blocks[b].PC()] = true
			}
		}
	}
}

// pointers adds the code addresses at aligned positions of the chosen sections
// that accept approves (nil: all).
func (x *explorer) pointers(bare []objfile.Routine, starts map[uint64]bool, chosen func(*objfile.Section) bool, accept func(uint64) bool) {
	for i := range x.file.Sections {
		s := &x.file.Sections[i]
		if !chosen(s) {
			continue
		}
		data := x.file.Bytes(s.Addr, s.Size)
		for data = data[min(uint64(len(data)), -s.Addr&7):]; len(data) >= 8; data = data[8:] {
			pc := binary.LittleEndian.Uint64(data)
			if x.target.Aligned(pc) && within(bare, pc) && (accept == nil || accept(pc)) {
				starts[pc] = true
			}
		}
	}
}

// extent returns the end of the code within a range that is reached from the
// beginning of the range.
func (x *explorer) extent(in Range) uint64 {
	end := in.From
	done := make(map[uint64]bool)
	work := []uint64{in.From}
	for len(work) > 0 {
		pc := work[len(work)-1]
		work = work[:len(work)-1]
		for pc >= in.From && pc < in.To && !done[pc] {
			done[pc] = true
			i, err := x.fetch(pc, in.To)
			if end = max(end, pc+max(uint64(i.Len), x.target.Align)); err != nil {
				break
			}
			if i.HasTarget && i.Class != isa.Call {
				work = append(work, i.Target)
			}
			if !i.Class.FallsThrough() {
				break
			}
			pc = i.Next()
		}
	}
	return min(end, in.To)
}

// afterPadding returns where something other than padding begins in a gap.
func (x *explorer) afterPadding(g Range) (uint64, bool) {
	for pc := g.From; pc+x.target.Align <= g.To; {
		in, err := x.fetch(pc, g.To)
		switch {
		case err != nil || in.Class == isa.Illegal:
			pc += x.target.Align
		case in.Class == isa.Nop:
			pc = in.Next()
		default:
			return pc, true
		}
	}
	return 0, false
}

// begins reports whether code may begin at pc: valid instructions up to one that
// ends a block and, if its target is constant, leads to code.
func (x *explorer) begins(d *draft, pc uint64) bool {
	const most = 200 // instructions
	for range most {
		if !d.holds(pc) || d.index[d.slot(pc)] < 0 {
			return false
		}
		if d.index[d.slot(pc)] > 0 {
			return true
		}
		in, err := x.fetch(pc, d.End())
		if err != nil || in.Class == isa.Illegal {
			return false
		}
		if in.Class.EndsBlock() {
			return !in.HasTarget || x.at(in.Target) != nil
		}
		pc = in.Next()
	}
	return false
}
