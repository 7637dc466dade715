package reuse

import (
	"math"
	"math/bits"
	"sort"
)

// Distances below exactBins have a bin each. Above, an octave [2^k, 2^(k+1))
// has subBins bins of equal width, so a bin's width is at most 1/subBins of its
// lower edge, and every m·2^k with m <= 2·subBins is a bin edge.
const (
	subBits   = 8
	subBins   = 1 << subBits
	exactBins = 2 * subBins
)

// binOf returns the number of the bin that holds distance d. Bins are numbered
// by ascending distance.
func binOf(d uint32) uint32 {
	e := uint32(max(bits.Len32(d)-subBits-1, 0))
	return e<<subBits + d>>(e&31)
}

// binEdges returns the range [lo, hi) of distances in bin i.
func binEdges(i uint32) (lo, hi uint64) {
	if i < exactBins {
		return uint64(i), uint64(i) + 1
	}
	e := i>>subBits - 1
	lo = uint64(i-e<<subBits) << e
	return lo, lo + 1<<e
}

// Bin counts the accesses whose reuse distance, in blocks, is in [Lo, Hi).
type Bin struct {
	Lo, Hi uint64
	Count  uint64
}

// Mid returns the mean of the integer distances in the bin. It is exact below
// 512 blocks and within 1/512 of every distance in the bin above.
func (b Bin) Mid() float64 { return (float64(b.Lo) + float64(b.Hi-1)) / 2 }

// Histogram is the distribution of the reuse distances of a group's accesses.
type Histogram struct {
	// Cold counts accesses to blocks that no access of any group had touched
	// before.
	Cold uint64

	// Bins are in ascending order, do not overlap, and omit empty ones.
	Bins []Bin
}

// Accesses returns the block accesses that h counts, cold ones included.
func (h *Histogram) Accesses() uint64 {
	n := h.Cold
	for _, b := range h.Bins {
		n += b.Count
	}
	return n
}

// Misses returns the number of accesses that miss in an initially empty fully
// associative LRU cache of capacity blocks: the cold ones and those with a
// distance of at least capacity (2004 paper, section 2.2.2 and Figure 3; 2005
// paper, section 5.2).
//
// It is exact where capacity is a bin edge, as every m·2^k with m <= 512 is,
// and so every capacity up to 512. Within a bin it assumes evenly spread
// distances and rounds to the nearest count, so it is off by at most the
// accesses in the bin that contains capacity; the exact misses of some capacity
// within 1/256 of it are at least, and of another at most, as many. MissBounds
// returns how far off it can be.
func (h *Histogram) Misses(capacity uint64) uint64 {
	i, n := h.above(capacity)
	if i > 0 && h.Bins[i-1].Hi > capacity {
		b := h.Bins[i-1]
		n += uint64(math.Round(float64(b.Count) * float64(b.Hi-capacity) / float64(b.Hi-b.Lo)))
	}
	return n
}

// MissBounds returns the least and the most that Misses(capacity) could be
// given the bins. They are equal where capacity is a bin edge and otherwise
// differ by the count of the bin that contains it.
func (h *Histogram) MissBounds(capacity uint64) (least, most uint64) {
	i, least := h.above(capacity)
	most = least
	if i > 0 && h.Bins[i-1].Hi > capacity {
		most += h.Bins[i-1].Count
	}
	return least, most
}

// above returns the first bin with Lo >= capacity and the number of accesses
// that are cold or in it or beyond.
func (h *Histogram) above(capacity uint64) (first int, n uint64) {
	first = sort.Search(len(h.Bins), func(i int) bool { return h.Bins[i].Lo >= capacity })
	n = h.Cold
	for _, b := range h.Bins[first:] {
		n += b.Count
	}
	return first, n
}

// Plus returns the sum of two exact histograms. It panics if bins of them overlap
// without being the same, as those of samples at other rates do.
func (h *Histogram) Plus(o *Histogram) Histogram {
	sum := h.merge(o)
	for i := 1; i < len(sum.Bins); i++ {
		if sum.Bins[i].Lo < sum.Bins[i-1].Hi {
			panic("reuse: sum of histograms whose bins differ")
		}
	}
	return sum
}

// Mean returns the mean distance of the reuses, each taken to be its bin's Mid; 0
// if there are none.
func (h *Histogram) Mean() float64 {
	sum, n := 0.0, uint64(0)
	for _, b := range h.Bins {
		sum += b.Mid() * float64(b.Count)
		n += b.Count
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

// merge returns the sum of two histograms with bins of the same series, in the order of
// where they begin.
func (h *Histogram) merge(o *Histogram) Histogram {
	sum := Histogram{Cold: h.Cold + o.Cold}
	a, b := h.Bins, o.Bins
	if len(a)+len(b) == 0 {
		return sum
	}
	sum.Bins = make([]Bin, 0, len(a)+len(b)-inBoth(a, b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].Lo < b[0].Lo:
			sum.Bins, a = append(sum.Bins, a[0]), a[1:]
		case a[0].Lo > b[0].Lo:
			sum.Bins, b = append(sum.Bins, b[0]), b[1:]
		default:
			both := a[0]
			both.Count += b[0].Count
			sum.Bins, a, b = append(sum.Bins, both), a[1:], b[1:]
		}
	}
	sum.Bins = append(append(sum.Bins, a...), b...)
	return sum
}

// inBoth returns how many bins begin where one of the other list does.
func inBoth(a, b []Bin) (n int) {
	for i, k := 0, 0; i < len(a) && k < len(b); {
		switch {
		case a[i].Lo < b[k].Lo:
			i++
		case a[i].Lo > b[k].Lo:
			k++
		default:
			n, i, k = n+1, i+1, k+1
		}
	}
	return n
}

// Result is what a Collector found.
type Result struct {
	BlockBytes uint64

	// Accesses counts block accesses: an access that straddles a block
	// boundary counts once for each block that it touches.
	Accesses uint64

	// Blocks counts the distinct blocks touched: the cold accesses of all groups.
	Blocks uint64

	// Groups has a histogram for each trace.GroupID of the plan.
	Groups []Histogram

	// Carried divides the accesses of the groups by the loops that carry their
	// reuses, by objects and by sources; only with Options.Nest. It ascends by Group,
	// Loop, Object, Source, Birth and Crosses; in each group, the counts add up to those of Groups.
	// Cold accesses are with those that no loop carries.
	Carried []Carried

	// Memory are the names of the objects of Options.Memory, by number.
	Memory []string `json:",omitempty"`

	// Sample is nil for exact results. Otherwise Blocks and Groups are
	// estimates: sampled distances and counts are multiplied by OneIn, so a
	// group's accesses sum only approximately to Sample.Accesses. See Estimate.
	Sample *Sample
}

// Total returns the histogram of all groups together.
func (r *Result) Total() Histogram {
	return new(Histogram).merge(totalOf(r.Groups))
}

// totalOf returns the sum of histograms, which may be one of them. Halves are merged, so
// that a bin is copied once for each doubling of their number, not for each histogram.
func totalOf(all []Histogram) *Histogram {
	switch n := len(all); n {
	case 0:
		return new(Histogram)
	case 1:
		return &all[0]
	default:
		sum := totalOf(all[:n/2]).merge(totalOf(all[n/2:]))
		return &sum
	}
}
