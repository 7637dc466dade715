package replay

import (
	"cmp"
	"slices"
)

// stackBytes is the size of Linux's stacks.
const stackBytes = 8 << 20

// leapBytes is the length of steps from which on a reference says nothing of what lies
// between its addresses: a list's links lead from one allocation to another, while the
// loops of an array rarely go over so much of it at each step.
const leapBytes = 64 << 10

// hull is the range of the addresses of a reference in a run.
type hull struct {
	ref    int // among all references of all places
	lo, hi uint64
}

// onStack reports whether an address lies on a run's stack.
func (r *Run) onStack(addr uint64) bool {
	return r.Stack != 0 && addr < r.Stack+stackBytes && addr+stackBytes > r.Stack
}

// findBases gives each reference its base. References whose ranges overlap in
// some run are of one allocation; irregular ones and those that leap join none, but are
// given the one in which their addresses begin in all runs, if they reach into no other.
func (f *fitter) findBases() {
	f.first = make([]int, len(f.prog.Places)+1)
	for i := range f.prog.Places {
		f.first[i+1] = f.first[i] + len(f.prog.Places[i].Refs)
	}
	f.joined = make([]int, f.first[len(f.prog.Places)])
	for i := range f.joined {
		f.joined[i] = i
	}
	f.loose = make([]bool, len(f.joined))
	given := f.given()
	for i := range f.prog.Places {
		for j := range f.prog.Places[i].Refs {
			f.loose[f.first[i]+j] = f.prog.Places[i].Refs[j].Irregular || f.leaps(i, j) || f.wanders(i, j, given)
		}
	}
	f.findObjects()
	for r := range f.runs {
		f.joinOverlapping(f.hulls(r, true))
	}
	f.splitRecycled()
	f.placeLoose()
	f.prog.Bases = []Base{{Kind: Absolute, At: f.constant(0)}, {Kind: Stack, At: f.series(func(r int) (int64, bool) { return int64(f.runs[r].Stack), true })}}
	base := make(map[int]int32) // by root
	f.byName = make(map[string]int32)
	for i := range f.prog.Places {
		for j := range f.prog.Places[i].Refs {
			f.chooseBase(i, j, base)
		}
	}
	f.anchor(base)
}

// leaps reports whether reference j of place i takes steps of leapBytes and more, on
// average, in some run.
func (f *fitter) leaps(i, j int) bool {
	for _, p := range f.in[i] {
		if p != nil && p.Refs[j].Lo <= p.Refs[j].Hi && p.Refs[j].Hi-p.Refs[j].Lo > leapBytes*p.Count {
			return true
		}
	}
	return false
}

// given returns where memory begins that each run was given, ascending, as far as is known.
func (f *fitter) given() [][]uint64 {
	out := make([][]uint64, len(f.runs))
	for r, run := range f.runs {
		for i := range run.Places {
			if at := run.Places[i].Given.At; at != 0 {
				out[r] = append(out[r], at)
			}
		}
		slices.Sort(out[r])
	}
	return out
}

// wanders reports whether reference j of place i accesses several of what a run was given, such
// as those of a routine that is called for one array after the other.
func (f *fitter) wanders(i, j int, given [][]uint64) bool {
	for r, p := range f.in[i] {
		if p == nil || p.Refs[j].Lo > p.Refs[j].Hi {
			continue
		}
		if k, _ := slices.BinarySearch(given[r], p.Refs[j].Lo+1); k < len(given[r]) && given[r][k] <= p.Refs[j].Hi {
			return true
		}
	}
	return false
}

// hulls returns the ranges of a run's references that lie neither in the image
// nor on the stack, by ascending address.
func (f *fitter) hulls(run int, regular bool) []hull {
	var list []hull
	for i := range f.prog.Places {
		p := f.in[i][run]
		if p == nil {
			continue
		}
		for j := range p.Refs {
			r := &p.Refs[j]
			if r.Lo > r.Hi || regular && f.loose[f.first[i]+j] || f.kindOf(run, r) < Data || f.objects[f.first[i]+j] != "" {
				continue
			}
			list = append(list, hull{f.first[i] + j, r.Lo, r.Hi})
		}
	}
	slices.SortFunc(list, func(a, b hull) int { return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.ref, b.ref)) })
	return list
}

func (f *fitter) kindOf(run int, r *RunRef) BaseKind {
	switch {
	case isPlaced(r.Lo):
		return Absolute
	case f.apart && f.runs[run].inImage(r.Hi):
		return Global
	case !f.apart && (&image{f.code, f.runs[run].Loaded}).holds(r.Lo):
		return Absolute
	case f.runs[run].onStack(r.Lo):
		return Stack
	}
	return Data
}

// joinOverlapping joins references whose ranges overlap.
func (f *fitter) joinOverlapping(list []hull) {
	end, last := uint64(0), -1
	for _, h := range list {
		if last >= 0 && h.lo <= end {
			f.joined[f.root(h.ref)] = f.root(last)
		}
		if last < 0 || h.hi >= end {
			end, last = h.hi, h.ref
		}
	}
}

// placeLoose gives loose references the allocation that holds their addresses.
func (f *fitter) placeLoose() {
	in := make(map[int]int) // loose references: the root that they begin in
	for r := range f.runs {
		regular := f.allocations(r)
		for _, h := range f.hulls(r, false) {
			if !f.loose[h.ref] {
				continue
			}
			k, _ := slices.BinarySearchFunc(regular, h.lo+1, func(a hull, lo uint64) int { return cmp.Compare(a.lo, lo) })
			root := -1
			if k > 0 && h.lo <= regular[k-1].hi && (k == len(regular) || h.hi < regular[k].lo) {
				root = f.root(regular[k-1].ref)
			}
			if was, ok := in[h.ref]; ok && was != root {
				root = -1
			}
			in[h.ref] = root
		}
	}
	for ref, root := range in {
		if root >= 0 {
			f.joined[ref] = root
		}
	}
}

// allocations returns the ranges of the data that regular references share, by ascending
// address.
func (f *fitter) allocations(run int) []hull {
	at := make(map[int]int)
	var list []hull
	for _, h := range f.hulls(run, true) {
		root := f.root(h.ref)
		k, ok := at[root]
		if !ok {
			k = len(list)
			at[root] = k
			list = append(list, hull{root, h.lo, h.hi})
		}
		list[k].hi = max(list[k].hi, h.hi)
	}
	return list
}

func (f *fitter) root(i int) int {
	for f.joined[i] != i {
		f.joined[i] = f.joined[f.joined[i]]
		i = f.joined[i]
	}
	return i
}

// chooseBase gives reference j of place i its base.
func (f *fitter) chooseBase(i, j int, base map[int]int32) {
	ref := &f.prog.Places[i].Refs[j]
	kind := f.kindIn(i, j)
	if kind < Data {
		ref.Base = int32(kind)
		return
	}
	if name := f.objects[f.first[i]+j]; name != "" {
		ref.Base = f.baseOf(name)
		return
	}
	root := f.root(f.first[i] + j)
	b, ok := base[root]
	if !ok {
		b = int32(len(f.prog.Bases))
		base[root] = b
		f.prog.Bases = append(f.prog.Bases, Base{Kind: kind, At: f.lowest(root)})
	}
	ref.Base = b
}

// baseOf returns the base that is the address of an object.
func (f *fitter) baseOf(name string) int32 {
	b, ok := f.byName[name]
	if !ok {
		b = int32(len(f.prog.Bases))
		f.byName[name] = b
		at := f.series(func(r int) (int64, bool) {
			addr, ok := f.addresses[r][name]
			return int64(addr), ok
		})
		f.prog.Bases = append(f.prog.Bases, Base{Kind: Global, At: at, Object: name})
	}
	return b
}

// kindIn returns the kind of base of a reference, from the last run that has it.
func (f *fitter) kindIn(i, j int) BaseKind {
	for r := len(f.runs) - 1; r >= 0; r-- {
		if p := f.in[i][r]; p != nil && p.Refs[j].Lo <= p.Refs[j].Hi {
			return f.kindOf(r, &p.Refs[j])
		}
	}
	return Absolute
}

// lowest returns the series of the lowest address of the references joined in
// root. They are those that all runs have, if there are any.
func (f *fitter) lowest(root int) int32 {
	lo := make([]uint64, len(f.runs))
	for r := range lo {
		lo[r] = ^uint64(0)
	}
	for i := range f.prog.Places {
		for j := range f.prog.Places[i].Refs {
			if f.root(f.first[i]+j) != root {
				continue
			}
			for r := range f.runs {
				if p := f.in[i][r]; p != nil {
					lo[r] = min(lo[r], p.Refs[j].Lo)
				}
			}
		}
	}
	f.bases[root] = lo
	return f.series(func(r int) (int64, bool) { return int64(lo[r]), lo[r] != ^uint64(0) })
}
