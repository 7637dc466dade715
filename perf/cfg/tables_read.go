package cfg

import (
	"encoding/binary"
	"math"
	"strings"

	"presage/perf/isa"
)

// finish ends a path whose target is known, and reports whether it did.
func (s *slicer) finish(p *path) bool {
	if !p.target.closed() {
		return false
	}
	if !p.target.index {
		n, ok := s.compute(p.target, 0)
		if !ok || s.mutable {
			s.partial = true // a pointer variable, whatever its initial value
		} else {
			s.targets = append(s.targets, s.x.target.Down(uint64(n)))
		}
		return true
	}
	known := p.confines()
	if !known.small() {
		return false
	}
	if !s.table(p.target, known) {
		s.partial = true
	}
	return true
}

// confines returns the range of the index on a path.
func (p *path) confines() interval {
	known := p.known
	for _, f := range p.facts {
		known = known.narrow(f)
	}
	return known
}

// table adds the targets for every index, or none if one of them is not a valid
// jump target: then it was not a table, or a smaller one.
func (s *slicer) table(target *term, known interval) bool {
	var found []uint64
	for i := known.lo; i <= known.hi; i++ {
		if known.mask != 0 && i&^known.mask != 0 {
			continue
		}
		pc, ok := s.entry(target, i)
		if !ok {
			return false
		}
		found = append(found, pc)
	}
	s.targets = append(s.targets, found...)
	return true
}

func (s *slicer) entry(target *term, i int64) (uint64, bool) {
	if s.x.effort--; s.x.effort <= 0 {
		return 0, false
	}
	n, ok := s.compute(target, i)
	pc := s.x.target.Down(uint64(n))
	return pc, ok && s.x.plausible(s.r, pc)
}

// fail ends a path on which the index is unbounded, or not even a table was
// found. It reads a table as far as the index's own form allows, or else up to
// the first invalid entry.
func (s *slicer) fail(p *path) {
	target, known := p.target, p.confines()
	if !target.index {
		part := tableIndex(target)
		if part == nil {
			s.partial = true
			return
		}
		if mask, ok := part.mask(); ok {
			known = mask
		} else {
			part, _ = part.core()
		}
		target = s.replace(target, part, s.index())
	}
	if !target.closed() {
		s.partial = true
		return
	}
	if known.small() && s.table(target, known) {
		return
	}
	s.partial = true
	from := known.lo
	if from == math.MinInt64 {
		from = 0
	}
	for i := from; i-from < maxTable; i++ {
		pc, ok := s.entry(target, i)
		if !ok {
			return
		}
		s.loose = append(s.loose, pc)
	}
}

// tableIndex returns what is added to a constant, scaled or not, in the
// address of a cell of t, or nil.
func tableIndex(t *term) *term {
	if t.kind == cell && t.a.kind == operation && t.a.op == isa.Add && t.a.b.kind == constant && t.a.b.n >= firstPage {
		part := t.a.a
		if part.kind == operation && part.op == isa.ShiftLeft && part.b.kind == constant {
			part = part.a
		}
		return part
	}
	for _, part := range []*term{t.a, t.b} {
		if part == nil {
			continue
		}
		if found := tableIndex(part); found != nil {
			return found
		}
	}
	return nil
}

// compute returns the value of a closed term for an index; ok is false if it
// reads memory that is not in the file.
func (s *slicer) compute(t *term, i int64) (n int64, ok bool) {
	switch t.kind {
	case constant:
		return t.n, true
	case index:
		return i, true
	case extension:
		n, ok := s.compute(t.a, i)
		return isa.Value{Op: t.op, A: 0, B: isa.NoReg, Imm: t.n}.Eval(n, 0), ok
	case operation:
		a, ok := s.compute(t.a, i)
		b, also := s.compute(t.b, i)
		return isa.Value{Op: t.op, Word: t.word, A: 0, B: 1}.Eval(a, b), ok && also
	case cell:
		a, ok := s.compute(t.a, i)
		if !ok {
			return 0, false
		}
		return s.read(uint64(a), uint64(t.n))
	}
	return 0, false
}

// read returns the initial content of n bytes of memory.
func (s *slicer) read(at, n uint64) (int64, bool) {
	x := s.x
	seg := x.file.SegmentAt(at)
	if seg == nil || seg.Write && x.file.PIE && x.file.Imports == nil {
		return 0, false // relocated data need not be in the file, unless relocations were applied
	}
	if seg.Write && !x.relocated(at) {
		s.mutable = true
	}
	data := x.file.Bytes(at, n)
	switch {
	case data == nil:
		return 0, false
	case n == 1:
		return int64(data[0]), true
	case n == 2:
		return int64(binary.LittleEndian.Uint16(data)), true
	case n == 4:
		return int64(binary.LittleEndian.Uint32(data)), true
	}
	v := int64(binary.LittleEndian.Uint64(data))
	// A pointer that is nil in the file, where only the start of the program may
	// write, gets its value then: the dynamic linker has such cells.
	return v, v != 0 || !seg.Write
}

// relocated reports whether at lies in a section that is read-only once the
// program has started.
func (x *explorer) relocated(at uint64) bool {
	for i := range x.file.Sections {
		s := &x.file.Sections[i]
		if at-s.Addr < s.Size && strings.HasPrefix(s.Name, ".data.rel.ro") {
			return true
		}
	}
	return false
}

// plausible reports whether a table of r may lead to pc: to an instruction of
// r, or the beginning of another routine.
func (x *explorer) plausible(r *Routine, pc uint64) bool {
	d := x.at(pc)
	if d == nil {
		return false
	}
	if d.Addr != r.Addr {
		return d.Addr == pc
	}
	if at := d.index[d.slot(pc)]; at != 0 {
		return at > 0
	}
	in, err := x.fetch(pc, d.End())
	return err == nil && in.Class != isa.Illegal
}
