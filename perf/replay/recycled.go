package replay

import "math"

// Memory that was given back is given out again. At some sizes an array lies where a buffer
// was before, as one that is read into at a program's start, and at others by itself:
//
//	n=15    buffer ▭            array ▭▭▭▭
//	n=24    buffer ▭
//	        array  ▭▭▭▭▭▭▭
//
// References to both overlap there, and are of two allocations all the same: where the
// array lies from the buffer is no function of the size, and at some sizes it lies outside
// of all that goes with the buffer.

// splitRecycled takes references out of the allocation that their ranges overlap with in
// some runs only, and joins them among themselves.
func (f *fitter) splitRecycled() {
	for range 3 { // what is taken out may be of several allocations
		apart := f.recycled()
		if len(apart) == 0 {
			return
		}
		f.takeOut(apart)
		for r := range f.runs {
			list := f.hulls(r, true)
			var of []hull
			for _, h := range list {
				if apart[h.ref] {
					of = append(of, h)
				}
			}
			f.joinOverlapping(of)
		}
	}
}

// takeOut makes each of some references an allocation of its own, and leaves the others
// joined as they are.
func (f *fitter) takeOut(apart map[int]bool) {
	stands := make(map[int]int) // for a root: the first that stays
	joined := make([]int, len(f.joined))
	for ref := range f.joined {
		root := f.root(ref)
		if _, ok := stands[root]; !ok && !apart[ref] {
			stands[root] = ref
		}
		if joined[ref] = ref; !apart[ref] {
			joined[ref] = stands[root]
		}
	}
	f.joined = joined
}

// recycled returns references that lie where others of their allocation lie in some runs,
// and outside of it in others.
func (f *fitter) recycled() map[int]bool {
	members := make(map[int][][]hull) // by root and run
	ranges := make(map[int][]hull)    // of each reference, by run
	for r := range f.runs {
		for _, h := range f.hulls(r, true) {
			root := f.root(h.ref)
			if members[root] == nil {
				members[root] = make([][]hull, len(f.runs))
			}
			members[root][r] = append(members[root][r], h)
			if ranges[h.ref] == nil {
				ranges[h.ref] = make([]hull, len(f.runs))
				for k := range ranges[h.ref] {
					ranges[h.ref][k].ref = -1
				}
			}
			ranges[h.ref][r] = h
		}
	}
	apart := make(map[int]bool)
	for _, runs := range members {
		f.outside(runs, ranges, apart)
	}
	return apart
}

// outside adds those references of an allocation that lie at no function of the size from
// its beginning, and in some run outside of all that do.
func (f *fitter) outside(runs [][]hull, ranges map[int][]hull, apart map[int]bool) {
	lowest := make([]uint64, len(runs))
	members := make(map[int]bool)
	for r, list := range runs {
		lowest[r] = math.MaxUint64
		for _, h := range list {
			lowest[r] = min(lowest[r], h.lo)
			members[h.ref] = true
		}
	}
	var odd []int
	core := make([]hull, len(runs))
	for r := range core {
		core[r] = hull{lo: math.MaxUint64}
	}
	for ref := range members {
		if !f.regularFrom(ranges[ref], lowest) {
			odd = append(odd, ref)
			continue
		}
		for r, h := range ranges[ref] {
			if h.ref >= 0 {
				core[r].lo, core[r].hi = min(core[r].lo, h.lo), max(core[r].hi, h.hi)
			}
		}
	}
	if len(odd) == len(members) {
		return // which of them is the allocation is not known
	}
	for _, ref := range odd {
		for r, h := range ranges[ref] {
			if h.ref >= 0 && core[r].lo <= core[r].hi && (h.lo > core[r].hi || h.hi < core[r].lo) {
				apart[ref] = true
			}
		}
	}
}

// regularFrom reports whether where a reference begins, from the lowest addresses of its
// allocation, is a function of the size.
func (f *fitter) regularFrom(at []hull, lowest []uint64) bool {
	var s Series
	for r, h := range at {
		if h.ref >= 0 {
			s.Sizes, s.Values = append(s.Sizes, f.prog.Sizes[r]), append(s.Values, int64(h.lo-lowest[r]))
		}
	}
	v := s.At(f.prog.Sizes[len(f.prog.Sizes)-1])
	return v.Exact() || len(s.Sizes) < 2+spareSizes
}
