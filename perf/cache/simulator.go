package cache

import (
	"fmt"
	"math/bits"

	"presage/perf/trace"
)

// Simulator runs the accesses of a run through a memory hierarchy. It is a
// trace.Collector.
type Simulator struct {
	config Config
	groups int
	caches chain
	tlbs   chain
	log    []Missed // of Access
}

var _ trace.RunCollector = (*Simulator)(nil)

// New returns a Simulator with empty caches, for runs under plan.
func New(plan *trace.Plan, config Config) (*Simulator, error) {
	if plan == nil {
		return nil, fmt.Errorf("cache: no plan: misses are counted for its groups")
	}
	if err := plan.Check(); err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	if err := config.Check(); err != nil {
		return nil, err
	}
	if p := config.Prefetching; p != nil && p.Clock != nil && len(p.Clock.PerAccess) != len(plan.Refs) {
		return nil, fmt.Errorf("cache: the clock knows %d references, the plan %d", len(p.Clock.PerAccess), len(plan.Refs))
	}
	s := &Simulator{config: config.clone(), groups: plan.Groups()}
	s.caches = newChain(plan, s.config.Levels, config.Seed, true)
	if p := s.config.Prefetching; p != nil {
		s.caches.prefetching = newPrefetching(p, len(s.config.Levels), s.groups)
	}
	tlbs := make([]Level, len(config.TLBs))
	for i, t := range config.TLBs {
		tlbs[i] = t.level()
	}
	s.caches.setDirect()
	s.tlbs = newChain(plan, tlbs, config.Seed^1<<63, false)
	s.tlbs.first = len(config.Levels)
	return s, nil
}

// Observe implements trace.Collector. It panics if a batch names a reference
// that is not in the plan.
func (s *Simulator) Observe(b *trace.Batch) {
	if len(s.caches.levels) > 0 {
		s.caches.observeBatch(b)
	}
	if len(s.tlbs.levels) > 0 {
		s.tlbs.observeBatch(b)
	}
}

// TakesRuns implements trace.RunCollector: runs of loops cost little more than the
// blocks that they move through, unless there are prefetchers, which learn from each
// access.
func (s *Simulator) TakesRuns() bool { return s.caches.prefetching == nil }

// Flush empties caches and TLBs, without writing anything back. Counts go on, and
// cold misses still are first accesses of all that was observed.
func (s *Simulator) Flush() {
	for _, c := range []*chain{&s.caches, &s.tlbs} {
		for i := range c.levels {
			c.levels[i].empty()
		}
		clear(c.filter.blocks)
		if c.prefetching != nil {
			c.prefetching.forget()
		}
	}
}

// Result returns the counts of the accesses observed so far.
func (s *Simulator) Result() *Result {
	r := &Result{Config: s.config.clone()}
	for i, l := range s.config.Levels {
		r.Levels = append(r.Levels, s.caches.result(i, l.Name, s.groups))
	}
	for i, t := range s.config.TLBs {
		r.TLBs = append(r.TLBs, s.tlbs.result(i, t.Name, s.groups))
	}
	return r
}

// Misses sets dst to the misses of each group of the plan so far at a level of
// Config.Levels or, after these, of Config.TLBs, as Result has them, and returns it.
func (s *Simulator) Misses(dst []uint64, level int) []uint64 {
	dst = dst[:0]
	for _, n := range s.level(level).counts {
		dst = append(dst, n.Misses)
	}
	return dst
}

// chain is a sequence of levels, each of which sees the misses of the one
// before.
type chain struct {
	levels    []level
	refs      []reference
	inclusive bool      // some level is
	log       *[]Missed // takes the misses of the access at hand; nil: not asked for
	first     int       // index of levels[0] in all of the hierarchy

	filter  filter // stands for levels[0]: see Warm
	logging bool   // see LogFills
	skims   bool   // see skim
	fills   []Fill

	prefetching *prefetching // nil: none

	// For runs of loops.
	loop
	shift      uint // log2 of the smallest block size
	repeatable bool // all levels are ordered and write back, so that hits alone change nothing
	takes      bool // some level takes what the one above evicts
	writes     bool // stores mark blocks as dirty
	pagewise   bool // see setPagewise
}

// level is a cache or TLB during a simulation.
type level struct {
	contents
	shift  uint     // log2 of the block size
	direct bool     // see setDirect
	gives  bool     // the level below takes what this one evicts
	below  [2]uint8 // the level that sees the misses: of other data, and of floating-point data
	seen   seen
	noting bool    // firsts is kept: see LogFills
	firsts []First // without their Level
	ways   uint64
	missed uint64   // misses of all groups
	counts []Counts // by group; accesses that reference.count counts are not included
	spec   Level
}

// reference is the part of a trace.Ref that a chain needs.
type reference struct {
	count uint64 // executions: each is an access of the level it enters at
	id    uint32 // trace.RefID
	group uint32
	enter uint8 // the level that its accesses enter at
	float uint8 // 1 if it is to floating-point data
	mark  tag   // dirty for a store
}

func newChain(plan *trace.Plan, levels []Level, seed uint64, writes bool) chain {
	c := chain{refs: make([]reference, len(plan.Refs)), shift: 63, repeatable: true, writes: writes}
	for i, l := range levels {
		shift := uint(bits.TrailingZeros64(l.BlockBytes))
		c.levels = append(c.levels, level{
			contents: newContents(l, seed+uint64(i)<<32),
			shift:    shift,
			below:    [2]uint8{after(levels, i, false), after(levels, i, true)},
			seen:     newSeen(shift),
			ways:     l.waysOf(),
			counts:   make([]Counts, plan.Groups()),
			spec:     l,
		})
		c.inclusive = c.inclusive || l.Inclusive
		c.takes = c.takes || l.Filling != OnMiss
		c.shift = min(c.shift, shift)
		c.repeatable = c.repeatable && c.levels[i].ordered && !l.WriteThrough && !l.NoWriteAllocate
	}
	c.setDirect()
	for i := range plan.Refs {
		r := &plan.Refs[i]
		ref := reference{id: uint32(i), group: uint32(r.Group), enter: after(levels, -1, r.Float)}
		if r.Float {
			ref.float = 1
		}
		if writes && r.Kind.Writes() {
			ref.mark = dirty
		}
		c.refs[i] = ref
	}
	return c
}

// after returns the next level after i that the data do not bypass.
func after(levels []Level, i int, float bool) uint8 {
	for i++; i < len(levels); i++ {
		if !float || !levels[i].BypassFloat {
			break
		}
	}
	return uint8(i)
}

// observe passes accesses through the chain. Its fast path takes care of the
// majority: hits on one of the three latest blocks of a set which, for a store,
// is already dirty. They only rotate the set's first places. The rest goes to
// touch.
func (c *chain) observe(accesses []trace.Access) {
	if c.otherwise(accesses) {
		return
	}
	levels := c.levels
	for _, a := range accesses {
		ref := &c.refs[a.Ref()]
		ref.count++
		if int(ref.enter) >= len(levels) {
			continue
		}
		l := &levels[ref.enter]
		shift := l.shift & 63
		block, last := a.Addr()>>shift, a.Last()>>shift
		if block != last {
			l.counts[ref.group].Accesses += last - block // and one by ref.count
			c.touchAll(int(ref.enter), a.Addr(), a.Last(), ref, ref.mark)
			continue
		}
		at := l.first(block)
		want := tagOf(block)
		t := l.tags[at]
		if t == want|dirty || t == want|ref.mark {
			continue
		}
		if l.places > 1 && l.protected > 0 {
			u := l.tags[at+1]
			if u == want|dirty || u == want|ref.mark {
				l.tags[at], l.tags[at+1] = u, t
				continue
			}
			if l.places > 2 && l.ordered {
				if v := l.tags[at+2]; v == want|dirty || v == want|ref.mark {
					l.tags[at], l.tags[at+1], l.tags[at+2] = v, t, u
					continue
				}
			}
		}
		c.touch(int(ref.enter), block, a.Addr(), a.Last(), ref, ref.mark)
	}
}

// otherwise passes accesses through a chain that does not take the usual way: one with
// prefetchers, or one that skims. It reports whether the chain is one of these.
func (c *chain) otherwise(accesses []trace.Access) bool {
	switch {
	case c.prefetching != nil:
		c.observePrefetching(accesses)
	case c.skims:
		c.skim(accesses)
	default:
		return false
	}
	return true
}

// demand counts and makes an access to the bytes first to last of level i,
// unless i is memory. mark is dirty for a store.
func (c *chain) demand(i int, first, last uint64, ref *reference, mark tag) {
	if i == len(c.levels) {
		return
	}
	l := &c.levels[i]
	block, end := first>>(l.shift&63), last>>(l.shift&63)
	l.counts[ref.group].Accesses += end - block + 1
	if block == end {
		c.touch(i, block, first, last, ref, mark)
		return
	}
	c.touchAll(i, first, last, ref, mark)
}

// touchAll accesses each block of level i that contains some of the bytes first
// to last.
func (c *chain) touchAll(i int, first, last uint64, ref *reference, mark tag) {
	l := &c.levels[i]
	for block := first >> l.shift; block <= last>>l.shift; block++ {
		lo, hi := l.bytes(block)
		c.touch(i, block, max(first, lo), min(last, hi), ref, mark)
	}
}

// bytes returns the addresses of the first and the last byte of block.
func (l *level) bytes(block uint64) (first, last uint64) {
	first = block << (l.shift & 63)
	return first, first | (1<<(l.shift&63) - 1)
}

// touch accesses a block of level i; the bytes first to last of it are wanted.
func (c *chain) touch(i int, block, first, last uint64, ref *reference, mark tag) {
	l := &c.levels[i]
	if l.direct && c.log == nil {
		c.touchDirect(i, block, ref, mark)
		return
	}
	if mark != 0 && (l.spec.NoWriteAllocate || l.spec.WriteThrough) {
		c.store(i, block, first, last, ref)
		return
	}
	if l.spec.Filling != OnMiss {
		c.ask(i, block, ref)
		return
	}
	held, victim := l.fetch(block, mark)
	if c.prefetching != nil {
		c.demanded(i, block, first, held, ref)
	}
	if !held {
		c.miss(i, block, victim, ref)
	}
}

// store is touch for a store to a level that is write-through or does not
// allocate on writes.
func (c *chain) store(i int, block, first, last uint64, ref *reference) {
	l := &c.levels[i]
	if l.spec.NoWriteAllocate && !l.mark(block, 0) {
		if c.prefetching != nil {
			c.demanded(i, block, first, false, ref)
		}
		c.countMiss(i, block, ref.group)
		c.tell(Missed{Level: i, Block: block})
		c.demand(int(l.below[ref.float]), first, last, ref, dirty)
		return
	}
	mark := dirty
	if l.spec.WriteThrough {
		mark = 0
	}
	held, victim := l.fetch(block, mark)
	if c.prefetching != nil {
		c.demanded(i, block, first, held, ref)
	}
	if !held {
		c.miss(i, block, victim, ref)
	}
	if l.spec.WriteThrough {
		c.update(i+1, first, last, ref.group)
	}
}

// miss completes the fill of block into level i: it evicts victim if nonzero,
// then requests block from the next level; or the other way round, if that takes what
// this one evicts.
func (c *chain) miss(i int, block uint64, victim tag, ref *reference) {
	l := &c.levels[i]
	c.countMiss(i, block, ref.group)
	if c.log != nil {
		m := Missed{Level: i, Block: block, Fetched: true, Evicts: victim != 0}
		if m.Evicts {
			m.Victim = victim.block()
		}
		c.tell(m)
	}
	if victim == 0 && c.logging {
		c.fills = append(c.fills, Fill{i, trace.GroupID(ref.group), uint32(l.setOf(block)), block})
	}
	if c.prefetching != nil && victim != 0 {
		c.prefetching.left(i, victim.block())
	}
	first, last := l.bytes(block)
	below := int(l.below[ref.float])
	if c.takesVictims(i + 1) {
		c.demand(below, first, last, ref, 0)
		if victim != 0 {
			c.evict(i, victim, ref.group)
		}
		return
	}
	if victim&dirty != 0 || victim != 0 && l.spec.Inclusive {
		c.evict(i, victim, ref.group)
	}
	c.demand(below, first, last, ref, 0)
}

func (c *chain) countMiss(i int, block uint64, group uint32) {
	l := &c.levels[i]
	n := &l.counts[group]
	n.Misses++
	l.missed++
	if c.prefetching != nil {
		c.prefetching.clock.depth = max(c.prefetching.clock.depth, i+1)
	}
	if l.seen.add(block) {
		l.cold(n, block, group)
	}
}

// tell adds a miss of a level of the chain to the log.
func (c *chain) tell(m Missed) {
	if c.log != nil {
		m.Level += c.first
		*c.log = append(*c.log, m)
	}
}

// Missed is a miss of one access.
type Missed struct {
	Level   int    // an index of the levels of the Config, or from their number on of the TLBs
	Block   uint64 // address / block size of the level
	Fetched bool   // the block was brought in: not by a store to a level that does not allocate on writes; past a level that takes victims, to the one above
	Evicts  bool   // for it, Victim had to leave
	Victim  uint64 // a block of the level
}

// Access passes one access through the hierarchy, as Observe does, and returns its
// misses: the blocks that a level did not hold, in the order in which they were
// requested. The slice is valid until the next call. It panics if the plan lacks
// the reference.
func (s *Simulator) Access(a trace.Access) []Missed {
	s.log = s.log[:0]
	if p := s.caches.prefetching; p != nil {
		p.used = p.used[:0]
	}
	one := [1]trace.Access{a}
	for _, c := range []*chain{&s.caches, &s.tlbs} {
		if len(c.levels) > 0 {
			c.log = &s.log
			c.observe(one[:])
			c.log = nil
		}
	}
	return s.log
}

// evict completes the eviction of a block from level i: an inclusive level
// invalidates it in the levels above, and a dirty block is written back, which
// counts for the group whose access evicted it.
func (c *chain) evict(i int, victim tag, group uint32) {
	l := &c.levels[i]
	first, last := l.bytes(victim.block())
	if l.spec.Inclusive {
		for j := range c.levels[:i] {
			above := &c.levels[j]
			for b := first >> above.shift; b <= last>>above.shift; b++ {
				t := above.remove(b)
				if t&dirty != 0 {
					above.counts[group].Writebacks++
					victim |= dirty
				}
				if t != 0 && c.prefetching != nil {
					c.prefetching.left(j, b)
				}
			}
		}
	}
	if victim&dirty != 0 {
		l.counts[group].Writebacks++
	}
	switch {
	case c.takesVictims(i + 1):
		c.take(i+1, victim, group)
	case victim&dirty != 0:
		c.update(i+1, first, last, group)
	}
}

// update writes the bytes first to last, from the level above, to level i:
// blocks that it holds become dirty, the rest goes to the next level.
func (c *chain) update(i int, first, last uint64, group uint32) {
	if i == len(c.levels) {
		return
	}
	l := &c.levels[i]
	for block := first >> l.shift; block <= last>>l.shift; block++ {
		if !l.spec.WriteThrough && l.mark(block, dirty) {
			continue
		}
		l.counts[group].PassedWrites++
		lo, hi := l.bytes(block)
		c.update(i+1, max(first, lo), min(last, hi), group)
	}
}

// result returns the counts of level i.
func (c *chain) result(i int, name string, groups int) LevelResult {
	r := LevelResult{Name: name, Groups: make([]Counts, groups)}
	copy(r.Groups, c.levels[i].counts)
	for j := range c.refs {
		if ref := &c.refs[j]; int(ref.enter) == i {
			r.Groups[ref.group].Accesses += ref.count
		}
	}
	for _, g := range r.Groups {
		r.Total.add(g)
	}
	if c.prefetching != nil {
		r.Prefetched, r.PrefetchedGroups = c.prefetching.prefetched(i)
	}
	return r
}
