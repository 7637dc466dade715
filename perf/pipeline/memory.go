package pipeline

// memory is the state of the memory hierarchy: the level that serves an access is
// decided in program order; when it does follows from the times.
type memory struct {
	config   *Memory
	levels   []level
	last     int64 // load-to-use latency of memory
	bus      calendar
	floor    int64 // no request will be made before it
	timeless bool  // contents are kept up, times are not
	tlbs     []tlb
	prefetch prefetcher
	fetchers fetchers
	flights  []flight // by stream of given outcomes
	wrote    int      // blocks that the access under way made be written to memory
}

type level struct {
	lines
	spec   *Level
	wait   int64 // load-to-use latency
	mshrs  pool
	port   calendar
	counts LevelCounts
}

type miss struct{ level, at int }

type tlb struct {
	lines
	spec   *TLB
	counts TLBCounts
}

func newMemory(c *Memory) *memory {
	m := &memory{config: c, last: int64(c.Latency)}
	for i := range c.Levels {
		spec := &c.Levels[i]
		m.levels = append(m.levels, level{
			lines: newLines(spec.Blocks, spec.BlockBytes, spec.Ways),
			spec:  spec, wait: int64(spec.Latency), mshrs: make(pool, spec.MSHRs),
		})
	}
	for i := range c.TLBs {
		spec := &c.TLBs[i]
		m.tlbs = append(m.tlbs, tlb{lines: newLines(spec.Entries, spec.EntryBytes, spec.Ways), spec: spec})
	}
	m.prefetch, m.fetchers = newPrefetcher(&c.Prefetch), newFetchers(c.Prefetchers, m.levels)
	return m
}

// enter returns the level that accesses enter at.
func (m *memory) enter(float bool) int {
	i := 0
	for i < len(m.levels) && float && m.levels[i].spec.BypassFloat {
		i++
	}
	return i
}

// beyond returns the extra latency of an access served by level k over one served by
// level j; k may stand for memory.
func (m *memory) beyond(j, k int) int64 {
	if k < len(m.levels) {
		return m.levels[k].wait - m.levels[j].wait
	}
	if j == len(m.levels) {
		return 0
	}
	return m.last - m.levels[j].wait
}

// access performs a load's or store's access to bytes first to last at time t,
// entering at level j. It returns the time from which it proceeds like a hit in level
// j, and the level that it waited for.
func (m *memory) access(j int, first, last uint64, t int64, store, float bool) (ready int64, from int) {
	if j == len(m.levels) {
		return t, j
	}
	l := &m.levels[j]
	shift := l.shift & 63
	block := first >> shift
	if block == last>>shift {
		if at := l.find(block); at >= 0 && !(store && l.spec.WriteThrough) {
			if e := &l.info[at]; e.ready <= t && !e.ahead { // by far the commonest
				l.touch(at)
				l.counts.Accesses++
				e.dirty = e.dirty || store
				return t, j
			}
		}
		return m.block(j, first, last, t, store, float)
	}
	ready, from = t, j
	for ; block <= last>>shift; block++ {
		lo := block << shift
		r, f := m.block(j, max(first, lo), min(last, lo+1<<shift-1), t, store, float)
		if r > ready {
			ready, from = r, f
		}
	}
	return ready, from
}

// block is access within one block of level j.
func (m *memory) block(j int, first, last uint64, t int64, store, float bool) (ready int64, from int) {
	p := &m.prefetch
	if p.degree == 0 {
		return m.demand(j, first, last, t, store, float)
	}
	trigger := m.triggers(j, first)
	ready, from = m.demand(j, first, last, t, store, float)
	if trigger {
		m.fetchAhead(first, t)
	}
	return ready, from
}

// demand looks for the bytes first to last from level j on, brings their block into
// the levels that miss, and computes when the request is served.
func (m *memory) demand(j int, first, last uint64, t int64, store, float bool) (ready int64, from int) {
	var missed [maxLevels]miss
	n, k, held := 0, j, -1
	through := len(m.levels) + 1 // the level that a store is written on to
	for ; k < len(m.levels); k++ {
		l := &m.levels[k]
		if float && l.spec.BypassFloat {
			continue
		}
		b := first >> (l.shift & 63)
		l.counts.Accesses++
		if held = l.find(b); held >= 0 {
			l.touch(held)
			if store && m.mark(k, held) {
				through = k + 1
			}
			break
		}
		l.counts.Misses++
		if store && l.spec.NoWriteAllocate {
			continue // the store goes on as one
		}
		at := m.bring(k, b)
		if store && m.mark(k, at) {
			through = k + 1
		}
		store = false
		missed[n] = miss{k, at}
		n++
	}
	if through <= len(m.levels) {
		m.update(through, first)
	}
	ready, from = t, k
	if held >= 0 {
		ready, from = m.arrival(k, held, t)
	}
	if m.timeless {
		m.wrote = 0
		return t, from
	}
	ready = m.serve(missed[:n], k, asked{at: t, found: ready}) + m.beyond(j, k)
	for i := range missed[:n] {
		e := &m.levels[missed[i].level].info[missed[i].at]
		e.ready = ready - m.beyond(j, missed[i].level)
		e.asked, e.from = t, uint8(from)
	}
	m.writeBack(ready)
	return ready, from
}

// bring makes room for block b in level k.
func (m *memory) bring(k int, b uint64) (at int) {
	l := &m.levels[k]
	at, tag, old := l.replace(b)
	if tag != 0 && old.dirty {
		l.counts.Writebacks++
		m.update(k+1, (tag-1)<<l.shift)
	}
	return at
}

// mark records a store to the block at a place of level k, and reports whether it
// must be written through.
func (m *memory) mark(k, at int) bool {
	l := &m.levels[k]
	if !l.spec.WriteThrough {
		l.info[at].dirty = true
	}
	return l.spec.WriteThrough
}

// update handles a write from the level above to the block at addr in level k: if the
// block is present it becomes dirty, else the write goes on to the next level.
func (m *memory) update(k int, addr uint64) {
	for ; k < len(m.levels); k++ {
		l := &m.levels[k]
		if at := l.find(addr >> l.shift); at >= 0 && !l.spec.WriteThrough {
			l.info[at].dirty = true
			return
		}
	}
	m.wrote++
}

// writeBack accounts for the time of the blocks that an access caused to be written to
// memory.
func (m *memory) writeBack(t int64) {
	if length := int64(m.config.WriteInterval); length > 0 {
		for range m.wrote {
			m.bus.reserve(m.bus.earliest(t, length), length, m.floor)
		}
	}
	m.wrote = 0
}

// arrival returns when the block at a place of level k is available to an access at t,
// and from which level it comes.
func (m *memory) arrival(k, at int, t int64) (ready int64, from int) {
	l := &m.levels[k]
	e := &l.info[at]
	if m.fetchers.now {
		return max(t, e.ready), k
	}
	if e.ahead && len(m.fetchers.units) > 0 {
		block := l.tags[at] - 1
		defer func() { m.used(k, block<<l.shift, ready-t) }()
	} else if e.ahead {
		e.ahead = false
		l.counts.PrefetchHits++
	}
	if e.ready <= t || m.timeless {
		return t, k
	}
	l.counts.Delayed++
	from = int(e.from)
	if t < e.asked {
		// The access that requested the block is earlier in the program but
		// later in time: this access makes the request.
		own := m.serve([]miss{{k, at}}, from, asked{at: t, found: t}) + m.beyond(k, from)
		if own < e.ready {
			e.ready, e.asked = own, t
		}
	}
	return max(t, e.ready), from
}

// asked is a request for a block: when it is made, when the level that serves it has the
// block, how long before it a prefetcher made it, and whether it is one of a stream.
type asked struct {
	at, found, ahead int64
	stream           bool
}

// serve returns when level k, or memory, serves a request that missed in the levels
// before: as soon as the level is idle and each of the missed levels has an MSHR free
// until the block arrives. What a prefetcher requested needs one for what is left of the
// wait only: before, the block was among the prefetcher's own requests.
func (m *memory) serve(missed []miss, k int, a asked) int64 {
	if len(missed) == 0 {
		return a.found
	}
	port, length := &m.bus, int64(m.config.Interval)
	if k < len(m.levels) {
		port, length = &m.levels[k].port, m.levels[k].busy(a.stream)
	}
	if k == len(m.levels) {
		// The blocks that had to make room are written right after: a gap left
		// between the two would be too short for other blocks.
		length += int64(m.wrote) * int64(m.config.WriteInterval)
		m.wrote = 0
	}
	var slots [maxLevels]int
	t, served := a.at, a.found
	held := func(level int) int64 { return max(0, served-t+m.beyond(level, k)-a.ahead) }
search:
	for {
		served = max(t, a.found)
		if length > 0 {
			served = port.earliest(served, length)
		}
		for i, miss := range missed {
			l := &m.levels[miss.level]
			if len(l.mshrs) == 0 {
				continue
			}
			free, slot := l.mshrs.earliest(t, held(miss.level))
			if free > t {
				t = free
				continue search
			}
			slots[i] = slot
		}
		break
	}
	port.reserve(served, length, m.floor)
	for i, miss := range missed {
		if l := &m.levels[miss.level]; len(l.mshrs) > 0 {
			l.mshrs[slots[i]].reserve(t, held(miss.level), m.floor)
		}
	}
	return served
}

// busy returns how long a level is busy with a block for the level above.
func (l *level) busy(stream bool) int64 {
	if stream {
		return int64(max(l.spec.Interval, l.spec.StreamInterval))
	}
	return int64(l.spec.Interval)
}
