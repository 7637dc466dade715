package shard

import (
	"fmt"

	"presage/perf/isa"
	"presage/perf/trace"
)

// DefaultLength is the default length of a shard, in instructions. In 2012 it is ten
// times that, for programs that run a thousand times longer than the ones here.
const DefaultLength = 1_000_000

// Collector characterises the shards of a run. It is a trace.Collector.
//
// A shard consists of the blocks that begin in it: it ends with the first block
// that begins at or after a multiple of the length, and the rest of a run is the last
// one. In a run recorded in windows, each window begins a shard.
type Collector struct {
	length uint64
	blocks []block // by trace.BlockID

	threads map[int32]*thread
	data    map[uint64]uint64 // block of data: instruction that accessed it last, plus one
	code    []uint64          // the same by number of the block of code; 0: not in this shard

	at, next uint64 // instructions executed before the next block, and at the next cut
	shard    Shard
	began    bool
	shards   []Shard
	odd      oddities
}

var _ trace.Collector = (*Collector)(nil)

// thread is the state of a thread of the program.
type thread struct {
	made [registers]producer
	end  exit // of its latest block
}

const registers = 256 // isa.Reg

// producer is the instruction that produced the value of a register.
type producer struct {
	kind use
	at   uint64
}

// use is the kind of a producer whose first consumer is of interest.
type use uint8

const (
	unwatched use = iota
	floatALU
	floatMul
	intMul
)

type oddities struct{ strays, unmatched uint64 }

// New returns a Collector for runs under plan, which records all blocks and all
// memory references of the code: the instructions of each of plan.Blocks. length
// is that of a shard, in instructions; 0: DefaultLength.
func New(plan *trace.Plan, code [][]isa.Inst, length uint64) (*Collector, error) {
	if length == 0 {
		length = DefaultLength
	}
	if plan == nil || len(plan.Blocks) == 0 {
		return nil, fmt.Errorf("shard: the plan records no blocks")
	}
	blocks, lines, err := compile(plan, code)
	if err != nil {
		return nil, err
	}
	return &Collector{
		length: length, blocks: blocks, code: make([]uint64, lines),
		data: make(map[uint64]uint64), threads: make(map[int32]*thread),
	}, nil
}

// Observe implements trace.Collector. It panics where a batch names a block
// that is not in the plan.
func (c *Collector) Observe(b *trace.Batch) {
	t := c.threads[b.Thread]
	if t == nil {
		t = new(thread)
		c.threads[b.Thread] = t
	}
	accesses := b.Accesses
	if !c.began || b.Start >= c.next {
		c.cut(b.Start)
	}
	c.at = b.Start
	for _, id := range b.Blocks {
		if c.at >= c.next {
			c.cut(c.at)
		}
		accesses = c.step(t, &c.blocks[id], accesses)
	}
	c.odd.strays += uint64(len(accesses))
}

// cut ends the shard at hand, if any, and begins one with instruction at.
func (c *Collector) cut(at uint64) {
	c.end()
	c.began = true
	c.shard = Shard{From: at}
	c.next = (at/c.length + 1) * c.length
	clear(c.data)
	clear(c.code)
	for _, t := range c.threads {
		*t = thread{}
	}
}

func (c *Collector) end() {
	if c.shard.Instructions > 0 {
		c.shards = append(c.shards, c.shard)
	}
	c.shard = Shard{}
}

// step processes the execution of a block, and returns the remaining accesses.
func (c *Collector) step(t *thread, b *block, accesses []trace.Access) []trace.Access {
	s := &c.shard
	if t.end.taken(b.pc) {
		s.Taken++
	}
	s.Instructions += uint64(len(b.ops))
	s.Control += b.mix.Control
	s.FloatALU += b.mix.FloatALU
	s.FloatMulDiv += b.mix.FloatMulDiv
	s.IntMulDiv += b.mix.IntMulDiv
	s.IntALU += b.mix.IntALU
	s.Memory += b.mix.Memory
	for _, r := range b.lines {
		c.fetch(r)
	}
	for _, i := range b.active {
		o := &b.ops[i]
		at := c.at + uint64(i)
		for _, r := range o.uses {
			if p := &t.made[r]; p.kind != unwatched {
				c.consumed(p, at)
			}
		}
		for _, ref := range o.refs {
			accesses = c.access(ref, accesses, at)
		}
		for _, r := range o.defs {
			t.made[r] = producer{o.kind, at}
		}
	}
	c.at += uint64(len(b.ops))
	t.end = b.end
	return accesses
}

// fetch processes the fetch of the instructions of a block that lie in one block of
// code: the first some time after the previous access to it, the others one by one.
func (c *Collector) fetch(r run) {
	first, last := c.at+uint64(r.first), &c.code[r.line]
	if *last == 0 {
		c.shard.CodeBlocks++
	} else {
		c.shard.Code.add(first + 1 - *last)
	}
	c.shard.Code.Count += uint64(r.count - 1)
	c.shard.Code.Sum += uint64(r.count - 1)
	*last = first + uint64(r.count)
}

// consumed records that instruction at was the first to use the value of p.
func (c *Collector) consumed(p *producer, at uint64) {
	switch p.kind {
	case floatALU:
		c.shard.FloatALUUse.add(at - p.at)
	case floatMul:
		c.shard.FloatMulUse.add(at - p.at)
	case intMul:
		c.shard.IntMulUse.add(at - p.at)
	}
	p.kind = unwatched
}

// lookAhead is how many accesses are searched for the one of a reference if unexpected
// ones were recorded.
const lookAhead = 64

// access processes the access of a reference in instruction at.
func (c *Collector) access(ref trace.RefID, accesses []trace.Access, at uint64) []trace.Access {
	for i := range min(lookAhead, len(accesses)) {
		a := accesses[i]
		if a.Ref() != ref {
			continue
		}
		c.odd.strays += uint64(i)
		for block := a.Addr() / BlockBytes; block <= a.Last()/BlockBytes; block++ {
			last := c.data[block]
			if last == 0 {
				c.shard.DataBlocks++
			} else {
				c.shard.Data.add(at + 1 - last)
			}
			c.data[block] = at + 1
		}
		return accesses[i+1:]
	}
	c.odd.unmatched++
	return accesses
}

// Result returns the shards of the run up to now, in order; the last one may be
// shorter. It ends the collection. The warnings say what makes the shards doubtful.
func (c *Collector) Result() (shards []Shard, warnings []error) {
	c.end()
	c.began = false
	if c.odd.strays > 0 {
		warnings = append(warnings, fmt.Errorf("shard: %d recorded accesses belong to no executed block and were left out", c.odd.strays))
	}
	if c.odd.unmatched > 0 {
		warnings = append(warnings, fmt.Errorf("shard: %d executed memory references have no recorded access and have no distance", c.odd.unmatched))
	}
	return c.shards, warnings
}
