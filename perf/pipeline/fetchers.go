package pipeline

import (
	"math/bits"

	"presage/perf/cache"
)

// fetchers are the prefetchers of Memory.Prefetchers at work.
type fetchers struct {
	units []*cache.PrefetchUnit
	seen  []seen // by the access under way
	queue []wanted
	of    uint32 // the reference of the access under way
	now   bool   // a prefetch is under way
}

// seen is a request of a level.
type seen struct {
	level int
	held  bool
	cache.Request
}

// wanted is a block of a level that a prefetcher asks for.
type wanted struct {
	into  int
	block uint64
}

// newFetchers returns prefetchers, and has the levels note what they bring.
func newFetchers(all []cache.Prefetcher, levels []level) fetchers {
	var f fetchers
	for _, p := range all {
		f.units = append(f.units, cache.NewPrefetchUnit(p))
	}
	for i := range levels {
		if l := &levels[i]; len(all) > 0 {
			l.by = make([]*uint8, len(l.tags))
		}
	}
	return f
}

// followed is access with prefetchers, which see what each level is asked for, and
// whose blocks are requested at the same time, after those of the access.
func (m *memory) followed(ref uint32, j int, first, last uint64, t int64, store, float bool) (ready int64, from int) {
	if j == len(m.levels) {
		return t, j
	}
	l := &m.levels[j]
	shift := l.shift & 63
	f := &m.fetchers
	f.of = ref
	ready, from = t, j
	for b := first >> shift; b <= last>>shift; b++ {
		lo := b << shift
		lo, hi := max(first, lo), min(last, lo+1<<shift-1)
		f.seen = f.seen[:0]
		m.scan(j, lo, float, lo == first)
		if r, at := m.demand(j, lo, hi, t, store, float); r > ready || b == first>>shift {
			ready, from = r, at
		}
		for _, s := range f.seen {
			m.show(s)
		}
	}
	for i := 0; i < len(f.queue); i++ {
		m.fetchWanted(f.queue[i], t)
	}
	f.queue = f.queue[:0]
	return ready, from
}

// scan notes what the levels are asked for by a demand for the bytes from addr on, before
// it is made.
func (m *memory) scan(j int, addr uint64, float, whole bool) {
	above := uint(0) // the binary logarithm of the block size of the level that asks
	for k := j; k < len(m.levels); k++ {
		l := &m.levels[k]
		if float && l.spec.BypassFloat {
			continue
		}
		b := addr >> (l.shift & 63)
		at := l.find(b)
		m.fetchers.seen = append(m.fetchers.seen, seen{k, at >= 0, cache.Request{
			Block: b, Addr: addr >> above << above, Fresh: at < 0 || l.info[at].ahead, Whole: whole || k > j, Of: m.fetchers.of,
		}})
		if at >= 0 {
			return
		}
		above = l.shift
	}
}

// show lets the prefetchers of a level see a request.
func (m *memory) show(s seen) {
	f := &m.fetchers
	for _, u := range f.units {
		if u.Level == s.level {
			into := m.levels[u.Into].shift
			u.Answer(s.Request, m.levels[s.level].shift, into, func(addr uint64) { f.queue = append(f.queue, wanted{u.Into, addr >> into}) })
		}
	}
}

// fetchWanted brings a block into a level, unless it is there or the level has no MSHR
// free at once. Levels below that have not got it get it, too.
func (m *memory) fetchWanted(w wanted, t int64) {
	l := &m.levels[w.into]
	if l.find(w.block) >= 0 {
		return
	}
	if n := len(l.mshrs); n > 0 && !m.timeless && l.mshrs.busyAt(t) == n {
		l.counts.PrefetchDrops++
		return
	}
	f := &m.fetchers
	addr := w.block << l.shift
	f.seen = f.seen[:0]
	m.scan(w.into, addr, false, true)
	asked := f.seen
	missed := new(uint8)
	f.now = true
	m.demand(w.into, addr, addr, t, false, false)
	f.now = false
	for i := range asked {
		s := &asked[i]
		k := &m.levels[s.level]
		k.counts.Accesses--
		if !s.held {
			k.counts.Misses--
			k.counts.Prefetches++
			at := k.find(s.Block)
			k.info[at].ahead, k.by[at] = true, missed
			*missed |= 1 << s.level
		}
		if i > 0 {
			s.Prefetch = true
			m.show(*s)
		}
	}
}

// used notes that a demand found, at level k, a block that a prefetch had brought, there
// or at levels below, and how long it waits for it.
func (m *memory) used(k int, addr uint64, wait int64) {
	for j := k; j < len(m.levels); j++ {
		l := &m.levels[j]
		at := l.find(addr >> l.shift)
		if at < 0 || !l.info[at].ahead {
			continue
		}
		l.info[at].ahead = false
		missed := l.by[at]
		lowest := bits.Len8(*missed) - 1
		for i := j; i <= lowest; i++ {
			if *missed>>i&1 == 0 {
				continue
			}
			*missed &^= 1 << i
			n := &m.levels[i].counts
			n.PrefetchHits++
			if wait > 0 {
				n.Late++
			}
			if i == lowest && wait > 0 {
				n.LateCycles += uint64(wait)
			}
		}
	}
}
