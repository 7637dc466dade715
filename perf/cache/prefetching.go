package cache

import (
	"math/bits"

	"presage/perf/trace"
)

// prefetching is the state of the prefetchers of a chain.
type prefetching struct {
	units   []PrefetchUnit
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

// request is a Request, and whose it is.
type request struct {
	Request
	ref *reference
}

func newPrefetching(p *Prefetching, levels, groups int) *prefetching {
	s := &prefetching{arrival: p.Arrival, clock: newClock(p.Clock), levels: make([]prefetchedLevel, levels)}
	for i := range p.Prefetchers {
		s.units = append(s.units, *NewPrefetchUnit(p.Prefetchers[i]))
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
	c.train(i, request{Request{Block: block, Addr: addr, Fresh: f != nil || !held, Whole: whole, Of: ref.id}, ref})
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
		if u.Level != i {
			continue
		}
		u.Answer(r.Request, c.levels[i].shift, c.levels[u.Into].shift, func(addr uint64) {
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
	c.train(i, request{Request{Block: block, Addr: addr, Fresh: on != nil || !held, Whole: true, Prefetch: true, Of: ref.id}, ref})
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
