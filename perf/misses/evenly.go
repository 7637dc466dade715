package misses

import (
	"presage/perf/predict"
	"presage/perf/reuse"
)

// MethodEvenly is how misses of a cache of sets were predicted of references that go
// through memory in strides (see sweeps): as in a fully associative cache, but that a
// stretch of memory
// fills the sets evenly. A sweep over a few blocks more than a fully associative cache
// holds misses in all of them, with LRU replacement. Of N blocks that lie one after the
// other, a cache of S sets of W ways has W+1 in some sets, which miss, and W in the
// others, which do not:
//
//	misses of an access, for N blocks from one use to the next
//	 1 ^                       ___________________
//	   |          ........ ,-'      . fully associative
//	   |          .    ,-'          - sets filled evenly: (N-WS)(W+1)/N
//	 0 +__________.,-'____________________________> N
//	             W·S       (W+1)·S
//
// It is derived here, of sweeps over a good part of what a program touches (inOnePiece). What
// pointers and indices in memory lead to has no such sets. Conflicts, of blocks that fill
// sets unevenly, are MethodCollisions.
const MethodEvenly = "fully associative, sets filled evenly"

// inOnePiece is the share of the blocks touched from which on those between two uses are
// taken to lie one after the other, as all that a program has allocated does. Fewer are
// pieces of several arrays, such as rows, which overlap in the sets as they may.
const inOnePiece = 0.25

// noticeablyFewer is the share of a group's misses from which on it is said that sets are
// filled evenly.
const noticeablyFewer = 0.001

// evenShare returns the probability that an access misses after so many other blocks
// that lie one after the other.
func evenShare(distance float64, l predict.Level) float64 {
	blocks, full := distance+1, float64(l.Blocks())
	switch {
	case blocks <= full:
		return 0
	case blocks >= full+float64(l.Sets):
		return 1
	}
	return (blocks - full) * float64(l.Ways+1) / blocks
}

// evenly returns the misses of a part of a group that sweeps.
func (h *histograms) evenly(part int, l predict.Level) predict.Misses {
	own := &h.groups[part].Histogram
	m := predict.Misses{Accesses: own.Accesses(), Cold: own.Cold}
	for _, bin := range own.Bins {
		m.Reuse += bin.Count * missShare(bin.Distance, h.limit+1, l)
	}
	return m
}

// missShare returns the probability that an access of a sweep misses after so many other
// blocks, of those that the program touches.
func missShare(distance, touched float64, l predict.Level) float64 {
	if distance+1 >= inOnePiece*touched {
		return evenShare(distance, l)
	}
	if distance >= float64(l.Blocks()) {
		return 1
	}
	return 0
}

// evenlyInRun is evenly for the histogram of a run that touches so many blocks.
func evenlyInRun(h *reuse.Histogram, touched float64, l predict.Level) float64 {
	sum := float64(h.Cold)
	for _, bin := range h.Bins {
		sum += missShare(bin.Mid(), touched, l) * float64(bin.Count)
	}
	return sum
}

// sweeping returns, for each group, whether all its references go through memory in
// strides.
func (m *Model) sweeping() []bool {
	r := m.refits
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sweeping == nil {
		r.sweeping = make([]bool, m.Groups())
		for g := range r.sweeping {
			r.sweeping[g] = m.sweeps(Group(g))
		}
	}
	return r.sweeping
}

// sweeps reports whether all references of a group have a stride, other than 0, in the
// innermost loop around them. Where a row of a sparse matrix begins is read from memory,
// and yet its rows lie one after the other.
func (m *Model) sweeps(g Group) bool {
	refs := m.References(g)
	for _, ref := range refs {
		if len(ref.Strides) == 0 || !ref.Strides[0].Regular() || len(ref.Strides[0].Formula.Terms()) == 0 {
			return false
		}
	}
	return len(refs) > 0
}
