package sharing

import (
	"fmt"
	"slices"

	"presage/perf/cache"
	"presage/perf/reuse"
	"presage/perf/trace"
)

// cores simulates threads on a core each, whose first levels of cache are its own, and
// whose others are shared by all. It is a trace.Collector.
//
// A write takes the block from the private levels of all other cores. What misses there
// asks the shared levels for the block. A shared level that takes what private ones evict
// has no copy of what it gave away, if it is exclusive; a core that then has the block
// supplies it.
//
// Threads that take turns in the run are taken to run at once: what all did in a turn each
// is put together again, an access of one after an access of the other. So order between
// threads is that of the run to within a turn.
type cores struct {
	config  cache.Config // of a core alone
	private int          // levels of config that each core has to itself
	plan    *trace.Plan
	writes  []bool

	cores  []*core
	of     map[int32]int
	shared []*lru
	round  []int            // cores whose turn is in the round at hand, in order
	all    *reuse.Collector // distances in blocks of the last level, of all threads together
	batch  trace.Batch

	missed func(addr uint64, m cache.Missed) // if not nil, called with misses of private levels; then neither distances nor misses alone are found
}

// core is what a thread runs on.
type core struct {
	own   *cache.Simulator
	alone *cache.Simulator // all levels, without other cores
	reuse *reuse.Collector // distances of the thread by itself
	queue []trace.Access   // of its turn
	lost  []map[uint64]bool
	stats []coreCounts // by level of config

	accesses uint64
}

// coreCounts are those of a core at a level.
type coreCounts struct {
	Accesses, Misses      uint64
	Invalidated, Supplied uint64
}

var _ trace.Collector = (*cores)(nil)

// newCores returns a collector for threads of which each has so many levels of cache to
// itself.
func newCores(plan *trace.Plan, config cache.Config, private int) (*cores, error) {
	c := &cores{config: config, private: private, plan: plan, of: make(map[int32]int)}
	c.config.TLBs = nil
	for i := range plan.Refs {
		c.writes = append(c.writes, plan.Refs[i].Kind.Writes())
	}
	for i, l := range config.Levels {
		if l.Replacement != cache.LRU || l.PageBytes != 0 || l.BypassFloat || l.BlockBytes != config.Levels[0].BlockBytes {
			return nil, fmt.Errorf("perf: sharing: %w: %s needs LRU replacement, blocks of one size and no bypass", ErrCaches, l.Name)
		}
		if i < private {
			continue
		}
		c.shared = append(c.shared, newLRU(l.Blocks, l.Ways))
	}
	var err error
	c.all, err = reuse.New(plan, c.distances())
	return c, err
}

func (c *cores) distances() reuse.Options {
	return reuse.Options{BlockBytes: c.config.Levels[0].BlockBytes, Workers: 1}
}

// core returns that of a thread.
func (c *cores) core(thread int32) (int, error) {
	if i, ok := c.of[thread]; ok {
		return i, nil
	}
	own := c.config
	own.Levels = own.Levels[:c.private]
	x := &core{stats: make([]coreCounts, len(c.config.Levels))}
	var err error
	if x.own, err = cache.New(c.plan, own); err != nil {
		return 0, err
	}
	if x.alone, err = cache.New(c.plan, c.config); err != nil {
		return 0, err
	}
	if x.reuse, err = reuse.New(c.plan, c.distances()); err != nil {
		return 0, err
	}
	for range c.private {
		x.lost = append(x.lost, make(map[uint64]bool))
	}
	c.of[thread] = len(c.cores)
	c.cores = append(c.cores, x)
	return len(c.cores) - 1, nil
}

// longest is the number of accesses of a turn from which on it is taken as it is.
const longest = 1 << 20

// Observe implements trace.Collector.
func (c *cores) Observe(b *trace.Batch) {
	n, err := c.core(b.Thread)
	if err != nil {
		panic(fmt.Sprintf("sharing: %v", err)) // newCores has checked the same configuration
	}
	at := slices.Index(c.round, n)
	if at >= 0 && at < len(c.round)-1 { // its next turn
		c.flush()
		at = -1
	}
	if at < 0 {
		c.round = append(c.round, n)
	}
	x := c.cores[n]
	if c.missed == nil {
		x.alone.Observe(b)
		x.reuse.Observe(b)
	}
	x.queue = append(x.queue, b.Accesses...)
	if len(x.queue) >= longest {
		c.flush()
	}
}

// flush simulates a round of turns.
func (c *cores) flush() {
	c.batch.Accesses = c.batch.Accesses[:0]
	for i, busy := 0, true; busy; i++ {
		busy = false
		for _, n := range c.round {
			if x := c.cores[n]; i < len(x.queue) {
				busy = true
				c.access(n, x.queue[i])
				c.batch.Accesses = append(c.batch.Accesses, x.queue[i])
			}
		}
	}
	if c.missed == nil {
		c.all.Observe(&c.batch)
	}
	for _, n := range c.round {
		c.cores[n].queue = c.cores[n].queue[:0]
	}
	c.round = c.round[:0]
}

// access makes an access of a core.
func (c *cores) access(n int, a trace.Access) {
	x := c.cores[n]
	x.accesses++
	size := c.config.Levels[0].BlockBytes
	for first := a.Addr(); first <= a.Last(); { // block by block, as an inclusive level may take one away for the next
		last := min(a.Last(), first|(size-1))
		c.part(n, trace.Tag(a.Ref(), uint8(last-first+1))+trace.Access(first))
		first = last + 1
	}
	if !c.writes[a.Ref()] {
		return
	}
	for i, o := range c.cores {
		if i != n {
			o.own.Invalidate(a.Addr(), a.Last(), func(level int, block uint64) { o.lost[level][block] = true })
		}
	}
}

// part makes the part of an access that is in one block.
func (c *cores) part(n int, a trace.Access) {
	x := c.cores[n]
	for _, m := range x.own.Access(a) {
		s := &x.stats[m.Level]
		s.Misses++
		if c.missed != nil {
			c.missed(a.Addr(), m)
		}
		if x.lost[m.Level][m.Block] {
			s.Invalidated++
			delete(x.lost[m.Level], m.Block)
		}
		if m.Level == c.private-1 {
			c.ask(n, m)
		}
	}
}

// ask has the shared levels serve a miss of a core's last private one.
func (c *cores) ask(n int, m cache.Missed) {
	c.request(n, 0, m.Block)
	if m.Evicts {
		c.take(0, m.Victim)
	}
}

// request has shared level k serve a core.
func (c *cores) request(n, k int, block uint64) {
	if k == len(c.shared) {
		return
	}
	l, spec := c.shared[k], &c.config.Levels[c.private+k]
	s := &c.cores[n].stats[c.private+k]
	s.Accesses++
	var held, full bool
	var victim uint64
	switch spec.Filling {
	case cache.Exclusive:
		held = l.remove(block)
	case cache.Victims:
		held = l.touch(block)
	default:
		held, victim, full = l.fetch(block)
	}
	if held {
		return
	}
	s.Misses++
	if c.others(n, block) {
		s.Supplied++
	} else {
		c.request(n, k+1, block)
	}
	if full {
		if spec.Inclusive {
			c.recall(k, victim)
		}
		c.take(k+1, victim)
	}
}

// take puts a block that the level above evicted into shared level k, if that takes such.
func (c *cores) take(k int, block uint64) {
	if k == len(c.shared) || c.config.Levels[c.private+k].Filling == cache.OnMiss {
		return
	}
	if _, victim, full := c.shared[k].fetch(block); full {
		c.take(k+1, victim)
	}
}

// recall takes a block that inclusive shared level k evicts from all levels above.
func (c *cores) recall(k int, block uint64) {
	for _, l := range c.shared[:k] {
		l.remove(block)
	}
	size := c.config.Levels[0].BlockBytes
	for _, o := range c.cores {
		o.own.Invalidate(block*size, block*size, func(int, uint64) {})
	}
}

// others reports whether another core holds a block.
func (c *cores) others(n int, block uint64) bool {
	size := c.config.Levels[0].BlockBytes
	for i, o := range c.cores {
		if i == n {
			continue
		}
		for level := range c.private {
			if o.own.Holds(level, block*size) {
				return true
			}
		}
	}
	return false
}

// lru is a set-associative cache of blocks with LRU replacement.
type lru struct {
	sets, ways uint64
	blocks     []uint64 // block + 1 by set, the latest first; 0: free
}

func newLRU(blocks uint64, ways int) *lru {
	w := uint64(ways)
	if w == 0 {
		w = blocks
	}
	return &lru{blocks / w, w, make([]uint64, blocks)}
}

// find returns the set of a block, and its place in it; -1 if it is not held.
func (l *lru) find(block uint64) (set []uint64, at int) {
	first := block % l.sets * l.ways
	set = l.blocks[first : first+l.ways]
	for i, b := range set {
		if b == block+1 {
			return set, i
		}
	}
	return set, -1
}

// first makes the element at a place the first.
func first(set []uint64, at int) {
	b := set[at]
	copy(set[1:], set[:at])
	set[0] = b
}

// touch makes a block the latest, and reports whether it is held.
func (l *lru) touch(block uint64) bool {
	set, at := l.find(block)
	if at >= 0 {
		first(set, at)
	}
	return at >= 0
}

// fetch makes a block the latest, and brings it in if it is not held; full reports whether
// victim had to leave for it.
func (l *lru) fetch(block uint64) (held bool, victim uint64, full bool) {
	set, at := l.find(block)
	if at >= 0 {
		first(set, at)
		return true, 0, false
	}
	last := len(set) - 1
	victim, full = set[last]-1, set[last] != 0
	set[last] = block + 1
	first(set, last)
	return false, victim, full
}

// remove takes a block out, and reports whether it was held.
func (l *lru) remove(block uint64) bool {
	set, at := l.find(block)
	if at < 0 {
		return false
	}
	copy(set[at:], set[at+1:])
	set[len(set)-1] = 0
	return true
}
