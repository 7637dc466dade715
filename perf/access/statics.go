package access

import (
	"slices"

	"presage/perf/cfg"
	"presage/perf/isa"
)

// statics lists the static variables that a call of a routine may change: those
// that the routine, or the routines that it directly calls or jumps to, store to
// at constant addresses. Indirect calls are assumed, optimistically, to change
// none.
type statics struct {
	program *cfg.Program
	index   map[*cfg.Routine]int
	cells   []location // stored to anywhere, by ascending offset
	sets    []bitSet   // by routine, of cells
}

type bitSet []uint64

// add adds the members of o, and reports whether there were new ones.
func (s bitSet) add(o bitSet) (more bool) {
	for i, bits := range o {
		more = more || bits&^s[i] != 0
		s[i] |= bits
	}
	return more
}

// findStatics returns the statics of all routines; cells are those that each one
// stores to.
func findStatics(p *cfg.Program, cells [][]location) *statics {
	s := &statics{program: p, index: make(map[*cfg.Routine]int, len(p.Routines)), sets: make([]bitSet, len(p.Routines))}
	for n, r := range p.Routines {
		s.index[r] = n
		for _, at := range cells[n] {
			if at.reg == isa.NoReg {
				s.cells = append(s.cells, at)
			}
		}
	}
	slices.SortFunc(s.cells, compareCells)
	s.cells = slices.Compact(s.cells)
	for n := range p.Routines {
		s.sets[n] = make(bitSet, (len(s.cells)+63)/64)
		for _, at := range cells[n] {
			if i, ok := slices.BinarySearchFunc(s.cells, at, compareCells); ok {
				s.sets[n][i/64] |= 1 << (i % 64)
			}
		}
	}
	s.close()
	return s
}

// close adds to each routine's set the sets of its callees, transitively.
func (s *statics) close() {
	callers := make([][]int, len(s.sets))
	work := make([]int, len(s.sets))
	for n, r := range s.program.Routines {
		work[n] = n
		for b := range r.Blocks {
			if to, ok := s.target(r, r.Blocks[b].Last()); ok && to != n {
				callers[to] = append(callers[to], n)
			}
		}
	}
	for len(work) > 0 {
		n := work[len(work)-1]
		work = work[:len(work)-1]
		for _, c := range callers[n] {
			if s.sets[c].add(s.sets[n]) {
				work = append(work, c)
			}
		}
	}
}

// target returns the routine that an instruction at a block's end calls, or
// jumps to from another.
func (s *statics) target(from *cfg.Routine, in *isa.Inst) (routine int, ok bool) {
	switch in.Class {
	case isa.Call, isa.Jump, isa.Branch, isa.IndirectJump:
	default:
		return 0, false
	}
	if !in.HasTarget || in.Class != isa.Call && in.Target >= from.Addr && in.Target < from.Addr+from.Size {
		return 0, false
	}
	routine, ok = s.index[s.program.RoutineAt(in.Target)]
	return routine, ok
}

// changes reports whether a call may change a static variable.
func (s *statics) changes(from *cfg.Routine, in *isa.Inst, at location) bool {
	n, ok := s.target(from, in)
	if !ok {
		return false
	}
	const largest = 128 // bytes of an access
	i, _ := slices.BinarySearchFunc(s.cells, location{reg: isa.NoReg, offset: at.offset - largest}, compareCells)
	for ; i < len(s.cells) && s.cells[i].offset < at.offset+int64(at.size); i++ {
		if s.sets[n][i/64]>>(i%64)&1 != 0 && s.cells[i].overlaps(at) {
			return true
		}
	}
	return false
}
