package shard

import (
	"fmt"
	"math/bits"

	"presage/perf/isa"
	"presage/perf/trace"
)

// Stream is a kind of accesses that reach a cache.
type Stream uint8

// The streams: a first-level cache of data sees Data, one of instructions Code,
// and a second-level cache both, as far as they miss in the first.
const (
	Data Stream = iota
	Code
	Both
	streams
)

func (s Stream) String() string { return [...]string{"data", "code", "both"}[s] }

// Window is a shard by its place in a run: the blocks that begin at instruction
// From or later, and before To.
type Window = trace.Window

// MaxWays is the largest number of ways that Caches counts.
const MaxWays = 8

// Misses are the misses of a shard in all caches with a given number of sets.
type Misses struct {
	Stream Stream
	Sets   uint64
	ByWays [MaxWays]uint64 // of blocks of BlockBytes, least recently used first out: 1 to MaxWays
}

// Caches counts misses in caches of all geometries in one run: for each number of
// sets, the LRU stack depth at which an access finds its block in its set is the least
// associativity with which it hits (all-associativity simulation: Hill and Smith, IEEE
// Transactions on Computers 38, 1989). It is a trace.Collector.
//
// Unlike the characteristics of Table 1, misses depend on everything recorded before
// the shard, because the content of a cache does. Consecutive instructions fetched
// from one block of code are one access to it.
type Caches struct {
	windows []Window
	blocks  []fetched

	lists  []lists
	before [][MaxWays]uint64 // misses of each at the window's beginning
	inside bool
	line   uint64 // of code, that was fetched from last
	found  [][]Misses
}

var _ trace.Collector = (*Caches)(nil)

// fetched is a basic block: what it executes, and the blocks of code it lies in.
type fetched struct {
	instructions uint64
	refs         int
	lines        []uint64
}

// fetches returns what the blocks of a plan execute.
func fetches(plan *trace.Plan, code [][]isa.Inst) (list []fetched, err error) {
	blocks, _, err := compile(plan, code)
	if err != nil {
		return nil, err
	}
	for i, b := range blocks {
		f := fetched{instructions: uint64(len(b.ops)), refs: int(plan.Blocks[i].Refs)}
		for _, r := range b.lines {
			f.lines = append(f.lines, code[i][r.first].PC/BlockBytes)
		}
		list = append(list, f)
	}
	return list, nil
}

// lists are the most recently used blocks of each set, the latest first.
type lists struct {
	stream Stream
	mask   uint64
	tags   []uint64 // MaxWays for each set, plus 1; 0: none
	misses [MaxWays]uint64
}

// NewCaches returns a Caches for runs under plan: see New. The windows are
// ascending and disjoint; sets are numbers of sets for each stream, powers of two.
func NewCaches(plan *trace.Plan, code [][]isa.Inst, windows []Window, sets [3][]uint64) (*Caches, error) {
	for i, w := range windows {
		if w.From >= w.To || i > 0 && w.From < windows[i-1].To {
			return nil, fmt.Errorf("shard: the window from %d to %d is empty, or begins before the one before it ends", w.From, w.To)
		}
	}
	blocks, err := fetches(plan, code)
	if err != nil {
		return nil, err
	}
	c := &Caches{windows: windows, blocks: blocks}
	for s, list := range sets {
		for _, n := range list {
			if bits.OnesCount64(n) != 1 {
				return nil, fmt.Errorf("shard: a cache of %d sets; the number is a power of two", n)
			}
			c.lists = append(c.lists, lists{stream: Stream(s), mask: n - 1, tags: make([]uint64, n*MaxWays)})
		}
	}
	return c, nil
}

// Observe implements trace.Collector. It panics where a batch names a block
// that is not in the plan.
func (c *Caches) Observe(b *trace.Batch) {
	at, accesses := b.Start, b.Accesses
	for _, id := range b.Blocks {
		c.bound(at)
		f := &c.blocks[id]
		for _, line := range f.lines {
			if line != c.line {
				c.access(Code, line)
			}
			c.line = line
		}
		n := min(f.refs, len(accesses))
		for _, a := range accesses[:n] {
			for block := a.Addr() / BlockBytes; block <= a.Last()/BlockBytes; block++ {
				c.access(Data, block)
			}
		}
		accesses = accesses[n:]
		at += f.instructions
	}
}

// access looks a block up in all lists that see a stream.
func (c *Caches) access(s Stream, block uint64) {
	for i := range c.lists {
		if l := &c.lists[i]; l.stream == s || l.stream == Both {
			l.access(block)
		}
	}
}

func (l *lists) access(block uint64) {
	tag := block + 1
	set := (*[MaxWays]uint64)(l.tags[block&l.mask*MaxWays:])
	if set[0] == tag {
		return
	}
	for depth := range set {
		found := set[depth] == tag
		if found || depth == MaxWays-1 {
			copy(set[1:depth+1], set[:depth])
			set[0] = tag
			if !found {
				depth = MaxWays
			}
			for ways := range depth {
				l.misses[ways]++
			}
			return
		}
	}
}

// bound begins and ends windows before the instruction at.
func (c *Caches) bound(at uint64) {
	for n := len(c.found); n < len(c.windows) && at >= c.windows[n].From; n = len(c.found) {
		if !c.inside {
			c.begin()
		}
		if at < c.windows[n].To {
			return
		}
		c.end()
	}
}

func (c *Caches) begin() {
	c.inside, c.before = true, c.before[:0]
	for i := range c.lists {
		c.before = append(c.before, c.lists[i].misses)
	}
}

func (c *Caches) end() {
	var all []Misses
	for i, l := range c.lists {
		m := Misses{Stream: l.stream, Sets: l.mask + 1, ByWays: l.misses}
		for w, n := range c.before[i] {
			m.ByWays[w] -= n
		}
		all = append(all, m)
	}
	c.found, c.inside = append(c.found, all), false
}

// Result returns the misses of the windows seen, in the order of the numbers of sets
// given to NewCaches.
func (c *Caches) Result() [][]Misses {
	if c.inside {
		c.end()
	}
	return c.found
}
