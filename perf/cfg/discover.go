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

// maxDiscovery bounds how often a program without symbols is explored again
// with the routines that were found. A dozen times are enough for what
// compilers make.
const maxDiscovery = 24

// discover explores a program and finds the routines in executable sections
// for which the file names none. They begin where the program does, where calls
// lead, at the addresses of code that start-up code and tables of pointers
// hold or that code computes, and, in what is left, after padding. Those found
// split their section; each is called after its address.
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

// split cuts the routines that stand for sections where others begin. A cut at
// a section's beginning only renames it.
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

// add makes a routine of code that is called, and that no routine holds. It
// reaches to the next one. It returns nil if there is no code at pc.
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

// descend adds the targets of the calls that are found by following the code
// from the starts on, routines or not: a quick first look.
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

// throughRegister returns where a call leads whose target was put in a
// register by the instruction before.
func (x *explorer) throughRegister(before, in *isa.Inst) (uint64, bool) {
	n, ok := before.Result(in.Value.A).Constant()
	if !ok || !before.Defines(in.Value.A) || in.Value.Op != isa.Add || in.Value.B != isa.NoReg {
		return 0, false
	}
	return x.target.Down(uint64(n + in.Value.Imm)), true
}

// widen adds the routines that the last exploration makes likely, and reports
// whether there were any: first those called; if there are none left, those
// that pointers lead to and nothing else does; if there are no more, what
// comes after padding.
func (x *explorer) widen(bare []objfile.Routine, starts map[uint64]bool) bool {
	n := len(starts)
	for _, add := range []func([]objfile.Routine, map[uint64]bool){x.calls, x.written, x.afterGaps} {
		if add(bare, starts); len(starts) > n {
			return true
		}
	}
	return false
}

// calls adds the routines that are called, and the code that instructions
// compute the address of and nothing else leads to.
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

// unreached reports whether code may begin at pc that control was not found to
// reach.
func (x *explorer) unreached(pc uint64) bool {
	d := x.at(pc)
	return d != nil && d.index[d.slot(pc)] == 0 && x.begins(d, pc)
}

// written adds the code that pointers in memory lead to and nothing else does.
func (x *explorer) written(bare []objfile.Routine, starts map[uint64]bool) {
	x.pointers(bare, starts, func(s *objfile.Section) bool {
		seg := x.file.SegmentAt(s.Addr) // what holds pointers is relocated, or might be
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

// tailCalled adds the places inside routines that others jump to and control
// comes to from nowhere in the routine.
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

// pointers adds the addresses of code that the chosen sections hold, aligned,
// and that are accepted (nil: all are).
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

// extent returns where the code ends that is reached from the beginning of a
// range within it.
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

// begins reports whether code may begin at pc: instructions up to one that
// ends a block, and leads to code if its target is constant.
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
