package cache

import (
	"math/bits"

	"presage/perf/trace"
)

// prefetching is the state of the prefetchers of a chain.
type prefetching struct {
	units   []prefetchUnit
	arrival []uint64

	now   float64 // see Prefetching
	clock clock
	used  []Used // by the access at hand, if its misses are logged
	addr  uint64 // of the access at hand
	queue []wanted

	levels []prefetchedLevel
}

// prefetchedLevel is what is known of prefetches at a level.
type prefetchedLevel struct {
	pending map[uint64]*fetch // by block held that was not asked for yet
	groups  []Prefetches
}

// fetch is a prefetch that was made.
type fetch struct {
	levels  uint32  // that did not hold the block, a bit each, until it is asked for
	arrival float64 // when it is there
	group   uint32  // whose access the prefetcher answered
}

// wanted is a block that is to be fetched.
type wanted struct {
	into  int
	block uint64 // of level into
	ref   *reference
}

// request is an access of a level as a prefetcher sees it.
type request struct {
	block    uint64 // of the level
	addr     uint64 // the first byte that is wanted
	fresh    bool   // the block is not held, or was prefetched and not asked for before
	whole    bool   // addr is that of the instruction, or of a whole block
	prefetch bool   // it was itself made by a prefetcher above
	ref      *reference
}

func newPrefetching(p *Prefetching, levels, groups int) *prefetching {
	s := &prefetching{arrival: p.Arrival, clock: newClock(p.Clock), levels: make([]prefetchedLevel, levels)}
	for i := range p.Prefetchers {
		s.units = append(s.units, prefetchUnit{Prefetcher: p.Prefetchers[i]})
	}
	for i := range s.levels {
		s.levels[i] = prefetchedLevel{make(map[uint64]*fetch), make([]Prefetches, groups)}
	}
	return s
}

// forget drops what was fetched, but not what prefetchers have learned.
func (p *prefetching) forget() {
	for i := range p.levels {
		clear(p.levels[i].pending)
	}
}

// left notes that a block is no longer in level i.
func (p *prefetching) left(i int, block uint64) { delete(p.levels[i].pending, block) }

// observePrefetching is observe with prefetchers.
func (c *chain) observePrefetching(accesses []trace.Access) {
	p := c.prefetching
	for _, a := range accesses {
		ref := &c.refs[a.Ref()]
		ref.count++
		p.now = p.clock.begin(p.now, ref.id)
		if int(ref.enter) >= len(c.levels) {
			continue
		}
		l := &c.levels[ref.enter]
		l.counts[ref.group].Accesses += a.Last()>>l.shift - a.Addr()>>l.shift // and one by ref.count
		p.addr = a.Addr()
		p.clock.wait, p.clock.depth = 0, int(ref.enter)
		c.touchAll(int(ref.enter), a.Addr(), a.Last(), ref, ref.mark)
		if p.arrival != nil {
			p.clock.complete(p.now, float64(p.arrival[p.clock.depth])-float64(p.arrival[ref.enter]))
		}
		for i := 0; i < len(p.queue); i++ {
			c.prefetch(p.queue[i])
		}
		p.queue = p.queue[:0]
	}
}

// demanded notes that an access wants a block of level i, from addr on, which the level
// held or not.
func (c *chain) demanded(i int, block, addr uint64, held bool, ref *reference) {
	p := c.prefetching
	if held {
		c.levels[i].seen.add(block) // even if no miss brought it in
	}
	f := p.levels[i].pending[block]
	if f != nil {
		first, last := c.levels[i].bytes(block)
		for j := i; j < len(c.levels); j++ {
			shift := c.levels[j].shift
			for b := first >> shift; b <= last>>shift; b++ {
				if f := p.levels[j].pending[b]; f != nil {
					c.use(f, j, first, ref.group)
					delete(p.levels[j].pending, b)
				}
			}
		}
	}
	// A later part of an access is no step of its instruction.
	whole := i != int(ref.enter) || block == p.addr>>c.levels[i].shift
	c.train(i, request{block: block, addr: addr, fresh: f != nil || !held, whole: whole, ref: ref})
}

// use counts a prefetch whose block a group asked for at level i, at this and the levels
// below.
func (c *chain) use(f *fetch, i int, addr uint64, group uint32) {
	p := c.prefetching
	wait := max(0, f.arrival-p.now)
	p.clock.wait = max(p.clock.wait, wait)
	lowest := bits.Len32(f.levels) - 1
	for j := i; j < len(c.levels); j++ {
		if f.levels>>j&1 == 0 {
			continue
		}
		f.levels &^= 1 << j
		p.levels[j].groups[f.group].Used++
		n := &p.levels[j].groups[group]
		u := Used{Level: j, Block: addr >> c.levels[j].shift, Late: wait > 0}
		if u.Late {
			n.Late++
		} else {
			n.Covered++
		}
		if j == lowest {
			n.Wait += wait
			u.Wait = wait
		}
		if c.log != nil {
			p.used = append(p.used, u)
		}
		c.levels[j].seen.add(u.Block)
	}
}

// Used is the first demand for a block that a prefetch brought into a level which would
// have missed.
type Used struct {
	Level int    // an index of the levels of the Config
	Block uint64 // address / block size of the level
	Late  bool
	Wait  float64 // as in Prefetches, if the level is the lowest
}

// Used returns the prefetches that the last call of Access was the first to use. The
// slice is valid until the next call.
func (s *Simulator) Used() []Used {
	if s.caches.prefetching == nil {
		return nil
	}
	return s.caches.prefetching.used
}

// train shows a request to the prefetchers of level i.
func (c *chain) train(i int, r request) {
	p := c.prefetching
	for k := range p.units {
		u := &p.units[k]
		if u.Level != i || r.prefetch && u.Kind != Stream {
			continue
		}
		u.answer(r, c.levels[i].shift, c.levels[u.Into].shift, func(addr uint64) {
			p.queue = append(p.queue, wanted{u.Into, addr >> c.levels[u.Into].shift, r.ref})
		})
	}
}

// prefetch fetches a block unless it is held.
func (c *chain) prefetch(w wanted) {
	if c.levels[w.into].mark(w.block, 0) {
		return
	}
	f := &fetch{group: w.ref.group}
	depth := c.bring(w.into, w.block, w.ref, f)
	p := c.prefetching
	now := p.now
	if p.arrival != nil {
		now += float64(p.arrival[depth])
	}
	f.arrival = max(f.arrival, now)
}

// bring is miss for a prefetch: it fills a block into level i, and returns the level
// where it was found.
func (c *chain) bring(i int, block uint64, ref *reference, f *fetch) (depth int) {
	l := &c.levels[i]
	c.fetched(i, ref, f)
	c.prefetching.levels[i].pending[block] = f
	_, victim := l.fetch(block, 0)
	if victim != 0 {
		c.prefetching.left(i, victim.block())
	}
	first, last := l.bytes(block)
	below := int(l.below[ref.float])
	if c.takesVictims(i + 1) {
		depth = c.seek(below, first, last, ref, f)
		if victim != 0 {
			c.evict(i, victim, ref.group)
		}
		return depth
	}
	if victim&dirty != 0 || victim != 0 && l.spec.Inclusive {
		c.evict(i, victim, ref.group)
	}
	return c.seek(below, first, last, ref, f)
}

func (c *chain) fetched(i int, ref *reference, f *fetch) {
	f.levels |= 1 << i
	c.prefetching.levels[i].groups[ref.group].Fetched++
}

// seek is demand for a prefetch: it reads the bytes first to last from level i, and
// returns the lowest level where some were found.
func (c *chain) seek(i int, first, last uint64, ref *reference, f *fetch) (depth int) {
	if i == len(c.levels) {
		return i
	}
	l := &c.levels[i]
	for block := first >> l.shift; block <= last>>l.shift; block++ {
		depth = max(depth, c.seekBlock(i, block, max(first, block<<l.shift), ref, f))
	}
	return depth
}

func (c *chain) seekBlock(i int, block, addr uint64, ref *reference, f *fetch) (depth int) {
	l := &c.levels[i]
	on := c.prefetching.levels[i].pending[block]
	held := l.mark(block, 0)
	c.train(i, request{block: block, addr: addr, fresh: on != nil || !held, whole: true, prefetch: true, ref: ref})
	switch {
	case held && l.spec.Filling != OnMiss:
		c.give(i, block)
		return i
	case held:
		l.fetch(block, 0)
		if on != nil {
			f.arrival = max(f.arrival, on.arrival)
		}
		return i
	case l.spec.Filling != OnMiss:
		c.fetched(i, ref, f)
		first, last := l.bytes(block)
		return c.seek(int(l.below[ref.float]), first, last, ref, f)
	}
	return c.bring(i, block, ref, f)
}

// prefetched returns the counts of level i.
func (p *prefetching) prefetched(i int) (total *Prefetches, groups []Prefetches) {
	total, groups = new(Prefetches), append(groups, p.levels[i].groups...)
	for _, g := range groups {
		total.add(g)
	}
	return total, groups
}

// prefetchUnit is a prefetcher at work.
type prefetchUnit struct {
	Prefetcher
	known []known
	clock uint64
}

// known is an instruction or a page that a prefetcher knows.
type known struct {
	of   uint64 // reference, or page
	last uint64 // address, or block
	step int64  // between the last two
	seen int    // how often in a row
	ends uint64 // of Stream: the block farthest ahead that was fetched
	used uint64 // clock
}

// answer calls fetch with an address of each block that a request makes it want.
func (u *prefetchUnit) answer(r request, shift, into uint, fetch func(addr uint64)) {
	inPage := func(addr uint64) {
		if addr&^(u.PageBytes-1) == r.addr&^(u.PageBytes-1) {
			fetch(addr)
		}
	}
	switch u.Kind {
	case NextLine:
		if r.fresh {
			for k := range u.Degree {
				inPage((r.block + uint64(u.Distance+k)) << shift)
			}
		}
	case Pair:
		if r.fresh {
			inPage((r.block ^ 1) << shift)
		}
	case Stride:
		if r.whole {
			u.stride(r, into, inPage)
		}
	case Stream:
		if r.fresh {
			u.stream(r, shift, inPage)
		}
	}
}

func (u *prefetchUnit) stride(r request, into uint, fetch func(addr uint64)) {
	k, ok := u.find(uint64(r.ref.id))
	if !ok {
		*k = known{of: k.of, last: r.addr, used: k.used}
		return
	}
	step := int64(r.addr - k.last)
	k.last = r.addr
	if step == 0 {
		return
	}
	k.count(step)
	if k.seen < u.Confidence || u.MaxStride > 0 && magnitude(step) > u.MaxStride {
		return
	}
	if block := int64(1) << into; magnitude(step) < uint64(block) {
		if step < 0 {
			block = -block
		}
		step = block
	}
	for i := range u.Degree {
		fetch(r.addr + uint64(step*int64(u.Distance+i)))
	}
}

func (u *prefetchUnit) stream(r request, shift uint, fetch func(addr uint64)) {
	k, ok := u.find(r.block << shift / u.PageBytes)
	if !ok {
		*k = known{of: k.of, last: r.block, used: k.used}
		return
	}
	step := int64(1)
	switch {
	case r.block == k.last:
		return
	case r.block < k.last:
		step = -1
	}
	k.last = r.block
	if k.step != step {
		k.ends = r.block
	}
	k.count(step)
	if k.seen < u.Confidence {
		return
	}
	ahead := max(0, int64(k.ends-r.block)*step) // how far it has fetched
	for i := 0; i < u.Degree && ahead < int64(u.Distance); i++ {
		ahead++
		k.ends = r.block + uint64(ahead*step)
		fetch(k.ends << shift)
	}
}

func (k *known) count(step int64) {
	if step != k.step {
		k.step, k.seen = step, 0
	}
	k.seen = min(k.seen+1, maxPrefetch)
}

func magnitude(step int64) uint64 {
	if step < 0 {
		return uint64(-step)
	}
	return uint64(step)
}

// find returns what is known of something, or the place of what was not seen for
// longest, for it, and whether it was known.
func (u *prefetchUnit) find(of uint64) (k *known, ok bool) {
	u.clock++
	oldest := 0
	for i := range u.known {
		if u.known[i].of == of {
			u.known[i].used = u.clock
			return &u.known[i], true
		}
		if u.known[i].used < u.known[oldest].used {
			oldest = i
		}
	}
	if len(u.known) < u.Entries {
		oldest = len(u.known)
		u.known = append(u.known, known{})
	}
	u.known[oldest].of, u.known[oldest].used = of, u.clock
	return &u.known[oldest], false
}
