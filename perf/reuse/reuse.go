// Package reuse turns the batches of a run into exact reuse-distance
// histograms, one for each reference group, at one block size.
//
// The reuse distance of an access is the number of distinct other blocks
// accessed since the last access to the same block; the first access to a
// block is cold and has none. In a fully associative LRU cache of C blocks an
// access hits exactly if its distance is less than C (2004 paper, section
// 2.2.2; 2005 paper, section 3).
//
//	address   0x00 0x40 0x80 0x48 0x00 0x00
//	block        0    1    2    1    0    0    at 64 bytes
//	distance  cold cold cold    1    2    0
//
// Distances are exact. They are counted in bins of one distance below 512 and
// of a relative width of at most 1/256 above: see Histogram.Misses.
//
// An access of several bytes that lie in more than one block accesses each of
// them once, by ascending address. All threads of a program share one stack,
// in the order of the batches. Loads and stores are not told apart.
//
// Method (derived here from the balanced tree over times of last access of the
// 2004 paper, section 2.2.2, steps 1 to 5): a time line of slots, one bit
// each, live for the last access of a block; the distance is the number of
// live slots after the block's own, found from counts of live slots by word,
// line and tree node (timeline.go); a radix tree from block to slot (table.go);
// the few blocks accessed last are kept apart, in order (front.go).
// Memory is proportional to the blocks touched: about 20 to 45 bytes for each
// where they lie close together; a block with no other within 512 blocks costs
// 2 KiB, and one with no other within a MiB of blocks 8 KiB more.
package reuse

import (
	"fmt"
	"math/bits"

	"presage/perf/trace"
)

const (
	// defaultBlockBytes is the block size of the zero Options.
	defaultBlockBytes = 64

	// maxBlockBytes is the largest block size: 1 GiB, a huge page.
	maxBlockBytes = 1 << 30

	// firstWindow is the number of slots of a new time line.
	firstWindow = 1 << 16

	// maxAccessBytes is the size of the largest trace.Access.
	maxAccessBytes = 128

	// adaptPeriod is after how many block accesses the front's width is chosen
	// anew.
	adaptPeriod = 1 << 15
)

// Options say how to collect reuse distances.
type Options struct {
	// BlockBytes is the size of a memory block, a power of two of at most
	// 1 GiB; 0 means 64.
	BlockBytes uint64
}

// Collector measures the reuse distances of a run. It is a trace.Collector.
type Collector struct {
	blockBytes uint64
	shift      uint     // log2 of blockBytes
	groupOf    []uint32 // reference → group

	table  table
	line   timeline
	front  front
	counts counts
	blocks uint64 // distinct blocks touched

	records []record
	entries []entry // of the records
	touched uint32  // keeps the loads that bring table entries near alive

	accesses uint64 // block accesses before the current tally
	tally    tally

	joined []*Result // of other runs
}

var _ trace.Collector = (*Collector)(nil)

// New returns a Collector for runs under plan.
func New(plan *trace.Plan, opt Options) (*Collector, error) {
	return newCollector(plan, opt, firstWindow)
}

func newCollector(plan *trace.Plan, opt Options, window int) (*Collector, error) {
	if plan == nil {
		return nil, fmt.Errorf("reuse: no plan: distances are counted for its groups")
	}
	if err := plan.Check(); err != nil {
		return nil, fmt.Errorf("reuse: %w", err)
	}
	size := opt.BlockBytes
	if size == 0 {
		size = defaultBlockBytes
	}
	if size&(size-1) != 0 || size > maxBlockBytes {
		return nil, fmt.Errorf("reuse: BlockBytes is %d, want a power of two from 1 to %d", size, maxBlockBytes)
	}
	c := &Collector{
		blockBytes: size,
		shift:      uint(bits.TrailingZeros64(size)),
		groupOf:    make([]uint32, len(plan.Refs)),
		counts:     newCounts(plan.Groups()),
		line:       newTimeline(window, leafSize-1),
	}
	for i := range plan.Refs {
		c.groupOf[i] = uint32(plan.Refs[i].Group)
	}
	c.table = newTable(uint(bits.TrailingZeros64(trace.AddrLimit)) - c.shift)
	most := frontMax + sieve*int(maxAccessBytes/size+2)
	c.records, c.entries = make([]record, most), make([]entry, most)
	c.haunt()
	return c, nil
}

// haunt fills the front with ghosts: blocks that no access can touch. They
// sink to the bottom of the stack, under every block that is ever reused, and
// so never count, but save the question whether the front is full.
func (c *Collector) haunt() {
	c.front.width = frontMax
	for i := range c.front.place {
		c.entries[i] = entry(i)
		c.front.place[i] = c.table.block(entry(i))<<recBits | uint64(i)
	}
}

// Observe implements trace.Collector. It panics where a batch names a
// reference that is not in the plan, or where more distinct blocks are touched
// than 32-bit numbers can tell apart (over 500 million).
func (c *Collector) Observe(b *trace.Batch) {
	accesses := b.Accesses
	for len(accesses) > 0 {
		n := min(sieve, len(accesses))
		if records := c.sift(accesses[:n]); records > frontMax {
			c.settle(records)
		}
		if c.tally.accesses >= adaptPeriod {
			c.adapt()
		}
		accesses = accesses[n:]
	}
}

// adapt chooses the front's width by the distances of the last accesses: a
// place that is hardly ever hit costs more than it saves.
func (c *Collector) adapt() {
	const share = 16 // a width pays if it takes 1/16 of the accesses more
	t := c.tally
	c.accesses += t.accesses
	c.tally = tally{}
	switch {
	case t.mid*share > t.accesses:
		c.resize(frontMax)
	case (t.near+t.mid)*share > t.accesses:
		c.resize(frontMax / 2)
	default:
		c.resize(1)
	}
}

// Merge adds what o found in another, independent run under the same plan. The
// parts of one run must not be merged: see Result.Merge.
func (c *Collector) Merge(o *Collector) error {
	other := o.Result()
	if err := c.own().Merge(other); err != nil {
		return err
	}
	c.joined = append(c.joined, other)
	return nil
}

// Result returns the histograms of what was observed and merged up to now.
func (c *Collector) Result() *Result {
	r := c.own()
	for _, o := range c.joined {
		if err := r.Merge(o); err != nil {
			panic(err) // Merge has checked it
		}
	}
	return r
}

// own returns the result of the collector's own run.
func (c *Collector) own() *Result {
	r := &Result{
		BlockBytes: c.blockBytes,
		Accesses:   c.accesses + c.tally.accesses,
		Blocks:     c.blocks,
		Groups:     make([]Histogram, len(c.counts.cold)),
	}
	for i := range r.Groups {
		r.Groups[i] = c.counts.histogram(i)
	}
	return r
}
