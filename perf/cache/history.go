package cache

import (
	"slices"

	"presage/perf/trace"
)

// Fill is a miss that filled a place of its set that was free. After Flush it is not
// known whether the block would have been there otherwise; of other misses it is, under
// LRU: since the block was accessed, at least as many others of its set were as the
// set has ways.
type Fill struct {
	Level int // of Config.Levels, followed by those of Config.TLBs
	Group trace.GroupID
	Set   uint32
	Block uint64 // address / block size
}

// First is a miss on a block that was never requested from its level before.
type First struct {
	Level int // as of Fill
	Group trace.GroupID
	Block uint64
}

// LogFills begins lists of the fills and of the first misses from now on.
func (s *Simulator) LogFills() {
	for _, c := range []*chain{&s.caches, &s.tlbs} {
		c.logging = false
		for i := range c.levels {
			c.levels[i].noting = true
		}
		c.setDirect()
		if c.fillable() {
			c.logging = true
			c.setDirect()
		}
	}
}

// fillable reports whether there may be fills: levels that are direct and full stay so.
func (c *chain) fillable() bool {
	for i := range c.levels {
		l := &c.levels[i]
		if !l.direct || l.pool != nil && !l.pool.full() || slices.Contains(l.tags[:l.sets*l.places], 0) {
			return true
		}
	}
	return false
}

// EndLog ends the lists of fills and of first misses.
func (s *Simulator) EndLog() {
	for _, c := range []*chain{&s.caches, &s.tlbs} {
		c.logging = false
		for i := range c.levels {
			c.levels[i].noting = false
		}
		c.setDirect()
	}
}

// Fills returns the list of fills, and empties it.
func (s *Simulator) Fills() []Fill {
	all := append([]Fill(nil), s.caches.fills...)
	for _, f := range s.tlbs.fills {
		f.Level += len(s.caches.levels)
		all = append(all, f)
	}
	s.caches.fills, s.tlbs.fills = s.caches.fills[:0], s.tlbs.fills[:0]
	return all
}

// Firsts returns the list of first misses, by level, and empties it.
func (s *Simulator) Firsts() []First {
	var all []First
	for l := range len(s.caches.levels) + len(s.tlbs.levels) {
		level := s.level(l)
		for _, f := range level.firsts {
			f.Level = l
			all = append(all, f)
		}
		level.firsts = level.firsts[:0]
	}
	return all
}

// cold counts a first miss on a block.
func (l *level) cold(n *Counts, block uint64, group uint32) {
	n.Cold++
	if l.noting {
		l.firsts = append(l.firsts, First{Group: trace.GroupID(group), Block: block})
	}
}

// coldRow requests blocks from block on, so many of them, of which those that are new
// are first misses.
func (l *level) coldRow(n *Counts, block, count uint64, group uint32) {
	if !l.noting {
		n.Cold += l.seen.addRow(block, count)
		return
	}
	for b := block; b < block+count; b++ {
		if l.seen.add(b) {
			l.cold(n, b, group)
		}
	}
}

// level returns a level of Config.Levels or, after these, of Config.TLBs.
func (s *Simulator) level(i int) *level {
	if n := len(s.caches.levels); i >= n {
		return &s.tlbs.levels[i-n]
	}
	return &s.caches.levels[i]
}

// Blocks calls do with each block ever requested from a level, ascending. Levels are
// numbered as in Distinct.
func (s *Simulator) Blocks(level int, do func(block uint64)) { s.level(level).seen.each(do) }

// Distinct returns the number of blocks ever accessed that belong to each set of a
// level: of Config.Levels, followed by those of Config.TLBs.
func (s *Simulator) Distinct(level int) []uint32 {
	l := s.level(level)
	n := make([]uint32, l.sets)
	l.seen.each(func(block uint64) { n[l.setOf(block)]++ })
	return n
}

// Ways returns the ways of a level, numbered as in Distinct.
func (s *Simulator) Ways(level int) uint64 { return s.level(level).ways }

// filterBlocks is the largest size of a filter.
const filterBlocks = 4096

// filter stands for the first level while the levels below are warmed up: a
// direct-mapped cache of block numbers, plus 1. A block in it goes no further.
type filter struct {
	blocks []uint64
	mask   uint64
}

func newFilter(blocks uint64) filter {
	size := uint64(1)
	for 2*size <= min(blocks, filterBlocks) {
		size *= 2
	}
	return filter{make([]uint64, size), size - 1}
}

// pass reports whether a block is not in the filter, and puts it there.
func (f *filter) pass(block uint64) bool {
	at := &f.blocks[block&f.mask]
	if *at == block+1 {
		return false
	}
	*at = block + 1
	return true
}

// Warm brings the contents of the caches below the first to about where Observe would,
// in a fraction of the time. A filter of recent blocks stands for the first, which stays
// as it is; iterations of a run are taken some at a time. The accesses count at the
// levels below, those that come from the filter; at the first they do not. Where there
// are prefetchers, or the level below the first takes what that evicts, it is Observe.
// Misses of TLBs, which hold too little to be warmed up by halves, are those of Observe;
// accesses to the latest page of a set need not count. It panics as Observe does.
func (s *Simulator) Warm(b *trace.Batch) {
	s.caches.warmBatch(b)
	if c := &s.tlbs; len(c.levels) > 0 {
		l := &c.levels[0]
		c.skims = l.direct && l.pool == nil && !l.spec.BypassFloat
		c.observeBatch(b)
		c.skims = false
	}
}

// skim is observe without counting accesses to the latest block of a set, which change
// nothing. All enter at the first level, which is direct and has no dirty blocks.
func (c *chain) skim(accesses []trace.Access) {
	c.skims = false
	l := &c.levels[0]
	shift, mask, places, tags := l.shift&63, l.mask, l.places, l.tags
	for i, a := range accesses {
		block := a.Addr() >> shift
		if tags[block&mask*places] != tagOf(block) || a.Last()>>shift != block {
			c.observe(accesses[i : i+1])
		}
	}
	c.skims = true
}

// warmChunk is the number of iterations of a run that are taken together.
const warmChunk = 64

func (c *chain) warmBatch(b *trace.Batch) {
	if len(c.levels) == 0 {
		return
	}
	if c.prefetching != nil || c.takesVictims(1) {
		c.observeBatch(b)
		return
	}
	if c.filter.blocks == nil {
		c.filter = newFilter(c.levels[0].spec.Blocks)
	}
	if len(b.Runs) == 0 {
		c.warm(b.Accesses)
		return
	}
	for p := range b.Pieces() {
		c.warm(p.Accesses)
		c.warmLoop(&p.Loop)
	}
}

// warm passes accesses through the filter, and on to the level below the first.
func (c *chain) warm(accesses []trace.Access) {
	shift := c.levels[0].shift & 63
	for _, a := range accesses {
		block, last := a.Addr()>>shift, a.Last()>>shift
		if block == last && c.filter.blocks[block&c.filter.mask] == block+1 {
			continue
		}
		for ; block <= last; block++ {
			if c.filter.pass(block) {
				c.warmBlock(block<<shift, &c.refs[a.Ref()])
			}
		}
	}
}

// warmLoop is warm for a run: in each chunk of iterations, what a reference moves
// through, one reference after the other.
func (c *chain) warmLoop(l *trace.Loop) {
	shift := c.levels[0].shift & 63
	for from := uint32(0); from < l.Count; from += warmChunk {
		n := min(warmChunk, l.Count-from)
		for i := range l.Strides {
			s := &l.Strides[i]
			ref := &c.refs[s.First.Ref()]
			if s.Step > 1<<shift || s.Step < -(1<<shift) {
				c.warmSparse(s, ref, from, n)
				continue
			}
			first, last := s.At(from).Addr()>>shift, s.At(from+n-1).Addr()>>shift
			step := uint64(1)
			if last < first {
				step = ^uint64(0) // -1
			}
			for block := first; ; block += step {
				if c.filter.pass(block) {
					c.warmBlock(block<<shift, ref)
				}
				if block == last {
					break
				}
			}
		}
	}
}

// warmSparse is warm for n iterations of a reference whose steps are longer than a
// block.
func (c *chain) warmSparse(s *trace.Stride, ref *reference, from, n uint32) {
	shift := c.levels[0].shift & 63
	for k := range n {
		if block := s.At(from+k).Addr() >> shift; c.filter.pass(block) {
			c.warmBlock(block<<shift, ref)
		}
	}
}

// warmBlock accesses a block of the first level, which begins at an address, at the
// level below the one that the reference enters.
func (c *chain) warmBlock(first uint64, ref *reference) {
	i := int(ref.enter)
	if i >= len(c.levels) {
		return
	}
	if i = int(c.levels[i].below[ref.float]); i < len(c.levels) {
		c.demand(i, first, first, ref, ref.mark)
	}
}

// each calls do with the blocks of the set, ascending.
func (s *seen) each(do func(block uint64)) {
	for d, pages := range s.dir {
		for p, page := range pages {
			if page == nil {
				continue
			}
			for w, word := range page {
				for bit := range uint64(64) {
					if word>>bit&1 != 0 {
						do(uint64(d)<<seenDirBits | uint64(p)<<seenPageBits | uint64(w)<<6 | bit)
					}
				}
			}
		}
	}
}

// setOf returns the number of a block's set.
func (c *contents) setOf(block uint64) uint64 {
	if c.places == 0 {
		return 0
	}
	return c.first(block) / c.places
}
