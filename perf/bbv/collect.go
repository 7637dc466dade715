package bbv

import (
	"fmt"
	"slices"

	"presage/perf/trace"
)

// DefaultInterval is the default length of an interval, in instructions: that
// of the 2005 paper (section 4).
const DefaultInterval = 1_000_000

// Collector counts the instructions executed in each block of a plan, interval
// by interval. It is a trace.Collector.
//
// An interval consists of the blocks that begin in it: interval i ends with the
// first block that begins at or after a multiple of the interval's length, and
// the rest of a run is the last one. Code outside the plan's blocks counts
// towards the length of its interval but not in its vector.
type Collector struct {
	every   uint64
	blocks  []tally  // by trace.BlockID
	touched []uint32 // blocks executed in the interval, in order of their first time

	at, start, next uint64 // instructions: executed, at the interval's start, at the next cut
	began           bool

	executed []uint64 // by trace.BlockID, of intervals that ended
	vectors  Vectors
}

// tally holds the fields of a block that the hot loop needs, side by side.
type tally struct {
	n    uint32 // executions in the interval; an interval is below 2^32 instructions
	size uint32 // instructions
}

var _ trace.RunCollector = (*Collector)(nil)

// MaxInterval bounds the length of an interval, in instructions.
const MaxInterval = 1 << 31

// NewCollector returns a Collector for runs under plan, which must record
// blocks. interval is in instructions, usually 1e5 to 1e8; 0: DefaultInterval.
func NewCollector(plan *trace.Plan, interval uint64) (*Collector, error) {
	if interval == 0 {
		interval = DefaultInterval
	}
	if interval > MaxInterval {
		return nil, fmt.Errorf("bbv: an interval of %d instructions; at most %d are possible", interval, uint64(MaxInterval))
	}
	if plan == nil || len(plan.Blocks) == 0 {
		return nil, fmt.Errorf("bbv: the plan records no blocks")
	}
	c := &Collector{every: interval, blocks: make([]tally, len(plan.Blocks)), executed: make([]uint64, len(plan.Blocks))}
	for i, b := range plan.Blocks {
		if b.Instructions == 0 {
			return nil, fmt.Errorf("bbv: plan block %d at pc %#x has no instructions", i, uint64(b.PC))
		}
		c.blocks[i].size = b.Instructions
	}
	c.vectors.First = []int{0}
	return c, nil
}

// Observe implements trace.Collector. It panics if a batch names a block that
// is not in the plan.
func (c *Collector) Observe(b *trace.Batch) {
	if !c.began {
		// A run that continues from a snapshot begins late.
		c.began, c.start = true, b.Start
		c.next = (b.Start/c.every + 1) * c.every
	}
	at := b.Start
	if len(b.Runs) == 0 {
		at = c.execute(at, b.Blocks)
	} else {
		for p := range b.Pieces() {
			at = c.execute(at, p.Blocks)
			at = c.repeat(at, p.Loop.Body, uint64(p.Loop.Count))
		}
	}
	c.at = max(c.at, at)
}

// TakesRuns implements trace.RunCollector: a run costs as much as its body, in each
// interval that it reaches.
func (c *Collector) TakesRuns() bool { return true }

// execute counts executed blocks, the first of which begins at an instruction, and
// returns the instruction after them.
func (c *Collector) execute(at uint64, executed []trace.BlockID) uint64 {
	blocks := c.blocks
	for _, id := range executed {
		if at >= c.next {
			c.cut(at)
		}
		t := &blocks[id]
		if t.n == 0 {
			c.touched = append(c.touched, uint32(id))
		}
		t.n++
		at += uint64(t.size)
	}
	return at
}

// repeat counts count executions of a body of blocks.
func (c *Collector) repeat(at uint64, body []trace.BlockID, count uint64) uint64 {
	size, last := uint64(0), uint64(0)
	for _, id := range body {
		last = uint64(c.blocks[id].size)
		size += last
	}
	if size == 0 {
		return at
	}
	for count > 0 {
		at = c.execute(at, body) // cuts where due
		count--
		// All blocks of an iteration that begins up to here begin in the interval.
		begin := at + size - last
		if count == 0 || begin >= c.next {
			continue
		}
		n := min(count, (c.next-1-begin)/size+1)
		for _, id := range body {
			c.blocks[id].n += uint32(n) // executed above, and so touched or cut
			if c.blocks[id].n == uint32(n) {
				c.touched = append(c.touched, uint32(id))
			}
		}
		at += n * size
		count -= n
	}
	return at
}

// cut ends an interval before instruction at.
func (c *Collector) cut(at uint64) {
	c.end(at)
	c.start = at
	c.next = (at/c.every + 1) * c.every
}

// end appends the vector of the interval from c.start to at.
func (c *Collector) end(at uint64) {
	slices.Sort(c.touched)
	for _, id := range c.touched {
		t := &c.blocks[id]
		c.vectors.Blocks = append(c.vectors.Blocks, id)
		c.vectors.Instructions = append(c.vectors.Instructions, uint64(t.n)*uint64(t.size))
		c.executed[id] += uint64(t.n)
		t.n = 0
	}
	c.touched = c.touched[:0]
	c.vectors.add(c.start, at-c.start)
}

// Result returns the vectors of a run of the given number of instructions, and
// the number of executions of each block of the plan. It ends the collection.
func (c *Collector) Result(instructions uint64) (*Vectors, []uint64) {
	if end := max(instructions, c.start); end > c.start || len(c.touched) > 0 {
		if end == c.start {
			end = c.at
		}
		c.end(end)
		c.start, c.next = end, end+c.every
	}
	return &c.vectors, c.executed
}
