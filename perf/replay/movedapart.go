package replay

import (
	"math"
	"slices"
)

// movedApart are the places of allocations that have one base. References go from one array to
// another where arrays take turns, and joined them in the runs; there they lay in the
// heap, one behind the other, so that the functions of both are exact. Where malloc maps
// them at the new size, they lie elsewhere from each other. The start of the real run
// shows for each class of a reference how far it is moved, as it does for bases: by what
// its first access is off; all others there have to agree.
type movedApart struct {
	moved []uint64 // by how much allocations are moved, other than the one with the base
	open  int      // classes that matter, of which the run has not yet shown one access
}

const (
	// maxApart is the number of allocations of one base that may be moved.
	maxApart = 8
	// mallocAligns is what addresses of allocations are multiples of, and so is what they
	// are moved by.
	mallocAligns = 16
)

// seenClass is what the run has shown of a class of a reference.
type seenClass struct {
	known  bool
	moved  uint64
	lo, hi uint64 // its addresses as they were predicted
}

// class returns the class of a reference that gives the address at v; ok is false if it is
// not one that can be moved.
func (ref *liveRef) class(v []int64) (class int, ok bool) {
	switch ref.kind {
	case simple, triangular, leastOf, greatestOf:
		return 0, true
	case classed:
		return ref.split.class(v), true
	case wrapped:
		c, _ := ref.form.class(v)
		return min(c, len(ref.classes)-1), true
	default:
		return 0, false
	}
}

// move moves the addresses of a class.
func (ref *liveRef) move(class int, by uint64) {
	from, to := class, class+1
	if ref.kind == leastOf || ref.kind == greatestOf {
		from, to = 0, len(ref.classes)
	}
	for _, coef := range ref.classes[from:to] {
		coef[0] += int64(by) * scale
	}
}

// agrees reports whether an address of a reference of an allocation is what is wanted. The
// first one of a class may move it.
func (f *Follower) agrees(i int, base int32, want, addr uint64) bool {
	ref := &f.in.places[f.place].refs[i]
	class, ok := ref.class(f.vector)
	if !ok || f.in.prog.Bases[base].Kind != Data {
		return want == addr
	}
	s := &f.seenOf(f.place, i)[class]
	if !s.known {
		if want != addr && f.in.places[f.place].exact && f.mayMove(base, addr-want) {
			s.moved = addr - want
			ref.move(class, s.moved)
		}
		s.known, s.lo, s.hi = true, want, want
		if a := f.apart[base]; a != nil && f.takesTurns(f.place, i) {
			a.open--
		}
		return want+s.moved == addr
	}
	s.lo, s.hi = min(s.lo, want-s.moved), max(s.hi, want-s.moved)
	return want == addr
}

// seenOf returns what the run has shown of the classes of a reference.
func (f *Follower) seenOf(place int32, i int) []seenClass {
	if f.seen[place] == nil {
		f.seen[place] = make([][]seenClass, len(f.in.places[place].refs))
	}
	if f.seen[place][i] == nil {
		f.seen[place][i] = make([]seenClass, max(1, len(f.in.places[place].refs[i].classes)))
	}
	return f.seen[place][i]
}

// mayMove reports whether an allocation of a base may lie elsewhere by so much.
func (f *Follower) mayMove(base int32, by uint64) bool {
	if by%mallocAligns != 0 {
		return false
	}
	a := f.apart[base]
	if a == nil {
		a = new(movedApart)
		f.apart[base] = a
		f.eachOf(base, func(place int32, i int) {
			if f.takesTurns(place, i) {
				for _, s := range f.seenOf(place, i) {
					if !s.known {
						a.open++
					}
				}
			}
		})
	}
	if !slices.Contains(a.moved, by) {
		a.moved = append(a.moved, by)
	}
	return len(a.moved) <= maxApart
}

// eachOf calls use with all references of a base.
func (f *Follower) eachOf(base int32, use func(place int32, i int)) {
	for p := range f.in.prog.Places {
		for i := range f.in.prog.Places[p].Refs {
			if f.in.prog.Places[p].Refs[i].Base == base {
				use(int32(p), i)
			}
		}
	}
}

// takesTurns reports whether a reference goes from one array to another, and makes a
// noticeable part of the accesses.
func (f *Follower) takesTurns(place int32, i int) bool {
	kind := f.in.places[place].refs[i].kind
	return (kind == classed || kind == wrapped) && float64(f.in.values[f.in.prog.Places[place].Counts].At) > minShare*f.in.Accesses()
}

// unsettled reports whether the run has yet to show where some allocation lies.
func (f *Follower) unsettled() bool {
	for _, a := range f.apart {
		if a.open > 0 && len(a.moved) <= maxApart {
			return true
		}
	}
	return false
}

// settleApart moves references that the run has not come to with the allocation that they
// are in, and doubts those of which that is not known.
func (f *Follower) settleApart() {
	for base := range f.apart {
		shown := make(map[uint64]seenClass)
		f.eachOf(base, func(place int32, i int) {
			for _, s := range f.seenOf(place, i) {
				if s.known {
					whole, ok := shown[s.moved]
					if !ok {
						whole = seenClass{moved: s.moved, lo: math.MaxUint64}
					}
					whole.lo, whole.hi = min(whole.lo, s.lo), max(whole.hi, s.hi)
					shown[s.moved] = whole
				}
			}
		})
		f.eachOf(base, func(place int32, i int) {
			for _, s := range f.seenOf(place, i) {
				if !s.known && !f.moveWith(place, i, shown) {
					f.in.doubts[place] |= otherAddress
				}
			}
		})
	}
}

// moveWith moves a reference with the only allocation that it predicted addresses of. It
// returns false if there is none, or several.
func (f *Follower) moveWith(place int32, i int, shown map[uint64]seenClass) bool {
	ref, p := &f.in.places[place].refs[i], &f.in.prog.Places[place].Refs[i]
	if ref.kind == irregular {
		return true // doubted anyway
	}
	if ref.kind != simple || !f.in.values[p.Lo].Exact() || !f.in.values[p.Hi].Exact() {
		return false
	}
	hi := ref.lo + (ref.places-1)*ref.size
	found := 0
	by := uint64(0)
	for _, s := range shown {
		if ref.lo <= s.hi && s.lo <= hi {
			found, by = found+1, s.moved
		}
	}
	if found == 1 {
		ref.move(0, by)
	}
	return found == 1
}
