package pipeline

// prefetcher follows streams of blocks of one level.
type prefetcher struct {
	degree, level int
	streams       []stream
	clock         uint64
}

// stream is a sequence of blocks: each step blocks after the one before.
type stream struct {
	block uint64 // the latest
	step  int64  // 1, -1, or 0 while there is only one
	used  uint64 // when it was followed last; 0: never
}

func newPrefetcher(c *Prefetch) prefetcher {
	return prefetcher{degree: c.Degree, level: c.Level, streams: make([]stream, c.Streams)}
}

// triggers reports whether an access that enters at level j, not yet made,
// will miss in the prefetcher's level or be the first to use a block there
// that was prefetched.
func (m *memory) triggers(j int, addr uint64) bool {
	for k := j; k <= m.prefetch.level; k++ {
		l := &m.levels[k]
		at := l.find(addr >> l.shift)
		switch {
		case k == m.prefetch.level:
			return at < 0 || l.info[at].ahead
		case at >= 0:
			return false
		}
	}
	return false // it enters below
}

// fetchAhead brings in the blocks that follow addr's in its stream.
func (m *memory) fetchAhead(addr uint64, t int64) {
	p := &m.prefetch
	block := addr >> m.levels[p.level].shift
	step := int64(1)
	if len(p.streams) > 0 {
		step = p.follow(block)
	}
	if step == 0 {
		return
	}
	for range p.degree {
		block += uint64(step)
		m.fetch(block, t)
	}
}

// follow finds the stream that block continues, or starts one in place of the least
// recently followed. It returns the stream's direction, 0 if unknown.
func (p *prefetcher) follow(block uint64) int64 {
	p.clock++
	oldest := 0
	for i := range p.streams {
		s := &p.streams[i]
		if s.used < p.streams[oldest].used {
			oldest = i
		}
		step := int64(block - s.block)
		if s.used > 0 && (step == s.step || s.step == 0 && (step == 1 || step == -1)) {
			*s = stream{block, step, p.clock}
			return step
		}
	}
	p.streams[oldest] = stream{block: block, used: p.clock}
	return 0
}

// fetch brings a block into the prefetcher's level, unless it is there or the
// level has no MSHR free at once.
func (m *memory) fetch(block uint64, t int64) {
	l := &m.levels[m.prefetch.level]
	if l.find(block) >= 0 {
		return
	}
	if n := len(l.mshrs); n > 0 && !m.timeless && l.mshrs.busyAt(t) == n {
		l.counts.PrefetchDrops++
		return
	}
	addr := block << l.shift
	m.demand(m.prefetch.level, addr, addr, t, false, false)
	l.counts.Prefetches++
	l.counts.Accesses--
	l.counts.Misses--
	l.info[l.find(block)].ahead = true
}
