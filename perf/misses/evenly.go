package misses

import (
	"slices"

	"presage/perf/access"
	"presage/perf/predict"
	"presage/perf/reuse"
	"presage/perf/scaling"
)

// MethodEvenly is how misses of a cache of sets were predicted of references that go
// through memory in strides (see sweeps): as in a fully associative cache, but that a
// stretch of memory fills the sets evenly. A sweep over a few blocks more than a fully
// associative cache holds misses in all of them, with LRU replacement. Of N blocks that
// lie one after the other, a cache of S sets of W ways has W+1 in some sets, which miss,
// and W in the others, which do not:
//
//	misses of an access, for N blocks from one use to the next
//	 1 ^                       ___________________
//	   |          ........ ,-'      . fully associative
//	   |          .    ,-'          - sets filled evenly: (N-WS)(W+1)/N
//	 0 +__________.,-'____________________________> N
//	             W·S       (W+1)·S
//
// It is derived here. What pointers and indices in memory lead to has no such sets.
// Conflicts, of blocks that fill sets unevenly, are MethodCollisions.
const MethodEvenly = "fully associative, sets filled evenly"

// noticeablyFewer is the share of a group's misses from which on it is said that sets are
// filled evenly.
const noticeablyFewer = 0.001

// fillsEvenly reports whether sweeps are taken to fill the sets of a level evenly: of
// caches, unless the method is the papers' formula, which knows sets of its own.
func fillsEvenly(l predict.Level, by predict.Method) bool {
	return l.Sets > 1 && !scaling.OfPages(l.BlockBytes) && by != predict.MethodBinomial
}

// evenShare returns the probability that an access of a sweep misses after so many other
// blocks that lie one after the other, in a cache of so many blocks in sets of some ways.
func evenShare(distance, blocks, ways float64) float64 {
	n, sets := distance+1, blocks/ways
	switch {
	case distance < blocks:
		return 0
	case n >= blocks+sets:
		return 1
	}
	return (n - blocks) * (ways + 1) / n
}

// missesWithoutConflicts returns the misses of a part of a group in a level that has its
// ways and so many blocks. sweeping says which groups fill its sets evenly; nil: none.
func (h *histograms) missesWithoutConflicts(part int, l predict.Level, blocks uint64, sweeping []bool) predict.Misses {
	if sweeping == nil || !sweeping[h.group(part)] {
		return h.missesIn(part, predict.FullyAssociative(blocks))
	}
	own := &h.groups[part].Histogram
	m := predict.Misses{Accesses: own.Accesses(), Cold: own.Cold}
	for _, bin := range own.Bins {
		m.Reuse += bin.Count * evenShare(bin.Distance, float64(blocks), float64(l.Ways))
	}
	return m
}

// evenlyInRun returns the misses that a histogram of a run has of sweeps.
func evenlyInRun(h *reuse.Histogram, l predict.Level) float64 {
	sum := float64(h.Cold)
	for _, bin := range h.Bins {
		sum += evenShare(bin.Mid(), float64(l.Blocks()), float64(l.Ways)) * float64(bin.Count)
	}
	return sum
}

// withoutConflictsInRun returns the misses that a histogram of a run of a group has
// without conflicts.
func withoutConflictsInRun(h *reuse.Histogram, l predict.Level, sweeping []bool, g int) float64 {
	if sweeping != nil && sweeping[g] {
		return evenlyInRun(h, l)
	}
	return float64(h.Misses(l.Blocks()))
}

// sweeping returns which groups fill the sets of a level evenly; nil: none. It must not
// be modified.
func (m *Model) sweeping(l predict.Level, by predict.Method) []bool {
	if !fillsEvenly(l, by) {
		return nil
	}
	r := m.refits
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.sweeping[l.BlockBytes]
	if known == nil {
		known = make([]bool, m.Groups())
		for g := range known {
			known[g] = m.sweeps(Group(g), l.BlockBytes)
		}
		r.sweeping[l.BlockBytes] = known
	}
	return known
}

// sweeps reports whether all references of a group have a stride, other than 0, in the
// innermost loop around them, and do not step over blocks all the time. Where a row of a
// sparse matrix begins is read from memory, and yet its rows lie one after the other.
func (m *Model) sweeps(g Group, blockBytes uint64) bool {
	refs := m.References(g)
	for _, ref := range refs {
		if len(ref.Strides) == 0 || !ref.Strides[0].Regular() || len(ref.Strides[0].Formula.Terms()) == 0 {
			return false
		}
		if !slices.ContainsFunc(ref.Strides, func(s access.Stride) bool { return mayBeNear(s, blockBytes) }) {
			return false
		}
	}
	return len(refs) > 0
}

// mayBeNear reports whether a stride may lead to the same block or the next.
func mayBeNear(s access.Stride, blockBytes uint64) bool {
	by, constant := s.Formula.Constant()
	return !s.Regular() || !constant || by != 0 && max(by, -by) <= int64(blockBytes)
}
