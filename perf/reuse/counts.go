package reuse

const (
	// nearBins is the number of shortest distances with counters allocated from
	// the start; it covers the widest front.
	nearBins = 8

	// Longer distances are counted in pages of a quarter octave, allocated on
	// first use, so that a group costs memory only where its distances lie.
	pageBits  = 6
	pageBins  = 1 << pageBits
	pagesEach = ((32-subBits)<<subBits + exactBins - subBins) / pageBins
)

// counts holds the histograms of all groups during collection.
type counts struct {
	near  [][nearBins]uint64 // group, distance
	cold  []uint64           // group
	pages []uint32           // group, bin / pageBins → page; 0: none
	bins  []uint64           // page, bin % pageBins
}

func newCounts(groups int) counts {
	return counts{
		near:  make([][nearBins]uint64, groups),
		cold:  make([]uint64, groups),
		pages: make([]uint32, groups*pagesEach),
		bins:  make([]uint64, pageBins), // page 0: none
	}
}

// grow adds groups.
func (c *counts) grow(groups int) {
	c.near = append(c.near, make([][nearBins]uint64, groups)...)
	c.cold = append(c.cold, make([]uint64, groups)...)
	c.pages = append(c.pages, make([]uint32, groups*pagesEach)...)
}

// add counts an access of group at distance d.
func (c *counts) add(group, d uint32) {
	if d < nearBins {
		c.near[group][d]++
		return
	}
	bin := binOf(d)
	page := &c.pages[uint64(group)*pagesEach+uint64(bin>>pageBits)]
	if *page == 0 {
		*page = c.newPage()
	}
	c.bins[uint64(*page)<<pageBits|uint64(bin&(pageBins-1))]++
}

func (c *counts) newPage() uint32 {
	page := uint32(len(c.bins) >> pageBits)
	c.bins = append(c.bins, make([]uint64, pageBins)...)
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
