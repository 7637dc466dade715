package host

import (
	"slices"
	"unsafe"
)

// latencies measures the curve of load latency, in ordinary or huge pages.
func (c *calibration) latencies(huge bool) error {
	r, err := newRegion(c.largest, huge)
	if err != nil {
		return err
	}
	if huge {
		c.huge, c.HugePages = r, r.huge
		if !r.huge {
			c.warn("the system granted no huge pages: beyond the reach of the TLBs load latencies hold what misses of theirs cost")
			return nil
		}
	} else {
		c.small = r
	}
	return c.pass(r)
}

// again repeats most measurements: the load of neighbours on a shared cache, or
// the core, changes.
func (c *calibration) again() error {
	parts := []func() error{c.operations, c.branches, c.loops, c.patterns, c.stream, c.bandwidths, func() error { return c.pass(c.best()) }}
	if !c.opt.Quick {
		parts = append(parts, c.translations)
	}
	for _, part := range parts {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// stream measures loads from memory through ascending lines, each with the
// address that the one before returned: the latency that prefetching leaves
// exposed.
func (c *calibration) stream() error {
	ch := &chain{c.best(), ascending(c.order, int(c.largest/c.LineBytes)), dense(c.LineBytes)}
	c.order = ch.order
	ch.link()
	s, err := ch.latency(&c.meter)
	if err == nil {
		c.StreamNs = s.orLess(c.StreamNs)
	}
	return err
}

func (c *calibration) pass(r *region) error {
	perOctave := 4
	if c.opt.Quick {
		perOctave = 2
	}
	for _, bytes := range sizes(firstBytes, c.largest, c.LineBytes, perOctave) {
		s, err := c.chain(r, bytes).latency(&c.meter)
		if err != nil {
			return err
		}
		if err := c.tick(); err != nil {
			return err
		}
		c.Latencies = append(c.Latencies, Latency{r.huge, bytes, s})
	}
	return nil
}

// chain links the lines of the first bytes of a region.
func (c *calibration) chain(r *region, bytes uint64) *chain {
	return c.link(r, int(bytes/c.LineBytes), dense(c.LineBytes))
}

func (c *calibration) link(r *region, places int, at func(uint32) uint) *chain {
	c.order = shuffled(c.order, places, c.rng)
	ch := &chain{r, c.order, at}
	ch.link()
	return ch
}

// best returns the region in the largest available pages.
func (c *calibration) best() *region {
	if c.huge != nil && c.huge.huge {
		return c.huge
	}
	return c.small
}

// parallelChains lists the numbers of chains to try.
var parallelChains = []int{1, 2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 64, 80, 96, 128}

// parallel follows increasing numbers of chains through memory at once. As long
// as all loads fit in flight, n chains take as long as one, and a load takes an
// n-th of the time.
func (c *calibration) parallel() error {
	ch := c.chain(c.best(), c.largest)
	base := unsafe.Pointer(unsafe.SliceData(ch.region.data))
	for _, n := range parallelChains {
		at := make([]uintptr, n)
		for i := range at {
			at[i] = uintptr(ch.start(i, n)) - uintptr(base)
		}
		s, err := c.timed(n, func(rounds int) { chaseMany(base, at, rounds) })
		if err != nil {
			return err
		}
		c.Parallel = append(c.Parallel, Parallel{n, s})
		c.Outstanding = max(c.Outstanding, c.Parallel[0].Load.Min/s.Min)
	}
	return nil
}

// maxWindow is the largest window tested.
const maxWindow = 1200

// window puts increasing numbers of instructions between two independent loads
// from memory. The filler's own time is measured on lines in the first-level
// cache.
func (c *calibration) window() error {
	r := c.best()
	step := 1
	if c.opt.Quick {
		step = 2
	}
	run := func(ch *chain) ([]Sample, error) {
		var all []Sample
		p, q := ch.start(0, 2), ch.start(1, 2)
		for f := 0; f*fillerOps <= maxWindow; f += step {
			s, err := c.timed(1, func(rounds int) { p, q, _ = overlap(p, q, oddInteger, nearOne, f, rounds) })
			if err != nil {
				return nil, err
			}
			all = append(all, s)
		}
		return all, nil
	}
	near, err := run(c.chain(r, firstBytes))
	if err != nil {
		return err
	}
	far, err := run(c.chain(r, c.largest))
	if err != nil {
		return err
	}
	for i := range far {
		c.Windows = append(c.Windows, Window{i * step * fillerOps, far[i], near[i]})
	}
	return nil
}

// maxPages is the largest number of pages tested: twice the largest
// second-level TLB of any core known here.
const maxPages = 16 << 10

// translations compares chains with one line per page with chains of as many
// adjacent lines, which use the caches alike but few pages.
func (c *calibration) translations() error {
	perOctave := 4
	if c.opt.Quick {
		perOctave = 2
	}
	most := min(uint64(maxPages), c.largest/c.PageBytes)
	for _, n := range sizes(8, most, 1, perOctave) {
		d, err := c.link(c.small, int(n), dense(c.LineBytes)).latency(&c.meter)
		if err != nil {
			return err
		}
		s, err := c.link(c.small, int(n), sparse(c.PageBytes, c.LineBytes)).latency(&c.meter)
		if err != nil {
			return err
		}
		c.Pages = append(c.Pages, Paged{int(n), s, d})
	}
	return c.walks(int(most))
}

// walks follows several chains at once through more pages than TLBs map. The time
// that a miss takes alone, divided by that of a load among others, is the number of
// misses served at a time.
func (c *calibration) walks(pages int) error {
	last := c.Pages[len(c.Pages)-1]
	miss := last.Sparse.Min - last.Dense.Min
	ch := c.link(c.small, pages, sparse(c.PageBytes, c.LineBytes))
	base := unsafe.Pointer(unsafe.SliceData(ch.region.data))
	for _, n := range []int{2, 4, 6, 8, 12, 16} {
		at := make([]uintptr, n)
		for i := range at {
			at[i] = uintptr(ch.start(i, n)) - uintptr(base)
		}
		s, err := c.timed(n, func(rounds int) { chaseMany(base, at, rounds) })
		if err != nil {
			return err
		}
		c.Walks = max(c.Walks, int(miss/s.Min))
	}
	return nil
}

// Kinds of Bandwidth.
const (
	readKind = "read"
	copyKind = "copy"
)

// streamSets returns the working sets that bandwidths are measured over: half of each
// cache, of the last one further halvings, as others may use a part of it, and the
// largest.
func (c *calibration) streamSets() []uint64 {
	var sets []uint64
	before := uint64(0)
	for i, g := range c.Geometry {
		half := g.Capacity / 2
		for i == len(c.Geometry)-1 && half >= 4*before && before > 0 {
			sets = append(sets, half)
			half /= 2
		}
		sets = append(sets, half)
		before = g.Capacity
	}
	if len(sets) == 0 {
		sets = []uint64{16 << 10, 128 << 10, 4 << 20}
	}
	sets = slices.DeleteFunc(sets, func(bytes uint64) bool { return bytes >= c.largest })
	slices.Sort(sets)
	return append(sets, c.largest)
}

// bandwidths measures streams; of those that were measured before the least remains.
func (c *calibration) bandwidths() error {
	r := c.best()
	for _, bytes := range c.streamSets() {
		data := r.data[:bytes/streamBytes*streamBytes]
		to, from := data[:len(data)/2], data[len(data)/2:]
		for _, kind := range []struct {
			name  string
			bytes int
			body  func()
		}{
			{readKind, len(data), func() { readFast(data) }},
			{copyKind, len(to), func() { copy(to, from) }},
		} {
			s, err := c.timed(kind.bytes, func(rounds int) {
				for range rounds {
					kind.body()
				}
			})
			if err != nil {
				return err
			}
			c.streamed(Bandwidth{kind.name, uint64(len(data)), s})
		}
	}
	return nil
}

// streamed keeps a measured bandwidth, if it is the highest of its kind and working set.
func (c *calibration) streamed(b Bandwidth) {
	for i := range c.Bandwidths {
		if old := &c.Bandwidths[i]; old.Kind == b.Kind && old.Bytes == b.Bytes {
			old.Byte = b.Byte.orLess(old.Byte)
			return
		}
	}
	c.Bandwidths = append(c.Bandwidths, b)
}
