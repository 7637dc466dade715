package reuse

import "math/bits"

const (
	// nearBins is the number of shortest distances with counters allocated from
	// the start; it covers the widest front and the blocks of most loops.
	nearBins = 32

	// Longer distances are counted in pages of a quarter octave, allocated on
	// first use, so that a group costs memory only where its distances lie.
	pageBits  = 6
	pageBins  = 1 << pageBits
	pagesEach = ((32-subBits)<<subBits + exactBins - subBins) / pageBins
)

// counts holds the histograms of all groups during collection.
type counts struct {
	near  [][nearBins]uint64  // group, distance
	cold  []uint64            // group
	pages []uint32            // group, bin / pageBins → page; 0: none
	bins  []uint64            // page, bin % pageBins
	last  [][lastBins]lastBin // group, octave of a distance modulo lastBins
}

// lastBins is a power of two. The distances of a reference often are of few kinds that
// take turns, such as those within a row of an array and those from one row to the next.
const lastBins = 4

// lastBin is the bin that a group's latest distance of some octaves was counted in: that
// of the next one is often the same.
type lastBin struct {
	lo, width uint32
	at        uint64 // in counts.bins
}

func newCounts(groups int) counts {
	c := counts{bins: lengthen([]uint64(nil), pageBins)} // page 0: none
	c.grow(groups)
	return c
}

// grow adds groups.
func (c *counts) grow(groups int) {
	c.near = lengthen(c.near, groups)
	c.cold = lengthen(c.cold, groups)
	c.pages = lengthen(c.pages, groups*pagesEach)
	c.last = lengthen(c.last, groups)
}

// apart is a number of counters, of at least four bytes each, that fill more than the
// two cache lines that processors fetch together.
const apart = 128/4 + 1

// lengthen returns s, which was never cut short, with n zero elements more. What others
// write lies at least apart elements away: when two workers had counters in one cache
// line, each took it from the other at every count, which made both a tenth slower.
func lengthen[T any](s []T, n int) []T {
	to := len(s) + n
	if to > cap(s) {
		most := max(to, 2*len(s))
		s = append(make([]T, apart+most+apart)[apart:apart:apart+most], s...)
	}
	return s[:to]
}

// add counts an access of group at distance d.
func (c *counts) add(group, d uint32) {
	c.addMany(group, d, 1)
}

// addMany counts n accesses of group at distance d.
func (c *counts) addMany(group, d uint32, n uint64) {
	if d < nearBins {
		c.near[group][d] += n
		return
	}
	c.addFar(group, d, n)
}

func (c *counts) addFar(group, d uint32, n uint64) {
	last := &c.last[group][bits.Len32(d)%lastBins]
	if d-last.lo >= last.width {
		bin := binOf(d)
		page := &c.pages[uint64(group)*pagesEach+uint64(bin>>pageBits)]
		if *page == 0 {
			*page = c.newPage()
		}
		lo, hi := binEdges(bin)
		*last = lastBin{uint32(lo), uint32(hi - lo), uint64(*page)<<pageBits | uint64(bin&(pageBins-1))}
	}
	c.bins[last.at] += n
}

func (c *counts) newPage() uint32 {
	page := uint32(len(c.bins) >> pageBits)
	c.bins = lengthen(c.bins, pageBins)
	return page
}

// histogram returns the counts of a group.
func (c *counts) histogram(group int) Histogram {
	h := Histogram{Cold: c.cold[group]}
	for d, n := range c.near[group] {
		if n > 0 {
			h.Bins = append(h.Bins, Bin{uint64(d), uint64(d) + 1, n})
		}
	}
	for i, page := range c.pages[group*pagesEach:][:pagesEach] {
		if page == 0 {
			continue
		}
		for j, n := range c.bins[int(page)<<pageBits:][:pageBins] {
			if n > 0 {
				lo, hi := binEdges(uint32(i<<pageBits | j))
				h.Bins = append(h.Bins, Bin{lo, hi, n})
			}
		}
	}
	return h
}
