package replay

import (
	"cmp"
	"maps"
	"slices"

	"presage/perf/trace"
)

// Anchor tells where a base lies before anything accesses it: a reference of malloc or what
// it calls that is executed once, such as the one that reads or writes the length of a
// block in front of it, and from the address of which the base is away by a function of the
// size; or memory that such a place was given.
type Anchor struct {
	Place int32
	Ref   int   // or given
	Off   int32 // of the base from its address, in Series
}

// anchoring is a reference that is executed once in each run that executes it.
type anchoring struct {
	place int32
	ref   int
	at    []uint64 // its address, by run; 0 where it is not executed
	bytes []uint64 // that were given from the address after it on; nil: it is an access
}

// anchor gives the bases of data their anchors: what is executed once and goes to the
// nearest address below the base. In some runs there may be none, as malloc gives again what
// it was given back without writing a length.
func (f *fitter) anchor(roots map[int]int32) {
	all := f.anchorings()
	sorted := make([][]int, len(f.runs)) // indices in all, by address in the run
	for r := range sorted {
		for k := range all {
			if all[k].at[r] != 0 {
				sorted[r] = append(sorted[r], k)
			}
		}
		slices.SortStableFunc(sorted[r], func(a, b int) int { return cmp.Compare(all[a].at[r], all[b].at[r]) })
	}
	for _, root := range slices.Sorted(maps.Keys(roots)) { // so that the program is the same each time
		if b := &f.prog.Bases[roots[root]]; b.Kind == Data {
			b.Anchors = f.anchorsOf(f.bases[root], all, sorted)
		}
	}
}

func (f *fitter) anchorings() (all []anchoring) {
	for i := range f.prog.Places {
		if !f.once(i) {
			continue
		}
		if a := f.givenAt(i); a != nil {
			all = append(all, *a)
		}
		if f.code.anchors || !f.allocating(i) {
			continue
		}
		for j := range f.prog.Places[i].Refs {
			if f.prog.Bases[f.prog.Places[i].Refs[j].Base].Kind == Absolute {
				continue
			}
			a := anchoring{int32(i), j, make([]uint64, len(f.runs)), nil}
			for r, in := range f.in[i] {
				if in != nil && in.Refs[j].Lo == in.Refs[j].Hi {
					a.at[r] = in.Refs[j].Lo
				}
			}
			all = append(all, a)
		}
	}
	return all
}

// given stands for a reference where an anchor is not an access, but memory that the program
// was given.
const given = -1

// givenAt returns what the memory tells that was given before place i; nil: nothing. It stands in
// front of what it tells, as accesses do.
func (f *fitter) givenAt(i int) *anchoring {
	a := anchoring{int32(i), given, make([]uint64, len(f.runs)), make([]uint64, len(f.runs))}
	some := false
	for r, in := range f.in[i] {
		if in != nil && in.Given.At != 0 {
			a.at[r], a.bytes[r] = in.Given.At-1, in.Given.Bytes
			some = true
		}
	}
	if !some {
		return nil
	}
	return &a
}

// allocating reports whether place i is in a routine that allocates memory, or called by
// one: what lies in front of an array otherwise, such as the end of another, may at other
// sizes lie elsewhere.
func (f *fitter) allocating(i int) bool {
	p := &f.prog.Places[i]
	if allocatesMemory(f.code.routine(p.Block)) {
		return true
	}
	for c := p.Context; c != 0; c = f.prog.Contexts[c].Parent {
		if allocatesMemory(f.code.routine(f.prog.Contexts[c].Call)) {
			return true
		}
	}
	return false
}

// once reports whether place i is executed once in each run that executes it.
func (f *fitter) once(i int) bool {
	return !slices.ContainsFunc(f.in[i], func(in *RunPlace) bool { return in != nil && in.Count != 1 })
}

// anchorsOf returns the anchors of a base with such addresses in the runs: in runs enough,
// nothing lies nearer below it, and in all it is away by a function of the size.
func (f *fitter) anchorsOf(base []uint64, all []anchoring, sorted [][]int) (anchors []Anchor) {
	nearest := make(map[int]int) // indices in all: the number of runs
	for r, addr := range base {
		if addr == ^uint64(0) {
			continue
		}
		list := sorted[r]
		k, _ := slices.BinarySearchFunc(list, addr, func(k int, addr uint64) int { return cmp.Compare(all[k].at[r], addr) })
		for n := k - 1; n >= 0 && all[list[n]].at[r] == all[list[k-1]].at[r]; n-- {
			nearest[list[n]]++
		}
	}
	for _, k := range slices.Sorted(maps.Keys(nearest)) {
		a := &all[k]
		if nearest[k] < 2+spareSizes || !a.holds(base) {
			continue
		}
		off := f.series(func(r int) (int64, bool) {
			return int64(base[r] - a.at[r]), a.at[r] != 0 && base[r] != ^uint64(0)
		})
		if f.prog.Series[off].At(f.prog.Sizes[len(f.prog.Sizes)-1]).Exact() {
			anchors = append(anchors, Anchor{a.place, a.ref, off})
		}
	}
	return anchors
}

// holds reports whether a base lies in what each run was given, if anything was.
func (a *anchoring) holds(base []uint64) bool {
	for r, bytes := range a.bytes {
		if a.at[r] != 0 && base[r] != ^uint64(0) && (base[r] <= a.at[r] || base[r]-a.at[r] > bytes) {
			return false
		}
	}
	return true
}

// anchored is what an execution of a place tells of a base.
type anchored struct {
	base int32
	ref  int
	off  uint64
}

// findAnchors finds, for each place, the bases that are known by its addresses.
func (f *Follower) findAnchors() {
	f.anchors, f.byAnchor = make(map[int32][]anchored), make([]bool, len(f.in.prog.Bases))
	for b := range f.in.prog.Bases {
		for _, a := range f.in.prog.Bases[b].Anchors {
			if v := f.in.values[a.Off]; v.Exact() {
				f.anchors[a.Place] = append(f.anchors[a.Place], anchored{int32(b), a.Ref, uint64(v.At)})
			}
		}
	}
}

// settleAnchored sets the bases that an execution tells of, unless an access has: the last
// to tell is right, as malloc writes ahead of what it gives next.
func (f *Follower) settleAnchored(accesses []trace.Access) {
	for _, a := range f.anchors[f.place] {
		if f.in.known[a.base] && !f.byAnchor[a.base] {
			continue
		}
		at := f.given - 1
		if a.ref != given {
			at = accesses[a.ref].Addr()
		} else if f.given == 0 {
			continue
		}
		f.moveBase(a.base, at+a.off)
		f.byAnchor[a.base] = true
	}
}

// moveBase sets a base that may be known.
func (f *Follower) moveBase(base int32, addr uint64) {
	if !f.in.known[base] {
		f.settle(base, addr)
		return
	}
	f.in.shift(base, addr-f.in.bases[base])
}
